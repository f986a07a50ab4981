"""Rows say what the commands say, and what a few lines of plain code count in the same files."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, cast

import pytest

from clew.actions.checking import check_document, check_file
from clew.actions.listing import list_sessions
from clew.actions.opening import file_at
from clew.actions.stores import open_store
from clew.format.lines import LONG, BytesSource
from clew.format.records import Record, scan
from clew.format.times import iso
from clew.session.accounts import Question, Sum, account
from clew.session.fold import Summary, fold
from clew.session.ledger import Ledger, Owners
from clew.session.pricing import Tokens
from clew.session.session import Session
from clew.session.usage import Folder
from clew.tables import rows
from clew.tables.rows import EntryRow, Home
from clew.tables.schema import TABLES
from tests.builder import Builder, call, text
from tests.fuzz.mutate import damaged_file
from tests.session.recorded import SCENARIOS
from tests.tables.recorded import AT, DATA, MADE, RECORDED, Json, home, lines, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from clew.session.fold import Facts

# --- entries ------------------------------------------------------------------------------------------------


def test_entries_by_kind_are_as_many_as_the_lines_of_the_files() -> None:
    """Counted by plain means: what the client writes has one record a line."""
    for path in (*RECORDED, *MADE):
        counted: Counter[str] = Counter()
        for data in lines(path):
            kind = data.get("type") or data["message"]["role"]
            inner = data.get("subtype") or data.get("operation")
            inner = inner or data.get("data" if kind == "progress" else "attachment", {}).get("type")
            counted[kind if kind in ("user", "assistant") or not inner else f"{kind}/{inner}"] += 1
        found = Counter(row.kind for row in rows.entry_rows(read(path), home(path)))
        assert found == counted, path


def test_an_entry_s_bytes_are_where_its_row_says() -> None:
    for path in (*RECORDED, *MADE):
        data = path.read_bytes()
        for row in rows.entry_rows(read(path), home(path)):
            own = json.loads(data[row.offset : row.offset + row.length])
            assert data[row.offset + row.length :][:1] in (b"\n", b"")
            assert row.line == data.count(b"\n", 0, row.offset) + 1
            assert (row.uuid, row.parent_uuid) == (own.get("uuid"), own.get("parentUuid"))
            assert (row.is_meta, row.is_sidechain) == (bool(own.get("isMeta")), bool(own.get("isSidechain")))
            # A few loose lines have a number of their own, and the time in the message.
            times: list[object] = [own.get("timestamp"), own.get("message", {}).get("timestamp")]
            time = next((one for one in times if isinstance(one, str)), None)
            assert row.day == (time[:10] if time else None)
            assert (iso(row.time_ms) or "")[:19] == (time or "")[:19]
            assert row.role == (row.type if row.type in ("user", "assistant") else None)
            assert row.kind.split("/")[0] == row.type


def test_a_row_made_in_passing_differs_by_round_and_input_kind_alone() -> None:
    for path in RECORDED:
        passing = [
            rows.entry_row(item, home(path))
            for item in scan(BytesSource(path.read_bytes()))
            if isinstance(item, Record)
        ]
        known = list(rows.entry_rows(read(path), home(path)))
        assert passing == [row._replace(round=None, input_kind=None) for row in known]


def test_user_entries_have_a_round_and_an_input_kind_and_others_have_none() -> None:
    kinds: Counter[str | None] = Counter()
    for path in RECORDED:
        for row in rows.entry_rows(read(path), home(path)):
            assert (row.round is not None) == (row.input_kind is not None) == (row.role == "user")
            kinds[row.input_kind] += 1
    assert {"text", "tool_result", "meta", "interrupt", "compact_summary", "image"} <= set(kinds)


def test_rounds_are_those_of_the_session() -> None:
    built = Builder().user("One").answer("Yes.").user("Two").answer("Yes.").wait(3600).user("Three")
    found = [row.round for row in rows.entry_rows(built.session(), AT) if row.role == "user"]
    assert found == ["new_session", "new_round", "resume"]


def test_a_line_of_a_sub_agent_names_it() -> None:
    built = Builder().user("Hi", isSidechain=True).user("Ho", isSidechain=True, agentId="a1").user("He")
    made = [row.agent_id for row in rows.entry_rows(built.session(), AT)]
    assert made == ["sidechain", "a1", None]
    made = [row.agent_id for row in rows.entry_rows(built.session(), Home("s1", "b2"))]
    assert made == ["b2", "a1", "b2"]


def test_blanks_at_the_end_of_a_line_are_not_the_record_s() -> None:
    one, two = Builder().user("One").data()[:-1], Builder().user("Two").data()[:-1]
    data = one + b" \r\n" + two + b"\n" + one + two + b"\n \n" + one
    made = list(rows.entry_rows(Session.read(data), AT))
    assert [data[row.offset :][: row.length] for row in made] == [one, two, one, two, one]
    assert [row.line for row in made] == [1, 2, 3, 3, 5]


def test_a_line_too_long_to_hold_is_where_the_session_has_it() -> None:
    data = Builder().user("x" * (LONG + 10)).user("Two").data()
    session = Session.read(data)
    made = list(rows.entry_rows(session, AT))
    assert json.loads(data[: made[0].length])["uuid"] == made[0].uuid == "u1"
    assert [(row.offset, row.length) for row in made] == [
        (session.table.offset[row], session.table.length[row]) for row in range(2)
    ]


def test_a_long_name_of_a_kind_is_cut() -> None:
    record = next(iter(scan(BytesSource(b'{"type":"' + b"x" * 5000 + b'"}\n'))))
    assert isinstance(record, Record)
    row = rows.entry_row(record, AT)
    assert row.kind == row.type == "x" * 200
    assert row.role is None


def test_a_line_with_no_type_at_all_is_untyped() -> None:
    row = next(rows.entry_rows(Session.read(b"{}\n"), AT))
    assert row == EntryRow("s1", None, 1, 0, 2, "untyped", None, None, None, None, None, None, False, False, None, None)  # fmt: skip  # noqa: E501


# --- messages and usage -------------------------------------------------------------------------------------


def folded(data: bytes, name: str = "f") -> Any:
    return Folder("calls").file(name, [data])


def test_messages_are_those_that_plain_code_finds() -> None:
    seen = 0
    for path in RECORDED:
        said: dict[str, list[Json]] = {}
        for data in lines(path):
            is_said = data["type"] == "assistant" and not data.get("isApiErrorMessage")
            if is_said and data["message"]["model"] != "<synthetic>":
                said.setdefault(data["message"]["id"], []).append(data)
        found = list(rows.message_rows(folded(path.read_bytes()), home(path), read(path)))
        assert [row.message_id for row in found] == list(said), path
        for row, parts in zip(found, said.values(), strict=True):
            best = max(reversed(parts), key=lambda data: data["message"]["usage"]["output_tokens"])
            usage = best["message"]["usage"]
            assert (row.input_tokens, row.output_tokens) == (usage["input_tokens"], usage["output_tokens"])
            assert row.model == parts[0]["message"]["model"]
            assert iso(row.time_ms) == parts[0]["timestamp"]
            assert row.lines == len({data["uuid"] for data in parts})
            reasons = [one for data in parts if (one := data["message"]["stop_reason"])]
            assert row.stop_reason == (reasons[-1] if reasons else None)
            names = {b["id"]: b["name"] for data in parts for b in data["message"]["content"] if "name" in b}
            assert json.loads(row.calls) == list(names.values())
            seen += 1
    assert seen > 700


def test_without_the_session_only_the_end_and_the_lines_of_a_message_are_missing() -> None:
    for path in RECORDED[::7]:
        usage = folded(path.read_bytes())
        known = list(rows.message_rows(usage, home(path), read(path)))
        quick = list(rows.message_rows(usage, home(path)))
        assert quick == [row._replace(stop_reason=None, lines=None) for row in known]
        assert all(row.lines for row in known)


def test_usage_has_a_message_of_two_files_once_and_adds_up_to_the_account() -> None:
    ledger = Ledger()
    for path in RECORDED:
        ledger.add(folded(path.read_bytes(), str(path)))
    assert len(ledger.copies) > 50

    def session_of(path: str) -> str:
        return Path(path).stem

    owners = Owners(session_of, lambda _: 0)
    settled = ledger.rows | {key: owners.settle(copies) for key, copies in ledger.copies.items()}
    made = [
        rows.usage_row(key, row, Home(session_of(row[8][0])), project="p") for key, row in settled.items()
    ]
    assert len({row.message_id for row in made}) == len(made)
    total = account(ledger, Question("session", session_of=session_of)).total
    assert Tokens(*(sum(getattr(row, name) for row in made) for name in TABLES["usage"].names[7:12])) == (
        total.tokens
    )
    assert sum(row.cost_usd or 0 for row in made) == pytest.approx(total.cost_usd)
    assert (total.messages, total.web_searches) == (len(made), sum(row.web_searches for row in made))


def message(usage: Json, **more: Any) -> bytes:
    said: Json = {
        "role": "assistant",
        "id": "m1",
        "model": "claude-opus-4-1",
        "content": [],
        "usage": usage,
        **more,
    }
    return json.dumps({"type": "assistant", "timestamp": "2026-03-04T09:00:00Z", "message": said}).encode()


def test_a_message_tells_its_terms_its_advisers_and_what_all_of_it_cost() -> None:
    asked = {"type": "advisor_message", "model": "claude-sonnet-4-5", "input_tokens": 9, "output_tokens": 3}
    usage = {
        "input_tokens": 1, "output_tokens": 2, "service_tier": "standard", "iterations": [asked],
        "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 1},
    }  # fmt: skip
    found = folded(message(usage, content=[call("a", "Read"), call("b", "Bash")]))
    ((key, row),) = found.rows.items()
    made = rows.usage_row(key, row, AT, project="/p")
    assert (made.project, made.day, made.web_searches, made.web_fetches) == ("/p", "2026-03-04", 2, 1)
    assert (made.service_tier, made.calls) == ("standard", '["Read","Bash"]')
    (told,) = json.loads(made.advisers)
    assert told == {
        "model": "claude-sonnet-4-5", "input_tokens": 9, "output_tokens": 3, "cache_read_tokens": 0,
        "cache_write_5m_tokens": 0, "cache_write_1h_tokens": 0,
    }  # fmt: skip
    # Dollars a million tokens: opus 15 and 75, sonnet 3 and 15; a search is a cent.
    assert made.cost_usd == pytest.approx((15 + 2 * 75 + 9 * 3 + 3 * 15) / 1e6 + 0.02)


@pytest.mark.parametrize(("tokens", "cost"), [(0, 0.0), (5, None)])
def test_a_model_without_a_price_costs_nothing_only_if_it_used_nothing(
    tokens: int, cost: float | None
) -> None:
    found = folded(message({"output_tokens": tokens}, model="unheard-of"))
    ((key, row),) = found.rows.items()
    assert rows.usage_row(key, row, AT, project="p").cost_usd == cost


def test_a_message_without_an_id_goes_by_what_stands_for_it() -> None:
    said: Json = {"role": "assistant", "model": "m", "content": [text("x")], "usage": {"output_tokens": 1}}
    one = {"type": "assistant", "uuid": "u7", "message": said}
    data = json.dumps(one).encode() + b"\n" + json.dumps({**one, "requestId": "r9"}).encode() + b"\n"
    made = list(rows.message_rows(folded(data), AT, Session.read(data)))
    assert [(row.message_id, row.lines) for row in made] == [("line u7", 1), ("request r9", 1)]


# --- sessions and problems ----------------------------------------------------------------------------------


def facts(path: Path, elsewhere: Mapping[str, str] | None = None) -> Facts:
    summary = Summary()
    extent = fold(BytesSource(path.read_bytes()), summary)
    return summary.result(extent, summaries=elsewhere)


def test_sessions_are_those_of_the_list() -> None:
    seen = 0
    for root in SCENARIOS:
        listing = list_sessions(open_store([root]), now=0.0, full=True).rows
        elsewhere: dict[str, str] = {}
        for listed in listing:
            elsewhere |= facts(Path(listed.path)).summaries
        for listed in listing:
            made = rows.session_row(
                facts(Path(listed.path), elsewhere),
                session_id=listed.id,
                path=listed.path,
                folder=listed.folder,
                changed_ms=int(listed.changed * 1000),
                agents=listed.agents,
                used=Sum(
                    listed.tokens or Tokens(),
                    cost_usd=listed.cost_usd,
                    unpriced=listed.unpriced_messages or 0,
                    models=(*listed.models, *listed.unpriced_models),
                ),
            )
            told = listed.as_dict()
            assert made.session_id == told.pop("id")
            for name in ("started", "ended", "changed"):
                assert iso(getattr(made, f"{name}_ms")) == told.pop(name)
            for name in ("models", "client_versions", "session_ids", "prs", "unpriced_models"):
                assert json.loads(getattr(made, name)) == told.pop(name)
            for name, count in cast("dict[str, int]", told.pop("tokens")).items():
                assert getattr(made, f"{name}_tokens") == count
            assert {name: getattr(made, name) for name in told} == told
            seen += 1
    assert seen > 150


def test_what_was_not_added_up_is_null() -> None:
    made = rows.session_row(Summary().result(), session_id="s", path="/s", folder="f", changed_ms=0)
    assert (made.cost_usd, made.input_tokens, made.unpriced_messages) == (None, None, None)
    assert (made.project, made.models, made.prs, made.kind) == ("f", "[]", "[]", "empty")


def test_the_unfinished_end_of_a_live_session_is_no_damage() -> None:
    summary = Summary()
    fold(BytesSource(Builder().user("Hi").data() + b'{"type":"us'), summary)
    made = [
        rows.session_row(summary.result(), session_id="s", path="/s", folder="f", changed_ms=0, live=live)
        for live in (False, True)
    ]
    assert [row.damaged for row in made] == [1, 0]


def test_models_without_a_price_are_named() -> None:
    used = Sum(Tokens(1), 1, cost_usd=None, unpriced=1, models=("claude-opus-4-1", "unheard-of"))
    made = rows.session_row(
        Summary().result(), session_id="s", path="/s", folder="f", changed_ms=0, used=used
    )
    assert (made.unpriced_models, made.unpriced_messages, made.cost_usd) == ('["unheard-of"]', 1, None)


def test_problems_are_those_of_the_check() -> None:
    seen: Counter[str] = Counter()
    for path in (*RECORDED[::3], *MADE, *sorted(DATA.glob("resume-cases/**/*.jsonl"))[:60]):
        told = cast("list[Json]", check_document(check_file(file_at(path)))["problems"])
        found = list(rows.problem_rows(read(path), home(path)))
        assert [dict(zip(row._fields[2:], row[2:], strict=True)) for row in found] == told, path
        seen.update(row.code for row in found)
    assert {"unpaired-call", "missing-parent", "not-resumable"} <= set(seen)


def test_a_conversation_most_of_which_hangs_on_nothing_is_a_problem_of_the_file() -> None:
    talk = Builder()
    for n in range(5):
        talk.prompt(f"Question {n}").answer(f"Answer {n}")
    talk.rewind(None).prompt("Something else").answer("Yes.")
    found = list(rows.problem_rows(talk.session(), AT))
    assert [(row.code, row.line) for row in found] == [("unreachable", None)]


# --- hostile files ------------------------------------------------------------------------------------------


@pytest.fixture
def base() -> Iterable[sqlite3.Connection]:
    types = {"text": "TEXT", "integer": "INTEGER", "real": "REAL", "boolean": "INTEGER"}
    with sqlite3.connect(":memory:") as made:
        for table in TABLES.values():
            columns = ", ".join(f"{one.name} {types[one.type]}" for one in table.columns)
            made.execute(f"CREATE TABLE {table.name} ({columns}) STRICT")
        yield made
    made.close()


def insert(base: sqlite3.Connection, name: str, made: Iterable[tuple[object, ...]]) -> int:
    marks = ", ".join("?" * len(TABLES[name].columns))
    return base.executemany(f"INSERT INTO {name} VALUES ({marks})", made).rowcount


@pytest.mark.parametrize("seed", range(6))
def test_a_strict_database_takes_every_row_of_any_damaged_file(base: sqlite3.Connection, seed: int) -> None:
    random = Random(seed)
    entries = 0
    for _ in range(25):
        data = damaged_file(random)
        session = Session.read(data, name="s1")
        entries += insert(base, "entries", rows.entry_rows(session, AT))
        insert(base, "turns", rows.turn_rows(session, AT))
        insert(base, "calls", rows.call_rows(session, AT))
        insert(base, "files", rows.file_rows(session, AT))
        insert(base, "problems", rows.problem_rows(session, AT))
        usage = folded(data)
        insert(base, "messages", rows.message_rows(usage, AT, session))
        insert(base, "usage", (rows.usage_row(k, row, AT, project="p") for k, row in usage.rows.items()))
        summary = Summary()
        known = summary.result(fold(BytesSource(data), summary))
        row = rows.session_row(known, session_id="s1", path="/s\udcff", folder="f", changed_ms=0)
        insert(base, "sessions", [row])
    assert entries > 100
    assert (
        base.execute("SELECT count(*) FROM entries WHERE day IS NULL AND time_ms IS NOT NULL").fetchone()[0]
        == 0
    )


def test_half_a_character_and_numbers_too_large_are_made_fit(base: sqlite3.Connection) -> None:
    half = "x\ud800"
    built = Builder(half).user(half, uuid=half, agentId=half)
    built.answer(call(half, half, {"file_path": half}), message_id=half, model=half)
    built.line({"type": half, "subtype": half}).line({"type": "custom-title", "customTitle": half})
    built.line({"type": "pr-link", "prNumber": 10**30, "prUrl": half})
    session = built.session()
    assert insert(base, "entries", rows.entry_rows(session, Home("s1"))) == 5
    summary = Summary()
    known = summary.result(fold(BytesSource(built.data()), summary))
    insert(base, "sessions", [rows.session_row(known, session_id="s", path="/", folder="", changed_ms=0)])
    insert(base, "turns", rows.turn_rows(session, AT))
    insert(base, "calls", rows.call_rows(session, AT))
    insert(base, "messages", rows.message_rows(folded(built.data()), AT, session))
    assert [*base.execute("SELECT title FROM sessions"), *base.execute("SELECT prompt FROM turns")] == [
        ("x\ufffd",),
        ("x\ufffd",),
    ]
