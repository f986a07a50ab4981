"""Spans as OpenTelemetry's own encoder writes them: the judge of what is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    from clew.trace.endpoints import Endpoint
    from clew.trace.span import Span

KINDS = {"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT}


def encoded(endpoint: Endpoint, version: str, spans: Iterable[Span]) -> ExportTraceServiceRequest:
    """Return the request for some spans, with the ids and times they were given."""
    # Not Resource.create(): it would look at the machine and its environment, and make a random id.
    resource = Resource({"service.name": endpoint.service, **endpoint.resource})
    scope = InstrumentationScope("clew", version)
    return encode_spans(
        [
            ReadableSpan(
                name=span.label if endpoint.backend == "langfuse" else span.name,
                context=_context(span.trace_id, span.span_id),
                parent=None if span.parent_id is None else _context(span.trace_id, span.parent_id),
                resource=resource,
                attributes=dict(span.attributes),
                events=[Event(one.name, dict(one.attributes), one.time_ns) for one in span.events],
                kind=KINDS[span.kind],
                status=_status(span),
                start_time=span.start_ns,
                end_time=span.end_ns,
                instrumentation_scope=scope,
            )
            for span in spans
        ]
    )


def _context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), False, TraceFlags(TraceFlags.SAMPLED))


def _status(span: Span) -> Status:
    return Status(StatusCode.ERROR, span.status_message or None) if span.status == "error" else Status()
