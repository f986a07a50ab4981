"""The door to the Messages API: a request goes out, an answer comes in, event by event.

Until an answer begins, what fails in passing is tried again (`trying`). Once it has begun nothing is sent
again, for a second answer would be another one. Whoever asks to stop is heard at once, whatever is being
waited for.

How a request looks is for `requests`, what can go wrong is in `api_errors`, what comes in `stream_events`.
"""

from __future__ import annotations

import json
import os
import random
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self, cast
from urllib.parse import urlsplit

import orjson

from clew.agent.api_errors import (
    ApiRefusedError,
    ConnectionLostError,
    masked,
    refusal_of,
    refusal_of_kind,
)
from clew.agent.cancel import Cancel, CancelledError
from clew.agent.keys import checked_address
from clew.agent.requests import encoded
from clew.agent.sse import EventCutter, EventTooLongError
from clew.agent.stream_events import BadStreamError, Folding, Started, StreamFailedError, told_by
from clew.agent.trying import Attempts, PassingError, Patience, tell_nobody
from clew.net.failing import BrokenOffError, NoAnswerError, StreamLostError
from clew.net.line import Line

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping

    from clew.agent.api_errors import Refusal
    from clew.agent.keys import Key
    from clew.agent.sse import ServerEvent
    from clew.agent.stream_events import Event
    from clew.agent.trying import Waiting
    from clew.net.streaming import Streamed

VERSION: Final = "2023-06-01"
"""The version of the API that requests are written for."""

_LONGEST_ERROR: Final = 1 << 16
_LONGEST_ANSWER: Final = 64 << 20


class Door:
    """The way to one API with one key. Any number of threads may use it at once."""

    def __init__(
        self,
        base_url: str,
        key: Key,
        *,
        user_agent: str,
        environ: Mapping[str, str] | None = None,
        patience: Patience | None = None,
        draw: Callable[[], float] = random.random,
    ) -> None:
        """Take the proxy, more certificates and more headers from `environ`, as the client does."""
        self._address = checked_address(base_url)
        self._path = urlsplit(self._address).path
        self._environ = dict(os.environ if environ is None else environ)
        self._patience = patience or Patience()
        self._draw = draw
        self._lines: list[Line] = []
        self._lock = threading.Lock()
        more = _custom_headers(self._environ)
        self._headers = {
            **more,
            "content-type": "application/json",
            "anthropic-version": VERSION,
            "user-agent": user_agent,
            key.header[0]: key.header[1],
        }
        self._secrets = (key.secret, *more.values())

    def __repr__(self) -> str:
        return f"Door({self._address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        with self._lock:
            lines, self._lines = self._lines, []
        for line in lines:
            line.close()

    def stream(
        self,
        request: Mapping[str, Any],
        *,
        cancel: Cancel | None = None,
        waiting: Callable[[Waiting], None] = tell_nobody,
    ) -> Generator[Event]:
        """Ask for a message and tell it as it comes. `betas` in the request go where the API wants them.

        Raises `CancelledError`, or one of the `api_errors`. Closing the iterator hangs up.
        """
        cancel = cancel or Cancel()
        attempts = Attempts(self._patience, cancel, waiting, self._draw)
        body, headers = self._written({**request, "stream": True})
        while True:
            is_begun = False
            try:
                with self._asked("/v1/messages", body, headers, cancel, self._patience.idle) as answer:
                    for event in self._events(answer, cancel):
                        is_begun |= isinstance(event, Started)
                        yield event
            except PassingError as error:
                trouble = error
            else:
                return
            if is_begun:
                raise ConnectionLostError(
                    f"the answer broke off: {trouble.reason}",
                    hint="what came of it is kept; ask again to go on",
                    is_begun=True,
                )
            attempts.failed(trouble)

    def message(
        self,
        request: Mapping[str, Any],
        *,
        cancel: Cancel | None = None,
        waiting: Callable[[Waiting], None] = tell_nobody,
    ) -> dict[str, Any]:
        """Ask for a message and return it whole."""
        asked = {name: value for name, value in request.items() if name != "stream"}
        return self._document("/v1/messages", asked, cancel or Cancel(), waiting)

    def count_tokens(
        self,
        request: Mapping[str, Any],
        *,
        cancel: Cancel | None = None,
        waiting: Callable[[Waiting], None] = tell_nobody,
    ) -> int:
        """Ask how many tokens a request would be."""
        kept = ("model", "messages", "system", "tools", "tool_choice", "thinking", "betas")
        asked = {name: request[name] for name in kept if name in request}
        found = self._document("/v1/messages/count_tokens", asked, cancel or Cancel(), waiting)
        count = found.get("input_tokens")
        if not isinstance(count, int):
            raise ApiRefusedError("the API does not say how many tokens there are")
        return count

    def _document(
        self, target: str, request: Mapping[str, Any], cancel: Cancel, waiting: Callable[[Waiting], None]
    ) -> dict[str, Any]:
        attempts = Attempts(self._patience, cancel, waiting, self._draw)
        body, headers = self._written(request)
        while True:
            try:
                # Nothing comes until all of it does.
                with self._asked(target, body, headers, cancel, self._patience.whole) as answer:
                    return self._document_of(answer, cancel)
            except PassingError as error:
                trouble = error
            attempts.failed(trouble)

    def _events(self, answer: Streamed, cancel: Cancel) -> Iterator[Event]:
        """Tell an answer, whatever form it came in."""
        request_id = answer.headers.get("request-id")
        if "text/event-stream" not in answer.headers.get("content-type", "").lower():
            yield from told_by(self._document_of(answer, cancel), request_id)
            return
        cutter, folding = EventCutter(), Folding(request_id)
        try:
            for piece in answer:
                for sent in cutter.feed(piece):
                    for event in _told(folding, sent):
                        cancel.check()
                        yield event
                    if folding.is_ended:
                        answer.finish()
                        return
            yield from folding.end()
        except BrokenOffError:
            raise CancelledError from None
        except (StreamLostError, BadStreamError, EventTooLongError) as error:
            raise PassingError(str(error)) from None
        except StreamFailedError as error:
            raise self._failed(refusal_of_kind(error.kind, error.words, secrets=self._secrets)) from None

    def _document_of(self, answer: Streamed, cancel: Cancel) -> dict[str, Any]:
        """Read an answer that is one JSON object."""
        data = bytearray()
        try:
            for piece in answer:
                data += piece
                if len(data) > _LONGEST_ANSWER:
                    raise PassingError("its answer does not end")
        except BrokenOffError:
            raise CancelledError from None
        except StreamLostError as error:
            raise PassingError(error.reason) from None
        cancel.check()
        found = _decoded(bytes(data))
        if found is not None and found.get("type") == "error":
            told = refusal_of(answer.status, answer.headers, bytes(data), secrets=self._secrets)
            raise self._failed(refusal_of_kind(told.kind, told.words))
        if found is None or not ({"content", "input_tokens"} & found.keys()):
            kind = masked(answer.headers.get("content-type", "something else"), self._secrets)[:80]
            raise ApiRefusedError(
                f"what answers at {self._address} is not the Messages API: it sent {kind}",
                hint="is ANTHROPIC_BASE_URL right?",
                status=answer.status,
            )
        return found

    @contextmanager
    def _asked(
        self, target: str, body: bytes, headers: Mapping[str, str], cancel: Cancel, idle: float
    ) -> Generator[Streamed]:
        """Send a request once and give its answer."""
        cancel.check()
        with self._line() as line:
            deadline = time.monotonic() + self._patience.answer
            try:
                answer = line.stream(
                    "POST", self._path + target, body, headers, deadline=deadline, idle=idle, cancel=cancel
                )
            except BrokenOffError:
                raise CancelledError from None
            except NoAnswerError as error:
                raise PassingError(error.reason, is_final=error.is_final) from None
            with answer:
                if 200 <= answer.status < 300:
                    yield answer
                    return
                try:
                    words = answer.read(_LONGEST_ERROR)
                except BrokenOffError:
                    raise CancelledError from None
            raise self._failed(
                refusal_of(answer.status, answer.headers, words, secrets=self._secrets, now=time.time())
            )

    def _failed(self, refusal: Refusal) -> Exception:
        return PassingError(refusal.said(), refusal) if refusal.is_passing else refusal.error()

    @contextmanager
    def _line(self) -> Generator[Line]:
        """Lend a line that nobody else uses."""
        with self._lock:
            line = self._lines.pop() if self._lines else None
        if line is None:
            certificate = self._environ.get("NODE_EXTRA_CA_CERTS", "")
            certificate = certificate if Path(certificate).is_file() else None
            line = Line(self._address, certificate=certificate, environ=self._environ)
        try:
            yield line
        except BaseException:
            line.close()
            raise
        with self._lock:
            self._lines.append(line)

    def _written(self, request: Mapping[str, Any]) -> tuple[bytes, dict[str, str]]:
        betas = cast("object", request.get("betas"))
        headers = dict(self._headers)
        if isinstance(betas, (list, tuple)) and betas:
            headers["anthropic-beta"] = ",".join(map(str, cast("list[object]", betas)))
        is_streamed = request.get("stream") is True
        headers["accept"] = "text/event-stream" if is_streamed else "application/json"
        return encoded({name: value for name, value in request.items() if name != "betas"}), headers


def _told(folding: Folding, sent: ServerEvent) -> Iterator[Event]:
    data = _decoded(sent.data)
    if data is None:
        if sent.data.strip() == "[DONE]":  # what some gateways end a stream with
            return
        raise BadStreamError("an event in it is no JSON object")
    yield from folding.feed({"type": sent.name, **data})


def _decoded(data: bytes | str) -> dict[str, Any] | None:
    try:
        found: object = orjson.loads(data)
    except orjson.JSONDecodeError:
        try:
            found = json.loads(data)  # half a character written as an escape, which the quick one refuses
        except (ValueError, RecursionError):
            return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def _custom_headers(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the headers that `ANTHROPIC_CUSTOM_HEADERS` names, one a line."""
    found: dict[str, str] = {}
    for line in environ.get("ANTHROPIC_CUSTOM_HEADERS", "").splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip().isascii() and value.strip().isprintable():
            found[name.strip().lower()] = value.strip()
    return found
