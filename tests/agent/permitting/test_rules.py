"""Rules as they are written in settings, and what they mean."""

from __future__ import annotations

import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from clew.agent.rules import (
    Ground,
    Rule,
    matches_command,
    matches_domain,
    matches_path,
    matches_text,
    names_tool,
    parse_rule,
    rule_for_path,
)

_GROUND = Ground("/srv/project", "/srv/project/sub", "/home/me")


@pytest.mark.parametrize(
    ("text", "tool", "specifier"),
    [
        ("Bash", "Bash", None),
        ("Bash()", "Bash", None),
        ("Bash(*)", "Bash", None),
        ("Bash(npm run:*)", "Bash", "npm run:*"),
        ("Bash(echo (x))", "Bash", "echo (x)"),
        (" Read(./.env) ", "Read", "./.env"),
        ("mcp__server__tool", "mcp__server__tool", None),
        ("mcp__a-b.c__*", "mcp__a-b.c__*", None),
        ("WebFetch(domain:example.org)", "WebFetch", "domain:example.org"),
    ],
)
def test_a_rule_is_a_tool_and_what_of_it_is_meant(text: str, tool: str, specifier: str | None) -> None:
    rule = parse_rule(text)
    assert rule is not None
    assert (rule.tool, rule.specifier) == (tool, specifier)


@pytest.mark.parametrize(
    "text", ["", "Bash(", "Bash)x(", "(x)", "1x", 5, None, ["Bash"], "Bash(x) y", "x" * 5000]
)
def test_what_is_no_rule_is_none(text: object) -> None:
    assert parse_rule(text) is None


@pytest.mark.parametrize(
    ("pattern", "path", "is_meant"),
    [
        ("./.env", "/srv/project/.env", True),
        ("./.env", "/srv/project/deep/.env", False),
        (".env", "/srv/project/deep/.env", True),
        (".env", "/srv/other/.env", False),
        (".env", "/srv/project/.env.local", False),
        ("*.env", "/srv/project/deep/x.env", True),
        ("src", "/srv/project/src/deep/x", True),
        ("src/", "/srv/project/src/deep/x", True),
        ("src/**", "/srv/project/src/deep/x", True),
        ("src/**", "/srv/project/src", False),
        ("src/**", "/srv/project/srcs/x", False),
        ("src/*.py", "/srv/project/src/a.py", True),
        ("src/*.py", "/srv/project/src/deep/a.py", False),
        ("src/**/a.py", "/srv/project/src/a.py", True),
        ("src/**/a.py", "/srv/project/src/x/y/a.py", True),
        ("**/a.py", "/srv/project/x/a.py", True),
        ("**", "/srv/project/x/a.py", True),
        ("**", "/srv/other", False),
        ("/src/**", "/srv/project/src/x", True),
        ("//etc/**", "/etc/passwd", True),
        ("//etc/**", "/srv/project/etc/passwd", False),
        ("//etc/passwd", "/etc/passwd", True),
        ("~/x/**", "/home/me/x/y", True),
        ("~", "/home/me/x/y", True),
        ("~/x", "/home/you/x", False),
        ("../other/**", "/srv/other/x", True),
        ("!x", "/srv/project/x", False),
        ("[ab].txt", "/srv/project/a.txt", True),
    ],
)
def test_a_path_in_a_rule_is_read_as_git_reads_what_it_ignores(
    pattern: str, path: str, is_meant: bool
) -> None:
    rule = Rule("Read", pattern)
    assert matches_path(rule, path, _GROUND, is_wide=False) is is_meant


def test_a_rule_that_forbids_also_starts_where_the_shell_has_moved_to_and_knows_no_case() -> None:
    rule = Rule("Read", "./.env")
    assert not matches_path(rule, "/srv/project/sub/.env", _GROUND, is_wide=False)
    assert matches_path(rule, "/srv/project/sub/.env", _GROUND, is_wide=True)
    assert matches_path(rule, "/srv/project/.ENV", _GROUND, is_wide=True)
    assert not matches_path(rule, "/srv/project/.ENV", _GROUND, is_wide=False)


def test_stars_in_the_name_of_the_project_itself_mean_nothing() -> None:
    ground = Ground("/srv/*", "/srv/*", "/home/me")
    assert not matches_path(Rule("Edit", "src/**"), "/srv/other/src/x", ground, is_wide=False)
    assert matches_path(Rule("Edit", "src/**"), "/srv/*/src/x", ground, is_wide=False)


@pytest.mark.parametrize(
    ("name", "tool", "is_wide", "is_meant"),
    [
        ("Read", "Read", False, True),
        ("Task", "Agent", False, True),
        ("mcp__files", "mcp__files__write", False, True),
        ("mcp__files", "mcp__filesystem__write", False, False),
        ("mcp__files__*", "mcp__files__write", False, True),
        ("mcp__files__get_*", "mcp__files__write", False, False),
        ("mcp__*", "mcp__files__write", False, False),
        ("mcp__*", "mcp__files__write", True, True),
        ("Web*", "WebFetch", False, False),
        ("Web*", "WebFetch", True, True),
        ("*", "Bash", False, False),
        ("*", "Bash", True, True),
    ],
)
def test_only_a_rule_that_forbids_may_leave_the_tool_open(
    name: str, tool: str, is_wide: bool, is_meant: bool
) -> None:
    assert names_tool(Rule(name), tool, is_wide=is_wide) is is_meant


@pytest.mark.parametrize(
    ("name", "host", "narrow", "wide"),
    [
        ("domain:example.org", "example.org", True, True),
        ("domain:example.org", "EXAMPLE.org.", True, True),
        ("domain:example.org", "a.example.org", False, True),
        ("domain:example.org", "badexample.org", False, False),
        ("domain:*.example.org", "a.example.org", True, True),
        ("domain:*.example.org", "example.org", False, False),
        ("domain:", "example.org", False, False),
        ("example.org", "example.org", False, False),
    ],
)
def test_a_host_is_meant_by_its_whole_name(name: str, host: str, narrow: bool, wide: bool) -> None:
    rule = Rule("WebFetch", name)
    assert matches_domain(rule, host, is_wide=False) is narrow
    assert matches_domain(rule, host, is_wide=True) is wide


@given(st.text(alphabet="ab*"), st.text(alphabet="ab"))
def test_stars_match_as_the_library_of_the_language_says(pattern: str, text: str) -> None:
    import fnmatch

    assert matches_text(pattern, text) is fnmatch.fnmatchcase(text, pattern)


def test_no_pattern_takes_long() -> None:
    start = time.monotonic()
    assert not matches_text("*a" * 2000 + "b", "a" * 50_000)
    assert not matches_command("*a" * 2000 + "b", "a" * 50_000)
    deep = "/srv/project" + "/a" * 2000
    assert not matches_path(Rule("Read", "/".join(["**", "a"] * 300) + "/b"), deep, _GROUND, is_wide=True)
    assert time.monotonic() - start < 5


@given(st.text(min_size=1))
@example("..")
@example(".")
@example("x ")
@example("~")
def test_a_rule_made_for_a_file_means_that_file_and_no_other(name: str) -> None:
    path = f"/srv/{name.replace('/', '-')}"
    text = rule_for_path("Edit", path)
    if text is None:
        return
    rule = parse_rule(text)
    assert rule is not None
    assert matches_path(rule, path, _GROUND, is_wide=False)
    assert not matches_path(rule, "/srv", _GROUND, is_wide=False)
    assert not matches_path(rule, "/etc/passwd", _GROUND, is_wide=False)
    assert not matches_path(rule, f"{path}x", _GROUND, is_wide=False)
