"""The parser of lines for a shell, judged by the shell itself."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.shell_lines import MOST_COMMANDS, fragments, parse
from clew.agent.shell_words import MOST_CHARACTERS, MOST_DEPTH
from tests.agent.permitting.line_making import spoiled
from tests.agent.permitting.real_shell import BASH, names_run

needs_bash = pytest.mark.skipif(BASH is None, reason="bash is not installed")


def _names(line: str) -> list[str]:
    script = parse(line)
    assert script.problem is None, script.problem
    return [command.words[0].text for command in script.commands if command.words]


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("a1", ["a1"]),
        ("", []),
        ("# a1", []),
        ("a1 # it's\nb1", ["a1", "b1"]),
        ("a1 && b1 || c1; d1 | e1 |& f1 & g1", ["a1", "b1", "c1", "d1", "e1", "f1", "g1"]),
        ("a1\nb1\n\nc1", ["a1", "b1", "c1"]),
        ("a1 \\\n  b1", ["a1"]),
        ("a1 && \\\n  b1", ["a1", "b1"]),
        ("(a1; b1) | { c1; }", ["a1", "b1", "c1"]),
        ("a1 $(b1 $(c1))", ["c1", "b1", "a1"]),
        ('a1 "x $(b1) y"', ["b1", "a1"]),
        ("a1 '$(b1)'", ["a1"]),
        ("a1 `b1`", ["b1", "a1"]),
        ('a1 "`b1`"', ["b1", "a1"]),
        ("a1 <(b1) >(c1)", ["b1", "c1", "a1"]),
        ("if a1; then b1; elif c1; then d1; else e1; fi", ["a1", "b1", "c1", "d1", "e1"]),
        ("while a1; do b1; done", ["a1", "b1"]),
        ("for x in 1 $(a1); do b1 $x; done", ["a1", "b1"]),
        ("! a1", ["a1"]),
        ("X=1 Y=$(b1) a1", ["b1", "a1"]),
        ("2>&1 a1 >f <g", ["a1"]),
        ("a1 <<E\n$(b1) `c1`\nE\nd1", ["a1", "b1", "c1", "d1"]),
        ("a1 <<'E'\n$(b1)\nE\nd1", ["a1", "d1"]),
        ("a1 <<-E\n\t$(b1)\n\tE\nd1", ["a1", "b1", "d1"]),
        ("a1 <<E <<F\nx\nE\ny\nF\nd1", ["a1", "d1"]),
        ("a1 -m \"$(cat <<'E'\nit's `b1`\nE\n)\"", ["cat", "a1"]),
        ("a1 <<< \"$(b1)\"", ["b1", "a1"]),
        ("a'1' \"b\"", ["a1"]),
        ("\\a1", ["a1"]),
        ("a1 | while b1 x; do c1; done > f", ["a1", "b1", "c1"]),
    ],
)  # fmt: skip
def test_the_commands_of_a_line_are_found(line: str, names: list[str]) -> None:
    assert _names(line) == names


@needs_bash
@pytest.mark.parametrize(
    "line",
    [
        "if a1; then\\\n >f b1; fi",
        "<<<then for x \nE\n",
        "echo \"$\\\n(b1)\"",
        "a1 $\\\n(b1)",
        "for x do b1; done",
        "for x in a # it's\ndo b1 'x'; done",
        "a1 <<E\nx\\\nE\n$(b1)\nE",
        "a1 <<E\nE\nb1",
        "a1 \"`echo '`b1`'`\"",
        "a1 '\nb1\n'; c1",
        "a1 <<\"E\"\n$(b1)\nE\nc1",
        "$(a1)$(b1)",
        "a1;;b1",
        "a1 <<E && b1\nx\nE\nc1",
        "{ a1; } 2>&1 | b1",
        "a1 #\\\nb1",
        "x=$(a1) b1",
        "a1 ${x:-$(b1)}",
        "a1 $((1+$(b1)))",
        "a1&b1&&c1",
        "a1>f b1",
    ],
)  # fmt: skip
def test_a_line_that_was_once_misread_or_might_be_is_not(line: str, tmp_path: Path) -> None:
    script = parse(line)
    found = {command.words[0].text for command in script.commands if command.words}
    is_open = any(command.words and not command.words[0].is_literal for command in script.commands)
    assert script.problem or is_open or set(names_run(line, tmp_path)) <= found


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("a1 'b", "quote"),
        ('a1 "b', "quote"),
        ("a1 `b", "quote"),
        ("a1 $(b", "bracket"),
        ("a1 )", "bracket"),
        ("a1() { b1; }", "function"),
        ("function a1 { b1; }", "function"),
        ("case x in y) a1;; esac", "case"),
        ("[[ -v a[$(b1)] ]]", "[["),
        ("(( a1 ))", "calculates"),
        ("a1 $(( x ))", "calculates"),
        ("a1 $[x]", "calculates"),
        ("a1 ${x@P}", "odd"),
        ("a1 ${!x}", "odd"),
        ("a1 ${x:=$(b1)}", "odd"),
        ("a1 ${x[$(b1)]}", "odd"),
        ('a1 $"b"', "translated"),
        ("x=(1 2)", "values"),
        ("x[$(a1)]=1", "values"),
        ("x+=1", "values"),
        ("a1 <<E\nb", "here-document"),
        ("a1 <<$x\nb\n$x", "odd end"),
        ("a1 {x}>f", "variable"),
        ("a1 >", "nowhere"),
        ("a1 \\", "backslash"),
        ("a1 `b1 \\`c1\\``", "backslash"),
        ("a1 \x00 b1", "control"),
        ("a1 \r b1", "control"),
        ("a1 \x1b[2K", "control"),
        ("a1 \ud800", "control"),
        ("coproc a1", "coproc"),
        ("select x in a; do b; done", "select"),
        ("for ((;;)); do a1; done", "words"),
        ("a" * (MOST_CHARACTERS + 1), "too long"),
        ("a;" * (MOST_COMMANDS + 1), "too many"),
        ("(" * (MOST_DEPTH + 2) + "a" + ")" * (MOST_DEPTH + 2), "calculates"),
        ("$( " * (MOST_DEPTH + 2) + "a" + ")" * (MOST_DEPTH + 2), "deep"),
        ("$( " * 5000, "deep"),
    ],
)
def test_what_is_not_understood_for_certain_is_told(line: str, why: str) -> None:
    assert why in (parse(line).problem or "")


def test_words_keep_what_the_shell_would_put_in() -> None:
    words = parse("a '*' * ~/x $y \"$z\" {b,c} $'\\x41' $? x=~ {} \"$(d)\"").commands[-1].words
    assert [sorted(word.needs) for word in words] == [
        [], [], ["glob"], ["tilde"], ["variable"], ["variable"], ["brace"], ["quote"], ["status"], [], [],
        ["command"],
    ]  # fmt: skip
    assert words[1].text == "*"


def test_redirections_are_kept_with_where_they_lead() -> None:
    (command,) = parse("a >f 2>>g <h &>i >|j <>k 2>&1 >&- <<<l").commands
    assert [(one.operator, one.target.text) for one in command.redirections] == [
        (">", "f"), (">>", "g"), ("<", "h"), ("&>", "i"), (">|", "j"), ("<>", "k"), (">&", "1"), (">&", "-"),
        ("<<<", "l"),
    ]  # fmt: skip


def test_what_is_written_out_in_a_line_that_is_not_understood_is_still_seen() -> None:
    line = "case x in y) X=1 rm -rf z;; *) sudo 'r'm a;; esac"
    assert {"rm -rf z", "*", "case x in y"} <= set(fragments(line))
    assert "sudo rm a" in fragments(line)


@needs_bash
@given(spoiled())
def test_bash_runs_no_command_that_was_not_found(line: str) -> None:
    """Whatever bash runs is among the commands found, unless the line is said not to be understood."""
    script = parse(line)
    found = {command.words[0].text for command in script.commands if command.words}
    if script.problem or any(c.words and not c.words[0].is_literal for c in script.commands):
        return
    if re.search(r"\(\s*\)|while|until|/", line) or any("\n" in name for name in found):
        return
    with tempfile.TemporaryDirectory() as folder:
        assert set(names_run(line, Path(folder))) <= found


@given(st.text())
def test_any_text_is_read_without_an_error(line: str) -> None:
    parse(line)
    fragments(line)
