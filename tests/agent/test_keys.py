"""Where the key is found, and that it shows nowhere."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest

from clew.agent.keys import OFFICIAL, BadAddressError, Key, NoKeyError, base_url, checked_address, find_key


class Ring:
    """A keyring with one secret, or one that fails."""

    def __init__(self, secret: str | Exception | None) -> None:
        self._secret = secret
        self.asked: list[tuple[str, str]] = []

    def get_password(self, service_name: str, username: str, /) -> str | None:
        self.asked.append((service_name, username))
        if isinstance(self._secret, Exception):
            raise self._secret
        return self._secret


def test_the_key_of_the_environment_comes_first() -> None:
    ring = Ring("ringed")
    both = {"ANTHROPIC_API_KEY": " keyed\n", "ANTHROPIC_AUTH_TOKEN": "borne"}
    assert find_key(both, ring) == Key("keyed", "api-key", "ANTHROPIC_API_KEY")
    assert find_key({"ANTHROPIC_AUTH_TOKEN": "borne"}, ring) == Key("borne", "bearer", "ANTHROPIC_AUTH_TOKEN")
    assert ring.asked == []
    assert find_key({"ANTHROPIC_API_KEY": ""}, ring) == Key("ringed", "api-key", "the keyring")
    assert ring.asked == [("clew", "anthropic")]


@pytest.mark.parametrize("ring", [Ring(None), Ring(""), Ring(RuntimeError("locked"))])
def test_without_a_key_it_is_said_how_to_give_one(ring: Ring) -> None:
    with pytest.raises(NoKeyError) as caught:
        find_key({}, ring)
    assert "ANTHROPIC_API_KEY" in (caught.value.hint or "")


def test_the_installed_keyring_is_asked_if_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    installed = ModuleType("keyring")
    installed.get_password = Ring("ringed").get_password  # pyright: ignore[reportAttributeAccessIssue]
    monkeypatch.setitem(sys.modules, "keyring", installed)
    assert find_key({}).secret == "ringed"
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(NoKeyError):
        find_key({})


@pytest.mark.parametrize("secret", ["a b", "a\nX-Evil: 1", "schl\u00fcssel", "a\x00", "a\ud800"])
def test_what_would_not_go_into_a_header_is_no_key_and_is_not_repeated(secret: str) -> None:
    with pytest.raises(NoKeyError) as caught:
        find_key({"ANTHROPIC_API_KEY": secret})
    assert secret not in str(caught.value)


def test_a_key_does_not_show_itself() -> None:
    key = Key("sk-secret", source="here")
    assert "secret" not in f"{key} {key!r} {[key]}"
    assert key.header == ("x-api-key", "sk-secret")
    assert Key("t", "bearer").header == ("authorization", "Bearer t")


def test_the_address_is_the_official_one_unless_another_is_given() -> None:
    assert base_url({}) == base_url({"ANTHROPIC_BASE_URL": " "}) == OFFICIAL
    assert base_url({"ANTHROPIC_BASE_URL": "http://127.0.0.1:80/a/"}) == "http://127.0.0.1:80/a"


@pytest.mark.parametrize(
    "address",
    ["", "x", "ftp://x", "http://", "http://x:y/", "http://me:pw@x/", "http://x/?q", "http://x/#f", "http://[",
     "http://x/a b", "file:///etc/passwd", "http://x:99999"],
)  # fmt: skip
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(BadAddressError) as caught:
        checked_address(address)
    assert "pw" not in str(caught.value)
