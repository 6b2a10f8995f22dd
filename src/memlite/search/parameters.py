"""Parameters under every name they are known by → a request.

HTTP query strings, JSON bodies and the options of the command line all come through here. The spellings are those
that scripts written for older services use; on the newer routes an unknown name is an error that says which, on the
older ones it is passed over, as it always was.
"""

from __future__ import annotations

from memlite import jsoncodec
from memlite.errors import UsageError
from memlite.model import KINDS, OBSERVATION, PROMPT, SUMMARY
from memlite.search import dates
from memlite.search.request import MAX_DEPTH, MAX_LIMIT, SearchRequest, TimelineRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

# One name for each meaning, and the other names it goes by.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "query": ("query", "q"),
    "format": ("format", "response"),
    "kind": ("type", "kind", "kinds"),
    "obs_type": ("obs_type", "obsType", "obs_types"),
    "concepts": ("concepts", "concept"),
    "files": ("files", "filePath", "file_path", "file", "path"),
    "branch": ("branch", "branches"),
    "project": ("project", "projects"),
    "range": ("dateRange", "date_range"),
    "since": ("since", "dateStart", "date_start", "dateRange[start]", "after_date"),
    "until": ("until", "dateEnd", "date_end", "dateRange[end]", "before_date"),
    "limit": ("limit",),
    "offset": ("offset",),
    "order": ("orderBy", "order_by", "order"),
    "mode": ("mode",),
    "anchor": ("anchor",),
    "before": ("depth_before", "depthBefore"),
    "after": ("depth_after", "depthAfter"),
    "output": ("output",),
}
_MEANING = {spelling: name for name, spellings in SPELLINGS.items() for spelling in spellings}
KIND_NAMES = {"observation": OBSERVATION, "observations": OBSERVATION, "session": SUMMARY, "sessions": SUMMARY,
               "summary": SUMMARY, "summaries": SUMMARY, "prompt": PROMPT, "prompts": PROMPT}
SEARCH = ("query", "format", "kind", "obs_type", "concepts", "files", "branch", "project", "range", "since", "until",
          "limit", "offset", "order", "mode", "output")
TIMELINE = ("anchor", "query", "kind", "mode", "before", "after", "project", "format", "output")
OUTPUTS = ("json", "markdown", "mcp")


class Parameters:
    """Named values as they came in, sorted by meaning. A value is a string, or from JSON anything JSON holds."""

    def __init__(self, pairs: Iterable[tuple[str, Any]], allowed: tuple[str, ...], *, strict: bool) -> None:
        self.strict = strict
        self.values: dict[str, list[Any]] = {}
        self.names: dict[str, str] = {}     # the spelling that was used, for messages
        for name, value in pairs:
            meaning = _MEANING.get(name.removesuffix("[]"))
            if meaning is None or meaning not in allowed:
                if strict:
                    known = ", ".join(SPELLINGS[meaning][0] for meaning in allowed)
                    raise UsageError(f"Unknown parameter: {name}", f"known here: {known}", "unknown_parameter")
                continue
            if value is not None:
                self.values.setdefault(meaning, []).extend(value if isinstance(value, list) else [value])
                self.names[meaning] = name

    def text(self, name: str, default: str = "") -> str:
        """The value as a string; the last one counts where it was given more than once."""
        values = self.values.get(name)
        if not values:
            return default
        value = values[-1]
        if isinstance(value, (dict, bool)):
            raise UsageError(f"{self.names[name]} must be a text")
        return _text(value).strip()

    def listed(self, name: str) -> tuple[str, ...]:
        """The values of a repeated or comma-separated parameter, without empty ones and repetitions."""
        found: list[str] = []
        for value in self.values.get(name, ()):
            if isinstance(value, (dict, bool)):
                raise UsageError(f"{self.names[name]} must be a text or a list of texts")
            found.extend(part.strip() for part in _text(value).split(","))
        return tuple(dict.fromkeys(part for part in found if part))

    def number(self, name: str, default: int, low: int, high: int | None = None) -> int:
        """A whole number from `low` to `high`; outside it an error where strict, else the nearest."""
        text = self.text(name)
        if not text:
            return default
        digits = text[1:] if text[:1] in ("-", "+") else text
        if not (digits.isascii() and digits.isdigit()) or len(digits) > 15:
            if not self.strict:
                return default
            raise UsageError(f"{self.names[name]} must be a whole number, not {text!r}")
        value = int(text)
        if value < low or (high is not None and value > high):
            if self.strict:
                wanted = f"between {low} and {high}" if high is not None else f"{low} or more"
                raise UsageError(f"{self.names[name]} must be {wanted}, not {value}")
            return max(low, value) if high is None else max(low, min(high, value))
        return value

    def choice(self, name: str, allowed: tuple[str, ...], default: str) -> str:
        """One of `allowed`, in any case."""
        text = self.text(name).lower()
        if text and text not in allowed:
            if not self.strict:
                return default
            raise UsageError(f"{self.names[name]} must be one of {', '.join(allowed)}, not {text!r}")
        return text or default

    def kinds_and_types(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(kinds, observation types): `type` names either, so what is no kind is an observation type."""
        kinds: list[str] = []
        types = list(self.listed("obs_type"))
        for value in self.listed("kind"):
            kind = KIND_NAMES.get(value.lower())
            if kind is None:
                types.append(value)
            else:
                kinds.append(kind)
        return tuple(dict.fromkeys(kinds)) or KINDS, tuple(dict.fromkeys(value.lower() for value in types))

    def dates(self, now: int) -> tuple[int | None, int | None]:
        """(since, until) in epoch ms, until exclusive."""
        since, until = (self._moment(self.text(name), now, end) for name, end in (("since", False), ("until", True)))
        for value in self.values.get("range", ()):
            if isinstance(value, str):
                try:
                    value = jsoncodec.loads(value)
                except ValueError:
                    value = None
            if not isinstance(value, dict) or not set(value) <= {"start", "end"}:
                raise UsageError("dateRange must be an object with start and end",
                                 'dateRange={"start": "2026-01-01", "end": "2026-01-31"}, or dateRange[start]=…')
            if not all(isinstance(end, (str, int)) or end is None for end in value.values()):
                raise UsageError("start and end of dateRange must be dates")
            start, end = ("" if value.get(name) is None else str(value[name]).strip() for name in ("start", "end"))
            since = self._moment(start, now, False) if start else since
            until = self._moment(end, now, True) if end else until
        return since, until

    @staticmethod
    def _moment(text: str, now: int, end: bool) -> int | None:
        return dates.moment(text, now=now, end=end) if text else None


def _text(value: Any) -> str:
    """`value` as a string that SQLite takes: a surrogate without its half (of JSON's escapes, or of a shell's bytes)
    becomes a question mark."""
    text = str(value)
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def search_request(parameters: Parameters, *, now: int, default_limit: int = 20, **fixed: Any) -> SearchRequest:
    """The search that `parameters` ask for; `fixed` fields override them. Raises UsageError."""
    kinds, types = parameters.kinds_and_types()
    since, until = parameters.dates(now)
    order = parameters.choice("order", ("relevance", "date_desc", "date_asc"), "")
    fields: dict[str, Any] = {
        "query": parameters.text("query"), "kinds": kinds, "types": types,
        "concepts": tuple(value.lower() for value in parameters.listed("concepts")),
        "files": parameters.listed("files"), "branches": parameters.listed("branch"),
        "projects": parameters.listed("project"), "since": since, "until": until,
        "limit": parameters.number("limit", default_limit, 1, MAX_LIMIT),
        "offset": parameters.number("offset", 0, 0), "order": order,
        "format": parameters.choice("format", ("index", "full"), "index"),
        "mode": parameters.choice("mode", ("auto", "keyword", "semantic"), "auto")}
    return SearchRequest(**{**fields, **fixed})


def timeline_request(parameters: Parameters) -> TimelineRequest:
    """The timeline that `parameters` ask for. Raises UsageError."""
    kinds = parameters.kinds_and_types()[0]
    mode = parameters.choice("mode", ("auto", "observations", "sessions"), "auto")
    if mode != "auto":
        kinds = (KIND_NAMES[mode],)
    return TimelineRequest(
        anchor=parameters.text("anchor"), query=parameters.text("query"), kinds=kinds,
        before=parameters.number("before", 10, 0, MAX_DEPTH), after=parameters.number("after", 10, 0, MAX_DEPTH),
        projects=parameters.listed("project"), format=parameters.choice("format", ("index", "full"), "index"))
