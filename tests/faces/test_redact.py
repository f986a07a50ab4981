"""Redaction as a person uses it: secrets in every file of a session and in the index, then none anywhere.

Whether one is left is a search through the bytes of every file there is, and shares nothing with what finds
them.
"""

from __future__ import annotations

import json
import os
import re
import time
from functools import cache
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.builder import Builder
from tests.edit.secrets_planted import BESIDE, KINDS, PLACES, SESSION, Sown, left_of, parts, some, sow
from tests.faces.stage import widest

if TYPE_CHECKING:
    from tests.faces.console import Console, Ran

ALPHABET = "abcdefghjkmnpqrstuvwxyz"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "config"


@pytest.fixture
def sown(root: Path) -> list[Sown]:
    return sow(root)


def home() -> Path:
    return Path(os.environ["HOME"])


def files(*folders: Path) -> dict[Path, bytes]:
    return {
        path: path.read_bytes()
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != "redaction-key"
    }


@cache
def telling_ends(one: Sown) -> frozenset[bytes]:
    """Return the ends of the words of a secret, as an index has them: small, and without their beginnings."""
    words = [word for part in parts(one.kind, one.secret) for word in re.findall(r"[A-Za-z0-9]{12,}", part)]
    return frozenset(word.lower()[-10:].encode() for word in words)


def found_in(data: bytes, sown: list[Sown]) -> list[Sown]:
    """Return the secrets that are in bytes in any spelling, or any word of them as an index has it."""
    small = data.lower()
    tens = {small[at : at + 10] for at in range(len(small) - 9)}
    near = [one for one in sown if telling_ends(one) & tens]
    return near if data.startswith(b"SQLite format") else [*{*near, *left_of(data, sown)}]


def assert_none(found: dict[Path, bytes], sown: list[Sown]) -> None:
    for path, data in found.items():
        here = found_in(data, sown)
        assert not here, (path, [(one.place, one.kind.name) for one in here[:5]])


def assert_silent(ran: Ran, sown: list[Sown]) -> None:
    for one in sown:
        for part in parts(one.kind, one.secret):
            assert part not in ran.out
            assert part not in ran.err


def fill_the_index(clew: Console, root: Path, sown: list[Sown]) -> None:
    for command in (("ls",), ("usage",), ("search", "Use"), ("sql", "SELECT count(*) FROM entries")):
        assert clew(*command, "--root", root).code == 0
    held = {
        one
        for data in files(Path(os.environ["XDG_CACHE_HOME"])).values()
        for one in found_in(data, sown)
        if "file" not in one.place
    }
    assert len(held) > 300, "the index holds them, so that it can be seen to lose them"


def test_they_are_planted_in_every_file_and_the_search_finds_them(root: Path, sown: list[Sown]) -> None:
    assert len(KINDS) >= 40
    assert len(PLACES) + len(BESIDE) >= 15
    everything = files(root)
    assert len(everything) == 10
    assert {one for data in everything.values() for one in left_of(data, sown)} == set(sown)
    for path, data in everything.items():
        assert len(found_in(data, sown)) >= len(KINDS), path


def test_a_new_session_holds_none_and_the_source_is_untouched(
    clew: Console, root: Path, sown: list[Sown]
) -> None:
    fill_the_index(clew, root, sown)
    before = files(root)
    ran = clew("redact", SESSION, "--json", "--root", root)
    assert ran.code == 0, ran.err
    assert_silent(ran, sown)
    told = json.loads(ran.out)
    after = files(root)
    assert {path: after[path] for path in before} == before
    new = {path: data for path, data in after.items() if path not in before}
    assert len(new) == 9
    assert all(told["result"]["id"] in str(path) for path in new)
    assert_none(new, sown)
    check_result(clew, root, Path(told["source"]["path"]), Path(told["result"]["path"]))


def check_result(clew: Console, root: Path, source: Path, result: Path) -> None:
    """Check that a session is as good as it was."""

    def codes(path: Path) -> set[str]:
        checked = json.loads(clew("check", path, "--json", "--root", root).out)
        assert checked[0]["resumable"]
        return {problem["code"] for problem in checked[0]["problems"]}

    # A new session keeps the old ids on its lines.
    assert codes(result) - {"name-differs"} <= codes(source)
    told = json.loads(clew("context", result, "--json", "--root", root).out)
    assert not told.get("refused")
    assert told["messages"]
    assert not told["api_problems"]


def test_keys_types_and_ids_are_as_they_were(clew: Console, root: Path, sown: list[Sown]) -> None:
    before = files(root)
    told = json.loads(clew("redact", SESSION, "--json", "--root", root).out)
    new = told["result"]["id"]
    for path, data in before.items():
        other = Path(str(path).replace(SESSION, new))
        if other == path:
            continue
        if path.suffix == ".json":
            assert shape(json.loads(data)) == shape(json.loads(other.read_bytes()))
        elif path.suffix == ".jsonl":
            old = {one.get("uuid", at): one for at, one in enumerate(map(json.loads, data.splitlines()))}
            now = [json.loads(line) for line in other.read_bytes().splitlines()]
            (thought,) = [one for one in old.values() if kinds(one) == ["thinking"]]
            # Thinking that holds a secret goes whole, and whoever followed it follows what it followed.
            rest = [one for one in old.values() if one is not thought]
            for one in rest:
                if one.get("parentUuid") == thought["uuid"]:
                    one["parentUuid"] = thought["parentUuid"]
            assert [shape(one) for one in now] == [shape(one) for one in rest]


def kinds(record: dict[str, Any]) -> list[str]:
    content = record.get("message", {}).get("content")
    return [one["type"] for one in cast("list[Any]", content)] if isinstance(content, list) else []


STAY = {"type", "uuid", "parentUuid", "sessionId", "id", "tool_use_id", "timestamp", "version", "leafUuid"}


def shape(value: Any, name: str = "") -> Any:
    if isinstance(value, dict):
        return [(key, shape(inner, key)) for key, inner in cast("dict[str, Any]", value).items()]
    if isinstance(value, list):
        return [shape(one, name) for one in cast("list[Any]", value)]
    return value if name in STAY or not isinstance(value, str) else "a text"


def test_in_place_none_is_left_but_in_the_backup_and_forgetting_removes_that(
    clew: Console, root: Path, tmp_path: Path, sown: list[Sown]
) -> None:
    fill_the_index(clew, root, sown)
    ran = clew("redact", SESSION, "--in-place", "--root", root, width=80)
    assert ran.code == 0, ran.err
    assert_silent(ran, sown)
    entry = json.loads(clew("journal", "--json").out)[0]
    assert entry["command"] == "redact"
    backups = {Path(path) for path in entry["kept"]}
    assert len(backups) == 9, "one of each file that changed"
    joined = re.sub(r"\s*\n\s*", "", ran.out)
    assert all(str(path) in joined for path in backups)
    assert "clew undo --forget" in ran.out + ran.err
    everywhere = files(tmp_path, home())
    assert backups <= set(everywhere)
    assert_none({path: data for path, data in everywhere.items() if path not in backups}, sown)
    for path in backups:
        assert found_in(everywhere[path], sown), "the backup is what was there"
    path = root / "projects" / "-home-ada-lighthouse" / f"{SESSION}.jsonl"
    check_result(clew, root, path, path)

    assert clew("undo", "--forget").code == 0
    assert_none(files(tmp_path, home()), sown)
    assert "redacted" in clew("search", "redacted", "--root", root).out
    for command in (("ls",), ("usage",), ("sql", "SELECT count(*) FROM entries")):
        assert clew(*command, "--root", root).code == 0
    assert_none(files(tmp_path, home()), sown)
    for one in sown[:: len(sown) // 12]:
        word = max(re.findall(r"[A-Za-z0-9]+", parts(one.kind, one.secret)[0]), key=len)
        for how in ((), ("--literal",)):
            ran = clew("search", word, *how, "--json", "--root", root)
            assert json.loads(ran.out)["total"] == 0


def test_a_backup_that_was_not_forgotten_brings_all_back(clew: Console, root: Path, sown: list[Sown]) -> None:
    before = files(root)
    assert clew("redact", SESSION, "--in-place", "--root", root).code == 0
    listed = root / "history.jsonl"
    assert [path for path, data in files(root).items() if before[path] == data] == []
    assert listed.read_bytes().splitlines()[1] == before[listed].splitlines()[1], "of another session"
    with listed.open("ab") as file:
        file.write(b'{"display":"later","sessionId":"another"}\n')
    assert clew("undo").code == 0
    after = files(root)
    assert {path for path in before if before[path] != after[path]} == {listed}


def test_done_twice_is_done_once(clew: Console, root: Path, sown: list[Sown]) -> None:
    assert clew("redact", SESSION, "--in-place", "--root", root).code == 0
    before = files(root)
    told = json.loads(clew("redact", SESSION, "--in-place", "--json", "--root", root).out)
    assert told["result"] is None
    assert told["notes"][-1] == "There is nothing to change."
    assert files(root) == before


def test_prompts_that_stay_in_the_list_alone_are_cleaned_too(
    clew: Console, root: Path, sown: list[Sown]
) -> None:
    path = root / "history.jsonl"
    old = path.read_bytes()
    assert clew("redact", SESSION, "--in-place", "--root", root).code == 0
    path.write_bytes(old)
    ran = clew("redact", SESSION, "--in-place", "--root", root)
    assert ran.code == 0, ran.err
    assert not found_in(path.read_bytes(), [one for one in sown if one.place == "list of prompts"])


def test_a_dry_run_writes_nothing_and_tells_no_secret(
    clew: Console, root: Path, tmp_path: Path, sown: list[Sown]
) -> None:
    before = files(tmp_path, home())
    for more in ((), ("--in-place",)):
        for shown in (
            clew("redact", SESSION, "--dry-run", *more, "--root", root, width=80),
            clew("redact", SESSION, "--dry-run", "--json", *more, "--root", root),
        ):
            assert shown.code == 0
            assert_silent(shown, sown)
    now = {path: data for path, data in files(tmp_path, home()).items() if "cache" not in path.parts}
    assert now == {path: data for path, data in before.items() if "cache" not in path.parts}


def test_what_was_found_is_told_by_rule_and_by_place(clew: Console, root: Path, sown: list[Sown]) -> None:
    shown = clew("redact", SESSION, "--in-place", "--root", root, width=80)
    told = shown.out + shown.err
    flat = re.sub(r"\s+", " ", told)
    for rule in ("github-token ×", "private-key ×", "aws-key ×"):
        assert rule in flat
    for place in ("message.content", "toolUseResult", "thinking", "tool result file", "file history",
                  "todo list", "title", "list of prompts", "originalFile", "progress"):  # fmt: skip
        assert f"{place} ×" in flat
    assert widest(shown.err.splitlines()) <= 80
    paths = [line for line in shown.lines if not line.lstrip().startswith("backup")]
    assert widest(paths) <= 80


# A person's own patterns --------------------------------------------------------------------------


@pytest.fixture
def plainly(root: Path) -> tuple[Path, str]:
    """A session with a word that no rule knows."""
    word = f"LH-{some(Random(5), '123456789', 6)}"
    path = root / "projects" / "-x" / f"{SESSION}.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(Builder(SESSION).prompt(f"ticket {word} {'a' * 60}!").answer(f"{word}, yes").data())
    os.utime(path, (1_700_000_000, 1_700_000_000))
    return path, word


def test_a_pattern_is_taken_out(clew: Console, root: Path, plainly: tuple[Path, str]) -> None:
    path, word = plainly
    ran = clew("redact", SESSION, "--pattern", r"LH-\d{6}", "--json", "--root", root)
    assert ran.code == 0, ran.err
    data = Path(json.loads(ran.out)["result"]["path"]).read_bytes()
    assert word.encode() not in data
    assert data.count(b"[redacted:pattern:") == 2
    assert word.encode() in path.read_bytes()


@pytest.mark.parametrize("end", ["(", "[a", "(?P<1>x)", "**", "{99999999999999}"])
def test_a_pattern_that_makes_no_sense_is_an_error_that_does_not_show_it(
    clew: Console, root: Path, plainly: tuple[Path, str], end: str
) -> None:
    secret = some(Random(6), ALPHABET, 12)
    for form in ((), ("--json",)):
        ran = clew("redact", SESSION, "--pattern", secret + end, *form, "--root", root)
        assert ran.code == 1
        assert "pattern" in ran.err
        assert secret not in ran.err
    ran = clew("redact", SESSION, "--pattern", "a*", "--root", root)
    assert ran.code == 1


def test_a_pattern_that_takes_for_ever_ends_with_a_message(
    clew: Console, root: Path, plainly: tuple[Path, str]
) -> None:
    before = files(root)
    start = time.monotonic()
    ran = clew("redact", SESSION, "--pattern", "(a+)+$", "--root", root)
    assert ran.code == 1
    assert "took longer than 2 s" in ran.err
    assert time.monotonic() - start < 20
    assert files(root) == before


def test_a_session_that_is_not_there_is_an_error_without_a_secret(
    clew: Console, root: Path, sown: list[Sown]
) -> None:
    ran = clew("redact", "no-such-session", "--root", root)
    assert ran.code == 1
    assert_silent(ran, sown)
