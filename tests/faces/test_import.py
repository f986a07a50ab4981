"""`clew import` as a person uses it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.actions.bundling import bundle
from clew.store.files import Store
from tests.store.archives import NOW, session
from tests.store.bundles import SESSION
from tests.store.bundles import bundle as made
from tests.store.lines import ONE, put

if TYPE_CHECKING:
    from tests.faces.console import Console


@pytest.fixture
def one(tmp_path: Path) -> Path:
    """The bundle of a session with everything that can belong to one."""
    session(tmp_path / "there")
    out = tmp_path / "lamp.clew"
    bundle(Store.at([str(tmp_path / "there")]), ONE, out, now_ms=NOW, state=tmp_path / "s", redact=False)
    return out


@pytest.fixture
def here(tmp_path: Path) -> Path:
    folder = tmp_path / "here"
    folder.mkdir()
    return folder


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_it_is_imported_told_and_taken_back(clew: Console, one: Path, here: Path, tmp_path: Path) -> None:
    ran = clew("import", one, "--root", here, width=100)
    assert ran.code == 0, ran.err
    assert ran.lines[0] == f"Imported {ONE}"
    assert f"  resume    claude --resume {ONE}" in ran.lines
    assert files(here) == files(tmp_path / "there")
    again = clew("import", one, "--root", here, width=100)
    assert (again.code, again.lines[0]) == (0, f"There already: {ONE}")
    assert clew("undo").code == 0
    assert files(here) == {}


def test_a_project_of_this_machine_is_named(clew: Console, one: Path, here: Path, tmp_path: Path) -> None:
    work = tmp_path / "my work"
    work.mkdir()
    dry = clew("import", one, "--root", here, "--to", work, "--dry-run", width=120)
    assert dry.code == 0, dry.err
    assert dry.lines[0].startswith("Nothing was written.")
    assert "resume" not in dry.out
    assert files(here) == {}
    ran = clew("import", one, "--root", here, "--to", work, "--json")
    (told,) = json.loads(ran.out)
    assert told["project"] == str(work)
    assert told["result"]["id"] == ONE
    assert told["patched"] > 600
    assert told["resume"] == f"claude --resume {ONE}"
    assert str(work).encode() in Path(told["result"]["path"]).read_bytes()
    assert "There is no folder" not in ran.err


def test_a_map_moves_it_too(clew: Console, one: Path, here: Path) -> None:
    (told,) = json.loads(clew("import", one, "--root", here, "--map", "/home/ada=/srv", "--json").out)
    assert told["project"] == "/srv/lighthouse"
    assert told["notes"] == [
        *(note for note in told["notes"] if "older than" in note),
        "There is no folder /srv/lighthouse here; --to DIR lets it belong to one that is.",
    ]


def test_it_is_read_from_the_standard_input(
    clew: Console, one: Path, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(one.read_bytes())))
    ran = clew("import", "-", "--root", here)
    assert ran.code == 0, ran.err
    assert ONE in ran.out


def test_several_are_imported_and_what_was_done_before_an_error_is_told(
    clew: Console, one: Path, here: Path, tmp_path: Path
) -> None:
    other = put(tmp_path / "other.clew", made())
    bad = put(tmp_path / "bad.clew", b"no bundle")
    ran = clew("import", one, other, bad, "--root", here, "--json")
    assert ran.code == 1
    assert [told["result"]["id"] for told in json.loads(ran.out)] == [ONE, SESSION]
    assert json.loads(ran.err)["error"]["code"] == "bad-bundle"


def test_another_of_that_id_is_refused_and_a_new_one_made(clew: Console, one: Path, here: Path) -> None:
    clew("import", one, "--root", here)
    (path,) = here.glob("projects/*/*.jsonl")
    path.write_bytes(b"another\n")
    ran = clew("import", one, "--root", here)
    assert ran.code == 4
    assert "--as-new" in ran.err
    new = clew("import", one, "--root", here, "--as-new", "--json")
    assert new.code == 0, new.err
    assert json.loads(new.out)[0]["result"]["id"] != ONE
    assert path.read_bytes() == b"another\n"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--map", "nothing"), "no pair of folders"),
        (("--root", "{here}", "--root", "{here}"), "one config folder"),
        (("-", "-"), "read once"),
        (("{here}/no.clew",), "cannot be read"),
        (("{here}",), "is a folder"),
    ],
)
def test_wrong_use_is_told(clew: Console, one: Path, here: Path, words: tuple[str, ...], why: str) -> None:
    given = [word.format(here=here) for word in words]
    named = [] if given[0] == "-" or given[0].startswith(str(here)) else [one]
    ran = clew("import", *named, *given, *([] if "--root" in given else ["--root", here]))
    assert ran.code == 1
    assert why in ran.err
    assert files(here) == {}


def test_a_terminal_is_not_waited_for(clew: Console, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdin", Terminal())
    ran = clew("import", "-", "--root", here)
    assert (ran.code, "nothing on the standard input" in ran.err) == (1, True)
