"""The format reference is made from the tables, and its samples are true."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from clew.format import kinds, known
from scripts import make_format_docs as docs

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PAGE = docs.PAGE.read_text(encoding="utf-8")


def sample_lines() -> Iterator[tuple[str, dict[str, object]]]:
    for path in sorted(docs.SAMPLES.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield path.stem, json.loads(line)


def test_the_page_is_up_to_date() -> None:
    assert docs.render(PAGE) == PAGE, "run scripts/make_format_docs.py"


def test_a_stale_page_is_noticed_and_mended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stale = tmp_path / "format.md"
    stale.write_text(PAGE.replace("| `pr-link` |", "| `pr-lynk` |"), encoding="utf-8")
    monkeypatch.setattr(docs, "PAGE", stale)
    assert docs.main(["--check"]) == 1
    assert docs.main([]) == 0
    assert stale.read_text(encoding="utf-8") == PAGE
    assert docs.main(["--check"]) == 0


def test_every_sample_is_shown_on_the_page() -> None:
    assert set(docs.samples_shown(PAGE)) == {path.stem for path in docs.SAMPLES.glob("*.jsonl")}


def test_every_sample_is_written_as_the_client_writes() -> None:
    for path in docs.SAMPLES.glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            assert json.dumps(json.loads(line), ensure_ascii=False, separators=(",", ":")) == line


def test_every_sample_is_of_a_known_kind_with_known_fields() -> None:
    assert [(name, found) for name, data in sample_lines() if (found := known.unknown_in(data))] == []


def test_every_view_has_a_sample() -> None:
    shown = {type(kinds.view(data)) for _, data in sample_lines()}
    views = {getattr(kinds, name) for name in kinds.__all__}
    all_views = {view for view in views if isinstance(view, type) and issubclass(view, kinds.Kind)}
    assert all_views - shown == {kinds.Kind, kinds.Message}


def test_the_tree_and_the_row_of_parallel_calls_differ_in_parents_alone() -> None:
    def without_parents(name: str) -> list[dict[str, object]]:
        lines = [data for stem, data in sample_lines() if stem == name]
        dropped = {"parentUuid", "sourceToolAssistantUUID"}
        return [{key: value for key, value in data.items() if key not in dropped} for data in lines]

    assert without_parents("parallel-calls-as-a-tree") == without_parents("parallel-calls-in-a-row")


def test_every_kind_is_on_the_page() -> None:
    kinds_shown = set(re.findall(r"^\| `([^`]+)` \|", docs.kinds_table(), re.MULTILINE))
    forms = {form.partition("/")[0] if form.startswith("user/") else form for form in kinds_shown}
    assert set(known.kinds()) <= forms


def test_every_link_inside_the_page_leads_somewhere() -> None:
    heads = re.findall(r"^#+ (.+)$", PAGE, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= anchors


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("x" * 13, "always"),
        ("o" * 13, "sometimes"),
        ("." * 13, "reported"),
        ("xx...........", "1.0.35–1.0.128"),
        ("............x", "2.1.325"),
        ("...........xx", "2.1.220 and later"),
        ("......oxxxxxx", "sometimes 2.1.29, 2.1.45 and later"),
        (".....o.o..xo.", "sometimes 2.0.76, sometimes 2.1.45, 2.1.150, sometimes 2.1.220"),
    ],
)
def test_marks_are_put_into_words(row: str, words: str) -> None:
    assert docs.seen(row) == words
