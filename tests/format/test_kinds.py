"""Typed views of entries: each kind's fields, and that no data makes one raise."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.format import kinds as k
from clew.format import known
from tests.format.samples import ask_everything, json_values, made, made_file, recorded


def test_every_recorded_line_has_the_view_of_its_type() -> None:
    counted: Counter[str] = Counter()
    for sample in recorded():
        view = k.view(sample.data)
        ask_everything(view)
        assert view.data is sample.data
        assert view.kind == known.kind_of(sample.data)
        counted[type(view).__name__] += 1
    # Counted by a script that knows nothing of the views.
    assert counted == {
        "ApiError": 2,
        "Assistant": 1841,
        "Attachment": 660,
        "CompactBoundary": 21,
        "CostState": 47,
        "FileHistorySnapshot": 99,
        "LastPrompt": 141,
        "LocalCommand": 8,
        "Progress": 43,
        "QueueOperation": 469,
        "StopHookSummary": 6,
        "Summary": 16,
        "System": 1,
        "Title": 23,
        "TurnDuration": 13,
        "Unknown": 487,
        "User": 1495,
    }


def test_no_made_line_makes_a_view_raise() -> None:
    for sample in made():
        ask_everything(k.view(sample.data))


every_field = sorted({field for kind in known.kinds() for field in known.fields_of(kind) if "." not in field})
every_type = sorted({kind.partition("/")[0] for kind in known.kinds()} | {"gull"})
every_inner = sorted(
    {field.partition(".")[2] for kind in known.kinds() for field in known.fields_of(kind) if "." in field}
    | {"usage", "model", "trackedFileBackups", "preservedMessages", "preservedSegment", "uuids", "kind"}
)


@given(
    st.sampled_from(every_type),
    st.sampled_from(["compact_boundary", "turn_duration", "api_error", "stop_hook_summary", "gull"]),
    st.dictionaries(
        st.sampled_from(every_field),
        json_values | st.dictionaries(st.sampled_from(every_inner), json_values, max_size=4),
        max_size=6,
    ),
)
def test_no_data_makes_a_view_raise(kind: str, subtype: str, data: dict[str, Any]) -> None:
    ask_everything(k.view({"subtype": subtype, **data, "type": kind}))
    ask_everything(k.view(data))


@pytest.mark.parametrize(
    ("data", "view"),
    [
        ({}, k.Unknown),
        ({"type": "gull"}, k.Unknown),
        ({"type": 7}, k.Unknown),
        ({"type": "system"}, k.System),
        ({"type": "system", "subtype": 7}, k.System),
        ({"type": "system", "subtype": "gull"}, k.System),
        ({"type": "system", "subtype": "turn_duration"}, k.TurnDuration),
        ({"message": {"role": "user"}}, k.User),
        ({"message": {"role": "assistant"}}, k.Assistant),
        ({"message": {"role": "gull"}}, k.Unknown),
        ({"message": {"role": []}}, k.Unknown),
        ({"message": "odd"}, k.Unknown),
        ({"type": "gull", "message": {"role": "user"}}, k.Unknown),
    ],
)
def test_a_view_is_chosen_by_type_and_else_by_role(data: dict[str, Any], view: type[k.Kind]) -> None:
    assert type(k.view(data)) is view


def messages(name: str) -> list[k.Message]:
    """The lines of a made sample, which must all be messages."""
    found = [k.view(line) for line in made_file(name)]
    assert all(isinstance(view, k.Message) for view in found)
    return [view for view in found if isinstance(view, k.Message)]


def test_the_loose_forms_are_read() -> None:
    loose = messages("made-loose.jsonl")
    assert [view.role for view in loose] == ["user", "assistant"] * 2 + [
        "assistant",
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
        "assistant",
    ]
    assert [view.text for view in loose] == [
        "Is the kettle on?",
        "It is singing.",
        "Then two cups, please.",
        "One for you,",
        "one for the cat.",
        "nested words",
        "a bare string",
        "house rules for the tea",
        "noted by the house",
        "",
        "",
    ]
    assert [view.is_meta for view in loose] == [False] * 7 + [True, True, False, False]
    assert [view.timestamp for view in loose[:6]] == [
        "2025-01-15T10:00:00Z",
        "2025-01-15T10:00:04Z",
        None,
        "2025-01-15T10:01:00Z",
        "2025-01-15T10:01:01Z",
        "2025-01-15T10:02:00Z",
    ]
    assert [len(view.blocks) for view in loose[-2:]] == [0, 1]


def test_an_own_timestamp_comes_before_that_of_the_message() -> None:
    view = k.view({"type": "user", "timestamp": "own", "message": {"timestamp": "inner", "content": None}})
    assert isinstance(view, k.User)
    assert (view.timestamp, view.content, view.blocks) == ("own", None, ())


def test_a_turn_in_the_loose_form_is_read() -> None:
    prompt, call, answered, answer = messages("made-loose-turn.jsonl")
    assert prompt.text == "what is written on the door"
    assert isinstance(call, k.Assistant)
    assert [use.id for use in call.tool_uses] == ["t1"]
    assert isinstance(answered, k.User)
    assert [(found.tool_use_id, found.text()) for found in answered.tool_results] == [
        ("t1", "mind the gulls")
    ]
    assert answer.text == "It says to mind the gulls."


def recorded_view(**wanted: object) -> k.Kind:
    """The view of the first recorded line with these values."""
    return next(k.view(s.data) for s in recorded() if all(s.data.get(a) == b for a, b in wanted.items()))


def test_a_user_line_tells_where_it_comes_from() -> None:
    summary = recorded_view(type="user", isCompactSummary=True)
    assert isinstance(summary, k.User)
    assert summary.is_compact_summary
    assert summary.is_visible_in_transcript_only
    views = [view for s in recorded() if isinstance(view := k.view(s.data), k.User)]
    assert {view.origin for view in views} == {None, "task-notification", "human"}
    assert {view.permission_mode for view in views} == {None, "default", "acceptEdits", "plan"}
    assert sum(view.tool_use_result is not None for view in views) == 657
    assert sum(len(view.tool_results) for view in views) == 789
    assert sum(view.source_tool_assistant_uuid is not None for view in views) == 405
    assert sum(view.source_tool_use_id is not None for view in views) == 5
    assert sum(view.prompt_id is not None for view in views) == 401
    assert sum(view.plan_content is not None for view in views) == 1


def test_an_assistant_line_tells_its_message() -> None:
    views = [view for s in recorded() if isinstance(view := k.view(s.data), k.Assistant)]
    assert sum(view.is_synthetic for view in views) == 33
    assert all(view.message_id and view.role == "assistant" for view in views)
    assert all(isinstance(view.output_tokens, int) for view in views)
    assert {view.stop_reason for view in views} == {
        None,
        "end_turn",
        "tool_use",
        "stop_sequence",
        "max_tokens",
        "refusal",
    }
    assert {view.error for view in views if view.is_api_error} == {
        None,
        "invalid_request",
        "unknown",
        "authentication_failed",
        "max_output_tokens",
    }
    assert not any(view.error for view in views if not view.is_api_error)
    assert sum(view.request_id is not None for view in views) == 1676
    assert sum(view.agent_id is not None for view in views) == 381


def test_a_boundary_tells_what_it_keeps() -> None:
    kept = [
        view
        for s in recorded()
        if isinstance(view := k.view(s.data), k.CompactBoundary) and view.preserved_uuids
    ]
    assert kept
    for view in kept:
        assert view.anchor_uuid is not None
        assert view.preserved_ends == (view.preserved_uuids[0], view.preserved_uuids[-1])
        assert isinstance(view.pre_tokens, int)
        assert isinstance(view.post_tokens, int)
    plain = k.view(
        {"type": "system", "subtype": "compact_boundary", "logicalParentUuid": "a", "level": "info"}
    )
    assert isinstance(plain, k.CompactBoundary)
    assert (plain.logical_parent_uuid, plain.trigger, plain.preserved_uuids, plain.preserved_ends) == (
        "a",
        None,
        (),
        None,
    )
    assert (plain.level, plain.content) == ("info", None)


def test_a_stretch_alone_gives_an_anchor() -> None:
    segment = {"headUuid": "h", "anchorUuid": "x", "tailUuid": "t"}
    view = k.view(
        {"type": "system", "subtype": "compact_boundary", "compactMetadata": {"preservedSegment": segment}}
    )
    assert isinstance(view, k.CompactBoundary)
    assert (view.anchor_uuid, view.preserved_ends, view.preserved_uuids) == ("x", ("h", "t"), ())


def test_the_notes_of_the_client_tell_their_figures() -> None:
    took = recorded_view(subtype="turn_duration", durationMs=258)
    assert isinstance(took, k.TurnDuration)
    assert (took.duration_ms, took.message_count, took.subtype) == (258, 17, "turn_duration")
    failed = recorded_view(subtype="api_error")
    assert isinstance(failed, k.ApiError)
    assert (failed.error["status"], failed.retry_attempt) == (529, 1)
    hooks = recorded_view(subtype="stop_hook_summary")
    assert isinstance(hooks, k.StopHookSummary)
    assert (hooks.hook_count, hooks.errors, hooks.prevented_continuation) == (1, (), False)
    command = recorded_view(subtype="local_command")
    assert isinstance(command, k.LocalCommand)
    assert command.content is not None
    assert command.content.startswith("<")


def test_a_summary_may_point_into_another_file() -> None:
    target = {line["uuid"] for line in made_file("made-summaries/00000008-0000-4000-8000-00000000c1e0.jsonl")}
    lines = made_file("made-summaries/00000009-0000-4000-8000-00000000c1e0.jsonl")
    views = [view for line in lines if isinstance(view := k.view(line), k.Summary)]
    assert [view.text for view in views] == [
        "Steps to the lamp room",
        "Steps and windows counted",
        "A conversation that is gone",
    ]
    assert [view.leaf_uuid in target for view in views] == [True, True, False]


def test_progress_tells_its_call_and_its_words() -> None:
    lines = [*made_file("made-progress.jsonl"), *made_file("made-web-search.jsonl")]
    views = [view for line in lines if isinstance(view := k.view(line), k.Progress)]
    assert [(view.subtype, view.text) for view in views[:5]] == [
        ("bash_progress", "warming up\n"),
        ("bash_progress", "toot\n"),
        ("waiting_for_task", "Paint the railing"),
        ("query_update", "drying time of sea-proof paint"),
        ("search_results_received", "drying time of sea-proof paint"),
    ]
    assert views[0].tool_use_id == "bash-progress-0"
    assert views[0].parent_tool_use_id == "toolu_made_16_horn"
    agents = [view for s in recorded() if isinstance(view := k.view(s.data), k.Progress) and view.agent_id]
    assert {view.subtype for view in agents} == {"agent_progress", "hook_progress"}


def test_an_attachment_tells_what_was_put_before_the_model() -> None:
    views = [view for s in recorded() if isinstance(view := k.view(s.data), k.Attachment)]
    assert {view.rendered_role for view in views} == {None, "user", "system"}
    assert {len(view.rendered) for view in views if view.subtype == "file"} == {0, 2}
    assert all(view.filename for view in views if view.subtype == "file")
    assert all(view.prompt for view in views if view.subtype == "queued_command")
    assert not any(view.prompt or view.filename for view in views if view.subtype == "date")


def test_a_queue_operation_tells_what_was_typed() -> None:
    view = k.view(made_file("made-state-lines.jsonl")[-1])
    assert isinstance(view, k.QueueOperation)
    assert (view.operation, view.content) == ("popAll", "feed them")
    assert view.timestamp is not None


def test_a_tracked_backup_is_a_copy_or_the_old_content_itself() -> None:
    snapshot = next(
        view
        for line in made_file("made-old-shapes.jsonl")
        if isinstance(view := k.view(line), k.FileHistorySnapshot)
    )
    assert snapshot.backups == {
        "logbook.txt": k.Backup(None, None, None, "Calm sea.\nOne owl.\n"),
        "new.txt": k.Backup(None, 1, "2026-03-04T09:00:01.500Z", None),
        "lamp.py": k.Backup("0123456789abcdef@v2", 2, "2026-03-04T09:00:01.600Z", None),
    }
    assert snapshot.is_update is True
    assert snapshot.message_id == snapshot.snapshot_message_id
    assert snapshot.timestamp == "2026-03-04T09:00:01.700Z"
    odd = k.view({"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": {"x": 7}}})
    assert isinstance(odd, k.FileHistorySnapshot)
    assert (odd.backups, odd.message_id, odd.is_update) == ({}, None, None)


def test_a_delta_and_an_explicit_last_prompt_are_told() -> None:
    prompt, answer, delta, _, last = [k.view(line) for line in made_file("made-delta-and-rewind.jsonl")]
    assert isinstance(delta, k.FileHistoryDelta)
    assert (delta.path, delta.backup is not None and delta.backup.file_name) == (
        "tower.txt",
        "fedcba9876543210@v1",
    )
    assert (delta.message_id, delta.snapshot_message_id) == (answer.data["uuid"], prompt.data["uuid"])
    assert isinstance(last, k.LastPrompt)
    assert (last.prompt, last.leaf_uuid, last.explicit) == (
        "Whitewash the tower.",
        answer.data["uuid"],
        True,
    )
    plain = recorded_view(type="last-prompt")
    assert isinstance(plain, k.LastPrompt)
    assert plain.explicit is False


def test_names_tell_who_gave_them() -> None:
    titles = {(view.source, view.text) for s in recorded() if isinstance(view := k.view(s.data), k.Title)}
    assert ("ai-title", "Mock Title") in titles
    assert ("custom-title", "my-renamed-session") in titles
    assert ("agent-name", "my-renamed-session") in titles
    tag = k.view(made_file("made-state-lines.jsonl")[2])
    assert isinstance(tag, k.Title)
    assert (tag.source, tag.text) == ("tag", "gulls")


def test_the_clients_own_account_is_told() -> None:
    views = [view for s in recorded() if isinstance(view := k.view(s.data), k.CostState)]
    assert all(isinstance(view.total_cost_usd, float | int) for view in views)
    assert all(view.total_duration_ms is not None for view in views)
    assert all("outputTokens" in usage for view in views for usage in view.model_usage.values())
    assert {view.has_unknown_model_cost for view in views} == {False}


def test_a_pull_request_is_told() -> None:
    view = next(v for line in made_file("made-pr-link.jsonl") if isinstance(v := k.view(line), k.PrLink))
    assert (view.number, view.repository) == (7, "ada/lighthouse")
    assert view.url == "https://example.org/ada/lighthouse/pull/7"
    assert view.timestamp is not None


def test_a_continuation_begins_with_the_id_of_the_session_before() -> None:
    first, *rest = made_file("made-continuation/0000000c-0000-4000-8000-00000000c1e0.jsonl")
    assert first["sessionId"] == "0000000b-0000-4000-8000-00000000c1e0"
    assert {line["sessionId"] for line in rest} == {"0000000c-0000-4000-8000-00000000c1e0"}


@pytest.mark.parametrize("value", [None, 7, True, [], {}, "words"])
def test_a_number_is_never_taken_from_something_else(value: object) -> None:
    view = k.view({"type": "pr-link", "prNumber": value, "prUrl": value})
    assert isinstance(view, k.PrLink)
    assert view.number == (7 if value == 7 and value is not True else None)
    assert view.url == ("words" if value == "words" else None)
