"""`clew fake-api`."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager, nullcontext
from typing import IO, TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import pytest

from clew.faces.cli.main import run

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

ASK = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]}


@contextmanager
def running(*arguments: object, script: str | None = None) -> Generator[tuple[str, subprocess.Popen[str]]]:
    """The program itself, until it is told to end; its address."""
    command = [sys.executable, "-m", "clew", "fake-api", "--json", *map(str, arguments)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONWARNINGS": "error"},
    ) as process:
        stdin, stdout = cast("IO[str]", process.stdin), cast("IO[str]", process.stdout)
        if script is not None:
            stdin.write(script)
        stdin.close()
        process.stdin = None
        lines: list[str] = []
        for line in stdout:
            lines.append(line)
            if line.startswith("}"):
                break
        document = json.loads("".join(lines))
        assert document["environment"] == {
            "ANTHROPIC_BASE_URL": document["url"],
            "ANTHROPIC_API_KEY": "fake",
        }
        try:
            yield document["url"], process
        finally:
            if process.poll() is None:
                process.kill()


def ask(url: str, body: Any = ASK) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=5)
    try:
        connection.request("POST", "/v1/messages", json.dumps(body))
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_echoes_until_it_is_told_to_end(number: signal.Signals) -> None:
    with running() as (url, process):
        assert ask(url)[1]["content"] == [{"type": "text", "text": "You said: hello"}]
        process.send_signal(number)
        _, err = process.communicate(timeout=10)
    assert process.returncode == 0
    assert err.splitlines() == ["   0 m, 1 message: text", "Answered 1 request."]


def test_it_says_what_a_script_says_and_logs_what_was_asked(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    script = json.dumps(["one", {"status": 529, "retry_after": 2}, "two", "three"])
    with running("--script", "-", "--log", log, script=script) as (url, process):
        assert [ask(url)[0] for _ in range(3)] == [200, 529, 200]
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=10)
    assert len(log.read_text().splitlines()) == 3
    assert "1 step of the script never came up." in err


def test_it_is_strict_unless_told_otherwise(tmp_path: Path) -> None:
    script = tmp_path / "script.jsonl"
    script.write_text('"one"\n"two"\n')
    wrong = {**ASK, "messages": []}
    with running("-q", "--script", script) as (url, process):
        assert ask(url, wrong)[0] == 400
        assert ask(url)[1]["content"][0]["text"] == "one"
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=10)[1] == ""
    with running("--no-strict") as (url, _):
        assert ask(url, wrong)[0] == 200


def test_a_taken_port_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with running() as (url, _):
        port = urlsplit(url).port
        assert run(["fake-api", "--port", str(port)]) == 1
    assert f"port {port} cannot be listened on" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--script", "{dir}/none"], "it is not there"),
        (["--script", "{dir}"], "it is no file"),
        (["--script", "/dev/zero"], "it is no file"),
        (["--script", "{dir}/bad.json"], "says nothing"),
        (["--script", "{dir}/binary"], "not UTF-8"),
        (["--log", "{dir}/none/log"], "cannot be written"),
        (["--log", "{dir}"], "cannot be written"),
        (["--port", "99999"], "99999"),
    ],
)
def test_what_cannot_be_done_is_told_before_anything_listens(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.json").write_text("[{}]")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    assert run(["fake-api", *(each.format(dir=tmp_path) for each in arguments)]) == 1
    said = capsys.readouterr()
    assert words in said.err
    assert said.out == ""


def test_two_variables_are_printed_for_people(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    over = threading.Event()
    over.set()
    monkeypatch.setattr("clew.faces.cli.commands.fake_api._until_ended", lambda: nullcontext(over))
    assert run(["fake-api"]) == 0
    lines = capsys.readouterr().out.splitlines()
    url = lines[0].removeprefix("Listening on ")
    assert lines[2:4] == [f"  export ANTHROPIC_BASE_URL={url}", "  export ANTHROPIC_API_KEY=fake"]
