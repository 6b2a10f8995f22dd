"""What may be kept of a text. Nothing is stored, logged or sent on that did not come through here.

Clean a whole text before taking anything out of it: a cut, a line or a title may be the middle of a private passage
or half of a token, and no longer show it.
"""

from __future__ import annotations

from memlite.privacy.neutralize import neutralize
from memlite.privacy.secrets import redact, redact_named
from memlite.privacy.tags import strip_injected, strip_private

__all__ = ["clean", "clean_named", "neutralize"]


def clean(text: str) -> str:
    """`text` as it may be stored: private passages as `[private]`, injected blocks gone, secrets as `[redacted:kind]`.

    Cleaning twice changes nothing more. Linear in the length of `text`; any string is accepted.
    """
    return redact(strip_injected(strip_private(text)))


def clean_named(name: str, text: str) -> str:
    """`clean`, for a value already taken from its name, as in a tool's arguments: `password`, `hunter2` is a secret."""
    return redact_named(name, clean(text))
