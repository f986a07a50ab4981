"""`clew index`."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from clew.actions.stores import open_store
from clew.catalog.catalog import Progress as Step
from clew.catalog.place import catalog_folder
from clew.catalog.shards import Lock
from clew.faces.cli.building import building
from clew.faces.cli.terminal import Screen
from tests.faces.stage import demo, widest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.faces.console import Console


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return demo(tmp_path)


def test_the_status_before_and_after(clew: Console, root: Path) -> None:
    before = clew("index", "status", "--root", root)
    assert before.code == 0
    assert before.lines[0].endswith("(not made yet)")
    assert before.lines[1].startswith("pending  12 files to read (")
    assert len(before.lines) == 2
    built = clew("index", "rebuild", "--root", root)
    assert built.code == 0
    assert built.out.startswith("Built the index of 12 files of 171 KB in ")
    after = clew("index", "--root", root)
    facts = dict(line.split(maxsplit=1) for line in after.lines)
    assert facts["folder"] == str(catalog_folder([str(root)]))
    assert facts["files"] == "12: 10 sessions, 2 sub-agents"
    assert facts["holds"] == "191 entries, 53 messages"
    assert facts["source"] == "171 KB"
    assert "% of the source" in facts["size"]
    assert facts["updated"].endswith(", just now")
    assert facts["pending"] == "nothing"
    assert widest(clew("index", "--root", root, width=80).lines[1:]) <= 80


def test_the_documents(clew: Console, root: Path) -> None:
    fields = {
        "folder", "exists", "files", "sessions", "agents", "outputs", "entries", "messages", "source_bytes",
        "index_bytes", "words_bytes", "pending", "updated", "busy", "looked_in",
    }  # fmt: skip
    first = json.loads(clew("index", "status", "--json", "--root", root).out)
    assert set(first) == fields
    assert (first["exists"], first["updated"], first["pending"]["files"]) == (False, None, 12)
    built = json.loads(clew("index", "rebuild", "--json", "--jobs", 1, "--root", root).out)
    assert set(built) == fields | {"rebuilt", "files_read", "seconds", "skipped", "notes"}
    assert (built["rebuilt"], built["files_read"], built["files"], built["exists"]) == (True, 12, 12, True)
    assert built["pending"] == {"files": 0, "gone": 0, "bytes": 0, "tools_bytes": 0}
    assert built["looked_in"] == [str(root)]


def test_no_sessions_is_said_with_the_folder(clew: Console, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    ran = clew("index", "--root", tmp_path / "empty")
    assert ran.code == 0
    assert "No sessions in " in ran.err
    assert clew("index", "rebuild", "--root", tmp_path / "empty").code == 0


def test_another_at_work_is_told(clew: Console, root: Path) -> None:
    clew("index", "rebuild", "--root", root)
    lock = Lock(catalog_folder(open_store([root]).roots.found))
    assert lock.take()
    try:
        status, rebuild = clew("index", "--root", root), clew("index", "rebuild", "--root", root)
    finally:
        lock.release()
    assert "another clew is indexing now" in status.err
    assert (rebuild.code, rebuild.out) == (1, "")
    assert "another clew is indexing" in rebuild.err


def test_what_makes_no_sense_is_wrong_use(clew: Console, root: Path) -> None:
    assert clew("index", "--no-index", "--root", root).code == 1
    assert clew("index", "mend", "--root", root).code == 1


def test_a_cache_that_cannot_be_used_is_an_error(
    clew: Console, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert clew("index", "--root", root).code == 0
    ran = clew("index", "rebuild", "--root", root)
    assert ran.code == 1
    assert "the index cannot be used" in ran.err


def test_progress_tells_the_stage_the_files_and_the_megabytes() -> None:
    import io

    class Terminal(io.StringIO):
        encoding = "utf-8"

        def isatty(self) -> bool:
            return True

    now = [0.0]
    out, err = Terminal(), Terminal()
    screen = Screen(out, err, color="never", width=100, env=os.environ, clock=lambda: now[0])
    with building(screen) as tell:
        for stage, size in (
            ("dialogue", 500_000_000),
            ("dialogue", 1_000_000_000),
            ("tools", 0),
            ("tools", 700_000_000),
        ):
            tell(Step("tools" if stage == "tools" else "dialogue", 3, 40, size, 1_999_000_001))
            now[0] += 1
    drawn = [text.strip() for text in err.getvalue().split("\r") if text.strip()]
    assert drawn == [
        "Indexing what was said of 40 files: 1,000 of 2,000 MB",
        "Indexing what tools said of 40 files: 700 of 2,000 MB",
    ]
    assert out.getvalue() == ""
    assert err.getvalue().endswith("\r")
