"""Sending transcripts: what grew, was copied, cut, rewritten or is not complete, and what is never sent."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest

from clew.actions.tracing import Request, Sending, send_transcripts
from clew.actions.tracing_backfill import Backfill
from clew.actions.tracing_plans import plan_document
from clew.actions.tracing_sources import Open, Source, Wish
from clew.actions.usage import Request as UsageRequest
from clew.actions.usage import usage
from tests.builder import Builder, call, text
from tests.conftest import ROOT
from tests.trace.collector import Collector, collecting
from tests.trace.sending import SPANS, file_of, named, put, story

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from clew.trace.span import Span

CORPUS = sorted(path.parent for path in (ROOT / "tests" / "data" / "corpus").glob("*/*/projects"))


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


def environ(tmp_path: Path, collector: Collector) -> dict[str, str]:
    return {"HOME": str(tmp_path), "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.port}"}


def transcripts(
    tmp_path: Path,
    collector: Collector,
    *paths: Path,
    seconds: float = 10,
    settle: Callable[[str], object] | None = None,
) -> Sending:
    return send_transcripts(
        [(str(path), None) for path in paths],
        environ=environ(tmp_path, collector),
        state=tmp_path / "state",
        now_ms=time.time_ns() // 1_000_000,
        deadline=time.monotonic() + seconds,
        settle=settle,
    )


def test_only_what_is_new_is_sent_and_only_when_it_is_complete(tmp_path: Path, collector: Collector) -> None:
    path = put(tmp_path, story(2, ends=False).data(), age=10)
    first = transcripts(tmp_path, collector, path)
    assert (first.turns_sent, first.pending, first.already_sent) == (1, 1, 0)
    assert len(collector.spans) == SPANS
    put(tmp_path, story(2).data(), age=8)
    second = transcripts(tmp_path, collector, path)
    assert (second.turns_sent, second.spans_sent, second.already_sent, second.pending) == (1, SPANS, 1, 0)
    put(tmp_path, story(3).data(), age=6)
    third = transcripts(tmp_path, collector, path)
    assert (third.turns_sent, third.already_sent) == (1, 2)
    assert set(collector.spans.values()) == {1}
    assert len(collector.spans) == 3 * SPANS


def test_a_turn_that_grew_after_it_was_sent_gets_its_new_spans_alone(
    tmp_path: Path, collector: Collector
) -> None:
    path = put(tmp_path, story(1).data(), age=10)
    transcripts(tmp_path, collector, path)
    grown = story(1).answer("And one more thing.", message_id="msg_more")
    put(tmp_path, grown.data(), age=8)
    found = transcripts(tmp_path, collector, path)
    assert (found.turns_sent, found.spans_sent) == (1, 1)
    assert len(collector.traces) == 1
    assert len(collector.spans) == SPANS + 1
    assert set(collector.spans.values()) == {1}


@pytest.mark.parametrize("change", ["cut", "rewritten", "replaced", "torn", "reordered", "emptied"])
def test_no_change_of_a_file_sends_anything_twice_or_loses_it(
    tmp_path: Path, collector: Collector, change: str
) -> None:
    path = put(tmp_path, story(4).data(), age=10)
    transcripts(tmp_path, collector, path)
    whole = story(4).data()
    lines = whole.splitlines(keepends=True)
    match change:
        case "cut":
            data = b"".join(lines[: len(lines) // 2])
        case "rewritten":
            data = b"".join(line.replace(b"main", b"mine") for line in lines)
        case "replaced":
            path.unlink()
            data = story(3, session="other").data()
        case "torn":
            data = whole[:-40]
        case "reordered":
            data = b"".join([*lines, *lines[4:12]])
        case _:
            data = b""
    put(tmp_path, data, age=8)
    found = transcripts(tmp_path, collector, path)
    assert found.failed == ()
    assert set(collector.spans.values()) == {1}
    put(tmp_path, story(5).data(), age=6)
    last = transcripts(tmp_path, collector, path)
    assert (last.pending, last.unknown) == (0, 0)
    assert set(collector.spans.values()) == {1}
    assert len(collector.spans) == (5 + 3 * (change == "replaced")) * SPANS


def test_a_file_rewritten_in_place_with_the_same_size_and_time_is_read_when_it_is_fresh(
    tmp_path: Path, collector: Collector
) -> None:
    path = put(tmp_path, story(2, session="a").data(), age=0)
    stat = path.stat()
    assert transcripts(tmp_path, collector, path).turns_sent == 2
    with path.open("r+b") as file:
        file.write(story(2, session="b").data())
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    assert path.stat().st_size == stat.st_size
    assert transcripts(tmp_path, collector, path).turns_sent == 2


def fork(session: str, of: bytes) -> bytes:
    """Copy lines as the client does when it forks: only the session's id is another."""
    return of.replace(b'"sessionId":"s1"', f'"sessionId":"{session}"'.encode())


def test_a_fork_sends_its_own_turns_alone_in_whichever_order(tmp_path: Path, collector: Collector) -> None:
    base = story(3)
    forked = fork("fork", base.data()) + story(2, session="fork", start=10).data()
    paths = [put(tmp_path, forked, session="fork"), put(tmp_path, base.data())]
    first = transcripts(tmp_path, collector, *paths)
    second = transcripts(tmp_path, collector, *reversed(paths))
    assert first.turns_sent == 5
    assert second.turns_sent == 0
    assert len(collector.traces) == 5
    assert set(collector.spans.values()) == {1}


def test_what_an_endpoint_missed_is_sent_with_the_next_turn_of_any_session(
    tmp_path: Path, collector: Collector
) -> None:
    old = put(tmp_path, story(2, session="old").data(), session="old")
    new = put(tmp_path, story(1, session="new").data(), session="new")
    collector.script = lambda _number, _has_spans: "500" if _has_spans else "ok"
    assert transcripts(tmp_path, collector, old).pending == 2
    collector.script = lambda _number, _has_spans: "ok"
    found = transcripts(tmp_path, collector, new)
    assert found.turns_sent == 3
    assert len(collector.traces) == 3
    old.unlink()
    assert transcripts(tmp_path, collector, new).already_sent == 1


def test_nothing_a_file_holds_and_no_path_makes_it_raise(tmp_path: Path, collector: Collector) -> None:
    good = put(tmp_path, story(1).data())
    folder = tmp_path / "projects" / "-home-ada" / "folder.jsonl"
    folder.mkdir()
    bad = [
        put(tmp_path, data, session=f"bad {n}") for n, data in enumerate((b"\x00" * 999, b"{}\n[1]\n", b""))
    ]
    found = transcripts(tmp_path, collector, tmp_path / "nowhere.jsonl", folder, *bad, good)
    assert found.turns_sent == 1
    assert {one.where for one in found.failed} == {str(tmp_path / "nowhere.jsonl"), str(folder)}


def test_it_is_over_at_the_deadline_and_without_an_endpoint_at_once(
    tmp_path: Path, collector: Collector
) -> None:
    path = put(tmp_path, story(1).data())
    collector.script = lambda _number, _has_spans: "hang"
    began = time.monotonic()
    found = transcripts(tmp_path, collector, path, seconds=1.0)
    assert time.monotonic() - began < 2.0
    assert (found.pending, found.endpoints) == (1, 1)
    none = send_transcripts(
        [(str(path), None)],
        environ={"HOME": str(tmp_path)},
        state=tmp_path / "other",
        now_ms=0,
        deadline=time.monotonic() + 5,
    )
    assert none == Sending()
    assert not (tmp_path / "other").exists()


def test_settling_comes_before_reading(tmp_path: Path, collector: Collector) -> None:
    path = put(tmp_path, story(1, ends=False).data())

    def settle(told: str) -> None:
        assert told == str(path)
        put(tmp_path, story(1).data(), age=1)

    assert transcripts(tmp_path, collector, path, settle=settle).turns_sent == 1


def test_a_configuration_that_makes_no_sense_is_reported(tmp_path: Path, collector: Collector) -> None:
    (tmp_path / ".config" / "clew").mkdir(parents=True)
    (tmp_path / ".config" / "clew" / "trace.toml").write_text('secret = "abc\n')
    found = transcripts(tmp_path, collector, put(tmp_path, story(1).data()))
    assert "TOML" in found.failed[0].reason
    assert "abc" not in repr(found)


def test_a_sub_agents_transcript_stands_for_its_session(tmp_path: Path, collector: Collector) -> None:
    builder = Builder("s1").prompt("Go.", uuid=named("p"))
    builder.answer(call("task-1", "Task"), stop="tool_use", message_id="m1")
    builder.result("task-1", toolUseResult={"agentId": "a1", "status": "completed"})
    builder.answer("Done.", message_id="m2")
    path = put(tmp_path, builder.data())
    side: dict[str, Any] = {"isSidechain": True, "agentId": "a1"}
    agent = Builder("s1").prompt("Work.", **side).answer("Counted.", message_id="a-m1", **side)
    beside = path.parent / path.stem / "subagents" / "agent-a1.jsonl"
    beside.parent.mkdir(parents=True)
    beside.write_bytes(agent.data())
    found = transcripts(tmp_path, collector, beside)
    assert found.failed == ()
    assert (found.turns_sent, found.spans_sent) == (1, 6)


# --- what is in it ------------------------------------------------------------------------------------------

KEY = "sk-ant-api03-" + "Zx9Qw7Er5Ty3Ui1Op8As6Df4Gh2Jk0Lz" * 3 + "AA"
PASSWORD = "correct-horse-7-battery"


def secretive() -> bytes:
    builder = Builder("s1").prompt(f"The key is {KEY}, use it.", uuid=named("p"))
    given = {"command": "login", "env": {"DB_PASSWORD": PASSWORD, "PATH": "/usr/bin"}}
    builder.answer(text("I log in."), call("t1", "Bash", given), stop="tool_use", message_id="m1")
    builder.result("t1", f"logged in with {PASSWORD}")
    return builder.answer(f"Done with {KEY}.", message_id="m2").data()


def test_secrets_do_not_leave_those_under_a_telling_name_neither(
    tmp_path: Path, collector: Collector
) -> None:
    path = put(tmp_path, secretive())
    assert transcripts(tmp_path, collector, path).turns_sent == 1
    sent = str(collector.requests[0][2])
    assert KEY not in sent
    assert PASSWORD not in sent
    assert "redacted" in sent
    assert "logged in with" in sent


def sending(tmp_path: Path, collector: Collector, **options: Any) -> str:
    request = Request([tmp_path], [collector.url], environ={"HOME": str(tmp_path)}, **options)
    found = Backfill(request, state=tmp_path / "state", now_ms=time.time_ns() // 1_000_000).send()
    assert found.failed == ()
    assert found.turns_sent == 1
    return str(collector.requests[0][2])


def test_secrets_are_sent_only_on_request(tmp_path: Path, collector: Collector) -> None:
    put(tmp_path, secretive())
    assert KEY in sending(tmp_path, collector, redact=False)


@pytest.mark.parametrize("kept", [0, 300])
def test_spans_are_the_same_however_much_clean_text_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    builder = Builder("s1")
    for n in range(4):
        builder.prompt(f"Use {KEY}, {n}.", uuid=named("kept", n))
        about = {"password": f"correct-horse-{n}-battery", "note": f"correct-horse-{n}-battery", "other": KEY}
        builder.answer(call(f"t{n}", "Bash", about), stop="tool_use", message_id=f"k{n}a")
        builder.result(f"t{n}", f"it said {KEY} and correct-horse-{n}-battery")
        builder.answer(f"correct-horse-{n}-battery was used.", message_id=f"k{n}b")
    source = Source(file_of(put(tmp_path, builder.data())))

    def spans() -> list[Span]:
        opened = Open(source, Wish(state=tmp_path / "state"))
        found = [span for turn in opened.traces.turns() for span in turn.spans()]
        opened.close()
        return found

    wanted = spans()
    assert len(wanted) == 4 * SPANS
    assert KEY not in repr(wanted)
    assert "correct-horse" not in repr(wanted)
    monkeypatch.setattr("clew.actions.tracing_sources._KEPT", kept)
    assert spans() == wanted


def test_without_content_no_word_leaves(tmp_path: Path, collector: Collector) -> None:
    put(tmp_path, secretive())
    sent = sending(tmp_path, collector, content=False)
    for word in ("The key is", "log in", "logged in", "Done with", "DB_PASSWORD", KEY):
        assert word not in sent
    assert "claude" in sent


# --- backfill -----------------------------------------------------------------------------------------------


def planned(root: Path, tmp_path: Path, *others: Path, **more: Any) -> dict[str, Any]:
    request = Request([root, *others], environ={"HOME": str(tmp_path)})
    backfill = Backfill(request, state=tmp_path / "state", now_ms=time.time_ns() // 1_000_000, **more)
    plan = backfill.plan()
    document = plan_document(plan, plan.totals())
    document["traces"] = list(document["traces"])  # pyright: ignore[reportArgumentType]  # an iterator
    return document


ONE_BY_ONE = [pytest.param([root], id=f"{root.parent.name}/{root.name}") for root in CORPUS]


@pytest.mark.parametrize("roots", [*ONE_BY_ONE, pytest.param(CORPUS, id="all")])
def test_what_would_be_sent_and_the_rest_are_the_usage(tmp_path: Path, roots: list[Path]) -> None:
    document = planned(roots[0], tmp_path, *roots[1:])
    total = usage(UsageRequest(roots=[*map(str, roots)])).account.total
    told = document["usage"]
    assert told["tokens"] == {
        "input": total.tokens.input,
        "output": total.tokens.output,
        "cache_read": total.tokens.cache_read,
        "cache_write_5m": total.tokens.cache_write_5m,
        "cache_write_1h": total.tokens.cache_write_1h,
    }
    assert told["cost_usd"] == pytest.approx(total.cost_usd or 0.0, abs=1e-9)
    assert told["messages"] == total.messages


@pytest.mark.parametrize("root", CORPUS[::3], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_is_sent_is_what_would_be_sent(tmp_path: Path, collector: Collector, root: Path) -> None:
    document = planned(root, tmp_path)
    request = Request([root], [collector.url], environ={"HOME": str(tmp_path)})
    now = time.time_ns() // 1_000_000
    sent = Backfill(request, state=tmp_path / "state", now_ms=now).send()
    assert sent.failed == ()
    assert sent.turns_sent == document["would_send"]["turns"] == len(collector.traces)
    assert sent.spans_sent == document["would_send"]["spans"]
    parents = {
        (span.trace_id.hex(), span.span_id.hex()): span.parent_span_id.hex() or None
        for _, _, body in collector.requests
        for scope in body.resource_spans[0].scope_spans
        for span in scope.spans
    }
    assert parents == {
        (trace["trace_id"], span["span_id"]): span["parent_id"]
        for trace in document["traces"]
        for span in trace["spans"]
    }
    assert set(collector.spans.values()) <= {1}
    again = Backfill(request, state=tmp_path / "state", now_ms=now).send()
    assert (again.turns_sent, again.spans_sent, again.already_sent) == (0, 0, sent.turns_sent)


def test_an_abandoned_turn_is_sent_after_a_day_and_says_what_it_is(
    tmp_path: Path, collector: Collector
) -> None:
    path = put(tmp_path, story(1, ends=False).data(), age=3600)
    assert transcripts(tmp_path, collector, path).pending == 1
    put(tmp_path, story(1, ends=False).data(), age=2 * 86_400)
    assert transcripts(tmp_path, collector, path).turns_sent == 1
    (span, *_) = collector.requests[0][2].resource_spans[0].scope_spans[0].spans
    told = {one.key: one.value for one in span.attributes}
    assert told["clew.turn.is_complete"].bool_value is False


def test_only_turns_of_the_time_asked_for_are_sent_and_the_others_later(
    tmp_path: Path, collector: Collector
) -> None:
    builder = Builder("s1").prompt("Then.", uuid=named("then"), timestamp="2026-01-01T10:00:00.000Z")
    builder.answer("Yes.", message_id="m1", timestamp="2026-01-01T10:00:01.000Z")
    builder.prompt("Now.", uuid=named("now"), timestamp="2026-03-01T10:00:00.000Z")
    builder.answer("Yes.", message_id="m2", timestamp="2026-03-01T10:00:01.000Z")
    put(tmp_path, builder.data())
    request = Request([tmp_path], [collector.url], environ={"HOME": str(tmp_path)})
    now = time.time_ns() // 1_000_000
    since = Backfill(request, state=tmp_path / "state", now_ms=now, since="2026-02-01")
    assert since.send().turns_sent == 1
    assert planned(tmp_path, tmp_path, since="2026-02-01")["rest"][0]["reason"] == "not_asked_for"
    assert Backfill(request, state=tmp_path / "state", now_ms=now).send().turns_sent == 1
    assert len(collector.traces) == 2


def test_a_fork_whose_origin_is_gone_is_sent_whole(tmp_path: Path, collector: Collector) -> None:
    # Up to 2.1.45 the copied lines keep the id of the session they come from.
    origin = story(2, session=named("s1")).data()
    put(tmp_path, origin + story(1, session=named("fork"), start=10).data(), session="fork")
    request = Request([tmp_path], [collector.url], environ={"HOME": str(tmp_path)})
    now = time.time_ns() // 1_000_000
    put(tmp_path, origin)
    document = planned(tmp_path, tmp_path)
    turns = sorted((one["session"], one["turn"]) for one in document["traces"])
    # Their oldest lines are the same one; so what both have is that of the lower id.
    owner = min(named("s1"), named("fork"))
    assert turns == sorted([(owner, 1), (owner, 2), (named("fork"), 3)])
    put(tmp_path, b"")
    assert Backfill(request, state=tmp_path / "state", now_ms=now).send().turns_sent == 3


def test_the_report_has_the_agreed_shape(tmp_path: Path, collector: Collector) -> None:
    found = transcripts(tmp_path, collector, put(tmp_path, story(1).data()))
    document = json.loads(json.dumps(found.as_dict()))
    names = ("turns_sent", "spans_sent", "already_sent", "pending", "failed")
    assert [document[name] for name in names] == [1, SPANS, 0, 0, []]
