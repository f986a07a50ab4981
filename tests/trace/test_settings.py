"""Endpoints by flags, by the environment and by the configuration file."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from clew.errors import UsageError
from clew.trace import endpoints
from clew.trace.settings import SettingsError, from_flags, read_settings, settings_path

NOWHERE = Path("/nonexistent/trace.toml")


def test_nothing_is_configured_of_itself() -> None:
    assert read_settings({}, path=NOWHERE).endpoints == ()


def test_the_base_of_otlp_gets_its_path_and_a_whole_address_is_used_as_it_is() -> None:
    base = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318/", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%20c,X-Y=1"}
    (one,) = read_settings(base, path=NOWHERE).endpoints
    assert (one.url, dict(one.headers), one.service) == (
        "http://c:4318/v1/traces",
        {"a": "b c", "X-Y": "1"},
        "claude-code",
    )
    whole = {
        **base,
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://d/take",
        "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "k=v",
        "OTEL_SERVICE_NAME": "desk",
    }
    (one,) = read_settings(whole, path=NOWHERE).endpoints
    assert (one.url, dict(one.headers), one.service) == ("http://d/take", {"k": "v"}, "desk")


def test_langfuse_and_phoenix_are_known_by_their_variables_all_at_once() -> None:
    found = read_settings(
        {
            "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318",
            "LANGFUSE_PUBLIC_KEY": "pk-1",
            "LANGFUSE_SECRET_KEY": "sk-1",
            "LANGFUSE_HOST": "https://langfuse.example/",
            "PHOENIX_COLLECTOR_ENDPOINT": "http://localhost:6006",
            "PHOENIX_API_KEY": "px-1",
            "PHOENIX_CLIENT_HEADERS": "x-team=7",
            "PHOENIX_PROJECT_NAME": "sessions",
        },
        path=NOWHERE,
    )
    plain, langfuse, phoenix = found.endpoints
    assert plain.backend == "otlp"
    assert langfuse.url == "https://langfuse.example/api/public/otel/v1/traces"
    pair = base64.b64encode(b"pk-1:sk-1").decode()
    assert langfuse.headers["Authorization"] == f"Basic {pair}"
    assert langfuse.headers["x-langfuse-ingestion-version"] == "4"
    assert langfuse.base == "https://langfuse.example"
    assert phoenix.url == "http://localhost:6006/v1/traces"
    assert dict(phoenix.headers) == {"x-team": "7", "Authorization": "Bearer px-1"}
    assert phoenix.resource == {"openinference.project.name": "sessions"}
    assert phoenix.base == "http://localhost:6006"


def test_langfuse_is_in_the_cloud_if_it_is_not_told_where_and_needs_both_keys() -> None:
    keys = {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"}
    (one,) = read_settings(keys, path=NOWHERE).endpoints
    assert one.url == "https://cloud.langfuse.com/api/public/otel/v1/traces"
    found = read_settings({"LANGFUSE_PUBLIC_KEY": "pk"}, path=NOWHERE)
    assert found.endpoints == ()
    assert "LANGFUSE_SECRET_KEY is not set" in found.notes[0]


def test_what_clew_does_not_speak_and_what_is_off_is_said() -> None:
    base = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4317"}
    for more in ({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, {"OTEL_SDK_DISABLED": "true"}):
        found = read_settings({**base, **more}, path=NOWHERE)
        assert (found.endpoints, len(found.notes)) == ((), 1)


def test_an_address_that_makes_no_sense_costs_only_itself() -> None:
    found = read_settings(
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "c:4318", "PHOENIX_COLLECTOR_ENDPOINT": "http://p"}, path=NOWHERE
    )
    assert [one.url for one in found.endpoints] == ["http://p/v1/traces"]
    assert len(found.notes) == 1


FILE = """
redact = false

[[endpoint]]
name = "here"
url = "http://localhost:4318/v1/traces"
headers = { Authorization = "Bearer ${TOKEN}" }

[[endpoint]]
backend = "langfuse"
public_key = "pk"
secret_key = "${SECRET}"

[[endpoint]]
backend = "phoenix"
url = "http://localhost:6006"
project = "p"
service = "s"
"""


def test_the_file_lists_endpoints_and_takes_secrets_from_the_environment(tmp_path: Path) -> None:
    path = tmp_path / "clew" / "trace.toml"
    path.parent.mkdir()
    path.write_text(FILE)
    environ = {"XDG_CONFIG_HOME": str(tmp_path), "TOKEN": "t-1", "SECRET": "s-1"}
    assert settings_path(environ) == path
    path.chmod(0o644)
    assert "may be read by others" in read_settings(environ).notes[0]
    path.chmod(0o600)
    found = read_settings(environ)
    assert found.notes == ()
    assert (found.content, found.redact) == (True, False)
    here, langfuse, phoenix = found.endpoints
    assert (here.name, here.headers["Authorization"]) == ("here", "Bearer t-1")
    assert base64.b64decode(langfuse.headers["Authorization"].split()[1]) == b"pk:s-1"
    assert (phoenix.url, phoenix.project, phoenix.service) == ("http://localhost:6006/v1/traces", "p", "s")
    with pytest.raises(
        SettingsError, match=r"endpoint 1: Authorization names the variable TOKEN, which is not"
    ):
        read_settings({"XDG_CONFIG_HOME": str(tmp_path), "SECRET": "s-1"})


@pytest.mark.parametrize(
    "text",
    [
        "a = [",
        "endpoint = 3",
        "[endpoint]\nurl = 'http://a'",
        "[[endpoint]]\nurl = 7",
        "[[endpoint]]\nurl = 'ftp://a'",
        "[[endpoint]]\nurl = 'http://a'\nurll = 'x'",
        "[[endpoint]]\nurl = 'http://a'\nheaders = 'x'",
        "[[endpoint]]\nurl = 'http://a'\nheaders = { 'a b' = 'x' }",
        '[[endpoint]]\nurl = "http://a"\nheaders = { a = "x\\r\\nEvil: 1" }',
        "[[endpoint]]\nurl = 'http://a'\nbackend = 'jaeger'",
        "content = 'yes'",
    ],
)
def test_a_file_that_makes_no_sense_is_an_error_that_names_it(tmp_path: Path, text: str) -> None:
    path = tmp_path / "trace.toml"
    path.write_text(text)
    with pytest.raises(SettingsError, match=r"trace\.toml"):
        read_settings({}, path=path)


def test_an_endpoint_named_twice_is_one(tmp_path: Path) -> None:
    path = tmp_path / "trace.toml"
    path.write_text("[[endpoint]]\nurl = 'http://c:4318/v1/traces'")
    assert len(read_settings({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318"}, path=path).endpoints) == 1


def test_flags_are_used_as_they_are() -> None:
    (one,) = from_flags(["http://c/take"], headers=["X-A=b=c"], service="desk")
    assert (one.url, dict(one.headers), one.service, one.backend) == (
        "http://c/take",
        {"X-A": "b=c"},
        "desk",
        "otlp",
    )
    url = "http://c/api/public/otel/v1/traces"
    keys = {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk"}
    (one,) = from_flags([url], environ=keys)
    assert (one.backend, one.url, one.project) == ("langfuse", url, "pk")
    (one,) = from_flags(["http://c/v1/traces"], backend="phoenix", environ={"PHOENIX_PROJECT_NAME": "p"})
    assert (one.backend, one.project) == ("phoenix", "p")
    for bad in (["X"], ["=b"], ["a b=c"], ["a=b\nc"]):
        with pytest.raises(UsageError):
            from_flags(["http://c"], headers=bad)


def test_an_endpoint_tells_no_secret_of_itself() -> None:
    url = "https://u:pass-word@l.example:8443/api/public/otel/v1/traces?token=tok-12345"
    one = endpoints.langfuse(url, "pk-1234", "sk-56789", is_whole=True)
    assert one.label == "https://l.example:8443/api/public/otel/v1/traces"
    told = repr(one.label) + repr(one.headers.keys()) + one.key
    for secret in ("pass-word", "tok-12345", "sk-56789"):
        assert secret not in told
        assert secret not in one.masked(f"so {secret} is wrong")
    assert one.headers["Authorization"].split()[1] not in one.masked(str(dict(one.headers)))


def test_a_user_in_the_address_is_told_in_a_header_unless_there_is_one() -> None:
    one = endpoints.otlp("http://ada:p%40ss@c:4318/v1/traces")
    assert one.all_headers == {"Authorization": f"Basic {base64.b64encode(b'ada:p@ss').decode()}"}
    other = endpoints.otlp("http://ada:pw@c:4318/v1/traces", headers={"authorization": "Bearer x"})
    assert other.all_headers == {"authorization": "Bearer x"}
