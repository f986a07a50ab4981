"""`clew fake-api`: a Messages API on this machine that says what it is told to say."""

from __future__ import annotations

import os
import signal
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import click

from clew.faces.cli import words
from clew.faces.cli.options import Shared, shared
from clew.faces.cli.terminal import span

if TYPE_CHECKING:
    from collections.abc import Generator
    from types import FrameType

    from clew.agent.fake_script import Script
    from clew.agent.standin import Answer, Request

KEY: Final = "fake"
_MOST: Final = 16 << 20

_EXAMPLES: Final = """\b
Examples:
  clew fake-api
  clew fake-api --script story.json --delay 30 --log requests.jsonl
  echo '["Hello.", {"status": 529, "retry_after": 2}, "Hello again."]' | clew fake-api --script -
"""


@click.command("fake-api", epilog=_EXAMPLES)
@click.option(
    "--script",
    metavar="FILE",
    type=click.Path(allow_dash=True, path_type=Path),
    help="What it says, as JSON or JSON lines; - is standard input. Without it every request is echoed.",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="A free one without.")
@click.option(
    "--strict/--no-strict",
    default=True,
    show_default=True,
    help="Refuse what the real API refuses, in its words.",
)
@click.option(
    "--log", metavar="FILE", type=click.Path(path_type=Path), help="Append each request, one JSON line each."
)
@click.option(
    "--delay",
    type=click.IntRange(0, 600_000),
    default=0,
    metavar="MS",
    help="Milliseconds before each event of a stream.",
)
@shared
def command(
    common: Shared, script: Path | None, port: int, strict: bool, log: Path | None, delay: int
) -> int:
    """Be the Messages API for whoever is pointed here: answer from a script, or echo what is said.

    It listens on 127.0.0.1 alone, takes any key, and knows /v1/messages (streamed or whole) and
    /v1/messages/count_tokens. A script can be slow, break off, hang, and fail as the real API does; its
    form is in docs/fake-api.md. Set the two variables that are printed where the client is started.
    Ctrl-C ends it.
    """
    import secrets

    from clew.agent.fake_script import Script, named, slowed
    from clew.agent.standin import StandIn
    from clew.errors import UsageError

    steps = Script() if script is None else _read(script)
    _can_be_written(log)
    lock = threading.Lock()
    run = secrets.token_hex(6)

    def answer(request: Request) -> Answer:
        return slowed(named(steps.answer(request), run, request.number), delay / 1000)

    def heard(request: Request, said: Answer) -> None:
        with lock:
            common.screen.note(span(f"{request.number:>4} ", "dim"), _line(request, said))

    api = StandIn(default=answer, strict=strict, log=log, port=port, heard=heard)
    try:
        with _until_ended() as over, api:
            _tell(common, api.url)
            over.wait()
    except OSError as error:
        raise UsageError(
            f"port {port} cannot be listened on: {error.strerror or error}",
            hint="without --port a free one is taken",
        ) from None
    except KeyboardInterrupt:
        pass
    common.screen.note(f"Answered {words.count(len(api.requests), 'request')}.")
    if steps.left:
        common.screen.note(f"{words.count(steps.left, 'step')} of the script never came up.")
    return 0


def _tell(common: Shared, url: str) -> None:
    """Say where it is, at once: whoever started it waits for this."""
    variables = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": KEY}
    if common.is_data:
        common.emit({"url": url, "environment": variables})
    else:
        common.screen.print("Listening on ", span(url, "bold"))
        common.screen.print()
        for name, value in variables.items():
            common.screen.print(f"  export {name}={value}")
        common.screen.print()
    common.screen.flush()


def _read(path: Path) -> Script:
    from clew.agent.fake_script import read_script
    from clew.errors import UnreadableError

    try:
        if str(path) == "-":
            data = sys.stdin.buffer.read(_MOST + 1)
        else:
            if not path.is_file():
                raise UnreadableError(str(path), "it is no file" if path.exists() else "it is not there")
            with path.open("rb") as source:
                data = source.read(_MOST + 1)
    except OSError as error:
        raise UnreadableError(str(path), error.strerror or str(error)) from None
    if len(data) > _MOST:
        raise UnreadableError(str(path), "a script of more than 16 MB is none")
    try:
        return read_script(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise UnreadableError(str(path), "it is not UTF-8") from None


def _can_be_written(log: Path | None) -> None:
    """Find out before the first request, which could not be answered otherwise."""
    from clew.errors import UsageError

    if log is None:
        return
    try:
        os.close(os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK, 0o600))
    except OSError as error:
        raise UsageError(f"{log} cannot be written: {error.strerror}") from None


def _line(request: Request, said: Answer) -> str:
    from clew.agent.standin import Failure, Reply, Silence

    if request.is_count:
        return f"{request.method} {request.path}: counted"
    if not request.is_messages:
        return f"{request.method} {request.path}: no such thing"
    messages = request.body.get("messages")
    count = len(cast("list[object]", messages)) if isinstance(messages, list) else 0
    asked = f"{request.body.get('model', 'no model')}, {words.count(count, 'message')}"
    match said:
        case Failure():
            return f"{asked}: {said.status} {said.message}"
        case Reply():
            kinds = ", ".join(str(block.get("type")) for block in said.content) or "nothing"
            return f"{asked}: {kinds}"
        case Silence():
            return f"{asked}: no answer"
        case _:
            return asked


@contextmanager
def _until_ended() -> Generator[threading.Event]:
    """Give an event that comes when the process is asked to end."""
    over = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        over.set()

    earlier = signal.signal(signal.SIGTERM, end)
    try:
        yield over
    finally:
        signal.signal(signal.SIGTERM, earlier)
