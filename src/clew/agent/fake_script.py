"""What `clew fake-api` says, read from a file that a person wrote.

A script is JSON (a list of steps, or an object with `steps`), or JSON lines, a step each. A step is a text
or an object; `docs/fake-api.md` has all of it. A request is answered by the first step that is not used up
and whose `when` it meets; when there is none, by the script's `default`; without one, by an echo.

Whatever is wrong with a script is said before the first request, with the number of the step.
"""

from __future__ import annotations

import json
import re
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal, cast

from clew.agent.standin_answers import Failure, Pace, Reply, Silence, text, thinking, tool_use
from clew.agent.token_count import count_text, count_tokens
from clew.errors import ClewError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from clew.agent.standin_answers import Answer, Block, Request

_SAYING: Final = frozenset({"text", "thinking", "call", "content"})
_REPLY: Final = _SAYING | {"stop_reason", "stop_sequence", "usage", "model", "message_id"}
_FAILURE: Final = frozenset({"status", "kind", "message", "retry_after", "headers"})
_PACE: Final = frozenset({"delay_ms", "pause_ms", "piece", "cut_after", "then"})
_ALWAYS: Final = frozenset({"when", "times"}) | _PACE
_WHEN: Final = frozenset({"prompt", "system", "model", "result", "tools", "number"})
_KINDS: Final = {
    400: "invalid_request_error", 401: "authentication_error", 403: "permission_error",
    404: "not_found_error", 413: "request_too_large", 429: "rate_limit_error", 529: "overloaded_error",
}  # fmt: skip
_REMINDER: Final = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
_ECHOED: Final = 2000


class BadScriptError(ClewError):
    """A script that says something nobody can do."""

    code = "bad-script"

    def __init__(self, words: str, *, step: int | None = None) -> None:
        where = "" if step is None else f"step {step} of "
        super().__init__(f"{where}the script: {words}", hint="docs/fake-api.md has the form of a script")
        self.step = step


@dataclass(frozen=True, slots=True)
class Step:
    """One answer, when it is given, and how often."""

    make: Callable[[Request], Answer]
    meets: Callable[[Request], bool]
    times: float = 1


class Script:
    """Answers requests by its steps. Any number of threads may ask at once."""

    def __init__(
        self, steps: Sequence[Step] = (), *, default: Step | None = None, only_with_tools: bool = False
    ) -> None:
        self._steps = steps
        self._left = [step.times for step in steps]
        self._default = default
        self._only_with_tools = only_with_tools
        self._lock = threading.Lock()

    @property
    def left(self) -> int:
        """How many steps were never used up; one that may always be used is none of them."""
        with self._lock:
            return sum(0 < left < float("inf") for left in self._left)

    def answer(self, request: Request) -> Answer:
        """Choose what to say to a request."""
        step = self._next(request) or self._default
        return step.make(request) if step is not None else echo(request)

    def _next(self, request: Request) -> Step | None:
        if self._only_with_tools and not request.body.get("tools"):
            return None
        with self._lock:
            for at, step in enumerate(self._steps):
                if self._left[at] > 0 and step.meets(request):
                    self._left[at] -= 1
                    return step
        return None


def read_script(written: str) -> Script:
    """Read a script."""
    document = _document(written)
    if isinstance(document, dict):
        given = cast("dict[str, object]", document)
        if "steps" in given:
            extra = given.keys() - {"steps", "default", "only_with_tools"}
            if extra:
                raise BadScriptError(f"nobody knows {', '.join(sorted(extra))}")
            default = _step(given["default"], None) if "default" in given else None
            only = _flag(given.get("only_with_tools", False), "only_with_tools", None)
            return Script(_steps(given["steps"]), default=default, only_with_tools=only)
        document = [given]
    return Script(_steps(cast("object", document)))


def echo(request: Request) -> Reply:
    """Say back what was said."""
    said = last_words(request)
    return _counted(Reply((text(f"You said: {said[:_ECHOED]}" if said else "You said nothing."),)), request)


def slowed(answer: Answer, seconds: float) -> Answer:
    """Have an answer come slowly that has no pace of its own."""
    if answer.pace.between or seconds <= 0:
        return answer
    return replace(answer, pace=replace(answer.pace, between=seconds, piece=answer.pace.piece or 12))


def named(answer: Answer, run: str, number: int) -> Answer:
    """Give an answer that has no id of its own one that no other run gives out.

    Two answers under one id are one message to whoever reads the session.
    """
    if not isinstance(answer, Reply) or answer.message_id is not None:
        return answer
    return replace(answer, message_id=f"msg_fake_{run}_{number:06d}")


def last_words(request: Request) -> str:
    """Return the text of the last message, without what the client adds for the model."""
    messages = request.body.get("messages")
    last = cast("list[object]", messages)[-1] if isinstance(messages, list) and messages else None
    return _REMINDER.sub("", "\n".join(_texts(last, {"text", "tool_result"}))).strip()


def _document(written: str) -> object:
    try:
        return cast("object", json.loads(written))
    except (ValueError, RecursionError) as error:
        lines = [line for line in written.splitlines() if line.strip()]
        if len(lines) < 2 and isinstance(error, ValueError):
            raise BadScriptError(f"it is no JSON: {error}") from None
    steps: list[object] = []
    for number, line in enumerate(lines, 1):
        try:
            steps.append(json.loads(line))
        except (ValueError, RecursionError) as error:
            raise BadScriptError(f"it is no JSON: {error}", step=number) from None
    return steps


def _steps(given: object) -> list[Step]:
    if not isinstance(given, list):
        raise BadScriptError("the steps are no list")
    return [_step(one, number) for number, one in enumerate(cast("list[object]", given), 1)]


def _step(given: object, number: int | None) -> Step:
    if isinstance(given, str):
        given = {"text": given}
    if not isinstance(given, dict):
        raise BadScriptError("it is neither a text nor an object", step=number)
    step = cast("dict[str, object]", given)
    kinds = [bool(step.keys() & _SAYING), "status" in step, "silence" in step]
    if sum(kinds) != 1:
        words = "it says nothing" if not any(kinds) else "it says two things at once"
        raise BadScriptError(f"{words}: text, call, content, status or silence", step=number)
    allowed = _ALWAYS | (_REPLY if kinds[0] else _FAILURE if kinds[1] else {"silence"})
    extra = step.keys() - allowed
    if extra:
        raise BadScriptError(f"nobody knows {', '.join(sorted(extra))} here", step=number)
    pace = _pace(step, number)
    often = step.get("times", 1)
    times = float("inf") if often == "always" else float(_count(often, "times", number))
    make = _reply(step, pace, number) if kinds[0] else _other(step, pace, number)
    return Step(make, _when(step.get("when", {}), number), times)


def _reply(step: Mapping[str, object], pace: Pace, number: int | None) -> Callable[[Request], Answer]:
    if "content" in step and step.keys() & (_SAYING - {"content"}):
        raise BadScriptError("content stands alone", step=number)
    fields: dict[str, Any] = {}
    for name in ("stop_reason", "stop_sequence", "model", "message_id"):
        if name in step:
            fields[name] = _words(step[name], name, number)
    usage = step.get("usage")
    if usage is not None and not isinstance(usage, dict):
        raise BadScriptError("usage is no object", step=number)
    blocks = _blocks(step, number)

    def make(request: Request) -> Answer:
        content = tuple(_named(block, request, at) for at, block in enumerate(blocks))
        reply = Reply(content, pace=pace, **fields)
        if usage is not None:
            return replace(reply, usage=cast("dict[str, Any]", usage))
        return _counted(reply, request)

    return make


def _other(step: Mapping[str, object], pace: Pace, number: int | None) -> Callable[[Request], Answer]:
    if "silence" in step:
        if step["silence"] not in {"hang", "drop"}:
            raise BadScriptError("silence is hang or drop", step=number)
        silent = Silence(drops=step["silence"] == "drop", pace=pace)
        return lambda _: silent
    status = _count(step["status"], "status", number)
    if not 300 <= status <= 599:
        raise BadScriptError("a status is a number from 300 to 599", step=number)
    headers = step.get("headers", {})
    if not isinstance(headers, dict):
        raise BadScriptError("headers are no object", step=number)
    named = {name: _header(value, name, number) for name, value in cast("dict[str, object]", headers).items()}
    waits = step.get("retry_after")
    failure = Failure(
        status,
        _words(step.get("kind", _KINDS.get(status, "api_error")), "kind", number),
        _words(step.get("message", "scripted failure"), "message", number),
        None if waits is None else _number(waits, "retry_after", number),
        named,
        pace,
    )
    return lambda _: failure


def _blocks(step: Mapping[str, object], number: int | None) -> list[Block]:
    content = step.get("content")
    if content is not None:
        listed = cast("list[object]", content) if isinstance(content, list) else [None]
        if not all(isinstance(block, dict) and "type" in block for block in listed):
            raise BadScriptError("content is a list of blocks, each with its type", step=number)
        return cast("list[Block]", listed)
    found = [thinking(_words(words, "thinking", number)) for words in _listed(step.get("thinking"))]
    found += [text(_words(words, "text", number)) for words in _listed(step.get("text"))]
    for call in _listed(step.get("call")):
        given = cast("dict[str, object]", call) if isinstance(call, dict) else {}
        arguments = given.get("input", {})
        if given.keys() - {"name", "input", "id"} or not isinstance(arguments, dict):
            raise BadScriptError(
                "a call has a name, an input that is an object, and perhaps an id", step=number
            )
        name, call_id = _words(given.get("name"), "the name of a call", number), given.get("id", "")
        arguments = cast("dict[str, object]", arguments)
        found.append(tool_use(name, arguments, call_id=_words(call_id, "an id", number)))
    return found


def _named(block: Block, request: Request, at: int) -> Block:
    """Give a call an id that no other has, where the script gave it none."""
    if block.get("type") == "tool_use" and not block.get("id"):
        return {**block, "id": f"toolu_fake_{request.number:04d}_{at}"}
    return block


def _pace(step: Mapping[str, object], number: int | None) -> Pace:
    then = step.get("then", "drop")
    if then not in {"drop", "hang", "error"}:
        raise BadScriptError("then is drop, hang or error", step=number)
    piece, cut = step.get("piece"), step.get("cut_after")
    return Pace(
        before=_number(step.get("delay_ms", 0), "delay_ms", number) / 1000,
        between=_number(step.get("pause_ms", 0), "pause_ms", number) / 1000,
        piece=None if piece is None else max(1, _count(piece, "piece", number)),
        cut_after=None if cut is None else _count(cut, "cut_after", number),
        then=cast("Literal['drop', 'hang', 'error']", then),
    )


def _when(given: object, number: int | None) -> Callable[[Request], bool]:
    if not isinstance(given, dict) or cast("dict[str, object]", given).keys() - _WHEN:
        raise BadScriptError(f"when is an object of {', '.join(sorted(_WHEN))}", step=number)
    when = cast("dict[str, object]", given)
    patterns: dict[str, re.Pattern[str]] = {}
    for name in ("prompt", "system", "model", "result"):
        if name in when:
            try:
                patterns[name] = re.compile(_words(when[name], name, number))
            except re.error as error:
                raise BadScriptError(f"{name} is no pattern: {error}", step=number) from None
    tools = _flag(when["tools"], "tools", number) if "tools" in when else None
    nth = _count(when["number"], "number", number) if "number" in when else None

    def meets(request: Request) -> bool:
        if tools is not None and tools != bool(request.body.get("tools")):
            return False
        if nth is not None and nth != request.number:
            return False
        return all(pattern.search(_part(request, name)) for name, pattern in patterns.items())

    return meets


def _part(request: Request, name: str) -> str:
    """Return what a pattern is looked for in."""
    body = request.body
    if name == "model":
        return str(body.get("model", ""))
    if name == "system":
        return "\n".join(_texts({"content": body.get("system")}, {"text"}))
    messages = body.get("messages")
    last = cast("list[object]", messages)[-1] if isinstance(messages, list) and messages else None
    return "\n".join(_texts(last, {"tool_result"} if name == "result" else {"text"}))


def _texts(message: object, kinds: set[str]) -> list[str]:
    content = cast("dict[str, object]", message).get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return [content] if "text" in kinds else []
    found: list[str] = []
    for block in cast("list[object]", content) if isinstance(content, list) else []:
        one = cast("dict[str, object]", block) if isinstance(block, dict) else {}
        if one.get("type") not in kinds:
            continue
        if one.get("type") == "text":
            found.append(str(one.get("text", "")))
        else:
            inner = one.get("content")
            found += [inner] if isinstance(inner, str) else _texts(one, {"text"})
    return found


def _counted(reply: Reply, request: Request) -> Reply:
    said = count_text(json.dumps([dict(block) for block in reply.content], ensure_ascii=False))
    return replace(reply, usage={"input_tokens": count_tokens(request.body), "output_tokens": max(1, said)})


def _listed(value: object) -> list[object]:
    return [] if value is None else cast("list[object]", value) if isinstance(value, list) else [value]


def _words(value: object, name: str, number: int | None) -> str:
    if not isinstance(value, str):
        raise BadScriptError(f"{name} is no text", step=number)
    return value


def _header(value: object, name: str, number: int | None) -> str:
    words = _words(value, "a header", number)
    if not re.fullmatch(r"[A-Za-z0-9-]+", name) or not words.isascii() or not words.isprintable():
        raise BadScriptError("a header has signs in it that no header has", step=number)
    return words


def _flag(value: object, name: str, number: int | None) -> bool:
    if not isinstance(value, bool):
        raise BadScriptError(f"{name} is true or false", step=number)
    return value


def _number(value: object, name: str, number: int | None) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value < 1e9:
        raise BadScriptError(f"{name} is a number, 0 or more", step=number)
    return float(value)


def _count(value: object, name: str, number: int | None) -> int:
    found = _number(value, name, number)
    if found != int(found):
        raise BadScriptError(f"{name} is a whole number", step=number)
    return int(found)
