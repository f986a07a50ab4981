"""A client that adds lines to one session, as fast as it is told.

    python -m tests.acceptance.faults.appender FILE SECONDS HOLD RATE

It opens the file anew for every line, or for HOLD seconds at a time; of some lines it writes one half and
after a while the other. Every line proves itself, so that whoever reads the file needs to know no more than
how many there are, which it prints in the end. It shares nothing with clew.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path

SESSION = "0a1b2c3d-0000-4000-8000-000000000001"


def is_bulk(number: int) -> bool:
    """Say whether a line is of a kind that no client reads again."""
    return number % 4 == 3


def line(number: int) -> bytes:
    """Return the line of a number."""
    said = f"line {number} {'x' * (number * 7 % 90)}"
    proof = hashlib.sha256(said.encode()).hexdigest()[:16]
    if is_bulk(number):
        record: dict[str, object] = {
            "type": "api-request",
            "sessionId": SESSION,
            "number": number,
            "p": proof,
        }
        return json.dumps(record).encode() + b"\n"
    before = next((n for n in range(number - 1, max(-1, number - 3), -1) if not is_bulk(n)), None)
    role = "user" if number % 4 == 0 else "assistant"
    message: dict[str, object] = {"role": role, "content": [{"type": "text", "text": f"{said} {proof}"}]}
    if role == "assistant":
        message |= {"id": f"msg_{number}", "model": "claude-sonnet-4-5", "usage": {"output_tokens": 1}}
    record = {
        "type": role,
        "parentUuid": None if before is None else f"uuid-{before}",
        "uuid": f"uuid-{number}",
        "isSidechain": False,
        "sessionId": SESSION,
        "cwd": "/home/ada/lighthouse",
        "version": "2.1.325",
        "timestamp": "2026-03-04T09:00:00.000Z",
        "message": message,
    }
    return json.dumps(record).encode() + b"\n"


class Hand:
    """Holds the file open for a while, or not at all."""

    def __init__(self, path: Path, hold: float) -> None:
        self.path, self.hold = path, hold
        self.descriptor, self.until = -1, 0.0

    def write(self, *parts: bytes) -> None:
        """Add to the file by one descriptor; a pause is made between the parts."""
        if self.descriptor < 0 or time.monotonic() >= self.until:
            self.let_go()
            self.descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            self.until = time.monotonic() + self.hold
        for number, part in enumerate(parts):
            if number:
                time.sleep(0.004)
            written = os.write(self.descriptor, part)
            assert written == len(part)

    def let_go(self) -> None:
        """Close it."""
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1


def main() -> None:
    path, seconds, hold, rate = Path(sys.argv[1]), *map(float, sys.argv[2:5])
    hand = Hand(path, hold)
    began = time.monotonic()
    number = 0
    while (passed := time.monotonic() - began) < seconds:
        if number > passed * rate:
            time.sleep(0.0005)
            continue
        whole = line(number)
        if number % 97 == 0:
            hand.write(whole[: len(whole) // 2], whole[len(whole) // 2 :])
        else:
            hand.write(whole)
        number += 1
    hand.let_go()
    print(number)


if __name__ == "__main__":
    main()
