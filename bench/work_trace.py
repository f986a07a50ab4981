"""Traces (T1): how long three hundred turns take to be sent, and how much memory a large session takes."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench import corpora
from bench.generate import parse_size
from bench.measure import Command, measure, middle, throwaway_env
from bench.report import Line, Row

if TYPE_CHECKING:
    from collections.abc import Generator

    from bench.corpora import Giant
    from bench.measure import Cost
    from bench.runner import Runner

TURNS = 300
LARGE = parse_size("100MB")
OURS, PLAIN, STOCK = "clew trace send", "clew trace send --no-redact", "the stock exporter, no redaction"


def sending(runner: Runner) -> None:
    """Three hundred turns with and without a look for secrets, and by the stock exporter."""
    giant = corpora.giant(TURNS, "turns")
    with sink() as (url, counts):
        stock = str(Path(__file__).with_name("stock_export.py"))
        programs = {
            OURS: _send(runner, giant, url),
            PLAIN: _send(runner, giant, url, "--no-redact"),
            STOCK: Command((sys.executable, stock, str(giant.path), url), throwaway_env(runner.home)),
        }
        costs: dict[str, list[Cost]] = {name: [] for name in programs}
        errors: dict[str, str] = {}
        names: list[str] = []
        for _ in range(runner.often(5)):
            for name, command in programs.items():
                begin(url)
                names.append(name)
                run = measure(command)
                if run.error is not None:
                    errors[name] = run.error
                costs[name].append(run.cost)
    told = dict(zip(names, counts[1:], strict=True))
    for name in programs:
        if told[name]["spans"] != told[STOCK]["spans"]:
            errors[name] = f"{told[name]['spans']} spans arrived, not {told[STOCK]['spans']}"
    runner.lines += [
        Line(giant.name, name, None if name in errors else middle(found), errors.get(name))
        for name, found in costs.items()
    ]
    detail = f"{told[OURS]['spans']:,} spans, {told[OURS]['bytes'] / 1e6:,.1f} MB of them"
    ours = runner.figure(giant.name, OURS, "wall")
    runner.rows.append(Row("T1", f"{OURS}, {giant.name}: wall", ours, 2.0, "s", detail, errors.get(OURS)))
    runner.ratio("T1", giant.name, "cpu", of=PLAIN, to=STOCK, limit=None)


def memory(runner: Runner) -> None:
    """What a session of 100 MB takes while it is sent."""
    giant = corpora.giant(LARGE, "mixed")
    with sink() as (url, counts):
        run = measure(_send(runner, giant, url))
    error = run.error or (None if counts[0]["spans"] else "nothing arrived")
    runner.lines.append(Line(giant.name, OURS, None if error else run.cost, error))
    what, detail = (
        f"{OURS}, {giant.name}: peak memory",
        f"{run.cost.wall:.1f} s, {counts[0]['spans']:,} spans",
    )
    runner.rows.append(Row("T1", what, None if error else run.cost.rss, 200, "MB", detail, error))


def _send(runner: Runner, giant: Giant, url: str, *more: str) -> Command:
    """Send a session as if nothing was ever sent."""
    home = runner.home / "traces"
    return runner.clew(
        giant.root, "trace", "send", str(giant.path), "--endpoint", url, *more, home=home, fresh=True
    )


def begin(url: str) -> None:
    """Tell the collector that another program sends from now on."""
    with urllib.request.urlopen(url) as answer:
        answer.read()


@contextmanager
def sink() -> Generator[tuple[str, list[dict[str, Any]]]]:
    """A collector in a process of its own; what it got in each run is there when it is closed."""
    script = str(Path(__file__).with_name("sink.py"))
    with subprocess.Popen(
        [sys.executable, script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        counts: list[dict[str, Any]] = []
        yield f"http://127.0.0.1:{int(child.stdout.readline())}/v1/traces", counts
        child.stdin.close()
        counts += json.loads(child.stdout.read())
