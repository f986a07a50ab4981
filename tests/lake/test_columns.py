"""Rows become columns, of many sessions at once; none takes those of another with it."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from clew.lake.files import Shelf, read
from clew.lake.places import Place, PlaceError
from clew.lake.schemas import Rows, batch

if TYPE_CHECKING:
    from pathlib import Path


def call(name: str | None, block: object) -> tuple[object, ...]:
    """A row of `calls`."""
    head = ("s1", None, 1, "c1", name, 2, block, "u", None, None, "2026-03-04", 5, None)
    return (*head, False, False, None)


def test_a_value_that_fits_no_column_is_left_out_and_nothing_else() -> None:
    chunks = [
        Rows("2026-03-04", "ada", "a", [call("Read", 0), call("\ud800", 2**64)]),
        Rows("2026-03-05", "ben", "b", [call(None, "one"), call("Bash", True)]),
    ]
    found = batch("calls", chunks).to_pydict()
    assert found["source"] == ["a", "a", "b", "b"]
    assert found["developer"] == ["ada"] * 2 + ["ben"] * 2
    assert found["name"] == ["Read", "\ufffd", None, "Bash"]
    assert found["block"] == [0, None, None, None]


def test_rows_of_a_day_are_one_file_in_the_order_they_came(tmp_path: Path) -> None:
    lake = Place(str(tmp_path))
    shelf = Shelf(lake)
    shelf.add_rows("calls", "core", Rows("2026-03-04", "ada", "b", [call("1", 0)]))
    shelf.add(
        "calls", "core", "2026-03-04", [batch("calls", [Rows("2026-03-04", "ada", "a", [call("2", 0)])])]
    )
    shelf.add_rows("calls", "core", Rows("2026-03-04", "ben", "c", [call("3", 0), call("4", 0)]))
    shelf.add_rows("calls", "core", Rows("unknown", "ben", "d", [call("5", 0)]))
    found = {one.day: one for one in shelf.close()}
    assert sorted(found) == ["2026-03-04", "unknown"]
    rows = read(lake, "calls", found["2026-03-04"].path).to_pydict()
    assert rows["name"] == ["1", "2", "3", "4"]
    assert rows["source"] == ["b", "a", "c", "c"]
    told = json.loads(found["2026-03-04"].stats)
    assert (told["minValues"]["source"], told["maxValues"]["source"]) == ("a", "c")


def test_where_nothing_can_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(PlaceError, match="file"):
        Place(str(tmp_path / "file")).put_unnamed("a/b", b"x")


def test_a_process_of_its_own_does_without_pandas_and_can_still_have_it() -> None:
    script = (
        "import sys; from clew.lake.libraries import arrow, leave_pandas_out; leave_pandas_out()\n"
        "arrow().table({'a': [1, 2]}).to_pylist(); print('pandas' in sys.modules)\n"
        "import importlib.util; print(importlib.util.find_spec('pandas') is not None)"
    )
    here = importlib.util.find_spec("pandas") is not None
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", str(here)]
