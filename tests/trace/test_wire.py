"""What Langfuse and Phoenix are sent, as it is on the wire."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from clew.actions.tracing_sources import Wish
from clew.trace import endpoints
from clew.trace.packing import BYTES, SPANS, Packer
from clew.trace.span import Span
from tests.trace.collector import collecting
from tests.trace.sending import Sender, put, story

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_langfuse_gets_its_path_its_headers_and_its_names(tmp_path: Path) -> None:
    path = put(tmp_path, story(2).data())
    with collecting() as collector:
        endpoint = endpoints.langfuse(f"http://127.0.0.1:{collector.port}", "pk-lf-1", "sk-lf-1")
        assert Sender(tmp_path / "state", (endpoint,)).run(path).turns_sent == 2
    ((target, headers, body),) = collector.requests
    assert target == "/api/public/otel/v1/traces"
    told = {name.lower(): value for name, value in headers.items()}
    assert base64.b64decode(told["authorization"].removeprefix("Basic ")) == b"pk-lf-1:sk-lf-1"
    assert told["x-langfuse-ingestion-version"] == "4"
    assert told["content-type"] == "application/x-protobuf"
    assert told["content-encoding"] == "gzip"
    (resource,) = body.resource_spans
    assert {one.key: one.value.string_value for one in resource.resource.attributes} == {
        "service.name": "claude-code"
    }
    (scope,) = resource.scope_spans
    assert (scope.scope.name, scope.scope.version) == ("clew", "1.0")
    root, first, tool, second = scope.spans[:4]
    assert [one.name for one in (root, tool)] == ["Turn 1", "Read"]
    assert not root.parent_span_id
    assert first.parent_span_id == second.parent_span_id == root.span_id
    assert tool.parent_span_id == first.span_id
    names = {one.key: one.value.string_value for one in first.attributes}
    assert names["langfuse.observation.type"] == "generation"
    assert names["langfuse.trace.name"] == "Turn 1"
    assert {one.trace_id for one in scope.spans[:4]} == {root.trace_id}


def test_phoenix_is_told_the_project_in_the_resource(tmp_path: Path) -> None:
    path = put(tmp_path, story(1).data())
    with collecting() as collector:
        endpoint = endpoints.phoenix(f"http://127.0.0.1:{collector.port}", "key-1", project="sessions")
        Sender(tmp_path / "state", (endpoint,)).run(path)
    ((target, headers, body),) = collector.requests
    assert target == "/v1/traces"
    assert headers["Authorization"] == "Bearer key-1"
    told = {one.key: one.value.string_value for one in body.resource_spans[0].resource.attributes}
    assert told["openinference.project.name"] == "sessions"
    assert body.resource_spans[0].scope_spans[0].spans[1].name.startswith("chat ")


def test_langfuse_is_asked_what_it_has_when_its_answer_was_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.trace.deliver.GRACE", {"langfuse": 0.0})
    path = put(tmp_path, story(3).data())
    with collecting() as collector:
        collector.script = lambda number, has_spans: "lost" if has_spans and number == 1 else "ok"
        endpoint = endpoints.langfuse(f"http://127.0.0.1:{collector.port}", "pk", "sk")
        found = Sender(tmp_path / "state", (endpoint,)).run(path)
        assert (found.turns_sent, found.unknown) == (3, 0)
        assert collector.is_asked_about == 3
        assert set(collector.spans.values()) == {1}


def test_a_request_is_never_larger_than_agreed_and_its_spans_are_whole(tmp_path: Path) -> None:
    big = Span("0" * 31 + "1", "0" * 15 + "1", None, "n", "l", "tool", 0, 1, {"a": "x" * 60_000})
    packer = Packer(endpoints.otlp("http://localhost/v1/traces"), "1.0")
    parcel = packer.parcel(big)
    assert 60_000 < parcel.size < 60_200
    assert len(packer.body([parcel] * 3)) < 5000
    builder = story(0)
    for n in range(120):
        builder.prompt(f"{n} " + "words " * 20_000, uuid=f"{n:08}-0000-4000-8000-000000000000")
        builder.answer("Yes.", message_id=f"m{n}")
    path = put(tmp_path, builder.data())
    with collecting() as collector:
        sender = Sender(tmp_path / "state", (endpoints.otlp(collector.url),), seconds=60, request=20)
        assert sender.run(path, wish=Wish(redact=False)).turns_sent == 120
    assert len(collector.requests) > 5
    for _, _, body in collector.requests:
        assert body.ByteSize() <= BYTES + 1000
        assert len(body.resource_spans[0].scope_spans[0].spans) <= SPANS
    assert len(collector.spans) == 240
