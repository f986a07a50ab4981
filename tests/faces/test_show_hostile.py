"""Nothing that a session says acts on the terminal of whoever reads it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.faces.payloads import PAYLOADS, assert_harmless

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console
from tests.faces.hostile_sessions import every_tool, hostile
from tests.faces.show_lab import one

OPTIONS = (
    ("show",),
    ("show", "--turn", "1-", "--images"),
    ("show", "--full", "--thinking", "--agents"),
    ("show", "--grep", "a"),
    ("show", "--json"),
    ("tree",),
    ("tree", "--json"),
    ("context",),
    ("context", "--json"),
    ("check",),
    ("check", "--json"),
)


def test_no_payload_acts_on_a_terminal_by_any_command_that_reads(clew: Console, tmp_path: Path) -> None:
    for number, payload in enumerate(PAYLOADS):
        path = one(tmp_path / str(number), hostile(payload))
        for command, *options in OPTIONS:
            ran = clew(command, path, *options, width=80)
            assert_harmless(ran.out)
            assert_harmless(ran.err)
            assert ran.code in {0, 3}, (ran.err, payload)


def test_no_payload_acts_by_any_tool_in_a_pipe_or_between_colours(clew: Console, tmp_path: Path) -> None:
    for number, payload in enumerate(PAYLOADS):
        path = one(tmp_path / str(number), every_tool(payload))
        assert_harmless(clew("show", path, "--full").out)
        ran = clew("show", path, "--grep", "a", width=60, color=True)
        assert_harmless(re.sub(r"\x1b\[[0-9;]*m", "", ran.out))


def test_colours_are_the_only_escape_sequences(clew: Console, tmp_path: Path) -> None:
    for number, payload in enumerate(PAYLOADS[::7]):
        path = one(tmp_path / str(number), hostile(payload))
        for command in ("show", "tree", "context", "check"):
            ran = clew(command, path, width=80, color=True)
            assert "\x1b[" in ran.out
            assert_harmless(re.sub(r"\x1b\[[0-9;]*m", "", ran.out))


def test_an_error_names_a_hostile_session_harmlessly(clew: Console, tmp_path: Path) -> None:
    for payload in PAYLOADS[::5]:
        for options in ((), ("--json",)):
            ran = clew("show", payload, "--root", tmp_path, *options)
            assert ran.code == 1
            assert_harmless(ran.err)
