"""The fence around commands, with the real bubblewrap: what is outside stays as it is, and unseen.

Everything these commands try to harm is the test's own, and nothing is tried before the fence has said that
it stands. Bubblewrap is the system's, or is taken from the system's package registry into the user's cache.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from clew.agent.cancel import Cancel
from clew.agent.sandbox import Sandbox
from clew.agent.seen import Seen
from clew.agent.shells import Shells
from clew.agent.tool import Work
from clew.agent.tools.bash import Bash

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.acceptance

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "clew"
"""The user's own cache, looked for before a test gets another."""


def bubblewrap() -> str | None:
    """Find bubblewrap, or take it out of its package; None where there is no such package."""
    found = shutil.which("bwrap")
    kept = CACHE / "bubblewrap" / "usr" / "bin" / "bwrap"
    if found is not None or kept.is_file():
        return found or str(kept)
    apt, dpkg = shutil.which("apt-get"), shutil.which("dpkg")
    if apt is None or dpkg is None:
        return None
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as folder:
        subprocess.run([apt, "download", "bubblewrap"], cwd=folder, capture_output=True, check=False)
        package = next(Path(folder).glob("*.deb"), None)
        if package is None:
            return None
        subprocess.run([dpkg, "-x", str(package), f"{folder}/out"], capture_output=True, check=True)
        if not kept.is_file():
            os.replace(f"{folder}/out", CACHE / "bubblewrap")  # noqa: PTH105
    return str(kept)


class Yard:
    """A project behind the fence, and what lies around it."""

    def __init__(self, root: Path, program: str) -> None:
        # Not under /tmp, which is another one inside: what is outside must be seen to be touched.
        self.home, self.project, self.outside = root / "home", root / "project", root / "outside"
        for place in (self.home, self.project, self.outside):
            place.mkdir()
        (self.outside / "precious").write_text("precious")
        self.program = program
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(self.home), "ANTHROPIC_API_KEY": "sk-secret"}

    def fence(self) -> Shells:
        fence = Sandbox.find(str(self.project), environ=self.environ, program=self.program)
        if not fence.state.is_on:
            pytest.skip(f"no namespaces here: {fence.state.words}")
        return Shells(environ=self.environ, sandbox=fence)

    def work(self) -> Work:
        return Work(
            "toolu_1", str(self.project), str(self.project), Seen(), Cancel(), str(self.home / "results")
        )

    def run(self, command: str) -> str:
        """Run one command behind a fence of its own; return what was told of it."""
        with self.fence() as shells:
            outcome = Bash(shells).run({"command": command, "timeout": 20_000}, self.work())
        assert outcome.extra == {"sandboxed": True} or outcome.is_error
        return str(outcome.content)

    def is_whole(self) -> bool:
        return [file.name for file in self.outside.iterdir()] == ["precious"] and (
            self.outside / "precious"
        ).read_text() == "precious"


@pytest.fixture
def yard() -> Iterator[Yard]:
    program = bubblewrap()
    if program is None:
        pytest.skip("needs bubblewrap, or apt-get to fetch it")
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="sandbox-test-", dir=CACHE) as folder:
        yield Yard(Path(folder).resolve(), program)


def test_a_project_can_be_worked_in(yard: Yard) -> None:
    assert yard.run("mkdir a && cd a && echo hi > b && cat b && pwd") == f"hi\n{yard.project}/a"
    assert (yard.project / "a" / "b").read_text() == "hi\n"
    assert yard.run("exit 7") == "Exit code 7"


@pytest.mark.parametrize(
    "attempt",
    [
        "rm -rf {outside}",
        "rm -rf {outside}/precious",
        "echo no > {outside}/precious",
        "echo no > {outside}/new",
        "mv {outside}/precious stolen",
        "chmod 777 {outside}/precious && touch {outside}/precious",
        "ln -s {outside} way && rm -rf way/ && echo no > way/new",
        "ln -s {outside}/precious file && echo no > file",
        "ln {outside}/precious hard && echo no > hard",
        "ln -s / root && rm -rf root/{outside}",
        "cd {outside} && rm -rf ./*",
        "cd {project} && rm -rf ../outside",
        "truncate -s 0 {outside}/precious; python3 -c \"open('{outside}/precious','w')\"",
        "unshare -Urm sh -c 'mount -o remount,bind,rw {outside}; echo no > {outside}/precious'",
        "unshare -Urm sh -c 'mount -t tmpfs none {outside}; umount -l /; rm -rf {outside}'",
        "mount --bind {project} {outside} && echo no > {outside}/new",
        "for p in /proc/[0-9]*; do rm -rf $p/root{outside}; done",
        "rm -rf /proc/1/root{outside} /proc/self/root{outside}",
        "rm -rf {home} ; mkdir {home}/new",
    ],
)
def test_nothing_outside_can_be_changed(yard: Yard, attempt: str) -> None:
    places = {"outside": yard.outside, "project": yard.project, "home": yard.home}
    yard.run(attempt.format(**places))
    assert yard.is_whole()
    assert list(yard.home.iterdir()) == []


def test_the_same_without_the_fence_does_harm(yard: Yard) -> None:
    """Or the tests here would prove nothing."""
    with Shells(environ=yard.environ) as shells:
        Bash(shells).run({"command": f"rm -f '{yard.outside}/precious'"}, yard.work())
    assert not yard.is_whole()


def test_a_link_that_was_there_before_leads_nowhere(yard: Yard) -> None:
    (yard.project / "link").symlink_to(yard.outside)
    (yard.project / "dangling").symlink_to(yard.outside / "new")
    assert "Read-only file system" in yard.run("echo no > link/precious")
    assert "Read-only file system" in yard.run("echo no > dangling")
    yard.run("rm -rf link/*; cp /etc/passwd link/; tar cf link/x.tar .")
    assert yard.is_whole()


def test_there_is_no_network(yard: Yard) -> None:
    accepted: list[object] = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.2)
        port = listener.getsockname()[1]
        said = yard.run(f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo through")
        with contextlib.suppress(TimeoutError):
            accepted.append(listener.accept())
    assert "refused" in said
    assert "through" not in said
    assert not accepted
    # No card but the loop, and so no way to any host.
    assert yard.run("cat /proc/net/dev | tail -n +3 | cut -d: -f1").split() == ["lo"]
    assert yard.run("cat /proc/net/route | tail -n +2 | wc -l") == "0"


def test_sockets_outside_are_out_of_reach(yard: Yard) -> None:
    name = f"\0clew-sandbox-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(name)
        abstract.listen()
        code = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r})"
        assert "refused" in yard.run(f'python3 -c "{code.encode("unicode_escape").decode()}"')
    assert yard.run("ls -A /run").replace("(Bash completed with no output)", "").split() in ([], ["user"])


def test_secrets_are_not_there(yard: Yard) -> None:
    kept = yard.home / "elsewhere"
    kept.mkdir()
    (kept / "credentials").write_text("SECRET-aws")
    (yard.home / ".aws").symlink_to(kept)
    for place in (".ssh", ".config/gcloud", ".claude"):
        (yard.home / place).mkdir(parents=True)
    (yard.home / ".ssh" / "id_ed25519").write_text("SECRET-ssh")
    (yard.home / ".config" / "gcloud" / "x").write_text("SECRET-gcloud")
    (yard.home / ".claude" / ".credentials.json").write_text("SECRET-claude")
    (yard.home / ".netrc").write_text("SECRET-netrc")
    (yard.home / "notes").write_text("open")
    places = ".ssh/* .aws/* elsewhere/* .config/gcloud/* .claude/.credentials.json .netrc"
    said = yard.run(f"cd ~; cat {places}; cat notes")
    assert "SECRET" not in said
    assert "open" in said
    assert "SECRET" not in yard.run(f"grep -rs SECRET {yard.home}")
    # And they are hidden from a project that is the home itself.
    fence = Sandbox.find(str(yard.home), environ=yard.environ, program=yard.program)
    with Shells(environ=yard.environ, sandbox=fence) as shells:
        work = Work("t", str(yard.home), str(yard.home), Seen(), Cancel(), str(yard.outside / "results"))
        assert "SECRET" not in str(Bash(shells).run({"command": "grep -rs SECRET ."}, work).content)


def test_processes_outside_are_not_seen(yard: Yard) -> None:
    said = yard.run(f"ls -d /proc/{os.getpid()}; kill -0 {os.getpid()}; cat /proc/*/environ | tr '\\0' '\\n'")
    assert "No such" in said
    assert "sk-secret" not in said
    assert "PATH=" in said


def test_it_has_no_powers(yard: Yard) -> None:
    assert yard.run("grep CapEff /proc/self/status").split()[1].strip("0") == ""


def test_what_others_run_later_cannot_be_planted(yard: Yard) -> None:
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.com"]
    subprocess.run([*git, "init", "-q", str(yard.project)], check=True, env=yard.environ, capture_output=True)
    (yard.project / ".claude").mkdir()
    (yard.project / ".claude" / "settings.json").write_text("{}")
    before = (yard.project / ".git" / "config").read_text()
    said = yard.run(
        "echo bad > .git/hooks/pre-commit; echo bad >> .git/config; mv .git .git2; rm -rf .git/hooks;"
        " mv .git/hooks h; echo bad > .claude/settings.json; echo bad > .claude/new; mv .claude c;"
        " git config core.pager bad; true"
    )
    assert said.count("Read-only") + said.count("busy") >= 6
    assert not (yard.project / ".git" / "hooks" / "pre-commit").exists()
    assert (yard.project / ".git" / "config").read_text() == before
    assert (yard.project / ".claude" / "settings.json").read_text() == "{}"
    made = yard.run(
        "echo x > f && git add f && git -c user.name=x -c user.email=x@example.com commit -qm m"
        " && git log --oneline"
    )
    assert made.endswith(" m")


def test_temporary_files_are_its_own_and_stay_for_the_session(yard: Yard) -> None:
    with tempfile.NamedTemporaryFile(prefix="clew-sandbox-") as outside, yard.fence() as shells:
        bash, work = Bash(shells), yard.work()
        assert "No such file" in str(bash.run({"command": f"cat {outside.name}"}, work).content)
        bash.run({"command": "echo kept > /tmp/mine; touch /var/tmp/x; [ $TMPDIR = /tmp ]"}, work)
        assert bash.run({"command": "cat /tmp/mine"}, work).content == "kept"
        assert not Path("/tmp/mine").exists()


def test_a_daemon_ends_with_its_command(yard: Yard) -> None:
    said = yard.run(
        "setsid sh -c 'while :; do echo x >> beat; sleep 0.02; done' >/dev/null 2>&1 & sleep 0.3; echo off"
    )
    assert said.startswith("off")
    beat = yard.project / "beat"
    size = beat.stat().st_size
    assert size > 0
    time.sleep(0.3)
    assert beat.stat().st_size <= size + 2


def test_time_and_wishes_end_everything_in_it(yard: Yard) -> None:
    command = "setsid sh -c 'while :; do echo x >> beat; sleep 0.02; done' & sleep 100"
    with yard.fence() as shells:
        outcome = Bash(shells).run({"command": command, "timeout": 500}, yard.work())
        assert "timed out" in str(outcome.content)
        work = yard.work()
        timer = threading.Timer(0.5, work.cancel.ask)
        timer.start()
        assert "interrupted" in str(Bash(shells).run({"command": command}, work).content)
        timer.join()
        size = (yard.project / "beat").stat().st_size
        time.sleep(0.3)
        assert (yard.project / "beat").stat().st_size <= size + 2


def test_one_in_the_background_outlives_the_thread_that_started_it(yard: Yard) -> None:
    with yard.fence() as shells:
        given = {"command": "while :; do echo x >> beat; sleep 0.02; done", "run_in_background": True}
        thread = threading.Thread(target=Bash(shells).run, args=(given, yard.work()))
        thread.start()
        thread.join()
        time.sleep(0.3)
        size = (yard.project / "beat").stat().st_size
        time.sleep(0.3)
        assert (yard.project / "beat").stat().st_size > size
        assert [shell.status for shell in shells.all()] == ["running"]
    size = (yard.project / "beat").stat().st_size
    time.sleep(0.3)
    assert (yard.project / "beat").stat().st_size == size
