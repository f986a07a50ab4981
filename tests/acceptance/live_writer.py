"""A client that never rests: writes session files in every way they are written, and keeps its own log.

    python -m tests.acceptance.live_writer PROJECT SECONDS SEED LOG [--rate N]

The log tells of every record that ever stood in a file as a finished line when it did, by this program's own
doing, and how long each file was. It shares nothing with clew. `live_truth` reads it.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

Log = dict[str, list[list[float]]]
"""By record, for each time that it stood in a file: from when and to when it did for sure (after it was
written, before it was taken away), and from when and to when it may have. -1 for what did not happen yet."""

Sizes = dict[str, list[list[float]]]
"""By file, for each change of its size: before it was made, after it was made, the size from then on."""

_PER_LOT = 100


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def lot_word(stem: str, number: int) -> str:
    """Return the word that the lines of one lot of a file have in common, and no others."""
    return f"lot{stem.removeprefix('agent-')[:2]}{number:05}"


def lot_of(name: str) -> str:
    """Return the word by which a record is found."""
    stem, _, number = name.rpartition("-")
    return lot_word(stem, int(number) // _PER_LOT)


def is_answer(name: str) -> bool:
    """Say whether a record is one of the model."""
    return int(name.rpartition("-")[2]) % 7 != 0


def tokens_of(name: str) -> int:
    """Return how many tokens the model gave out for a record."""
    return int(name.rpartition("-")[2]) % 50 + 10 if is_answer(name) else 0


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
    sizes: list[list[float]]
    dice: random.Random
    is_agent: bool = False
    holds_open: bool = False
    lines: list[Line] = field(default_factory=list[Line])
    made: int = 0
    size: int = 0
    _descriptor: int = -1

    def new_line(self) -> Line:
        """Make a record that no one has written before, and whose text proves itself."""
        self.made += 1
        name = f"{self.path.stem}-{self.made:07}"
        # Mostly of one length: then other lines come to stand at the very places of those taken away.
        filling = "x" * (self.dice.randrange(1, 400) if self.dice.random() < 0.05 else 60)
        said = f"{name} {lot_of(name)} {filling}"
        text = f"{said} {digest(said)}"
        message: dict[str, object] = {"role": "user", "content": [{"type": "text", "text": text}]}
        if is_answer(name):
            usage = {"input_tokens": 3, "output_tokens": tokens_of(name)}
            message |= {
                "role": "assistant",
                "id": f"msg_{name}",
                "model": "claude-sonnet-4-5",
                "usage": usage,
            }
        record: dict[str, object] = {
            "type": message["role"],
            "sessionId": self.session,
            "isSidechain": self.is_agent,
            "cwd": "/home/ada/lighthouse",
            "timestamp": "2026-03-04T09:00:00.000Z",
            "message": message,
        }
        if self.made % 11:
            record["uuid"] = f"{name}-uuid"
        return Line(name, json.dumps(record).encode() + b"\n")

    def write(self, *parts: bytes, wait: float = 0.0) -> None:
        """Append, as clients do: by a descriptor that is held, or by one for each line."""
        for number, part in enumerate(parts):
            if number:
                time.sleep(wait)
            begun = time.monotonic()
            self._append(part)
            self.resized(begun, self.size + len(part))

    def _append(self, part: bytes) -> None:
        if not self.holds_open:
            with self.path.open("ab") as file:
                file.write(part)
            return
        if self._descriptor < 0:
            self._descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        view = memoryview(part)
        while view:
            view = view[os.write(self._descriptor, view) :]

    def resized(self, begun: float, size: int) -> None:
        self.size = size
        self.sizes.append([begun, time.monotonic(), size])

    def appear(self, lines: list[Line], begun: float) -> None:
        now = time.monotonic()
        for line in lines:
            self.log.setdefault(line.name, []).append([now, -1.0, begun, -1.0])

    def vanish(self, lines: list[Line]) -> list[list[float]]:
        """Take note that lines are about to go; what is returned is told to `gone` when they are."""
        now = time.monotonic()
        leaving: list[list[float]] = []
        for line in lines:
            stood = next(stood for stood in self.log[line.name] if stood[1] < 0)
            stood[1] = now
            leaving.append(stood)
        return leaving

    def gone(self, leaving: list[list[float]]) -> None:
        now = time.monotonic()
        for stood in leaving:
            stood[3] = now

    def append(self) -> None:
        line, begun = self.new_line(), time.monotonic()
        self.write(line.raw)
        self.lines.append(line)
        self.appear([line], begun)

    def torn(self) -> None:
        """Write a line in two parts with a pause between them, now and then a long one."""
        line, begun = self.new_line(), time.monotonic()
        cut = self.dice.randrange(1, len(line.raw))
        wait = 0.35 if self.dice.random() < 0.05 else self.dice.random() * 0.03
        self.write(line.raw[:cut], line.raw[cut:], wait=wait)
        self.lines.append(line)
        self.appear([line], begun)

    def again(self) -> None:
        """Append lines that were written before once more, as compactions have done."""
        for line in self.dice.sample(self.lines, min(len(self.lines), 20)):
            begun = time.monotonic()
            self.write(line.raw)
            self.lines.append(line)
            self.appear([line], begun)

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
        leaving, begun = self.vanish(cut), time.monotonic()
        os.truncate(self.path, size)
        self.gone(leaving)
        self.resized(begun, size)
        self.lines = kept
        if self.dice.random() < 0.5:
            time.sleep(0.35 if self.dice.random() < 0.05 else self.dice.random() * 0.02)
        data, begun = b"".join(line.raw for line in back), time.monotonic()
        if data:
            middle = self.dice.randrange(len(data))
            self.write(data[:middle], data[middle:], wait=self.dice.choice([0.0, 0.0, 0.01]))
        self.lines += back
        self.appear(back, begun)

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
        size, begun = aside.stat().st_size, time.monotonic()
        leaving = self.vanish(_without(self.lines, lines))
        aside.replace(self.path)
        self.gone(leaving)
        self.resized(begun, size)
        self.appear(_without(lines, self.lines), begun)
        self.lines = lines
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _without(lines: list[Line], others: list[Line]) -> list[Line]:
    """Return the lines that are not among others; of one that stands there more often, so many more."""
    left = Counter(line.name for line in others)
    found: list[Line] = []
    for line in lines:
        if left[line.name]:
            left[line.name] -= 1
        else:
            found.append(line)
    return found


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
    sizes: Sizes = {}

    def new_file(path: Path, session: str, *, is_agent: bool = False, holds_open: bool = False) -> File:
        changes = sizes.setdefault(str(path), [])
        return File(path, session, log, changes, dice, is_agent=is_agent, holds_open=holds_open)

    main_id = "aaaaaaaa-0000-4000-8000-000000000001"
    main_file = new_file(given.project / f"{main_id}.jsonl", main_id, holds_open=given.seed % 2 == 1)
    files = [main_file]
    given.project.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    written = calm = 0
    while (passed := time.monotonic() - started) < given.seconds:
        if len(files) == 1 and passed > given.seconds / 4:
            place = given.project / main_id / "subagents"
            place.mkdir(parents=True)
            files.append(new_file(place / "agent-bbbb0001.jsonl", main_id, is_agent=True))
        if len(files) == 2 and passed > given.seconds / 2:
            other = "cccccccc-0000-4000-8000-000000000002"
            files.append(new_file(given.project / f"{other}.jsonl", other, holds_open=True))
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
    document = {
        "ended": ended,
        "seconds": ended - started,
        "records": log,
        "standing": standing,
        "sizes": sizes,
    }
    given.log.write_text(json.dumps(document))


if __name__ == "__main__":
    main()
