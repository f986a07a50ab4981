"""The fast road and the slow road to the facts of a line lead to the same facts."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format.decode import DecodeError, decode
from clew.format.entry import Entry
from clew.format.skim import Skim, skim, skim_entry
from tests.format.samples import json_values
from tests.fuzz.lines import corpus
from tests.fuzz.mutate import damaged_file

NAMES = (
    "type", "subtype", "uuid", "parentUuid", "logicalParentUuid", "sessionId", "timestamp", "cwd", "version",
    "gitBranch", "requestId", "agentId", "slug", "operation",
    "leafUuid", "isMeta", "isSidechain", "isCompactSummary",
    "isApiErrorMessage", "content", "message", "data", "attachment",
)  # fmt: skip

blocks = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["text", "tool_use", "tool_result"]) | json_values,
        "id": st.text(max_size=3) | json_values,
        "tool_use_id": st.text(max_size=3) | json_values,
        "name": st.text(max_size=3),
        "text": st.text(max_size=3) | json_values,
        "is_error": st.booleans() | json_values,
        "input": json_values,
    },
)
contents = (
    st.none()
    | st.text(max_size=5)
    | st.lists(blocks | st.text(max_size=3) | json_values, max_size=3)
    | json_values
)
messages = st.fixed_dictionaries(
    {},
    optional={
        "id": st.text(max_size=3) | json_values,
        "role": st.sampled_from(["user", "assistant"]) | json_values,
        "model": st.text(max_size=3),
        "stop_reason": st.none() | st.text(max_size=3),
        "timestamp": st.text(max_size=3) | json_values,
        "content": contents,
        "usage": json_values,
    },
)
parts = st.fixed_dictionaries({}, optional={"type": st.text(max_size=3) | json_values, "x": json_values})
values: dict[str, st.SearchStrategy[Any]] = {
    name: st.booleans() | json_values
    if name.startswith("is")
    else st.none() | st.text(max_size=4) | json_values
    for name in NAMES
}
values.update(
    message=messages | json_values, data=parts | json_values, attachment=parts | json_values, content=contents
)
entries = st.fixed_dictionaries({}, optional={**values, "unknown": json_values})


def same_road(raw: bytes) -> Skim | None:
    """Take both roads; the facts, if they are the same."""
    fast = skim(raw)
    if fast is None:
        return None
    slow = skim_entry(Entry(raw.strip()))
    assert json.dumps(_plain(fast), default=repr) == json.dumps(_plain(slow), default=repr)
    return fast


def _plain(facts: Skim) -> dict[str, object]:
    found: dict[str, object] = {name: getattr(facts, name) for name in Skim.__struct_fields__}
    return {**found, "kind": facts.kind, "role": facts.role, "time": facts.time, "body": facts.body}


@given(entries)
def test_both_roads_give_the_same_facts_for_any_values(entry: dict[str, object]) -> None:
    raw = json.dumps(entry).encode()
    same_road(raw)
    # The slow road takes whatever is an object.
    skim_entry(Entry(raw))


def test_both_roads_give_the_same_facts_for_every_line_of_the_corpus() -> None:
    fast = sum(same_road(raw) is not None for raw in corpus())
    assert fast > 0.99 * len(corpus())


@pytest.mark.parametrize("seed", range(5))
def test_both_roads_give_the_same_facts_for_damaged_lines(seed: int) -> None:
    random = Random(seed)
    for _ in range(40):
        for line in damaged_file(random).split(b"\n"):
            facts = same_road(line)
            try:
                decode(line.strip())
            except DecodeError:
                assert facts is None


@given(entries)
def test_the_facts_are_those_of_the_entry(data: dict[str, object]) -> None:
    entry = Entry(json.dumps(data).encode())
    facts = skim_entry(entry)
    assert (facts.uuid, facts.parent_uuid, facts.session_id) == (
        entry.uuid,
        entry.parent_uuid,
        entry.session_id,
    )
    assert (facts.role, facts.time) == (entry.type, entry.timestamp)
    assert (bool(facts.is_meta), bool(facts.is_sidechain)) == (entry.is_meta, entry.is_sidechain)
    assert (facts.message.id if facts.message else None) == entry.message_id


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        (b'{"type":"user","subtype":"x"}', "user"),
        (b'{"type":"system","subtype":"compact_boundary"}', "system/compact_boundary"),
        (b'{"type":"progress","data":{"type":"hook_progress"}}', "progress/hook_progress"),
        (b'{"type":"attachment","attachment":{"type":"file"}}', "attachment/file"),
        (b'{"type":"queue-operation","operation":"enqueue"}', "queue-operation/enqueue"),
        (b'{"type":"mode"}', "mode"),
        (b'{"message":{"role":"assistant"}}', "assistant"),
        (b'{"type":"","message":{"role":"user"}}', "user"),
        (b'{"message":{}}', "untyped"),
        (b"{}", "untyped"),
    ],
)
def test_the_kind_is_the_type_with_its_subtype(raw: bytes, kind: str) -> None:
    facts = skim(raw)
    assert facts is not None
    assert facts.kind == kind


def test_the_time_of_the_entry_comes_before_that_of_its_message() -> None:
    assert skim_entry(Entry(b'{"timestamp":"a","message":{"timestamp":"b"}}')).time == "a"
    assert skim_entry(Entry(b'{"message":{"timestamp":"b"}}')).time == "b"
    # A time that is no string is no time.
    assert skim_entry(Entry(b'{"timestamp":5,"message":{"timestamp":"b"}}')).time == "b"
    assert skim_entry(Entry(b'{"timestamp":5}')).time is None


def test_the_content_of_the_message_comes_before_that_of_the_entry() -> None:
    assert skim_entry(Entry(b'{"content":"a","message":{"content":"b"}}')).body == "b"
    assert skim_entry(Entry(b'{"content":"a"}')).body == "a"
    assert skim_entry(Entry(b'{"content":["x",5]}')).body is not None
    assert skim_entry(Entry(b"{}")).body is None


@pytest.mark.parametrize("raw", [b"", b"[]", b"{", b'{"type":5}', b'{"x":' + b"[" * 5000, b'{"type":"\xff"}'])
def test_the_fast_road_refuses_what_it_cannot_tell(raw: bytes) -> None:
    assert skim(raw) is None
