"""A client that never rests: writes session files in every way they are written, and keeps its own log.

    python -m tests.acceptance.live_writer PROJECT SECONDS SEED LOG [--rate N]

The log tells of every record that ever stood in a file as a finished line when it did, by this program's own
doing: from after it was written to before it was taken away. It shares nothing with clew.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import time
from dataclasses import dataclass, field
from pathlib import Path

Log = dict[str, list[list[float]]]


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@dataclass
class Line:
    """One finished line."""

    name: str
    raw: bytes


@dataclass
class File:
    """One session file, with what stands in it by this program's own account."""

    path: Path
    session: str
    log: Log
    dice: random.Random
    is_agent: bool = False
    holds_open: bool = False
    lines: list[Line] = field(default_factory=list[Line])
    made: int = 0
    _descriptor: int = -1

    def new_line(self) -> Line:
        """Make a record that no one has written before, and whose text proves itself."""
        self.made += 1
        name = f"{self.path.stem}-{self.made:07}"
        # Mostly of one length: then other lines come to stand at the very places of those taken away.
        filling = "x" * (self.dice.randrange(400) if self.dice.random() < 0.05 else 60)
        said = f"{name} {filling}"
        text = f"{said} {digest(said)}"
        record = {
            "type": "user" if self.made % 7 == 0 else "assistant",
            "sessionId": self.session,
            "isSidechain": self.is_agent,
            "cwd": "/home/ada/lighthouse",
            "timestamp": "2026-03-04T09:00:00.000Z",
            "message": {"role": "user", "content": [{"type": "text", "text": text}]},
        }
        if self.made % 11:
            record["uuid"] = f"{name}-uuid"
        return Line(name, json.dumps(record).encode() + b"\n")

    def write(self, *parts: bytes, wait: float = 0.0) -> None:
        """Append, as clients do: by a descriptor that is held, or by one for each line."""
        for number, part in enumerate(parts):
            if number:
                time.sleep(wait)
            if not self.holds_open:
                with self.path.open("ab") as file:
                    file.write(part)
                continue
            if self._descriptor < 0:
                self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            view = memoryview(part)
            while view:
                view = view[os.write(self._descriptor, view) :]

    def appear(self, lines: list[Line]) -> None:
        now = time.monotonic()
        for line in lines:
            self.log.setdefault(line.name, []).append([now, -1.0])

    def vanish(self, lines: list[Line]) -> None:
        now = time.monotonic()
        for line in lines:
            for stood in self.log[line.name]:
                if stood[1] < 0:
                    stood[1] = now
                    break

    def append(self) -> None:
        line = self.new_line()
        self.write(line.raw)
        self.lines.append(line)
        self.appear([line])

    def torn(self) -> None:
        """Write a line in two parts with a pause between them, now and then a long one."""
        line = self.new_line()
        cut = self.dice.randrange(1, len(line.raw))
        wait = 0.35 if self.dice.random() < 0.05 else self.dice.random() * 0.03
        self.write(line.raw[:cut], line.raw[cut:], wait=wait)
        self.lines.append(line)
        self.appear([line])

    def again(self) -> None:
        """Append lines that were written before once more, as compactions have done."""
        for line in self.dice.sample(self.lines, min(len(self.lines), 20)):
            self.write(line.raw)
            self.lines.append(line)
            self.appear([line])

    def rewrite(self) -> None:
        """Cut the last lines away; write them again, or others, or some of each, or nothing."""
        most = 800 if self.dice.random() < 0.1 else 60
        count = min(len(self.lines), self.dice.randrange(1, most))
        kept, cut = self.lines[:-count], self.lines[-count:]
        how = self.dice.choice(["same", "others", "mixed", "fewer", "nothing"])
        back: list[Line] = []
        for line in cut:
            is_back = how == "same" or (how in {"mixed", "fewer"} and self.dice.random() < 0.5)
            if is_back:
                back.append(line)
            elif how in {"others", "mixed"}:
                back.append(self.new_line())
        size = sum(len(line.raw) for line in kept)
        self.vanish(cut)
        os.truncate(self.path, size)
        self.lines = kept
        if self.dice.random() < 0.5:
            time.sleep(0.35 if self.dice.random() < 0.05 else self.dice.random() * 0.02)
        data = b"".join(line.raw for line in back)
        if data:
            middle = self.dice.randrange(len(data))
            self.write(data[:middle], data[middle:], wait=self.dice.choice([0.0, 0.0, 0.01]))
        self.lines += back
        self.appear(back)

    def replace(self) -> None:
        """Put another file in place of this one: without some lines, with others, or just the same."""
        how = self.dice.choice(["same", "fewer", "other end", "inserted"])
        lines = list(self.lines)
        if how == "fewer":
            lines = [line for line in lines if self.dice.random() < 0.999]
        elif how == "other end":
            lines = lines[: len(lines) - min(len(lines), 30)] + [self.new_line() for _ in range(30)]
        elif how == "inserted" and lines:
            place = self.dice.randrange(len(lines))
            lines[place:place] = [self.new_line() for _ in range(3)]
        aside = self.path.with_suffix(".tmp")
        aside.write_bytes(b"".join(line.raw for line in lines))
        old, names = self.lines, {line.name for line in lines}
        self.vanish([line for line in old if line.name not in names])
        aside.replace(self.path)
        before = {line.name for line in old}
        self.appear([line for line in lines if line.name not in before])
        self.lines = lines
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("project", type=Path)
    parser.add_argument("seconds", type=float)
    parser.add_argument("seed", type=int)
    parser.add_argument("log", type=Path)
    parser.add_argument("--rate", type=float, default=1000)
    given = parser.parse_args()
    dice = random.Random(given.seed)
    log: Log = {}
    main_id = "aaaaaaaa-0000-4000-8000-000000000001"
    main_file = File(given.project / f"{main_id}.jsonl", main_id, log, dice, holds_open=given.seed % 2 == 1)
    files = [main_file]
    given.project.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    written = calm = 0
    while (passed := time.monotonic() - started) < given.seconds:
        if len(files) == 1 and passed > given.seconds / 4:
            place = given.project / main_id / "subagents"
            place.mkdir(parents=True)
            files.append(File(place / "agent-bbbb0001.jsonl", main_id, log, dice, is_agent=True))
        if len(files) == 2 and passed > given.seconds / 2:
            other = "cccccccc-0000-4000-8000-000000000002"
            files.append(File(given.project / f"{other}.jsonl", other, log, dice, holds_open=True))
        due = int(passed * given.rate)
        if written >= due:
            time.sleep(0.001)
            continue
        file = main_file if dice.random() < 0.9 else dice.choice(files)
        # Calm stretches let some records stand long before they are taken away.
        if calm > 0:
            calm -= 1
            deed = 1.0
        else:
            deed = dice.random()
        before = file.made
        if deed < 0.012 and file.lines:
            file.rewrite()
            calm = dice.choice([0] * 12 + [100, 300, 2500 if passed > 10 else 400])
        elif deed < 0.014 and file.lines:
            file.replace()
        elif deed < 0.015 and file.lines:
            file.again()
        elif deed < 0.04:
            file.torn()
        else:
            file.append()
        written += max(1, file.made - before)
    ended = time.monotonic()
    standing = {str(file.path): [line.name for line in file.lines] for file in files}
    document = {"ended": ended, "seconds": ended - started, "records": log, "standing": standing}
    given.log.write_text(json.dumps(document))


if __name__ == "__main__":
    main()
