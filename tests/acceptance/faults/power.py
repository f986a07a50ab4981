"""Cut the power at every moment of a command, and see what comes of it when clew is run the next time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.errors import ClewError
from clew.store.carrying import Patience
from clew.store.disk import Disk
from clew.store.journal import entries, recover, undo
from tests.acceptance.faults.commands import Place
from tests.acceptance.faults.oracle import Oracle, WrongError, read
from tests.acceptance.faults.replay import Film, build, states
from tests.acceptance.faults.tracing import Watch

if TYPE_CHECKING:
    from pathlib import Path

    from tests.acceptance.faults.commands import Command
    from tests.acceptance.faults.nursery import Nursery
    from tests.acceptance.faults.replay import State

_AT_ONCE = Patience(quiet=0)


class _QuickDisk(Disk):
    """Waits for nothing: what is looked at is what it asks for after the power has come back."""

    def sync(self, descriptor: int) -> None: ...

    def sync_folder(self, path: str) -> None: ...


_DISK = _QuickDisk()


class PowerCuts:
    """A run of a command, to be cut short anywhere."""

    def __init__(self, command: Command, base: Path, nursery: Nursery, *, bug: str | None = None) -> None:
        self.command = command
        self.place = Place(base)
        self.place.prepare(command, nursery)
        self.before = read(self.place.config)
        self.place.restore()
        self.film = Film.of(self.place.base)
        watch = Watch()
        done = nursery.run(self.place.named(command.words), self.place.environ(), watch=watch, bug=bug)
        assert done.code == 0 or bug, done.stderr
        assert "not confirmed" not in done.said
        self.film.take(watch.calls())
        assert len(self.film.steps) > 15, "hardly anything was recorded"
        self.oracle = Oracle(self.before, read(self.place.config), moves=command.moves)
        self.tried = 0
        self.old = 0
        """How often nothing of the command was left in the end."""

    def try_all(self, *, share: int = 1, most: int = 1 << 30) -> list[str]:
        """Look at one in `share` of all that the disk may hold; return what was wrong, up to `most`."""
        wrong: list[str] = []
        for number, state in enumerate(states(self.film)):
            if len(wrong) >= most:
                break
            if number % share:
                continue
            self.tried += 1
            try:
                self._judge(state)
            except (WrongError, ClewError, OSError) as error:
                kind = "" if isinstance(error, WrongError) else f"{type(error).__name__}: "
                said = " and was told so" if state.is_told else ""
                last = self.film.steps[state.after - 1] if state.after else None
                wrong.append(
                    f"clew {' '.join(self.command.words)}, cut after {state.after} of {len(self.film.steps)} "
                    f"steps ({last!r:.160}){said}: {kind}{error}"
                )
        assert wrong or self.tried > 50, "hardly anything was tried"
        return wrong

    def _judge(self, state: State) -> None:
        build(self.film, state.contents)
        self.oracle.check_disturbed(read(self.place.config))
        if self.command.keeps:
            self.oracle.check_kept(read(self.place.base))
        journal = self.place.state / "clew"
        recover(journal, disk=_DISK, patience=_AT_ONCE)
        done = self.oracle.check_settled(read(self.place.config), runs=[0, 1])
        self.old += not done
        if state.is_told and not done:
            raise WrongError("it was reported as done, and is not")
        if self.command.keeps:
            self.oracle.check_kept(read(self.place.base))
        if any(entry.is_open for entry in entries(journal)):
            raise WrongError("it is still unfinished in the journal")
        if done and self.command.words[0] != "undo":
            undo(journal, now_ms=1, disk=_DISK, patience=_AT_ONCE)
            if read(self.place.config) != self.before:
                raise WrongError("it cannot be taken back as it was")
