"""Ask a backend which spans of a trace it has, where it can be asked: Phoenix and Langfuse.

What is not there a while after it was sent did not arrive. What is not there at once may be on its way:
`GRACE` says how long a backend may take to show what it took.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, urlsplit

from clew.format.entry import as_mapping
from clew.format.fields import as_items
from clew.net.failing import NoAnswerError
from clew.net.line import Line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.net.line import Answer
    from clew.trace.endpoints import Backend, Endpoint

GRACE: Final[Mapping[Backend, float]] = {"phoenix": 5.0, "langfuse": 60.0}
"""Seconds; none for a backend that cannot be asked."""

_PAGE: Final = 1000
_PAGES: Final = 50
_LARGEST: Final = 4 << 20
_PHOENIX: Final = """query Spans($trace: String!, $after: String) {
  getTraceByOtelId(traceId: $trace) {
    spans(first: 1000, after: $after) { edges { node { spanId } } pageInfo { hasNextPage endCursor } }
  }
}"""


class NotToldError(Exception):
    """The backend did not say what it has."""


class Readback:
    """Asks one backend."""

    def __init__(self, endpoint: Endpoint, environ: Mapping[str, str] | None = None) -> None:
        self._endpoint = endpoint
        self._path = urlsplit(endpoint.base).path.rstrip("/")
        self._line = Line(endpoint.base or endpoint.url, certificate=endpoint.certificate, environ=environ)

    def close(self) -> None:
        """Hang up."""
        self._line.close()

    def spans_of(self, trace_id: str, *, deadline: float) -> set[str]:
        """Return the ids of the spans that the backend has of a trace, in hex."""
        if self._endpoint.backend == "phoenix":
            return self._of_phoenix(trace_id, deadline)
        return self._of_langfuse(trace_id, deadline)

    def _of_phoenix(self, trace_id: str, deadline: float) -> set[str]:
        found: set[str] = set()
        after: str | None = None
        for _ in range(_PAGES):
            asked = {"query": _PHOENIX, "variables": {"trace": trace_id, "after": after}}
            answer = self._ask("POST", "/graphql", json.dumps(asked).encode(), deadline)
            told = as_mapping(_json(answer))
            if told.get("errors") or "data" not in told:
                raise NotToldError("it does not understand the question")
            trace = as_mapping(told.get("data")).get("getTraceByOtelId")
            if trace is None:
                return found
            spans = as_mapping(as_mapping(trace).get("spans"))
            for edge in as_items(spans.get("edges")) or ():
                found.add(str(as_mapping(as_mapping(edge).get("node")).get("spanId")))
            page = as_mapping(spans.get("pageInfo"))
            if not page.get("hasNextPage"):
                return found
            after = str(page.get("endCursor"))
        raise NotToldError("the trace has too many spans")

    def _of_langfuse(self, trace_id: str, deadline: float) -> set[str]:
        found: set[str] = set()
        cursor = ""
        # The second edition of this is the one that shows what came in over OTLP at once.
        for _ in range(_PAGES):
            target = f"/api/public/v2/observations?traceId={trace_id}&fields=core&limit={_PAGE}"
            answer = self._ask("GET", target + (f"&cursor={quote(cursor)}" if cursor else ""), None, deadline)
            told = as_mapping(_json(answer))
            found |= {str(as_mapping(one).get("id")) for one in as_items(told.get("data")) or ()}
            following = as_mapping(told.get("meta")).get("cursor")
            if not isinstance(following, str) or not following:
                return found
            cursor = following
        raise NotToldError("the trace has too many spans")

    def _ask(self, method: str, target: str, body: bytes | None, deadline: float) -> Answer:
        headers = {**self._endpoint.all_headers, "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            path = self._path + target
            answer = self._line.request(method, path, body, headers, deadline=deadline, most=_LARGEST)
        except NoAnswerError as error:
            raise NotToldError(error.reason) from None
        if answer.status != 200:
            raise NotToldError(f"it answered {answer.status}")
        return answer


def _json(answer: Answer) -> object:
    try:
        return json.loads(answer.body)
    except ValueError:
        raise NotToldError("what it answered is no JSON") from None
