"""The ledger under crashes, second senders, damage and loss."""

from __future__ import annotations

import random
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING

import pytest

from clew.trace import endpoints, ledger
from clew.trace.ledger import Ids, Ledger, Seen
from clew.trace.ledger_file import LedgerError, ledger_path, open_file
from tests.conftest import ROOT
from tests.trace.collector import Collector, collecting
from tests.trace.sending import SPANS, Sender, put, story

if TYPE_CHECKING:
    from pathlib import Path

ENDPOINT = endpoints.otlp("http://localhost:4318/v1/traces", headers={"Authorization": "Bearer abcdefgh"})
ONE = Ids(b"t" * 16, b"1" * 8)
TWO = Ids(b"t" * 16, b"2" * 8)


def test_a_span_is_planned_then_sent_then_acknowledged(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as book:
        number = book.endpoint(ENDPOINT)
        request, free = book.plan(number, [ONE, TWO])
        assert free == {ONE, TWO}
        assert book.known(number, ONE.trace) == {ONE.span: "planned", TWO.span: "planned"}
        book.sent(request, 1)
        assert book.known(number, ONE.trace)[ONE.span] == "sent"
        book.acknowledged(request)
        assert book.known(number, ONE.trace)[ONE.span] == "acknowledged"
        assert book.plan(number, [ONE, TWO])[1] == set()
        state = book.states()[ENDPOINT.key]
        assert (state.traces, state.spans, state.unknown_spans) == (1, 2, 0)


def test_only_a_plan_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    opened = open_file(tmp_path)
    told: list[str] = []
    with Ledger(*opened) as book:
        number = book.endpoint(ENDPOINT)
        opened.database.set_trace_callback(told.append)

        def waits() -> bool:
            """Whether what was last committed is on the disk."""
            assert told[-1] == "COMMIT"
            (level,) = opened.database.execute("PRAGMA synchronous").fetchone()
            return level == 2

        request, _ = book.plan(number, [ONE])
        assert not waits()
        other = book.divide(request, number, [ONE])
        assert waits()
        for note in (book.acknowledged, book.refused, book.lost, book.unsent, book.back):
            last, _ = book.plan(number, [TWO])
            assert not waits()
            book.sent(last, 1)
            assert waits()
            note(last)
            assert waits(), note
            book.back(last)
        book.back(other)


def test_what_was_planned_by_a_sender_that_is_over_is_free_and_what_it_sent_is_unknown(
    tmp_path: Path,
) -> None:
    with Ledger.open(tmp_path) as book:
        number = book.endpoint(ENDPOINT)
        book.plan(number, [ONE])
        book.sent(book.plan(number, [TWO])[0], 5)
        with Ledger.open(tmp_path) as other:
            # The first is still at work.
            assert other.known(number, ONE.trace) == {ONE.span: "planned", TWO.span: "sent"}
            assert other.plan(number, [ONE, TWO])[1] == set()
    with Ledger.open(tmp_path) as book:
        assert book.known(number, ONE.trace) == {TWO.span: "unknown"}
        (lost,) = book.unknown(number)
        assert (lost.spans, lost.sent_ms) == ((TWO,), 5)
        book.tidy(number)
        assert book.plan(number, [ONE, TWO])[1] == {ONE}
        book.resolve(lost.id, number, [TWO], [])
        assert book.known(number, TWO.trace)[TWO.span] == "acknowledged"
        assert not book.unknown(number)


def test_endpoints_are_told_apart_by_address_service_and_project_and_by_no_password(tmp_path: Path) -> None:
    url = "http://localhost:6006/v1/traces"
    keys = {
        one.key
        for one in (
            endpoints.otlp(url),
            endpoints.otlp(url, service="other"),
            endpoints.otlp("http://localhost:6007/v1/traces"),
            endpoints.phoenix(url, project="a"),
            endpoints.phoenix(url, project="b"),
            endpoints.langfuse("http://localhost:6006", "pk-1", "sk-1"),
            endpoints.langfuse("http://localhost:6006", "pk-2", "sk-1"),
            endpoints.otlp(url, headers={"x-mlflow-experiment-id": "7"}),
        )
    }
    assert len(keys) == 8
    same = {
        endpoints.otlp(url).key,
        endpoints.otlp(url, headers={"Authorization": "Bearer new"}).key,
        endpoints.otlp("http://me:pass@localhost:6006/v1/traces?api_key=12345678").key,
    }
    assert len(same) == 1


def test_only_its_owner_may_read_it_and_it_holds_no_secret(tmp_path: Path) -> None:
    url = "http://me:hunter22@localhost:4318/v1/traces?token=tok-998877"
    with Ledger.open(tmp_path) as book:
        book.endpoint(endpoints.otlp(url, headers={"X-Key": "key-554433"}))
        for file in ledger_path(tmp_path).parent.iterdir():
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
            for secret in (b"hunter22", b"tok-998877", b"key-554433"):
                assert secret not in file.read_bytes()
    assert stat.S_IMODE(ledger_path(tmp_path).parent.stat().st_mode) == 0o700


@pytest.mark.parametrize("damage", ["zeros", "text", "cut", "middle"])
def test_a_damaged_ledger_is_put_aside_and_all_is_sent_again_with_the_same_ids(
    tmp_path: Path, damage: str
) -> None:
    path = put(tmp_path, story(40).data())
    state = tmp_path / "state"
    with collecting() as collector:
        sender = Sender(state, (endpoints.otlp(collector.url),))
        assert sender.run(path).turns_sent == 40
        file = ledger_path(state)
        with sqlite3.connect(file) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        data = bytearray(file.read_bytes())
        match damage:
            case "zeros":
                data[:100] = bytes(100)
            case "text":
                data = bytearray(b"what is this\n" * 400)
            case "cut":
                data = data[: len(data) // 3]
            case _:
                data[4096:] = b"\xff" * (len(data) - 4096)
        file.write_bytes(data)
        put(tmp_path, story(41).data(), age=30)
        found = sender.run(path)
        assert (found.turns_sent, found.failed) == (41, ())
        (note,) = found.notes
        assert "damaged" in note
        assert "sent again, with the same ids" in note
        assert len(collector.spans) == 41 * SPANS
        assert min(collector.spans.values()) == 1
        assert max(collector.spans.values()) == 2
        assert sender.run(path).already_sent == 41


def test_a_lost_ledger_is_noticed_and_a_first_one_is_nothing_to_tell(tmp_path: Path) -> None:
    with Ledger.open(tmp_path) as book:
        assert book.note is None
    with Ledger.open(tmp_path) as book:
        assert book.note is None
    for file in ledger_path(tmp_path).parent.glob("ledger*"):
        file.unlink()
    with Ledger.open(tmp_path) as book:
        assert book.note is not None
        assert "gone" in book.note


def test_a_ledger_of_a_newer_clew_is_left_alone(tmp_path: Path) -> None:
    Ledger.open(tmp_path).close()
    database = sqlite3.connect(ledger_path(tmp_path))
    database.execute("PRAGMA user_version = 99")
    database.close()
    with pytest.raises(LedgerError, match="newer"):
        Ledger.open(tmp_path)


def test_a_state_folder_that_cannot_be_made_is_an_error_and_nothing_is_sent(tmp_path: Path) -> None:
    path = put(tmp_path, story(1).data())
    (tmp_path / "state").write_text("a file")
    with collecting() as collector:
        found = Sender(tmp_path / "state", (endpoints.otlp(collector.url),)).run(path)
    assert found.turns_sent == 0
    assert found.failed
    assert not collector.requests


def test_what_waits_is_kept_as_pointers_up_to_a_cap_and_the_oldest_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger, "POINTERS", 100_000)
    with Ledger.open(tmp_path) as book:
        number = book.endpoint(ENDPOINT)
        files = [Seen(f"/home/ada/{n:04}-{'x' * 100}.jsonl", "", 3, 0, 3) for n in range(2000)]
        for n in range(0, 2000, 100):
            book.note_files(number, files[n : n + 100], now_ms=n)
        waiting = book.waiting(number)
        assert 400 < len(waiting) < 700
        assert waiting == [one.path for one in files[: len(waiting)]]
        book.note_files(number, [Seen(files[0].path, "now", 3)], now_ms=0)
        assert book.waiting(number) == waiting[1:]
        assert book.seen(number, files[0].path, "now") is not None
        assert book.seen(number, files[0].path, "later") is None


# --- several at once, and killed ones -----------------------------------------------------------------------

SPANS_A_REQUEST = 8

PROGRAM = f"""
import sys
from pathlib import Path
from clew.trace import deliver, endpoints
from tests.trace.sending import Sender
deliver.SPANS = {SPANS_A_REQUEST}
state, path, url = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
deliver.GRACE = {{"phoenix": 0.2}}
sender = Sender(state, (endpoints.phoenix(url, is_whole=True),), seconds=20, request=5)
print("go", flush=True)
found = sender.run(path)
print(found.turns_sent, found.pending, found.unknown, flush=True)
"""


def start(state: Path, path: Path, collector: Collector) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", PROGRAM, str(state), str(path), collector.url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)


def killed_again_and_again(tmp_path: Path, kills: int, turns: int, seed: int) -> None:
    path = put(tmp_path, story(turns).data())
    draw = random.Random(seed)
    died = 0
    # However quick the machine is, each one leaves something for the next to be killed over.
    share = turns * SPANS // SPANS_A_REQUEST // kills
    with collecting() as collector:
        collector.takes_ms = 4
        for _ in range(kills):
            child = start(tmp_path / "state", path, collector)
            assert child.stdout is not None
            assert child.stdout.readline() == "go\n"
            enough = len(collector.requests) + draw.randrange(share - 2)
            while len(collector.requests) < enough and child.poll() is None:
                time.sleep(0.0005)
            time.sleep(draw.uniform(0.0, 0.012))
            child.send_signal(signal.SIGKILL)
            rest = child.stdout.read()
            died += child.wait() == -signal.SIGKILL and not rest
            child.stdout.close()
        assert died >= kills - kills // 4
        assert max(collector.spans.values(), default=1) == 1
        time.sleep(0.3)
        sender = Sender(
            tmp_path / "state", (endpoints.phoenix(collector.url, is_whole=True),), seconds=300, request=5
        )
        last = sender.run(path)
        for _ in range(3):
            if not last.pending and not last.unknown:
                break
            time.sleep(0.2)
            last = sender.run(path)
        assert (last.pending, last.unknown, last.failed) == (0, 0, ())
        assert len(collector.spans) == turns * SPANS
        assert set(collector.spans.values()) == {1}
    with sqlite3.connect(ledger_path(tmp_path / "state")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_a_sender_killed_at_any_moment_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.trace.deliver.GRACE", {"phoenix": 0.2})
    killed_again_and_again(tmp_path, kills=8, turns=120, seed=1)


@pytest.mark.soak
def test_a_sender_killed_two_hundred_times_loses_and_doubles_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.trace.deliver.GRACE", {"phoenix": 0.2})
    killed_again_and_again(tmp_path, kills=200, turns=5000, seed=2)


def test_two_processes_at_once_send_everything_once(tmp_path: Path) -> None:
    path = put(tmp_path, story(60).data())
    with collecting() as collector:
        collector.takes_ms = 2
        children = [start(tmp_path / "state", path, collector) for _ in range(2)]
        told = [child.communicate()[0].split() for child in children]
        assert all(child.returncode == 0 for child in children)
        assert len(collector.spans) == 60 * SPANS
        assert set(collector.spans.values()) == {1}
    assert sum(int(one[1]) for one in told) >= 60


def test_threads_at_once_send_everything_once(tmp_path: Path) -> None:
    path = put(tmp_path, story(60).data())
    with collecting() as collector:
        senders = [Sender(tmp_path / "state", (endpoints.otlp(collector.url),)) for _ in range(4)]
        threads = [threading.Thread(target=sender.run, args=(path,)) for sender in senders]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        last = senders[0].run(path)
    assert (last.already_sent, last.pending) == (60, 0)
    assert len(collector.spans) == 60 * SPANS
    assert set(collector.spans.values()) == {1}
