"""The session files that come with the tests, as decoded entries."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data"


class Sample(NamedTuple):
    """One line of a sample file."""

    where: str
    version: str
    data: Mapping[str, Any]


@cache
def recorded() -> tuple[Sample, ...]:
    """Every line the real client wrote, with the version that wrote it."""
    corpus = DATA / "corpus"
    return tuple(
        Sample(where, where.partition("/")[0], data)
        for path in sorted(corpus.glob("*/*/projects/**/*.jsonl"))
        for where, data in _lines(path, corpus)
    )


@cache
def made() -> tuple[Sample, ...]:
    """Every line that was made by hand: the samples of the tests and of the docs."""
    return tuple(
        Sample(where, "", data)
        for folder in (DATA / "made", ROOT / "docs" / "samples")
        for path in sorted(folder.rglob("*.jsonl"))
        for where, data in _lines(path, folder)
    )


def _lines(path: Path, folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for number, line in enumerate(path.read_bytes().split(b"\n"), 1):
        if line:
            yield f"{path.relative_to(folder)}:{number}", json.loads(line)


def made_file(name: str) -> list[dict[str, Any]]:
    """The lines of one sample in `tests/data/made`."""
    text = (DATA / "made" / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
"""Any value a JSON decoder can give."""


def names_of_properties(value: object) -> list[str]:
    """The properties a view offers."""
    return [name for name in dir(type(value)) if isinstance(getattr(type(value), name), property)]


def ask_everything(value: object) -> dict[str, object]:
    """The answer of every property of a view; whatever raises, raises here."""
    return {name: cast("object", getattr(value, name)) for name in names_of_properties(value)}
