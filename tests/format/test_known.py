"""The tables of what is known, against the recorded files and against data of any shape."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format import known
from clew.format import known_parts as parts
from clew.format.known_fields import FIELDS, VERSIONS
from tests.format.samples import Sample, json_values, made, recorded


def test_nothing_the_client_wrote_is_unknown() -> None:
    strange = Counter(found for sample in recorded() for found in known.unknown_in(sample.data))
    assert strange == {}


def test_nothing_in_the_made_samples_is_unknown() -> None:
    assert {s.where: found for s in made() if (found := known.unknown_in(s.data))} == {}


def test_a_field_is_marked_for_every_version_that_wrote_it() -> None:
    """The tables and the recorded files were made from the same runs, by different programs."""
    unmarked = Counter(
        (kind, field, sample.version)
        for sample in recorded()
        for kind in [known.kind_of(sample.data)]
        for field in _paths(kind, sample)
        if sample.version not in known.versions_of(kind, field)
    )
    assert unmarked == {}


def test_a_field_marked_as_always_there_is_always_there() -> None:
    missing: Counter[tuple[str, str, str]] = Counter()
    for sample in recorded():
        kind = known.kind_of(sample.data)
        at = VERSIONS.index(sample.version)
        always = {field for field, row in known.fields_of(kind).items() if row[at] == "x"}
        missing.update((kind, field, sample.version) for field in always - _paths(kind, sample))
    assert missing == {}


def _paths(kind: str, sample: Sample) -> set[str]:
    """The fields of an entry, with those of its message or other part, as the tables name them."""
    part = known.PART.get(kind) or known.PART.get(kind.partition("/")[0])
    within = [name for name in ("message" if kind in ("user", "assistant") else None, part) if name]
    return {*sample.data, *(f"{name}.{inner}" for name in within for inner in sample.data[name])}


@pytest.mark.parametrize("table", [FIELDS, parts.INNER, parts.BLOCKS], ids=["fields", "inner", "blocks"])
def test_a_row_of_marks_has_one_mark_a_version(table: dict[str, dict[str, str]]) -> None:
    for form, groups in table.items():
        names = [name for group in groups.values() for name in group.split()]
        assert len(names) == len(set(names)), form
        assert all(len(row) == len(VERSIONS) and set(row) <= set("xo.") for row in groups), form


@pytest.mark.parametrize("table", [parts.RESULTS, parts.VALUES], ids=["results", "values"])
def test_a_shape_or_value_has_one_mark_a_version(table: dict[str, dict[str, str]]) -> None:
    assert all(len(row) == len(VERSIONS) for rows in table.values() for row in rows.values())


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        ({"type": "user", "subtype": "x"}, "user"),
        ({"type": "assistant"}, "assistant"),
        ({"type": "system", "subtype": "compact_boundary"}, "system/compact_boundary"),
        ({"type": "system"}, "system"),
        ({"type": "system", "subtype": 7}, "system"),
        ({"type": "progress", "data": {"type": "hook_progress"}}, "progress/hook_progress"),
        ({"type": "progress", "data": "odd"}, "progress"),
        ({"type": "attachment", "attachment": {"type": "file"}}, "attachment/file"),
        ({"type": "attachment"}, "attachment"),
        ({"type": "queue-operation", "operation": "enqueue"}, "queue-operation/enqueue"),
        ({"type": "summary", "subtype": "x"}, "summary"),
        ({"type": "frobnicate"}, "frobnicate"),
        ({"message": {"role": "assistant"}}, "assistant"),
        ({"type": None, "message": {"role": "user"}}, "user"),
        ({"message": {"role": "gull"}}, "untyped"),
        ({"message": []}, "untyped"),
        ({"type": ["user"]}, "untyped"),
        ({}, "untyped"),
    ],
)
def test_a_kind_is_the_type_and_its_subtype(data: dict[str, Any], kind: str) -> None:
    assert known.kind_of(data) == kind


@pytest.mark.parametrize(
    ("data", "found"),
    [
        ({"type": "frobnicate", "x": 1}, [("type", "frobnicate")]),
        ({"type": "frob/nicate"}, [("type", "frob/nicate")]),
        ({}, [("type", "untyped")]),
        ({"type": "system"}, []),
        ({"type": "system", "subtype": "gull", "x": 1}, [("subtype", "system/gull")]),
        ({"type": "attachment", "attachment": {"type": "gull"}}, [("subtype", "attachment/gull")]),
        ({"type": "queue-operation", "operation": "juggle"}, [("subtype", "queue-operation/juggle")]),
        ({"type": "summary", "gull": 1}, [("field", "summary.gull")]),
        (
            {"type": "attachment", "attachment": {"type": "date", "gull": 1}},
            [("field", "attachment/date.attachment.gull")],
        ),
        ({"type": "attachment", "attachment": {"type": "task_status", "anything": 1}}, []),
        (
            {"type": "progress", "data": {"type": "query_update", "gull": 1}},
            [("field", "progress/query_update.data.gull")],
        ),
        (
            {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"gull": 1}},
            [("field", "system/compact_boundary.compactMetadata.gull")],
        ),
        ({"type": "user", "message": {"role": "user", "gull": 1}}, [("field", "user.message.gull")]),
        (
            {"type": "assistant", "message": {"usage": {"output_tokens": 1, "gulls": 2}}},
            [("field", "usage.gulls")],
        ),
        (
            {"type": "assistant", "message": {"content": [{"type": "gull"}, {"text": "x"}, "bare", 7]}},
            [("block", "assistant:gull"), ("block", "assistant:untyped")],
        ),
        (
            {"type": "user", "message": {"content": [{"type": "text", "text": "", "gull": 1}]}},
            [("field", "block text.gull")],
        ),
        ({"type": "user", "content": [{"type": "gull"}]}, [("block", "user:gull")]),
        ({"type": "user", "toolUseResult": {"gull": 1}, "message": {"content": "x"}}, []),
    ],
)
def test_what_is_unknown_is_named(data: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert known.unknown_in(data) == found


@given(st.sampled_from(known.kinds()), st.text(min_size=1, max_size=12).map(lambda name: f"new_{name}"))
def test_a_new_field_is_the_only_thing_reported(kind: str, field: str) -> None:
    head, _, below = kind.partition("/")
    data: dict[str, Any] = {"type": head, field: 1}
    if below:
        part = known.PART.get(head)
        data |= {"subtype": below, "operation": below} if part is None else {part: {"type": below}}
    extra = [("field", f"{kind}.subtype")] if head == "queue-operation" else []
    extra += [("field", f"{kind}.operation")] if head == "system" else []
    assert sorted(known.unknown_in(data)) == sorted([*extra, ("field", f"{kind}.{field}")])


@given(st.dictionaries(st.sampled_from(["type", "subtype", "message", "content", "data"]), json_values))
def test_no_data_makes_it_raise(data: dict[str, Any]) -> None:
    assert isinstance(known.kind_of(data), str)
    assert all(what in ("type", "subtype", "field", "block") for what, _ in known.unknown_in(data))


@given(
    st.sampled_from(["user", "assistant"]),
    st.dictionaries(st.sampled_from(["role", "content", "usage", "id"]), json_values),
)
def test_no_message_makes_it_raise(kind: str, message: dict[str, Any]) -> None:
    known.unknown_in({"type": kind, "message": message, "content": message})


def test_versions_tell_when_a_field_was_seen() -> None:
    assert known.versions_of("progress/hook_progress") == ("2.1.29", "2.1.45", "2.1.80")
    assert known.versions_of("last-prompt", "explicit") == ("2.1.325",)
    assert known.versions_of("assistant", "message.diagnostics") == ("2.1.325",)
    assert known.versions_of("pr-link") == ()
    assert known.versions_of("frobnicate") == ()
    assert known.marks("summary") == "xx..........."
    assert known.marks("frobnicate") == "." * 13


def test_a_type_is_known_with_and_without_its_subtype() -> None:
    assert known.is_known_type("system")
    assert known.is_known_type("system/compact_boundary")
    assert known.is_known_type("pr-link")
    assert not known.is_known_type("system/gull")
    assert not known.is_known_type("untyped")
    assert known.is_known_field("user", "message.content")
    assert known.is_known_field("user", "toolUseResult")
    assert known.is_known_field("attachment/file", "attachment.filename")
    assert not known.is_known_field("user", "requestId")
    assert not known.is_known_field("frobnicate", "type")
    assert known.is_known_block("server_tool_use")
    assert not known.is_known_block("gull")


def test_a_field_that_only_some_forms_always_have_is_there_sometimes() -> None:
    rows = known.fields_of("user")
    assert rows["message.role"] == "x" * 13
    assert rows["isMeta"] == "o" * 13
    assert rows["toolUseResult"] == "o" * 13


def test_importing_what_is_known_pulls_in_no_heavy_library() -> None:
    script = (
        "import sys, clew.format.known, clew.format.kinds, clew.format.results;"
        "print([m for m in ('orjson', 'msgspec', 'rich', 'click') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
