"""The names of project folders. The hashes here were made by a JavaScript engine."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.store.slugs import could_be, folder_name


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/user/work/2.0.76/agent/my_proj.x", "-home-user-work-2-0-76-agent-my-proj-x"),
        (r"E:\workspaces\project", "E--workspaces-project"),
        ("/w/新聞", "-w---"),
        ("/w/🚀", "-w---"),
        ("/w/\udce9", "-w--"),
        ("", ""),
    ],
)
def test_every_utf_16_unit_that_is_no_letter_or_digit_is_a_dash(path: str, name: str) -> None:
    assert folder_name(path) == name


@pytest.mark.parametrize(
    ("path", "end"),
    [
        ("/home/ada/" + "a" * 200, "aaaaa-rvxyuq"),
        ("/w/" + "🚀" * 120, "------mtw975"),
        ("/home/ada/" + "é/" * 150, "------zemmie"),
        ("C:\\" + "x" * 300, "xxxxx-o6kzh7"),
        ("/w/" + "q" * 198, "qqqqq-ymik2v"),
    ],
)
def test_a_long_name_is_cut_at_200_and_gets_a_hash(path: str, end: str) -> None:
    assert folder_name(path)[195:] == end


def test_a_name_of_200_is_left_alone() -> None:
    assert folder_name("/w/" + "q" * 197) == "-w-" + "q" * 197


@given(st.text(max_size=400))
def test_a_path_could_have_its_own_folder(path: str) -> None:
    name = folder_name(path)
    assert re.fullmatch("[A-Za-z0-9-]*", name)
    assert could_be(name, path)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40), st.data())
def test_another_letter_is_another_folder(path: str, data: st.DataObject) -> None:
    assert not could_be(folder_name(path) + "x", path)


def test_paths_that_share_a_name_cannot_be_told_apart_by_it() -> None:
    assert all(could_be("-a-my-p", path) for path in ("/a/my_p", "/a/my.p", "/a/my/p"))
    assert not could_be("-a-my-p", "/a/my_q")


def test_a_long_name_with_any_hash_or_none_could_be_it() -> None:
    path = "/home/ada/" + "a" * 300
    cut = folder_name(path)[:200]
    assert could_be(cut + "-otherhash", path)
    assert could_be(cut, path)
    assert could_be("-home-ada-" + "a" * 300, path)
    assert not could_be(cut + "b", path)
    assert not could_be(cut[:199], path)


def test_windows_does_not_tell_drives_apart_by_case() -> None:
    assert could_be("e--workspaces-project", r"E:\workspaces\project")
    assert not could_be("-HOME-ada", "/home/ada")
