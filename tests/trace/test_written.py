"""Spans as the bytes that are sent: the stock encoder of OpenTelemetry says what they have to be."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from clew.trace import endpoints
from clew.trace.packing import EMPTY, Packer, rejected_of
from clew.trace.span import Span, SpanEvent
from tests.trace import stock
from tests.trace.recorded import cases

if TYPE_CHECKING:
    from collections.abc import Sequence

    from clew.trace.endpoints import Endpoint
    from clew.trace.span import Value

ENDPOINTS = (
    endpoints.otlp("http://localhost/v1/traces"),
    endpoints.langfuse("http://localhost", "pk-lf-1", "sk-lf-1"),
    endpoints.phoenix("http://localhost", "key", project="sessions, and more"),
)
WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
INTEGERS = st.integers(-(1 << 63), (1 << 63) - 1)
TIMES = st.integers(0, (1 << 64) - 1)
VALUES = st.one_of(
    WORDS,
    st.booleans(),
    INTEGERS,
    st.floats(allow_nan=False),
    st.lists(WORDS, max_size=4).map(tuple),
    st.sampled_from([63, 64, 65, 127, 128, 16_300, 16_384, 70_000, 2_100_000]).map(lambda n: "é" * n),
)
TOLD = st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), VALUES, max_size=8)
EVENTS = st.lists(st.builds(SpanEvent, WORDS, TIMES, TOLD), max_size=3).map(tuple)


def sent(endpoint: Endpoint, spans: Sequence[Span]) -> ExportTraceServiceRequest:
    packer = Packer(endpoint, "1.0")
    body = gzip.decompress(packer.body([packer.parcel(span) for span in spans]))
    return ExportTraceServiceRequest.FromString(body)


def wanted(endpoint: Endpoint, spans: Sequence[Span]) -> ExportTraceServiceRequest:
    return stock.encoded(endpoint, "1.0", spans)


def test_all_recorded_spans_are_sent_as_the_stock_encoder_writes_them() -> None:
    seen = 0
    for n, case in enumerate(cases()):
        spans = case.spans()
        endpoint = ENDPOINTS[n % len(ENDPOINTS)]
        if spans:
            assert sent(endpoint, spans) == wanted(endpoint, spans), case.name
        seen += len(spans)
    assert seen > 1000


@given(st.sampled_from(ENDPOINTS), WORDS, TIMES, TOLD, EVENTS, st.booleans(), st.booleans())
def test_any_span_is_sent_as_the_stock_encoder_writes_it(
    endpoint: Endpoint,
    words: str,
    time: int,
    told: dict[str, Value],
    events: tuple[SpanEvent, ...],
    is_root: bool,
    is_error: bool,
) -> None:
    span = Span(
        "0" * 30 + "a1",
        "f" * 16,
        None if is_root else "0" * 15 + "1",
        words,
        words[::-1],
        "tool",
        time // 2,
        time,
        told,
        events,
        "error" if is_error else "unset",
        words if is_error else "",
        "client" if is_root else "internal",
    )
    assert sent(endpoint, [span, span]) == wanted(endpoint, [span, span])


def test_values_that_are_equal_but_of_another_kind_are_told_apart() -> None:
    told: dict[str, Value] = {"a": 1, "b": True, "c": 1.0, "d": "1", "e": 0, "f": False, "g": 0.0, "h": ""}
    spans = [
        Span("1" * 32, "2" * 16, None, "n", "l", "tool", 1, 2, one)
        for one in (told, dict(zip(told, reversed(told.values()), strict=True)))
    ]
    assert sent(ENDPOINTS[0], spans) == wanted(ENDPOINTS[0], spans)


def test_what_the_protocol_cannot_hold_does_not_stop_the_span() -> None:
    told: dict[str, Value] = {"great": 1 << 63, "half": "a\ud800b", "last": 1}
    span = Span("1" * 32, "2" * 16, None, "n\udfff", "l", "tool", -5, 1 << 70, told)
    (found,) = sent(ENDPOINTS[0], [span]).resource_spans[0].scope_spans[0].spans
    assert [(one.key, one.value.string_value) for one in found.attributes] == [("half", "a?b"), ("last", "")]
    assert (found.name, found.start_time_unix_nano, found.end_time_unix_nano) == ("n?", 0, (1 << 64) - 1)


def test_the_empty_request_has_nothing_in_it() -> None:
    assert gzip.decompress(EMPTY) == b""


@given(st.integers(-(1 << 63), (1 << 63) - 1), st.text(st.characters(exclude_categories=["Cs"])))
def test_what_an_endpoint_will_not_keep_is_read_as_it_was_written(count: int, why: str) -> None:
    answer = ExportTraceServiceResponse()
    answer.partial_success.rejected_spans = count
    answer.partial_success.error_message = why
    assert rejected_of(answer.SerializeToString(), "application/x-protobuf") == max(0, count)


@given(st.binary(max_size=40))
def test_an_answer_that_is_none_is_read_as_the_protocol_reads_it_or_as_nothing(data: bytes) -> None:
    try:
        told = ExportTraceServiceResponse.FromString(data).partial_success.rejected_spans
    except Exception:  # its own kind of error, which is not public
        told = 0
    assert rejected_of(data, "application/x-protobuf") in {0, max(0, told)}


def test_ids_times_and_attributes_reach_the_wire_as_they_are() -> None:
    lighthouse = endpoints.otlp("http://localhost/v1/traces", service="lighthouse")
    seen = 0
    for case in cases()[::4]:
        spans = {span.span_id: span for span in case.spans()}
        request = sent(lighthouse, list(spans.values()))
        for resource in request.resource_spans:
            assert [(one.key, one.value.string_value) for one in resource.resource.attributes] == [
                ("service.name", "lighthouse")
            ]
            for got in (got for scope in resource.scope_spans for got in scope.spans):
                span = spans.pop(got.span_id.hex())
                seen += 1
                assert got.trace_id.hex() == span.trace_id
                assert (got.parent_span_id.hex() or None) == span.parent_id
                assert (got.name, got.start_time_unix_nano, got.end_time_unix_nano) == (
                    span.name,
                    span.start_ns,
                    span.end_ns,
                )
                assert {one.key for one in got.attributes} == span.attributes.keys()
                told = {one.key: one.value for one in got.attributes}
                for name, value in span.attributes.items():
                    match value:
                        case bool():
                            assert told[name].bool_value is value
                        case int():
                            assert told[name].int_value == value
                        case float():
                            assert told[name].double_value == value
                        case str():
                            assert told[name].string_value == value
                        case _:
                            listed = told[name].array_value.values
                            assert tuple(one.string_value for one in listed) == value
                assert [(one.name, one.time_unix_nano) for one in got.events] == [
                    (one.name, one.time_ns) for one in span.events
                ]
                assert ("STATUS_CODE_ERROR" in str(got.status)) == (span.status == "error")
                assert got.status.message == span.status_message
        assert not spans, case.name
    assert seen > 300


def test_langfuse_is_given_the_names_it_shows() -> None:
    case = next(case for case in cases() if "/tools/" in case.name)
    spans = case.spans()
    (resource,) = sent(ENDPOINTS[1], spans).resource_spans
    assert [one.name for one in resource.scope_spans[0].spans] == [span.label for span in spans]
    assert spans[0].label == "Turn 1"
