"""Install and run the real client against the stand-in, and see what it sends when it resumes a file.

The client comes from npm, once, into the user's cache; it is a test tool and never a dependency. Each run
has a home, a config folder and a working directory of its own, thrown away afterwards, and talks to nobody
but the stand-in on loopback.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

from clew.agent.standin import StandIn

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from clew.agent.standin import Request

VERSION = "2.1.325"
"""The client conformance is measured against unless another is asked for."""

MODEL = "claude-sonnet-4-5-20250929"
"""The model every run asks for. Thinking of another model in the file counts as foreign."""

PROMPT = "CONTINUE"
"""What the resumed client is told. It is the end of the last message sent."""

_PACKAGE = "@anthropic-ai/claude-code"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clew" / "clients"
"""Where clients are kept: in the user's own cache, which is looked for before a test gets another."""


class ClientError(Exception):
    """The client could not be installed or started."""


@dataclass(frozen=True, slots=True)
class Client:
    """An installed client."""

    version: str
    command: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """What came of one resume: the messages of the first request, or the words of a refusal."""

    messages: tuple[Mapping[str, object], ...] | None
    refused: str | None
    after: bytes
    """The session file as the client left it."""

    requests: tuple[Request, ...]
    """Everything the client asked of the stand-in, side requests too."""

    refusals: tuple[str, ...] = ()
    """What a strict stand-in refused, in the words of the API."""


def install(version: str = VERSION) -> Client:
    """Find a version of the client in the cache, or install it there."""
    folder = CACHE / version
    if not folder.is_dir():
        _install(version, folder)
    modules = folder / "node_modules"
    for native in sorted(modules.glob(f"{_PACKAGE}-*/claude")):
        # Up to 2.1.150 the package is one script; later it holds a native program per platform.
        return Client(version, (str(native),))
    package = modules / _PACKAGE
    listed: object = json.loads((package / "package.json").read_bytes())
    names = cast("dict[str, dict[str, str]]", listed)["bin"]
    script = package / names["claude"]
    return Client(
        version, ("node", str(script)) if script.suffix in {".js", ".cjs", ".mjs"} else (str(script),)
    )


def _install(version: str, folder: Path) -> None:
    """Install beside the final place and move, so that a broken install is never taken for one."""
    npm = shutil.which("npm")
    if npm is None:
        raise ClientError("npm is needed to install the client")
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{version}-", dir=folder.parent))
    try:
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--prefix", str(fresh), f"{_PACKAGE}@{version}"],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise ClientError(f"npm could not install {_PACKAGE}@{version}: {done.stderr.strip()[-500:]}")
        try:
            fresh.rename(folder)
        except OSError:
            if not folder.is_dir():  # another process was first
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def resume(
    client: Client,
    data: bytes,
    *,
    session_id: str | None = None,
    model: str = MODEL,
    timeout: float = 60,
    strict: bool = False,
    trusted: Sequence[Mapping[str, object]] = (),
) -> Sent:
    """Let the client resume a session file with these bytes, and return what it sent.

    With `strict` the stand-in refuses what the API refuses; thinking that is in `trusted` messages must then
    come after what it comes after there.
    """
    session_id = session_id or str(uuid.UUID(int=0x5EED0000000040008000000000000000))
    with (
        tempfile.TemporaryDirectory(prefix="clew-lab-", ignore_cleanup_errors=True) as folder,
        StandIn(strict=strict) as api,
    ):
        if trusted:
            api.trust(trusted)
        root = Path(folder).resolve()
        cwd, home, config = root / "work", root / "home", root / "config"
        project = config / "projects" / slug(str(cwd))
        for place in (cwd, home, project):
            place.mkdir(parents=True)
        file = project / f"{session_id}.jsonl"
        file.write_bytes(data)
        command = [*client.command, "-p", PROMPT, "--resume", session_id, "--model", model]
        ended = run(command, cwd, environment(home, config, api.url), timeout)
        words = "TIMEOUT" if ended.code is None else ended.said
        requests = api.requests
        refusals = tuple(one.refusal.message for one in requests if one.refusal is not None)
        after = b"".join(p.read_bytes() for p in sorted(project.glob("*.jsonl")))
    sent = next((request for request in requests if is_conversation(request)), None)
    if sent is None:
        return Sent(None, words.replace(session_id, "ID").strip(), after, requests, refusals)
    messages = cast("Sequence[Mapping[str, object]]", sent.body["messages"])
    return Sent(tuple(messages), None, after, requests, refusals)


def slug(path: str) -> str:
    """The name of a project's folder: every UTF-16 unit but ASCII letters and digits becomes a dash."""
    units = path.encode("utf-16-le")
    text = "".join(chr(units[n] | units[n + 1] << 8) for n in range(0, len(units), 2))
    return re.sub(r"[^A-Za-z0-9]", "-", text)


def is_conversation(request: Request) -> bool:
    """Whether a request carries the conversation, and is not one for a title, a topic or a warm-up."""
    messages = request.body.get("messages")
    if not request.is_messages or not isinstance(messages, list) or not messages:
        return False
    # Older clients ask a small model for a topic or title beside the conversation, without tools.
    last: object = cast("list[object]", messages)[-1]
    return PROMPT in json.dumps(last) and bool(request.body.get("tools"))


def environment(home: Path, config: Path, url: str, *, keeps_copies: bool = False) -> dict[str, str]:
    """All the client gets to see of the environment.

    A client that is not at a terminal keeps copies of the files it changes only where it is told to.
    """
    return {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(home),
        "TMPDIR": str(home),
        "CLAUDE_CONFIG_DIR": str(config),
        "ANTHROPIC_API_KEY": "dummy",
        "ANTHROPIC_BASE_URL": url,
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        **({"CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING": "1"} if keeps_copies else {}),
    }


class Ended(NamedTuple):
    """What came of a program."""

    code: int | None
    """None when it was ended at the time limit."""

    said: str
    """On standard output, then on standard error."""


def run(command: Sequence[str], cwd: Path, environ: Mapping[str, str], timeout: float) -> Ended:
    """Run to the end or to the time limit."""
    with subprocess.Popen(
        command,
        cwd=cwd,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
            code: int | None = process.returncode
        except subprocess.TimeoutExpired:
            # The client may have children of its own; they share its process group.
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            code = None
    return Ended(code, f"{out}\n{err}".strip())
