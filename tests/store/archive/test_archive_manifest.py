"""Hostile manifests: what could lead elsewhere is no snapshot."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from clew.store.archive import Archive
from clew.store.archive_manifest import is_safe
from tests.store.archives import add, drafts, get, session
from tests.store.lines import ONE

if TYPE_CHECKING:
    from pathlib import Path


def rewrite(place: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the only snapshot as somebody would who knows how they are named."""
    (path,) = (place / "snapshots").iterdir()
    document = json.loads(path.read_bytes())
    changed = change(document)
    data = json.dumps(document if changed is None else changed).encode()
    path.unlink()
    (place / "snapshots" / f"{sha256(data).hexdigest()}.json").write_bytes(data)


Document = dict[str, Any]
Change = Callable[[Document], object]


def _in_file(**fields: object) -> Change:
    def change(document: Document) -> None:
        document["files"][0].update(fields)

    return change


def _without_files(document: Document) -> None:
    document["files"].clear()


def _a_file_twice(document: Document) -> None:
    document["files"].append(document["files"][0])


def _of_the_future(document: Document) -> None:
    document["clew-archive"] = 2


def _without_session(document: Document) -> None:
    del document["session"]


def _a_list(_document: Document) -> object:
    return [1, 2]


@pytest.mark.parametrize(
    "change",
    [
        *(
            _in_file(place=place)
            for place in (
                "../x", "projects/../../x", "/etc/x", "", ".", "..", "a//b", "a/./b", "a/", "a\0b", "x" * 5000
            )
        ),
        _in_file(kind="link"),
        _in_file(place=7),
        _in_file(size=-1),
        _in_file(size=1.5),
        _in_file(size=True),
        _in_file(mode=0o4755),
        _in_file(sha256="../../x"),
        _in_file(chunks=["zz"]),
        _in_file(chunks={"a": 1}),
        _without_files,
        _a_file_twice,
        _of_the_future,
        _without_session,
        _a_list,
    ],
)  # fmt: skip
def test_a_hostile_manifest_is_named_and_refused(root: Path, place: Path, change: Change) -> None:
    session(root)
    add(root, place)
    rewrite(place, change)
    found = Archive(place).snapshots()
    assert not found.found
    assert len(found.damage) == 1
    assert Archive(place).verify().damage


def test_a_manifest_that_was_changed_is_no_snapshot_any_more(root: Path, place: Path) -> None:
    session(root)
    add(root, place)
    (path,) = (place / "snapshots").iterdir()
    path.write_bytes(path.read_bytes().replace(b"lighthouse", b"lighthousf"))
    found = Archive(place).snapshots()
    assert not found.found
    assert "not as it was written" in found.damage[0].detail


def test_chunks_that_make_another_file_than_the_manifest_says_are_not_put_back(
    root: Path, place: Path
) -> None:
    session(root)
    add(root, place)

    def swap(document: Any) -> None:
        files = document["files"]
        files[0]["chunks"], files[-1]["chunks"] = files[-1]["chunks"], files[0]["chunks"]

    rewrite(place, swap)
    shutil.rmtree(root)
    restored = get(place, root)
    assert len(restored.lost) == 2
    assert not (root / "projects/-home-ada-lighthouse" / f"{ONE}.jsonl").exists()
    assert not drafts(root)


@pytest.mark.parametrize("place", ["C:/x", "C:x", "a\\..\\..\\x", "\\\\host\\x", "nul", "a/con"])
def test_on_windows_more_places_lead_elsewhere(place: str) -> None:
    assert not is_safe(place, on_windows=True)
    assert is_safe("projects/-p/a.jsonl", on_windows=True)
