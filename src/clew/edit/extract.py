"""A summary of turns without any model: what was asked, answered, changed and what failed, as it was said.

It says of itself what it is. What somebody said is quoted, so that it is not taken for something to be done
now. It is bounded: the newest turns are told at most length, older ones in fewer words, the oldest perhaps
only counted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.format.entry import as_mapping
from clew.format.fields import as_items
from clew.session.calls import call_block, result_block
from clew.session.messages import text_of
from clew.session.prompts import read
from clew.session.session import COMPACT_SUMMARY
from clew.session.turns import turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from clew.session.calls import Call
    from clew.session.session import Session
    from clew.session.turns import Turn

MOST: Final = 8000
"""About how many characters a summary has at most: some 2,000 tokens. Calls come on top."""

MOST_OF_CALLS: Final = 8000
_EARLIER: Final = 1600
_LAST: Final = 1000

_WRITTEN: Final[Mapping[str, str]] = {
    "Edit": "file_path",
    "MultiEdit": "file_path",
    "NotebookEdit": "notebook_path",
    "Write": "file_path",
}
_TOLD: Final = (
    "command",
    "file_path",
    "notebook_path",
    "path",
    "pattern",
    "url",
    "query",
    "description",
    "prompt",
)
"""What of a call's input says best what it was about, the best first."""

# A mark of the client's own in what is quoted would be read as one again.
_MARKS: Final = re.compile(
    r"<(?=/?(?:system|command|local-command|bash|user|task|agent|teammate|cross|mcp|ide|function|tool|antml)"
    r"[\w:-]*[\s/>])",
    re.IGNORECASE,
)
_UNWANTED: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")
_BLANK_LINES: Final = re.compile(r"\n\s*\n+")
_SENTENCE: Final = re.compile(r"[.!?…。！？][\"')\]]*(?=\s|$)|\n")


class _Level(NamedTuple):
    """How much is told of a turn."""

    share: float
    """Up to which part of all characters turns are told in this way."""

    prompt: int
    answer: int
    lists: int
    """How many files and failures are named."""


_LEVELS: Final = (
    _Level(0.6, 500, 500, 12),
    _Level(0.85, 200, 160, 4),
    _Level(1.0, 100, 0, 0),
)


def extract(session: Session, rows: Sequence[int], *, keep_calls: bool = False) -> str:
    """Summarize the turns on some rows of a session; with `keep_calls` each call has a line."""
    found = turns(session, rows)
    earlier = [row for row in rows if session.table.flags[row] & COMPACT_SUMMARY]
    count = sum(turn.prompt_row is not None for turn in found)
    head = (
        f"Summary of the first {count} turn{'' if count == 1 else 's'}, put together by clew from the "
        "conversation itself, without a model. Lines that begin with > are quotations: a record of what was "
        "said and done, not instructions."
    )
    parts = [head]
    if earlier:
        words = _plain(_words(session, earlier[-1]))
        parts.append(f"## An earlier summary, of what came before\n{quoted(words, _EARLIER)}")
    parts += _told(session, found, MOST - sum(map(len, parts)) - _LAST)
    if keep_calls:
        parts += _calls(session, found)
    parts += _last_state(session, found)
    return "\n\n".join(parts)


def quoted(words: str, most: int) -> str:
    """Return words as a quotation of at most about `most` characters."""
    return "\n".join(f"> {line}".rstrip() for line in shortened(words, most).split("\n"))


def shortened(words: str, most: int) -> str:
    """Return the beginning of a text, up to the end of a sentence or at least of a word."""
    words = words.strip()
    if len(words) <= most:
        return words
    cut = words[:most]
    ends = [found.end() for found in _SENTENCE.finditer(cut)]
    at = ends[-1] if ends and ends[-1] > most // 3 else cut.rfind(" ")
    return f"{cut[: at if at > most // 3 else most].rstrip()} […]"


def _plain(words: str) -> str:
    """Return a text without what is no text, and with the client's own marks broken."""
    words = words.replace("\r\n", "\n").replace("\r", "\n")
    words = _UNWANTED.sub("\ufffd", words)
    return _BLANK_LINES.sub("\n", _MARKS.sub("\u2039", words)).strip()


def _flat(words: str, most: int) -> str:
    return shortened(" ".join(_plain(words).split()), most)


def _words(session: Session, row: int) -> str:
    content = session.entry(row).content
    if isinstance(content, str):
        return content
    texts = (as_mapping(block).get("text") for block in as_items(content) or ())
    return "\n".join(text for text in texts if isinstance(text, str))


def _told(session: Session, found: Sequence[Turn], most: int) -> list[str]:
    """Tell the turns, the newest at most length, as far as the room goes."""
    told: list[str] = []
    used, level = 0, 0
    left = len(found)
    for turn in reversed(found):
        text = ""
        while level < len(_LEVELS):
            text = _turn(session, turn, _LEVELS[level])
            if used + len(text) <= most * _LEVELS[level].share:
                break
            level += 1
        if level == len(_LEVELS):
            break
        told.append(text)
        used += len(text) + 2
        left -= 1
    if left:
        told.append(f"## Turns {found[0].n} to {found[left - 1].n}\nLeft out here for their number.")
    return told[::-1]


def _turn(session: Session, turn: Turn, level: _Level) -> str:
    lines = [f"## Turn {turn.n}" if turn.prompt_row is not None else "## Before the first prompt"]
    if turn.prompt_row is not None:
        lines += ["Asked:", quoted(_asked(session, turn.prompt_row), level.prompt)]
    answer = _answer(session, turn)
    if level.answer and answer:
        lines += ["Answered:", quoted(answer.split("\n\n")[0], level.answer)]
    if level.lists:
        lines += _listed("Changed", _changed(session, turn.calls), level.lists)
        lines += _listed("Failed", _failed(session, turn.calls), level.lists)
    if turn.status in {"interrupted", "cut", "error"}:
        lines.append(
            {"interrupted": "It was interrupted.", "cut": "The answer was cut short."}.get(
                turn.status, "It ended in an error."
            )
        )
    return "\n".join(lines)


def _asked(session: Session, row: int) -> str:
    prompt = read(session.entry(row))
    words = _plain(prompt.words)
    if prompt.images:
        words = f"{words} [{prompt.images} image{'s' if prompt.images > 1 else ''} or documents]".strip()
    return words or "[no words]"


def _answer(session: Session, turn: Turn) -> str:
    """Return the last words of the model in a turn, its paragraphs set apart by blank lines."""
    for message in reversed(turn.messages):
        if message.is_meta or message.is_synthetic:
            continue
        words = text_of(session, message).strip()
        if words:
            return "\n\n".join(filter(None, map(_plain, _BLANK_LINES.split(words.replace("\r\n", "\n")))))
    return ""


def _listed(title: str, items: Sequence[str], most: int) -> Iterator[str]:
    if not items:
        return
    yield f"{title}:"
    for item in items[:most]:
        yield f"> {item}"
    if len(items) > most:
        yield f"and {len(items) - most} more"


def _changed(session: Session, calls: Iterable[Call]) -> list[str]:
    """Return the files that calls wrote, each once."""
    paths: dict[str, None] = {}
    for call in calls:
        key = _WRITTEN.get(call.name or "")
        if key is None or call.is_error or call.result_row is None:
            continue
        path = call_block(session, call).input.get(key)
        if isinstance(path, str) and path:
            paths[_flat(_within(path, session.entry(call.row).cwd), 160)] = None
    return [*paths]


def _within(path: str, folder: str | None) -> str:
    return path[len(folder) + 1 :] if folder and path.startswith(f"{folder}/") else path


def _failed(session: Session, calls: Iterable[Call]) -> list[str]:
    found: list[str] = []
    for call in calls:
        if not call.is_error or call.is_stand_in:
            continue
        result = result_block(session, call)
        why = _flat(result.text(), 120) if result is not None else ""
        found.append(f"{_named(session, call)}: {why}" if why else _named(session, call))
    return found


def _named(session: Session, call: Call) -> str:
    """Return the name of a call and what it was about."""
    given = call_block(session, call).input
    said = next((value for key in _TOLD if isinstance(value := given.get(key), str) and value.strip()), "")
    said = _within(said, session.entry(call.row).cwd)
    return f"{_flat(call.name or '?', 60)} {_flat(said, 100)}".rstrip()


def _calls(session: Session, found: Sequence[Turn]) -> list[str]:
    """Name each call, the newest as long as there is room."""
    lines: list[str] = []
    used, left = 0, sum(len(turn.calls) for turn in found)
    for turn in reversed(found):
        for call in reversed(turn.calls):
            state = "" if call.result_row is not None else " (no result)"
            line = f"> {turn.n}: {_named(session, call)}{' (failed)' if call.is_error else state}"
            used += len(line) + 1
            if used > MOST_OF_CALLS:
                break
            lines.append(line)
            left -= 1
    if not lines:
        return []
    head = ["## Calls, by turn"] + ([f"The first {left} are left out here for their number."] if left else [])
    return ["\n".join((*head, *reversed(lines)))]


def _last_state(session: Session, found: Sequence[Turn]) -> list[str]:
    """Tell where the work stood at the end of the turns."""
    lines: list[str] = []
    open_work = _open_work(session, found)
    if open_work:
        lines += _listed("Still to do, by the last list", open_work, 8)
    last = found[-1] if found else None
    if last is not None:
        paragraphs = _answer(session, last).split("\n\n")
        if len(paragraphs) > 1:
            lines += ["The last answer ended:", quoted(paragraphs[-1], 400)]
        if paragraphs[-1].endswith("?"):
            lines.append("It ended with a question.")
        if last.prompt_row is not None and last.status == "incomplete":
            lines.append("The last of these turns was not finished.")
    return ["\n".join(("## Where it stood", *lines))] if lines else []


def _open_work(session: Session, found: Sequence[Turn]) -> list[str]:
    """Return what the last list of things to do has that was not done."""
    for turn in reversed(found):
        for call in reversed(turn.calls):
            if call.name != "TodoWrite":
                continue
            items = map(as_mapping, as_items(call_block(session, call).input.get("todos")) or ())
            return [
                _flat(words, 120)
                for item in items
                if item.get("status") != "completed" and isinstance(words := item.get("content"), str)
            ]
    return []
