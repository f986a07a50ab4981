"""What is said in a session of ours, written as it is said, so that the real client can go on with it.

One chain of lines without forks, times that only grow, calls and their results one behind the other: what
every measured client reads alike. What the model is sent next is what `session.context` says of the file.
Beside the chain stand the records that the client keeps for itself: what was asked last, titles, copies of
files. `writing` has what sub-agents share, `past` what a session that is continued holds already.
"""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from clew.agent import lines, notes
from clew.agent.kept import Kept
from clew.agent.lines import PROFILE, Turn
from clew.agent.past import Past
from clew.agent.writing import Place, Writing
from clew.errors import RefusedError, UsageError
from clew.format.compose import Chain, Envelope
from clew.store.disk import DISK
from clew.store.files import Skipped, at_path
from clew.store.growing import Growing
from clew.store.reader import open_session
from clew.store.slugs import folder_name
from clew.store.state import state_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from clew.agent.notes import Operation
    from clew.agent.writing import Clock, Ids
    from clew.format.compose import Block, Link
    from clew.store.disk import Disk


class Transcript(Writing):
    """The file of a session that is going on."""

    def __init__(
        self,
        path: str,
        envelope: Envelope,
        place: Place,
        *,
        file: Growing | None = None,
        kept: Kept | None = None,
    ) -> None:
        super().__init__(path, envelope, place, file=file)
        self.past: Past | None = None
        """What the session held when it was taken up again; None for a new one."""
        self._kept = kept
        self._prompt: str | None = None
        self._prompt_uuid: str | None = None
        self._prompts = 0

    @classmethod
    def begin(
        cls,
        config_folder: str | os.PathLike[str],
        cwd: str,
        *,
        ids: Ids,
        clock: Clock,
        version: str = PROFILE,
        git_branch: str | None = None,
        slug: str | None = None,
        entrypoint: str = "cli",
        session_id: str | None = None,
        state: Path | None = None,
        keeps_files: bool = True,
        disk: Disk = DISK,
    ) -> Self:
        """Begin a session in the project `cwd`. There is no file until something is asked."""
        name = session_id or ids()
        root = os.path.abspath(config_folder)  # noqa: PTH100
        envelope = Envelope(name, cwd, version, git_branch=git_branch or "", entrypoint=entrypoint, slug=slug)
        path = Path(root, "projects", folder_name(cwd), f"{name}.jsonl")
        kept = Kept(_history(root, name), cwd, disk=disk) if keeps_files else None
        return cls(str(path), envelope, Place(ids, clock, state or state_folder(), disk), kept=kept)

    @classmethod
    def resume(
        cls,
        path: str | os.PathLike[str],
        *,
        cwd: str,
        ids: Ids,
        clock: Clock,
        at: str | None = None,
        fork_to: str | None = None,
        model: str | None = None,
        version: str = PROFILE,
        git_branch: str | None = None,
        entrypoint: str = "cli",
        state: Path | None = None,
        force: bool = False,
        keeps_files: bool = True,
        disk: Disk = DISK,
    ) -> Self:
        """Go on with a session: where it ends, or at the line `at`. Nothing is written until something is.

        With `fork_to`, the folder of a project, what is gone on with is a copy under a new id. `model` is the
        one that will be asked, where it is not the last one. `force` goes on though somebody else is at it.
        """
        place = Place(ids, clock, state or state_folder(), disk)
        named = os.path.abspath(path)  # noqa: PTH100
        if fork_to is not None:
            from clew.agent.forking import fork

            named = fork(named, to=fork_to, at=at, new_id=ids(), seed=ids().encode(), place=place)
            at = None
        # First the lock, then what is there: nobody else of us adds to it in between.
        file = Growing.open(named, state=place.state, now=clock() / 1000, force=force, disk=disk)
        try:
            session = open_session(named)
            past = _resumable(named, Past.of(session, at=at, model=model))
            kept = None
            if keeps_files and (root := _root(named)) is not None:
                kept = Kept(_history(root, past.session_id), cwd, disk=disk)
                kept.take_up(session)
        except BaseException:
            file.close()
            raise
        envelope = Envelope(
            past.session_id,
            cwd,
            version,
            git_branch=git_branch or "",
            entrypoint=entrypoint,
            slug=past.slug,
        )
        taken_up = cls(named, envelope, place, file=file, kept=kept)
        taken_up._take_up(past, is_rewound=at is not None)
        return taken_up

    # What is said ---------------------------------------------------------------------------------

    def prompt(self, content: str | Sequence[Block], *, permission_mode: str, is_meta: bool = False) -> str:
        """Write what the person asks, or with `is_meta` words that are put in for the model alone."""
        with self._lock:
            if is_meta:
                return self._say(lambda link: lines.meta(self._envelope, link, self._turn, content))
            if self._kept is not None:
                self._kept.at_prompt(at=self.place.clock())
            turn = Turn(self.place.ids(), self._prompts, self._turn.turn_index + 1)
            before, self._turn = self._turn, turn  # what an earlier end leaves to be said is of this turn too
            try:
                uuid = self._say(
                    lambda link: lines.prompt(
                        self._envelope, link, turn, content, permission_mode=permission_mode
                    ),
                    first=None if self._kept is None else self._snapshot_at,
                )
            except BaseException:
                self._turn = before
                raise
            self._answer = None
            self._prompts += 1
            self._prompt, self._prompt_uuid = _words(content), uuid
            return uuid

    def turn_duration(self, ms: int) -> str:
        """Write how long the turn took. Nothing hangs on the line: not every version reads through it."""
        with self._lock:
            count = self._count
            return self._aside(
                lambda link: lines.turn_duration(self._envelope, link, duration_ms=ms, messages=count)
            )

    # Beside the conversation ------------------------------------------------------------------------

    def last_prompt(self) -> str | None:
        """Write what was asked last and where the conversation ends; return the uuid of that line."""
        with self._lock:
            leaf = self._chain.parent
            if leaf is not None and self._file is not None:
                self._append([notes.last_prompt(self.session_id, self._prompt, leaf)])
            return leaf

    def queue(self, operation: Operation, content: str | None = None) -> None:
        """Write that a prompt was put in the line of those that wait, taken from it, or heard in mid-turn."""
        is_removal = operation == "remove"
        with self._lock:
            self._note(
                notes.queue_operation(
                    self.session_id,
                    operation,
                    at=self.place.clock(),
                    content=content,
                    command_id=self.place.ids() if is_removal else None,
                    delivery_id=self.place.ids() if is_removal else None,
                )
            )

    def title(self, text: str) -> None:
        """Write what the person calls the session."""
        with self._lock:
            self._note(notes.title(self.session_id, text))

    def mode(self, permission_mode: str) -> None:
        """Write what the model may do without asking, from here on."""
        with self._lock:
            self._note(notes.permission_mode(self.session_id, permission_mode))

    def rewind(self, uuid: str) -> Past:
        """Go back to a line: the next one will hang there. Return what the model knows by then."""
        with self._lock:
            if self._file is None:
                raise UsageError("nothing was said yet: there is nothing to go back to")
            past = _resumable(self.path, Past.read(self.path, at=uuid))
            self._append([notes.last_prompt(self.session_id, past.last_prompt, uuid, is_explicit=True)])
            self._take_up(past, is_rewound=False)
            return past

    # Copies of files --------------------------------------------------------------------------------

    def keep_before(self, path: str) -> None:
        """Keep what a file is before it is made or changed, so that it can be put back."""
        with self._lock:
            if self._kept is None or not self._kept.before(path, at=self.place.clock()):
                return
            self.snapshot()

    def snapshot(self) -> None:
        """Write which copies of files there are since the last prompt."""
        with self._lock:
            if self._kept is None or self._prompt_uuid is None:
                return
            copies, now = self._kept.copies, self.place.clock()
            self._append([notes.snapshot(self._prompt_uuid, copies, at=now, line_uuid=self.leaf)])

    def _snapshot_at(self, link: Link) -> bytes:
        copies = {} if self._kept is None else self._kept.copies
        return notes.snapshot(link.uuid, copies, at=self.place.clock())

    def _note(self, data: bytes) -> None:
        if self._file is None:
            self._waiting.append(data)
        else:
            self._append([data])

    def _take_up(self, past: Past, *, is_rewound: bool) -> None:
        """Go on behind what was said before."""
        self.past = past
        self._chain = Chain(parent=past.leaf, after=past.last_time)
        self._turn = Turn(self.place.ids(), self._prompts, past.turns)
        self._prompt, self._count = past.last_prompt, past.lines
        self._answer = None
        self._calls.clear()
        self._closing = [partial(self._close_call, call.id, call.line) for call in past.open_calls]
        if past.needs_answer:
            self._closing.append(self._no_response)
        if is_rewound and past.leaf is not None:
            # An older record may name the end of another branch, and would win over the lines to come.
            self._waiting.append(
                notes.last_prompt(self.session_id, past.last_prompt, past.leaf, is_explicit=True)
            )

    def _close_call(self, call: str, source: str | None, link: Link) -> bytes:
        words = lines.SESSION_ENDED
        return lines.result(
            self._envelope,
            link,
            self._turn,
            call,
            words,
            source=source,
            structured=words,
            is_error=True,
            extra={"toolDenialKind": "interrupted"},
        )

    def _no_response(self, link: Link) -> bytes:
        return lines.no_response(self._envelope, link, message_id=self.place.ids())


def now_ms() -> int:
    """Tell the time as a transcript wants it."""
    return time.time_ns() // 1_000_000


def _resumable(path: str, past: Past) -> Past:
    if past.refused is not None:
        raise RefusedError(f"{path}: {past.refused}", hint="clew repair may mend it")
    return past


def _root(path: str) -> str | None:
    """Return the config folder a session file lies in."""
    found = at_path(path)
    return None if isinstance(found, Skipped) else found.root


def _history(root: str, session_id: str) -> str:
    return os.path.join(root, "file-history", session_id)  # noqa: PTH118


def _words(content: str | Sequence[Block]) -> str:
    if isinstance(content, str):
        return content
    texts = (block.get("text") for block in content if block.get("type") == "text")
    return "\n".join(text for text in texts if isinstance(text, str))
