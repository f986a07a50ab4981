"""The real client and clew, side by side.

These tests install the client from npm into the user's cache and run it against the stand-in.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest

from tests.conformance.client import PROMPT, install, is_conversation, resume
from tests.conformance.compare import differences
from tests.conformance.generator import generate
from tests.conformance.notation import short, without_prompt
from tests.conformance.run import run

if TYPE_CHECKING:
    from tests.conformance.client import Client

pytestmark = pytest.mark.acceptance

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests" / "data" / "resume-cases"
NOTES = ROOT / "docs" / "conformance.md"


def recorded(case: str, version: str) -> list[str]:
    """What a version was seen to send in a case, in the short notation."""
    sent = json.loads((CASES / case / "sent.json").read_text(encoding="utf-8"))["sent"]
    return cast("list[str]", sent[version]["messages"])


@pytest.mark.parametrize(
    "case",
    [
        "full_basic",
        "par_tree_rev",
        "branch_lastprompt",
        "compact_proper",
        "orphan_end",
        "torn_mid",
        "dup_tool_id",
    ],
)
def test_the_client_sends_what_was_recorded(client: Client, case: str) -> None:
    sent = resume(client, (CASES / case / "session.jsonl").read_bytes())
    assert sent.messages is not None
    assert short(sent.messages) == recorded(case, client.version)


@pytest.mark.parametrize("version", ["1.0.35", "2.1.45"])
def test_older_clients_send_what_was_recorded(version: str) -> None:
    sent = resume(install(version), (CASES / "par_tree" / "session.jsonl").read_bytes())
    assert sent.messages is not None
    assert short(sent.messages) == recorded("par_tree", version)


def test_a_refusal_is_told_in_the_words_of_the_client(client: Client) -> None:
    sent = resume(client, b"")
    assert sent.messages is None
    assert sent.refused == "No conversation found with session ID: ID"


def test_the_client_writes_the_turn_behind_what_was_there(client: Client) -> None:
    data = (CASES / "full_basic" / "session.jsonl").read_bytes()
    after = resume(client, data).after
    assert after.startswith(data)
    assert PROMPT.encode() in after[len(data) :]


def test_the_same_file_is_sent_the_same_way_twice(client: Client) -> None:
    data = generate(0).data
    first, second = (resume(client, data).messages for _ in range(2))
    assert first is not None
    assert second is not None
    assert without_prompt(first, PROMPT) == without_prompt(second, PROMPT)


def test_the_log_of_the_stand_in_holds_the_conversation_once(client: Client) -> None:
    """What the client asks besides, for titles and the like, is told apart and left out."""
    requests = resume(client, generate(0).data).requests
    assert [is_conversation(request) for request in requests if request.is_messages].count(True) == 1


def listed() -> set[int]:
    """The seeds the notes give a reason for."""
    table = NOTES.read_text(encoding="utf-8").partition("## Differences by seed")[2]
    return {int(seed) for seed in re.findall(r"^\| *(\d+) *\|", table, re.MULTILINE)}


def test_clew_agrees_with_the_client_on_200_files(tmp_path: Path) -> None:
    """At least 98 % are equal, and every other one is in the notes with its reason, no more and no less."""
    found = differences(run(range(200), tmp_path))
    assert len(found) <= 4, "\n".join(f"seed {each.seed}:\n{each.detail}" for each in found)
    assert {each.seed for each in found} == {seed for seed in listed() if seed < 200}
