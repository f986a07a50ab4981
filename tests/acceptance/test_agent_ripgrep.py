"""The two searches find the same: ripgrep, the judge, and our own that stands in where there is none."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew.agent.tools.grep import Grep
from clew.agent.tools.search_types import TYPES
from tests.agent.tools.desk import Desk, desk
from tests.conformance.client import CACHE

pytestmark = pytest.mark.acceptance

_PACKAGE = "@vscode/ripgrep@1.18.0"


@pytest.fixture(scope="module")
def program() -> str:
    """Ripgrep: the one that is installed, or one from npm, kept in the cache."""
    found = shutil.which("rg")
    if found is not None:
        return found
    folder = CACHE.parent / "ripgrep" / _PACKAGE.rpartition("@")[2]
    if not folder.is_dir():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm is needed to install ripgrep")
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".new-") as fresh:
            subprocess.run(
                [npm, "install", "--no-audit", "--no-fund", "--prefix", f"{fresh}/it", _PACKAGE],
                capture_output=True,
                check=True,
            )
            Path(fresh, "it").rename(folder)
    programs = sorted(folder.glob("node_modules/@vscode/*/bin/rg"))
    assert programs, "the package holds no ripgrep for this machine"
    return str(programs[0])


_FILES: dict[str, bytes] = {
    "a.txt": b"one\ntwo line\nthree\nfour\nfive\nsix line\n",
    "a/b.txt": b"line\n",
    "no-end.txt": b"line\nlast line",
    "empty.txt": b"",
    "blank.txt": b"\n\n\n",
    "crlf.txt": b"line one\r\nline two\r\n",
    "src/one.py": b'import os\ndef f():\n    return "line"\n',
    "src/two.js": b"// line of js\nconst x = 1;\n",
    "src/deep/er/three.py": "é = 'Line'\nÜBER line\n".encode(),
    "src/Makefile": b"line:\n\techo\n",
    ".hidden/h.txt": b"line hidden\n",
    ".gitignore": b"ignored/\n*.log\n!keep.log\n/src/two.js\n**/er/skip*\n",
    "src/.gitignore": b"!two.js\n",
    ".ignore": b"by-ignore.txt\n",
    "src/.rgignore": b"by-rgignore.txt\n",
    ".git/config": b"line of git\n",
    ".git/info/exclude": b"excluded.txt\n",
    "by-ignore.txt": b"line\n",
    "src/by-rgignore.txt": b"line\n",
    "excluded.txt": b"line\n",
    "ignored/i.txt": b"line ignored\n",
    "x.log": b"line log\n",
    "keep.log": b"line kept\n",
    "src/deep/er/skipped.py": b"line\n",
    "inner/.git/HEAD": b"line\n",
    "inner/.gitignore": b"*.md\n",
    "inner/x.log": b"line: another repository\n",
    "inner/x.md": b"line\n",
    ".svn/entries": b"line\n",
    "latin.txt": "café line\n".encode("latin-1"),
    "utf16.txt": "\ufeffline é\nzwei\n".encode("utf-16-le"),
    "utf16be.txt": "\ufeffline é\n".encode("utf-16-be"),
    "bom.txt": b"\xef\xbb\xbfline at the start\n",
    "binary.dat": b"line\n\0\x01\x02line\n",
    "binary": bytes(range(256)) * 4,
    "long.txt": b"x" * 600 + b" line\nshort line\n",
    "name with space.txt": b"line\n",
    "a.b": b"aXb line\n",
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A project with every sort of file."""
    at = desk(tmp_path_factory.mktemp("project"))
    for name, data in _FILES.items():
        at.write(name, data)
    at.write("../outside.txt", "line outside\n")
    (at.folder / "link.txt").symlink_to("../outside.txt")
    (at.folder / "folder-link").symlink_to("src")
    return at


def _both(at: Desk, program: str, call: dict[str, Any]) -> tuple[Any, Any]:
    judge = at.run(Grep(find=lambda _: program), **call)
    own = at.run(Grep(find=lambda _: None), **call)
    if judge.is_error or own.is_error:
        return judge.is_error, own.is_error
    return (judge.content, judge.structured), (own.content, own.structured)


_WHERE: list[dict[str, Any]] = [
    {},
    {"path": "src"},
    {"path": "a.txt"},
    {"path": "inner"},
    {"path": "ignored"},
    {"path": "binary.dat"},
    {"path": "folder-link"},
    {"glob": "*.py"},
    {"glob": "*.log"},
    {"glob": "!*.txt"},
    {"glob": "src/**"},
    {"glob": "**/er/*"},
    {"glob": "*.{py,js} !one*"},
    {"glob": "ignored"},
    {"glob": "ignored/**"},
    {"type": "py"},
    {"type": "txt"},
    {"type": "js", "glob": "*.py"},
]
_HOW: list[dict[str, Any]] = [
    {},
    {"output_mode": "count"},
    {"output_mode": "content"},
    {"output_mode": "content", "-C": 1},
    {"output_mode": "content", "-A": 2, "-B": 1, "head_limit": 7, "offset": 2},
    {"output_mode": "content", "-o": True, "-i": True},
]


@pytest.mark.parametrize("where", _WHERE, ids=str)
def test_both_search_the_same_files(project: Desk, program: str, where: dict[str, Any]) -> None:
    for how in _HOW:
        judge, own = _both(project, program, {"pattern": "line", **where, **how})
        assert own == judge, how


_PATTERNS = (
    "line$", "^line", "^$", "", "l.ne", r"\bl", r"\w+", r"[^a-z\s]+", r"\s", r"\S+\s\S+", "LINE", "é", "Ü",
    r"\d",
    "(one|two)", "li?n{1}e", "[[:upper:]]", r"caf.", r"caf\W", "x{600}", r"^\s*$", "n.l", r"e\b", r"\x6cine",
    r"(?i)LINE", r"(?i:L)ine", ".", ".*", "o+?", r"\t", "\\.", "e|i", "[]x]", r"-n",
    "(", "a{", r"(a)\1", "(?=x)", "a\nb",
)  # fmt: skip


@pytest.mark.parametrize("pattern", _PATTERNS)
def test_both_read_patterns_the_same(project: Desk, program: str, pattern: str) -> None:
    for more in ({}, {"-o": True}, {"-i": True}, {"multiline": True}, {"multiline": True, "-o": True}):
        call = {"pattern": pattern, "output_mode": "content", "head_limit": 0, **more}
        judge, own = _both(project, program, call)
        assert own == judge, more
    for more in ({"output_mode": "count"}, {"output_mode": "count", "multiline": True}, {}):
        judge, own = _both(project, program, {"pattern": pattern, "head_limit": 0, **more})
        assert own == judge, more


_ATOMS = st.sampled_from(
    ["a", "b", ".", "[ab]", "[^a]", r"\w", r"\s", r"\S", "^", "$", r"\b", "(a|b)", " ", "(?:ab)"]
)
_REPEATS = st.sampled_from(["", "", "*", "+", "?", "{2}", "*?"])
_EXPRESSIONS = st.lists(st.tuples(_ATOMS, _REPEATS).map("".join), min_size=1, max_size=4).map("".join)
_TEXTS = st.text("ab \n\té", max_size=30)


@settings(max_examples=60)
@example(pattern="[ab]*", text="\n", is_multiline=False, mode={})
@given(pattern=_EXPRESSIONS, text=_TEXTS, is_multiline=st.booleans(), mode=st.sampled_from(_HOW))
def test_both_find_the_same_in_any_text(
    tmp_path_factory: pytest.TempPathFactory,
    program: str,
    pattern: str,
    text: str,
    is_multiline: bool,
    mode: dict[str, Any],
) -> None:
    """But for the two oddities below: with the one the first line is the same, with the other all but one."""
    goes_on_oddly = is_multiline and any(sign in pattern for sign in ("^", r"\b"))
    if goes_on_oddly:
        mode = {"output_mode": "content"}
    at = desk(tmp_path_factory.mktemp("t"))
    at.write("t.txt", text)
    judge, own = _both(at, program, {"pattern": pattern, "multiline": is_multiline, **mode})
    if goes_on_oddly and own != judge:
        assert _lines(own)[:1] == _lines(judge)[:1]
    elif mode.get("-o") and own != judge:
        assert not text.endswith("\n")
        assert _lines(judge) == [*_lines(own), _last_line(text)]
    else:
        assert own == judge


def _lines(found: tuple[str, Any]) -> list[str]:
    return found[1]["content"].splitlines()


def _last_line(text: str) -> str:
    *before, last = text.split("\n")
    return f"t.txt:{len(before) + 1}:{last}"


@pytest.mark.parametrize("is_multiline", [False, True])
@pytest.mark.parametrize("pattern", ["$", r"\s*$", "(?:ab)?$"])
def test_ripgrep_prints_a_last_line_that_has_no_end_for_a_match_of_nothing_behind_it(
    tmp_path: Path, program: str, pattern: str, is_multiline: bool
) -> None:
    """Of what matches, which is nothing, we print nothing, as ripgrep does wherever else that is."""
    at = desk(tmp_path)
    call = {"pattern": pattern, "output_mode": "content", "-o": True, "multiline": is_multiline}
    for text, theirs in (("c", ["t.txt:1:c"]), ("c\n", []), ("b\nc", [] if is_multiline else ["t.txt:2:c"])):
        at.write("t.txt", text)
        judge, own = _both(at, program, call)
        assert _lines(judge) == theirs
        assert _lines(own) == []


@pytest.mark.parametrize(
    ("pattern", "text", "theirs", "ours"),
    [
        # Behind the first match ^ matches, though it is in the midst of a line.
        (r"^.\w+", "xa\nx\tb\n", ["1:xa", "2:x\tb"], ["1:xa"]),
        # So does nothing at the end of a match, which otherwise is a part of it.
        ("[^a]*^^", "b\n a", ["1:b", "2: a"], ["1:b"]),
        # Behind b there is no end of a word, as the word is no longer before it.
        (r"\b[^a]{2}b", "b \nb\t\nba\n", ["1:b ", "2:b\t"], ["1:b ", "2:b\t", "3:ba"]),
    ],
)
def test_over_line_ends_ripgrep_takes_what_is_behind_a_match_for_a_text_of_its_own(
    tmp_path: Path, program: str, pattern: str, text: str, theirs: list[str], ours: list[str]
) -> None:
    """We know what stands before; so does ripgrep when it searches line by line."""
    at = desk(tmp_path)
    at.write("t.txt", text)
    judge, own = _both(at, program, {"pattern": pattern, "output_mode": "content", "multiline": True})
    assert _lines(judge) == [f"t.txt:{line}" for line in theirs]
    assert _lines(own) == [f"t.txt:{line}" for line in ours]
    judge, own = _both(at, program, {"pattern": pattern, "output_mode": "content"})
    assert own == judge


def test_the_sorts_of_files_are_those_ripgrep_knows(program: str) -> None:
    listed = subprocess.run(
        [program, "--no-config", "--type-list"], capture_output=True, text=True, check=True
    )
    known = {
        name: set(rest.split(", "))
        for name, _, rest in (x.partition(": ") for x in listed.stdout.splitlines())
    }
    for name, patterns in TYPES.items():
        assert set(patterns) <= known[name], name
