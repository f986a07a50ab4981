"""Send the spans of one session with OpenTelemetry's own exporter. Run by itself.

    python stock_export.py SESSION.jsonl URL

The spans are clew's; all that comes after them, to make bytes of them and to send these, is the SDK's.
Secrets are not looked for.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

from clew.store.reader import open_session
from clew.trace.spans import SessionTraces

if TYPE_CHECKING:
    from clew.trace.span import Span

BATCH = 512


def context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(int(trace_id, 16), int(span_id, 16), False, TraceFlags(TraceFlags.SAMPLED))


def readable(span: Span, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    return ReadableSpan(
        name=span.name,
        context=context(span.trace_id, span.span_id),
        parent=None if span.parent_id is None else context(span.trace_id, span.parent_id),
        resource=resource,
        attributes=dict(span.attributes),
        events=[Event(one.name, dict(one.attributes), one.time_ns) for one in span.events],
        kind=SpanKind.CLIENT if span.kind == "client" else SpanKind.INTERNAL,
        status=Status(StatusCode.ERROR, span.status_message or None) if span.status == "error" else Status(),
        start_time=span.start_ns,
        end_time=span.end_ns,
        instrumentation_scope=scope,
    )


def main(session: str, url: str) -> None:
    exporter = OTLPSpanExporter(url, compression=Compression.Gzip)
    resource, scope = Resource({"service.name": "claude-code"}), InstrumentationScope("bench")
    batch: list[ReadableSpan] = []
    for turn in SessionTraces(open_session(session)).turns():
        for span in turn.spans():
            batch.append(readable(span, resource, scope))
            if len(batch) >= BATCH:
                exporter.export(batch)
                batch = []
    exporter.export(batch)


if __name__ == "__main__":
    main(*sys.argv[1:])
