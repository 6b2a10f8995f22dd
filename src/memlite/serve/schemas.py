"""What parameters mean and what answers look like, as JSON schemas for the API's description."""

from __future__ import annotations

from memlite.model import CONCEPTS, KINDS, TYPES, Observation, Prompt, Summary
from memlite.search.parameters import OUTPUTS
from memlite.search.request import FORMATS, MAX_DEPTH, MAX_LIMIT, MODES, ORDERS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_TEXT: dict[str, Any] = {"type": "string"}
_NUMBER: dict[str, Any] = {"type": "integer"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT}

# White space as Python strips it: regular expressions leave out the separators of ASCII and NEL.
SPACE = "\\s\\u001c-\\u001f\\u0085"
EMPTY: dict[str, Any] = {"type": "string", "pattern": f"^[{SPACE}]*$"}
WORDS: dict[str, Any] = {"type": "string", "pattern": f"[^{SPACE}]"}
_EPOCH = {"type": "string", "pattern": "^[1-9][0-9]{6,15}$"}
_ISO = [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]
_DATE = {"anyOf": [*_ISO, _EPOCH, {"type": "string", "pattern": "^[0-9]{1,4}(m|h|d|w|mo|y)$"},
                   {"type": "string", "enum": ["today", "yesterday", "now"]}, EMPTY]}
_END = {"anyOf": [*_DATE["anyOf"], {"type": "null"},
                  {"type": "integer", "minimum": 1_000_000, "maximum": 9_999_999_999_999_999}]}


def _one_of(values: tuple[str, ...]) -> dict[str, Any]:
    """One of these; an empty value counts as not given, on every parameter."""
    return {"type": "string", "enum": [*values, ""]}


def _whole(low: int, high: int) -> dict[str, Any]:
    """A whole number within bounds; an empty value counts as not given."""
    return {"anyOf": [{"type": "integer", "minimum": low, "maximum": high}, EMPTY]}


_ID = "^#?[0-9]{1,18}$"

# The pattern of an id in a path, by the part before it.
PATH_IDS = {"observation": _ID, "session": "^#?[Ss]?[0-9]{1,18}$", "prompt": "^#?[Pp]?[0-9]{1,18}$"}
ANY_ID = {"anyOf": [{"type": "integer", "minimum": 0, "maximum": 999_999_999_999_999_999},
                    {"type": "string", "pattern": "^#?[SsPp]?[0-9]{1,18}$"}]}

_LIST: dict[str, Any] = {"type": "string", "description": "one, or several with commas between them"}

# Meaning → (schema, explanation). A list is a text with commas, or a parameter that is repeated: in a query string all
# texts are right, so it is described as one.
PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "query": (_TEXT, 'plain words; a "phrase", -word and word* work too'),
    "format": (_one_of(FORMATS), "index: what it takes to decide; full: every field"),
    "kind": (_LIST, f"kinds of memory: {', '.join(KINDS)}; any other value is an observation type"),
    "obs_type": (_LIST, f"types of observations: {', '.join(TYPES)}, or others that were imported"),
    "concepts": (_LIST, f"concepts of observations: {', '.join(CONCEPTS)}, or others"),
    "files": (_LIST, "parts of paths that were read or changed"),
    "branch": (_LIST, "git branches"),
    "project": (_LIST, "projects by name or root folder"),
    "range": ({"type": "object", "properties": {"start": _END, "end": _END}, "additionalProperties": False},
              '{"start": …, "end": …} in JSON; each as in since and until'),
    "since": (_DATE, "2026-01-31, ISO 8601, epoch ms or s, 7d, yesterday"),
    "until": (_DATE, "like since; a date includes its whole day"),
    "limit": (_whole(1, MAX_LIMIT), "how many results"),
    "offset": (_whole(0, 999_999_999_999_999), "how many results to pass over first"),
    "order": (_one_of(ORDERS), "by default relevance; without a query newest first"),
    "mode": (_one_of(MODES), "how text is searched for"),
    "anchor": ({"anyOf": [{"type": "string", "pattern": "^#?[SsPp]?[0-9]{1,9}$"}, *_ISO, _EPOCH, EMPTY]},
               "an id (123, S5, P7), ISO 8601 or epoch ms"),
    "before": (_whole(0, MAX_DEPTH), "how many items before the anchor"),
    "after": (_whole(0, MAX_DEPTH), "how many items after the anchor"),
    "output": (_one_of(OUTPUTS), "json, compact markdown, or markdown in MCP's envelope"),
}
TIMELINE_MODE = (_one_of(("auto", "observations", "sessions")), "among what the query looks")
ONE_PROJECT = {"type": "string", "pattern": f"^[{SPACE},]*[^{SPACE},][^,]*[{SPACE},]*$"}
# What an older route clamps or passes over when it has no meaning.
LENIENT = ("format", "limit", "offset", "order", "mode", "before", "after")
# What holds when a parameter is not given, unless the route says otherwise.
DEFAULTS: dict[str, Any] = {"format": "index", "limit": 20, "offset": 0, "before": 10, "after": 10, "output": "json",
                            "mode": "auto"}


def _object(required: dict[str, Any], **optional: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": {**required, **optional}}


def _list(name: str) -> dict[str, Any]:
    return {"type": "array", "items": {"$ref": f"#/components/schemas/{name}"}}


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}"}


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    return {"anyOf": [schema, {"type": "null"}]}


_MOMENTS = {"created_at": {"type": "string", "format": "date-time"},
            "created_at_epoch": {"type": "integer", "description": "milliseconds, UTC"}}
_LISTS = ("facts", "concepts", "files_read", "files_modified", "files_edited", "uuids")


def _record(record: Any) -> dict[str, Any]:
    """The schema of a whole record, from its fields."""
    fields: dict[str, Any] = {"kind": {"type": "string", "const": record.KIND}}
    for name in record.FIELDS:
        fields[name] = _TEXTS if name in _LISTS else _TEXT
    fields.update(_MOMENTS)
    fields["prompt_number"] = _or_null(_NUMBER)
    return _object(fields)


_BRIEF = _object({"kind": {"type": "string", "enum": list(KINDS)}, "id": _TEXT, "type": _TEXT, "title": _TEXT,
                  "subtitle": _TEXT, "project": _TEXT, **_MOMENTS,
                  "score": _or_null({"type": "number", "minimum": 0, "maximum": 1}), "match": _TEXT,
                  "tokens": {"type": "integer", "description": "about what the full record costs to read"}},
                 similar={"type": "integer", "minimum": 1, "description": "near-duplicates put behind it, if any"})
_RECORDS = {"type": "array", "items": {"anyOf": [_ref("Observation"), _ref("Summary"), _ref("Prompt")]}}
_RESULTS = {"type": "array", "items": {"anyOf": [_ref("Brief"), _ref("Observation"), _ref("Summary"), _ref("Prompt")]}}
_OLD_ITEMS: dict[str, Any] = {"type": "array", "items": _object(
    {"id": _NUMBER, "created_at_epoch": _NUMBER, "project": _TEXT})}
_OLD_TIMELINE = _object({"observations": _OLD_ITEMS, "sessions": _OLD_ITEMS, "prompts": _OLD_ITEMS})
_DEPTHS = {"depth_before": _NUMBER, "depth_after": _NUMBER}
_PROCESS = {"version": _TEXT, "commit": _TEXT, "pid": _NUMBER, "uptime_seconds": {"type": "number"},
            "rss_bytes": _or_null(_NUMBER)}

SCHEMAS: dict[str, dict[str, Any]] = {
    "Error": _object({"error": _TEXT, "code": _TEXT, "hint": _TEXT}),
    "Object": {"type": "object"},
    "Brief": _BRIEF,
    "Observation": _record(Observation),
    "Summary": _record(Summary),
    "Prompt": _record(Prompt),
    "Records": _RECORDS,
    "Answer": _object({
        "query": _TEXT, "count": _NUMBER, "total": _NUMBER, "limit": _NUMBER, "offset": _NUMBER, "format": _TEXT,
        "search": _object({"requested": _TEXT, "used": {"type": "string", "enum": ["filter", "keyword", "semantic",
                                                                                   "hybrid"]},
                           "degraded": {"type": "boolean"}, "reason": _or_null(_TEXT)}),
        "confident": {"type": "boolean", "description": "false: the results are the nearest, but hardly an answer"},
        "results": _RESULTS}),
    "Timeline": _object({"anchor": _or_null(_TEXT), **_DEPTHS, "format": _TEXT, "count": _NUMBER, "timeline": _RESULTS},
                        query=_TEXT, match=_or_null(_ref("Brief"))),
    "Context": _object({"query": _TEXT, "anchor_date": _or_null(_TEXT), "count": _NUMBER, "timeline": _list("Brief"),
                        "newest": {"type": "object", "additionalProperties": _ref("Brief")}}),
    "Page": _object({"items": _RESULTS, "hasMore": {"type": "boolean"}, "total": _NUMBER, "offset": _NUMBER,
                     "limit": _NUMBER}),
    "Projects": _object({"projects": _TEXTS, "details": {"type": "array", "items": _object(
        {"name": _TEXT, "root": _TEXT, "observations": _NUMBER, "summaries": _NUMBER, "prompts": _NUMBER,
         "newest_epoch": _NUMBER})}}),
    "Stats": _object({"worker": _object(_PROCESS), "database": _object({"path": _TEXT, "bytes": _NUMBER})}),
    "Health": _object({"status": _TEXT, "store": _TEXT, **_PROCESS,
                       "counts": {"type": "object", "additionalProperties": _NUMBER},
                       "chroma": {"type": "object", "description": "the state of the search by meaning"}}),
    "Saved": _object({"success": {"type": "boolean"}, "id": _NUMBER, "title": _TEXT, "project": _TEXT,
                      "duplicate": {"type": "boolean"}, "message": _TEXT}),
    "Forgotten": _object({"success": {"type": "boolean"}, "forgotten": _TEXTS, "erased": {
        "type": "boolean", "description": "whether its bytes have left the file too; false while others read"}}),
    "Help": _object({"title": _TEXT, "description": _TEXT, "endpoints": {"type": "array", "items": {"type": "object"}},
                     "examples": _TEXTS}),
    "OldAnswer": _object({"count": _NUMBER, "format": _TEXT, "results": _OLD_ITEMS},
                         query=_TEXT, concept=_TEXT, type=_TEXT),
    "OldByFile": _object({"filePath": _TEXT, "count": _NUMBER, "format": _TEXT,
                          "results": _object({"observations": _OLD_ITEMS, "sessions": _OLD_ITEMS})}),
    "OldRecent": _object({"project": _or_null(_TEXT), "limit": _NUMBER, "count": _NUMBER, "sessions": _OLD_ITEMS}),
    "OldTimeline": _object({"anchor": {"anyOf": [_NUMBER, _TEXT]}, **_DEPTHS, "project": _or_null(_TEXT),
                            "timeline": _OLD_TIMELINE}),
    "OldTimelineByQuery": _object({"query": _TEXT, "mode": _TEXT, "match": _or_null({"type": "object"}), **_DEPTHS,
                                   "timeline": _OLD_TIMELINE}, message=_TEXT),
}
