"""A fence around commands, where the system has one: bubblewrap.

Inside, the whole file system is read-only but the project and a folder for temporary files of its own; there
is no network; of the processes outside none can be seen; and where secrets are commonly kept there is
nothing. When the command ends, everything it started ends.

What in the project is run by others later (hooks of git, settings of editors and of the client) is read-only
too, as far as it is there when the command starts. What a project builds or installs is still run by whoever
runs it: the fence is around the command, not around what the person does with its work.

Where there is no bubblewrap, or it does not work, commands run as they would by hand. `Sandbox.state` says so
in words that are meant to be shown.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_PROBE: Final = 10.0
"""Seconds within which it must have run an empty command."""

_TMP: Final = "/tmp"  # noqa: S108  # inside it is a folder of its own

_SECRET_PLACES: Final = (
    ".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".password-store", ".vault-token", ".netrc",
    ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".terraform.d", ".oci", ".boto",
    ".cargo/credentials", ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml",
    ".config/gcloud", ".config/gh", ".config/glab-cli", ".config/hub", ".config/git/credentials",
    ".config/op", ".config/rclone", ".config/containers", ".config/clew", ".local/share/keyrings",
    ".config/google-chrome",
    ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".mozilla", ".thunderbird",
    ".colima", ".lima", ".orbstack", "Library/Keychains", ".claude.json", ".claude/.credentials.json",
    ".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history",
    ".node_repl_history",
)  # fmt: skip
"""Where secrets are kept under a home: files and folders, and sockets that open a way out."""

_RUN_LATER: Final = (
    ".git/hooks", ".git/config", ".git/info", ".claude", ".mcp.json", ".vscode", ".idea", ".husky", ".envrc",
)  # fmt: skip
"""What in a project others run, or take orders from, without being asked."""

_STAYS_IN_RUN: Final = ("/run/current-system", "/run/opengl-driver", "/run/wrappers", "/run/booted-system")
"""Where some systems keep their programs. The rest of `/run` is sockets: of a bus, of containers."""


@dataclass(frozen=True, slots=True)
class State:
    """Whether commands run behind the fence, and words for the person."""

    kind: Literal["on", "off", "missing", "broken"]
    words: str

    @property
    def is_on(self) -> bool:
        """Whether commands are fenced in."""
        return self.kind == "on"


class Sandbox:
    """Puts commands behind the fence, or says why it does not."""

    def __init__(self, state: State, *, front: Sequence[str] = (), tmp: str | None = None) -> None:
        self.state = state
        self._front = tuple(front)
        self._tmp = tmp

    @classmethod
    def off(cls) -> Sandbox:
        """Return one that was not wanted."""
        return cls(State("off", "commands run without a sandbox, as was asked"))

    @classmethod
    def find(
        cls,
        project: str,
        *,
        environ: Mapping[str, str],
        program: str | None = None,
        writable: Sequence[str] = (),
        hidden: Sequence[str] = (),
    ) -> Sandbox:
        """Make one for a project if bubblewrap is there and works, which is tried once.

        `program` is bubblewrap, looked for when left out; `writable` are further folders a command may write
        to, `hidden` are further files and folders it must not see. Close it in the end.
        """
        found = program or shutil.which("bwrap", path=environ.get("PATH"))
        if found is None:
            return cls(
                State(
                    "missing",
                    "commands run without a sandbox: bubblewrap (bwrap) is not installed; "
                    "what they may do is decided by permissions alone",
                )
            )
        tmp = tempfile.mkdtemp(prefix="clew-shell-")
        front = [found, *_arguments(project, tmp, environ=environ, writable=writable, hidden=hidden)]
        trouble = _trouble(front, project)
        if trouble is not None:
            shutil.rmtree(tmp, ignore_errors=True)
            return cls(
                State("broken", f"commands run without a sandbox: bubblewrap does not work here ({trouble})")
            )
        words = "commands run in a sandbox: no network, nothing written outside the project"
        return cls(State("on", words), front=front, tmp=tmp)

    def wrap(self, argv: Sequence[str], *, cwd: str) -> list[str]:
        """Return the command that runs this one behind the fence, if there is one."""
        return [*self._front, "--chdir", cwd, "--", *argv] if self._front else list(argv)

    def close(self) -> None:
        """Throw away the temporary files of its commands."""
        if self._tmp is not None:
            shutil.rmtree(self._tmp, ignore_errors=True)
            self._tmp = None


def _arguments(
    project: str, tmp: str, *, environ: Mapping[str, str], writable: Sequence[str], hidden: Sequence[str]
) -> list[str]:
    # Each later one lies over the earlier ones.
    arguments = [
        *("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"),
        *("--unshare-cgroup-try", "--die-with-parent", "--cap-drop", "ALL"),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *("--bind", tmp, _TMP, "--tmpfs", "/var/tmp", "--tmpfs", "/run"),  # noqa: S108  # inside it is its own
        *(part for place in _STAYS_IN_RUN for part in ("--ro-bind-try", place, place)),
        *("--setenv", "TMPDIR", _TMP),
    ]
    root = Path(project).resolve()
    for folder in (*(Path(one).resolve() for one in writable), root):
        if folder.is_dir():
            arguments += ["--bind", str(folder), str(folder)]
    arguments += _frozen(root)
    # Last, so that a project that is the home itself does not open them again.
    for place in _secret_places(environ, hidden):
        arguments += _hide(place)
    return arguments


def _frozen(project: Path) -> list[str]:
    """Make read-only what others run later."""
    arguments: list[str] = []
    git = project / ".git"
    if git.is_dir() and not git.is_symlink():
        # A place where something is mounted cannot be renamed, so nobody puts another one there.
        arguments += ["--bind", str(git), str(git)]
    elif git.is_file():
        arguments += ["--ro-bind", str(git), str(git)]
    for name in _RUN_LATER:
        place = project / name
        # Behind a link it may be anywhere: outside the project it is read-only already.
        if place.exists() and place.resolve() == place:
            arguments += ["--ro-bind", str(place), str(place)]
    return arguments


def _secret_places(environ: Mapping[str, str], hidden: Sequence[str]) -> list[Path]:
    home = Path(environ.get("HOME") or Path.home())
    places = [home / name for name in _SECRET_PLACES]
    config = environ.get("CLAUDE_CONFIG_DIR")
    if config:
        places += [Path(config, name) for name in (".credentials.json", ".claude.json")]
    agent = environ.get("SSH_AUTH_SOCK")
    if agent:
        places.append(Path(agent))
    # By where they are: whoever keeps their keys elsewhere, behind a link, keeps them there too.
    return sorted({place.resolve() for place in (*places, *map(Path, hidden))})


def _hide(place: Path) -> list[str]:
    if place.is_dir():
        return ["--tmpfs", str(place)]
    # What is not there needs no hiding, and a place to mount it on would have to be made.
    return ["--ro-bind", "/dev/null", str(place)] if place.exists() else []


def _trouble(front: Sequence[str], project: str) -> str | None:
    """Try an empty command; say what went wrong."""
    try:
        done = subprocess.run(  # noqa: S603
            [*front, "--chdir", project, "--", "/bin/sh", "-c", ":"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return "it did not answer"
    except (OSError, ValueError) as error:
        return str(error.strerror or error) if isinstance(error, OSError) else str(error)
    if done.returncode == 0:
        return None
    lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:200] if lines else f"exit code {done.returncode}"
