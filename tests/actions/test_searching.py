"""Searching all sessions: every hit is a true one, and says where it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bench.generate import Recipe, generate
from clew.actions import search_index
from clew.actions.searching import FIELDS, Hit, Request, Result, search
from clew.errors import UsageError
from tests.builder import Builder, call, text, thinking
from tests.faces.stage import write

if TYPE_CHECKING:
    from clew.tables.texts import Field

PROJECT = "-home-ada-lighthouse"


def story(session: str = "s-0001") -> Builder:
    """A session in which the word "harbour" is in every place there is."""
    talk = Builder(session).prompt("Where is the harbour?")
    talk.answer(
        thinking("a harbour, hm"),
        text("The harbour is there."),
        call("toolu_1", "Bash", {"command": "ls harbour"}),
    )
    talk.result("toolu_1", "harbour: no such file", is_error=True)
    talk.answer(call("toolu_2", "Read", {"file_path": "/x"}))
    talk.result("toolu_2", "<persisted-output>saved to: tool-results/toolu_2.txt</persisted-output>")
    fork = talk.leaf
    talk.prompt("Leave the harbour left").answer("The abandoned harbour.")
    talk.rewind(fork).prompt("Go the other way").answer("Done.")
    talk.compact("We spoke of the harbour.")
    talk.prompt("And now the new harbour", gitBranch="side").answer(
        "Indeed, harbour.", model="claude-opus-4-1"
    )
    return talk.line({"type": "custom-title", "customTitle": "Harbour works", "sessionId": session})


@pytest.fixture
def root(tmp_path: Path) -> Path:
    agent = Builder("s-0001").prompt("Look for the harbour", isSidechain=True, agentId="a77")
    agent.answer("Found a harbour.", isSidechain=True, agentId="a77")
    write(
        tmp_path,
        PROJECT,
        {"s-0001": story().data(), "s-0001/subagents/agent-a77": agent.data()},
    )
    output = tmp_path / "projects" / PROJECT / "s-0001" / "tool-results" / "toolu_2.txt"
    output.parent.mkdir(parents=True)
    output.write_text("a long output with a harbour in it")
    write(tmp_path, "-home-ada-mill", {"s-0002": Builder("s-0002").prompt("A mill, no port").data()})
    return tmp_path


def asked(root: Path, words: str = "harbour", **given: Any) -> Result:
    return search(Request(words, roots=[root], **given), now=1_800_000_000_000)


def places(result: Result) -> list[tuple[object, ...]]:
    return sorted((hit.path, hit.offset, hit.field, hit.line, hit.uuid) for hit in result.hits)


def only(result: Result, **wanted: object) -> list[Hit]:
    return [hit for hit in result.hits if all(getattr(hit, name) == value for name, value in wanted.items())]


def test_a_word_is_found_in_every_field(root: Path) -> None:
    result = asked(root)
    assert {hit.field for hit in result.hits} == set(FIELDS)
    assert result.total == len(result.hits)
    assert result.is_exact
    assert not result.is_least
    assert result.searched == 2
    for hit in result.hits:
        first, last = hit.ranges[0]
        assert hit.snippet[first:last].lower() == "harbour"


def test_the_newest_hit_comes_first(root: Path) -> None:
    times = [hit.time for hit in asked(root).hits if hit.time is not None and hit.where != "spilled"]
    assert times == sorted(times, reverse=True)


def test_hits_say_where_they_are(root: Path) -> None:
    result = asked(root)
    (abandoned,) = only(result, where="branch", field="text")
    assert abandoned.snippet == "The abandoned harbour."
    assert {hit.snippet for hit in only(result, where="branch")} == {
        "The abandoned harbour.",
        "Leave the harbour left",
    }
    (prompt,) = [hit for hit in only(result, field="prompt") if hit.snippet == "Where is the harbour?"]
    assert (prompt.where, prompt.turn) == ("before-compaction", 1)
    (newest,) = [hit for hit in result.hits if hit.snippet == "Indeed, harbour."]
    assert (newest.where, newest.turn, newest.role) == ("active", 4, "assistant")
    (answer, _) = sorted(only(result, where="sub-agent"), key=lambda hit: hit.field, reverse=True)
    assert (answer.agent_id, answer.session, answer.turn) == ("a77", "s-0001", None)
    (output,) = only(result, where="spilled")
    assert output.path.endswith("toolu_2.txt")
    assert output.line is None
    assert (output.tool, output.turn) == ("Read", 1)
    (line,) = [
        data
        for data in map(json.loads, Path(output.owner).read_text().splitlines())
        if data.get("uuid") == output.uuid
    ]
    assert "toolu_2.txt" in json.dumps(line)


def test_a_result_of_parallel_calls_is_on_the_way(tmp_path: Path) -> None:
    talk = Builder("s").prompt("Go")
    talk.answer(call("toolu_1"), call("toolu_2"), stop="tool_use")
    above = talk.leaf
    talk.result("toolu_1", "one buoy").rewind(above).result("toolu_2", "two").answer("Done.")
    write(tmp_path, "-p", {"s": talk.data()})
    (hit,) = asked(tmp_path, "buoy").hits
    assert hit.where == "active"


def test_what_a_hit_says_of_its_session(root: Path) -> None:
    hit = asked(root).hits[0]
    assert (hit.title, hit.project, hit.session) == ("Harbour works", "/home/ada/lighthouse", "s-0001")


@pytest.mark.parametrize(
    ("given", "count"),
    [
        ({"fields": frozenset({"thinking"})}, 1),
        ({"fields": frozenset({"tool_input", "tool_result"})}, 3),
        ({"role": "assistant"}, 6),
        ({"tool": "Bash"}, 2),
        ({"tool": "bas*"}, 2),
        ({"tool": "Read"}, 1),
        ({"tool": "Write"}, 0),
        ({"errors": True}, 1),
        ({"model": "opus"}, 1),
        ({"git_branch": "side"}, 1),
        ({"project": "lighthouse"}, 14),
        ({"project": "mill"}, 0),
        ({"session": "s-0001"}, 14),
        ({"session": "s-0002"}, 0),
        ({"session": "a77"}, 2),
        ({"since": "2027-01-01", "fields": frozenset({"prompt"})}, 0),
        ({"until": "2026-03-04", "fields": frozenset({"prompt"})}, 4),
        ({"until": "2026-03-03", "fields": frozenset({"prompt"})}, 0),
    ],
)
def test_filters_leave_what_they_say_with_and_without_an_index(
    root: Path, given: dict[str, Any], count: int
) -> None:
    indexed, scanned = asked(root, **given), asked(root, **given, no_index=True)
    assert len(indexed.hits) == count == indexed.total
    assert places(indexed) == places(scanned)
    assert scanned.total == count


def test_hits_are_the_same_without_an_index(root: Path) -> None:
    indexed, scanned = asked(root), asked(root, no_index=True)
    assert not scanned.has_index
    facts = [
        sorted(
            (hit.path, hit.offset, hit.where or "", hit.turn or 0, hit.tool or "", hit.snippet)
            for hit in one.hits
        )
        for one in (indexed, scanned)
    ]
    assert facts[0] == facts[1]


@pytest.mark.parametrize("mode", ["literal", "regex"])
def test_a_literal_and_a_pattern_find_in_outputs_and_sub_agents_too(root: Path, mode: Any) -> None:
    result = asked(root, "harb" if mode == "literal" else "ha?rbou*r", mode=mode)
    assert {hit.where for hit in result.hits} >= {
        "active",
        "branch",
        "sub-agent",
        "spilled",
        "before-compaction",
    }
    assert only(asked(root, "HARBOUR", mode="literal"), field="prompt") == []
    assert only(asked(root, "HARBOUR", mode="literal", ignore_case=True), field="prompt")


def test_words_need_not_be_beside_each_other(root: Path) -> None:
    assert asked(root, "harbour AND such").total == 1
    assert asked(root, '"such harbour"').total == 0
    assert asked(root, "harbour -abandoned").total == 13
    assert asked(root, "harb*").total == 14


def test_a_limit_counts_the_rest(root: Path) -> None:
    result = asked(root, limit=3)
    assert len(result.hits) == 3
    assert result.total == 14
    assert not result.is_exact
    assert not result.is_least
    few = asked(root, limit=1, role="assistant", model="sonnet")
    assert len(few.hits) == 1
    assert few.total == 5
    assert few.is_exact


def test_looking_at_lines_has_an_end_and_says_so(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search_index, "_LOOKED_AT", 2)
    assert asked(root, limit=1, model="sonnet").is_least


def test_the_lines_around_a_hit_come_with_it(root: Path) -> None:
    (hit,) = asked(root, "abandoned", context=2).hits
    assert [near.text.text for near in hit.before][-1] == "Leave the harbour left"
    assert [near.text.text for near in hit.after] == ["Go the other way", "Done."]
    assert asked(root, "abandoned", context=2).as_dict()["hits"]


def test_nothing_found_is_an_answer_and_a_slip_is_seen(root: Path) -> None:
    result = asked(root, "harbuor")
    assert (result.hits, result.total, result.suggestions[0]) == ((), 0, "harbour")


def test_what_was_added_is_found_and_what_is_gone_is_not(root: Path) -> None:
    path = root / "projects" / PROJECT / "s-0001.jsonl"
    assert asked(root, "quay").total == 0
    path.write_bytes(path.read_bytes() + Builder("s-0001").prompt("A quay").data())
    assert asked(root, "quay").total == 1
    path.unlink()
    assert asked(root, "quay").total == 0


def test_a_line_that_no_longer_holds_the_words_is_no_hit(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from clew.catalog.catalog import Catalog
    from clew.catalog.update import Update

    assert asked(root, "indeed").total == 1
    path = root / "projects" / PROJECT / "s-0001.jsonl"
    path.write_bytes(path.read_bytes().replace(b"Indeed", b"Surely"))

    def no_update(self: Catalog, *_: object, **__: object) -> Update:
        return Update(is_current=False, notes=("another clew is indexing",))

    monkeypatch.setattr(Catalog, "update", no_update)
    result = asked(root, "indeed")
    assert (result.hits, result.total, result.notes) == ((), 0, ("another clew is indexing",))


def test_without_a_place_for_the_index_the_files_are_read_with_a_note(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a-file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "a-file"))
    result = asked(root)
    assert result.total == 14
    assert not result.has_index
    assert result.notes
    assert "index" in result.notes[0]


@pytest.mark.parametrize(
    "given", [{"words": "("}, {"words": "   "}, {"since": "someday"}, {"words": "(", "mode": "regex"}]
)
def test_a_request_that_makes_no_sense_is_an_error(root: Path, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        asked(root, **given)


def test_a_pattern_without_an_end_is_ended(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from clew.actions import outputs

    monkeypatch.setattr(outputs, "PER_FILE", 0.3)
    output = root / "projects" / PROJECT / "s-0001" / "tool-results" / "toolu_2.txt"
    output.write_text("a" * 60 + "!")
    with pytest.raises(UsageError, match="took longer"):
        asked(root, "(a+)+$", mode="regex")


# --- needles ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus") / "store"
    generate(folder, Recipe(3_000_000, seed=7))
    return folder


def _strings(value: object) -> list[str]:
    """All strings of a JSON value: an independent reader of a line."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [one for inner in value.values() for one in _strings(inner)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [one for inner in value for one in _strings(inner)]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return []


def test_every_planted_needle_is_found_in_its_field_and_nowhere_else(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    needles = json.loads((corpus / "truth.json").read_text())["needles"]
    assert {needle["field"] for needle in needles} == set(FIELDS)
    assert any(not needle["word"].isascii() for needle in needles)
    for needle in needles:
        word: str = needle["word"]
        result = asked(corpus, word, limit=None)
        wanted = {(str(corpus / place["file"]), place["line"]) for place in needle["places"]}
        assert {(hit.path, hit.line) for hit in result.hits} == wanted, word
        assert {hit.field for hit in result.hits} == {needle["field"]}
        fields: frozenset[Field] = frozenset({needle["field"]})
        assert asked(corpus, word, fields=fields).total == len(wanted)
        others: frozenset[Field] = frozenset(FIELDS) - fields
        assert asked(corpus, word, fields=others).total == 0
        for hit in result.hits:
            data = Path(hit.path).read_bytes()
            line = data[hit.offset :].split(b"\n")[0]
            assert line == data.split(b"\n")[(hit.line or 0) - 1]
            assert any(word in one for one in _strings(json.loads(line)))
            assert word in hit.snippet
            first, last = hit.ranges[0]
            assert hit.snippet[first:last] == word
