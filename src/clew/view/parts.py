"""The parts a session is shown by: values with plain text in them, and no markup of any format.

What is said in a turn is a row of `Flow` parts; what a call was given and gave back, and what a prompt or an
answer holds, are `Part`s. Tools make parts (`clew.view.tools`), formats draw them: neither knows the other.
The web app and the exported page get them as JSON: `kind` tells which one it is, and what has its default is
left out. `web/src/parts.ts` is made from this module.

All text is as its author wrote it and hostile; a format escapes it at its one gate.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Level = Literal["info", "warning", "error"]
State = Literal["done", "failed", "refused", "missing", "running"]
"""How a call ended; `missing` has no result, `running` may still get one."""

TodoState = Literal["pending", "in_progress", "completed", "removed"]
RuleReason = Literal["compaction", "fork", "rewind", "interrupt", "model", "resume", "session"]


class Base(Struct, frozen=True, tag_field="kind", tag=str.lower, omit_defaults=True):
    """What all parts have in common: they are values, and JSON knows them by their kind."""


# What stands in a prompt, an answer or a call ---------------------------------------------------------


class Text(Base, frozen=True):
    """Words as somebody typed them, shown without any meaning of their characters."""

    text: str
    is_muted: bool = False


class Markdown(Base, frozen=True):
    """What a model wrote: Markdown, in which HTML is text."""

    text: str


class Code(Base, frozen=True):
    """Lines of fixed width: a command, a file's content, an output."""

    text: str
    language: str | None = None
    path: str | None = None
    first_line: int | None = None
    """The number of the first line, where lines have numbers."""

    stream: Literal["out", "err"] | None = None
    """What a program wrote, and on which of its two streams."""

    total_lines: int | None = None
    """How long the whole is, when this is an excerpt."""


class Hunk(Struct, frozen=True, array_like=True):
    """Some lines of a diff; each begins with a space, `+` or `-`."""

    old_start: int
    new_start: int
    lines: tuple[str, ...]


class Diff(Base, frozen=True):
    """What changed in a file."""

    path: str
    hunks: tuple[Hunk, ...]
    added: int = 0
    removed: int = 0
    is_new: bool = False


class Table(Base, frozen=True):
    """Rows of short texts; without a head it is names and values."""

    rows: tuple[tuple[str, ...], ...]
    head: tuple[str, ...] = ()


class Image(Base, frozen=True):
    """A picture or a document. Its bytes are there where the session has them."""

    media_type: str
    name: str | None = None
    width: int | None = None
    height: int | None = None
    size: int | None = None
    """Bytes."""

    data: str | None = None
    """Base64, as the session has it."""

    url: str | None = None
    """Where it is, when it is elsewhere; shown as text, never fetched."""


class Notice(Base, frozen=True):
    """Something clew says of the session: damage, a part left out, a part nobody knows."""

    text: str
    level: Level = "info"
    line: int | None = None
    offset: int | None = None
    length: int | None = None
    detail: str | None = None
    """More of it, such as the bytes or the pretty JSON, folded."""


class Todo(Struct, frozen=True, omit_defaults=True):
    """One thing to do."""

    text: str
    state: TodoState
    was: TodoState | None = None
    """What it was before, if that changed."""

    is_new: bool = False


class Todos(Base, frozen=True):
    """A list of things to do, and what changed in it."""

    items: tuple[Todo, ...]


class Section(Base, frozen=True):
    """Parts under a heading, which may be folded."""

    title: str
    parts: tuple[Part, ...]
    is_open: bool = False


Part = Text | Markdown | Code | Diff | Table | Image | Notice | Todos | Section


# What a turn is a row of ------------------------------------------------------------------------------


class Work(Struct, frozen=True, omit_defaults=True):
    """What was done in a turn, by a sub-agent or in a session; what its sub-agents did is not in it."""

    calls: int = 0
    failed: int = 0
    files: int = 0
    """How many files were changed."""

    added: int = 0
    removed: int = 0
    duration_ms: int | None = None
    is_estimated: bool = False
    """Whether the duration is a guess."""

    waited_ms: int | None = None
    """How long the model had waited for the prompt, since the turn before ended."""

    context_tokens: int | None = None
    """What the last request held: input, cache reads and cache writes."""

    output_tokens: int = 0
    total_tokens: int = 0
    cost_usd: float | None = 0.0
    """None when a price is not known."""


class Prompt(Base, frozen=True):
    """What a person said, or sent along while the model worked."""

    parts: tuple[Part, ...]
    uuid: str | None = None
    time: int | None = None
    """Milliseconds since 1970, as every time here."""

    input_kind: str | None = None
    is_queued: bool = False


class Answer(Base, frozen=True):
    """What the model said to the person."""

    parts: tuple[Part, ...]
    uuid: str | None = None
    time: int | None = None
    model: str | None = None
    is_last: bool = False
    """Whether it is the last of its turn, which is always visible."""

    is_error: bool = False
    """Whether the API's error stands in its place."""


class Thinking(Base, frozen=True):
    """What the model thought; without words when it is encrypted."""

    text: str
    uuid: str | None = None
    is_encrypted: bool = False


class Agent(Struct, frozen=True, omit_defaults=True):
    """A sub-agent. Its turns are asked for by its id."""

    agent_id: str
    type: str | None = None
    description: str | None = None
    work: Work = Work()
    turns: int = 0


class Call(Base, frozen=True):
    """A call of a tool on one line, and what was given and came back."""

    tool: str
    argument: str
    """The one argument that tells most, on one line; paths relative to the project."""

    outcome: str
    """A word or two: `exit 1`, `2 matches`, `+5 −3`, `9 lines`."""

    state: State
    id: str | None = None
    uuid: str | None = None
    result_uuid: str | None = None
    time: int | None = None
    duration_ms: int | None = None
    given: tuple[Part, ...] = ()
    """What it was asked, where the one line does not say it all."""

    result: tuple[Part, ...] = ()
    agents: tuple[Agent, ...] = ()


class Note(Base, frozen=True):
    """What the client or a person did beside the conversation: a local command, news, a link."""

    text: str
    parts: tuple[Part, ...] = ()
    uuid: str | None = None
    time: int | None = None
    is_meta: bool = False
    """Whether the client put it in for the model alone; it may be left out where there is little room."""

    agents: tuple[Agent, ...] = ()
    """The sub-agents it tells of: those that no call is known to have started."""


class Rule(Base, frozen=True):
    """A line across: from here on things are different."""

    text: str
    reason: RuleReason
    uuid: str | None = None
    parts: tuple[Part, ...] = ()


Flow = Prompt | Answer | Thinking | Call | Note | Rule | Notice


class TurnHead(Struct, frozen=True, omit_defaults=True):
    """A turn in a list of turns."""

    n: int
    title: str
    """The first words of the prompt, on one line."""

    status: str
    work: Work
    uuid: str | None = None
    started: int | None = None
    ended: int | None = None
    marks: tuple[str, ...] = ()
    """What is odd about it: `goes back to turn 3`, `off the active path`."""

    is_off: bool = False
    """Whether it is not on the way to where the client would go on."""


class Head(Struct, frozen=True, omit_defaults=True):
    """A session in a few facts."""

    session: str
    title: str
    turns: int
    work: Work
    """What was done in the session itself; its cost is that of the answers whose price is known."""

    project: str | None = None
    branch: str | None = None
    slug: str | None = None
    started: int | None = None
    ended: int | None = None
    models: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    session_ids: tuple[str, ...] = ()
    agents: int = 0
    agents_work: Work = Work()
    """What its sub-agents did, all together; answers that they share with the session are not in it."""

    inside_calls: int = 0
    """Of the sub-agents' calls those that stand in the session's own file, as up to 1.0.128."""

    inside_failed: int = 0
    damaged: int = 0
    """How many pieces of the file could not be read."""

    compactions: int = 0
    branches: int = 1
    unpriced: tuple[str, ...] = ()
    """The models without a price."""

    prices: str = ""
    """The date of the prices."""

    lines: int = 0
    bytes: int = 0
