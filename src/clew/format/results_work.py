"""Results of the tools that do other work: commands, agents, lists, the web, questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format import fields
from clew.format.blocks import Block, blocks, text_of
from clew.format.results_base import Result

if TYPE_CHECKING:
    from collections.abc import Mapping

_EMPTY: Final[Mapping[str, object]] = {}


class Bash(Result):
    """A command that was run."""

    __slots__ = ()

    @property
    def stdout(self) -> str:
        """What it printed."""
        return fields.string(self.data, "stdout") or ""

    @property
    def stderr(self) -> str:
        """What it complained about."""
        return fields.string(self.data, "stderr") or ""

    @property
    def interrupted(self) -> bool | None:
        """Whether it was stopped."""
        return fields.flag(self.data, "interrupted")

    @property
    def is_image(self) -> bool | None:
        """Whether the output is a picture in base64."""
        return fields.flag(self.data, "isImage")

    @property
    def background_task_id(self) -> str | None:
        """The task it became, when it was sent to the background."""
        return fields.string(self.data, "backgroundTaskId")

    @property
    def persisted_output_path(self) -> str | None:
        """The side file that holds an output too large for the line (2.1.45 and later)."""
        return fields.string(self.data, "persistedOutputPath")

    @property
    def persisted_output_size(self) -> int | None:
        """The size of that file."""
        return fields.integer(self.data, "persistedOutputSize")


class Todos(Result):
    """A list of things to do, before and after. `TodoRead` gives the list alone."""

    __slots__ = ()

    @property
    def old(self) -> tuple[Mapping[str, object], ...]:
        """The list before."""
        return fields.mappings(self.data, "oldTodos")

    @property
    def new(self) -> tuple[Mapping[str, object], ...]:
        """The list after; each has `content` and `status`."""
        listed = {"newTodos": self.raw} if fields.as_items(self.raw) is not None else self.data
        return fields.mappings(listed, "newTodos")


class Agent(Result):
    """A sub-agent that ran, or was sent to the background."""

    __slots__ = ()

    @property
    def agent_id(self) -> str | None:
        """The name of its own transcript; absent while transcripts were inline (1.0)."""
        return fields.string(self.data, "agentId")

    @property
    def status(self) -> str | None:
        """`completed`, `async_launched` and others."""
        return fields.string(self.data, "status")

    @property
    def is_async(self) -> bool:
        """Whether it was sent to the background, so that this is not its answer."""
        return fields.flag(self.data, "isAsync") or False

    @property
    def agent_type(self) -> str | None:
        """The kind of agent (2.1.88 and later)."""
        return fields.string(self.data, "agentType")

    @property
    def prompt(self) -> str | None:
        """What it was told to do."""
        return fields.string(self.data, "prompt")

    @property
    def description(self) -> str | None:
        """The same in a few words."""
        return fields.string(self.data, "description")

    @property
    def content(self) -> tuple[Block, ...]:
        """Its answer."""
        return blocks(self.data.get("content"))

    @property
    def text(self) -> str:
        """The words of its answer."""
        return text_of(self.content)

    @property
    def duration_ms(self) -> float | None:
        """How long it took."""
        return fields.number(self.data, "totalDurationMs")

    @property
    def tokens(self) -> int | None:
        """How many tokens its last request held, answer included."""
        return fields.integer(self.data, "totalTokens")

    @property
    def tool_uses(self) -> int | None:
        """How many tools it called."""
        return fields.integer(self.data, "totalToolUseCount")

    @property
    def usage(self) -> Mapping[str, object]:
        """The usage of its last message."""
        return fields.mapping(self.data, "usage") or _EMPTY

    @property
    def output_file(self) -> str | None:
        """Where an agent in the background writes."""
        return fields.string(self.data, "outputFile")


class WebFetch(Result):
    """A page that was fetched, and what a small model made of it."""

    __slots__ = ()

    @property
    def url(self) -> str | None:
        """The page."""
        return fields.string(self.data, "url")

    @property
    def code(self) -> int | None:
        """The HTTP status."""
        return fields.integer(self.data, "code")

    @property
    def bytes(self) -> int | None:
        """The size of the page."""
        return fields.integer(self.data, "bytes")

    @property
    def text(self) -> str:
        """What was made of it."""
        return fields.string(self.data, "result") or ""

    @property
    def duration_ms(self) -> float | None:
        """How long it took."""
        return fields.number(self.data, "durationMs")


class WebSearch(Result):
    """A search of the web: links and comments, mixed."""

    __slots__ = ()

    @property
    def query(self) -> str | None:
        """What was searched for."""
        return fields.string(self.data, "query")

    @property
    def links(self) -> tuple[tuple[str, str], ...]:
        """Title and address of every hit."""
        return tuple(
            (fields.string(hit, "title") or "", fields.string(hit, "url") or "")
            for group in fields.mappings(self.data, "results")
            for hit in fields.mappings(group, "content")
        )

    @property
    def text(self) -> str:
        """The comments between the links."""
        return "\n".join(fields.strings(self.data, "results"))

    @property
    def duration_seconds(self) -> float | None:
        """How long it took."""
        return fields.number(self.data, "durationSeconds")


class AskUserQuestion(Result):
    """Questions put to the person."""

    __slots__ = ()

    @property
    def questions(self) -> tuple[Mapping[str, object], ...]:
        """Each has `question`, `header` and `options`."""
        return fields.mappings(self.data, "questions")

    @property
    def answers(self) -> Mapping[str, object]:
        """The answer to each question, by its words."""
        return fields.mapping(self.data, "answers") or _EMPTY


class ExitPlanMode(Result):
    """A plan that was put to the person."""

    __slots__ = ()

    @property
    def plan(self) -> str | None:
        """The plan."""
        return fields.string(self.data, "plan")

    @property
    def path(self) -> str | None:
        """Its file (2.0.76 and later)."""
        return fields.string(self.data, "filePath")


class Skill(Result):
    """A skill that was called up."""

    __slots__ = ()

    @property
    def name(self) -> str | None:
        """The skill."""
        return fields.string(self.data, "commandName")

    @property
    def success(self) -> bool | None:
        """Whether it was found."""
        return fields.flag(self.data, "success")


class Tasks(Result):
    """The list of tasks: one made, one changed, or all of them."""

    __slots__ = ()

    @property
    def tasks(self) -> tuple[Mapping[str, object], ...]:
        """The tasks told of; each has `id` and `subject`."""
        made = fields.mapping(self.data, "task")
        return fields.mappings(self.data, "tasks") if made is None else (made,)

    @property
    def task_id(self) -> str | None:
        """The task that was changed."""
        return fields.string(self.data, "taskId")

    @property
    def updated_fields(self) -> tuple[str, ...]:
        """What of it was changed."""
        return fields.strings(self.data, "updatedFields")

    @property
    def status_change(self) -> tuple[str | None, str | None] | None:
        """Its status before and after."""
        change = fields.mapping(self.data, "statusChange")
        return None if change is None else (fields.string(change, "from"), fields.string(change, "to"))
