"""The messages of a session that is going on, kept so that they are what the file says.

Each thing is written to the transcript first and told here then. Where the client makes something else of the
lines than what was said (two prompts in a row, a call before a text, an interrupted turn, a compaction) the
messages are read from the file again; the file is the truth.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from clew.agent.tool import Block

Message = dict[str, Any]


class Conversation:
    """What the model is sent, message by message."""

    def __init__(
        self,
        messages: Iterable[Mapping[str, Any]] = (),
        *,
        read_again: Callable[[], Iterable[Mapping[str, Any]]] | None = None,
    ) -> None:
        """`read_again` reads the messages from where they are kept; nobody takes up a sub-agent again."""
        self._messages: list[Message] = [dict(message) for message in messages]
        self._read_again = read_again
        self._is_odd = False
        """Whether the client makes something else of the last answer: it is read again behind its results."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages, oldest first. Nobody changes them."""
        return self._messages

    def reload(self) -> None:
        """Read all of it again."""
        self._is_odd = False
        if self._read_again is not None:
            self._messages = [dict(message) for message in self._read_again()]

    def say(self, content: str | Sequence[Block]) -> None:
        """Add what is said under the person's role: a prompt, or results."""
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
        last = self._messages[-1] if self._messages else None
        if last is None or last["role"] != "user":
            self._messages.append({"role": "user", "content": blocks})
        else:
            self._messages[-1] = {"role": "user", "content": [*cast("list[Block]", last["content"]), *blocks]}
            self._is_odd = True
        if self._is_odd:
            self.reload()

    def answer(self, blocks: Sequence[Block]) -> None:
        """Add an answer of the model, whole."""
        kinds = [block.get("type") for block in blocks]
        if not kinds or all(kind in ("thinking", "redacted_thinking") for kind in kinds):
            self.reload()  # such an answer is left out when a session is taken up again
            return
        self._messages.append({"role": "assistant", "content": list(blocks)})
        self._is_odd = sorted(kinds, key=lambda kind: kind == "tool_use") != kinds
