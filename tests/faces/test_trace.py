"""`clew trace`: what a person sees, what a program reads, and what it ends with."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from tests.faces.stage import demo
from tests.trace.collector import Collector, collecting
from tests.trace.sending import SPANS, named, put, story

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.faces.console import Console


@pytest.fixture(autouse=True)
def _alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]  # used by all
    """No endpoint, configuration or ledger but the test's own."""
    for name in ("OTEL_EXPORTER_OTLP_ENDPOINT", "LANGFUSE_PUBLIC_KEY", "PHOENIX_COLLECTOR_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


def test_send_tells_what_went_out_and_the_second_time_that_nothing_did(
    tmp_path: Path, collector: Collector, clew: Console
) -> None:
    put(tmp_path, story(3).data())
    name = named("s1")
    first = clew("trace", "send", name, "--root", tmp_path, "--endpoint", collector.url)
    assert (first.code, first.out) == (0, f"3 turns sent · {3 * SPANS} spans\n")
    second = clew("trace", "send", name, "--root", tmp_path, "--endpoint", collector.url)
    assert (second.code, second.out) == (0, "Nothing new to send · 3 turns sent before\n")
    document = json.loads(
        clew("trace", "send", name, "--root", tmp_path, "--endpoint", collector.url, "--json").out
    )
    assert {
        name: document[name] for name in ("turns_sent", "spans_sent", "already_sent", "pending", "failed")
    } == {
        "turns_sent": 0,
        "spans_sent": 0,
        "already_sent": 3,
        "pending": 0,
        "failed": [],
    }


def test_an_endpoint_that_says_no_is_an_error_and_its_password_is_not_shown(
    tmp_path: Path, collector: Collector, clew: Console
) -> None:
    put(tmp_path, story(2).data())
    collector.script = lambda _number, has_spans: "401" if has_spans else "ok"
    header = "Authorization=Bearer sk-secret-123456"
    ran = clew("trace", "backfill", "--root", tmp_path, "--endpoint", collector.url, "--header", header)
    assert ran.code == 1
    assert ran.out == "Nothing was sent · 2 turns not yet\n"
    assert "it answered 401 Unauthorized" in ran.err
    assert "2 turns wait for it" in ran.err
    assert "sk-secret" not in ran.out + ran.err
    status = clew("trace", "status", width=100)
    assert status.code == 0
    assert "401" in status.out
    assert "sk-secret" not in status.out
    assert "clew trace backfill sends what is pending" in status.out


def test_endpoints_come_from_the_environment_and_the_file(
    tmp_path: Path, collector: Collector, clew: Console, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, story(1).data())
    with collecting() as other:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.port}")
        (tmp_path / "config" / "clew").mkdir(parents=True)
        (tmp_path / "config" / "clew" / "trace.toml").write_text(f'[[endpoint]]\nurl = "{other.url}"\n')
        assert clew("trace", "backfill", "--root", tmp_path).code == 0
        assert len(collector.traces) == len(other.traces) == 1
    listed = json.loads(clew("trace", "status", "--json").out)
    assert sorted(one["endpoint"] for one in listed) == sorted([collector.url, other.url])
    assert all(one["configured"] and one["traces"] == 1 and one["spans"] == SPANS for one in listed)


def test_without_an_endpoint_it_says_how_to_name_one(tmp_path: Path, clew: Console) -> None:
    put(tmp_path, story(1).data())
    ran = clew("trace", "backfill", "--root", tmp_path)
    assert ran.code == 1
    assert "--endpoint" in ran.err
    status = clew("trace", "status")
    assert (status.code, status.out) == (0, "")
    assert "No endpoint is configured" in status.err


def test_wrong_use_is_told(tmp_path: Path, clew: Console) -> None:
    put(tmp_path, story(1).data())
    for words in (
        ("send",),
        ("backfill", "@1"),
        ("show",),
        ("show", "@1", "--turn", "9"),
        ("backfill", "--rate", "fast"),
        ("backfill", "--since", "some day"),
        ("send", "@1", "--header", "a=b"),
        ("send", "@1", "--endpoint", "localhost"),
        ("send", "@1", "--endpoint", "http://localhost/", "--header", "nothing"),
    ):
        ran = clew("trace", *words, "--root", tmp_path)
        assert ran.code == 1, words
        assert ran.out == ""
        assert "error: " in ran.err


def test_a_dry_run_sends_nothing_and_lists_everything(
    tmp_path: Path, collector: Collector, clew: Console
) -> None:
    put(tmp_path, story(2, ends=False).data())
    arguments = ("trace", "backfill", "--root", tmp_path, "--endpoint", collector.url, "--dry-run")
    ran = clew(*arguments, width=90)
    assert ran.code == 0
    assert ran.lines[0].startswith(f"1 turn would be sent · {SPANS} spans · ")
    assert "is not over" in ran.out or "a call has no result" in ran.out
    document = json.loads(clew(*arguments, "--json").out)
    assert document["would_send"]["turns"] == len(document["traces"]) == 1
    assert len(document["traces"][0]["spans"]) == SPANS
    assert document["pending"] == 2
    assert not collector.requests
    assert not collector.knocks
    assert not (tmp_path / "state" / "clew" / "trace").exists()


def test_what_may_have_arrived_is_told_with_the_way_out(
    tmp_path: Path, collector: Collector, clew: Console
) -> None:
    put(tmp_path, story(1).data())
    collector.script = lambda number, has_spans: "lost" if has_spans and number == 1 else "ok"
    arguments = ("trace", "backfill", "--root", tmp_path, "--endpoint", collector.url)
    ran = clew(*arguments)
    assert ran.code == 1
    assert "of 1 turn nobody knows whether they arrived" in ran.err
    assert "--resend-unknown" in ran.err
    assert "clew trace backfill --resend-unknown" in clew("trace", "status").out
    assert clew(*arguments, "--resend-unknown").code == 0
    assert json.loads(clew("trace", "status", "--json").out)[0]["unknown_spans"] == 0


@pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
def test_show_draws_the_spans_of_a_session_within_the_width(
    tmp_path: Path, clew: Console, width: int
) -> None:
    root = demo(tmp_path)
    ran = clew("trace", "show", "@1", "--root", root, width=width)
    assert ran.code == 0
    assert max(map(len, ran.lines)) <= width
    assert any("Turn 1" in line for line in ran.lines)
    assert sum(line.startswith("── ") for line in ran.lines) == 2
    assert ("█" in ran.out) == (width >= 60)
    one = clew("trace", "show", "@1", "--root", root, "--turn", 2, width=width)
    assert sum(line.startswith("── ") for line in one.lines) == 1


def test_show_is_the_same_tree_for_a_program(tmp_path: Path, clew: Console) -> None:
    root = demo(tmp_path)
    document = json.loads(clew("trace", "show", "@1", "--root", root, "--json").out)
    spans = [span for trace in document["traces"] for span in trace["spans"]]
    ids = {span["span_id"] for span in spans}
    assert len(ids) == len(spans)
    assert all(span["parent_id"] is None or span["parent_id"] in ids for span in spans)
    piped = clew("trace", "show", "@1", "--root", root)
    assert sum(not line.startswith("──") for line in piped.lines) == len(spans)
    lines = clew("trace", "show", "@1", "--root", root, "--jsonl").lines
    assert [json.loads(line)["turn"] for line in lines] == [1, 2]


def test_a_session_may_be_called_anything_and_the_terminal_is_safe(
    tmp_path: Path, collector: Collector, clew: Console
) -> None:
    from tests.builder import Builder, call

    builder = Builder().prompt("Go.").answer(call("t1", "\x1b]0;pwned\x07Tool"), stop="tool_use")
    put(tmp_path, builder.result("t1").answer("Done.").data())
    ran = clew("trace", "show", named("s1"), "--root", tmp_path, width=80)
    assert "\x1b" not in ran.out
    assert "pwned" in ran.out


def test_a_backfill_that_is_interrupted_goes_on_where_it_was(tmp_path: Path, collector: Collector) -> None:
    put(tmp_path, story(40).data())
    environ = {**os.environ, "PHOENIX_COLLECTOR_ENDPOINT": f"http://127.0.0.1:{collector.port}"}
    command = [sys.executable, "-m", "clew", "trace", "backfill", "--root", str(tmp_path), "--json"]
    child = subprocess.Popen(
        [*command, "--rate", "40/s"], env=environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while not collector.spans:
        assert child.poll() is None
        time.sleep(0.02)
    time.sleep(0.3)
    child.send_signal(signal.SIGINT)
    out, err = child.communicate()
    assert (child.returncode, out) == (130, b"")
    assert b"Traceback" not in err
    assert 0 < len(collector.spans) < 40 * SPANS
    for _ in range(8):
        ran = subprocess.run(command, env=environ, capture_output=True, check=True)
        if not json.loads(ran.stdout)["unknown"]:
            break
        time.sleep(
            1
        )  # it was interrupted while a request was under way, and the backend is asked a little later
    assert len(collector.spans) == 40 * SPANS
    assert set(collector.spans.values()) == {1}
