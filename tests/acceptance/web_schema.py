"""Requests that schemathesis makes of the server's own document, sent to the server."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import checks as general
from schemathesis.specs.openapi import checks as specific

from tests.faces.web.test_api import keys

if TYPE_CHECKING:
    from schemathesis.generation import GenerationMode

    from tests.faces.web.lab import Visitor

# What schemathesis says of its types is not enough for a strict reader.
_LIBRARY: Any = schemathesis
_GENERAL: Any = general
_SPECIFIC: Any = specific
CHECKS: tuple[Any, ...] = (
    _GENERAL.not_a_server_error,
    _SPECIFIC.content_type_conformance,
    _SPECIFIC.response_schema_conformance,
)
ANSWERS = frozenset({200, 400, 403, 404, 405, 409, 413, 415, 422, 503})


def known(document: dict[str, Any], visitor: Visitor) -> dict[str, Any]:
    """Return the document with the sessions that there are: else hardly any request would get far."""
    found = copy.deepcopy(document)
    sessions = {"enum": keys(visitor)}
    paths = {"enum": [file["path"] for file in visitor.get("/api/files").json.get("files", [])] or ["/x"]}
    for methods in found["paths"].values():
        for operation in methods.values():
            for field in operation["parameters"]:
                if field["name"] == "id":
                    field["schema"] = {"anyOf": [sessions, sessions, field["schema"]]}
                elif field["name"] == "n":
                    field["schema"] = {"type": "integer", "minimum": 0, "maximum": 4}
                elif field["name"] == "path":
                    field["schema"] = {"anyOf": [paths, field["schema"]]}
            body = operation.get("requestBody")
            if body:
                properties = body["content"]["application/json"]["schema"]["properties"]
                if "session" in properties:
                    properties["session"] = {"anyOf": [sessions, properties["session"]]}
    return found


def ask_everything(visitor: Visitor, *, examples: int, mode: GenerationMode) -> Counter[int]:
    """Send so many requests to each address; return how often each status came back."""
    schema: Any = _LIBRARY.openapi.from_dict(known(visitor.get("/api/openapi.json").json, visitor))
    base = f"http://127.0.0.1:{visitor.port}"
    name, _, value = visitor.cookie.partition("=")
    ours = {"Origin": base, "Sec-Fetch-Site": "same-origin", "X-Clew": "1"}
    statuses: Counter[int] = Counter()
    draw = random.Random(0)
    for result in schema.get_all_operations():
        operation: Any = result.ok()
        if operation.path == "/api/events":  # it never ends
            continue

        @seed(7)
        @settings(
            max_examples=examples, deadline=None, database=None, phases=[Phase.generate],
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
        )  # fmt: skip
        @given(operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            # Now and then as the document has it: another site's header is refused.
            headers = ours if case.method == "POST" and draw.random() < 0.9 else {}
            response = case.call(base_url=base, headers=headers, cookies={name: value}, timeout=30)
            statuses[response.status_code] += 1
            assert response.status_code in ANSWERS, (case.method, case.formatted_path, response.status_code)
            case.validate_response(response, checks=CHECKS)

        ask()
    return statuses
