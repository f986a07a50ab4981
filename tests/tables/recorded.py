"""The files that come with the tests, read; and what plain code reads in them."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from clew.session.session import Session
from clew.tables.rows import Home
from tests.session.recorded import CORPUS

if TYPE_CHECKING:
    from pathlib import Path

DATA = CORPUS.parent
RECORDED = sorted(CORPUS.glob("*/*/projects/**/*.jsonl"))
MADE = sorted(DATA.glob("made/**/*.jsonl"))
Json = dict[str, Any]
AT = Home("s1")


@cache
def read(path: Path) -> Session:
    return Session.read(path.read_bytes(), name=path.stem)


def home(path: Path) -> Home:
    agent = path.stem.removeprefix("agent-") if path.stem.startswith("agent-") else None
    return Home(path.stem, agent)


def lines(path: Path) -> list[Json]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line.strip()]
