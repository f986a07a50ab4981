"""The corpora a run needs, made once and kept in the cache folder by everything that decides their bytes."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.generate import VERSION, Kind, Recipe, generate, one_session
from bench.peers import cache_folder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SESSION_ID = "c1e70000-0000-4000-a000-00000000b16f"


@dataclass(frozen=True, slots=True)
class Corpus:
    """A store of many sessions with its truth."""

    name: str
    root: Path
    truth: dict[str, Any]


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
    return Giant(f"{size / 1e6:,.0f} MB, {kind}", root, path, last["uuid"])


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
