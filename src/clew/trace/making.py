"""Makes the spans of one turn, each when it is asked for, from what `trace.walk` found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from clew.format.kinds import ApiError, CompactBoundary
from clew.session.calls import call_block, result_block
from clew.session.messages import blocks_of, text_of
from clew.session.prompts import read
from clew.session.session import API_ERROR, TOOL_RESULT
from clew.trace import ids, parts
from clew.trace.families import Facts, Trace, Work, attributes
from clew.trace.span import Span, SpanEvent
from clew.trace.walk import Segment, is_counted, key_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from clew.format.entry import Entry
    from clew.session.calls import Call
    from clew.session.messages import Message
    from clew.session.turns import Turn
    from clew.trace.content import Scribe
    from clew.trace.families import Attributes
    from clew.trace.spans import SessionTraces, TurnTrace
    from clew.trace.walk import Conversation

AGENT: Final = "claude-code"
_EVENTS: Final = 128
"""So many events of one span are told, as many as the SDKs of OpenTelemetry allow."""

_INPUTS: Final = 200
_NS: Final = 1_000_000


class Making:
    """One turn, its sub-agents with it."""

    def __init__(self, traces: SessionTraces, trace: TurnTrace, turn: Turn) -> None:
        self._traces = traces
        self._trace = trace
        self._turn = turn
        self._scribe = traces.scribe
        self._content = traces.options.content
        self.segments = (Segment(traces.walk.main, [turn]), *traces.walk.below(turn))
        self._spans: dict[tuple[int, int], str] = {}
        self._taken: set[str] = set()
        self._calls: dict[tuple[str, str], str] = {}
        self._call_spans: dict[str, tuple[str, bool]] = {}
        for segment in self.segments:
            self._name(segment)
        self._common = self._about()

    def message_span(self, segment: Segment, message: Message) -> str:
        """Return the id of an answer's span."""
        return self._spans[id(segment.conversation), message.row]

    def spans(self) -> Iterator[Span]:
        """Give the spans, each after its parent."""
        for segment in self.segments:
            call = segment.call
            if call is None:
                head = self._root(segment)
            else:
                parent, is_history = self._call_spans.get(call.id or "", (self._trace.root_id, False))
                head = self._agent(segment, parent, is_history=is_history)
            yield head
            last_ns = head.start_ns
            for message, rows in _answers(segment):
                if not self._is_here(segment, message):
                    continue
                span = self._generation(segment, message, rows, head, last_ns)
                last_ns = span.end_ns
                yield span
                for call in segment.conversation.calls_of(message):
                    yield self._tool(segment.conversation, call, span)

    def outline(self) -> Iterator[tuple[str, bool]]:
        """Give the ids of the same spans, and whether they are another session's, without making them."""
        for segment in self.segments:
            call = segment.call
            if call is None:
                yield self._trace.root_id, self._trace.is_history
            else:
                _, is_history = self._call_spans.get(call.id or "", (self._trace.root_id, False))
                yield self._agent_span(segment), is_history
            for message, _ in _answers(segment):
                if self._is_here(segment, message):
                    span = self.message_span(segment, message)
                    is_history = self._traces.owner(message, self._trace.owner) is not None
                    yield span, is_history
                    for call in segment.conversation.calls_of(message):
                        yield self._call_span(span, call), is_history

    def _is_here(self, segment: Segment, message: Message) -> bool:
        return is_counted(message) and self._traces.is_here(segment.conversation, message)

    # --- ids ------------------------------------------------------------------------------------------------

    def _name(self, segment: Segment) -> None:
        conversation = segment.conversation
        taken = self._taken
        for message in segment.messages():
            if not self._is_here(segment, message):
                continue
            key = key_of(message) or ids.line_key(conversation.session.entry(message.row))
            span, again = ids.span_id(self._trace.trace_id, "message", key), 1
            while span in taken:
                again += 1
                span = ids.span_id(self._trace.trace_id, "message", key, str(again))
            taken.add(span)
            self._spans[id(conversation), message.row] = span
            is_history = self._traces.owner(message, self._trace.owner) is not None
            for call in conversation.calls_of(message):
                if call.id:
                    self._call_spans.setdefault(call.id, (self._call_span(span, call), is_history))

    def _call_span(self, message_span: str, call: Call) -> str:
        # By the message too: a model behind a gateway may number its calls anew in each answer.
        named = call.id or f"{call.index} of {self._trace.trace_id}"
        known = self._calls.get((message_span, named))
        if known is None:
            known = ids.span_id(self._trace.trace_id, "call", message_span, named)
            self._calls[message_span, named] = known
        return known

    def _agent_span(self, segment: Segment) -> str:
        agent, call = segment.conversation.agent, segment.call
        agent_id = "" if agent is None else agent.agent_id
        named = "" if call is None else call.id or ""
        return ids.span_id(self._trace.trace_id, "agent", agent_id, named)

    # --- agents ---------------------------------------------------------------------------------------------

    def _about(self) -> Trace:
        traces, scribe, turn = self._traces, self._scribe, self._turn
        row = turn.prompt_row
        if row is None and turn.messages:
            row = turn.messages[0].row
        entry = None if row is None else traces.session.entry(row)
        facts: Facts = {"source": AGENT, "turn_number": turn.n, "session_id": scribe.short(traces.session_id)}
        if entry is not None:
            known = {"project": entry.cwd, "branch": entry.git_branch, "client_version": entry.version}
            facts |= {name: scribe.short(value, 1024) for name, value in known.items() if value}
        tags = tuple(scribe.short(tag) for tag in traces.options.tags)
        return Trace(scribe.short(traces.session_id), f"Turn {turn.n}", tags, facts)

    def _root(self, segment: Segment) -> Span:
        turn, trace = self._turn, self._trace
        start, end, is_known = self._extent(segment)
        for other in self.segments[1:]:
            end = max(end, self._extent(other)[1])
        is_error = turn.status == "error"
        version = self._common.metadata.get("client_version")
        work = self._agent_work(
            segment,
            name=AGENT,
            facts=dict(self._common.metadata),
            version=version if isinstance(version, str) else None,
            error="api_error" if is_error else None,
        )
        found = attributes(self._scribe, self._common, work)
        found["langfuse.internal.is_app_root"] = True
        found["clew.turn.number"] = turn.n
        found["clew.turn.status"] = turn.status
        found["clew.turn.is_complete"] = trace.is_complete
        if trace.reason is not None:
            found["clew.turn.reason"] = trace.reason
        if turn.duration_ms is not None:
            found["clew.turn.duration_ms"] = turn.duration_ms
        _mark(found, is_known)
        return Span(
            trace.trace_id,
            trace.root_id,
            None,
            f"invoke_agent {AGENT}",
            f"Turn {turn.n}",
            "agent",
            start * _NS,
            end * _NS,
            found,
            self._events(segment),
            "error" if is_error else "unset",
            work.error_text or "",
            is_history=trace.is_history,
        )

    def _agent(self, segment: Segment, parent: str, *, is_history: bool) -> Span:
        agent = segment.conversation.agent
        agent_id = "" if agent is None else agent.agent_id
        name = self._scribe.short((agent.type if agent is not None else None) or "agent")
        start, end, is_known = self._extent(segment)
        facts: Facts = {"agent_id": self._scribe.short(agent_id), "agent_type": name}
        is_error = bool(segment.turns) and segment.turns[-1].status == "error"
        work = self._agent_work(segment, name=name, facts=facts, error="api_error" if is_error else None)
        found = attributes(self._scribe, self._common, work)
        if self._content and agent is not None and agent.description:
            found["gen_ai.agent.description"] = self._scribe.text(agent.description)
        _mark(found, is_known)
        return Span(
            self._trace.trace_id,
            self._agent_span(segment),
            parent,
            f"invoke_agent {name}",
            name,
            "agent",
            start * _NS,
            end * _NS,
            found,
            self._events(segment),
            "error" if is_error else "unset",
            work.error_text or "",
            is_history=is_history,
        )

    def _agent_work(
        self, segment: Segment, *, name: str, facts: Facts, error: str | None, version: str | None = None
    ) -> Work:
        agent = segment.conversation.agent
        agent_id = None if agent is None else self._scribe.short(agent.agent_id)
        work = Work("agent", facts, agent=name, agent_id=agent_id, agent_version=version, error=error)
        if not self._content:
            return work
        session, scribe = segment.conversation.session, self._scribe
        row = segment.turns[0].prompt_row if segment.turns else None
        inputs: list[parts.Message] | None = None
        given: object = None
        if row is not None:
            entry = session.entry(row)
            inputs = parts.input_messages(scribe, [entry])
            given = {"role": "user", "content": _words(scribe, entry)}
        said = [message for message in segment.messages() if is_counted(message) or message.is_api_error]
        text, last = "", None
        for last in reversed(said):
            text = text_of(session, last)
            if text:
                break
        error_text = scribe.text(text) if error is not None and text else None
        outputs: list[parts.Message] | None = None
        got: object = None
        if last is not None and text:
            text = scribe.text(text)
            outputs = [
                {
                    **parts.text_message("assistant", text),
                    "finish_reason": parts.reason(scribe.short(last.stop_reason or "end_turn")),
                }
            ]
            got = {"role": "assistant", "content": text}
        return Work(
            "agent",
            facts,
            agent=name,
            agent_id=agent_id,
            agent_version=version,
            error=error,
            error_text=error_text,
            inputs=inputs,
            outputs=outputs,
            given=given,
            got=got,
        )

    def _extent(self, segment: Segment) -> tuple[int, int, bool]:
        """Return when the work began and ended, in milliseconds, and whether that is known."""
        conversation = segment.conversation
        prompt = segment.turns[0].prompt_row if segment.turns else None
        start, is_known = (None, True) if prompt is None else conversation.time(prompt)
        end = start
        for turn in segment.turns:
            listed = [row for message in turn.messages for row in message.rows]
            results = (call.result_row for call in turn.calls if not call.is_stand_in)
            listed += [row for row in results if row is not None]
            for row in listed:
                time, _ = conversation.time(row)
                if time is not None:
                    start = time if start is None else start
                    end = time if end is None else max(end, time)
        if start is None or end is None:
            return 0, 0, False
        return start, end, is_known

    def _events(self, segment: Segment) -> tuple[SpanEvent, ...]:
        conversation = segment.conversation
        table, scribe = conversation.session.table, self._scribe
        found: list[SpanEvent] = []
        for row in (row for turn in segment.turns for row in turn.rows):
            kind = table.kind_of(row)
            is_error = bool(table.flags[row] & API_ERROR)
            if not is_error and kind not in {"system/compact_boundary", "system/api_error"}:
                continue
            if conversation.is_copy(row):
                continue
            entry = conversation.session.entry(row)
            told: Attributes = {}
            if kind == "system/compact_boundary":
                boundary = CompactBoundary(entry.data)
                if boundary.trigger is not None:
                    told["clew.compaction.trigger"] = scribe.short(boundary.trigger)
                for name, value in (("pre", boundary.pre_tokens), ("post", boundary.post_tokens)):
                    if value is not None and 0 <= value < 1 << 53:
                        told[f"clew.compaction.{name}_tokens"] = value
            else:
                told |= self._api_error(entry, is_answer=is_error)
            time, _ = conversation.time(row)
            name = "compaction" if kind == "system/compact_boundary" else "api_error"
            found.append(SpanEvent(name, (time or 0) * _NS, told))
            if len(found) >= _EVENTS:
                break
        return tuple(found)

    def _api_error(self, entry: Entry, *, is_answer: bool) -> Attributes:
        error = ApiError(entry.data)
        status = error.error.get("status")
        is_status = isinstance(status, int) and not isinstance(status, bool) and 0 <= status < 1000
        told: Attributes = {"error.type": str(status) if is_status else "api_error"}
        if error.retry_attempt is not None and 0 <= error.retry_attempt < 1 << 31:
            told["clew.retry_attempt"] = error.retry_attempt
        message = error.error.get("message")
        if is_answer:
            message = "\n".join(parts.texts_of(entry))
        if self._content and isinstance(message, str) and message:
            told["exception.message"] = self._scribe.text(message)
        return told

    # --- answers and tools ----------------------------------------------------------------------------------

    def _generation(
        self, segment: Segment, message: Message, rows: Sequence[int], head: Span, last_ns: int
    ) -> Span:
        conversation, scribe = segment.conversation, self._scribe
        times = [conversation.time(row) for row in message.rows]
        known = [time for time, _ in times if time is not None]
        end = max(known) * _NS if known else last_ns
        asked = [time for row in rows for time in [conversation.time(row)[0]] if time is not None]
        start = max(asked) * _NS if asked else last_ns
        is_known = bool(known) and all(is_sure for _, is_sure in times)
        if start > end:
            start, is_known = (min(known) * _NS if known else end), False
        calls = conversation.calls_of(message)
        spent = self._traces.spent(conversation, message)
        model = scribe.short(message.model or "unknown")
        facts: Facts = {"tool_count": len(calls)}
        named = {
            "message_id": message.id,
            "request_id": message.request_id,
            "stop_reason": message.stop_reason,
        }
        facts |= {name: scribe.short(value) for name, value in named.items() if value}
        content = self._answer(conversation, message, rows, segment) if self._content else (None,) * 4
        work = Work(
            "generation",
            facts,
            model=model,
            tokens=None if message.usage_row is None else spent.tokens,
            cost_usd=None if message.usage_row is None else spent.cost_usd,
            stop_reason=scribe.short(message.stop_reason) if message.stop_reason else None,
            message_id=scribe.short(message.id) if message.id else None,
            inputs=content[0],
            outputs=content[1],
            given=content[2],
            got=content[3],
        )
        found = attributes(scribe, self._common, work)
        _mark(found, is_known)
        return Span(
            self._trace.trace_id,
            self.message_span(segment, message),
            head.span_id,
            f"chat {model}",
            model,
            "generation",
            start,
            end,
            found,
            kind="client",
            is_history=self._traces.owner(message, self._trace.owner) is not None,
        )

    def _answer(
        self, conversation: Conversation, message: Message, rows: Sequence[int], segment: Segment
    ) -> tuple[list[parts.Message], list[parts.Message], object, object]:
        """Return what was put in and what the model said, as messages and in plain form."""
        session, scribe = conversation.session, self._scribe
        inputs: list[parts.Message] = []
        left = 4 * self._traces.options.limit
        for n, row in enumerate(rows):
            if n >= _INPUTS or left <= 0:
                inputs.append(parts.text_message("user", f"[cut, {len(rows) - n} more]"))
                break
            is_result = bool(session.table.flags[row] & TOOL_RESULT)
            writer = self._traces.brief if is_result else scribe
            inputs += parts.input_messages(writer, [session.entry(row)])
            left -= min(session.table.length[row], writer.limit)
        outputs = parts.output_messages(
            scribe,
            (block for _, block in blocks_of(session, message)),
            message.stop_reason,
            has_calls=bool(conversation.calls_of(message)),
        )
        given: object = [parts.plain(one) for one in inputs] or None
        prompts = {turn.prompt_row for turn in segment.turns}
        prompt = next((row for row in rows if row in prompts), None)
        if prompt is not None:
            given = {"role": "user", "content": _words(scribe, session.entry(prompt))}
        text = scribe.text(text_of(session, message))
        return inputs, outputs, given, {"role": "assistant", "content": text}

    def _tool(self, conversation: Conversation, call: Call, parent: Span) -> Span:
        session, scribe = conversation.session, self._scribe
        start, is_known = conversation.time(call.row)
        end, is_ended = start, True
        if call.result_row is not None and not call.is_stand_in:
            end, is_ended = conversation.time(call.result_row)
        start = parent.end_ns // _NS if start is None else start
        is_known = is_known and is_ended
        if end is None or end < start:
            end, is_known = start, False
        name = scribe.short(call.name or "unknown")
        facts: Facts = {"tool_name": name}
        if call.id:
            facts["tool_id"] = scribe.short(call.id)
        error = "tool_error" if call.is_error else None
        given: object = None
        got: object = None
        error_text: str | None = None
        if self._content:
            given = scribe.clean(call_block(session, call).data.get("input"))
            result = result_block(session, call)
            if result is not None:
                got = parts.result_value(scribe, result)
                error_text = scribe.text(result.text()) if error is not None else None
        call_id = scribe.short(call.id) if call.id else None
        work = Work(
            "tool",
            facts,
            tool=name,
            call_id=call_id,
            error=error,
            error_text=error_text or None,
            given=given,
            got=got,
        )
        found = attributes(scribe, self._common, work)
        found["clew.tool.is_answered"] = call.result_row is not None and not call.is_stand_in
        _mark(found, is_known)
        return Span(
            self._trace.trace_id,
            self._call_span(parent.span_id, call),
            parent.span_id,
            f"execute_tool {name}",
            name,
            "tool",
            start * _NS,
            end * _NS,
            found,
            (),
            "unset" if error is None else "error",
            error_text or "",
            is_history=parent.is_history,
        )


def _answers(segment: Segment) -> Iterator[tuple[Message, list[int]]]:
    """Give the answers of the model, each with the lines that it answers."""
    conversation = segment.conversation
    table = conversation.session.table
    waiting: list[int] = []
    for turn in segment.turns:
        begins = {message.row: message for message in turn.messages}
        for row in turn.rows:
            message = begins.get(row)
            if message is not None and is_counted(message):
                yield message, waiting
                waiting = []
            elif message is None and table.kind_of(row) == "user" and not conversation.is_copy(row):
                waiting.append(row)


def _words(scribe: Scribe, entry: Entry) -> str:
    """Return what a person said, or whoever set a sub-agent to work."""
    prompt = read(entry)
    return scribe.text(prompt.words or prompt.tag("teammate-message") or "")


def _mark(found: Attributes, is_known: bool) -> None:
    """Take note of a time that had to be guessed."""
    if not is_known:
        found["clew.time_estimated"] = True
