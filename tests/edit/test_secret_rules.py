"""What is taken for a secret, and what is not."""

from __future__ import annotations

import base64
import json
import re
import time
from pathlib import Path
from random import Random

import pytest

import clew
from clew.edit.known_secrets import Secrets, Spellings, spelled
from clew.edit.secret_forms import find_secrets
from clew.edit.secret_looks import entropy, has_checksum, is_stand_in, may_spread
from clew.edit.secret_rules import RULES
from clew.format.patch import map_strings
from tests.edit import laws
from tests.edit.secrets_planted import (
    ALNUM,
    BASE64,
    HEX,
    KINDS,
    UPPER,
    WORD,
    Kind,
    after,
    mixed,
    of,
    packed,
    password,
    some,
    summed,
)


def putty(random: Random) -> str:
    return "\n".join(mixed(BASE64, 64)(random) for _ in range(4))


def docker(random: Random) -> str:
    return base64.b64encode(f"ada:{password(random)}".encode()).decode()


def sentry(random: Random) -> str:
    return "sntrys_" + packed({"iat": 1, "url": mixed(ALNUM, 40)(random)})


MORE = (
    Kind("putty-key", putty, "Private-Lines: 4\n{}\n"),
    Kind("azure-devops-token", of((ALNUM, 76), "AZDO", (ALNUM, 4))),
    Kind("azure-sas", after("", BASE64, 43, "="), "https://x.dev/a?sv=1&sig={}&se=2"),
    Kind("webhook-secret", after("whsec_", BASE64, 32)),
    Kind("openrouter-key", after("sk-or-v1-", HEX, 64)),
    Kind("mailgun-key", of((HEX, 32), "-", (HEX, 8), "-", (HEX, 8)), "mailgun {} is it"),
    Kind("mailchimp-key", after("", HEX, 32, "-us12")),
    Kind("discord-webhook", mixed(ALNUM, 68), "https://discord.com/api/webhooks/123456/{}"),
    Kind("cloudflare-ca-key", of("v1.0-", (HEX, 24), "-", (HEX, 146))),
    Kind("atlassian-token", after("ATATT3", WORD, 180)),
    Kind("airtable-token", of("pat", (ALNUM, 14), ".", (HEX, 64))),
    Kind("docker-token", after("dckr_pat_", ALNUM, 27)),
    Kind(
        "docker-auth",
        docker,
        '{{"auths": {{"x.dev": {{"auth": "{}"}}}}}}',
    ),
    Kind("groq-key", after("gsk_", ALNUM, 52)),
    Kind("newrelic-key", after("NRAK-", UPPER, 27)),
    Kind("planetscale-token", after("pscale_tkn_", ALNUM, 43)),
    Kind("postman-key", of("PMAK-", (HEX, 24), "-", (HEX, 34))),
    Kind("pulumi-token", after("pul-", HEX, 40)),
    Kind("replicate-token", after("r8_", ALNUM, 37)),
    Kind("rubygems-key", after("rubygems_", HEX, 48)),
    Kind(
        "sentry-token",
        sentry,
    ),
    Kind("supabase-token", after("sbp_", HEX, 40)),
    Kind("tailscale-key", after("tskey-auth-", ALNUM, 30)),
    Kind("xai-key", after("xai-", ALNUM, 80)),
    Kind("perplexity-key", after("pplx-", ALNUM, 48)),
    Kind("curl-password", password, "curl -u ada:{} https://x.dev"),
    Kind("vault-token", after("s.", ALNUM, 24), "VAULT_TOKEN={}"),
    Kind("authorization", mixed(ALNUM, 30), "'Bearer {}'"),
    Kind("authorization", after("", ALNUM, 30, "="), "Authorization: Basic {}"),
    Kind("password", password, "mysql --password {} -h x"),
    Kind("password", password, "machine x.dev login ada password {}"),
    Kind("password", password, "<db><password>{}</password></db>"),
    Kind("password", password, "the password is {}."),
    Kind("password", password, "password: str = '{}'"),
    Kind("secret", mixed(ALNUM, 24), "deploy --token {} now"),
    Kind("secret", mixed(ALNUM, 24), "SECRET_KEY_BASE={}"),
    Kind("secret", mixed(ALNUM, 24), "https://x.dev/?access_token={}&n=1"),
    Kind("secret", mixed(ALNUM, 24), r"{{\"client_secret\":\"{}\"}}"),
)
OTHER_NAMES = {"pkcs8-key": "private-key", "bearer": "authorization", "api-key": "secret"}
ALL = (*KINDS, *MORE)


def test_every_rule_has_an_example() -> None:
    assert {rule.name for rule in RULES} <= {OTHER_NAMES.get(kind.name, kind.name) for kind in ALL}
    assert len({rule.name for rule in RULES}) >= 40


@pytest.mark.parametrize("kind", ALL, ids=[kind.name for kind in ALL])
def test_a_secret_is_found_as_it_stands_and_named(kind: Kind) -> None:
    for seed in range(20):
        secret = kind.make(Random(f"{kind.name} {seed}"))
        for before, behind in (("", ""), ("x = ", ";"), ("«", "»\n"), ("\n", "\r\n")):
            words = before + kind.telling.format(secret) + behind
            found = find_secrets(words)
            at = "@" if kind.name in {"db-url", "url-password"} else ""
            assert [words[one.start : one.end].strip() for one in found] == [secret + at], (seed, words)
            assert found[0].rule == OTHER_NAMES.get(kind.name, kind.name)


@pytest.mark.parametrize(
    "words",
    [
        after("AKIA", UPPER, 9, "EXAMPLE")(Random(1)),
        mixed(BASE64, 30)(Random(2)).join(("aws_secret_access_key = ", "EXAMPLEKEY")),
        "api_key: <your-key>",
        "api_key: your-api-key-goes-here-123",
        "API_KEY=xxxxxxxxxxxxxxxxxxxx1",
        "ghp_" + "x" * 36,
        "ghp_" + "A" * 36,
        "sk-ant-api03-...",
        "sk-" + "1234567890" * 4,
        "password=${DB_PASSWORD_1}",
        "password=$PASSWORD1",
        "password = os.environ['PW1']",
        "password: {{ vault.password1 }}",
        "password = config.database.password2",
        "password: string; token: number",
        "password = getPassword2()",
        "def login(password: str, token: str | None = None) -> None:",
        "token = tokens[index + 1]",
        '"input_tokens": 12345678, "output_tokens": 1234',
        "max_tokens=8192 token_count: 12345678",
        "token: 2026-11-15T06:25:31.290Z",
        "secret: /run/secrets/db_password_1",
        "token=toolu_0118h1hukkEMapF4yK1EHvwJ",
        "session token: 11111111-2222-4333-8444-555555555555",
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
        "-----BEGIN PUBLIC KEY-----\n" + "QUJD" * 16 + "\n-----END PUBLIC KEY-----",
        "https://user:password@host/",
        "postgres://user:<password>@host/db",
        "https://x.dev/a:b/c@d http://localhost:8080/@scope/name",
        "git@github.com:lighthouse/lamp.git",
        "sha256:" + "0a1b2c3d" * 8,
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "data:image/png;base64," + "iVBORw0KGgo" + "AAAANSUhEUgAAAAgAAAAI" * 40,
        "npm_package_config_name npm_config_registry",
        "the secret of the tower2 is a token: love",
        "Bearer tokens are used. Authorization: Bearer <token>",
        "primary_key = users_pkey_2024_index",
    ],
)
def test_what_stands_for_a_secret_or_only_looks_like_one_is_not_taken(words: str) -> None:
    assert find_secrets(words) == []


def test_a_checksum_tells_a_token() -> None:
    token = summed("ghp_")(Random(1))
    assert has_checksum(token)
    assert not has_checksum(token[:-1] + ("a" if token[-1] != "a" else "b"))


def test_entropy_is_that_of_the_characters() -> None:
    assert entropy("") == 0
    assert entropy("aaaa") == 0
    assert entropy("abab") == 1
    assert entropy("abcd") == 2


def test_only_what_is_long_and_no_word_is_looked_for_elsewhere() -> None:
    assert not any(map(may_spread, ("postgres", "ab12cd", "password", "aaaaaaaa1", "production")))
    assert all(map(may_spread, ("hK3vQ9xW", "correct-horse-battery", "0123abcd9876")))
    assert is_stand_in("<x>")
    assert not is_stand_in("x<y>")


@pytest.mark.parametrize("value", ["p&ss<w>'\"rd/9+=é", "plain1234", "a\\b\nc\td%20e"])
def test_every_spelling_of_a_known_secret_is_found(value: str) -> None:
    known = Spellings({value: "password"})
    for form in spelled(value):
        for words in (form, f"xx {form} yy"):
            found = list(known.find(words))
            assert [words[one.start : one.end] for one in found] == [form]
            assert found[0].value == value
    for shift in range(3):
        both = base64.b64encode(b"~" * shift + value.encode() + b"~~~").decode()
        assert list(known.find(both))


def test_escapes_are_taken_back() -> None:
    secret = "&".join((some(Random(1), ALNUM, 4), "<7>", some(Random(2), ALNUM, 4)))
    once = (
        json.dumps({"password": secret})
        .replace("&", "\\u0026")
        .replace("<", "\\u003c")
        .replace(">", "\\u003e")
    )
    for words in (once, json.dumps(once), json.dumps([json.dumps(once)])):
        found = find_secrets(words)
        assert [one.value for one in found] == [secret]
        rest = words[: found[0].start] + words[found[0].end :]
        assert re.sub(r'\\+"', '"', rest).strip('[]"') == '{"password": ""}'


def test_of_two_that_overlap_the_more_particular_gives_the_name() -> None:
    secret = summed("ghp_")(Random(1))
    assert [one.rule for one in find_secrets(f"token: {secret}")] == ["github-token"]
    assert [one.rule for one in find_secrets(f'password="{secret}!x"')] == ["github-token"]


def test_secrets_that_were_gathered_are_joined() -> None:
    one, two = Secrets(), Secrets()
    words = summed("ghp_")(Random(1))
    one.add(words, find_secrets(words))
    two.values[words] = "secret"
    assert (one | two).values == (two | one).values == {words: "github-token"}
    assert len(Secrets()) == 0


def test_hardly_anything_in_clean_texts_is_taken() -> None:
    """The sources, the documents and every string of every recorded session."""
    root = Path(clew.__file__).parent
    texts = [path.read_text() for path in root.rglob("*.py")]
    texts += [path.read_text() for path in (Path(__file__).parents[2] / "docs").rglob("*.md")]

    def note(_path: object, words: str) -> None:
        texts.append(words)

    for path in laws.corpus()[::4]:
        for line in path.read_bytes().splitlines():
            if line.startswith(b"{"):
                map_strings(line, note)
    texts = [*dict.fromkeys(texts)]
    found = [(one.rule, words[one.start : one.end]) for words in texts for one in find_secrets(words)]
    assert len(texts) > 4000
    assert found == []


@pytest.mark.parametrize(
    "words",
    [
        "password=" * 20_000,
        "-eyJ" * 40_000,
        "eyJ" + "a" * 200_000,
        "-----BEGIN PRIVATE KEY-----" * 5_000,
        "-----BEGIN PRIVATE KEY-----" + "A b" * 40_000,
        "://:" * 40_000,
        "://a:" + "b" * 200_000,
        "\\" * 200_000,
        "%25" * 60_000,
        "token: " * 20_000,
        "A" * 300_000 + "a",
        ("Zm9v" * 15 + "\n") * 3_000,
        "'" * 100_000,
        '" + ' * 50_000,
        "bearer " * 30_000,
        "glpat-" * 10_000,
        "[redacted:x:0000]" * 5_000,
    ],
    ids=lambda words: words[:12],
)
def test_hostile_text_takes_no_longer_than_other_text(words: str) -> None:
    start = time.process_time()
    find_secrets(words)
    assert time.process_time() - start < 4


def test_base64_in_base64_in_base64_is_bounded() -> None:
    words = 'password%3D\\"x\\n ' * 200
    for _ in range(5):
        words = base64.b64encode(words.encode()).decode() + " password%3D\\n"
    start = time.process_time()
    find_secrets(words)
    assert time.process_time() - start < 6
