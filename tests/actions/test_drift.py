"""What clew does not know."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.actions.drift import Drift, drift, rank
from clew.actions.stores import open_store
from tests.builder import Builder
from tests.conftest import ROOT
from tests.faces.stage import demo, write

STORES = sorted(path.parent for path in (ROOT / "tests" / "data" / "corpus").glob("*/*/projects"))


def found_in(root: Path, *, jobs: int | None = 1) -> Drift:
    return drift(open_store([root]), jobs=jobs)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    old = (
        Builder("a", version="2.1.45")
        .prompt("Hi", zork=1)
        .line({"type": "zorp"})
        .prompt([{"type": "blob"}] * 3)
    )
    new = Builder("b", version="9.1.0").prompt("Hi", zork=1).prompt("Ho", zork=2).system("sneeze")
    write(tmp_path, "-p", {"b": new.data(), "a": old.data()})
    return tmp_path


def test_unknown_things_are_counted_by_version_with_a_place(root: Path) -> None:
    found = {(one.what, one.name): one for one in found_in(root).strangers}
    assert {key: dict(one.versions) for key, one in found.items()} == {
        ("field", "user.zork"): {"9.1.0": 2, "2.1.45": 1},
        ("type", "zorp"): {"2.1.45": 1},
        ("block", "user:blob"): {"2.1.45": 1},
        ("subtype", "system/sneeze"): {"9.1.0": 1},
    }
    example = found["type", "zorp"]
    assert (Path(example.path).stem, example.line) == ("a", 2)


def test_the_most_frequent_comes_first(root: Path) -> None:
    counts = [one.count for one in found_in(root).strangers]
    assert counts == sorted(counts, reverse=True) == [3, 1, 1, 1]


def test_clients_newer_than_any_measured_are_named(root: Path) -> None:
    assert found_in(root).newer == {"9.1.0": 3}


def test_the_document_has_the_shape_the_docs_give(root: Path) -> None:
    document = found_in(root).as_dict()
    assert set(document) == {"files", "lines", "known_versions", "newer_versions", "unknown", "damaged"}
    assert (document["files"], document["lines"], document["damaged"]) == (2, 6, 0)
    unknown = document["unknown"]
    assert isinstance(unknown, list)
    for one in unknown:  # pyright: ignore[reportUnknownVariableType]  # a JSON document
        assert set(one) == {"what", "name", "count", "versions", "example"}  # pyright: ignore[reportUnknownArgumentType]  # the same


@pytest.mark.parametrize("store", STORES[::9], ids=lambda path: f"{path.parent.name}-{path.name}")
def test_nothing_in_the_corpus_is_unknown(store: Path) -> None:
    found = found_in(store)
    assert found.lines > 0
    assert found.strangers == ()


def test_nothing_in_the_demo_is_unknown(tmp_path: Path) -> None:
    found = found_in(demo(tmp_path))
    assert (found.strangers, found.newer) == ((), {})
    assert found.damaged > 0


def test_a_file_with_a_new_name_on_every_line_does_not_fill_the_report(tmp_path: Path) -> None:
    talk = Builder("s")
    for number in range(3000):
        talk.line({"type": f"zorp-{number}" + "x" * 500, "version": f"1.0.{number}"})
    write(tmp_path, "-p", {"s": talk.data()})
    found = found_in(tmp_path)
    assert len(found.strangers) == 1000
    assert max(len(one.name) for one in found.strangers) <= 200


def test_more_processes_find_the_same(root: Path) -> None:
    assert found_in(root, jobs=2) == found_in(root, jobs=1)


def test_versions_are_ordered_by_their_numbers() -> None:
    versions = ["2.1.88", "10.0.0", "unknown", "2.1.150", "2.1.9"]
    assert sorted(versions, key=rank) == ["unknown", "2.1.9", "2.1.88", "2.1.150", "10.0.0"]
