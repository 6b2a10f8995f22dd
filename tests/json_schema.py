"""As much of JSON Schema as the API's description uses."""

from __future__ import annotations

from typing import Any

_TYPES: dict[str, tuple[type, ...]] = {"object": (dict,), "array": (list,), "string": (str,), "integer": (int,),
                                       "number": (int, float), "boolean": (bool,), "null": (type(None),)}
_KNOWN = {"type", "required", "properties", "items", "anyOf", "enum", "const", "minimum", "maximum", "description",
          "additionalProperties", "format", "default", "maxItems", "$ref"}


def faults(value: Any, schema: dict[str, Any], components: dict[str, Any], place: str = "$") -> list[str]:
    """What about `value` is not as `schema` says; empty when all is."""
    assert set(schema) <= _KNOWN, f"this validator does not know {set(schema) - _KNOWN}"
    if "$ref" in schema:
        return faults(value, components[schema["$ref"].rpartition("/")[2]], components, place)
    if "anyOf" in schema:
        tries = [faults(value, option, components, place) for option in schema["anyOf"]]
        return [] if [] in tries else min(tries, key=len)
    found = []
    kind = schema.get("type")
    if kind and (not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
        return [f"{place} is no {kind}: {value!r}"]
    if "enum" in schema and value not in schema["enum"]:
        found.append(f"{place} is none of {schema['enum']}: {value!r}")
    if "const" in schema and value != schema["const"]:
        found.append(f"{place} is not {schema['const']!r}: {value!r}")
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if number and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        found.append(f"{place} is out of bounds: {value}")
    if isinstance(value, dict):
        found += [f"{place} lacks {name}" for name in schema.get("required", ()) if name not in value]
        properties, others = schema.get("properties", {}), schema.get("additionalProperties", {})
        for name, part in value.items():
            found += faults(part, properties.get(name, others or {}), components, f"{place}.{name}")
    if isinstance(value, list):
        for number, part in enumerate(value):
            found += faults(part, schema.get("items", {}), components, f"{place}[{number}]")
    return found
