"""A session whose project was moved."""

from __future__ import annotations

import json

import pytest

from clew.edit.move import move, moved_path
from clew.session.context import context
from clew.session.session import Session
from tests.builder import Builder, call


@pytest.mark.parametrize(
    ("path", "moved"),
    [
        ("/a/b", "/x"),
        ("/a/b/", "/x"),
        ("/a/b/c", "/x/c"),
        ("/a/bc", None),
        ("/a", None),
        ("", None),
    ],
)
def test_what_is_in_a_folder_moves_with_it(path: str, moved: str | None) -> None:
    assert moved_path(path, "/a/b", "/x") == moved
    assert moved_path(path, "/a/b/", "/x/") == moved


def test_windows_folders_move_too() -> None:
    assert moved_path(r"C:\a\b\c", r"C:\a", r"D:\z") == r"D:\z\b\c"
    assert moved_path(r"C:\ab", r"C:\a", r"D:\z") is None


def test_the_root_is_a_folder_too() -> None:
    assert moved_path("/a", "/", "/x") == "/x/a"
    assert moved_path("/x/a", "/x", "/") == "/a"


def test_the_lines_tell_of_the_new_folder_and_what_was_said_stays() -> None:
    old, new = "/home/ada/lighthouse", "/srv/lamp"
    builder = (
        Builder()
        .prompt(f"look into {old}/src")
        .answer("I will.", call("c1", given={"path": f"{old}/src"}))
        .result("c1", f"{old}/src/a.py", cwd=f"{old}/src")
        .answer("There.", cwd="/elsewhere")
    )
    session = builder.session()
    data = b"".join(move(session, old=old, new=new).plan("x").pieces())
    places = [json.loads(line)["cwd"] for line in data.splitlines()]
    assert places == [new, new, new, f"{new}/src", "/elsewhere"]
    assert context(Session.read(data)).messages == context(session).messages
    assert data.replace(f'"cwd":"{new}'.encode(), f'"cwd":"{old}'.encode()) == builder.data()
    again = move(Session.read(data), old=old, new=new)
    assert not again
