"""What `clew run` writes: the answer on standard output in one of three forms, the rest on standard error."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any, Literal

from clew.agent.happenings import (
    Answered,
    BlockDone,
    CallBegan,
    CallEnded,
    Compacted,
    InAgent,
    Noted,
    Said,
    Thought,
    Waits,
)
from clew.faces.cli.terminal import span
from clew.faces.cli.tool_lines import argument
from clew.format.compose import tool_result
from clew.format.decode import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from clew.actions.running import Running
    from clew.agent.happenings import Happening
    from clew.agent.loop import Ending
    from clew.errors import ClewError
    from clew.faces.cli.terminal import Screen

Form = Literal["text", "json", "stream-json"]


class RunOutput:
    """Hears what happens in a run and writes it."""

    def __init__(self, screen: Screen, form: Form, *, is_quiet: bool, folder: str) -> None:
        self._screen = screen
        self._form = form
        self._is_told = not is_quiet and form == "text"
        self._folder = folder
        self._started = time.monotonic()
        self._requests = 0
        self._usage: dict[str, int] = {}
        self._lock = threading.Lock()
        self.running: Running | None = None
        """Set when the session is open."""

    def hear(self, happening: Happening) -> None:
        """Write what is to be written of it. Sub-agents that work at once tell at once."""
        with self._lock:
            if isinstance(happening, Answered):
                self._requests += 1
                for name, value in happening.usage.items():
                    if isinstance(value, int):
                        self._usage[name] = self._usage.get(name, 0) + value
            if isinstance(happening, Noted | Waits):
                self._note(happening)
            elif self._form == "stream-json":
                self._stream(happening)
            elif self._is_told:
                self._tell(happening)

    def begin(self, running: Running) -> None:
        """Say which session it is."""
        self.running = running
        if self._form == "stream-json":
            self._line(
                {
                    "type": "system",
                    "subtype": "init",
                    "session_id": running.session_id,
                    "cwd": running.transcript.cwd,
                    "model": running.model,
                    "permissionMode": running.gate.mode,
                    "tools": sorted(running.tools),
                    "sandbox": running.sandbox_state.words,
                }
            )
        elif self._is_told and not running.sandbox_state.is_on:
            self._screen.note(span(running.sandbox_state.words, "dim"))

    def end(self, ending: Ending | None) -> None:
        """Write the result."""
        text = "" if ending is None else ending.text
        if self._form == "text":
            if text:
                self._screen.print(text)
            return
        subtype = "success" if ending is not None and not ending.is_interrupted else "error_during_execution"
        self._line(self._result(subtype, text, is_error=subtype != "success"))

    def failed(self, error: ClewError) -> None:
        """Write that there is no result; the error itself is told by whoever called."""
        if self._form != "text":
            kind = {"budget-spent": "error_max_budget"}.get(error.code, "error_during_execution")
            self._line(self._result(kind, error.message, is_error=True))

    def _result(self, subtype: str, text: str, *, is_error: bool) -> dict[str, Any]:
        running = self.running
        return {
            "type": "result",
            "subtype": subtype,
            "is_error": is_error,
            "duration_ms": round((time.monotonic() - self._started) * 1000),
            "num_turns": self._requests,
            "result": text,
            "session_id": None if running is None else running.session_id,
            "total_cost_usd": 0.0 if running is None else round(running.budget.cost_usd, 6),
            "unpriced_answers": 0 if running is None else running.budget.unpriced,
            "usage": self._usage,
        }

    # Lines of JSON ----------------------------------------------------------------------------------

    def _stream(self, happening: Happening, parent: str | None = None) -> None:
        match happening:
            case BlockDone():
                self._message("assistant", [dict(happening.block)], happening.uuid, parent)
            case CallEnded():
                outcome = happening.outcome
                block = tool_result(happening.call_id, outcome.content, is_error=outcome.is_error)
                self._message("user", [block], happening.uuid, parent)
            case Said() | Thought():
                kind = "text_delta" if isinstance(happening, Said) else "thinking_delta"
                name = "text" if isinstance(happening, Said) else "thinking"
                delta = {"type": "content_block_delta", "delta": {"type": kind, name: happening.text}}
                self._line({"type": "stream_event", "event": delta, **self._about(None, parent)})
            case Compacted():
                told = {"trigger": happening.trigger, "pre_tokens": happening.tokens_before}
                self._line(
                    {
                        "type": "system",
                        "subtype": "compact_boundary",
                        "compact_metadata": told,
                        **self._about(None, parent),
                    }
                )
            case InAgent():
                self._stream(happening.happening, happening.call_id)
            case _:
                pass

    def _message(self, role: str, content: list[dict[str, Any]], uuid: str, parent: str | None) -> None:
        self._line({"type": role, "message": {"role": role, "content": content}, **self._about(uuid, parent)})

    def _about(self, uuid: str | None, parent: str | None) -> dict[str, Any]:
        running = self.running
        about: dict[str, Any] = {
            "parent_tool_use_id": parent,
            "session_id": None if running is None else running.session_id,
        }
        return about if uuid is None else {**about, "uuid": uuid}

    def _line(self, document: Mapping[str, Any]) -> None:
        self._screen.json(encode(document).decode("utf-8", "replace"))
        self._screen.flush()

    # Words for a person -----------------------------------------------------------------------------

    def _note(self, happening: Noted | Waits) -> None:
        if isinstance(happening, Noted):
            self._screen.note(span(happening.text, "yellow"))
        else:
            again = f"{happening.reason}; trying again in {happening.seconds:.0f} s"
            self._screen.note(span(f"{again} ({happening.attempt} of {happening.tries})", "yellow"))

    def _tell(self, happening: Happening, indent: str = "") -> None:
        match happening:
            case CallBegan():
                what = argument(happening.name, happening.given, folder=self._folder)
                self._screen.note(indent, span(f"{happening.name} ", "cyan"), span(what, "dim"))
            case CallEnded() if happening.outcome.is_error:
                words = happening.outcome.content
                first = words.strip().split("\n", 1)[0] if isinstance(words, str) else "failed"
                self._screen.note(indent, span(f"{happening.name}: {first[:200]}", "red"))
            case Compacted():
                self._screen.note(
                    span(
                        f"summed up: {happening.tokens_before:,} tokens to {happening.tokens_after:,}", "dim"
                    )
                )
            case InAgent():
                self._tell(happening.happening, indent + "  ")
            case _:
                pass
