"""What the commands of a chat do, and the rows that tell of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from clew.errors import ClewError, UsageError
from clew.faces.cli import words
from clew.faces.cli.chat import slash
from clew.faces.cli.chat.box import spent
from clew.faces.cli.styled import Row, cut, safe
from clew.faces.cli.terminal import Span, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from clew.actions.running import Running
    from clew.faces.cli.chat.talk import Talk

MODES: Final = ("default", "acceptEdits", "plan", "dontAsk")
"""Those that Shift-Tab goes round; the one that allows everything has to be named."""


class Undone(NamedTuple):
    """What came of going back."""

    prompt: str
    """What was asked last, to be asked in other words."""

    is_whole: bool
    """Whether there was nothing before it."""


def undo(running: Running) -> Undone:
    """Go back to before the last prompt. What came of it stays in the file, on a branch."""
    from clew.session.context import context
    from clew.session.prompts import read
    from clew.session.session import HUMAN
    from clew.store.reader import open_session

    path = running.transcript.path
    try:
        session = open_session(path)
    except OSError as error:
        raise UsageError("nothing was said yet: there is nothing to go back to") from error
    found = context(session)
    rows = sorted({row for message in found.rows for row in message})
    last = next((row for row in reversed(rows) if session.table.flags[row] & HUMAN), None)
    if last is None:
        raise UsageError("there is no prompt to go back to", hint="/clear begins a new session")
    entry = session.entry(last)
    said = read(entry).words or ""
    before = entry.parent_uuid
    if before is None:
        return Undone(said, is_whole=True)
    running.rewind(before)
    return Undone(said, is_whole=False)


def set_mode(running: Running, mode: str) -> str:
    """Change what may be done without asking, and write that down."""
    running.gate.mode = mode
    running.transcript.mode(mode)
    return mode


def set_model(running: Running, model: str) -> str:
    """Ask another model from here on."""
    running.model = model
    return model


# Commands ---------------------------------------------------------------------------------------------


def carry_out(talk: Talk, called: slash.Called) -> None:
    """Do what a command asks for."""
    running = talk.running
    match called.name:
        case "exit":
            talk.is_over = True
        case "help":
            listed = () if running is None else tuple(running.commands.found.values())
            about = {one.name: one.description for one in listed}
            talk.tell(help_rows(about, talk.telling.width))
        case "clear":
            talk.begin()
            talk.engine.clear()
        case _ if running is None:
            talk.note("the session is not open yet")
        case "cost":
            talk.tell(cost_rows(running))
        case "context":
            talk.tell(context_rows(running, window(talk)))
        case "mode":
            _mode(talk, running, called.words)
        case _:
            _work(talk, running, called)


def _work(talk: Talk, running: Running, called: slash.Called) -> None:
    """Do what takes its time, or what must not happen in the midst of a turn."""
    match called.name:
        case "compact":
            talk.begin()
            talk.engine.do("compact", lambda one: one.compact(called.words or None))
        case "undo":
            talk.begin()
            talk.engine.do("undo", undo)
        case "model" if called.words:
            talk.begin()
            talk.engine.do("set", lambda one: set_model(one, called.words))
        case _:
            talk.tell([(safe(running.model),)])


def _mode(talk: Talk, running: Running, mode: str) -> None:
    if not mode:
        others = f"  of {', '.join(MODES)}, bypassPermissions"
        talk.tell([(running.gate.mode, Span(others, ("dim",)))])
        return
    try:
        set_mode(running, mode)
    except ClewError as error:
        talk.fail(error)


def next_mode(talk: Talk) -> None:
    """Go round the modes."""
    running = talk.running
    if running is not None:
        at = MODES.index(running.gate.mode) if running.gate.mode in MODES else -1
        _mode(talk, running, MODES[(at + 1) % len(MODES)])


def window(talk: Talk) -> int:
    """Return how long the conversation may be."""
    from clew.agent.compaction import window_of

    running = talk.running
    return talk.engine.window or window_of("" if running is None else running.model)


# Rows -------------------------------------------------------------------------------------------------


def help_rows(commands: Mapping[str, str], room: int) -> Iterator[Row]:
    """Tell keys and commands."""
    yield (Span("Keys", ("bold",)),)
    yield from _table([(keys, what) for keys, what in slash.KEYS], room)
    yield ()
    yield (Span("Commands", ("bold",)),)
    yield from _table([(f"/{one.name} {one.argument}".rstrip(), one.help) for one in slash.COMMANDS], room)
    if commands:
        yield ()
        yield (Span("Yours and the project's", ("bold",)),)
        yield from _table([(f"/{one_line(name)}", one_line(what)) for name, what in commands.items()], room)


def _table(rows: Sequence[tuple[str, str]], room: int) -> Iterator[Row]:
    wide = min(24, max(len(name) for name, _ in rows))
    for name, what in rows:
        yield cut((Span(f"  {name:<{wide}}  ", ("cyan",)), safe(what)), room)


def cost_rows(running: Running) -> Iterator[Row]:
    """Tell what the session cost since it was taken up."""
    budget = running.budget
    known = spent(budget.cost_usd, budget.unpriced)
    yield (f"{known} for {words.count(budget.requests, 'request')} since it was opened here",)
    if budget.unpriced:
        yield (
            Span(
                f"{words.count(budget.unpriced, 'answer')} of models without a price not counted", ("yellow",)
            ),
        )


def context_rows(running: Running, window: int) -> Iterator[Row]:
    """Tell how long the conversation is, and of what."""
    from clew.session.context import estimate_tokens

    tokens = running.crew.loop.tokens
    messages = running.crew.conversation.messages
    size = f"{words.tokens(tokens)} of {words.tokens(window)} tokens ({words.percent(tokens, window)})"
    yield (f"{size}, {words.count(len(messages), 'message')}",)
    split: dict[str, int] = {}
    for message in messages:
        content = cast("object", message.get("content"))
        for block in cast("list[dict[str, Any]]", content) if isinstance(content, list) else []:
            kind = _KINDS.get(str(block.get("type")), "other")
            if kind == "text":
                kind = "what you said" if message.get("role") == "user" else "answers"
            split[kind] = split.get(kind, 0) + estimate_tokens([block])
    for kind, count in sorted(split.items(), key=lambda one: -one[1]):
        yield (Span(f"  {'≈' + words.tokens(count):>8}  ", ("dim",)), kind)


_KINDS: Final = {
    "text": "text", "tool_use": "calls", "tool_result": "results of calls", "thinking": "thinking",
    "redacted_thinking": "thinking", "image": "pictures", "document": "documents",
}  # fmt: skip


def last_exchange(running: Running) -> tuple[str, str]:
    """Return what was said last by the person and by the model, of a session that is taken up again."""
    past = running.transcript.past
    answer = ""
    for message in reversed(running.crew.conversation.messages):
        if message.get("role") == "assistant":
            content = cast("object", message.get("content"))
            blocks = cast("list[dict[str, Any]]", content) if isinstance(content, list) else []
            answer = "\n\n".join(str(one.get("text") or "") for one in blocks if one.get("type") == "text")
            if answer.strip():
                break
    return (past.last_prompt if past is not None else None) or "", answer
