"""Commands and skills: what `/name words` becomes. The forms were seen of the client, 2.1.325."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.agent.commands import Commands, find, split_front


def _write(root: Path, files: dict[str, str]) -> Commands:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
    (root / "project").mkdir(exist_ok=True)
    return find(root / "config", root / "project")


def _text(root: Path, body: str, typed: str) -> str:
    expanded = _write(root, {"project/.claude/commands/x.md": body}).expand(typed)
    assert expanded is not None
    return expanded.text


@pytest.mark.parametrize(
    ("body", "typed", "text"),
    [
        (
            "0=$0 1=$1 A=$ARGUMENTS A1=$ARGUMENTS[1]\n",
            '/x one "two three"',
            '0=one 1=two three A=one "two three" A1=two three\n',
        ),
        ("0=$0 A=$ARGUMENTS A0=$ARGUMENTS[0] 10=$10\n", "/x", "0=$0 A= A0=$ARGUMENTS[0] 10=$10\n"),
        ("0=$0 5=$5\n", "/x a", "0=a 5=$5\n"),
        ("kept \\$1 and \\$ARGUMENTS $0", "/x a b", "kept $1 and $ARGUMENTS a"),
        ("$$1", "/x a b", "$b"),
        ("no placeholder\n", "/x hello", "no placeholder\n\n\nARGUMENTS: hello"),
        ("deep $1 [$2]\n", "/x a", "deep $1 [$2]\n\n\nARGUMENTS: a"),
        ("$ARGUMENTSX ${ARGUMENTS}", "/x a", "aX ${ARGUMENTS}"),
        ("---\r\narguments: [first, second]\r\n---\r\n\r\n is $first $0-$1\r\n", "/x a", "is a a-$1\r\n"),
        ("$ARGUMENTS|$0", "/x $1 $0", "$1 $0|$1"),
        ("$0", "/x it's", "it's"),
        ("!`echo ran` $0\n!echo hi", "/x a", "!`echo ran` a\n!echo hi"),
    ],
)
def test_arguments_are_filled_in_as_the_client_does(tmp_path: Path, body: str, typed: str, text: str) -> None:
    assert _text(tmp_path, body, typed) == text


def test_what_was_typed_is_told_as_the_client_does(tmp_path: Path) -> None:
    commands = _write(tmp_path, {"project/.claude/commands/front/deep.md": "x"})
    with_words = commands.expand("/front:deep a b")
    assert with_words is not None
    assert with_words.prompt == (
        "<command-message>front:deep</command-message>\n<command-name>/front:deep</command-name>\n"
        "<command-args>a b</command-args>"
    )
    without = commands.expand("/front:deep")
    assert without is not None
    assert "command-args" not in without.prompt
    assert commands.expand("/deep") is None


def test_what_is_written_is_what_the_client_wrote(tmp_path: Path) -> None:
    """The command of a recorded session, called as it was there, gives the two lines that were recorded."""
    recorded = Path(__file__).parents[1] / "data" / "corpus" / "2.1.325" / "slash" / "projects"
    lines = [
        json.loads(line) for path in recorded.rglob("*.jsonl") for line in path.read_bytes().splitlines()
    ]
    told = [line["message"]["content"] for line in lines if line["type"] == "user"]
    body = "[[script:hello]] Demo command body with args: $ARGUMENTS\n"
    expanded = _write(tmp_path, {"project/.claude/commands/demo.md": body}).expand("/demo with some args")
    assert expanded is not None
    assert expanded.prompt in told
    assert [{"type": "text", "text": expanded.text}] in told


def test_a_skill_says_where_it_lies(tmp_path: Path) -> None:
    body = "---\nname: other\ndescription: d\n---\nskill $1 $0 ${CLAUDE_SKILL_DIR}\n"
    commands = _write(tmp_path, {"project/.claude/skills/sk/SKILL.md": body})
    expanded = commands.expand("/sk a b")
    folder = (tmp_path / "project" / ".claude" / "skills" / "sk").resolve()
    assert expanded is not None
    assert expanded.text == f"Base directory for this skill: {folder}\n\nskill b a {folder}\n"
    assert commands.found["sk"].description == "d"


def test_the_persons_own_come_before_a_projects(tmp_path: Path) -> None:
    files = {
        "project/.claude/commands/x.md": "theirs",
        "config/commands/x.md": "ours",
        "config/skills/y/SKILL.md": "ours",
    }
    files["project/.claude/skills/y/SKILL.md"] = "theirs"
    commands = _write(tmp_path, files)
    assert {name: one.body for name, one in commands.found.items()} == {"x": "ours", "y": "ours"}
    assert not commands.found["x"].is_project


@pytest.mark.parametrize("typed", ["", "/", "x", " /x", "/x/y", "/unknown a", "//x", "/ x", "say /x"])
def test_what_is_no_call_of_a_known_command_is_none(tmp_path: Path, typed: str) -> None:
    assert _write(tmp_path, {"project/.claude/commands/x.md": "x"}).expand(typed) is None


def test_what_the_client_would_run_is_not_run_but_told(tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    commands = _write(tmp_path, {"project/.claude/commands/x.md": f"!`touch {marker}`\n"})
    expanded = commands.expand("/x")
    assert expanded is not None
    assert expanded.not_run == (f"touch {marker}",)
    assert not marker.exists()


def test_a_projects_command_that_is_a_link_out_of_it_is_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("words")
    folder = tmp_path / "project" / ".claude" / "commands"
    folder.mkdir(parents=True)
    (folder / "x.md").symlink_to(secret)
    (folder / "y.md").symlink_to(folder / "z.md")
    (folder / "z.md").write_text("fine")
    own = tmp_path / "config" / "commands"
    own.mkdir(parents=True)
    (own / "mine.md").symlink_to(secret)
    commands = find(tmp_path / "config", tmp_path / "project")
    assert set(commands.found) == {"mine", "y", "z"}
    assert len(commands.problems) == 1


def test_pipes_large_files_bytes_and_circles_are_survived(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".claude" / "commands"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "pipe.md")
    (folder / "large.md").write_bytes(b"x" * (1 << 21))
    (folder / "bytes.md").write_bytes(b"\xff\xfe words")
    (folder / "circle").symlink_to(folder)
    (folder / ".md").write_text("no name")
    commands = find(tmp_path / "config", tmp_path / "project")
    assert {"pipe", "large"}.isdisjoint(commands.found)
    assert "words" in commands.found["bytes"].body


@pytest.mark.parametrize(
    ("text", "fields", "body"),
    [
        ("x", {}, "x"),
        ("---\n---\nx", {}, "x"),
        ("---\na: 1\nb: 'two'\nnot a field\n- c\n---\n\nx\n", {"a": "1", "b": "two"}, "x\n"),
        ("---\na: 1\nx", {}, "---\na: 1\nx"),
        ("x\n---\na: 1\n---\n", {}, "x\n---\na: 1\n---\n"),
        ("---\nallowed-tools: Bash(rm:*)\n---\nx", {"allowed-tools": "Bash(rm:*)"}, "x"),
    ],
)
def test_front_matter_is_taken_off(text: str, fields: dict[str, str], body: str) -> None:
    assert split_front(text) == (fields, body)


@given(st.text(), st.text())
def test_no_text_and_no_words_are_an_error(body: str, words: str) -> None:
    from clew.agent.commands import Command

    fields, rest = split_front(body)
    command = Command("x", "/x/SKILL.md", "skill", is_project=False, body=rest, fields=fields)
    Commands({"x": command}).expand(f"/x {words}")
