"""What a person types, and the session it names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from clew.errors import AmbiguousSessionError, NotARegularFileError, UnknownSessionError
from clew.store.files import SessionFile, Store
from clew.store.names import conversations, resolve
from tests.store.lines import ONE, THREE, TWO, line, lines, put

if TYPE_CHECKING:
    from pathlib import Path

OTHER = "11112222-0000-4000-8000-000000000000"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    project = tmp_path / "projects" / "-p"
    files = {
        ONE: lines(3),
        OTHER: line(1, session=OTHER, slug="smooth-roaming-sparkle"),
        TWO: line(1, session=THREE) + line(2, session=TWO),
        "agent-a1b2c3d": line(1, isSidechain=True),
        "44444444-4444-4444-8444-444444444444": line(type="summary", summary="s", message=None),
        "55555555-5555-4555-8555-555555555555": b"",
    }
    for number, (name, data) in enumerate(files.items()):
        path = put(project / f"{name}.jsonl", data)
        os.utime(path, (1_000 + number, 1_000 + number))
    return tmp_path


def _title(file: SessionFile) -> str | None:
    return {ONE: "Mend the  Lamp", TWO: "Paint", OTHER: "paint"}.get(file.id)


def _resolved(root: Path, name: str) -> str:
    return resolve(Store.at([str(root)]), name, title_of=_title).id


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (ONE, ONE),
        (ONE[:9], ONE),
        ("2222", TWO),
        ("11112222", OTHER),
        ("mend the lamp", ONE),
        ("smooth-roaming-sparkle", OTHER),
        ("agent-a1b2c3d", "agent-a1b2c3d"),
        ("a1b2c3d", "agent-a1b2c3d"),
        ("a1b2", "agent-a1b2c3d"),
        (THREE, TWO),
        ("@1", TWO),
        ("@2", OTHER),
        ("@3", ONE),
    ],
)
def test_a_session_is_found_by_each_of_its_names(root: Path, name: str, expected: str) -> None:
    assert _resolved(root, name) == expected


def test_a_session_is_found_by_its_path(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = root / "projects" / "-p"
    assert _resolved(root, str(folder / f"{ONE}.jsonl")) == ONE
    monkeypatch.chdir(folder)
    assert _resolved(root, f"{ONE}.jsonl") == ONE
    outside = put(root / "elsewhere" / "saved.jsonl", lines(1))
    assert _resolved(root, str(outside)) == "saved"


def test_a_path_to_something_else_is_refused(root: Path) -> None:
    os.mkfifo(root / "pipe.jsonl")
    with pytest.raises(NotARegularFileError, match="a pipe"):
        _resolved(root, str(root / "pipe.jsonl"))
    with pytest.raises(NotARegularFileError, match="a folder"):
        _resolved(root, str(root))


def test_a_title_may_look_like_a_path(root: Path) -> None:
    def title_of(file: SessionFile) -> str | None:
        return "src/main" if file.id == ONE else None

    assert resolve(Store.at([str(root)]), "src/main", title_of=title_of).id == ONE


def test_an_id_far_inside_a_file_finds_it(root: Path) -> None:
    buried = "99999999-9999-4999-8999-999999999999"
    data = lines(900) + line(5, session=buried) + lines(900, start=1_000)
    put(root / "projects" / "-p" / f"{ONE}.jsonl", data)
    said = line(1, message={"role": "user", "content": f"what is {buried}?"})
    put(root / "projects" / "-p" / f"{THREE}.jsonl", said)
    assert _resolved(root, buried) == ONE


def test_an_id_across_two_reads_is_found(root: Path) -> None:
    buried = "99999999-9999-4999-8999-999999999999"
    pad = line(1, message={"role": "user", "content": "x" * ((1 << 20) - 330)})
    for shift in (0, 20, 40, 200):
        data = lines(30) + pad[: len(pad) - shift - 4] + b'"}}\n' + line(2, session=buried) + lines(400)
        put(root / "projects" / "-p" / f"{ONE}.jsonl", data)
        assert _resolved(root, buried) == ONE


def test_a_name_that_several_have_lists_them(root: Path) -> None:
    with pytest.raises(AmbiguousSessionError) as caught:
        _resolved(root, "1111")
    assert caught.value.candidates == (ONE, OTHER)
    with pytest.raises(AmbiguousSessionError) as caught:
        _resolved(root, "PAINT")
    assert caught.value.candidates == (OTHER, TWO)


def test_the_same_id_in_two_projects_is_told_apart_by_path(root: Path) -> None:
    copy = put(root / "projects" / "-q" / f"{ONE}.jsonl", lines(3))
    with pytest.raises(AmbiguousSessionError) as caught:
        _resolved(root, ONE)
    assert caught.value.candidates == (str(root / "projects" / "-p" / f"{ONE}.jsonl"), str(copy))
    assert _resolved(root, str(copy)) == ONE


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("33333333", ()),
        ("22221", (TWO,)),
        (TWO[:-1] + "x", (TWO,)),
        ("Mend the Lmp", ("Mend the  Lamp",)),
        ("111", ()),
        ("@4", ("@3",)),
        ("@0", ("@3",)),
        ("", ()),
        ("nowhere/at/all.jsonl", ()),
        ("88888888-8888-4888-8888-888888888888", ()),
    ],
)
def test_an_unknown_name_lists_the_nearest(root: Path, name: str, nearest: tuple[str, ...]) -> None:
    with pytest.raises(UnknownSessionError) as caught:
        _resolved(root, name)
    assert caught.value.nearest[: len(nearest)] == nearest
    assert str(root) in caught.value.message


def test_without_titles_names_still_work(root: Path) -> None:
    store = Store.at([str(root)])
    assert resolve(store, "smooth-roaming-sparkle", listing=store.listing()).id == OTHER
    with pytest.raises(UnknownSessionError):
        resolve(store, "mend the lamp")


def test_an_empty_store_has_no_newest(tmp_path: Path) -> None:
    with pytest.raises(UnknownSessionError) as caught:
        _resolved(tmp_path, "@1")
    assert caught.value.nearest == ()


def test_only_conversations_are_counted(root: Path) -> None:
    listing = Store.at([str(root)]).listing()
    (root / "projects" / "-p" / f"{OTHER}.jsonl").unlink()
    assert [file.id for file in conversations(listing)] == [TWO, ONE]


def test_a_file_gone_meanwhile_holds_nothing(root: Path) -> None:
    store = Store.at([str(root)])
    listing = store.listing()
    for path in (root / "projects" / "-p").iterdir():
        path.unlink()
    with pytest.raises(UnknownSessionError):
        resolve(store, THREE, listing=listing)
