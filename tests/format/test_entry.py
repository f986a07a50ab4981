"""An entry gives what its bytes say, and nothing where they say something else than expected."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from clew.format.entry import Entry, as_mapping
from tests.format.samples import ask_everything, json_values
from tests.fuzz.lines import corpus

FULL: dict[str, Any] = {
    "type": "assistant",
    "subtype": "s",
    "uuid": "u",
    "parentUuid": "p",
    "logicalParentUuid": "l",
    "sessionId": "i",
    "timestamp": "t",
    "cwd": "/c",
    "version": "2.1.325",
    "gitBranch": "main",
    "requestId": "r",
    "agentId": "g",
    "isMeta": True,
    "isSidechain": True,
    "isCompactSummary": True,
    "isApiErrorMessage": True,
    "toolUseResult": {"stdout": ""},
    "message": {"id": "m", "role": "assistant", "model": "x", "content": [{}], "usage": {"input_tokens": 1}},
    "later": [1],
}


def entry(**data: object) -> Entry:
    return Entry(json.dumps(data).encode())


def test_an_entry_gives_every_field_of_the_envelope() -> None:
    one = entry(**FULL)
    assert (one.type, one.subtype, one.uuid, one.parent_uuid, one.logical_parent_uuid) == (
        "assistant",
        "s",
        "u",
        "p",
        "l",
    )
    assert (one.session_id, one.timestamp, one.cwd, one.version, one.git_branch) == (
        "i",
        "t",
        "/c",
        "2.1.325",
        "main",
    )
    assert (one.request_id, one.agent_id, one.message_id, one.model, one.role) == (
        "r",
        "g",
        "m",
        "x",
        "assistant",
    )
    assert all((one.is_meta, one.is_sidechain, one.is_compact_summary, one.is_api_error))
    assert (one.content, one.usage, one.tool_use_result) == ([{}], {"input_tokens": 1}, {"stdout": ""})


def test_an_unknown_field_is_kept() -> None:
    assert entry(**FULL).data["later"] == [1]


def test_without_a_type_the_role_of_the_message_stands_in() -> None:
    assert entry(message={"role": "user"}).type == "user"
    assert entry().type is None


def test_content_and_time_are_looked_for_in_both_places() -> None:
    assert entry(content="own").content == "own"
    assert entry(content="own", message={"content": "inner"}).content == "inner"
    assert entry(content="own", message={}).content == "own"
    assert entry(content="own", message="odd").content == "own"
    assert entry(message={"timestamp": "inner"}).timestamp == "inner"
    assert entry(timestamp=5, message={"timestamp": "inner"}).timestamp == "inner"
    assert entry(timestamp=5).timestamp is None


def test_only_true_is_a_flag() -> None:
    assert not entry(isMeta="true").is_meta
    assert not entry(isMeta=1).is_meta


@given(st.dictionaries(st.sampled_from(sorted(FULL)), json_values))
def test_no_value_of_any_field_raises(data: dict[str, object]) -> None:
    answers = ask_everything(Entry(json.dumps(data).encode()))
    for name in ("uuid", "parent_uuid", "session_id", "timestamp", "model", "role", "subtype"):
        assert isinstance(answers[name], str | None)


def test_every_line_of_the_corpus_answers() -> None:
    for raw in corpus():
        one = Entry(raw, offset=5, number=7)
        ask_everything(one)
        assert (one.raw, one.offset, one.number, one.is_whole, one.is_abridged) == (raw, 5, 7, True, False)


def test_an_entry_says_what_it_is() -> None:
    assert repr(entry(type="user", uuid="u")) == "Entry('user', line 1, uuid 'u')"


def test_the_client_reads_a_line_that_is_whole_and_json() -> None:
    assert entry(**FULL).is_plain_json
    assert not Entry(b'{"a":NaN}').is_plain_json
    assert not Entry(b"{}", is_whole=False).is_plain_json


def test_what_is_no_mapping_is_an_empty_one() -> None:
    assert as_mapping([1]) == {}
    assert as_mapping({"a": 1}) == {"a": 1}
