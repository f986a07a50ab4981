"""What stands at the top of a document that a person reads, and over each of its turns, in words."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from clew.view import whole, words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.export.story import Story
    from clew.view.parts import Agent, Image, State, TurnHead, Work

SILENT = "Nothing was said in this session."

DEEPEST: Final = 24
"""How deep sub-agents are told within each other."""

MARKS: Final[dict[State, str]] = {
    "done": "✓", "failed": "✗", "refused": "✗", "missing": "?", "running": "…",
}  # fmt: skip
"""How a call ended, as a sign before it."""


def facts(story: Story) -> Iterator[tuple[str, str]]:
    """Give the facts of a session, each with its name; texts are as they were."""
    head = story.head
    yield "Session", head.session
    if head.project:
        yield "Project", head.project + (f" ({head.branch})" if head.branch else "")
    if head.started is not None:
        yield "Time", _span(head.started, head.ended)
    if head.models:
        yield "Model", ", ".join(head.models)
    if head.versions:
        yield "Client", ", ".join(head.versions)
    told = [words.count(head.turns, "turn"), *whole.calls_words(head), *_changes(head.work)]
    if head.agents and not head.agents_work.calls:
        told.append(words.count(head.agents, "sub-agent"))
    yield "Work", " · ".join(told)
    yield (
        "Tokens",
        f"{words.tokens(whole.tokens(head))}, {whole.cost_words(head)}"
        + (f" (without {', '.join(head.unpriced)}: no price is known)" if head.unpriced else ""),
    )
    if len(story.heads) < head.turns and story.heads:
        yield (
            "Here",
            f"turns {story.heads[0].n} to {story.heads[-1].n}"
            if len(story.heads) > 1
            else (f"turn {story.heads[0].n}"),
        )
    if head.damaged:
        yield "Damaged", f"{words.count(head.damaged, 'piece')} of the file could not be read"
    if story.is_redacted:
        yield "Redacted", redacted(story)


def redacted(story: Story) -> str:
    """Say what was taken out."""
    if not story.redacted:
        return "secrets were looked for and none was found"
    total = sum(story.redacted.values())
    listed = ", ".join(f"{name} ×{times}" for name, times in sorted(story.redacted.items()))
    return f"{words.count(total, 'secret')} taken out: {listed}"


def work(done: Work) -> Iterator[str]:
    """Say what was done."""
    if done.calls:
        yield words.count(done.calls, "call") + (f" ({done.failed:,} failed)" if done.failed else "")
    yield from _changes(done)


def _changes(done: Work) -> Iterator[str]:
    if done.files:
        yield f"{words.count(done.files, 'file')} changed (+{done.added:,} −{done.removed:,})"
    if done.duration_ms is not None:
        yield words.duration(done.duration_ms)


def turn_facts(head: TurnHead) -> str:
    """Say when a turn was and what was done in it, on one line."""
    told: list[str] = []
    if head.started is not None:
        told.append(_moment(head.started))
    told += work(head.work)
    if head.work.total_tokens:
        told.append(words.money(head.work.cost_usd))
    if head.status != "complete":
        told.append(head.status)
    return " · ".join((*told, *head.marks))


def agent_line(agent: Agent) -> str:
    """Name a sub-agent, on one line."""
    name = " ".join(part for part in ("Sub-agent", agent.type) if part)
    told = [words.count(agent.turns, "turn"), *work(agent.work)]
    return f"{name}{f': {agent.description}' if agent.description else ''} ({' · '.join(told)})"


def image_line(image: Image) -> str:
    """Say that a picture or a document is there."""
    told = [image.media_type]
    if image.width is not None and image.height is not None:
        told.append(f"{image.width}×{image.height}")
    if image.size is not None:
        told.append(words.size(image.size))
    kind = "image" if image.media_type.startswith("image/") else "document"
    name = f" {image.name}" if image.name else ""
    return f"[{kind}{name}: {', '.join(told)}{f', {image.url}' if image.url else ''}]"


def _span(started: int, ended: int | None) -> str:
    first = _moment(started)
    if ended is None or ended <= started:
        return first
    last = _moment(ended)
    return first if last == first else f"{first} to {last.removeprefix(first[:11])}"


def _moment(ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return words.UNKNOWN
    return f"{words.day(moment)} {words.clock(moment)} UTC"
