"""`clew context`: what the model will be sent, on a screen and as JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from clew.faces.cli.cells import width as cells
from clew.format.lines import BytesSource
from clew.session.context import context
from clew.session.session import Session
from tests.builder import Builder, call, text
from tests.faces import console as consoles
from tests.faces.stage import demo, write
from tests.session.recorded import CORPUS
from tests.session.test_resume_cases import CASES, PAIRS, _notes, _sent, _tidy, _with_prompt  # pyright: ignore[reportPrivateUsage]  # the notation of the cases

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console

ID = "0a0a0a0a-0000-4000-8000-000000000001"
FIELDS = {
    "session",
    "client",
    "model",
    "leaf",
    "messages",
    "left_out",
    "reachable_lines",
    "conversation_lines",
    "tokens_estimate",
    "api_problems",
}


@pytest.fixture
def clew(monkeypatch: pytest.MonkeyPatch) -> Iterator[Console]:
    yield from consoles.console(monkeypatch)


def one(root: Path, data: bytes) -> Path:
    return write(root, "-home-ada-lighthouse", {ID: data})[0]


def equal(document: dict[str, Any], case: str, client: str) -> None:
    """The document says what the real client sent."""
    sent = _sent(case, client) or {}
    if "refused" in sent:
        assert document["refused"]
        assert document["messages"] == []
        return
    assert "refused" not in document
    real = case.startswith("real_")
    wanted = [_tidy(note, real=real) for note in sent["messages"]]
    got = _notes(_with_prompt(document["messages"]), real=real)
    assert got == [note for note in wanted if note != "U[<system-reminders only>]"]


@pytest.mark.parametrize(("case", "client"), PAIRS[::9])
def test_the_command_line_says_what_the_client_sent(clew: Console, case: str, client: str) -> None:
    ran = clew("context", CASES / case / "session.jsonl", "--client", client, "--json")
    document = json.loads(ran.out)
    equal(document, case, client)
    assert document["client"] == client
    assert ran.code == (3 if "refused" in document else ran.code)


@pytest.mark.parametrize("case", ["full_basic", "compact_proper"])
def test_a_process_of_its_own_says_the_same(case: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "clew", "context", str(CASES / case / "session.jsonl"), "--json"],
        capture_output=True,
        check=False,
        env={**os.environ, "HOME": str(tmp_path), "CLAUDE_CONFIG_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stderr
    equal(json.loads(done.stdout), case, "2.1.325")


@pytest.mark.parametrize(
    "scenario", sorted({path.parent.parent.name for path in CORPUS.glob("*/*/projects")})
)
def test_messages_are_those_of_the_library_for_every_recorded_session(clew: Console, scenario: str) -> None:
    for path in sorted(CORPUS.glob(f"{scenario}/*/projects/*/*.jsonl")):
        ran = clew("context", path, "--json")
        document = json.loads(ran.out)
        wanted = context(Session.read(BytesSource(path.read_bytes()), name=path.stem))
        assert set(document) >= FIELDS
        assert document["messages"] == json.loads(json.dumps(wanted.messages))
        assert all(set(one) == {"line", "uuid", "type", "reason"} for one in document["left_out"])
        assert (ran.code == 3) >= ("refused" in document)
        assert clew("context", path, width=80).code == ran.code


def test_the_screen_tells_messages_and_what_is_left_out(clew: Console, tmp_path: Path) -> None:
    builder = Builder(ID).user("First").answer("One.")
    fork = builder.leaf
    builder.user("Second").answer("Two.").rewind(fork).user("Third").answer(
        call("t1", "Bash"), stop="tool_use"
    )
    builder.result("t1", "ok").answer("Three.")
    ran = clew("context", one(tmp_path, builder.data()), width=80)
    assert ran.code == 0
    assert ran.out == (
        "client 2.1.325 · model claude-sonnet-4-5-20250929\n"
        "ends in u8\n"
        "\n"
        "   ROLE       BLOCKS  FIRST WORDS  ≈TOKENS\n"
        "1  user       text    First              1\n"
        "2  assistant  text    One.               2\n"
        "3  user       text    Third              1\n"
        "4  assistant  call    Bash              10\n"
        "5  user       result  ok                 9\n"
        "6  assistant  text    Three.             2\n"
        "\n"
        "6 messages from 6 of 8 lines · ≈49 tokens\n"
        "≈ is an estimate: by words, digits and signs\n"
        "\n"
        "2 lines left out\n"
        "      2  on another branch  lines 3-4\n"
    )


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_no_line_is_wider_than_the_terminal(clew: Console, tmp_path: Path, width: int) -> None:
    root = demo(tmp_path)
    for path in sorted(root.glob("projects/*/*.jsonl")):
        ran = clew("context", path, "--root", root, width=width)
        assert max(map(cells, ran.lines)) <= width, path


def test_a_long_list_is_cut_on_a_terminal_alone(clew: Console, tmp_path: Path) -> None:
    builder = Builder(ID)
    for number in range(60):
        builder.user(f"Question {number}").answer(f"Answer {number}")
    path = one(tmp_path, builder.data())
    cut = clew("context", path, width=80).out
    assert "60 messages more: --all" in cut
    assert "Question 30" not in cut
    assert "Question 30" in clew("context", path, "--all", width=80).out
    assert "Question 30" in clew("context", path).out


def test_at_ends_the_conversation_in_a_line(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, Builder(ID).user("First").answer("One.").user("Second").answer("Two.").data())
    document = json.loads(clew("context", path, "--at", "u2", "--json").out)
    assert document["leaf"] == "u2"
    assert [message["content"][0]["text"] for message in document["messages"]] == ["First", "One."]
    wrong = clew("context", path, "--at", "u77")
    assert (wrong.code, wrong.out) == (1, "")


@pytest.mark.parametrize("client", ["abc", "", "2.x", "v2.1", "2.1.325; rm", "1." * 20])
def test_a_client_that_is_no_version_is_wrong_use(clew: Console, tmp_path: Path, client: str) -> None:
    ran = clew("context", one(tmp_path, Builder(ID).user("Hi").data()), f"--client={client}", "--json")
    assert ran.code == 1
    assert json.loads(ran.err)["error"]["code"] == "usage"


@pytest.mark.parametrize(("asked", "used"), [("2.1.300", None), ("2.1.90-beta.1", None), ("0.2.9", "1.0.35")])
def test_a_client_that_was_not_measured_follows_the_nearest_and_says_so(
    clew: Console, tmp_path: Path, asked: str, used: str | None
) -> None:
    path = one(tmp_path, Builder(ID).user("Hi").answer("Hello.").data())
    ran = clew("context", path, "--client", asked, "--json")
    document = json.loads(ran.out)
    assert document["asked_client"] == asked
    assert document["client"] != asked
    assert used in {None, document["client"]}
    assert f"{asked} was not measured" in ran.err
    assert ran.code == 0


def test_what_the_api_would_refuse_is_told_and_is_the_exit_code(clew: Console, tmp_path: Path) -> None:
    data = Builder(ID).user([text("half \ud800")]).answer("Hello.").data()
    ran = clew("context", one(tmp_path, data), width=80)
    assert ran.code == 3
    told = "the Messages API would refuse\n  lone-surrogate  message 1: half a character in a text block\n"
    assert told in ran.out
    document = json.loads(clew("context", one(tmp_path, data), "--json").out)
    assert [found["code"] for found in document["api_problems"]] == ["lone-surrogate"]


def test_a_refusal_is_told_and_is_the_exit_code(clew: Console, tmp_path: Path) -> None:
    path = one(tmp_path, b"")
    ran = clew("context", path, width=80)
    assert ran.code == 3
    assert "✗ the client would refuse to resume: No conversation found" in ran.out
    document = json.loads(clew("context", path, "--json").out)
    assert document["messages"] == []
    assert document["refused"] == "No conversation found"


def test_a_damaged_file_is_read_and_is_the_exit_code(clew: Console, tmp_path: Path) -> None:
    data = Builder(ID).user("Hi").raw(b"\0\0\0\0\n").answer("Hello.").data()
    ran = clew("context", one(tmp_path, data), "--json")
    assert ran.code == 3
    assert len(json.loads(ran.out)["messages"]) == 2


def test_another_model_leaves_foreign_thinking_out(clew: Console, tmp_path: Path) -> None:
    builder = Builder(ID).user("Hi")
    builder.answer({"type": "thinking", "thinking": "Hm.", "signature": "s"}, "Hello.")
    path = one(tmp_path, builder.data())

    def kinds(*options: str) -> list[str]:
        document = json.loads(clew("context", path, "--json", *options).out)
        return [block["type"] for block in document["messages"][1]["content"]]

    assert kinds() == ["thinking", "text"]
    assert kinds("--model", "claude-opus-4-5") == ["text"]
