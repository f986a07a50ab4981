"""Every kind of call, in every mode, under every kind of rule: what is decided, written out in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from clew.agent.permissions import MODES, with_hook
from clew.agent.tool import Reach
from tests.agent.permitting.places import rules

if TYPE_CHECKING:
    from tests.agent.permitting.places import Place

_WORDS = {"A": "allow", "?": "ask", "D": "deny"}

_CALLS: dict[str, tuple[str, dict[str, object], str]] = {
    "read inside": ("Read", {"reads": "{project}/b.txt"}, "Read(b.txt)"),
    "read outside": ("Read", {"reads": "{outside}/secret"}, "Read(/{outside}/**)"),
    "search inside": ("Grep", {"reads": "{project}"}, "Grep"),
    "edit inside": ("Edit", {"writes": "{project}/b.txt"}, "Edit(b.txt)"),
    "write inside": ("Write", {"writes": "{project}/new"}, "Write"),
    "write outside": ("Write", {"writes": "{outside}/new"}, "Edit(/{outside}/**)"),
    "write through a link": ("Write", {"writes": "{project}/way/new"}, "Edit(/{outside}/**)"),
    "write protected": ("Write", {"writes": "{project}/.git/hooks/x"}, "Edit"),
    "look in a shell": ("Bash", {"command": "git status && cat b.txt"}, "Bash(git status:*)"),
    "look outside": ("Bash", {"command": "cat {outside}/secret"}, "Bash(cat:*)"),
    "run": ("Bash", {"command": "npm test"}, "Bash(npm test:*)"),
    "make a folder": ("Bash", {"command": "mkdir new"}, "Bash(mkdir:*)"),
    "not understood": ("Bash", {"command": "case a in a) ls;; esac"}, "Bash"),
    "fetch": ("WebFetch", {"domain": "example.org"}, "WebFetch(domain:example.org)"),
    "search the web": ("WebSearch", {"searches_web": True}, "WebSearch"),
    "foreign": ("mcp__files__write", {"is_foreign": True}, "mcp__files"),
    "nothing": ("TodoWrite", {}, "TodoWrite"),
}

# In the order of the modes: default, acceptEdits, plan, dontAsk, bypassPermissions.
_TABLE = {
    #                        no rule  allowed  asked for
    "read inside":          ("AAAAA", "AAAAA", "???D?"),
    "read outside":         ("???DA", "AAAAA", "???D?"),
    "search inside":        ("AAAAA", "AAAAA", "???D?"),
    "edit inside":          ("?ADDA", "AADAA", "??DD?"),
    "write inside":         ("?ADDA", "AADAA", "??DD?"),
    "write outside":        ("??DDA", "AADAA", "??DD?"),
    "write through a link": ("??DDA", "AADAA", "??DD?"),
    "write protected":      ("??DDA", "??DDA", "??DD?"),
    "look in a shell":      ("AAAAA", "AAAAA", "???D?"),
    "look outside":         ("???DA", "AAAAA", "???D?"),
    "run":                  ("??DDA", "AADAA", "??DD?"),
    "make a folder":        ("?ADDA", "AADAA", "??DD?"),
    "not understood":       ("??DDA", "??DDA", "??DD?"),
    "fetch":                ("???DA", "AAAAA", "???D?"),
    "search the web":       ("???DA", "AAAAA", "???D?"),
    "foreign":              ("???DA", "AA?AA", "???D?"),
    "nothing":              ("AAAAA", "AAAAA", "???D?"),
}  # fmt: skip


def _reach(place: Place, touched: dict[str, object]) -> Reach:
    values: dict[str, object] = {}
    for name, value in touched.items():
        text = value.format(project=place.project, outside=place.outside) if isinstance(value, str) else value
        values[name] = (text,) if name in {"reads", "writes"} else text
    return Reach(**values)  # pyright: ignore[reportArgumentType]  # a table of fields


@pytest.mark.parametrize("number", range(len(MODES)), ids=MODES)
@pytest.mark.parametrize("name", _CALLS)
def test_what_is_decided_is_what_the_table_says(place: Place, name: str, number: int) -> None:
    tool, touched, text = _CALLS[name]
    rule = text.format(project=place.project, outside=place.outside)
    reach, mode = _reach(place, touched), MODES[number]
    expected = {
        "none": _WORDS[_TABLE[name][0][number]],
        "allow": _WORDS[_TABLE[name][1][number]],
        "ask": _WORDS[_TABLE[name][2][number]],
        "deny": "deny",
        "deny and allow": "deny",
        "deny and ask": "deny",
    }
    counted = {
        "none": rules(),
        "allow": rules(allow=[rule]),
        "ask": rules(ask=[rule], allow=[rule]),
        "deny": rules(deny=[rule]),
        "deny and allow": rules(deny=[rule], allow=[rule, tool]),
        "deny and ask": rules(deny=[rule], ask=[rule]),
    }
    found = {kind: place.call(tool, reach, mode=mode, counted=one) for kind, one in counted.items()}
    assert {kind: one.verdict for kind, one in found.items()} == expected
    assert found["deny"].rule == rule


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", _CALLS)
def test_a_hook_that_allows_never_beats_a_rule_that_forbids_or_asks(
    place: Place, name: str, mode: str
) -> None:
    tool, touched, text = _CALLS[name]
    rule = text.format(project=place.project, outside=place.outside)
    reach = _reach(place, touched)
    denied = place.call(tool, reach, mode=mode, counted=rules(deny=[rule]))
    asked = place.call(tool, reach, mode=mode, counted=rules(ask=[rule]))
    assert with_hook(denied, "allow", "").verdict == "deny"
    assert with_hook(asked, "allow", "").verdict == asked.verdict != "allow"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", _CALLS)
def test_a_hook_that_forbids_always_wins_and_one_that_asks_is_heard(
    place: Place, name: str, mode: str
) -> None:
    tool, touched, _ = _CALLS[name]
    decided = place.call(tool, _reach(place, touched), mode=mode)
    assert with_hook(decided, "deny", "no").verdict == "deny"
    assert with_hook(decided, "ask", "why").verdict == ("deny" if decided.verdict == "deny" else "ask")
    assert with_hook(decided, None, "") == decided


def test_a_hook_that_asks_is_a_no_where_nothing_is_asked(place: Place) -> None:
    allowed = place.shell("ls", mode="dontAsk")
    assert with_hook(allowed, "ask", "sure?", mode="dontAsk").verdict == "deny"


def test_a_hook_may_answer_what_would_only_be_asked(place: Place) -> None:
    asked = place.shell("npm test")
    assert with_hook(asked, "allow", "fine").verdict == "allow"


@pytest.mark.parametrize("mode", ["acceptEdits", "default", "dontAsk"])
def test_a_hook_that_allows_does_not_write_protected_files(place: Place, mode: str) -> None:
    decided = place.call("Write", Reach(writes=(f"{place.project}/.git/config",)), mode=mode)
    assert with_hook(decided, "allow", "").verdict != "allow"


def test_a_mode_nobody_knows_is_the_careful_one(place: Place) -> None:
    assert place.shell("npm test", mode="yolo").verdict == "ask"
