"""Servers of the MCP: their tools can be called, and what they do wrong harms nobody else."""

from __future__ import annotations

import base64
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from clew.agent.api_checks import refusal
from clew.agent.mcp_servers import McpServers, Server, ServerError, read_servers
from clew.agent.tools.mcp_tool import McpTool, mcp_tools, tool_name
from tests.agent.running.bench import are_gone, environ, threads_end, work_in
from tests.agent.running.mcp_servers_of_tests import PICTURE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from clew.agent.tool import Outcome, Work

pytest.importorskip("mcp")
PROGRAM = str(Path(__file__).with_name("mcp_servers_of_tests.py"))


def program(behaviour: str, *, name: str = "maze", **env: str) -> Server:
    return Server(name, "stdio", command=sys.executable, args=(PROGRAM, behaviour), env=env)


def started(tmp_path: Path, *servers: Server, **options: Any) -> McpServers:
    return McpServers(servers, environ=environ(tmp_path), cwd=str(tmp_path), **options)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Iterator[McpServers]:
    folder = tmp_path_factory.mktemp("mcp")
    secret = {"ANTHROPIC_API_KEY": "sk-secret"}
    with McpServers(
        [program("good", MORE="given")], environ={**environ(folder), **secret}, cwd=str(folder)
    ) as servers:
        assert [state.kind for state in servers.start()] == ["ready"]
        yield servers


@pytest.fixture
def work(tmp_path: Path) -> Work:
    return work_in(tmp_path)


def call(servers: McpServers, name: str, given: dict[str, object], work: Work) -> Outcome:
    tools, _ = mcp_tools(servers)
    return next(tool for tool in tools if tool.name == name).run(given, work)


def test_tools_are_named_after_their_server(good: McpServers) -> None:
    tools, problems = mcp_tools(good)
    assert not problems
    names = [tool.name for tool in tools]
    assert names[:3] == ["mcp__maze__say", "mcp__maze__plain", "mcp__maze__fail"]
    assert tools[0].description == "Says words."
    assert tools[0].schema["type"] == "object"
    assert tools[0].schema["required"] == ["words"]
    assert good.states()[0].words == "8 tools"


def test_answers_are_told_as_the_client_tells_them(good: McpServers, work: Work) -> None:
    """2.1.325 wrote the first three for the same answers."""
    said = call(good, "mcp__maze__say", {"words": "hi"}, work)
    assert said.content == said.structured == '{"result":"said hi"}'
    assert said.extra == {"mcpMeta": {"structuredContent": {"result": "said hi"}}}
    assert call(good, "mcp__maze__count", {"number": 2}, work).content == '{"next":3}'
    shown = call(good, "mcp__maze__picture", {}, work)
    source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
    assert shown.content == [{"type": "image", "source": source}]
    assert call(good, "mcp__maze__plain", {"words": "hi"}, work).content == [
        {"type": "text", "text": "said hi"}
    ]


def test_a_tool_that_fails_is_an_error(good: McpServers, work: Work) -> None:
    outcome = call(good, "mcp__maze__fail", {"words": "a wall"}, work)
    assert outcome.is_error
    assert "fail" in str(outcome.content)
    assert outcome.structured == f"Error: {outcome.content}"


def test_wrong_input_is_the_server_s_to_refuse(good: McpServers, work: Work) -> None:
    assert call(good, "mcp__maze__count", {"number": "many"}, work).is_error
    assert call(good, "mcp__maze__count", {}, work).is_error
    assert call(good, "mcp__maze__count", {"number": 4}, work).content == '{"next":5}'


def test_a_long_answer_is_saved(good: McpServers, work: Work) -> None:
    outcome = call(good, "mcp__maze__much", {"number": 60_000}, work)
    path = Path(work.results_folder) / "mcp__maze__much.txt"
    assert path.read_text() == "word " * 60_000
    assert isinstance(outcome.content, list)
    assert outcome.content[0]["text"].startswith("<persisted-output>\nOutput too large (293KB).")


def test_a_server_gets_the_environment_without_the_key(good: McpServers, work: Work) -> None:
    told = json.loads(str(call(good, "mcp__maze__environment", {}, work).content))
    assert told["MORE"] == "given"
    assert "PATH" in told
    assert "ANTHROPIC_API_KEY" not in told


def test_a_call_touches_nobody_knows_what(good: McpServers, work: Work) -> None:
    assert mcp_tools(good)[0][0].reach({}, work).is_foreign


def test_several_calls_run_at_once(good: McpServers, tmp_path: Path) -> None:
    found: list[object] = []

    def ask_for(number: int) -> None:
        found.append(call(good, "mcp__maze__count", {"number": number}, work_in(tmp_path)).content)

    threads = [threading.Thread(target=ask_for, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, found)) == [f'{{"next":{n}}}' for n in range(1, 9)]


def test_a_wish_to_stop_is_heard_and_the_server_stays(good: McpServers, work: Work, tmp_path: Path) -> None:
    timer = threading.Timer(0.3, work.cancel.ask)
    timer.start()
    before = time.monotonic()
    outcome = call(good, "mcp__maze__sleep", {"seconds": 2}, work)
    timer.join()
    assert time.monotonic() - before < 1.5
    assert outcome.is_error
    assert "asked to stop" in str(outcome.content)
    assert call(good, "mcp__maze__count", {"number": 1}, work_in(tmp_path)).content == '{"next":2}'


@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        ("dies", "the walls came down"),
        ("hangs", "did not answer within 2 seconds"),
        ("line", "a line of more than 32 MB"),
        ("notes", "floods|did not answer"),
        ("wrong", "cannot be read|Validation"),
    ],
)
def test_a_server_that_goes_wrong_is_an_error_result(
    tmp_path: Path, work: Work, behaviour: str, words: str
) -> None:
    threads = threading.active_count()
    with started(tmp_path, program(behaviour, name="bad"), call_seconds=2) as servers:
        assert [state.kind for state in servers.start()] == ["ready"]
        before = time.monotonic()
        outcome = call(servers, "mcp__bad__do_it_", {"a": "b"}, work)
        assert time.monotonic() - before < 20
        assert outcome.is_error
        assert re.search(words, str(outcome.content)), outcome.content
        if behaviour == "dies":
            again = call(servers, "mcp__bad__do_it_", {}, work)
            assert "it ended; it said last: the walls came down" in str(again.content)
            assert servers.states()[0].kind == "failed"
    assert threads_end(threads)


def test_notes_between_messages_are_passed_over(tmp_path: Path, work: Work) -> None:
    with started(tmp_path, program("garbage", name="bad"), call_seconds=10) as servers:
        servers.start()
        outcome = call(servers, "mcp__bad__do_it_", {}, work)
    assert outcome.content == [{"type": "text", "text": "after all"}]


def test_one_that_does_not_start_costs_nothing_but_itself(tmp_path: Path, work: Work) -> None:
    bad = [
        program("never", name="never"),
        program("at once", name="at once"),
        program("odd list", name="odd list"),
        Server("no program", "stdio", command=str(tmp_path / "none")),
        Server("nobody", "http", url="http://127.0.0.1:9/mcp"),
    ]
    before = time.monotonic()
    threads = threading.active_count()
    with started(tmp_path, *bad, program("good"), start_seconds=8) as servers:
        states = {state.name: state for state in servers.start()}
        assert time.monotonic() - before < 20
        assert [name for name, state in states.items() if state.kind == "ready"] == ["maze"]
        assert "did not start within 8 seconds" in states["never"].words
        assert "no key was given" in states["at once"].words
        assert "cannot be read" in states["odd list"].words
        assert "no program called" in states["no program"].words
        assert call(servers, "mcp__maze__count", {"number": 1}, work).content == '{"next":2}'
        with pytest.raises(ServerError):
            servers.call("never", "x", {}, cancel=work.cancel)
    assert threads_end(threads)


def test_all_are_gone_when_it_is_closed(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    child = (
        "import os, subprocess, sys, time\np = subprocess.Popen(['sleep', '100'])\n"
        "open(sys.argv[1], 'w').write(f'{p.pid} {os.getpid()}')\nsys.stdin.read()\ntime.sleep(100)"
    )
    stubborn = Server("stubborn", "stdio", command=sys.executable, args=("-c", child, str(note)))
    threads = threading.active_count()
    with started(tmp_path, stubborn, program("good"), start_seconds=5) as servers:
        servers.start()
        until = time.monotonic() + 5
        while not note.exists() and time.monotonic() < until:
            time.sleep(0.01)
    assert are_gone(note.read_text().split())
    assert threads_end(threads)
    servers.close()  # a second time does nothing


def test_a_wish_to_stop_while_they_start_is_heard(tmp_path: Path, work: Work) -> None:
    timer = threading.Timer(0.3, work.cancel.ask)
    timer.start()
    before = time.monotonic()
    with started(tmp_path, program("never", name="never"), start_seconds=30) as servers:
        states = servers.start(work.cancel)
        assert time.monotonic() - before < 10
        assert states[0].words == "it is not ready yet"
    timer.join()
    assert time.monotonic() - before < 15


def test_one_can_be_reached_over_http(tmp_path: Path, work: Work) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, PROGRAM, "http", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until = time.monotonic() + 20
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        web = Server("web", "http", url=f"http://127.0.0.1:{port}/mcp", headers={"X-Key": "k"})
        with started(tmp_path, web, start_seconds=20, call_seconds=20) as servers:
            assert [state.kind for state in servers.start()] == ["ready"]
            assert call(servers, "mcp__web__count", {"number": 6}, work).content == '{"next":7}'
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            assert call(servers, "mcp__web__count", {"number": 6}, work).is_error
    finally:
        process.kill()
        process.wait()


class Told:
    """Stands in for servers: it answers every call with what was given."""

    def __init__(self, answer: dict[str, Any], *tools: dict[str, Any]) -> None:
        self.answer, self._tools = answer, tools

    def tools(self) -> list[tuple[str, dict[str, Any]]]:
        return [("s", tool) for tool in self._tools]

    def call(self, *_: object, **__: object) -> dict[str, Any]:
        return self.answer


def ask(answer: dict[str, Any], work: Work) -> Outcome:
    return McpTool(Told(answer), "s", {"name": "t"}).run({}, work)  # pyright: ignore[reportArgumentType]


BROKEN = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\xff\xff\0\0\xff\xff").decode()


@pytest.mark.parametrize(
    "answer",
    [
        {}, {"content": []}, {"content": None}, {"content": [None, 3, "x"]}, {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": ""}]},
        {"content": [{"type": "text", "text": "\ud800 \0 \x1b[2J"}]},
        {"content": [{"type": "image", "data": PICTURE, "mimeType": "image/jpeg"}]},
        {"content": [{"type": "image", "data": BROKEN, "mimeType": "image/png"}]},
        {"content": [{"type": "image", "data": "%%%", "mimeType": "image/png"}]},
        {"content": [{"type": "image", "data": "x" * 8_000_000, "mimeType": "image/png"}]},
        {"content": [{"type": "audio", "data": "AAAA", "mimeType": "../../x"}]},
        {"content": [{"type": "resource", "resource": {"uri": "file:///x", "text": "held"}}]},
        {"content": [{"type": "resource", "resource": {"uri": "file:///x", "blob": "AAAA"}}]},
        {"content": [{"type": "resource", "resource": 3}]}, {"content": [{"type": "new"}]},
        {"content": [{"type": "resource_link", "uri": "x://y", "name": "n"}]},
        {"isError": True, "content": []},
        {"isError": True, "content": [{"type": "text", "text": "x" * 300_000}]},
        {"structuredContent": {"a": "y" * 300_000}, "content": []}, {"structuredContent": [], "content": []},
    ],
)  # fmt: skip
def test_whatever_is_answered_the_api_takes_it(answer: dict[str, Any], work: Work) -> None:
    outcome = ask(answer, work)
    content = outcome.content if isinstance(outcome.content, str) else list(outcome.content)
    assert content
    result = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": content,
        "is_error": outcome.is_error,
    }
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "x"},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "toolu_1", "name": "mcp__s__t", "input": {}}],
        },
        {"role": "user", "content": [result]},
    ]
    text = json.dumps(messages).encode("utf-8", "replace").decode("utf-8")
    body = json.loads(text.replace("\\ud800", "?"))
    assert refusal({"model": "m", "max_tokens": 1, "messages": body}) is None
    assert len(json.dumps(content)) < 7_000_000
    folder = Path(work.results_folder)
    assert all(file.parent == folder for file in folder.rglob("*")) if folder.exists() else True


def test_a_picture_is_of_the_kind_it_is(work: Work) -> None:
    outcome = ask({"content": [{"type": "image", "data": PICTURE, "mimeType": "image/jpeg"}]}, work)
    assert isinstance(outcome.content, list)
    assert outcome.content[0]["source"]["media_type"] == "image/png"


def test_odd_tools_are_brought_into_form_or_left_out(tmp_path: Path) -> None:
    with started(tmp_path, program("hangs", name="a b")) as servers:
        servers.start()
        tools, problems = mcp_tools(servers)
    assert [tool.name for tool in tools] == ["mcp__a_b__do_it_"]
    assert tools[0].tool == "do it!"
    assert tools[0].schema == {"type": "object", "properties": {"a": {"type": "string"}}}
    assert len(tools[0].description) == 2048
    assert "\x1b" not in tools[0].description
    assert len(problems) == 2
    assert "another tool has that name" in problems[0]
    assert "too long" in problems[1]
    assert tool_name("claude.ai x", "a/b") == "mcp__claude_ai_x__a_b"


def test_servers_are_read_from_a_project_s_list() -> None:
    config = {
        "mcpServers": {
            "one": {
                "command": "${HOME}/bin/one",
                "args": ["--key", "${KEY:-none}"],
                "env": {"A": "${KEY:-}"},
            },
            "two": {"type": "http", "url": "https://two.example/${PART}", "headers": {"X": "${PART}"}},
            "three": {"url": "https://three.example"},
        }
    }
    servers, problems = read_servers(config, environ={"HOME": "/h", "PART": "mcp"})
    assert not problems
    assert servers == [
        Server("one", "stdio", command="/h/bin/one", args=("--key", "none"), env={"A": ""}),
        Server("two", "http", url="https://two.example/mcp", headers={"X": "mcp"}),
        Server("three", "http", url="https://three.example"),
    ]
    assert "mcp" not in repr(servers[1]).replace("two.example/mcp", "")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (3, "no object"), ({}, "no command"), ({"command": ""}, "no command"),
        ({"command": "a\0"}, "no command"),
        ({"command": "x", "args": "y"}, "args"), ({"command": "x", "args": [3]}, "args"),
        ({"command": "x", "env": {"a": 3}}, "env"),
        ({"type": "sse", "url": "https://x"}, "'sse' is not known"), ({"type": "http"}, "no url"),
        ({"url": "ftp://x"}, "not http"), ({"url": "https://x", "headers": []}, "headers"),
        ({"command": "${NOT_SET}"}, "NOT_SET is not set"),
    ],
)  # fmt: skip
def test_a_server_that_makes_no_sense_is_left_out_and_told(entry: object, words: str) -> None:
    servers, problems = read_servers({"mcpServers": {"bad": entry, "good": {"command": "x"}}}, environ={})
    assert [server.name for server in servers] == ["good"]
    assert len(problems) == 1
    assert words in problems[0]


@pytest.mark.parametrize("config", [None, [], "x", {"mcpServers": 3}, {"mcpServers": []}])
def test_a_list_that_is_none_is_told(config: object) -> None:
    servers, problems = read_servers(config, environ={})
    assert not servers
    assert len(problems) == 1
    assert read_servers({}, environ={}) == ([], [])


def test_without_the_sdk_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clew.agent.mcp_link", None)
    with started(tmp_path, program("good")) as servers:
        assert "is not installed" in servers.start()[0].words
        assert mcp_tools(servers) == ([], [])


def test_what_is_not_used_is_not_imported() -> None:
    names = "asyncio, mcp, anyio, pydantic, httpx, httpx2, anthropic"
    code = (
        "import sys, clew.agent.mcp_servers, clew.agent.shells\n"
        "from clew.agent.tools import bash, bash_output, kill_shell, mcp_tool, web_fetch, web_search\n"
        f"print([name for name in {names.split(', ')!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
