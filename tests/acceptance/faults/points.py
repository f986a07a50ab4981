"""Disturb a command at every one of its calls to the system, and judge what it leaves and what comes next."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from errno import EDQUOT, EINTR, EIO, ENOSPC
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.acceptance.faults.commands import Place
from tests.acceptance.faults.oracle import Oracle, WrongError, is_hidden, read, visible
from tests.acceptance.faults.tracing import Injection, Watch

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from tests.acceptance.faults.commands import Command
    from tests.acceptance.faults.nursery import Ended, Nursery
    from tests.acceptance.faults.tracing import Error

# What can be refused by a disk that is full or broken.
MAY_FAIL = re.compile(r"write|pwrite64|fsync|fdatasync|open(at)?|rename(at2?)?|link(at)?")
MUST_SAY = re.compile(r"fsync|fdatasync|rename(at2?)?")
NOT_SURE = "durability not confirmed"
NO_CHANGE = "nothing was changed"
_CAUSES = {
    "ENOSPC": os.strerror(ENOSPC),
    "EIO": os.strerror(EIO),
    "EDQUOT": os.strerror(EDQUOT),
    "EINTR": os.strerror(EINTR),
}
_TRIES = 8
"""How often a fault is tried until it meets its call: on a busy machine another call may come between."""


class Point(NamedTuple):
    """A call of a command: the how manieth of its name on the files that matter."""

    name: str
    number: int


class Fault(NamedTuple):
    """What happens at a point."""

    point: Point
    error: Error | None = None
    """None: the process is killed."""

    for_ever: bool = False

    def __str__(self) -> str:
        what = "killed" if self.error is None else f"{self.error}{' from then on' if self.for_ever else ''}"
        return f"{what} at {self.point.name} {self.point.number}"


class MissedError(Exception):
    """The call that was to be disturbed was another one: the program was changed meanwhile."""


class Lab:
    """A command and the place it is disturbed in."""

    def __init__(self, command: Command, base: Path, nursery: Nursery) -> None:
        self.command = command
        self.nursery = nursery
        self.place = Place(base)
        self.place.prepare(command, nursery)
        before = read(self.place.config)
        self._record()
        after = read(self.place.config)
        self._last_code = self.run(command.words).code
        """How the command ends when it has been done already: there may be nothing left to do."""

        self.oracle = Oracle(before, after, read(self.place.config), moves=command.moves)
        self.tally: Counter[str] = Counter()
        """How often what came of it."""

        # What comes out must be the same in every run, or nothing could be compared with it.
        self._record()
        self.oracle.check_settled(read(self.place.config), runs=[1])

    def _record(self) -> None:
        """Run the command undisturbed; remember which of its calls are about the files that matter."""
        self.place.restore()
        watch = Watch()
        done = self.run(self.command.words, watch=watch)
        assert done.code == 0, done.stderr
        base = str(self.place.base).encode()
        self.points: dict[Point, tuple[int, object]] = {}
        counts: Counter[str] = Counter()
        mine = [call for call in watch.calls() if call.is_of(base)]
        assert len({call.pid for call in mine}) == 1, "calls are counted for one process"
        for call in mine:
            counts[call.name] += 1
            self.points[Point(call.name, counts[call.name])] = (call.number, call.told(base))
        assert len(self.points) > 40, "hardly anything was recorded"

    def run(
        self,
        words: Sequence[str],
        *,
        watch: Watch | None = None,
        largest: int | None = None,
        stdout: str | None = None,
    ) -> Ended:
        """Run a command here."""
        return self.nursery.run(
            self.place.named(words), self.place.environ(), watch=watch, largest=largest, stdout=stdout
        )

    def faults(self, errors: Iterable[Error]) -> list[Fault]:
        """Return every error at every call that can meet one, once and from then on."""
        points = [point for point in self.points if MAY_FAIL.fullmatch(point.name)]
        return [Fault(point, error, ever) for point in points for error in errors for ever in (False, True)]

    def kills(self) -> list[Fault]:
        """Return every call as the last one."""
        return [Fault(point) for point in self.points]

    def try_all(self, faults: Sequence[Fault]) -> list[str]:
        """Disturb the command in all these ways; return what was wrong."""
        wrong: list[str] = []
        for fault in faults:
            try:
                self.attempt(fault)
            except WrongError as error:
                wrong.append(f"clew {' '.join(self.command.words)}, {fault}: {error}")
        return wrong

    def attempt(self, fault: Fault) -> None:
        """Disturb the command once, and judge it."""
        for _ in range(_TRIES):
            try:
                done, is_mute = self._disturb(fault)
            except MissedError:
                self._record()
            else:
                break
        else:
            raise WrongError("it was never met")
        if fault.error is None:
            self.tally["killed"] += 1
            self.oracle.check_disturbed(read(self.place.config))
        else:
            self.judge(
                done,
                _CAUSES[fault.error],
                must_say=fault.error != "EINTR" and MUST_SAY.fullmatch(fault.point.name) is not None,
                is_mute=is_mute,
                for_ever=fault.for_ever,
            )
        if self.command.keeps:
            self.oracle.check_kept(read(self.place.base))
        self.go_on()

    def _disturb(self, fault: Fault) -> tuple[Ended, bool]:
        """Run the command so; return also whether it could not say anything."""
        self.place.restore()
        if fault.point not in self.points:
            raise MissedError
        number, expected = self.points[fault.point]
        injection = Injection(fault.point.name, number, fault.error, fault.for_ever)
        watch = Watch(injection)
        done = self.run(self.command.words, watch=watch)
        base = str(self.place.base).encode()
        calls = watch.calls()
        met = [call for call in calls if call.number == number and call.told(base) == expected]
        if not met:
            raise MissedError
        if fault.error is None and done.code != -9:
            raise WrongError(f"it was to be killed and ended with {done.code}")
        if fault.error is not None and not met[0].is_injected:
            raise WrongError("the error was not injected")
        return done, any(call.descriptor == 2 and call.is_injected for call in calls)

    def judge(
        self, done: Ended, cause: str, *, must_say: bool = False, is_mute: bool = False, for_ever: bool = True
    ) -> None:
        """Judge how a command took an error; `must_say` if it cannot be sure of its work after that."""
        tree = read(self.place.config)
        said = done.said
        self.oracle.check_disturbed(tree)
        if done.code == 0:
            self.tally["got over"] += 1
            self.oracle.check_settled(visible(tree), runs=[1])
            if NOT_SURE in said:
                self.tally["not sure"] += 1
            elif must_say:
                raise WrongError(f"it does not say that it is not sure to last: {said!r}")
            return
        self.tally["failed"] += 1
        if done.code < 0 or "Traceback" in said:
            raise WrongError(f"it ended with {done.code}: {said[-700:]!r}")
        if is_mute:
            return
        if cause.lower() not in said.lower():
            raise WrongError(f"the cause is not named: {said!r}")
        if str(self.place.base) not in said:
            raise WrongError(f"no file is named: {said!r}")
        if NO_CHANGE in said:
            try:
                self.oracle.check_settled(visible(tree) if for_ever else tree, runs=[0])
            except WrongError as wrong:
                raise WrongError(
                    f"it says that nothing was changed, and that is not so: {wrong}; {said!r}"
                ) from wrong

    def go_on(self) -> None:
        """Run the command again and take back what was done: all must work, and nothing may be left over."""
        ended = self.run(self.command.words)
        tree = read(self.place.config)
        if ended.code not in {0, self._last_code}:
            raise WrongError(f"the next run failed with {ended.code}: {ended.stderr[-700:]}")
        many = self.oracle.check_settled(tree, runs=[1, 2])
        self.tally[f"done {'once' if many == 1 else 'twice'} in the end"] += 1
        self._check_journal()
        if self.command.words[0] == "undo":
            return
        for _ in range(2):
            ended = self.run(["undo"])
            if ended.code:
                raise WrongError(f"it cannot be taken back: {ended.stderr}")
            if read(self.place.config) == self.oracle.before:
                break
        else:
            self.oracle.check_settled(read(self.place.config), runs=[0])
            raise WrongError("what was taken back is not byte for byte as it was")
        self._check_journal()

    def _check_journal(self) -> None:
        ended = self.run(["journal", "--json"])
        if ended.code:
            raise WrongError(f"clew journal failed: {ended.stderr}")
        entries: list[dict[str, Any]] = json.loads(ended.stdout)
        for entry in entries:
            if entry["state"] not in {"done", "undone", "rolled-back"}:
                raise WrongError(f"the journal has {entry['state']}")
        kept = read(self.place.state)
        left = [name for name in kept if is_hidden(name) or re.match(r"incoming/.", name)]
        if left:
            raise WrongError(f"left in the journal: {left}")


def sample(faults: Sequence[Fault], share: int, start: int) -> list[Fault]:
    """Return one fault in `share`, the same ones every time, of every kind that there is."""
    return sorted(faults, key=str)[start % share :: share]
