"""An entry: one record of a session file, its bytes and a view of what they say.

Accessors return None for what is missing or of another type than expected; unknown fields are in
`data`. Meaning (turns, messages, branches) is made in `clew.session`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from clew.format.decode import Decoded, decode

if TYPE_CHECKING:
    from collections.abc import Mapping

_NO_MAPPING: Mapping[str, Any] = {}


class Entry:
    """One record. Two records glued on one line are two entries with the same line number."""

    __slots__ = ("_decoded", "is_abridged", "is_whole", "number", "offset", "raw")

    def __init__(
        self,
        raw: bytes,
        *,
        offset: int = 0,
        number: int = 1,
        is_whole: bool = True,
        is_abridged: bool = False,
        decoded: Decoded | None = None,
    ) -> None:
        self.raw = raw
        """The record's own bytes, without the line ending; shortened if `is_abridged`."""
        self.offset = offset
        """Where the record starts in its file."""
        self.number = number
        """The number of its line, from 1."""
        self.is_whole = is_whole
        """False for a record recovered from a line that also held other bytes."""
        self.is_abridged = is_abridged
        """True when the line was too long to hold and its long strings were cut."""
        self._decoded = decoded

    def __repr__(self) -> str:
        return f"Entry({self.type!r}, line {self.number}, uuid {self.uuid!r})"

    @property
    def decoded(self) -> Decoded:
        """The record decoded, with what had to be forgiven."""
        if self._decoded is None:
            self._decoded = decode(self.raw)
        return self._decoded

    def read(self) -> None:
        """Decode it now, where it can be told what it means that it cannot be."""
        if self._decoded is None:
            self._decoded = decode(self.raw)

    @property
    def data(self) -> Mapping[str, Any]:
        """The record as a mapping. Read only: it is shared."""
        # Every accessor comes here, millions of times in a long session: no call more than is needed.
        found = self._decoded
        if found is None:
            found = self._decoded = decode(self.raw)
        return found.data

    @property
    def is_plain_json(self) -> bool:
        """Whether the client's own parser takes this line."""
        return self.is_whole and self.decoded.is_json

    def text(self, name: str) -> str | None:
        """Return the top-level field `name` if it is a string."""
        value = self.data.get(name)
        return value if isinstance(value, str) else None

    def flag(self, name: str) -> bool:
        """Say whether the top-level field `name` is true."""
        return self.data.get(name) is True

    def mapping(self, name: str) -> Mapping[str, Any]:
        """Return the top-level field `name` if it is an object, else an empty mapping."""
        return as_mapping(self.data.get(name))

    @property
    def type(self) -> str | None:
        """The entry's type; where there is none, the role of its message."""
        return self.text("type") or self.role

    @property
    def subtype(self) -> str | None:
        """The subtype of a system entry."""
        return self.text("subtype")

    @property
    def uuid(self) -> str | None:
        """The entry's own id."""
        return self.text("uuid")

    @property
    def parent_uuid(self) -> str | None:
        """The id of the entry this one follows."""
        return self.text("parentUuid")

    @property
    def logical_parent_uuid(self) -> str | None:
        """The id of the entry a compaction follows."""
        return self.text("logicalParentUuid")

    @property
    def session_id(self) -> str | None:
        """The session the entry says it belongs to."""
        return self.text("sessionId")

    @property
    def timestamp(self) -> str | None:
        """The time as written: the entry's own before its message's; only strings count."""
        value = self.data.get("timestamp")
        if not isinstance(value, str):
            value = self.message.get("timestamp")
        return value if isinstance(value, str) else None

    @property
    def cwd(self) -> str | None:
        """The folder the client ran in."""
        return self.text("cwd")

    @property
    def version(self) -> str | None:
        """The client version that wrote the entry."""
        return self.text("version")

    @property
    def git_branch(self) -> str | None:
        """The branch that was checked out."""
        return self.text("gitBranch")

    @property
    def request_id(self) -> str | None:
        """The API request a message came from."""
        return self.text("requestId")

    @property
    def agent_id(self) -> str | None:
        """The sub-agent the entry belongs to."""
        return self.text("agentId")

    @property
    def is_meta(self) -> bool:
        """Whether the client, not a person, put the entry in."""
        return self.flag("isMeta")

    @property
    def is_sidechain(self) -> bool:
        """Whether the entry belongs to a sub-agent."""
        return self.flag("isSidechain")

    @property
    def is_compact_summary(self) -> bool:
        """Whether the entry holds the summary a compaction made."""
        return self.flag("isCompactSummary")

    @property
    def is_api_error(self) -> bool:
        """Whether the entry reports an API error in place of an answer."""
        return self.flag("isApiErrorMessage")

    @property
    def message(self) -> Mapping[str, Any]:
        """The API message, or an empty mapping."""
        value = self.data.get("message")
        return cast("Mapping[str, Any]", value) if isinstance(value, dict) else _NO_MAPPING

    @property
    def role(self) -> str | None:
        """The message's role."""
        value = self.message.get("role")
        return value if isinstance(value, str) else None

    @property
    def content(self) -> object:
        """The message's content; the entry's own where the message has none."""
        data = self.data
        message = data.get("message")
        inner = cast("Mapping[str, Any]", message).get("content") if isinstance(message, dict) else None
        return data.get("content") if inner is None else inner

    @property
    def message_id(self) -> str | None:
        """The API's id of the message."""
        value = self.message.get("id")
        return value if isinstance(value, str) else None

    @property
    def model(self) -> str | None:
        """The model that answered."""
        value = self.message.get("model")
        return value if isinstance(value, str) else None

    @property
    def usage(self) -> Mapping[str, Any]:
        """The usage as written on this line, or an empty mapping."""
        return as_mapping(self.message.get("usage"))

    @property
    def tool_use_result(self) -> object:
        """The structured result kept beside a tool result; None when there is none."""
        return self.data.get("toolUseResult")


def as_mapping(value: object) -> Mapping[str, Any]:
    """Return `value` if it is a mapping, else an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else _NO_MAPPING
