"""What people type into a search box: words, "exact phrases", -words, word*, and filters such as type:bugfix.

Anything that is not well formed is text: no query is an error. A filter means exactly what the parameter of the same
meaning does (see `parameters`); `since:` and `until:` include the day they name, `after:` and `before:` do not.
"""

from __future__ import annotations

from memlite.errors import UsageError
from memlite.model import Record
from memlite.search import dates, when, words
from memlite.search.parameters import KIND_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

_LISTS = {"type": "types", "concept": "concepts", "file": "files", "path": "files", "project": "projects",
          "branch": "branches", "kind": "kinds"}
_MOMENTS = {"since": ("since", False), "after": ("since", True), "until": ("until", True), "before": ("until", False)}


class Question(Record):
    """A query, understood. `terms` are alternatives, `parts` those of the compound names among them; `required`
    phrases must stand there, `excluded` must not.

    `filters` are fields of a SearchRequest; `window` is the (since, until) that the words speak of ("last week"), a
    hint for the ranking, and a filter where nothing else is asked; `text` is what is left of the query as words.
    """

    __slots__ = ("text", "terms", "parts", "required", "excluded", "filters", "window")
    DEFAULTS: ClassVar[dict[str, Any]] = {"terms": [], "parts": {}, "required": [], "excluded": [], "filters": {},
                                          "window": None}
    text: str
    terms: list[str]
    parts: dict[str, list[str]]
    required: list[str]
    excluded: list[str]
    filters: dict[str, Any]
    window: tuple[int, int] | None

    @property
    def has_words(self) -> bool:
        """Whether there is anything to search for, as opposed to filters alone."""
        return bool(self.terms or self.required)

    def expression(self, chosen: list[str]) -> str:
        """The FTS5 expression for the `chosen` terms under the question's requirements and exclusions."""
        parts = [f"({words.expression(chosen)})"] if chosen else []
        parts += [words.expression([phrase]) for phrase in self.required]
        wanted = " AND ".join(parts)
        return f"({wanted}) NOT ({words.expression(self.excluded)})" if self.excluded else wanted


def understand(query: str, *, now: int) -> Question:
    """The question that `query` puts at the moment `now` (epoch ms)."""
    plain: list[str] = []
    terms: list[str] = []
    required: list[str] = []
    excluded: list[str] = []
    filters: dict[str, Any] = {}
    for piece in _pieces(query):
        negative = piece.startswith("-")
        body = piece[1:] if negative else piece
        if len(body) > 2 and body[0] == body[-1] == '"':
            phrase = words.phrase(body)
            if phrase:
                (excluded if negative else required).append(phrase)
            continue
        name, colon, value = piece.partition(":")
        if colon and _filter(name.lower(), value.strip('"'), filters, now):
            continue
        if negative and len(body) > 2 and body[0].isalpha() and body.replace("_", "").isalnum():
            excluded.append(words.phrase(body))
        elif len(piece) > 2 and piece.endswith("*") and piece[:-1].replace("_", "").isalnum():
            terms.append(words.phrase(piece[:-1]) + "*")
        else:
            plain.append(piece.replace('"', " "))
    if not plain and not terms and not required and excluded:  # nothing but minus signs: take them for dashes
        plain, excluded = [query.replace('"', " ")], []
    text = " ".join(plain)
    window, rest = when.window(text, now=now)
    said = words.terms(rest)
    if window and all(term in words.STOP_WORDS for term in said):  # "what did we do yesterday": all of yesterday
        said = []
        if not terms and not required and not excluded:
            filters.setdefault("since", window[0])
            filters.setdefault("until", window[1])
    terms = list(dict.fromkeys([*terms, *said]))
    return Question(text=text, terms=terms, parts=words.parts(text), required=required, excluded=excluded,
                    filters=filters, window=window)


def _pieces(query: str) -> list[str]:
    """`query` cut at white space, except within quotes that are closed: `a -"b c" type:"d e"` → three pieces."""
    pieces: list[str] = []
    current, quoted = "", False
    for at, character in enumerate(query):
        opens = not current or current == "-" or current.endswith(":")
        if character == '"' and (quoted or (opens and '"' in query[at + 1:])):
            quoted = not quoted
            current += character
        elif character.isspace() and not quoted:
            if current:
                pieces.append(current)
            current = ""
        else:
            current += character
    return [*pieces, current] if current else pieces


def _filter(name: str, value: str, filters: dict[str, Any], now: int) -> bool:
    """Enter `name:value` into `filters`; False when it is no filter but text."""
    if name in _MOMENTS:
        field, end = _MOMENTS[name]
        try:
            moment = dates.moment(value, now=now, end=end)
        except UsageError:
            return False
        filters[field] = (max if field == "since" else min)(moment, filters.get(field, moment))
        return True
    field = _LISTS.get(name, "")
    if not field or not value or value.startswith((":", "/")):  # std::x, file://x
        return False
    values = [part.strip() for part in value.split(",") if part.strip()]
    if field == "kinds":
        values = [KIND_NAMES.get(part.lower(), "") for part in values]
        if not all(values):
            return False
    elif field in ("types", "concepts"):
        values = [part.lower() for part in values]
    filters[field] = tuple(dict.fromkeys([*filters.get(field, ()), *values]))
    return bool(values)
