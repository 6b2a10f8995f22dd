"""JSON without the `json` package.

`import json` pulls in `re` and `enum` (13 ms of a hook's start-up, measured in the frozen form), yet all the work
is done by the C accelerators in `_json`. These two functions call them directly and fall back to `json` where
an interpreter has no such module.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

try:
    from _json import encode_basestring, make_encoder, make_scanner
except ImportError:  # an interpreter without the C accelerators
    make_scanner = make_encoder = None  # type: ignore[assignment,misc]

_WHITESPACE = " \t\n\r"


class _ScannerSettings:
    """What `_json.make_scanner` reads its options from: plain objects, lax control characters."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = None
    memo: dict[str, str] = {}


def _refuse(value: object) -> Any:
    raise TypeError(f"{type(value).__name__} is not JSON serializable")


if make_scanner is not None:
    _ScannerSettings.parse_constant = {  # type: ignore[assignment]
        "NaN": None, "Infinity": None, "-Infinity": None}.__getitem__
    _scan: Callable[[str, int], tuple[Any, int]] = make_scanner(_ScannerSettings)  # type: ignore[arg-type]

    def loads(text: str) -> Any:
        """The value of the JSON `text`; NaN and infinities become None. Raises ValueError with the position."""
        start, end = 0, len(text)
        while start < end and text[start] in _WHITESPACE:
            start += 1
        try:
            value, stop = _scan(text, start)
        except StopIteration as failure:
            raise ValueError(f"not JSON at character {failure.value}") from None
        except RecursionError:
            raise ValueError("JSON nested too deeply") from None
        except (SystemError, ValueError):  # until Python 3.12 it finds no JSONDecodeError, since then it imports json
            raise ValueError(f"not JSON somewhere after character {start}") from None
        while stop < end and text[stop] in _WHITESPACE:
            stop += 1
        if stop != end:
            raise ValueError(f"extra data after JSON at character {stop}")
        return value

    def _encoder(sort_keys: bool) -> Callable[[Any, int], tuple[str, ...]]:
        encoder: Callable[[Any, int], tuple[str, ...]] = make_encoder(
            None, _refuse, encode_basestring, None, ": ", ", ", sort_keys, False, False)
        return encoder

    _encode, _encode_sorted = _encoder(False), _encoder(True)

    def dumps(value: Any, *, sort_keys: bool = False) -> str:
        """`value` as one line of JSON, non-ASCII kept as it is. Raises TypeError or ValueError on what JSON lacks."""
        # The C encoder takes containers only, so a scalar travels in a list.
        return "".join((_encode_sorted if sort_keys else _encode)([value], 0))[1:-1]

else:
    import json as _json_package

    def loads(text: str) -> Any:
        """The value of the JSON `text`. Raises ValueError with the position."""
        return _json_package.loads(text, strict=False, parse_constant=lambda name: None)

    def dumps(value: Any, *, sort_keys: bool = False) -> str:
        """`value` as one line of JSON, non-ASCII kept as it is. Raises TypeError or ValueError on what JSON lacks."""
        return _json_package.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys)
