"""Commands that write, killed, refused and cut off from the power wherever it hurts.

Every command that writes is disturbed at its calls to the system, by the system: see `faults`. Outside of
soak a sample of one in ten is tried.
"""

from __future__ import annotations

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.faults.commands import COMMANDS, Command, missing
from tests.acceptance.faults.nursery import Nursery
from tests.acceptance.faults.oracle import Oracle, WrongError, kinds
from tests.acceptance.faults.points import Lab, sample
from tests.acceptance.faults.power import PowerCuts
from tests.acceptance.faults.seeded import BUGS
from tests.acceptance.faults.tracing import ERRORS, parse, strace

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.acceptance.faults.points import Fault

ROOT = Path(__file__).resolve().parent.parent.parent
SHARE = 10
"""One in so many is tried outside of soak."""

MAIN = COMMANDS[:2]
each_command = pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.name)


@pytest.fixture(scope="module")
def nurseries() -> Iterator[list[Nursery]]:
    """Two, to work at the same time."""
    with Nursery() as one, Nursery() as other:
        yield [one, other]


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory if there is such a thing: what is tried here does not depend on a real disk."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(dir=memory, prefix="clew-"))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def disturb(
    command: Command, base: Path, nurseries: list[Nursery], choose: Callable[[Lab], list[Fault]]
) -> None:
    """Disturb a command in the ways that are chosen, two at a time; print the figures."""
    began = time.monotonic()
    labs = [Lab(command, base / str(number), nursery) for number, nursery in enumerate(nurseries)]
    chosen = choose(labs[0])
    assert chosen
    with ThreadPoolExecutor(len(labs)) as pool:
        parts = [chosen[number :: len(labs)] for number in range(len(labs))]
        wrong = [one for found in pool.map(Lab.try_all, labs, parts) for one in found]
    tally = sum((lab.tally for lab in labs), Counter[str]())
    told = ", ".join(f"{count} {what}" for what, count in sorted(tally.items()) if count)
    seconds = time.monotonic() - began
    print(
        f"\n{command.name}: {len(labs[0].points)} calls, {len(chosen)} faults in {seconds:.0f} s: {told}; "
        f"{len(wrong)} wrong"
    )
    assert tally["killed"] + tally["failed"] + tally["got over"] + len(wrong) >= len(chosen)
    assert not wrong, f"{len(wrong)} of {len(chosen)}:\n{kinds(wrong)}"


def test_every_command_that_edits_is_disturbed() -> None:
    assert missing() == []


@pytest.mark.acceptance
def test_strace_is_there() -> None:
    assert subprocess.run([strace(), "-V"], check=True, capture_output=True).stdout


@pytest.mark.acceptance
@each_command
def test_a_command_killed_at_any_call_leaves_what_the_next_one_puts_right(
    command: Command, base: Path, nurseries: list[Nursery]
) -> None:
    start = COMMANDS.index(command)
    disturb(command, base, nurseries, lambda lab: sample(lab.kills(), SHARE, start))


@pytest.mark.acceptance
@each_command
def test_a_command_that_meets_an_error_changes_nothing_or_all_and_says_why(
    command: Command, base: Path, nurseries: list[Nursery]
) -> None:
    start = COMMANDS.index(command)
    disturb(command, base, nurseries, lambda lab: sample(lab.faults(ERRORS), SHARE, start))


@pytest.mark.soak
@each_command
def test_a_command_killed_at_every_call_leaves_what_the_next_one_puts_right(
    command: Command, base: Path, nurseries: list[Nursery]
) -> None:
    disturb(command, base, nurseries, Lab.kills)


@pytest.mark.soak
@each_command
def test_a_command_that_meets_every_error_changes_nothing_or_all_and_says_why(
    command: Command, base: Path, nurseries: list[Nursery]
) -> None:
    disturb(command, base, nurseries, lambda lab: lab.faults(ERRORS))


def cut(command: Command, base: Path, nurseries: list[Nursery], *, share: int = 1) -> None:
    """Cut the power at every moment of a command; of what the disk may hold then, look at one in `share`."""
    cuts = PowerCuts(command, base, nurseries[0])
    wrong = cuts.try_all(share=share)
    print(
        f"\n{command.name}: {len(cuts.film.steps)} steps, {cuts.tried} states, in {cuts.old} of them nothing "
        f"was done; {len(wrong)} wrong"
    )
    assert 0 < cuts.old < cuts.tried
    assert not wrong, f"{len(wrong)} of {cuts.tried}:\n{kinds(wrong)}"


@pytest.mark.acceptance
@each_command
def test_a_power_cut_at_any_moment_leaves_what_the_next_run_puts_right(
    command: Command, base: Path, nurseries: list[Nursery]
) -> None:
    cut(command, base, nurseries, share=1 if command in MAIN else 3)


@pytest.mark.soak
@each_command
def test_a_power_cut_at_every_moment_leaves_what_the_next_run_puts_right(
    command: Command, base: Path, nurseries: list[Nursery]
) -> None:
    cut(command, base, nurseries)


@pytest.mark.acceptance
@pytest.mark.parametrize("command", MAIN, ids=lambda command: command.name)
@pytest.mark.parametrize("bug", BUGS)
def test_a_mistake_of_the_writer_is_found(
    command: Command, bug: str, base: Path, nurseries: list[Nursery]
) -> None:
    """What the program does right must be the reason that nothing is found, not the one who looks."""
    cuts = PowerCuts(command, base, nurseries[0], bug=bug)
    wrong = cuts.try_all(most=20)
    print(f"\n{bug} in {command.name}: {len(wrong)} of the first {cuts.tried} states are wrong")
    assert wrong


@pytest.mark.acceptance
@pytest.mark.parametrize("command", MAIN, ids=lambda command: command.name)
def test_a_file_that_may_not_grow_is_written_wholly_or_not_at_all(
    command: Command, base: Path, nurseries: list[Nursery]
) -> None:
    """The system takes as much of a writing as the limit has room for, and refuses the rest."""
    lab = Lab(command, base, nurseries[0])
    largest = max(len(data) for data in lab.oracle.after.values())
    for limit in range(0, largest + 701, 700):
        lab.place.restore()
        done = lab.run(command.words, largest=limit)
        lab.judge(done, os.strerror(errno.EFBIG))
        lab.go_on()
    assert lab.tally["failed"] > 5
    assert lab.tally["got over"]


@pytest.mark.acceptance
def test_a_disk_without_room_is_written_wholly_or_not_at_all(base: Path) -> None:
    """In a file system of its own, for which root, or a user who may play root, is needed."""
    ways = (["unshare", "-m"], ["unshare", "-rm"])
    tried = [subprocess.run([*way, "true"], check=False, capture_output=True).returncode for way in ways]
    assert 0 in tried, "nothing can be mounted here"
    words = [*ways[tried.index(0)], sys.executable, "-m", "tests.acceptance.faults.little", str(base)]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for found in json.loads(done.stdout):
        print(f"\n{found['command']}: up to {found['pages']} pages left, {found['short']} short writes")
        assert found["pages"] > 5
        assert found["short"] > 3
        assert not found["wrong"], found["wrong"]


@pytest.mark.acceptance
@each_command
def test_a_command_that_cannot_say_what_it_did_has_done_it_and_fails(
    command: Command, base: Path, nurseries: list[Nursery]
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    lab = Lab(command, base, nurseries[0])
    lab.place.restore()
    done = lab.run(command.words, stdout="/dev/full")
    assert done.code > 0
    assert os.strerror(errno.ENOSPC).lower() in done.stderr.lower()
    assert "Traceback" not in done.stderr
    lab.go_on()


# --- those who judge ----------------------------------------------------------------------------------------

OLD = "0a1b2c3d-0000-4000-8000-000000000001"
NEW = "11111111-0000-4000-8000-000000000001"
OTHER = "22222222-0000-4000-8000-000000000002"


def test_the_judge_tells_the_old_and_the_new_from_the_torn() -> None:
    main, side = f"projects/p/{OLD}.jsonl", f"projects/p/{OLD}/r.txt"
    before = {main: b"old\n" + OLD.encode(), side: b"side"}
    made = {f"projects/p/{NEW}.jsonl": b"new\n" + NEW.encode(), f"projects/p/{NEW}/r.txt": b"side"}
    again = {f"projects/p/{OTHER}.jsonl": b"new\n" + OTHER.encode(), f"projects/p/{OTHER}/r.txt": b"side"}
    oracle = Oracle(before, before | made, before | made | again)
    assert oracle.check_settled(before, runs=[0, 1]) == 0
    assert oracle.check_settled(before | again, runs=[0, 1]) == 1
    assert oracle.check_settled(before | made | again, runs=[1, 2]) == 2
    hidden = {"projects/p/.20260304-090000-abcdef-0.clew-new": b"ne"}
    first = {f"projects/p/{OTHER}/r.txt": b"side"}
    for fine in (before, before | again, before | hidden, before | first):
        oracle.check_disturbed(fine)
    for wrong in (
        before | {f"projects/p/{OTHER}.jsonl": b"ne"},
        before | {f"projects/p/{OTHER}.jsonl": b"new\n" + OTHER.encode()},
        before | {main: b"old"},
        before | {main: bytes(len(before[main]))},
        before | {"projects/p/.hidden.jsonl": b"x"},
        {side: b"side"},
        {**before, side: b""},
    ):
        with pytest.raises(WrongError):
            oracle.check_disturbed(wrong)
    for wrong in (before | hidden, before | first, before | {"projects/p/empty/": b""}, made):
        with pytest.raises(WrongError):
            oracle.check_settled(wrong, runs=[0, 1, 2])
    oracle.check_kept({"elsewhere": before[main], "there": b"side"})
    with pytest.raises(WrongError):
        oracle.check_kept({"elsewhere": before[main][:-1], "there": b"side"})


def test_a_log_is_read_as_it_was_written() -> None:
    def hexed(text: str) -> str:
        return "".join(f"\\x{byte:02x}" for byte in text.encode())

    lines = [
        f'7 openat(AT_FDCWD<{hexed("/x")}>, "{hexed("/b/f")}", O_WRONLY|O_CREAT, 0600) = 3<{hexed("/b/f")}>',
        f'7 write(3<{hexed("/b/f")}>, "{hexed("a) = 1")}", 6) = 5',
        f'7 write(3<{hexed("/b/f")}>, "{hexed("b")}", 1) = -1 EIO (Input/output error) (INJECTED)',
        "7 --- SIGCHLD {si_signo=SIGCHLD} ---",
        f'7 rename("{hexed("/b/f")}", "{hexed("/b/g")}" <unfinished ...>',
        "7 <... rename resumed>) = 0",
        f'7 unlink("{hexed("/b/g")}" <unfinished ...>',
        "7 +++ killed by SIGKILL +++",
    ]
    opened, short, failed, renamed, last = parse(lines)
    assert (opened.paths, opened.result, opened.number) == ((b"/b/f",), 3, 1)
    assert (short.data, short.result, short.descriptor, short.error) == (b"a) = 1", 5, 3, None)
    assert (failed.number, failed.result, failed.error, failed.is_injected) == (2, -1, "EIO", True)
    assert (renamed.paths, renamed.result) == ((b"/b/f", b"/b/g"), 0)
    assert (last.name, last.paths, last.result) == ("unlink", (b"/b/g",), None)
    assert opened.is_of(b"/b")
    assert not opened.is_of(b"/x")
