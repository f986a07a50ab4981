"""The files a session touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.session.files import files
from clew.session.session import Session
from tests.builder import Builder, call

MADE = Path(__file__).parent.parent / "data" / "made"


def snapshot(*paths: str) -> dict[str, object]:
    backups = {path: {"backupFileName": None, "version": 1} for path in paths}
    return {"type": "file-history-snapshot", "snapshot": {"trackedFileBackups": backups}}


@pytest.mark.parametrize(
    ("tool", "name"),
    [
        ("Edit", "file_path"),
        ("Write", "file_path"),
        ("MultiEdit", "file_path"),
        ("NotebookEdit", "notebook_path"),
    ],
)
def test_a_call_that_writes_touches_its_file(tool: str, name: str) -> None:
    session = Builder().answer(call("t1", tool, {name: "/lamp.py"})).result("t1").session()
    (found,) = files(session)
    assert (found.path, [c.id for c in found.calls], found.snapshot_rows) == ("/lamp.py", ["t1"], ())


def test_reading_touches_nothing() -> None:
    assert files(Builder().answer(call("t1", "Read", {"file_path": "/lamp.py"})).session()) == ()


def test_calls_without_a_path_touch_nothing() -> None:
    odd = [call("t1", "Edit"), call("t2", "Edit", {"file_path": 7}), call("t3", "Write", {"file_path": ""})]
    assert files(Builder().answer(*odd).session()) == ()


def test_copies_and_calls_of_one_file_are_gathered_in_the_order_they_came() -> None:
    builder = Builder().prompt("a").line(snapshot("b.txt"))
    builder.answer(call("t1", "Write", {"file_path": "/home/ada/lighthouse/a.txt"})).result("t1")
    builder.line(snapshot("a.txt", "b.txt")).line({"type": "file-history-delta", "trackingPath": "/c.txt"})
    found = files(builder.session())
    assert [(f.path, len(f.calls), f.snapshot_rows) for f in found] == [
        ("/home/ada/lighthouse/b.txt", 0, (1, 4)),
        ("/home/ada/lighthouse/a.txt", 1, (4,)),
        ("/c.txt", 0, (5,)),
    ]


def test_a_path_of_windows_is_joined_as_windows_would() -> None:
    builder = (
        Builder().prompt("a", cwd="E:\\lighthouse\\").line(snapshot("lamp.py", "C:\\x.py", "\\\\host\\y.py"))
    )
    assert [f.path for f in files(builder.session())] == [
        "E:\\lighthouse\\lamp.py",
        "C:\\x.py",
        "\\\\host\\y.py",
    ]


def test_without_a_folder_a_path_stays_as_it_is() -> None:
    assert [f.path for f in files(Builder().line(snapshot("lamp.py")).session())] == ["lamp.py"]


def test_a_delta_without_a_path_touches_nothing() -> None:
    assert files(Builder().line({"type": "file-history-delta"}).session()) == ()


def test_the_made_samples_name_their_files() -> None:
    names = {"made-multi-edit": 1, "made-notebook-edit": 1, "made-delta-and-rewind": 1, "made-old-shapes": 3}
    for name, count in names.items():
        session = Session.read((MADE / f"{name}.jsonl").read_bytes())
        assert len(files(session)) >= count
