"""What secrets look like: a name, a pattern and the words without which the pattern need not be tried.

Two sorts. Some secrets tell what they are by themselves: `ghp_…`, a key between its BEGIN and its END. Others
are told by what stands around them: `password = …`. The second sort is taken only if it looks random enough,
and neither is taken if it is a stand-in from a document (`secret_looks`). The text is one that can be read
plainly; `secret_words` goes through it.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

from clew.edit.secret_looks import (
    is_discord,
    is_jwt,
    is_key,
    is_mixed,
    is_pair,
    is_password,
    is_random,
    is_summed,
    is_token,
    is_url_password,
)

if TYPE_CHECKING:
    from collections.abc import Callable

REDACTED: Final = re.compile(r"\[redacted:[a-z0-9-]+:[0-9a-f]{4}\]")
"""What is put in the place of a secret; never taken for one."""


class Rule(NamedTuple):
    """One kind of secret."""

    name: str
    source: str
    """Of its pattern."""

    words: tuple[str, ...]
    """What it matches begins with one of them, in lower case; or has it within."""

    is_secret: Callable[[str], bool]
    is_told: bool = False
    """Whether only what stands around it tells that it is one."""

    before: int = 0
    """How far before the word a match may begin; below 0, anywhere in a text that has the word."""

    @property
    def pattern(self) -> re.Pattern[str]:
        """What it looks like. The secret is its last group that took part; without groups, all of it."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> re.Pattern[str]:
    # Only when it is tried: to compile all of them takes longer than to read a short session.
    return re.compile(source)


URL_RULES: Final = frozenset({"db-url", "url-password"})
"""These take the @ too: scanners hold whatever stands between a colon and an @ for a password."""

_B: Final = r"(?<![A-Za-z0-9])"
"""Nothing before it that it could be a part of."""

_E: Final = r"(?![A-Za-z0-9])"
_W: Final = r"[A-Za-z0-9_-]"
_N: Final = r"[A-Za-z0-9]"
_H: Final = r"[0-9a-f]"
_SET: Final = (
    r"""(?:\\{0,4}["'`]|\])?\s{0,3}(?::\s?[A-Za-z_.]{1,20}\s?=|=>|:=|==?|:|\s(?:is|was)\s|\s?,)\s{0,3}"""
)
"""What stands between a name and its value."""

_OPEN: Final = r"""(?:\\{0,4}["'`])?"""
_VALUE: Final = (
    r"""(?:\\{0,4}(?:"([^"\\\s]{6,256})|'([^'\\\s]{6,256})|`([^`\\\s]{6,256}))"""
    r"""|((?:[^\s"'`\\<>,;&(){}\[\]|]|&(?![\w.-]{1,40}=)){6,256}+(?![(\[{])))"""
)
_OF_KEYS: Final = (
    "api",
    "access",
    "auth",
    "private",
    "account",
    "signing",
    "encryption",
    "master",
    "service",
    "client",
    "shared",
    "storage",
    "webhook",
    "deploy",
    "license",
    "app",
    "admin",
)
_KEYS: Final = (
    r"(?:secret(?:[_-]?(?:access)?[_-]?key)?(?:[_-]?base)?|token|credentials?"
    rf"|(?:{'|'.join(_OF_KEYS[:8])})key|(?:{'|'.join(f'(?<={word})' for word in _OF_KEYS)})[_-]key)"
)
_KEY_HEAD: Final = r"-----BEGIN[ +](?:[A-Z0-9]{1,20}[ +]){0,3}"
_KEY_TAIL: Final = (
    r"PRIVATE[ +]KEY(?:[ +]BLOCK)?-----"
    r"(?:(?:(?!-----BEGIN)[\s\S]){16,40000}?"
    r"-----END[ +](?:[A-Z0-9]{1,20}[ +]){0,3}PRIVATE[ +]KEY(?:[ +]BLOCK)?-----"
    # Cut short: as far as there are lines of a key.
    r"""|(?>(?>[\s\\nr"'+,→|:\d]{0,24})[A-Za-z0-9+/=]{30,}+)++)"""
)


def _rule(
    name: str,
    pattern: str,
    words: str,
    is_secret: Callable[[str], bool] = is_random,
    *,
    is_told: bool = False,
    before: int = 0,
) -> Rule:
    return Rule(name, pattern, tuple(words.split()), is_secret, is_told, before)


RULES: Final = (
    _rule(
        "ssh-key",
        _KEY_HEAD.replace("(?:[A-Z0-9]{1,20}[ +]){0,3}", "OPENSSH[ +]") + _KEY_TAIL,
        "-----begin",
        is_key,
    ),
    _rule("private-key", rf"(?!-----BEGIN[ +]OPENSSH){_KEY_HEAD}{_KEY_TAIL}", "-----begin", is_key),
    _rule(
        "putty-key",
        r"Private-Lines:\s\d{1,4}((?>(?:\\{1,4}[rn]|\s|\d+[→|:])+[A-Za-z0-9+/=]{8,64})++)",
        "private-lines",
        is_key,
    ),
    _rule("age-key", rf"AGE-SECRET-KEY-1[A-Z0-9]{{58}}{_E}", "age-secret-key-1"),
    _rule("aws-key", rf"{_B}(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{{16}}{_E}", "akia asia abia acca"),
    _rule(
        "aws-secret",
        rf"(?i:secret[_-]?access[_-]?key|aws[^\s=:\"']{{0,20}}(?:secret|key)[^\s=:\"']{{0,20}}){_SET}{_OPEN}([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])",
        "secretaccesskey secret_access_key secret-access-key aws",
        is_mixed,
        is_told=True,
    ),
    _rule(
        "azure-storage-key",
        r"(?i:(?:Account|SharedAccess)Key)=([A-Za-z0-9+/]{42,86}={1,2})",
        "accountkey= sharedaccesskey=",
    ),
    _rule("azure-client-secret", r"(?<![\w~.-])[\w~.]{3}\dQ~[\w~.-]{31,34}(?![\w~-])", "q~", before=4),
    _rule("azure-devops-token", rf"{_B}{_N}{{76}}AZDO{_N}{{4}}{_E}", "azdo", before=76),
    _rule("azure-sas", r"(?<![A-Za-z])sig=([A-Za-z0-9+/]{43}=|[A-Za-z0-9%]{43,70}%3[Dd])", "sig="),
    _rule("gcp-key", rf"{_B}AIza{_W}{{35}}(?!{_W})", "aiza"),
    _rule("google-oauth-secret", rf"{_B}GOCSPX-{_W}{{28}}(?!{_W})", "gocspx-"),
    _rule("google-oauth-token", rf"{_B}(?:ya29\.[\w.-]{{20,2048}}|1//0{_W}{{30,200}})", "ya29. 1//0"),
    _rule("github-app-token", rf"{_B}gh[usr]_{_N}{{36,255}}{_E}", "ghu_ ghs_ ghr_", is_summed),
    _rule("github-token", rf"{_B}gh[po]_{_N}{{36,255}}{_E}", "ghp_ gho_", is_summed),
    _rule("github-fine-grained-token", rf"{_B}github_pat_\w{{60,255}}", "github_pat_"),
    _rule(
        "gitlab-token",
        rf"{_B}(?:gl(?:pat|ptt|dt|rt|cbt|soat|ft|agent|imt|oas)-[\w.-]{{20,300}}|GR1348941{_W}{{20}})",
        "glpat- glptt- gldt- glrt- glcbt- glsoat- glft- glagent- glimt- gloas- gr1348941",
    ),
    _rule("slack-token", rf"{_B}(?:xox[abceoprs]-{_W}{{10,250}}|xapp-\d-{_W}{{20,250}})", "xox xapp-"),
    _rule(
        "slack-webhook",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/+-]{30,120})",
        "hooks.slack.com/",
    ),
    _rule(
        "stripe-key", rf"{_B}[sr]k_(?:live|test)_{_N}{{16,250}}{_E}", "sk_live_ sk_test_ rk_live_ rk_test_"
    ),
    _rule("webhook-secret", r"(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/]{24,100}={0,2}", "whsec_"),
    _rule("anthropic-key", rf"{_B}sk-ant-[a-z]{{2,10}}\d\d-{_W}{{20,300}}", "sk-ant-"),
    _rule("openrouter-key", rf"{_B}sk-or-v1-{_H}{{64}}{_E}", "sk-or-v1-"),
    _rule(
        "openai-key",
        rf"{_B}sk-(?!ant-|or-v1-)(?:[a-zA-Z]{{3,10}}-{_W}{{40,300}}|{_N}{{20,64}})(?!{_W})",
        "sk-",
        is_mixed,
    ),
    _rule("huggingface-token", rf"{_B}(?:hf_{_N}{{30,64}}|api_org_{_N}{{34}}){_E}", "hf_ api_org_"),
    _rule("npm-token", rf"{_B}npm_{_N}{{36}}{_E}", "npm_", is_summed),
    _rule("pypi-token", rf"{_B}pypi-Ag{_W}{{50,1000}}", "pypi-ag"),
    _rule("twilio-key", rf"{_B}SK{_H}{{32}}{_E}", "sk"),
    _rule("sendgrid-key", rf"{_B}SG\.{_W}{{16,32}}\.{_W}{{16,64}}", "sg."),
    _rule("mailgun-key", rf"{_B}key-{_H}{{32}}{_E}(?!-)", "key-"),
    _rule("mailgun-key", rf"{_B}{_H}{{32}}-{_H}{{8}}-{_H}{{8}}{_E}(?!-)", "mailgun", before=-1),
    _rule("mailchimp-key", rf"{_B}{_H}{{32}}-us\d{{1,2}}{_E}", "-us", before=32),
    _rule("telegram-token", rf"{_B}\d{{8,10}}:AA{_W}{{32,34}}(?!{_W})", ":aa", before=10),
    _rule(
        "discord-webhook",
        rf"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d+/({_W}{{60,80}})",
        "discord.com/ discordapp.com/",
    ),
    _rule(
        "discord-token",
        rf"(?<!{_W})[MNO]{_W}{{22,27}}\.{_W}{{6}}\.{_W}{{27,40}}(?!{_W})",
        "discord bot_token bottoken bot.run( client.run( .login(",
        is_discord,
        before=-1,
    ),
    _rule("jwt", rf"(?<!{_W})eyJ{_W}{{10,4096}}+\.eyJ{_W}{{8,32768}}+\.{_W}{{16,4096}}", "eyj", is_jwt),
    _rule("digitalocean-token", rf"{_B}do[opr]_v1_{_H}{{64}}{_E}", "doo_v1_ dop_v1_ dor_v1_"),
    _rule("heroku-key", rf"{_B}HRKU-{_W}{{36,80}}", "hrku-"),
    _rule(
        "heroku-key",
        rf"(?i:heroku[\w.-]{{0,20}}){_SET}{_OPEN}({_H}{{8}}-{_H}{{4}}-{_H}{{4}}-{_H}{{4}}-{_H}{{12}}){_E}",
        "heroku",
        is_told=True,
    ),
    _rule(
        "shopify-token",
        rf"{_B}shp(?:at|ca|pa|ss|tka)_[0-9a-fA-F]{{32}}{_E}",
        "shpat_ shpca_ shppa_ shpss_ shptka_",
    ),
    _rule("square-token", rf"{_B}(?:sq0(?:atp|csp|idp)-{_W}{{22,43}}|EAAA[\w+=-]{{60}}(?!{_W}))", "sq0 eaaa"),
    _rule("vault-token", rf"{_B}hv[sbr]\.{_W}{{24,300}}", "hvs. hvb. hvr."),
    _rule("vault-token", rf"(?i:vault[\w.-]{{0,20}}){_SET}{_OPEN}(s\.{_N}{{24}}){_E}", "vault", is_told=True),
    _rule("terraform-token", rf"{_B}{_N}{{14}}\.atlasv1\.[\w=-]{{60,80}}", ".atlasv1.", before=14),
    _rule(
        "doppler-token",
        rf"{_B}dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{{2,35}}\.)?{_N}{{40,44}}{_E}",
        "dp.",
    ),
    _rule("databricks-token", rf"{_B}dapi{_H}{{32}}(?:-\d)?{_E}", "dapi"),
    _rule(
        "grafana-token",
        rf"{_B}(?:glsa_{_N}{{32}}_[0-9a-fA-F]{{8}}{_E}|glc_eyJ[\w+/=-]{{30,400}})",
        "glsa_ glc_eyj",
    ),
    _rule("linear-key", rf"{_B}lin_(?:api|oauth)_{_N}{{32,64}}{_E}", "lin_api_ lin_oauth_"),
    _rule("notion-token", rf"{_B}(?:ntn_{_N}{{40,60}}|secret_{_N}{{43}}){_E}", "ntn_ secret_", is_mixed),
    _rule("figma-token", rf"{_B}fig[dou]r?_{_W}{{36,60}}", "figd_ figo_ figu_ figor_ figur_"),
    _rule(
        "okta-token",
        rf"(?i:okta[\w.-]{{0,30}}(?:{_SET})|ssws\s){_OPEN}(00{_W}{{38,42}})(?!{_W})",
        "okta ssws",
        is_told=True,
    ),
    _rule(
        "datadog-key",
        rf"(?i:(?:datadog|{_B}dd|_dd)[\w.-]{{0,20}}){_SET}{_OPEN}((?:{_H}{{40}}|{_H}{{32}})){_E}",
        "datadog dd_ dd-",
        is_told=True,
    ),
    _rule(
        "cloudflare-token",
        rf"(?i:cloudflare[\w.-]{{0,20}}|{_B}cf_[\w.-]{{0,20}}){_SET}{_OPEN}({_W}{{40}}|{_H}{{37}})(?!{_W})",
        "cloudflare cf_",
        is_told=True,
    ),
    _rule("cloudflare-ca-key", rf"{_B}v1\.0-{_H}{{24}}-{_H}{{146}}{_E}", "v1.0-"),
    _rule("atlassian-token", rf"{_B}ATATT3[\w=-]{{60,400}}", "atatt3"),
    _rule("airtable-token", rf"{_B}pat{_N}{{14}}\.{_H}{{64}}{_E}", "pat"),
    _rule("docker-token", rf"{_B}dckr_[po]at_{_W}{{27,64}}", "dckr_"),
    _rule("groq-key", rf"{_B}gsk_{_N}{{48,64}}{_E}", "gsk_"),
    _rule("newrelic-key", rf"{_B}NRAK-[A-Z0-9]{{27}}{_E}", "nrak-"),
    _rule("planetscale-token", rf"{_B}pscale_(?:tkn|pw|oauth)_[\w.=-]{{32,64}}", "pscale_"),
    _rule("postman-key", rf"{_B}PMAK-{_H}{{24}}-{_H}{{34}}{_E}", "pmak-"),
    _rule("pulumi-token", rf"{_B}pul-{_H}{{40}}{_E}", "pul-"),
    _rule("replicate-token", rf"{_B}r8_{_N}{{37}}{_E}", "r8_"),
    _rule("rubygems-key", rf"{_B}rubygems_{_H}{{48}}{_E}", "rubygems_"),
    _rule("sentry-token", rf"{_B}(?:sntryu_{_H}{{64}}{_E}|sntrys_eyJ[\w+/=-]{{60,300}})", "sntryu_ sntrys_"),
    _rule("supabase-token", rf"{_B}sb(?:p_{_H}{{40}}{_E}|_secret_{_W}{{24,60}})", "sbp_ sb_secret_"),
    _rule("tailscale-key", rf"{_B}tskey-[a-z]{{2,10}}-{_W}{{16,80}}", "tskey-"),
    _rule("xai-key", rf"{_B}xai-{_N}{{70,100}}{_E}", "xai-"),
    _rule("perplexity-key", rf"{_B}pplx-{_N}{{40,64}}{_E}", "pplx-"),
    _rule(
        "db-url",
        r"(?i:(?:postgres(?:ql)?|mysql|mariadb|mongodb|rediss?|amqps?|mssql|sqlserver|clickhouse|oracle|cockroachdb|nats)"
        r"(?:\+[a-z0-9_]{1,12})?):(?:\\?/){2}[^\s:/@\"'<>\\]{0,100}:([^\s/\"'<>\\]{3,200}@)(?=[\w.\[-])",
        "postgres mysql mariadb mongodb redis amqp mssql sqlserver clickhouse oracle cockroachdb nats",
        is_url_password,
        is_told=True,
    ),
    _rule(
        "url-password",
        r"(?<=[a-z]):(?:\\?/){2}[^\s:/@\"'<>\\]{0,100}:([^\s/\"'<>\\]{3,200}@)(?=[\w.\[-])",
        r"://  :\/\/",
        is_url_password,
        is_told=True,
    ),
    _rule(
        "authorization",
        rf"(?i:authorization){_SET}{_OPEN}(?i:basic|bearer|token|apikey)\s{{1,3}}([\w.~+/=:-]{{12,4096}})",
        "authorization",
        is_token,
        is_told=True,
    ),
    _rule("authorization", r"(?i:bearer)\s{1,3}([\w.~+/-]{16,4096}={0,2})", "bearer", is_token, is_told=True),
    _rule(
        "curl-password",
        r"(?:-u|--user)[ =]{1,2}[\"']?[^\s:\"']{1,64}:([^\s\"'\\]{6,128})",
        "-u --user",
        is_password,
        is_told=True,
    ),
    _rule(
        "password",
        rf"(?i:pass(?:word|wd|phrase|code)|pwd){_SET}{_VALUE}",
        "password passwd passphrase passcode pwd",
        is_password,
        is_told=True,
    ),
    _rule(
        "password",
        r"machine\s+\S{1,200}\s+login\s+\S{1,200}\s+password\s+(\S{4,200})",
        "machine",
        is_url_password,
        is_told=True,
    ),
    _rule(
        "docker-auth",
        r"auth\\{0,4}\"\s{0,3}:\s{0,3}\\{0,4}\"([A-Za-z0-9+/]{12,400}={0,2})\\{0,4}\"",
        "auth",
        is_pair,
        is_told=True,
    ),
    _rule(
        "password",
        r"(?i)-pass(?:word|wd|phrase)?(?:\s{1,2}|=)[\"']?([^\s\"'\\<>|;&-][^\s\"'\\<>|;&]{5,128})",
        "-pass",
        is_password,
        is_told=True,
    ),
    _rule(
        "password",
        r"(?i)(?:password|secret|token|api-?key)>([^<>\s]{6,128})</",
        "password> secret> token> apikey> api-key>",
        is_password,
        is_told=True,
    ),
    _rule(
        "secret",
        rf"(?i:{_KEYS}){_SET}{_VALUE}",
        f"secret token credential _key -key {' '.join(f'{word}key' for word in _OF_KEYS[:8])}",
        is_token,
        is_told=True,
    ),
    _rule(
        "secret",
        r"(?i)-(?:token|secret|api-?key)(?:\s{1,2}|=)[\"']?([^\s\"'\\<>|;&-][^\s\"'\\<>|;&]{11,256})",
        "-token -secret -api-key -apikey",
        is_token,
        is_told=True,
    ),
)
"""The more particular ones first: of two that find the same, the first gives the name."""

ORDER: Final = {rule.name: at for at, rule in reversed(tuple(enumerate(RULES)))}
