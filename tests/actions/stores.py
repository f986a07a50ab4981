"""Stores for the laws of what the catalog answers: the demo, the corpus, small ones as for the benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.generate import Recipe, generate
from clew.catalog.catalog import Catalog
from clew.store.files import Store
from tests.builder import Builder
from tests.conftest import ROOT
from tests.faces.stage import demo, write

if TYPE_CHECKING:
    from pathlib import Path

CORPUS = sorted(path.parent for path in (ROOT / "tests" / "data" / "corpus").glob("*/*/projects"))
RECIPES = {
    "bench": Recipe(2_000_000),
    "bench shuffled, spaced, no request ids": Recipe(
        3_000_000, 2, shuffled_keys=True, spaced=True, request_ids=False
    ),
}
MADE = ("demo", "odd", *RECIPES)


def made(name: str, folder: Path) -> Path:
    """Make one of the stores."""
    if name == "demo":
        return demo(folder)
    root = folder / "store"
    if name == "odd":
        _odd(root)
    else:
        generate(root, RECIPES[name])
    return root


def index(root: Path) -> Store:
    """Build the catalog of a store."""
    store = Store.at([str(root)])
    with Catalog.open(store) as catalog:
        assert catalog.update().is_current
    return store


def _odd(root: Path) -> None:
    """Copies of a message at other times, models and sizes; sub-agents without a session; damage."""
    one = Builder("a").prompt("Hi").answer("Yes.", message_id="m1", output=[5, 90])
    more = one.answer("No.", message_id="m2", model="claude-nobody-9").answer("So.", message_id="m3")
    other = (
        Builder("b")
        .prompt("Hi")
        .answer("Yes.", message_id="m1", output=[7], timestamp="2026-03-01T10:14:59.999Z")
        .answer("No.", message_id="m2", timestamp=None)
        .answer("Old.", message_id="m4", timestamp="1931-03-01T10:14:59.999Z")
    )
    write(root, "-p", {"a": more.data(), "b": other.data() + b'{"type":"assistant","mess', "empty": b""})
    write(root, "-q", {"a": other.data() + b"\x00\x00\n", "gone/subagents/agent-x": one.data()})
