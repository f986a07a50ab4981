"""Run the commands on a disk that has too little room left, more of it each time, until there is enough.

    python -m tests.acceptance.faults.little FOLDER

Has to be run where a file system can be mounted (`unshare -m`, or `unshare -rm` for those who are not root):
it puts a small one in memory at the folder. There, of a long line, the system takes as much as there is room
for, without a word.
"""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from tests.acceptance.faults.commands import COMMANDS, Command, long
from tests.acceptance.faults.nursery import Nursery
from tests.acceptance.faults.oracle import WrongError
from tests.acceptance.faults.points import Lab
from tests.acceptance.faults.tracing import Watch

SIZE = 1 << 20
PAGE = 4096
ROUNDS = 120


def try_all(command: Command, base: Path, nursery: Nursery) -> dict[str, object]:
    """Run a command with 0 pages of room, 1, 2 and so on until it succeeds; return the figures."""
    lab = Lab(command, base, nursery)
    wrong: list[str] = []
    short = 0
    for pages in range(ROUNDS):
        lab.place.restore()
        ballast = base / "ballast"
        with ballast.open("wb") as file:
            room = os.statvfs(base)
            file.write(bytes(max(0, room.f_bavail - pages) * PAGE))
        watch = Watch()
        done = lab.run(command.words, watch=watch)
        of = str(lab.place.base).encode()
        short += sum(
            call.result is not None and 0 < call.result < len(call.data or b"")
            for call in watch.calls()
            if call.is_of(of) and call.name == "write"
        )
        try:
            lab.judge(done, os.strerror(errno.ENOSPC))
            ballast.unlink()
            lab.go_on()
        except WrongError as error:
            wrong.append(f"clew {' '.join(command.words)} with {pages} pages left: {error}")
            ballast.unlink(missing_ok=True)
        if done.code == 0:
            return {"command": command.name, "pages": pages, "short": short, "wrong": wrong}
    raise AssertionError("there is never room enough")


def main() -> None:
    folder = Path(sys.argv[1])
    words = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "tmpfs", str(folder)]
    subprocess.run(words, check=True)
    chosen = [command for command in COMMANDS if command.name in {"clone", "strip --in-place"}]
    with Nursery() as nursery:
        found = [
            try_all(replace(command, session=long), folder / f"{number}", nursery)
            for number, command in enumerate(chosen)
        ]
    print(json.dumps(found))


if __name__ == "__main__":
    main()
