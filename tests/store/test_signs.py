"""Which sessions of a list are live."""

from __future__ import annotations

import json
import os
from pathlib import Path

from clew.store.files import Store
from clew.store.signs import RECENT, signs_of_life
from tests.store.lines import ONE, TWO, lines, put

NOW = 1_000_000.0


def live(root: Path) -> set[str]:
    store = Store.at([str(root)])
    is_live = signs_of_life(store, now=NOW)
    return {file.id for file in store.listing().sessions if is_live(file)}


def written(root: Path, id_: str, ago: float) -> None:
    path = put(root / "projects" / "-p" / f"{id_}.jsonl", lines(2))
    os.utime(path, (NOW - ago, NOW - ago))


def test_what_was_written_a_moment_ago_is_live(tmp_path: Path) -> None:
    written(tmp_path, ONE, RECENT - 1)
    written(tmp_path, TWO, RECENT + 1)
    assert live(tmp_path) == {ONE}


def test_what_a_running_client_says_it_is_at_is_live_however_old(tmp_path: Path) -> None:
    written(tmp_path, ONE, 10 * RECENT)
    written(tmp_path, TWO, 10 * RECENT)
    assert live(tmp_path) == set()
    start = Path(f"/proc/{os.getpid()}/stat").read_text().rpartition(")")[2].split()[19]
    said = {"sessionId": TWO, "pid": os.getpid(), "procStart": start}
    put(tmp_path / "sessions" / f"{os.getpid()}.json", json.dumps(said).encode())
    assert live(tmp_path) == {TWO}
