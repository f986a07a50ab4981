"""A file that is held gives the rows of one that is read line by line, and only so many are held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.format.lines import BytesSource
from clew.lake import held
from clew.lake.mapping import Origin, Part, map_session
from clew.session.session import Session
from tests.lake.lab import KEY, conversation
from tests.lake.test_hostile import ODD
from tests.tables.recorded import MADE, RECORDED

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from clew.lake.held import Row

SECRET = b"ghp_" + b"aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA2bC4"


def mapped(*files: bytes, key: bytes | None = None) -> dict[str, list[Row]]:
    """Make the rows of a session of some files, the first its own."""
    found: dict[str, list[Row]] = {}

    def put(table: str, day: str, rows: Sequence[Row]) -> None:
        found.setdefault(table, []).extend((day, *row) for row in rows)

    parts = [
        Part(f"/x/{at}", f"agent-{at}" if at else "s1", BytesSource(data), bool(at))
        for at, data in enumerate(files)
    ]
    map_session(Origin("s1", "-x", 1), parts, put, key=key)
    return found


def test_rows_are_the_same_whether_a_file_is_held_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    odd = (b"\xef\xbb\xbf" + conversation("bom").data(), conversation("torn").data()[:-40], *ODD)
    told = conversation("told", prompt=f"Use {SECRET.decode()}").data()
    files = [*(path.read_bytes() for path in (*RECORDED[::5], *MADE[::4])), *odd, told]
    wanted = [mapped(data, key=KEY) for data in files]
    assert sum(len(rows["entries"]) for rows in wanted if "entries" in rows) > 500
    monkeypatch.setattr(held, "MOST", -1)
    for data, rows in zip(files, wanted, strict=True):
        assert mapped(data, key=KEY) == rows


def test_only_so_many_bytes_of_a_session_are_held(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[type[Session]] = []
    read = held.read

    def noted(*arguments: object, **options: object) -> held.Read:
        found = read(*arguments, **options)  # pyright: ignore[reportArgumentType]  # as they came
        made.append(type(found.session))
        return found

    monkeypatch.setattr(held, "read", noted)
    data = conversation("s1").data()
    monkeypatch.setattr(held, "MOST", 2 * len(data))
    mapped(data, data, data)
    assert made == [held.HeldSession, held.HeldSession, Session]
