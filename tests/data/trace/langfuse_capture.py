"""Sends the first turn of `story.jsonl` with Langfuse's own SDK to a stand-in on loopback, and keeps the wire form.

Run with `langfuse` installed, from this folder: `python langfuse_capture.py > langfuse-attributes.json`.
The turn is read here with plain JSON, so the file shares no code with what is compared with it.
"""

import gzip
import http.server
import json
import sys
import threading

import langfuse
from langfuse import Langfuse, propagate_attributes
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

got = []


class Server(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        got.append((self.path, dict(self.headers), self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
threading.Thread(target=server.serve_forever, daemon=True).start()

lines = [json.loads(line) for line in open("story.jsonl", encoding="utf-8")]
prompt = lines[0]
session = prompt["sessionId"]
turn = lines[: next(n for n, line in enumerate(lines[1:], 1) if isinstance(line["message"]["content"], str))]
answers = {}
results = {}
for line in turn[1:]:
    message = line["message"]
    if line["type"] == "assistant":
        answers.setdefault(message["id"], []).append(message)
    else:
        for block in message["content"]:
            results[block["tool_use_id"]] = block


def said(messages):
    return "\n\n".join(b["text"] for m in messages for b in m["content"] if b["type"] == "text")


user = {"role": "user", "content": prompt["message"]["content"]}
final = {"role": "assistant", "content": said(list(answers.values())[-1])}
about = {
    "source": "claude-code",
    "turn_number": 1,
    "session_id": session,
    "project": prompt["cwd"],
    "branch": prompt["gitBranch"],
    "client_version": prompt["version"],
}
client = Langfuse(
    public_key="pk-lf-1", secret_key="sk-lf-1", host=f"http://127.0.0.1:{server.server_port}"
)
with propagate_attributes(
    session_id=session,
    trace_name="Turn 1",
    tags=["claude-code"],
    metadata={name: str(value) for name, value in about.items()},
):
    with client.start_as_current_observation(name="Turn 1", as_type="agent", input=user, metadata=about) as root:
        for n, (name, messages) in enumerate(answers.items()):
            calls = [b for m in messages for b in m["content"] if b["type"] == "tool_use"]
            usage = messages[-1]["usage"]
            split = usage.get("cache_creation") or {}
            tokens = {
                "input": usage["input_tokens"],
                "output": usage["output_tokens"],
                "total": usage["input_tokens"]
                + usage["output_tokens"]
                + usage["cache_read_input_tokens"]
                + usage["cache_creation_input_tokens"],
                "cache_read_input_tokens": usage["cache_read_input_tokens"],
                "input_cache_creation_5m": split.get("ephemeral_5m_input_tokens", 0),
                "input_cache_creation_1h": split.get("ephemeral_1h_input_tokens", 0),
            }
            # 3, 15, 0.30, 3.75 and 6 dollars a million tokens.
            cost = (
                tokens["input"] * 3_000_000
                + tokens["output"] * 15_000_000
                + tokens["cache_read_input_tokens"] * 300_000
                + tokens["input_cache_creation_5m"] * 3_750_000
                + tokens["input_cache_creation_1h"] * 6_000_000
            ) / 1_000_000_000_000
            generation = root.start_observation(
                name=messages[0]["model"],
                as_type="generation",
                model=messages[0]["model"],
                input=user if n == 0 else None,
                output={"role": "assistant", "content": said(messages)},
                usage_details=tokens,
                cost_details={"total": cost},
                metadata={"tool_count": len(calls)},
            )
            for call in calls:
                result = results[call["id"]]
                failed = result.get("is_error", False)
                generation.start_observation(
                    name=call["name"],
                    as_type="tool",
                    input=call["input"],
                    output=result["content"],
                    metadata={"tool_name": call["name"], "tool_id": call["id"]},
                    level="ERROR" if failed else None,
                    status_message=result["content"] if failed else None,
                ).end()
            generation.end()
        root.update(output=final)
client.flush()
client.shutdown()


def value(any_value):
    kind = any_value.WhichOneof("value")
    if kind == "array_value":
        return [value(one) for one in any_value.array_value.values]
    return getattr(any_value, kind)


def attributes(some):
    return {one.key: value(one.value) for one in some}


found = {"sdk": f"langfuse {langfuse.__version__}", "requests": [], "spans": []}
for path, headers, body in got:
    wanted = ("content-type", "content-encoding", "authorization", "x-langfuse-ingestion-version")
    kept = {name.lower(): text for name, text in headers.items() if name.lower() in wanted}
    found["requests"].append({"path": path, "headers": kept})
    request = ExportTraceServiceRequest()
    request.ParseFromString(gzip.decompress(body))
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                found["spans"].append(
                    {
                        "name": span.name,
                        "kind": span.kind,
                        "status": {"code": span.status.code, "message": span.status.message},
                        "attributes": attributes(span.attributes),
                    }
                )
json.dump(found, sys.stdout, indent=1, ensure_ascii=False)
print()
