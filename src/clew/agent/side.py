"""What is said in a sub-agent, in a file of its own beside the session's, as client 2.1.325 keeps it.

`<session>/subagents/agent-a<16 hex>.jsonl`, and beside it a `.meta.json` that names the call which started
it. A sub-agent of a sub-agent lies in the same folder; how deep it is, the meta file says, and whose call it
was, the file that holds the call.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from clew.agent import lines
from clew.agent.writing import Writing
from clew.format.decode import encode
from clew.store.source import reason
from clew.store.writer import NotWrittenError, prepare

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from clew.agent.lines import Turn
    from clew.agent.writing import Place
    from clew.format.compose import Block, Envelope


@dataclass(frozen=True, slots=True)
class Start:
    """What started a sub-agent."""

    agent_type: str
    description: str
    call_id: str
    """The call, in the session or in the sub-agent above."""

    depth: int = 1
    model: str | None = None
    is_built_in: bool = True
    is_interactive: bool = False


class SideTranscript(Writing):
    """The file of a sub-agent that is at work."""

    def __init__(
        self, path: str, envelope: Envelope, place: Place, *, start: Start, agent_id: str, turn: Turn
    ) -> None:
        super().__init__(path, envelope, place)
        self.agent_id = agent_id
        self.start = start
        self._turn = turn

    @classmethod
    def begin(cls, above: Writing, start: Start) -> Self:
        """Begin a sub-agent of a session, or of a sub-agent. There is no file until it is told something."""
        place, envelope = above.place, above.envelope
        agent_id = f"a{sha256(place.ids().encode()).hexdigest()[:16]}"
        folder = os.path.dirname(above.path)  # noqa: PTH120
        if isinstance(above, SideTranscript):
            start = replace(start, depth=above.start.depth + 1)
        else:
            folder = os.path.join(folder, envelope.session_id, "subagents")  # noqa: PTH118
        path = os.path.join(folder, f"agent-{agent_id}.jsonl")  # noqa: PTH118
        inner = replace(envelope, agent_id=agent_id)
        return cls(path, inner, place, start=start, agent_id=agent_id, turn=above.turn)

    @property
    def meta_path(self) -> str:
        """The file that says what started it."""
        return self.path.removesuffix(".jsonl") + ".meta.json"

    def prompt(self, content: str | Sequence[Block], *, is_meta: bool = False) -> str:
        """Write what the sub-agent is told."""
        with self._lock:
            is_first = not self.has_begun
            make = lines.meta if is_meta else lines.told
            uuid = self._say(lambda link: make(self._envelope, link, self._turn, content))
            self._answer = None
            if is_first:
                self._write_meta(is_finished=False)
            return uuid

    def finish(self) -> None:
        """Say that it is done, and let go of its files."""
        with self._lock:
            if self.has_begun:
                self._write_meta(is_finished=True)
            self.close()

    @property
    def _agent_type(self) -> str | None:
        return self.start.agent_type

    def _write_meta(self, *, is_finished: bool) -> None:
        start, disk = self.start, self.place.disk
        meta: dict[str, Any] = {
            "agentType": start.agent_type,
            "isBuiltIn": start.is_built_in,
            "launchedWithDefaults": True,
            "description": start.description,
            "toolUseId": start.call_id,
            "spawnDepth": start.depth,
            "requestShape": "background",  # the only one that was ever seen
            "requestNonInteractive": not start.is_interactive,
        }
        if start.model is not None:
            meta["pickedEffortModel"] = start.model
        if is_finished:
            meta["finished"] = True
        temporary = f"{self.meta_path}.{os.getpid()}.clew-new"
        prepare(temporary, (encode(meta),), target=self.meta_path, disk=disk)
        try:
            disk.replace(temporary, self.meta_path)
        except OSError as error:
            raise NotWrittenError(self.meta_path, reason(error)) from error
