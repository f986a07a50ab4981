"""Where files of a session may go: never outside, whatever their paths say."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.session.inside_paths import OUTSIDE, Places, relative

HOSTILE = (
    "/etc/passwd",
    "../../etc/passwd",
    "/home/ada/../../etc/passwd",
    "/home/ada/x/.git/hooks/post-checkout",
    "/home/ada/x/.GIT/config",
    "/home/ada/x/.g\u200cit/config",
    "/home/ada/x/.git. /config",
    "/home/ada/x/git~1/config",
    "/home/ada/x/CON",
    "/home/ada/x/aux.txt",
    "C:\\Windows\\..\\..\\x",
    "\\\\server\\share\\x",
    "nul\0byte",
    "half\ud800character",
    "~/.ssh/authorized_keys",
    "",
    "/",
    "..",
    ".",
    "/home/ada/x",
    "/home/ada/x/",
    "/home/ada/x//../y",
    "/home/ada/xy/z",
    "/home/ada/x/" + "d/" * 3000 + "f",
    "/home/ada/x/" + "n" * 5000,
    "/home/ada/x/a\nb",
)


def assert_inside(place: str) -> None:
    assert place
    assert not place.startswith("/")
    for part in place.split("/"):
        assert part not in {"", ".", ".."}
        assert part.lower() not in {".git", "git~1"}
        assert len(os.fsencode(part)) <= 255
        assert "\0" not in part
        assert "\\" not in part
        assert ":" not in part
    assert len(place.encode()) < 3000


@pytest.mark.parametrize("path", HOSTILE)
def test_a_hostile_path_has_a_place_inside(path: str) -> None:
    assert_inside(Places("/home/ada/x").of(path))
    assert_inside(Places(None).of(path))


@given(st.lists(st.text(alphabet=st.sampled_from("./\\~aGgit .:\0\n\ud800é*")), max_size=6))
@settings(max_examples=30)
def test_any_paths_have_places_inside_and_no_two_the_same(paths: list[str]) -> None:
    places = Places("/a/b")
    found = [places.of(path) for path in paths]
    for place in found:
        assert_inside(place)
    assert len({place.casefold() for place in found}) == len(set(paths))
    assert [places.of(path) for path in paths] == found


def test_files_of_the_project_stand_where_they_stood() -> None:
    places = Places("/home/ada/x")
    assert places.of("/home/ada/x/src/a.py") == "src/a.py"
    assert places.of("/etc/hosts") == f"{OUTSIDE}/etc/hosts"
    assert places.of("/home/ada/x/_outside/etc/hosts") == "_outside/etc/hosts~2"
    assert places.of("/home/ada/x/SRC/A.py") == "SRC/A.py~2"


def test_a_path_is_told_from_the_project_on() -> None:
    assert relative("/home/ada/x/src/a.py", "/home/ada/x") == "src/a.py"
    assert relative("/home/ada/xy/a.py", "/home/ada/x") == "/home/ada/xy/a.py"
    assert relative("/home/ada/x/../a.py", "/home/ada/x") == "/home/ada/x/../a.py"
    assert relative("C:\\p\\a\\b.py", "C:\\p") == "a/b.py"
    assert relative("a.py", None) == "a.py"
