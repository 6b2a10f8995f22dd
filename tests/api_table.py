"""The API's contract as a table: every route, every spelling of every parameter, values of every sort, and the answer.

Written by hand from what is promised, not read from the program's own table of routes, so that the two check each
other. `CASES` are requests over the store of `shop_store.fill`; those of `WRITING` change it, in this order. The same
table is run at the WSGI level and with curl against the executable.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from urllib.parse import quote

ERROR = frozenset({"error", "code", "hint"})
BRIEF = frozenset({"kind", "id", "type", "title", "subtitle", "project", "created_at", "created_at_epoch", "score",
                   "match", "tokens"})
OLD_BRIEF = {"observations": frozenset({"id", "type", "title", "subtitle", "created_at_epoch", "project", "score"}),
             "sessions": frozenset({"id", "request", "completed", "created_at_epoch", "project", "score"}),
             "prompts": frozenset({"id", "prompt_number", "prompt_text", "created_at_epoch", "project", "score"})}
_ANSWER = frozenset({"query", "count", "total", "limit", "offset", "format", "search", "confident", "results"})
_TIMELINE = frozenset({"anchor", "depth_before", "depth_after", "format", "count", "timeline"})
_PROVENANCE = frozenset({"id", "kind", "session_id", "project", "prompt_number", "created_at",
                         "created_at_epoch", "origin", "transcript", "uuids", "branch"})
_OBSERVATION = _PROVENANCE | {"type", "title", "subtitle", "narrative", "facts", "concepts", "files_read",
                              "files_modified", "details", "agent"}
_SUMMARY = _PROVENANCE | {"request", "investigated", "learned", "completed", "next_steps", "notes", "files_read",
                          "files_edited"}
_PROMPT = _PROVENANCE | {"text", "prompt_id"}
_OLD_PROMPT = (_PROMPT | {"prompt_text"}) - {"text"}
_FULL = {"observation": _OBSERVATION, "summary": _SUMMARY, "prompt": _PROMPT}
_PAGE = frozenset({"items", "hasMore", "total", "offset", "limit"})

JSON, TEXT, MARKDOWN, EVENTS = "application/json", "text/plain", "text/markdown", "text/event-stream"


class Case(NamedTuple):
    """A request, and what must come back."""

    route: str                              # the path the case belongs to, as the description has it
    method: str
    target: str                             # path and query as they go over the wire
    status: int
    keys: frozenset[str] | None = None      # of a JSON object; None: not an object, or not the same each time
    content: str = JSON
    code: str = ""                          # of an error
    says: str = ""                          # the whole message of an error
    body: bytes | None = None
    kind: str = "application/json"          # the body's Content-Type
    token: bool = False                     # whether the right token is sent
    headers: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        return f"{self.method} {self.target[:200]} {(self.body or b'')[:80]!r}"


class Value(NamedTuple):
    """A value of a parameter: what it does on a strict route and on one of the older ones (0: accepted)."""

    text: str
    strict: int = 0
    old: int = 0


class Given(NamedTuple):
    """A parameter: its spellings and some values, good ones first."""

    spellings: tuple[str, ...]
    values: tuple[Value, ...]


def _all(*texts: str) -> tuple[Value, ...]:
    return tuple(Value(text) for text in texts)


def _bad(*texts: str, old: int = 0) -> tuple[Value, ...]:
    return tuple(Value(text, 400, old) for text in texts)


_HOSTILE = ("' OR 1=1 --", '"; DROP TABLE observations; --', "\x00", "a\x00b", "%", "_", "../../etc/passwd",
            "<script>alert(1)</script>", "🦉 größer 日本 עברית", "\ud800", "x" * 3000, "NEAR(a b)", "a AND NOT", "*",
            '"', "^x", "title : y", "(", "-", "{}", "\r\nSet-Cookie: a=b", "%s%n", "١٢٣", "&", "=", "\u202e", ",",
            ",,,")
_TEXTS = _all("prices", "", " ", *_HOSTILE)
_NUMBERS = _bad("0", "-1", "101", "1.5", "1e3", "abc", "0x10", "9" * 30, "١٢", "1 2", "\x00", "NaN", "' OR 1=1")
_DEPTHS = (*_all("0", "1", "100", "", "+5"), *_NUMBERS[1:])
_MOMENTS = (*_all("2026-01-31", "2026-01-31T12:00:00Z", "2026-01-31T12:00:00+02:00", "1780000000000", "1780000000",
                  "7d", "yesterday", "today", "now", "3 h ago", "", " "),
            *_bad("soon", "2026-13-01", "2026-02-30", "31.01.2026", "0", "123", "99999999999999999999", "\x00",
                  "' OR 1=1", "-7d", "2026-01-31T99:00", old=400))
PARAMETERS: dict[str, Given] = {
    "query": Given(("query", "q"), _TEXTS),
    "format": Given(("format", "response"), (*_all("index", "full", "FULL", ""), *_bad("both", "\x00", "full,index"))),
    "kind": Given(("type", "kind", "kinds"), _all(
        "observations", "sessions", "prompts", "observation", "session", "prompt", "summaries", "observations,prompts",
        "decision", "security_alert", "observations,decision", "", *_HOSTILE)),
    "obs_type": Given(("obs_type", "obsType", "obs_types"), _all("decision", "bugfix,change", "", *_HOSTILE)),
    "concepts": Given(("concepts", "concept"), _all("gotcha", "gotcha, trade-off", "", *_HOSTILE)),
    "files": Given(("files", "filePath", "file_path", "file", "path"), _all("prices.py", "/r/shop/", "", *_HOSTILE)),
    "branch": Given(("branch", "branches"), _all("main", "", *_HOSTILE)),
    "project": Given(("project", "projects"), _all("shop", "/r/shop", "shop,boat", "nowhere", "", *_HOSTILE)),
    "range": Given(("dateRange", "date_range"), (
        *_all('{"start": "2026-01-01", "end": "2026-12-31"}', '{"start": "7d"}', '{"end": 1780000000000}', "{}"),
        *_bad("", "2026-01-01", "[]", "3", "{", '{"begin": "2026-01-01"}', '{"start": "soon"}', '{"start": {}}',
              '{"start": [1]}', "null", "[" * 2000, old=400))),
    "since": Given(("since", "dateStart", "date_start", "dateRange[start]", "after_date"), _MOMENTS),
    "until": Given(("until", "dateEnd", "date_end", "dateRange[end]", "before_date"), _MOMENTS),
    "limit": Given(("limit",), (*_all("1", "100", "", " 7 "), *_NUMBERS)),
    "offset": Given(("offset",), (*_all("0", "1", "1000000", ""), *_NUMBERS[1:2], *_NUMBERS[3:])),
    "order": Given(("orderBy", "order_by", "order"), (*_all("relevance", "date_desc", "date_asc", "DATE_ASC", ""),
                                                      *_bad("title", "date_desc; DROP TABLE x", "\x00"))),
    "mode": Given(("mode",), (*_all("auto", "keyword", "semantic", ""), *_bad("magic", "\x00"))),
    "look": Given(("mode",), (*_all("auto", "observations", "sessions", ""), *_bad("magic", "prompts,sessions"))),
    "anchor": Given(("anchor",), (
        *_all("3", "#3", "S1", "#S1", "s1", "P2", "2026-05-28T20:30:00Z", "2026-05-28", "1780000000000",
              "1780000120000"),
        *(Value(text, 404, 404) for text in ("99", "S99", "P99", "0", "#0", "99999999999")),
        *_bad("soon", "-1", "1.5", "S", "X7", "9" * 30, "\x00", "' OR 1=1", "١٢٣", "2026-02-30", "#", old=400))),
    "before": Given(("depth_before", "depthBefore"), _DEPTHS),
    "after": Given(("depth_after", "depthAfter"), _DEPTHS),
    "output": Given(("output",), (*_all("json", "markdown", "mcp", "MARKDOWN", ""), *_bad("xml", "\x00", "json,mcp"))),
}


class Route(NamedTuple):
    """A reading route: which parameters it takes, which of them it must have, and the keys of its answer."""

    path: str
    keys: frozenset[str] | None
    parameters: str = ""
    needs: tuple[str, str] | None = None    # (parameter, the name it is asked for by)
    with_it: str = ""                       # a good value of it
    old: bool = False
    aliases: tuple[str, ...] = ()
    content: str = JSON
    renamed: tuple[tuple[str, str], ...] = ()   # (spelling, parameter) where it means another thing than elsewhere


_FILTERS = "obs_type concepts files branch project range since until limit offset order format"
_READY = "query files branch project range since until limit offset order format mode output"
_LIST = "project branch range since until limit offset format"
_OLD = frozenset({"query", "count", "format", "results"})
_OLD_TIMELINE = frozenset({"depth_before", "depth_after", "timeline"})

ROUTES: tuple[Route, ...] = (
    Route("/api/search", _ANSWER, f"query kind {_FILTERS} mode output"),
    Route("/api/timeline", _TIMELINE, "before after project format output kind look", ("anchor", "anchor"), "3"),
    Route("/api/decisions", _ANSWER, _READY),
    Route("/api/changes", _ANSWER, _READY),
    Route("/api/how-it-works", _ANSWER, _READY),
    Route("/api/contextualize", frozenset({"query", "anchor_date", "count", "timeline", "newest"}),
          "query project output"),
    Route("/api/observation/{id}", _OBSERVATION, "output"),
    Route("/api/session/{id}", _SUMMARY, "output"),
    Route("/api/prompt/{id}", _PROMPT, "output"),
    Route("/api/observations", _PAGE, f"{_LIST} obs_type concepts files", renamed=(("type", "obs_type"),)),
    Route("/api/summaries", _PAGE, f"{_LIST} files"),
    Route("/api/prompts", _PAGE, _LIST),
    Route("/api/projects", frozenset({"projects", "details"})),
    Route("/api/stats", frozenset({"worker", "database"})),
    Route("/api/context/inject", None, "", ("project", "project"), "shop", True, content=TEXT),
    Route("/health", frozenset({"status", "store", "version", "commit", "pid", "uptime_seconds", "rss_bytes", "chroma",
                                "counts"}), old=True, aliases=("/api/health",)),
    Route("/api/openapi.json", frozenset({"openapi", "info", "servers", "paths", "components"})),
    Route("/api/search/help", frozenset({"title", "description", "endpoints", "examples"}), old=True,
          aliases=("/api/help",)),
    Route("/stream", None, "project", old=True, content=EVENTS),
    Route("/api/search/observations", _OLD, f"{_FILTERS} mode", ("query", "query"), "prices", True),
    Route("/api/search/sessions", _OLD, f"{_FILTERS} mode", ("query", "query"), "prices", True),
    Route("/api/search/prompts", _OLD, f"{_FILTERS} mode", ("query", "query"), "prices", True),
    Route("/api/search/by-concept", frozenset({"concept", "count", "format", "results"}),
          _FILTERS.replace("concepts ", ""), ("concepts", "concept"), "gotcha", True),
    Route("/api/search/by-file", frozenset({"filePath", "count", "format", "results"}),
          _FILTERS.replace("files ", ""), ("files", "filePath"), "prices.py", True),
    Route("/api/search/by-type", frozenset({"type", "count", "format", "results"}),
          _FILTERS.replace("obs_type ", ""), ("obs_type", "type"), "decision", True, renamed=(("type", "obs_type"),)),
    Route("/api/context/recent", frozenset({"project", "limit", "count", "sessions"}), "project limit", old=True),
    Route("/api/context/timeline", _OLD_TIMELINE | {"anchor", "project"}, "before after project", ("anchor", "anchor"),
          "3", True, aliases=("/api/timeline/context",)),
    Route("/api/timeline/by-query", _OLD_TIMELINE | {"query", "mode", "match"}, "before after project look",
          ("query", "query"), "prices", True),
)
_IDS = {"/api/observation/{id}": ("3", "observation", "S1"), "/api/session/{id}": ("S1", "summary", "P1"),
        "/api/prompt/{id}": ("P1", "prompt", "S1")}


def encoded(text: str) -> str:
    """`text` for a URL; a surrogate without its half as the three bytes that some programs make of it."""
    return quote(text, safe="", errors="surrogatepass")


def _addresses(route: Route) -> list[str]:
    """Every path a route answers under, with an id where one is wanted."""
    paths = [route.path, *route.aliases]
    paths += [path.replace("/api/", "/api/v1/", 1) for path in paths if path.startswith("/api/")]
    return [path.replace("{id}", _IDS[route.path][0] if "{id}" in path else "") for path in paths]


def _case(route: Route, target: str, status: int = 0, code: str = "", says: str = "", **more: Any) -> Case:
    if status:
        return Case(route.path, "GET", target, status, ERROR, JSON, code, says, **more)
    return Case(route.path, "GET", target, 200, route.keys, route.content, **more)


def _value_case(route: Route, path: str, meaning: str, spelling: str, value: Value) -> Case:
    """One value of one parameter, beside what the route must have."""
    pairs = [] if route.needs is None or route.needs[0] == meaning else [f"{route.needs[1]}={encoded(route.with_it)}"]
    target = f"{path}?{'&'.join([*pairs, f'{encoded(spelling)}={encoded(value.text)}'])}"
    needed = route.needs is not None and route.needs[0] == meaning
    if needed and not value.text.replace(",", " ").strip():
        return _case(route, target, 400, "missing_parameter")
    status = value.old if route.old else value.strict
    if status:
        return _case(route, target, status, {400: "invalid_parameter", 404: "not_found"}[status])
    case = _case(route, target)
    if meaning == "output" and value.text.lower() == "markdown":
        return case._replace(content=MARKDOWN, keys=None)
    if meaning == "output" and value.text == "mcp":
        return case._replace(keys=None)
    return case


def _of_route(route: Route) -> list[Case]:
    cases = []
    for path in _addresses(route):
        needed = f"?{route.needs[1]}={encoded(route.with_it)}" if route.needs else ""
        joint = "&" if needed else "?"
        cases.append(_case(route, path + needed))
        for spelling in ("colour", "Query", "limit[0]", "\x00", "__proto__", "🦉"):
            code: tuple[Any, ...] = () if route.old else (400, "unknown_parameter", f"Unknown parameter: {spelling}")
            cases.append(_case(route, f"{path}{needed}{joint}{encoded(spelling)}=x", *code))
        cases.append(_case(route, path + needed + joint + "&".join(["x=1"] * 300), 400, "invalid_parameter"))
        if route.needs is not None and route.path != "/api/timeline":
            cases.append(_case(route, path, 400, "missing_parameter",
                               f"Missing required parameter: {route.needs[1]}"))
        for name in (*route.parameters.split(), *([route.needs[0]] if route.needs else [])):
            given = PARAMETERS[name]
            hidden = {spelling for spelling, _ in route.renamed}
            spellings = [spelling for spelling in given.spellings if spelling not in hidden]
            spellings += [spelling for spelling, meaning in route.renamed if meaning == name]
            for spelling in spellings:
                cases += [_value_case(route, path, name, spelling, value) for value in given.values
                          if (route.path, value.text) != ("/api/context/inject", "shop,boat")]
        cases += [Case(route.path, method, path + needed, 405, ERROR, code="method_not_allowed", body=b"{}")
                  for method in ("PUT", "PATCH")]
    return cases


def _ids() -> list[Case]:
    cases = []
    for path, (good, kind, other) in _IDS.items():
        begin = path.removesuffix("{id}")
        number = good.lstrip("SP")
        for ident in (good, number, f"%23{good}", good.lower()):
            cases.append(Case(path, "GET", begin + ident, 200, _FULL[kind]))
        for ident in ("99", good.rstrip("13") + "99", "0", "999999999999999999"):
            cases.append(Case(path, "GET", begin + ident, 404, ERROR, code="not_found",
                              says=f"{({'summary': 'Session'}.get(kind) or kind.capitalize())} #"
                                   f"{ident.lstrip('SP')} not found"))
        for ident in (other, "x", "-1", "1e3", "1.0", "%00", "9" * 30, "%F0%9F%A6%89", "%D9%A1", "'%20OR%201=1", "%20",
                      "null", "%2e%2e%2f%2e%2e", "1%0d%0aX:%20y"):
            # A slash is a slash to WSGI even when it came encoded, so such a path is no route.
            gone = "%2f" in ident
            cases.append(Case(path, "GET", begin + ident, 404 if gone else 400, ERROR,
                              code="no_such_route" if gone else "invalid_id"))
        cases.append(Case(path, "GET", begin + good + "/more", 404, ERROR, code="no_such_route"))
        cases.append(Case(path, "GET", begin, 404, ERROR, code="no_such_route"))
    return cases


def _nowhere() -> list[Case]:
    return [Case("", "GET", target, 404, ERROR, code="no_such_route") for target in (
        "/nowhere", "/api", "/api/", "/api/v2/search", "/api/v1/", "/API/search", "/api/search/", "/api//search",
        "/v1/search", "/api/observation", "/%00", "/%F0%9F%A6%89", "/..%2f..%2fetc%2fpasswd", "/api/search%00",
        "/%ff%fe", "/api/%ed%a0%80", "/api/v1/health/x", "/.env", "/favicon.ico")]


def _batches() -> list[Case]:
    path = "/api/observations/batch"

    def case(ids: Any, status: int = 200, code: str = "", **more: Any) -> Case:
        body = ids if isinstance(ids, bytes) else json.dumps(ids).encode()
        return Case(path, "POST", path, status, ERROR if code else None, code=code, body=body, **more)

    cases = [case({"ids": ids}) for ids in (
        [3], ["3"], ["#3"], ["S1", "P1", 3], [], [99, "S99"], [3, 3, 3], list(range(100)), [0])]
    cases += [case({"ids": ids}, 400, "invalid_parameter") for ids in (
        "3", 3, {}, {"a": 1}, True, [True], [None], [1.5], [[]], [{}], list(range(101)))]
    cases += [case({"ids": ids}, 400, "invalid_id") for ids in (
        ["x"], [""], [-1], [10 ** 30], ["\x00"], ["\ud800"], ["' OR 1=1"], ["S"], ["1e3"], ["١"])]
    cases += [case({}, 400, "missing_parameter", says="Missing required parameter: ids"),
              case({"ids": None}, 400, "missing_parameter"),
              case({"ids": [1], "colour": "red"}, 400, "unknown_parameter", says="Unknown parameter: colour")]
    cases += [case(body, 400, "invalid_json") for body in (
        b"", b"{", b"[]", b"3", b"null", b'"ids"', b"\xff\xfe", b"[" * 20_000, b'{"ids": [1]}}', b"ids=1",
        b'{"ids": [' + b"9" * 5000 + b"]}", b'{"ids": [1,]}')]
    cases += [case({"ids": [3]}, 415, "json_required", kind=kind) for kind in (
        "text/plain", "application/x-www-form-urlencoded", "application/jsonp", "")]
    cases.append(case({"ids": [3]}, kind="application/json; charset=utf-8"))
    cases.append(case(b'{"ids": [' + b" " * (4 << 20) + b"]}", 413, "body_too_large"))
    v1 = [each._replace(target=path.replace("/api/", "/api/v1/")) for each in cases]
    # A GET may not be confused with the record called "batch".
    return [*cases, *v1, Case(path, "PUT", path, 405, ERROR, code="method_not_allowed", body=b"{}")]


_SAVED = frozenset({"success", "id", "title", "project", "duplicate", "message"})
_FORGOTTEN = frozenset({"success", "forgotten", "erased"})


def _writing() -> list[Case]:
    path = "/api/memory/save"

    def case(given: object, status: int = 201, code: str = "", *, token: bool = True, **more: Any) -> Case:
        body = given if isinstance(given, bytes) else json.dumps(given).encode()
        return Case(path, "POST", more.pop("target", path), status, ERROR if code else _SAVED, code=code, body=body,
                    token=token, **more)

    # A backslash-u escape is how a lone surrogate comes in JSON; it is stored as a question mark or the like.
    good: list[dict[str, object]] = [
        {"text": "The lighthouse blinks."}, {"text": "Titled.", "title": "A title"},
        {"text": "In a project.", "project": "shop"}, {"text": "In a new one.", "project": "/r/new"},
        {"text": "Typed.", "type": "decision"}, {"text": "Odd type.", "type": "security_alert"},
        {"text": "With lists.", "concepts": ["gotcha"], "files": ["a.py"]},
        {"text": "Nulls.", "title": None, "project": None, "concepts": None, "files": None, "type": None}]
    good += [{"text": f"{number}: {text}", "title": text, "project": text, "concepts": [text], "files": [text],
              "type": text} for number, text in enumerate(_HOSTILE)]
    cases = [case({"text": "x"}, 403, "token_required", token=False),
             case({"text": "x"}, 403, "token_wrong", token=False, headers=(("Authorization", "Bearer " + "0" * 64),)),
             case({"text": "x"}, 403, "token_wrong", token=False, headers=(("X-Memlite-Token", "\xe9"),)),
             *(case(given) for given in good), case(good[0], 200),
             case({"text": "Under v1."}, target="/api/v1/memory/save"), case({"text": "word " * 100_000})]
    cases += [case(given, 400, "missing_parameter", says="Missing required parameter: text") for given in (
        {}, {"text": None}, {"title": "x"})]
    cases += [case(given, 400, "invalid_parameter") for given in (
        {"text": ""}, {"text": " \n"}, {"text": 3}, {"text": []}, {"text": True}, {"text": "<private>x</private>"},
        {"text": "x", "title": 3}, {"text": "x", "project": []}, {"text": "x", "concepts": "gotcha"},
        {"text": "x", "concepts": [3]}, {"text": "x", "files": {"a": 1}}, {"text": "x", "concepts": ["c"] * 201})]
    cases += [case({"text": "x", "colour": "red"}, 400, "unknown_parameter"), case(b"{", 400, "invalid_json"),
              case({"text": "x"}, 415, "json_required", kind="text/plain"),
              case(b'"' + b"x" * (4 << 20) + b'"', 413, "body_too_large"),
              Case(path, "GET", path, 405, ERROR, code="method_not_allowed")]
    for begin, good_id, missing in (("/api/observation/", "3", "99"), ("/api/session/", "S1", "S99"),
                                    ("/api/prompt/", "P1", "P99")):
        route = begin + "{id}"
        other = {"3": "4", "S1": "S2", "P1": "P2"}[good_id]
        cases += [
            Case(route, "DELETE", begin + good_id, 403, ERROR, code="token_required"),
            Case(route, "DELETE", begin + missing, 404, ERROR, code="not_found", token=True),
            *(Case(route, "DELETE", begin + ident, 400, ERROR, code="invalid_id", token=True)
              for ident in ("x", "-1", "%00", "1e3", "9" * 30)),
            Case(route, "DELETE", begin + good_id, 415, ERROR, code="json_required", token=True, body=b"x",
                 kind="text/plain"),
            Case(route, "GET", begin + good_id, 200),
            Case(route, "DELETE", begin + good_id, 200, _FORGOTTEN, token=True),
            Case(route, "GET", begin + good_id, 404, ERROR, code="not_found"),
            Case(route, "DELETE", begin + good_id, 404, ERROR, code="not_found", token=True),
            Case(route, "DELETE", (begin + other).replace("/api/", "/api/v1/"), 200, _FORGOTTEN, token=True),
            Case(route, "DELETE", begin + other, 404, ERROR, code="not_found", token=True)]
    return cases


def _special() -> list[Case]:
    """What no rule above covers."""
    timeline, inject = ROUTES[1], next(route for route in ROUTES if route.path == "/api/context/inject")
    missing = "Missing required parameter: anchor or query"
    cases = [
        _case(timeline, "/api/timeline", 400, "missing_parameter", missing),
        _case(timeline, "/api/timeline?anchor=&query=", 400, "missing_parameter", missing),
        _case(timeline, "/api/timeline?anchor=3&query=x", 400, "invalid_parameter"),
        _case(timeline, "/api/timeline?anchor=99", 404, "not_found", "Observation #99 not found"),
        _case(timeline, "/api/timeline?anchor=soon", 400, "invalid_parameter", "Invalid timestamp: soon"),
        _case(inject, "/api/context/inject?project=shop,boat", 400, "invalid_parameter"),
        Case("/api/search", "GET", "/api/search?q=prices&limit=500", 400, ERROR, code="invalid_parameter",
             says="limit must be between 1 and 100, not 500"),
        Case("/api/search", "GET", "/api/search?query=a&query=prices", 200, _ANSWER),
        Case("/api/search", "GET", "/api/search?type=observations&type=prompts&concept=a&concept=b", 200, _ANSWER),
        Case("/api/search", "GET", "/api/search?query=%ff%fe", 200, _ANSWER),
        Case("/api/search", "GET", "/api/search?query", 200, _ANSWER),
        Case("/api/search", "GET", "/api/search?&&&;==", 400, ERROR, code="unknown_parameter"),
        Case("/api/search", "GET", "/api/search?query=" + "x+" * 8000, 200, _ANSWER),
        Case("/ws", "GET", "/ws", 426, ERROR, code="upgrade_required"),
        Case("/ws", "GET", "/ws?project=shop", 426, ERROR, code="upgrade_required"),
        *(Case("/stream", "GET", "/stream", 200, None, EVENTS, headers=(("Last-Event-ID", text),))
          for text in ("", "x", "1-1-1-1-1", "9" * 40, "-1", "' OR 1=1")),
        *(Case("/api/search", "GET", "/api/search?q=prices", 200, None, MARKDOWN, headers=(("Accept", text),))
          for text in ("text/markdown", "text/html, text/markdown;q=0.5")),
        *(Case("/api/search", "GET", "/api/search?q=prices", 200, _ANSWER, headers=(("Accept", text),))
          for text in ("*/*", "application/json", "text/html", "nonsense"))]
    # With a query a timeline says what it found, and without a match that there is none.
    around = _TIMELINE | {"query", "match"}
    for value in PARAMETERS["query"].values:
        if value.text.strip():
            for spelling in ("query", "q"):
                target = f"/api/timeline?{spelling}={encoded(value.text)}"
                cases.append(Case("/api/timeline", "GET", target, 200, around))
    return cases


def _without_a_match(case: Case) -> Case:
    """The older timeline says so in words when nothing matches, so its keys are not always the same."""
    return case._replace(keys=None) if case.route == "/api/timeline/by-query" and case.status == 200 else case


CASES: tuple[Case, ...] = tuple(_without_a_match(case) for case in (
    *(case for route in ROUTES for case in _of_route(route)), *_ids(), *_nowhere(), *_batches(), *_special()))
WRITING: tuple[Case, ...] = tuple(_writing())
COVERED = frozenset((case.route, case.method) for case in (*CASES, *WRITING) if case.route and case.status < 400
                    or case.route == "/ws")


def faults(case: Case, status: int, content: str, body: bytes) -> list[str]:
    """What about the answer to `case` is not as it must be; `content` is the Content-Type, `body` as far as it came."""
    if status != case.status:
        return [f"{case}: {status} instead of {case.status}: {body[:200]!r}"]
    if content.partition(";")[0].strip() != case.content:
        return [f"{case}: {content} instead of {case.content}"]
    if case.content != JSON:
        return []
    try:
        value = json.loads(body)
    except ValueError as failure:
        return [f"{case}: no JSON: {failure}: {body[:200]!r}"]
    found = []
    if case.keys is not None and (not isinstance(value, dict) or set(value) != case.keys):
        found.append(f"{case}: keys {sorted(value)} instead of {sorted(case.keys)}")
    if status >= 400:
        if not all(isinstance(value.get(name), str) for name in ERROR) or not value["error"]:
            found.append(f"{case}: {value}")
        if case.code and value.get("code") != case.code:
            found.append(f"{case}: {value} instead of {case.code}")
        if case.says and value.get("error") != case.says:
            found.append(f"{case}: {value['error']!r} instead of {case.says!r}")
        return found
    return found + [f"{case}: {fault}" for fault in _item_faults(value, case.route.startswith("/api/search/"))]


def _item_faults(value: Any, old: bool) -> list[str]:
    """Items must have exactly the keys of their format."""
    if not isinstance(value, dict):
        return []
    items = value.get("results", value.get("timeline", value.get("items")))
    groups = items if isinstance(items, dict) else {"": items if isinstance(items, list) else []}
    found = []
    for name, group in groups.items():
        for item in group:
            whole = _FULL.get(item.get("kind"), frozenset())
            if old:
                whole = _OLD_PROMPT if whole is _PROMPT else whole
                brief = [OLD_BRIEF[name]] if name else list(OLD_BRIEF.values())
            else:
                brief = [BRIEF, BRIEF | {"similar"}]
            if "format" not in value:    # a list of records and the older timelines don't say it
                right = set(item) in brief or set(item) - {"score"} in (whole, _OLD_PROMPT)
            else:
                right = set(item) - {"score"} == whole if value["format"] == "full" else set(item) in brief
            if not right:
                found.append(f"item keys {sorted(item)}")
    return found
