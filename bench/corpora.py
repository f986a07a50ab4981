"""The corpora a run needs, made once and kept in the cache folder by everything that decides their bytes."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.generate import VERSION, Kind, Recipe, generate, one_session
from bench.installing import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

SESSION_ID = "c1e70000-0000-4000-a000-00000000b16f"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A store of many sessions with its truth."""

    name: str
    root: Path
    truth: dict[str, Any]

    @property
    def sessions(self) -> list[Path]:
        """The files of sessions, not of their sub-agents, the smallest first."""
        files: dict[str, dict[str, int]] = self.truth["files"]
        mains = [
            name
            for name, facts in files.items()
            if name.count("/") == 2 and "/agent-" not in name and facts["bytes"]
        ]
        return [self.root / name for name in sorted(mains, key=lambda name: (files[name]["bytes"], name))]

    @property
    def largest(self) -> Path:
        return self.sessions[-1]

    @property
    def ordinary(self) -> Path:
        """The session in the middle by size."""
        return self.sessions[len(self.sessions) // 2]

    @property
    def words(self) -> list[str]:
        """The planted ones."""
        return [needle["word"] for needle in self.truth["needles"]]


@dataclass(frozen=True, slots=True)
class Giant:
    """A store of one large session."""

    name: str
    root: Path
    path: Path
    last_uuid: str
    """The uuid of the session's last line: the worst case for whoever looks for it."""


def corpus(recipe: Recipe) -> Corpus:
    """The corpus of a recipe, from the cache or new."""
    spelling = {
        "shuffled keys": recipe.shuffled_keys,
        "spaced": recipe.spaced,
        "no request ids": not recipe.request_ids,
    }
    name = ", ".join(word for word, on in spelling.items() if on) or "plain"
    root = _cached(
        f"{recipe.size}-{recipe.seed}-{name.replace(', ', '-').replace(' ', '-')}",
        lambda new: generate(new, recipe),
    )
    return Corpus(name, root, json.loads((root / "truth.json").read_text(encoding="utf-8")))


@contextmanager
def to_write_in(kept: Corpus) -> Generator[Corpus]:
    """The same corpus for one run, two of its sessions to be written to: the ordinary and the largest one.

    The other files are links to those that are kept: this takes no time and hardly any disk, and a run that
    is killed in the middle has not spoiled what later runs count on.
    """
    written = {kept.ordinary.relative_to(kept.root), kept.largest.relative_to(kept.root)}
    with tempfile.TemporaryDirectory(prefix="run-", dir=kept.root.parent) as folder:
        root = Path(folder) / kept.root.name
        for name in kept.truth["files"]:
            below = Path(name)
            (root / below).parent.mkdir(parents=True, exist_ok=True)
            if below in written:
                shutil.copy2(kept.root / below, root / below)
            else:
                _link(kept.root / below, root / below)
        yield replace(kept, root=root)


def _link(old: Path, new: Path) -> None:
    try:
        os.link(old, new)
    except OSError:  # not every file system has links
        shutil.copy2(old, new)


def giant(size: int, kind: Kind) -> Giant:
    """One large session of a kind, alone in its store."""
    below = f"projects/-home-dev-src-clew/{SESSION_ID}.jsonl"

    def make(new: Path) -> None:
        (new / below).parent.mkdir(parents=True)
        one_session(new / below, size, kind)

    root = _cached(f"{size}-{kind}", make)
    path = root / below
    with path.open("rb") as data:
        data.seek(max(0, path.stat().st_size - 2_000_000))
        tail = data.read()
    last = json.loads(tail[tail.rindex(b'\n{"parentUuid"') :].split(b"\n")[1])
    name = f"{size:,} turns" if kind == "turns" else f"{size / 1e6:,.0f} MB, {kind}"
    return Giant(name, root, path, last["uuid"])


def _cached(key: str, make: Callable[[Path], object]) -> Path:
    """The folder for a key; one that was not finished is made again."""
    root = cache_folder() / "corpora" / f"v{VERSION}-{key}"
    if not root.exists():
        print(f"making {root.name} …", file=sys.stderr)
        new = root.with_name(f"{root.name}.part")
        shutil.rmtree(new, ignore_errors=True)
        new.mkdir(parents=True)
        make(new)
        new.rename(root)
    return root
