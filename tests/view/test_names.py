"""What lines say beside their content is the same whether it was noted or is read again."""

from __future__ import annotations

import pytest

from clew.session.session import Session
from clew.view.heads import Names
from tests.conftest import ROOT

CORPUS = sorted((ROOT / "tests" / "data" / "corpus").rglob("*.jsonl"))


@pytest.mark.parametrize("part", range(4))
def test_names_are_the_same_noted_or_read_again(part: int) -> None:
    for path in CORPUS[part::4]:
        session = Session.read(path.read_bytes() + b'{"type":"user","version":"9.9')
        noted, read = Names(), Names()
        noted.see(session)
        session.table.names = None
        read.see(session)
        assert noted == read, path
        assert [*noted.versions] == [*read.versions]
        assert noted.seen or len(session) < 2
