"""What a page says where no script runs: prompts, answers and call lines as plain text, outputs cut short."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from clew.export.html_gate import text
from clew.view import parts, whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.view.parts import Flow, Head, Part, TurnHead, Work

LINES: Final = 20
"""Of an output."""

_LONGEST: Final = 4000
"""Characters of an output, however few its lines are."""


def top(head: Head, notes: Sequence[str]) -> str:
    """Return the session in a few facts."""
    facts = [
        ("Project", head.project or ""),
        ("Branch", head.branch or ""),
        ("When", when(head.started)),
        ("Work", " · ".join((counted(head.turns, "turn"), *whole.calls_words(head), *_changes(head.work)))),
        ("Models", ", ".join(head.models)),
        ("Cost", cost(head)),
        *(("Note", note) for note in notes),
    ]
    rows = "".join(f"<div><dt>{name}</dt><dd>{text(value)}</dd></div>" for name, value in facts if value)
    return f'<h1><bdi>{text(head.title or "Untitled session")}</bdi></h1><dl class="facts">{rows}</dl>'


def turn_top(head: TurnHead, anchor: str) -> str:
    """Return the line above a turn."""
    said = " · ".join(one for one in (when(head.started), *head.marks, work_line(head.work)) if one)
    name = f"Turn {head.n}" if head.n else "Before the first prompt"
    return f'<h2 id="{text(anchor)}">{name} <small>{text(said)}</small></h2>'


def flow(item: Flow) -> str:
    """Return one thing that was said or done."""
    match item:
        case parts.Prompt():
            return f'<div class="item prompt">{"".join(map(_part, item.parts))}</div>'
        case parts.Answer():
            return f'<div class="item answer">{"".join(map(_part, item.parts))}</div>'
        case parts.Thinking():
            return ""
        case parts.Call():
            return _call(item)
        case parts.Note() | parts.Rule():
            return f'<p class="faint">{text(item.text)}</p>'
        case parts.Notice():
            return _part(item)


def _call(item: parts.Call) -> str:
    said = " · ".join(one for one in (item.outcome, "" if item.state == "done" else item.state) if one)
    line = f"<b>{text(item.tool)}</b> <code>{text(item.argument[:_LONGEST])}</code> {text(said)}"
    return f'<p class="item call">{line}</p>{"".join(map(_part, item.result))}'


def _part(part: Part) -> str:
    match part:
        case parts.Text() | parts.Markdown():
            return f'<div class="typed">{text(part.text)}</div>'
        case parts.Code():
            return f"<pre>{text(short(part.text))}</pre>"
        case parts.Diff():
            lines = "\n".join(line for hunk in part.hunks for line in hunk.lines)
            return f'<p class="faint">{text(part.path)}</p><pre>{text(lines)}</pre>'
        case parts.Table():
            lines = "\n".join("  ".join(row) for row in (part.head, *part.rows) if row)
            return f"<pre>{text(short(lines))}</pre>"
        case parts.Image():
            return f'<p class="faint">[{text(" ".join(_image(part)))}]</p>'
        case parts.Notice():
            return f'<p class="notice">{text(part.text)}</p>'
        case parts.Todos():
            lines = "\n".join(f"[{item.state}] {item.text}" for item in part.items)
            return f"<pre>{text(short(lines))}</pre>"
        case parts.Section():
            return f'<p class="faint">{text(part.title)}</p>'


def _image(part: parts.Image) -> Iterator[str]:
    yield part.media_type
    if part.name:
        yield part.name
    if part.url:
        yield part.url


def short(said: str) -> str:
    """Return the first lines of an output, and how many more there are."""
    lines = said.split("\n", LINES)
    kept = "\n".join(lines[:LINES])
    if len(kept) > _LONGEST:
        return f"{kept[:_LONGEST]}\n… cut"
    if len(lines) <= LINES or not lines[LINES]:
        return kept
    return f"{kept}\n… {lines[LINES].rstrip().count(chr(10)) + 1:,} more lines"


def work_line(work: Work) -> str:
    """Return what was done in words."""
    said = [
        counted(work.calls, "call") if work.calls else "",
        f"{work.failed:,} failed" if work.failed else "",
        *_changes(work),
        f"${work.cost_usd:,.2f}" if work.cost_usd else "",
    ]
    return " · ".join(one for one in said if one)


def _changes(work: Work) -> Iterator[str]:
    if work.files:
        yield f"{counted(work.files, 'file')} +{work.added:,} −{work.removed:,}"


def cost(head: Head) -> str:
    """Return the cost with the date of its prices, and a dash for what has no price."""
    amount = whole.cost_words(head)
    dated = f", prices of {head.prices}" if head.prices else ""
    unknown = f", no price known for {', '.join(head.unpriced)}" if head.unpriced else ""
    return f"{amount}{dated}{unknown}"


def counted(number: int, name: str) -> str:
    """Return `1 call`, `7 calls`."""
    return f"{number:,} {name}{'' if number == 1 else 's'}"


def when(time: int | None) -> str:
    """Return a moment in UTC; one that no calendar has is left out."""
    if time is None:
        return ""
    try:
        return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, OSError, ValueError):
        return ""
