"""The records beside a conversation."""

from __future__ import annotations

import json

from clew.agent import notes


def test_what_was_asked_last_is_kept_on_one_line_and_short() -> None:
    data = json.loads(notes.last_prompt("s", "a\n  b\t" + "c" * 400, "leaf"))
    assert data["lastPrompt"].startswith("a b ccc")
    assert len(data["lastPrompt"]) == 201
    assert list(data) == ["type", "lastPrompt", "leafUuid", "sessionId"]


def test_going_back_names_exactly_one_line() -> None:
    data = json.loads(notes.last_prompt("s", None, "leaf", is_explicit=True))
    assert data == {"type": "last-prompt", "leafUuid": "leaf", "explicit": True, "sessionId": "s"}


def test_a_prompt_heard_in_mid_turn_has_the_ids_of_its_delivery() -> None:
    plain = json.loads(notes.queue_operation("s", "enqueue", at=0, content="x"))
    taken = json.loads(
        notes.queue_operation("s", "remove", at=0, content="x", command_id="c", delivery_id="d")
    )
    assert list(plain) == ["type", "operation", "timestamp", "sessionId", "content"]
    assert [*plain, "reason", "commandUuid", "deliveryId"] == list(taken)
    assert "content" not in json.loads(notes.queue_operation("s", "dequeue", at=0))


def test_a_snapshot_is_of_a_prompt_and_an_update_of_a_line() -> None:
    first = json.loads(notes.snapshot("p", {}, at=0))
    later = json.loads(notes.snapshot("p", {"a": {"version": 1}}, at=0, line_uuid="l"))
    assert (first["messageId"], first["isSnapshotUpdate"]) == ("p", False)
    assert (later["messageId"], later["snapshot"]["messageId"], later["isSnapshotUpdate"]) == ("l", "p", True)
