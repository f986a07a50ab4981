"""The resume cases: hand-made files, and what each version of the real client sent for them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from clew.session.context import context
from clew.session.eras import MEASURED
from clew.session.session import Session

CASES = Path(__file__).parent.parent / "data" / "resume-cases"
NAMES = sorted(folder.name for folder in CASES.iterdir() if folder.is_dir())
_REMINDER = re.compile(r"(?s)<system-reminder>.*?</system-reminder>\s*")


def _note(block: dict[str, Any]) -> str | None:
    """One block in the notation of the cases."""
    match block.get("type"):
        case "text":
            words = _REMINDER.sub("", block["text"])
            # Where a text is nothing but white space the cases spell it out.
            return f"T:{words[:60]}" if words.strip() else f"T:{block['text']!r}"
        case "tool_use":
            return f"TU:{block['name']}:{_id(block['id'])}"
        case "tool_result":
            content = block.get("content")
            content = content if isinstance(content, str) else json.dumps(content)
            mark = "!" if block.get("is_error") else ""
            return f"TR:{_id(block['tool_use_id'])}{mark}:{_REMINDER.sub('', content)[:44]}"
        case "thinking":
            return f"TH:{block['thinking'][:10]}"
        case other:
            return str(other)


def _id(text: str) -> str:
    return text if len(text) < 6 else "~"


def _tidy(note: str, *, real: bool) -> str:
    note = re.sub(r"\s+", " ", note).replace("<SR:RENDERED> | T:", "")
    if real:
        note = re.sub(r"TR:~(!?):.*?(?=\| TR:|\]$)", r"TR:~\1", note)
    return re.sub(r"\s+(\||\])", r"\1", note).rstrip()


def _with_prompt(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    prompt = {"type": "text", "text": "CONTINUE"}
    if messages and messages[-1]["role"] == "user":
        return [*messages[:-1], {"role": "user", "content": [*messages[-1]["content"], prompt]}]
    return [*messages, {"role": "user", "content": [prompt]}]


def _notes(messages: list[dict[str, Any]], *, real: bool) -> list[str]:
    return [
        _tidy(
            f"{message['role'][0].upper()}[{' | '.join(filter(None, map(_note, message['content'])))}]",
            real=real,
        )
        for message in messages
    ]


def _sent(case: str, client: str) -> dict[str, Any] | None:
    return json.loads((CASES / case / "sent.json").read_bytes())["sent"].get(client)


PAIRS = [(name, era.version) for name in NAMES for era in MEASURED if _sent(name, era.version) is not None]


@pytest.mark.parametrize(("case", "client"), PAIRS)
def test_context_is_what_the_client_sent(case: str, client: str) -> None:
    """The messages equal those the real client sent, or it refuses where the client did."""
    sent = _sent(case, client) or {}
    found = context(Session.read((CASES / case / "session.jsonl").read_bytes()), client=client)
    if "refused" in sent:
        assert found.refused is not None
        return
    assert found.refused is None
    real = case.startswith("real_")
    wanted = [_tidy(note, real=real) for note in sent["messages"]]
    got = _notes(_with_prompt([dict(message) for message in found.messages]), real=real)
    assert got == [note for note in wanted if note != "U[<system-reminders only>]"]


def test_every_case_is_there() -> None:
    assert len(NAMES) == 80
    assert sum(client == "2.1.325" for _, client in PAIRS) == 80
    assert len(PAIRS) == 554
