"""Glob and Grep find what is there, tell it as the client does, and end."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from clew.agent.cancel import Cancel, CancelledError
from clew.agent.tools import glob as glob_module
from clew.agent.tools import grep as grep_module
from clew.agent.tools.glob import Glob
from clew.agent.tools.grep import Grep
from clew.agent.tools.programs import ProgramError, run
from clew.agent.tools.rust_patterns import PatternError, compiled
from clew.format import results_files as views
from tests.agent.tools.desk import Desk, desk, structured, words


@pytest.fixture
def at(tmp_path: Path) -> Desk:
    """A small project, with things in it that are not looked for."""
    at = desk(tmp_path / "project")
    at.folder.mkdir()
    at = desk(at.folder)
    files = {
        "src/one.py": 'import os\ndef f():\n    return "line"\n',
        "src/two.js": "// line of js\nconst x = 1;\n",
        ".hidden/h.txt": "line hidden\n",
        ".git/config": "line of git\n",
        ".gitignore": "ignored/\n*.log\n",
        "ignored/i.txt": "line ignored\n",
        "x.log": "line log\n",
        "a.txt": "one\ntwo line\nthree\nfour\nfive\nsix line\n",
    }
    for number, (name, text) in enumerate(files.items()):
        os.utime(at.write(name, text), ns=(number * 10**9, number * 10**9))
    (tmp_path / "outside.txt").write_text("line outside\n")
    (at.folder / "link.txt").symlink_to(tmp_path / "outside.txt")
    return at


def _grep() -> Grep:
    """Our own search, whatever is installed."""
    return Grep(find=lambda _: None)


def test_files_are_found_by_name_the_oldest_first(at: Desk) -> None:
    outcome = at.run(Glob(), pattern="**/*.txt")
    assert words(outcome) == ".hidden/h.txt\nignored/i.txt\na.txt"
    view = views.Glob(structured(outcome))
    assert (view.filenames, view.num_files, view.truncated) == (
        (".hidden/h.txt", "ignored/i.txt", "a.txt"), 3, False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ({"pattern": "*.{py,js}"}, "src/one.py\nsrc/two.js"),
        ({"pattern": "src/*"}, "src/one.py\nsrc/two.js"),
        ({"pattern": "*.py", "path": "src"}, "src/one.py"),
        ({"pattern": "../project/src/*.py"}, "src/one.py"),
        ({"pattern": "src/../a.*"}, "a.txt"),
        ({"pattern": "*.zzz"}, "No files found"),
        ({"pattern": "link*"}, "No files found"),
    ],
)
def test_patterns_may_name_a_folder(at: Desk, call: dict[str, str], found: str) -> None:
    assert words(at.run(Glob(), **call)) == found


def test_an_absolute_pattern_reaches_where_it_says(at: Desk) -> None:
    pattern = f"{at.folder}/src/*.py"
    assert Glob().reach({"pattern": pattern}, at.work()).reads == (str(at.folder / "src"),)
    assert words(at.run(Glob(), pattern=pattern)) == "src/one.py"
    assert words(at.run(Glob(), pattern="*.txt", path=str(at.folder.parent))).split("\n")[-1].startswith("/")


def test_no_more_than_a_hundred_are_listed(at: Desk) -> None:
    for number in range(120):
        os.utime(at.write(f"many/{number:03}.md", "x"), ns=(number, number))
    outcome = at.run(Glob(), pattern="*.md")
    lines = words(outcome).split("\n")
    assert (lines[0], lines[99]) == ("many/000.md", "many/099.md")
    assert lines[100] == (
        "(Showing 100 of 120 matching files; 20 more are not listed. "
        "Narrow the pattern or path to see the rest.)"
    )
    assert structured(outcome)["totalMatches"] == 120


def test_odd_folders_and_patterns_are_told(at: Desk) -> None:
    gone, file = str(at.folder / "gone"), str(at.folder / "a.txt")
    assert words(at.run(Glob(), pattern="*", path=gone)).startswith(
        f"Directory does not exist: {gone}. Note:"
    )
    assert words(at.run(Glob(), pattern="*", path=file)) == f"Path is not a directory: {file}"
    assert "unclosed character class" in words(at.run(Glob(), pattern="["))
    assert words(at.run(_grep(), pattern="x", path=gone)).startswith(f"Path does not exist: {gone}. Note:")


def test_a_walk_that_takes_too_long_tells_what_it_has(at: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glob_module, "_SECONDS", -1.0)
    outcome = at.run(Glob(), pattern="*")
    assert "took too long" in words(outcome)
    assert structured(outcome)["countIsComplete"] is False


def test_hidden_files_are_told_by_no_search(at: Desk) -> None:
    def is_hidden(path: str) -> bool:
        return path.endswith(".py")

    assert words(at.run(Glob(is_hidden=is_hidden), pattern="src/*")) == "src/two.js"
    for mode in ("content", "files_with_matches", "count"):
        grep = Grep(is_hidden=is_hidden, find=lambda _: None)
        told = words(at.run(grep, pattern="line", path="src", output_mode=mode))
        assert "two.js" in told
        assert "one.py" not in told


def test_files_that_hold_something_are_told_the_latest_first(at: Desk) -> None:
    """What git ignores, what is in its folder and what a link leads to is left out."""
    outcome = at.run(_grep(), pattern="line")
    assert words(outcome) == "Found 4 files\na.txt\n.hidden/h.txt\nsrc/two.js\nsrc/one.py"
    view = views.Grep(structured(outcome))
    assert (view.mode, view.num_files) == ("files_with_matches", 4)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        ({"output_mode": "content"}, "2:two line\n6:six line"),
        ({"output_mode": "content", "-n": False}, "two line\nsix line"),
        ({"output_mode": "content", "-A": 1}, "2:two line\n3-three\n--\n6:six line"),
        ({"output_mode": "content", "-B": 1}, "1-one\n2:two line\n--\n5-five\n6:six line"),
        ({"output_mode": "content", "-C": 2}, "1-one\n2:two line\n3-three\n4-four\n5-five\n6:six line"),
        ({"output_mode": "content", "context": 1, "-A": 0}, "1-one\n2:two line\n--\n5-five\n6:six line"),
        ({"output_mode": "content", "-o": True}, "2:line\n6:line"),
        ({"output_mode": "content", "head_limit": 1},
         "2:two line\n\n[Showing results with pagination = limit: 1]"),
        ({"output_mode": "content", "offset": 1},
         "6:six line\n\n[Showing results with pagination = offset: 1]"),
        ({"output_mode": "count"}, "a.txt:2\n\nFound 2 total occurrences across 1 file."),
        ({"pattern": "LINE", "-i": True}, "Found 1 file\na.txt"),
        ({"pattern": "LINE"}, "No files found"),
        ({"pattern": "zz", "output_mode": "content"}, "No matches found"),
        ({"pattern": "zz", "output_mode": "count"},
         "No matches found\n\nFound 0 total occurrences across 0 files."),
        ({"pattern": "two.*three", "multiline": True, "output_mode": "content"}, "2:two line\n3:three"),
        ({"pattern": "e$", "output_mode": "content"}, "1:one\n2:two line\n3:three\n5:five\n6:six line"),
        ({"pattern": "^t", "output_mode": "count"}, "a.txt:2\n\nFound 2 total occurrences across 1 file."),
    ],
)  # fmt: skip
def test_lines_are_told_as_asked(at: Desk, call: dict[str, object], told: str) -> None:
    outcome = at.run(_grep(), **{"pattern": "line", "path": "a.txt", **call})
    assert words(outcome) == told


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ({"glob": "*.py"}, ["src/one.py"]),
        ({"glob": "*.{py,js}"}, ["src/two.js", "src/one.py"]),
        ({"glob": "*.py *.js"}, ["src/two.js", "src/one.py"]),
        ({"glob": "*.py,*.js"}, ["src/two.js", "src/one.py"]),
        ({"glob": "!*.py", "path": "src"}, ["src/two.js"]),
        ({"glob": "*.log"}, ["x.log"]),
        ({"type": "py"}, ["src/one.py"]),
        ({"path": "src"}, ["src/two.js", "src/one.py"]),
    ],
)
def test_files_can_be_chosen(at: Desk, call: dict[str, str], found: list[str]) -> None:
    assert list(structured(at.run(_grep(), pattern="line", **call))["filenames"]) == found


def test_long_lines_and_binary_files_are_not_printed(at: Desk) -> None:
    at.write("long.txt", "x" * 3000 + "\n")
    at.write("bin.txt", b"a\0needle\n")
    at.write("utf16.txt", "\ufeffneedle é\n".encode("utf-16-le"))
    at.write("latin.txt", "needle caf\u00e9\n".encode("latin-1"))
    assert words(at.run(_grep(), pattern="xxx", path="long.txt", output_mode="content")) == (
        "1:[Omitted long matching line]"
    )
    assert words(at.run(_grep(), pattern="needle", output_mode="content")) == (
        "latin.txt:1:needle caf\ufffd\nutf16.txt:1:needle é"
    )
    assert words(at.run(_grep(), pattern="needle", path="bin.txt", output_mode="content")) == (
        'binary file matches (found "\\0" byte around offset 1)'
    )


def test_names_that_are_no_text_can_be_sent(at: Desk) -> None:
    for name in (b"bad\xff.txt", b"new\nline.txt"):
        (at.folder / os.fsdecode(name)).write_bytes(b"needle\n")
    for mode in ("content", "files_with_matches", "count"):
        told = words(at.run(_grep(), pattern="needle", output_mode=mode))
        assert "bad\ufffd.txt" in told
        assert "new\nline.txt" in told
        told.encode("utf-8")
    words(at.run(Glob(), pattern="bad*")).encode("utf-8")


@pytest.mark.parametrize(
    "pattern",
    ["(", "interface{}", "a**", "[z", "x(?=y)", r"(a)\1", "*", r"\p{L}", "a\nb", r"\n", "(?x)a", ")"],
)
def test_patterns_ripgrep_has_not_are_told(at: Desk, pattern: str) -> None:
    outcome = at.run(_grep(), pattern=pattern)
    assert outcome.is_error
    assert "rejected without searching" in words(outcome)


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        (r"\bfoo\b", "a foo b", "foo"),
        (r"[[:upper:]]+", "abCDe", "CD"),
        (r"[^a]", "a\nb", "b"),
        (r"\s+", "a \n b", " "),
        (r"a\sb", "a\nb", None),
        (r"[\s]b", "a\nb", None),
        (r"\S+", "\udc80x", "x"),
        (r".+", "\udc80xy", "xy"),
        (r"(?i)FOO", "foo", "foo"),
        (r"x(?i:FOO)", "xfoo", "xfoo"),
        (r"(?P<n>a)|(?<m>b)", "b", "b"),
        (r"a{2}", "aaa", "aa"),
        (r"a{2,}?", "aaa", "aa"),
        (r"\{\}", "{}", "{}"),
        (r"\x41\u{42}", "AB", "AB"),
        (r"[]a]+", "]a", "]a"),
        (r"[a-c-]+", "b-", "b-"),
        (r"b\z", "a\nb", "b"),
        ("é|ü", "ü", "ü"),
        (r"\d+%", "50%", "50%"),
        ("a#b c", "a#b c", "a#b c"),
    ],
)
def test_patterns_mean_what_they_mean_to_ripgrep(pattern: str, text: str, found: str | None) -> None:
    match = compiled(pattern).search(text)
    assert (match and match[0]) == found


def test_a_wrong_pattern_never_raises_anything_else() -> None:
    for pattern in (
        "(" * 500,
        "[" * 50,
        "a{1001}",
        "a{5,2}",
        "\\",
        "(?",
        "(?P<",
        "(?P<1>a)",
        "[[:nope:]]",
        r"\xZZ",
        "(?P<a>x)(?P<a>y)",
    ):
        with pytest.raises(PatternError):
            compiled(pattern)


def test_a_pattern_that_never_ends_is_ended(at: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grep_module, "_SECONDS", 1.0)
    at.write("trap.txt", "a" * 60 + "!\n")
    start = time.monotonic()
    outcome = at.run(_grep(), pattern="(a|a)+$", path="trap.txt")
    assert time.monotonic() - start < 10
    assert "took too long" in words(outcome)


def test_a_search_stops_when_somebody_asks(at: Desk) -> None:
    at.write("trap.txt", "a" * 60 + "!\n")
    timer = threading.Timer(0.5, at.cancel.ask)
    timer.start()
    start = time.monotonic()
    with pytest.raises(CancelledError):
        at.run(_grep(), pattern="(a|a)+$", path="trap.txt")
    assert time.monotonic() - start < 10
    timer.join()


def test_nothing_in_the_folder_is_taken_for_a_program(at: Desk) -> None:
    """A project may hold modules called like ours or like those of Python."""
    for name in ("json.py", "clew/__init__.py", "sitecustomize.py", "re.py"):
        at.write(name, "raise SystemExit('needle')\n")
    assert structured(at.run(_grep(), pattern="needle"))["numFiles"] == 4


def test_ripgrep_is_called_without_a_shell_and_with_the_pattern_as_one_word(at: Desk) -> None:
    called = at.folder / "called"
    program = Path(
        at.write("bin/rg", f'#!/bin/sh\nprintf "%s\\n" "$@" > "{called}"\nprintf "{at.folder}/a.txt\\0"\n')
    )
    program.chmod(0o700)
    grep = Grep(find=lambda _: str(program))
    outcome = at.run(grep, pattern="--pre=$(touch x); -e", glob="--x y", type="--pre=z")
    assert words(outcome) == "Found 1 file\na.txt"
    arguments = called.read_text().splitlines()
    assert arguments[-4:] == ["-e", "--pre=$(touch x); -e", "--", str(at.folder)]
    assert "--glob=--x" in arguments
    assert "--type=--pre=z" in arguments
    assert arguments[0] == "--no-config"


def test_what_ripgrep_refuses_is_told(at: Desk) -> None:
    program = Path(at.write("bin/rg", "#!/bin/sh\necho 'rg: no such thing' >&2\nexit 2\n"))
    program.chmod(0o700)
    outcome = at.run(Grep(find=lambda _: str(program)), pattern="x")
    assert words(outcome) == (
        "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\n"
        "rg: no such thing"
    )


def test_what_tells_of_processes_is_not_searched(at: Desk) -> None:
    assert at.run(_grep(), pattern="KEY", path="/proc/self").is_error


def test_a_program_is_ended_with_all_it_started(tmp_path: Path) -> None:
    left = tmp_path / "left"
    script = f"(sleep 3; touch {left}) & echo out; sleep 60"
    done = run(["/bin/sh", "-c", script], cwd=str(tmp_path), seconds=0.5, most=100, cancel=Cancel())
    assert (done.output, done.is_late) == (b"out\n", True)
    time.sleep(3)
    assert not left.exists()


def test_a_program_that_floods_is_stopped(tmp_path: Path) -> None:
    done = run(["/bin/sh", "-c", "yes"], cwd=str(tmp_path), seconds=20, most=1000, cancel=Cancel())
    assert (len(done.output), done.is_cut) == (1000, True)


def test_a_program_gets_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret")
    done = run(["/usr/bin/env"], cwd=str(tmp_path), seconds=5, most=10_000, cancel=Cancel())
    assert b"secret" not in done.output
    assert b"PATH=" in done.output


def test_a_program_that_does_not_read_or_is_not_there_is_survived(tmp_path: Path) -> None:
    done = run(["/bin/true"], cwd=str(tmp_path), seconds=5, most=10, cancel=Cancel(), given=b"x" * 1_000_000)
    assert done.code == 0
    for command in (["/nowhere/program"], [sys.executable, "a\0b"]):
        with pytest.raises(ProgramError):
            run(command, cwd=str(tmp_path), seconds=5, most=10, cancel=Cancel())


def test_a_wish_made_before_is_heard(tmp_path: Path) -> None:
    cancel = Cancel()
    cancel.ask()
    with pytest.raises(CancelledError):
        run(["/bin/sleep", "30"], cwd=str(tmp_path), seconds=60, most=10, cancel=cancel)
