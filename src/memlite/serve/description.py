"""The API described for programs (OpenAPI 3.1) and for a person with curl, both from the table of routes."""

from __future__ import annotations

from memlite.search.parameters import SPELLINGS
from memlite.serve.calls import Call
from memlite.serve.schemas import (
    DEFAULTS,
    EMPTY,
    LENIENT,
    ONE_PROJECT,
    PARAMETERS,
    PATH_IDS,
    SCHEMAS,
    SPACE,
    TIMELINE_MODE,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from memlite.serve.route import Route

_MARKDOWN = "text/markdown"
_NOT_JSON = {"Text": "text/plain", "EventStream": "text/event-stream"}
_TITLE = "memlite: what was done in coding sessions, found again"
_ERRORS = {
    "400": "a parameter or body is missing or has no meaning", "403": "a foreign page, or no token",
    "404": "no such record", "421": "the Host is not this server", "429": "too many requests, beyond loopback",
    "503": "the store can't be used"}
_BODY_ERRORS = {"409": "that was forgotten and is not stored again", "413": "the body is too large",
                "415": "the body is no JSON"}


def openapi(call: Call) -> dict[str, Any]:
    """This API as an OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1)."""
    paths: dict[str, dict[str, Any]] = {}
    for route in call.worker.routes:
        for path in (route.path, *route.aliases):
            operation = _operation(route, path)
            paths.setdefault(path.replace("<", "{").replace(">", "}"), {})[route.method.lower()] = operation
    return {
        "openapi": "3.1.0",
        "info": {"title": _TITLE, "version": call.worker.version,
                 "description": "Every /api/… path also answers under /api/v1/…"},
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {"schemas": SCHEMAS,
                       "securitySchemes": {"token": {"type": "http", "scheme": "bearer",
                                                     "description": "what is in the file `token`"}}}}


def _operation(route: Route, path: str) -> dict[str, Any]:
    content: dict[str, Any] = {"application/json": {"schema": {"$ref": f"#/components/schemas/{route.answer}"}}}
    if route.answer in _NOT_JSON:
        content = {_NOT_JSON[route.answer]: {"schema": {"type": "string"}}}
    if "output" in route.parameters:
        envelope = {"type": "array", "items": {"type": "object", "properties": {"type": {"const": "text"},
                                                                                 "text": {"type": "string"}}}}
        content["application/json"]["schema"] = {"anyOf": [content["application/json"]["schema"], envelope]}
        content[_MARKDOWN] = {"schema": {"type": "string"}}
    errors = {**_ERRORS, **(_BODY_ERRORS if route.body or route.writes else {})}
    refusal = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    responses = {"200": {"description": route.help, "content": content},
                 **{status: {"description": text, "content": refusal} for status, text in sorted(errors.items())}}
    if route.answer == "Saved":
        responses["201"] = responses["200"]
    if route.answer == "WebSocket":
        del responses["200"]
        responses["101"] = {"description": route.help}
        responses["426"] = {"description": "called without a WebSocket handshake", "content": refusal}
    operation: dict[str, Any] = {
        "operationId": (route.method.lower() + path).translate(_IDENTIFIER),
        "summary": route.help, "parameters": _path_parameters(path) + _query_parameters(route), "responses": responses}
    if route.body:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": {
            "type": "object", "additionalProperties": False,
            "properties": {name: schema if required else {"anyOf": [schema, {"type": "null"}]}
                           for name, schema, required in route.body},
            "required": [name for name, _, required in route.body if required]}}}}
    if route.writes:
        operation["security"] = [{"token": []}]
    return operation


_IDENTIFIER = str.maketrans("/-.<", "____", ">")


def _path_parameters(path: str) -> list[dict[str, Any]]:
    if "<id>" not in path:
        return []
    return [{"name": "id", "in": "path", "required": True,
             "schema": {"type": "string", "pattern": PATH_IDS[path.split("/")[-2]]},
             "description": "a number, or the id as it is cited: S5, P7"}]


def parameter_of(route: Route, meaning: str) -> dict[str, Any]:
    """One query parameter of `route` as OpenAPI has it, under the name it is best known by there."""
    schema, text = PARAMETERS[meaning]
    if meaning == "mode" and "before" in route.parameters:
        schema, text = TIMELINE_MODE
    default = dict(route.defaults).get(meaning, DEFAULTS.get(meaning))
    if default is not None:
        schema = {**schema, "default": default}
    if route.old and meaning in LENIENT:
        schema = {name: value for name, value in schema.items() if name == "default"}
    if route.handler.__name__ == "inject":
        schema = ONE_PROJECT
    elif meaning in dict(route.required):
        schema = _not_blank(schema)
    renamed = {meant: name for name, meant in route.renames}
    name = dict(route.required).get(meaning) or renamed.get(meaning) or SPELLINGS[meaning][0]
    others = [other for other in SPELLINGS[meaning] if other != name]
    found = {"name": name, "in": "query", "required": meaning in dict(route.required),
             "description": text + (f". Also: {', '.join(others)}" if others else "")}
    if meaning == "range":
        return {**found, "content": {"application/json": {"schema": schema}}}
    return {**found, "schema": schema}


def _not_blank(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {**schema, "anyOf": [option for option in schema["anyOf"] if option != EMPTY]}
    return {**schema, "pattern": f"[^{SPACE},]"}


def _query_parameters(route: Route) -> list[dict[str, Any]]:
    return [parameter_of(route, meaning) for meaning in route.parameters]


def help_for_people(call: Call) -> dict[str, Any]:
    """The routes in words, with a curl call for each."""
    port = call.environ.get("SERVER_PORT", "")
    endpoints = []
    for route in call.worker.routes:
        parameters = {found["name"]: found["description"] + (" (required)" if found["required"] else "")
                      for found in _query_parameters(route)}
        body = {name: ("required" if required else "optional") for name, _, required in route.body}
        endpoints.append({"method": route.method, "path": route.path.replace("<id>", "ID"), "description": route.help,
                          "parameters": parameters, **({"body": body} if body else {})})
    return {"title": _TITLE,
            "description": "JSON by default; output=markdown gives compact text. Every /api/… path also answers under "
                           "/api/v1/….",
            "endpoints": endpoints,
            "examples": [_curl(route, f"http://127.0.0.1:{port}") for route in call.worker.routes]}


def _curl(route: Route, base: str) -> str:
    path, _, rest = route.example.partition(" ")
    quoted = f"'{base}{path}'" if "?" in path else f"{base}{path}"
    return f"curl -s {quoted} {rest}".rstrip()
