"""Patterns match what ripgrep's would, and never take long about it."""

from __future__ import annotations

import fnmatch
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent import globs


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("*.py", "a.py", True),
        ("*.py", "src/deep/a.py", True),
        ("*.py", "a.pyc", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/deep/a.py", False),
        ("src/*.py", "other/src/a.py", False),
        ("/a.py", "a.py", True),
        ("/a.py", "src/a.py", False),
        ("**/a.py", "a.py", True),
        ("**/a.py", "x/y/a.py", True),
        ("src/**", "src/a/b", True),
        ("src/**", "src", False),
        ("src/**/b.py", "src/b.py", True),
        ("src/**/b.py", "src/x/y/b.py", True),
        ("src/**/x/**/b.py", "src/x/b.py", True),
        ("src/**/x/**/b.py", "src/a/x/c/d/b.py", True),
        ("src/**/x/**/b.py", "src/a/c/d/b.py", False),
        ("**", "a/b", True),
        ("a**b", "axxb", True),
        ("a**b", "ax/xb", False),
        ("?.py", "a.py", True),
        ("?.py", "ab.py", False),
        ("[ab].py", "b.py", True),
        ("[!ab].py", "b.py", False),
        ("[^ab].py", "c.py", True),
        ("[a-c]x", "bx", True),
        ("[]]x", "]x", True),
        ("[a-]x", "-x", True),
        ("*.{py,js}", "a.js", True),
        ("*.{py,js}", "a.ts", False),
        ("{src,lib}/**/*.{ts,tsx}", "lib/x/a.tsx", True),
        ("{a,b{c,d}}.x", "bd.x", True),
        ("{a,b{c,d}}.x", "b.x", False),
        (r"\*.py", "*.py", True),
        (r"\*.py", "a.py", False),
        (r"a\{b", "a{b", True),
        ("*a*b*c", "xaybzc", True),
        ("*a*b*c", "xaybz", False),
        ("*ab*ab", "abxab", True),
        ("*ab*ab", "ab", False),
        ("é*", "élan", True),
        (".*", ".hidden", True),
        ("*", "a\nb", True),
    ],
)
def test_a_pattern_matches(pattern: str, path: str, matches: bool) -> None:
    assert globs.rule(pattern).matches(path, is_folder=False) is matches


@given(st.text("ab*?", min_size=1, max_size=8), st.text("ab", max_size=8))
def test_within_a_name_patterns_are_those_of_a_shell(pattern: str, name: str) -> None:
    """What a star skips is settled at once, and that loses no match."""
    if pattern.strip("*") == "" and not name:
        return  # no file has an empty name
    assert globs.rule(f"/{pattern}").matches(name, is_folder=False) == fnmatch.fnmatchcase(name, pattern)


@given(
    st.lists(st.sampled_from(["**", "a", "b", "*"]), min_size=1, max_size=6),
    st.lists(st.sampled_from("ab"), min_size=1, max_size=6),
)
def test_over_folders_two_stars_are_any_number_of_them(pattern: list[str], path: list[str]) -> None:
    def fits(names: list[str], rest: list[str]) -> bool:
        if not names:
            return not rest
        if names[0] == "**":
            if len(names) == 1:
                return bool(rest)
            return any(fits(names[1:], rest[n:]) for n in range(len(rest) + 1))
        return bool(rest) and names[0] in ("*", rest[0]) and fits(names[1:], rest[1:])

    assert globs.rule("/" + "/".join(pattern)).matches("/".join(path), is_folder=False) == fits(pattern, path)


@pytest.mark.parametrize("pattern", ["[", "[a", "{a", "a}", "a\\", "[z-a]", "", "/", "!", "x" * 5000])
def test_what_is_no_pattern_is_refused(pattern: str) -> None:
    with pytest.raises(globs.GlobError):
        globs.rule(pattern)


def test_too_many_choices_are_refused() -> None:
    with pytest.raises(globs.GlobError):
        globs.rule("{a,b}" * 20)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 40 + "b", "a" * 250), ("**/a/" * 40 + "b", "a/" * 120 + "c"), ("[ab]*" * 60 + "c", "ab" * 120)],
)
def test_no_pattern_takes_long(pattern: str, path: str) -> None:
    rule = globs.rule(pattern)
    start = time.perf_counter()
    assert not rule.matches(path, is_folder=False)
    assert time.perf_counter() - start < 1


def test_the_last_rule_that_matches_counts() -> None:
    rules = globs.ignored(["# words", "", "*.log", "!keep.log", "build/", "[bad", "trail  ", "esc\\ "])
    assert rules.judge("x.log", is_folder=False) is True
    assert rules.judge("keep.log", is_folder=False) is False
    assert rules.judge("build", is_folder=True) is True
    assert rules.judge("build", is_folder=False) is None
    assert rules.judge("trail", is_folder=False) is True
    assert rules.judge("esc ", is_folder=False) is True


def test_a_choice_says_nothing_of_folders_it_does_not_name() -> None:
    wanted = globs.choice(["*.py", "!node_modules"])
    assert wanted.judge("src", is_folder=True) is None
    assert wanted.judge("src/a.py", is_folder=False) is True
    assert wanted.judge("src/a.js", is_folder=False) is False
    assert wanted.judge("node_modules", is_folder=True) is False
    assert globs.choice(["!x"]).judge("y", is_folder=False) is None
