"""What the tests of exporters share."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.edit.secrets_planted import SESSION, Sown, sow

if TYPE_CHECKING:
    from pathlib import Path


class SownStore(NamedTuple):
    """A store in which secrets of every kind are planted everywhere."""

    path: Path
    sown: list[Sown]


@pytest.fixture(scope="session")
def sown_store(tmp_path_factory: pytest.TempPathFactory) -> SownStore:
    root = tmp_path_factory.mktemp("sown")
    sown = sow(root)
    return SownStore(root / "projects" / "-home-ada-lighthouse" / f"{SESSION}.jsonl", sown)
