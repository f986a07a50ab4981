"""The OpenAPI document of the server, made of the table of routes."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

from clew import __version__
from clew.faces.web.routes import JSON, ROUTES
from clew.faces.web.schemas import components, ref

if TYPE_CHECKING:
    from clew.faces.web.routes import Route

_IN_PATH: Final = re.compile(r"\{(\w+)\}")
_PATH_SCHEMAS: Final[dict[str, dict[str, object]]] = {
    "id": {"type": "string", "pattern": "^[A-Za-z0-9_~-]{1,160}$"},
    "n": {"type": "integer", "minimum": 0},
}
_HEADERS: Final = (
    {"name": "X-Clew", "in": "header", "required": True, "schema": {"const": "1"}},
    {"name": "Sec-Fetch-Site", "in": "header", "required": True, "schema": {"enum": ["same-origin", "none"]}},
    {"name": "Origin", "in": "header", "required": True, "schema": {"type": "string"}},
)


@cache
def openapi() -> dict[str, object]:
    """Return the document."""
    paths: dict[str, dict[str, object]] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "clew web",
            "version": __version__,
            "description": "What the web app of clew asks of its server, on one's own machine.",
        },
        "security": [{"cookie": []}],
        "paths": paths,
        "components": {
            "schemas": components(),
            "securitySchemes": {
                "cookie": {
                    "type": "apiKey",
                    "in": "cookie",
                    "name": "clew-PORT",
                    "description": "Given to the browser that opens the printed address first.",
                }
            },
        },
    }


def _operation(route: Route) -> dict[str, object]:
    found: dict[str, object] = {
        "operationId": route.name,
        "summary": route.help,
        "parameters": [*_parameters(route)],
        "responses": {
            "200": {"description": route.help, "content": {route.media_type: _content(route)}},
            "default": {
                "description": "Why it was not done.",
                "content": {JSON: {"schema": ref("Error")}},
            },
        },
    }
    if route.method == "POST":
        schema = {
            "type": "object",
            "additionalProperties": False,
            "required": [one.name for one in route.fields if one.is_required],
            "properties": {one.name: {**one.schema(), "description": one.help} for one in route.fields},
        }
        found["requestBody"] = {"required": True, "content": {JSON: {"schema": schema}}}
    return found


def _parameters(route: Route) -> list[object]:
    found: list[object] = [
        {"name": name, "in": "path", "required": True, "schema": _PATH_SCHEMAS[name]}
        for name in _IN_PATH.findall(route.path)
    ]
    if route.method == "POST":
        return [*found, *_HEADERS]
    found += [
        {
            "name": one.name,
            "in": "query",
            "required": one.is_required,
            "description": one.help,
            "schema": one.schema(),
        }
        for one in route.fields
    ]
    return found


def _content(route: Route) -> dict[str, object]:
    return {"schema": ref(route.shape)} if route.shape else {"schema": {"type": "string"}}
