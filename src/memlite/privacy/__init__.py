"""What may be kept of a text. Nothing is stored, logged or sent on that did not come through here.

Clean a whole text before taking anything out of it: a cut, a line or a title may be the middle of a private passage
or half of a token, and no longer show it.
"""

from __future__ import annotations

from memlite.privacy.neutralize import neutralize
from memlite.privacy.secrets import redact, redact_named
from memlite.privacy.tags import strip_injected, strip_private

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["clean", "clean_value", "neutralize"]


def clean(text: str) -> str:
    """`text` as it may be stored: private passages as `[private]`, injected blocks gone, secrets as `[redacted:kind]`.

    Cleaning twice changes nothing more. Linear in the length of `text`, any string is accepted.
    """
    return redact(strip_injected(strip_private(text)))


def clean_value(value: Any) -> Any:
    """A JSON value with every text in it cleaned, keys too; `{"password": …}` is known by its key.

    Raises TypeError for anything else: what is not understood is not waved through.
    """
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, (list, tuple)):
        return [clean_value(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): redact_named(key, clean(item)) if isinstance(item, str) else clean_value(item)
                for key, item in value.items()}
    if value is None or isinstance(value, (bool, int, float)):
        return value
    raise TypeError(f"{type(value).__name__} cannot be cleaned")
