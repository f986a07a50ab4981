"""Hooks in the real client: every turn arrives once, however the client ends and the collector fails."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import clew.faces.hook
from tests.acceptance.hook_lab import Collector, Lab, Terminal

if TYPE_CHECKING:
    from tests.conformance.client import Client

pytestmark = pytest.mark.acceptance

PLUGIN = Path(clew.faces.hook.__file__).parent / "plugin"
SETTINGS = '{\n    "cleanupPeriodDays": 99,\n    "permissions": {"allow": ["Agent"]}\n}\n'


def install(lab: Lab, *more: str) -> None:
    (lab.config / "settings.json").write_text(SETTINGS)
    lab.clew("hook", "install", *more)


def test_turns_of_print_mode_arrive_once_also_when_the_client_ends_at_once(
    client: Client, tmp_path: Path
) -> None:
    with Collector() as collector, Lab(client, tmp_path, collector) as lab:
        install(lab)
        collector.open()
        prompts = [f"PROMPT-{number}" for number in range(3)]
        for number, prompt in enumerate(prompts):
            said = lab.say(prompt, *(["--continue"] if number else []))
            assert "answer" in said
        lab.settle()
        collector.judge(prompts)
        status = json.loads(lab.clew("hook", "status", "--json"))
        assert status["installed"]
        assert status["waiting"] == 0
        assert status["last_run"]["errors"] == []
        lab.clew("hook", "uninstall")
        assert (lab.config / "settings.json").read_text() == SETTINGS
        lab.say("AFTER", "--continue")
        time.sleep(1)
        collector.judge(prompts)  # nothing more


def test_sub_agents_arrive_under_the_turn_that_started_them(client: Client, tmp_path: Path) -> None:
    with Collector() as collector, Lab(client, tmp_path, collector) as lab:
        install(lab)
        collector.open()
        lab.say("PROMPT-0 AGENT")
        lab.say("PROMPT-1", "--continue")
        lab.settle()
        collector.judge(["PROMPT-0 AGENT", "PROMPT-1"])
        (root,) = [one for one in collector.arrived if not one.parent and "PROMPT-0 AGENT" in one]
        inside = [one for one in collector.arrived if one.trace == root.trace]
        (agent,) = [one for one in inside if one.name == "invoke_agent general-purpose"]
        assert any(
            one.parent == agent.span and one.name.startswith("chat") and "sub-agent" in one for one in inside
        )
        parent = next(one for one in inside if one.span == agent.parent)
        assert parent.name.startswith("execute_tool")


def test_turns_arrive_once_when_the_collector_is_away_and_comes_back(client: Client, tmp_path: Path) -> None:
    with Collector() as collector, Lab(client, tmp_path, collector) as lab:
        install(lab)
        start = time.monotonic()
        lab.say("PROMPT-0")
        lab.say("PROMPT-1 AGENT", "--continue")
        lab.say("PROMPT-2")  # another session
        assert time.monotonic() - start < 30  # nobody waits for a collector that is away
        lab.settle(90)
        assert collector.arrived == []
        assert json.loads(lab.clew("hook", "status", "--json"))["waiting"] == 2
        collector.open()
        lab.say("PROMPT-3")  # the next session, which catches up
        lab.settle(90)
        collector.judge(["PROMPT-0", "PROMPT-1 AGENT", "PROMPT-2", "PROMPT-3"])
        assert json.loads(lab.clew("hook", "status", "--json"))["waiting"] == 0
        collector.close()
        lab.say("PROMPT-4", "--continue")
        lab.settle(90)
        collector.open()
        lab.say("PROMPT-5", "--continue")
        lab.settle(90)
        collector.judge([*("PROMPT-0", "PROMPT-1 AGENT", "PROMPT-2", "PROMPT-3"), "PROMPT-4", "PROMPT-5"])


@pytest.mark.usefixtures("tmux")
def test_turns_of_a_terminal_arrive_once_and_the_status_line_is_shown(client: Client, tmp_path: Path) -> None:
    with Collector() as collector, Lab(client, tmp_path, collector) as lab:
        install(lab, "--statusline")
        collector.open()
        with Terminal(lab, client) as terminal:
            terminal.say("PROMPT-0")
            terminal.say("PROMPT-1 AGENT")
            terminal.wait_for("context ")
            terminal.say("PROMPT-2")
            terminal.wait_for("<$0.01")
            # The terminal is closed the moment the last answer is there: its hook has only just begun.
        lab.settle()
        collector.judge(["PROMPT-0", "PROMPT-1 AGENT", "PROMPT-2"])


@pytest.mark.usefixtures("tmux")
def test_a_sub_agent_in_the_background_arrives_once(client: Client, tmp_path: Path) -> None:
    """It ends after the turn that started it, and the client goes on by itself when it does."""
    with Collector() as collector, Lab(client, tmp_path, collector) as lab:
        install(lab)
        collector.open()
        with Terminal(lab, client) as terminal:
            terminal.say("PROMPT-0 AGENT BACKGROUND")
            terminal.say("PROMPT-1")
        lab.settle()
        spans = Counter(one.span for one in collector.arrived)
        assert set(spans.values()) == {1}
        assert len([one for one in collector.arrived if one.name == "invoke_agent general-purpose"]) == 1
        roots = [one for one in collector.arrived if not one.parent]
        for prompt in ("PROMPT-0 AGENT BACKGROUND", "PROMPT-1"):
            assert (
                len([one for one in roots if f'"{prompt}' in one or prompt in one.attributes["input.value"]])
                == 1
            )


@pytest.mark.usefixtures("tmux")
def test_a_session_that_is_cleared_is_sent_and_so_is_the_next(client: Client, tmp_path: Path) -> None:
    with Collector() as collector, Lab(client, tmp_path, collector) as lab:
        install(lab)
        collector.open()
        with Terminal(lab, client) as terminal:
            terminal.say("PROMPT-0")
            terminal.type("/clear")
            time.sleep(2)
            terminal.say("PROMPT-1")
        lab.settle()
        collector.judge(["PROMPT-0", "PROMPT-1"])


def test_the_plugin_passes_the_clients_own_check(client: Client, tmp_path: Path) -> None:
    with Collector() as collector, Lab(client, tmp_path, collector) as lab:
        copy = tmp_path / "plugin"
        shutil.copytree(PLUGIN, copy)
        for what in (
            copy,
            copy / ".claude-plugin" / "plugin.json",
            copy / ".claude-plugin" / "marketplace.json",
        ):
            done = subprocess.run(
                [*client.command, "plugin", "validate", "--strict", str(what)],
                env=lab.environ,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stdout + done.stderr
            assert "Validation passed" in done.stdout
        (copy / "hooks" / "hooks.json").write_text('{"hooks": {"Stop": 7}}')
        broken = subprocess.run(
            [*client.command, "plugin", "validate", "--strict", str(copy / ".claude-plugin" / "plugin.json")],
            env=lab.environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert broken.returncode != 0, "the check can fail"


def test_turns_arrive_by_the_plugin_too(client: Client, tmp_path: Path) -> None:
    with Collector() as collector, Lab(client, tmp_path, collector) as lab:
        programs = tmp_path / "bin"
        programs.mkdir()
        (programs / "clew").symlink_to(Path(sys.executable).with_name("clew"))
        lab.environ["PATH"] = f"{programs}:{lab.environ['PATH']}"
        collector.open()
        folder = lab.clew("hook", "plugin").strip()
        lab.say("PROMPT-0", "--plugin-dir", folder)
        for words in (("marketplace", "add", folder), ("install", "clew@clew")):
            subprocess.run(
                [*client.command, "plugin", *words], env=lab.environ, stdin=subprocess.DEVNULL, check=True
            )
        lab.say("PROMPT-1", "--continue")
        lab.settle()
        collector.judge(["PROMPT-0", "PROMPT-1"])
        assert "the plugin clew@clew" in lab.clew("hook", "status")
        asked = next(one for one in lab.api.requests if one.is_messages)
        assert "past-sessions" in json.dumps(asked.body)  # the model is told of the skill
