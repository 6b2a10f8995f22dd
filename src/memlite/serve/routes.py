"""The one table of routes: it registers them, and the API's description is made from it."""

from __future__ import annotations

from memlite.search.parameters import SEARCH, TIMELINE
from memlite.serve import browsing, description, memories, older, searching, stream, websocket
from memlite.serve.route import Route
from memlite.serve.schemas import ANY_ID, WORDS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def _without(meanings: tuple[str, ...], *left_out: str) -> tuple[str, ...]:
    return tuple(meaning for meaning in meanings if meaning not in left_out)


_READY_MADE = _without(SEARCH, "kind", "obs_type", "concepts")
_LISTED = ("project", "limit", "offset", "format", "branch", "range", "since", "until")
_OLD_SEARCH = _without(SEARCH, "kind", "output")
_OLD_TIMELINE = _without(TIMELINE, "kind", "output", "format")
_TEXT: dict[str, Any] = {"type": "string"}
_TEXTS: dict[str, Any] = {"type": "array", "items": _TEXT, "maxItems": 200}
_IDS: dict[str, Any] = {"type": "array", "items": ANY_ID, "maxItems": memories.MOST_IDS}
_ALL = (("order", "date_desc"), ("limit", 10))

ROUTES: tuple[Route, ...] = (
    Route(path="/api/search", handler=searching.search, parameters=SEARCH, answer="Answer",
          help="Observations, session summaries and prompts in one ranking, filtered at will",
          example="/api/search?query=login+timeout&limit=5"),
    Route(path="/api/timeline", handler=searching.timeline, parameters=TIMELINE, answer="Timeline",
          help="What happened around a record, a moment, or the best match of a query",
          example="/api/timeline?anchor=123&depth_before=5&depth_after=5"),
    Route(path="/api/decisions", handler=searching.decisions, parameters=_READY_MADE, answer="Answer",
          help="What was decided: newest first, with a query the best match first",
          example="/api/decisions?query=database&project=shop"),
    Route(path="/api/changes", handler=searching.changes, parameters=_READY_MADE, answer="Answer",
          help="What was changed: newest first, with a query the best match first", example="/api/changes?since=7d"),
    Route(path="/api/how-it-works", handler=searching.how_it_works, parameters=_READY_MADE, answer="Answer",
          help="What explains how things work: newest first, with a query the best match first",
          example="/api/how-it-works?query=cache"),
    Route(path="/api/contextualize", handler=searching.contextualize, parameters=("query", "project", "output"),
          answer="Context", help="Where a project or topic stands: the newest decisions, changes and explanations, and "
          "what happened around the newest of them", example="/api/contextualize?project=shop"),

    Route(path="/api/observation/<id>", handler=memories.observation, parameters=("output",), answer="Observation",
          help="A whole observation", example="/api/observation/123"),
    Route(path="/api/session/<id>", handler=memories.session, parameters=("output",), answer="Summary",
          help="A whole session summary", example="/api/session/S5"),
    Route(path="/api/prompt/<id>", handler=memories.prompt, parameters=("output",), answer="Prompt",
          help="A whole prompt", example="/api/prompt/P7"),
    Route(method="POST", path="/api/observations/batch", handler=memories.batch, answer="Records",
          body=(("ids", _IDS, True),), help="Whole records of any kind by id; unknown ids are left out",
          example="""/api/observations/batch -H 'Content-Type: application/json' -d '{"ids": [123, "S5", "P7"]}'"""),
    Route(method="POST", path="/api/memory/save", handler=memories.save_memory, answer="Saved", writes=True,
          body=(("text", WORDS, True), ("title", _TEXT, False), ("project", _TEXT, False), ("type", _TEXT, False),
                ("concepts", _TEXTS, False), ("files", _TEXTS, False)),
          help="Store a text as an observation; needs the token",
          example="/api/memory/save -H \"Authorization: Bearer $(cat ~/.memlite/token)\" "
          """-H 'Content-Type: application/json' -d '{"text": "We chose SQLite.", "project": "shop"}'"""),
    Route(method="DELETE", path="/api/observation/<id>", handler=memories.forget_observation, answer="Forgotten",
          writes=True, help="Forget an observation: it leaves the file and does not come back; needs the token",
          example="/api/observation/123 -X DELETE -H \"Authorization: Bearer $(cat ~/.memlite/token)\""),
    Route(method="DELETE", path="/api/session/<id>", handler=memories.forget_session, answer="Forgotten", writes=True,
          help="Forget a session summary; needs the token",
          example="/api/session/S5 -X DELETE -H \"Authorization: Bearer $(cat ~/.memlite/token)\""),
    Route(method="DELETE", path="/api/prompt/<id>", handler=memories.forget_prompt, answer="Forgotten", writes=True,
          help="Forget a prompt; needs the token",
          example="/api/prompt/P7 -X DELETE -H \"Authorization: Bearer $(cat ~/.memlite/token)\""),

    Route(path="/api/observations", handler=browsing.observations,
          parameters=(*_LISTED, "obs_type", "concepts", "files"), renames=(("type", "obs_type"),),
          answer="Page", help="Observations, newest first", example="/api/observations?project=shop&limit=10"),
    Route(path="/api/summaries", handler=browsing.summaries, parameters=(*_LISTED, "files"), answer="Page",
          help="Session summaries, newest first", example="/api/summaries?limit=10"),
    Route(path="/api/prompts", handler=browsing.prompts, parameters=_LISTED, answer="Page",
          help="Prompts, newest first", example="/api/prompts?limit=10"),
    Route(path="/api/projects", handler=browsing.projects, answer="Projects",
          help="The projects that have memories, the one used last first", example="/api/projects"),
    Route(path="/api/stats", handler=browsing.stats, answer="Stats",
          help="How much is stored, and what the worker takes", example="/api/stats"),
    Route(path="/api/context/inject", handler=browsing.inject, parameters=("project",), old=True, answer="Text",
          required=(("project", "project"),), help="The text a new session of a project is given",
          example="/api/context/inject?project=shop"),
    Route(path="/health", aliases=("/api/health",), handler=browsing.health, old=True, answer="Health",
          help="Whether the worker lives, which one it is, and how much is stored", example="/health"),
    Route(path="/api/openapi.json", handler=description.openapi, answer="Object", help="This API as OpenAPI 3.1",
          example="/api/openapi.json"),
    Route(path="/api/search/help", aliases=("/api/help",), handler=description.help_for_people, old=True, answer="Help",
          help="The routes and how to call them", example="/api/search/help"),
    Route(path="/stream", handler=stream.stream, parameters=("project",), answer="EventStream", old=True,
          help="What comes in as it comes in, as server-sent events: observation, summary, prompt, session_start, "
          "session_end; goes on after Last-Event-ID", example="/stream -N"),
    Route(path="/ws", handler=websocket.websocket, parameters=("project",), answer="WebSocket", old=True,
          help="The same events over a WebSocket, and live search: send {\"query\": …} with any parameter of "
          "/api/search, get results, and again when what comes in changes them", example="/ws"),

    Route(path="/api/search/observations", handler=older.observations, parameters=_OLD_SEARCH, old=True,
          required=(("query", "query"),), answer="OldAnswer", help="Observations that fit a query",
          example="/api/search/observations?query=login"),
    Route(path="/api/search/sessions", handler=older.sessions, parameters=_OLD_SEARCH, old=True,
          required=(("query", "query"),), answer="OldAnswer", help="Session summaries that fit a query",
          example="/api/search/sessions?query=login"),
    Route(path="/api/search/prompts", handler=older.prompts, parameters=_OLD_SEARCH, old=True,
          required=(("query", "query"),), answer="OldAnswer", help="Prompts that fit a query",
          example="/api/search/prompts?query=login"),
    Route(path="/api/search/by-concept", handler=older.by_concept, parameters=_without(_OLD_SEARCH, "query"), old=True,
          required=(("concepts", "concept"),), defaults=_ALL, answer="OldAnswer", help="Observations with a concept",
          example="/api/search/by-concept?concept=gotcha"),
    Route(path="/api/search/by-file", handler=older.by_file, parameters=_without(_OLD_SEARCH, "query"), old=True,
          required=(("files", "filePath"),), defaults=_ALL, answer="OldByFile",
          help="Observations and session summaries that touched a file; `limit` of each",
          example="/api/search/by-file?filePath=prices.py"),
    Route(path="/api/search/by-type", handler=older.by_type, parameters=_without(_OLD_SEARCH, "query"), old=True,
          renames=(("type", "obs_type"),), required=(("obs_type", "type"),), defaults=_ALL, answer="OldAnswer",
          help="Observations of a type", example="/api/search/by-type?type=decision"),
    Route(path="/api/context/recent", handler=older.recent_context, parameters=("project", "limit"), old=True,
          defaults=(("limit", 3),), answer="OldRecent", help="The newest session summaries",
          example="/api/context/recent?project=shop"),
    Route(path="/api/context/timeline", aliases=("/api/timeline/context",), handler=older.timeline, old=True,
          parameters=_without(_OLD_TIMELINE, "query", "mode"), required=(("anchor", "anchor"),), answer="OldTimeline",
          help="What happened around an anchor, in a list for each kind", example="/api/context/timeline?anchor=123"),
    Route(path="/api/timeline/by-query", handler=older.timeline_by_query, old=True,
          parameters=_without(_OLD_TIMELINE, "anchor"), required=(("query", "query"),), answer="OldTimelineByQuery",
          help="What happened around the best match of a query, in a list for each kind",
          example="/api/timeline/by-query?query=login"),
)
