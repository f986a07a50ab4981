"""Sum up a conversation that has become long, in the form in which the client itself does.

The model writes the summary. Where even that is too much for it, the turns are told as they were said,
without a model. What was said stays in the file; the model is sent the summary in its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from clew.agent.api_errors import TooLongError
from clew.agent.happenings import Compacted, Compacting
from clew.agent.requests import build, stand_in_tools
from clew.errors import UsageError
from clew.session.context import estimate_tokens
from clew.session.pricing import read_usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.agent.budget import Budget
    from clew.agent.cancel import Cancel
    from clew.agent.conversation import Conversation
    from clew.agent.door import Door
    from clew.agent.happenings import Listener
    from clew.agent.writing import Writing

WINDOW: Final = 200_000
LARGE_WINDOW: Final = 1_000_000
_RESERVE: Final = 13_000
"""So many tokens before its end a conversation is summed up: room for the summary and what led to it."""

_ROOM: Final = 20_000
"""Tokens a summary may have."""

_WISH: Final = """\
Write a summary of the conversation so far. It takes the place of everything above: whoever goes on sees \
nothing else, and must be able to continue the work without asking again. Tell, under these headings:

1. What the person wants: every request and every constraint, in their own words where these matter.
2. What was done: files read, made or changed, with paths, and the parts of code that matter.
3. What was decided, and why; what was tried and did not work, with the messages of errors.
4. All that the person said about how to work.
5. What is open, and what exactly was being done last.
6. The next step, if the last request calls for one.

Write nothing but the summary, inside <summary></summary>. Do not call tools.
"""

_GOES_ON: Final = """\
This session is being continued from a previous conversation that ran out of context. The conversation is \
summarized below:

"""

_THINKING: Final = frozenset({"thinking", "redacted_thinking"})
"""Not told: a summary needs none of it, and what it was signed with is no longer before it."""

_SUMMARY: Final = re.compile(r"<summary>(.*?)(?:</summary>|\Z)", re.DOTALL)


def window_of(model: str) -> int:
    """Return how many tokens a model can read."""
    return LARGE_WINDOW if model.endswith("[1m]") else WINDOW


def is_due(tokens: int, model: str, *, window: int | None = None) -> bool:
    """Say whether a conversation of so many tokens is to be summed up before the next request."""
    size = window or window_of(model)
    return tokens >= size - min(_RESERVE, size // 5)


def summary_request(
    model: str,
    messages: Sequence[Mapping[str, Any]],
    *,
    system: Sequence[Mapping[str, Any]] = (),
    more: str | None = None,
) -> dict[str, Any]:
    """Make the request for a summary of messages; `more` is what the person adds to what is asked for."""
    asked: list[dict[str, Any]] = []
    for message in messages:
        blocks = [block for block in message["content"] if block.get("type") not in _THINKING]
        if blocks:
            asked.append({"role": message["role"], "content": blocks})
    text = _WISH + (f"\nThe person adds: {more}\n" if more else "")
    words = {"type": "text", "text": text}
    if asked and asked[-1]["role"] == "user":
        asked[-1]["content"] = [*asked[-1]["content"], words]
    else:
        asked.append({"role": "user", "content": [words]})
    tools = stand_in_tools(asked)
    none = {"tool_choice": {"type": "none"}} if tools else None
    return build(
        model=model, messages=asked, system=system, tools=tools, max_tokens=_ROOM, thinking="off", more=none
    )


def summary_in(content: Sequence[Mapping[str, Any]]) -> str:
    """Read the summary out of an answer."""
    text = "".join(str(block.get("text") or "") for block in content if block.get("type") == "text")
    found = _SUMMARY.search(text)
    return (found.group(1) if found else text).strip()


def told_as_summary(summary: str) -> str:
    """Return a summary as the model is sent it."""
    return _GOES_ON + summary


@dataclass(frozen=True, slots=True)
class Compactor:
    """Sums up one conversation."""

    door: Door
    transcript: Writing
    conversation: Conversation
    budget: Budget
    listener: Listener
    extract: Callable[[], str]
    """Tells the conversation in few words without a model."""

    def compact(
        self,
        *,
        model: str,
        system: Sequence[Mapping[str, Any]],
        trigger: Literal["manual", "auto"],
        tokens: int,
        cancel: Cancel,
        more: str | None = None,
    ) -> int:
        """Sum up what was said; return about how many tokens are left."""
        messages = self.conversation.messages
        if not messages:
            raise UsageError("there is nothing to sum up yet")
        self.listener(Compacting(trigger))
        self.budget.ask(counts=False)
        is_extract = False
        try:
            summary = self._asked(model, system, messages, cancel, more)
        except TooLongError:
            summary, is_extract = self.extract(), True
        if not summary:
            summary, is_extract = self.extract(), True
        self.transcript.compact(trigger=trigger, pre_tokens=tokens, summary=told_as_summary(summary))
        self.transcript.sync()
        self.conversation.reload()
        left = sum(estimate_tokens(message["content"]) for message in self.conversation.messages)
        self.listener(Compacted(trigger, tokens, left, is_extract))
        return left

    def _asked(
        self,
        model: str,
        system: Sequence[Mapping[str, Any]],
        messages: Sequence[Mapping[str, Any]],
        cancel: Cancel,
        more: str | None,
    ) -> str:
        request = summary_request(model, messages, system=system, more=more)
        answer = self.door.message(request, cancel=cancel)
        usage = cast("object", answer.get("usage"))
        self.budget.spend(model, cast("dict[str, Any]", usage) if isinstance(usage, dict) else {})
        content = cast("object", answer.get("content"))
        return summary_in(cast("list[dict[str, Any]]", content) if isinstance(content, list) else ())


def tokens_of(usage: Mapping[str, Any]) -> int:
    """Return how long a conversation is behind an answer that used so much."""
    return read_usage(usage).tokens.total
