"""Whatever stands in a file, its spans are such that a backend takes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.session import subagents
from clew.session.session import Session
from clew.trace.spans import Options, turn_spans
from tests.trace.stories import started

if TYPE_CHECKING:
    from clew.trace.span import Span

ODD: list[Any] = [None, True, 3, -1, 1e308, "", "\ud800", [], {}, [[]], {"a": {"b": [None]}}, 10**30]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_a_value_of_another_type_in_any_field_breaks_nothing(odd: object) -> None:
    lines = [json.loads(line) for line in started().result("t1").answer("Done.").data().splitlines()]
    for number, line in enumerate(lines):
        for path in paths(line):
            data = b"".join(
                json.dumps(changed(line, path, odd) if at == number else other).encode() + b"\n"
                for at, other in enumerate(lines)
            )
            session = Session.read(data, name="s1")
            for options in (Options(), Options(content=False, limit=300)):
                for turn in turn_spans(session, subagents.agents(session), options=options):
                    for span in turn.spans():
                        check(span)


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    found = [at] if at else []
    items: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        items = list(cast("dict[str, Any]", value).items())
    elif isinstance(value, list):
        items = list(enumerate(cast("list[Any]", value)))
    for key, inner in items:
        found += paths(inner, (*at, key))
    return found


def changed(value: Any, path: tuple[Any, ...], odd: object) -> Any:
    if not path:
        return odd
    copy: Any = value.copy()
    copy[path[0]] = changed(copy[path[0]], path[1:], odd)
    return copy


def check(span: Span) -> None:
    assert len(bytes.fromhex(span.trace_id)) == 16
    assert len(bytes.fromhex(span.span_id)) == 8
    assert 0 <= span.start_ns <= span.end_ns < 1 << 63
    for told in (span.attributes, *(event.attributes for event in span.events)):
        for name, value in told.items():
            for one in value if isinstance(value, tuple) else (value,):
                assert isinstance(one, str | bool | int | float), name
                if isinstance(one, str):
                    one.encode()
                elif not isinstance(one, bool):
                    assert abs(one) < 1 << 63
    span.name.encode()
    span.label.encode()
    span.status_message.encode()
