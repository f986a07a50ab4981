"""A chain of lines that grows as things are said: what a session and its sub-agents have in common.

A line counts as said when it is in the file; a write that fails leaves the chain as it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from clew.agent import lines
from clew.agent.lines import Answer, Failure, Turn
from clew.agent.names import session_slug
from clew.format.compose import Chain, Envelope
from clew.store.disk import DISK
from clew.store.growing import Growing, PartlyWrittenError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from clew.format.compose import Block, Link
    from clew.store.disk import Disk
    from clew.store.live import Live

Ids = Callable[[], str]
"""Gives a new UUID each time."""

Clock = Callable[[], int]
"""Tells the time, in milliseconds since 1970."""


class Place(NamedTuple):
    """Where lines go, and who says when and under which ids."""

    ids: Ids
    clock: Clock
    state: Path
    disk: Disk = DISK


class Writing:
    """A chain of lines that grows: of a session itself, or of a sub-agent.

    Its methods may be called from several threads; each returns the uuid of what it wrote.
    """

    def __init__(self, path: str, envelope: Envelope, place: Place, *, file: Growing | None = None) -> None:
        self.path = path
        self.place = place
        self._envelope = envelope
        self._file = file
        self._chain = Chain()
        self._turn = Turn(place.ids(), 0, 0)
        self._answer: Answer | None = None
        self._index = 0
        self._calls: dict[str, str] = {}
        self._waiting: list[bytes] = []
        self._closing: list[Callable[[Link], bytes]] = []
        """What an earlier end leaves to be said before anything else."""
        self._count = 0
        self._lock = threading.RLock()

    @property
    def session_id(self) -> str:
        """What the client calls the session."""
        return self._envelope.session_id

    @property
    def leaf(self) -> str | None:
        """The line that the next one will hang on."""
        return self._chain.parent

    @property
    def envelope(self) -> Envelope:
        """What all lines have in common."""
        return self._envelope

    @property
    def turn(self) -> Turn:
        """The turn that is going on."""
        return self._turn

    @property
    def open_calls(self) -> tuple[str, ...]:
        """The calls that have no result yet, in their order."""
        return tuple(self._calls)

    @property
    def cwd(self) -> str:
        """Where the session works; a shell may move it."""
        return self._envelope.cwd

    @cwd.setter
    def cwd(self, path: str) -> None:
        self._envelope = replace(self._envelope, cwd=path)

    # What is said ---------------------------------------------------------------------------------

    def block(
        self,
        block: Block,
        *,
        message_id: str,
        model: str,
        request_id: str | None,
        usage: Mapping[str, Any],
        stop_reason: str | None,
        stop_sequence: str | None = None,
        requested_model: str | None = None,
        is_aborted: bool = False,
        extra: Mapping[str, object] | None = None,
    ) -> str:
        """Write a block of the model's answer as it ends; blocks with one message id are one message.

        A text of nothing but white space is not written, for the API takes none back: then the line before
        it is returned.
        """
        with self._lock:
            answer, index = self._answer, self._index
            if answer is None or answer.message_id != message_id:
                ref = self.place.ids()
                kind = self._agent_type
                answer = Answer(message_id, model, requested_model or model, request_id, ref, kind)
                index = 0
            if _is_blank(block) and self.leaf is not None:
                self._answer, self._index = answer, index + 1
                return self.leaf
            uuid = self._say(
                lambda link: lines.block(
                    self._envelope,
                    link,
                    answer,
                    block,
                    index=index,
                    usage=usage,
                    stop_reason=stop_reason,
                    stop_sequence=stop_sequence,
                    is_aborted=is_aborted,
                    extra=extra,
                )
            )
            self._answer, self._index = answer, index + 1
            call = block.get("id")
            if block.get("type") == "tool_use" and isinstance(call, str):
                self._calls[call] = uuid
            return uuid

    def result(
        self,
        call_id: str,
        content: str | Sequence[Block],
        *,
        structured: object = None,
        is_error: bool = False,
        extra: Mapping[str, object] | None = None,
    ) -> str:
        """Write what came of a call. All calls of an answer come before the first result."""
        with self._lock:
            source = self._calls.get(call_id)
            if source is None:
                raise ValueError(f"no call {call_id!r} waits for a result")
            uuid = self._say(
                lambda link: lines.result(
                    self._envelope,
                    link,
                    self._turn,
                    call_id,
                    content,
                    source=source,
                    structured=structured,
                    is_error=is_error,
                    extra=extra,
                )
            )
            del self._calls[call_id]
            return uuid

    def interrupted(self, *, in_tool: bool) -> str:
        """Write that the person stopped it; calls that have no result are told the same."""
        with self._lock:
            for call in self.open_calls:
                words = lines.INTERRUPTED_IN_TOOL
                denied = {"toolDenialKind": "interrupted"}
                self.result(call, words, structured=f"Error: {words}", is_error=True, extra=denied)
            message = None if self._answer is None else self._answer.message_id
            return self._say(
                lambda link: lines.interruption(
                    self._envelope, link, self._turn, in_tool=in_tool, message_id=message
                )
            )

    def api_error(self, text: str, *, failure: Failure | None = None) -> str:
        """Write that the API gave no answer; the line stays for the person and is never sent."""
        with self._lock:
            message, why = self.place.ids(), failure or Failure()
            return self._say(
                lambda link: lines.api_error(self._envelope, link, text, message_id=message, failure=why)
            )

    def compact(
        self,
        *,
        trigger: Literal["manual", "auto"],
        pre_tokens: int,
        summary: str,
        duration_ms: int = 0,
    ) -> tuple[str, str]:
        """Write a compaction and the summary that stands for all before; return the uuids of both."""
        with self._lock:
            if not self._envelope.slug:
                slug = session_slug(Random(self.place.ids()))  # noqa: S311  # a name to read, no secret
                self._envelope = replace(self._envelope, slug=slug)
            follows = self._chain.parent
            uuids = self._say_all(
                lambda link: lines.boundary(
                    self._envelope,
                    link,
                    follows=follows,
                    trigger=trigger,
                    pre_tokens=pre_tokens,
                    duration_ms=duration_ms,
                ),
                lambda link: lines.summary(self._envelope, link, self._turn, summary),
                is_cut=True,
            )
            self._answer = None
            self._calls.clear()
            return uuids[0], uuids[1]

    def progress(self, call_id: str, data: Mapping[str, object], *, parent_call_id: str | None = None) -> str:
        """Write what a call is doing; nothing ever hangs on such a line."""
        with self._lock:
            return self._aside(
                lambda link: lines.progress(
                    self._envelope, link, data, call_id=call_id, parent_call_id=parent_call_id or call_id
                )
            )

    # The file ---------------------------------------------------------------------------------------

    @property
    def has_begun(self) -> bool:
        """Whether there is a file."""
        return self._file is not None

    @property
    def live(self) -> Live | None:
        """How a session that is gone on with was found: whether somebody may just have left it."""
        return None if self._file is None else self._file.live

    @property
    def written_by_others(self) -> int:
        """How many bytes somebody else has added to the file meanwhile."""
        return 0 if self._file is None else self._file.written_by_others

    def sync(self) -> None:
        """Wait until all of it is on the disk."""
        with self._lock:
            if self._file is not None:
                self._file.sync()

    def close(self) -> None:
        """Let go of the file. What never came to a prompt is forgotten."""
        with self._lock:
            self._waiting.clear()
            if self._file is not None:
                self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _agent_type(self) -> str | None:
        return None

    def _say(self, make: Callable[[Link], bytes], *, first: Callable[[Link], bytes] | None = None) -> str:
        return self._say_all(make, first=first)[0]

    def _say_all(
        self,
        *make: Callable[[Link], bytes],
        first: Callable[[Link], bytes] | None = None,
        is_cut: bool = False,
    ) -> list[str]:
        """Write lines of the chain in one go; it only grows by those that are in the file.

        `first` makes a record that comes before them. With `is_cut` they hang on nothing.
        """
        everything = [*self._closing, *make]
        chain = Chain(parent=self._chain.parent, after=self._chain.time)
        links: list[tuple[Link, int | None]] = []
        data: list[bytes] = []
        for number, one in enumerate(everything):
            if is_cut and number == len(self._closing):
                chain.parent = None
            link = chain.link(self.place.ids(), self.place.clock())
            data.append(one(link))
            links.append((link, chain.time))
        lead = [*self._waiting, *((first(links[-1][0]),) if first is not None else ())]
        there = len(data)
        try:
            self._append([*lead, *data])
        except PartlyWrittenError as error:
            there = max(0, error.whole - len(lead))
            raise
        except BaseException:
            there = 0
            raise
        else:
            self._waiting.clear()
        finally:
            if there:
                last, self._chain.time = links[there - 1]
                self._chain.parent = last.uuid
                del self._closing[:there]
            self._count += there
        return [link.uuid for link, _ in links[-len(make) :]]

    def _aside(self, make: Callable[[Link], bytes]) -> str:
        """Write a line that hangs on the chain without becoming a part of it."""
        if self._file is None:
            raise ValueError("nothing was said yet that this could go along with")
        chain = Chain(parent=self._chain.parent, after=self._chain.time)
        link = chain.link(self.place.ids(), self.place.clock())
        self._append([make(link)])
        self._chain.time = chain.time
        return link.uuid

    def _append(self, data: Sequence[bytes]) -> None:
        if self._file is None:
            self._file = Growing.create(self.path, state=self.place.state, disk=self.place.disk)
        self._file.append(data)


def _is_blank(block: Block) -> bool:
    text = block.get("text")
    return block.get("type") == "text" and isinstance(text, str) and not text.strip()
