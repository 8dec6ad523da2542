"""Secrets that are known by their own shape: what providers issue, private keys, signed tokens.

A rule is a literal that every such secret has, and an expression for the rest. Literals are looked for in the long
runs of a text alone, by their first two letters at the start of a word; sources are the providers' own documentation of
their token formats. Every repeat is bounded where text could make it expensive: the scan is linear.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from jettison.vault.spans import Span

__all__ = ["KINDS", "provider_spans"]

_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


class _Rule(NamedTuple):
    kind: str
    literal: str
    pattern: re.Pattern[str]
    back: int
    """Characters that the secret may have before the literal."""


# kind, the literals it begins with, what follows
_PREFIXED: tuple[tuple[str, str, str], ...] = (
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9]{30,255}"),
    ("github-token", "github_pat_", r"[A-Za-z0-9_]{22,255}"),
    (
        "gitlab-token",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas-",
        r"[\w-]{18,255}(?:\.[\w-]{2,40}){0,2}",
    ),
    ("aws-access-key", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("google-api-key", "AIza", r"[\w-]{35}(?![\w-])"),
    ("google-token", "ya29.", r"[\w-]{20,1000}"),
    ("google-token", "1//0", r"[\w-]{40,200}"),
    ("google-client-secret", "GOCSPX-", r"[\w-]{24,40}"),
    ("slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxc- xoxd- xoxe- xapp-", r"[\w%-]{10,500}"),
    ("slack-token", "xoxe.xoxp- xoxe.xoxb-", r"[\w-]{10,500}"),
    ("anthropic-key", "sk-ant-", r"[\w-]{20,200}"),
    ("openrouter-key", "sk-or-", r"[\w-]{30,200}"),
    ("openai-key", "sk-proj- sk-svcacct- sk-admin-", r"[\w-]{20,300}"),
    ("openai-key", "sk-", r"[A-Za-z0-9]{20,100}(?![\w-])"),
    ("langfuse-key", "sk-lf-", _UUID),
    ("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[A-Za-z0-9]{10,250}"),
    ("webhook-secret", "whsec_", r"[A-Za-z0-9+/=]{24,100}"),
    ("npm-token", "npm_", r"[A-Za-z0-9]{36}(?!\w)"),
    ("pypi-token", "pypi-", r"[\w-]{50,500}"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"[\w-]{20,100}"),
    ("huggingface-token", "hf_ api_org_", r"[A-Za-z0-9]{30,60}(?!\w)"),
    ("sendgrid-key", "SG.", r"[\w-]{16,32}\.[\w-]{16,64}"),
    ("mailgun-key", "key-", r"[0-9a-f]{32}(?!\w)"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"[0-9a-f]{64}-\w{16}"),
    ("twilio-key", "SK", r"[0-9a-f]{32}(?!\w)"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_", r"[0-9a-fA-F]{32}"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"[0-9a-f]{64}"),
    ("linear-key", "lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,64}"),
    ("notion-token", "ntn_", r"[A-Za-z0-9]{40,60}"),
    ("notion-token", "secret_", r"[A-Za-z0-9]{43}(?!\w)"),
    ("figma-token", "figd_ figu_ figo_", r"[\w-]{35,60}"),
    ("atlassian-token", "ATATT3 ATCTT3 ATSTT3", r"[\w=-]{50,300}"),
    ("bitbucket-token", "ATBB", r"[A-Za-z0-9]{28,40}"),
    ("trello-token", "ATTA", r"[0-9a-f]{64}"),
    ("databricks-token", "dapi", r"[0-9a-f]{32}(?:-\d)?(?!\w)"),
    ("vault-token", "hvs. hvb. hvr.", r"[\w-]{20,300}"),
    ("pulumi-token", "pul-", r"[0-9a-f]{40}(?!\w)"),
    ("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", r"[\w.=-]{30,64}"),
    ("supabase-key", "sbp_", r"[0-9a-f]{40}"),
    ("supabase-key", "sb_secret_", r"[\w-]{20,60}"),
    ("postman-key", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    ("newrelic-key", "NRAK- NRII-", r"[A-Za-z0-9_-]{27,32}"),
    ("grafana-token", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-fA-F]{8}"),
    ("grafana-token", "glc_", r"[A-Za-z0-9+/]{32,400}={0,2}"),
    ("sentry-token", "sntrys_ sntryu_", r"[\w+/=-]{60,400}"),
    ("square-token", "sq0atp- sq0csp-", r"[\w-]{22,60}"),
    ("square-token", "EAAA", r"[\w-]{60}(?![\w-])"),
    ("facebook-token", "EAA", r"[A-Za-z0-9]{80,300}"),
    ("age-key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{58}"),
    ("tailscale-key", "tskey-", r"[a-z]{2,12}-\w{8,40}-\w{16,60}"),
    ("flyio-token", "fo1_ fm2_", r"[\w+/=-]{40,1000}"),
    ("render-key", "rnd_", r"[A-Za-z0-9]{24,40}"),
    ("rubygems-key", "rubygems_", r"[0-9a-f]{48}"),
    ("crates-token", "cio", r"[A-Za-z0-9]{32}(?!\w)"),
    ("clojars-token", "CLOJARS_", r"[0-9a-f]{60}"),
    ("airtable-token", "pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    ("typeform-token", "tfp_", r"[\w-]{40,80}"),
    ("replicate-token", "r8_", r"[A-Za-z0-9]{37}(?!\w)"),
    ("groq-key", "gsk_", r"[A-Za-z0-9]{40,60}"),
    ("perplexity-key", "pplx-", r"[A-Za-z0-9]{40,60}"),
    ("xai-key", "xai-", r"[A-Za-z0-9]{60,100}"),
    ("nvidia-key", "nvapi-", r"[\w-]{50,80}"),
    ("langsmith-key", "lsv2_", r"(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}"),
    ("doppler-token", "dp.", r"(?:pt|st|ct|sa|scim|audit)\.[\w.-]{40,80}"),
    ("onepassword-token", "ops_eyJ", r"[\w-]{100,2000}"),
    ("netlify-token", "nfp_", r"\w{36,60}"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"\w{20,24}_[0-9a-f]{40}"),
    ("buildkite-token", "bkua_", r"[0-9a-f]{40}"),
    ("contentful-token", "CFPAT-", r"[\w-]{43}"),
    ("dynatrace-token", "dt0c01. dt0s01.", r"[A-Z0-9]{24}\.[A-Z0-9]{64}"),
    ("hubspot-token", "pat-na1- pat-na2- pat-eu1-", _UUID),
    ("plaid-token", "access-sandbox- access-development- access-production-", _UUID),
    ("alibaba-key", "LTAI", r"[A-Za-z0-9]{12,26}(?!\w)"),
    ("tencent-key", "AKID", r"[A-Za-z0-9]{28,40}(?!\w)"),
    ("yandex-key", "AQVN", r"[\w-]{35,38}(?![\w-])"),
    ("yandex-token", "y0_", r"[\w-]{50,70}"),
    ("yandex-token", "t1.9eu", r"[\w-]{1,200}={0,2}\.[\w-]{80,100}={0,2}"),
    ("vk-token", "vk1.a.", r"[\w-]{60,250}"),
    ("fireworks-key", "fw_", r"[A-Za-z0-9]{20,40}(?!\w)"),
    ("elevenlabs-key", "sk_", r"[0-9a-f]{40,64}(?!\w)"),
    ("sonar-token", "squ_ sqp_ sqa_", r"[0-9a-f]{40}"),
    ("artifactory-key", "AKCp", r"[A-Za-z0-9]{60,80}(?!\w)"),
    ("artifactory-token", "cmVmdGtu", r"[A-Za-z0-9]{50,60}(?!\w)"),
    ("nuget-key", "oy2", r"[a-z0-9]{43}(?!\w)"),
    ("discord-token", "MT MTA Mz ND NT Nj Nz OD OT", r"[A-Za-z0-9_-]{20,30}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])"),
    ("twitter-token", "AAAAAAAAAAAAAAAAAAAA", r"[A-Za-z0-9%]{30,200}"),
    ("dropbox-token", "sl.B sl.u sl.A", r"[\w-]{60,2000}"),
    ("heroku-key", "HRKU-", r"[\w-]{36,70}"),
    ("cloudflare-key", "v1.0-", r"[0-9a-f]{24}-[0-9a-f]{100,200}"),
    ("onepassword-key", "A3-", r"[A-Z0-9]{6}-(?:[A-Z0-9]{5,6}-){3,5}[A-Z0-9]{5}(?!\w)"),
    ("vercel-token", "vcp_ vck_ vci_ vca_", r"[A-Za-z0-9]{40,80}(?!\w)"),
    ("gitea-token", "gta_ gto_", r"[A-Za-z0-9]{30,60}(?!\w)"),
    ("codecov-token", "codecov_", r"[A-Za-z0-9]{30,60}(?!\w)"),
    ("pagerduty-token", "pdus+", r"[\w-]{18,40}"),
    ("posthog-key", "phx_ phs_", r"[A-Za-z0-9]{40,60}(?!\w)"),
    ("sourcegraph-token", "sgp_", r"(?:[0-9a-f]{16}_|local_)?[0-9a-f]{40}(?!\w)"),
    ("prefect-key", "pnu_ pnb_", r"[A-Za-z0-9]{36}(?!\w)"),
    ("pinecone-key", "pcsk_", r"[A-Za-z0-9_]{50,90}(?!\w)"),
    ("tavily-key", "tvly-", r"(?:dev-|prod-)?[A-Za-z0-9]{28,40}(?!\w)"),
    ("cerebras-key", "csk-", r"[a-z0-9]{40,60}(?!\w)"),
    ("together-key", "tgp_v1_", r"[\w-]{40,60}"),
    ("modal-token", "ak- as-", r"[A-Za-z0-9]{22}(?![\w-])"),
    ("wandb-key", "wandb_v1_", r"\w{60,100}"),
    ("neon-key", "napi_", r"[a-z0-9]{60,70}(?!\w)"),
    ("resend-key", "re_", r"[A-Za-z0-9]{8}_[A-Za-z0-9]{20,30}(?!\w)"),
    ("clerk-key", "ak_live_ ak_test_", r"[A-Za-z0-9]{30,60}(?!\w)"),
    ("razorpay-key", "rzp_live_ rzp_test_", r"[A-Za-z0-9]{14}(?!\w)"),
    ("intercom-token", "dG9rO", r"[A-Za-z0-9+/]{40,70}={0,2}(?!\w)"),
    ("asana-token", "1/", r"\d{10,17}(?:/\d{10,17})?:[0-9a-f]{32}(?!\w)"),
    ("password-hash", "$apr1$ $1$", r"[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{22}(?![./\w])"),
    ("easypost-key", "EZAK EZTK", r"[A-Za-z0-9]{54}"),
    ("mapbox-token", "sk.eyJ", r"[\w-]{20,200}\.[\w-]{20,40}"),
    ("jwt", "eyJ", r"[\w-]{8,4000}\.eyJ[\w-]{8,8000}(?:\.[\w-]{10,1500})?"),
    ("jwt", "eyJ", r"[\w-]{8,4000}\.[\w-]{0,1000}\.[\w-]{10,40}\.[\w-]{10,8000}\.[\w-]{16,60}"),
    ("password-hash", "$2a$ $2b$ $2y$", r"\d\d\$[./A-Za-z0-9]{53}"),
    ("password-hash", "$5$ $6$ $y$", r"[./A-Za-z0-9$=]{20,200}"),
    ("password-hash", "$argon2", r"i?d?\$v=\d+\$m=\d+,t=\d+,p=\d+\$[+/A-Za-z0-9]{8,100}\$[+/A-Za-z0-9]{16,200}"),
)

# kind, a literal inside, the whole, characters before the literal
_INSIDE: tuple[tuple[str, str, str, int], ...] = (
    ("telegram-token", ":AA", r"(?<!\d)\d{8,10}:AA[\w-]{32,34}(?![\w-])", 10),
    ("mailchimp-key", "-us", r"(?<!\w)[0-9a-f]{32}-us\d{1,2}(?!\w)", 32),
    ("terraform-token", ".atlasv1.", r"(?<!\w)[A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,80}", 14),
    ("azure-client-secret", "Q~", r"(?<![\w~.-])[\w~.-]{3}\dQ~[\w~.-]{31,34}(?![\w~-])", 4),
    ("azure-storage-key", "==", r"(?<![A-Za-z0-9+/-])[A-Za-z0-9+/]{86}==(?![A-Za-z0-9+/=])", 86),
)

# kind, a literal before, what follows: the first group is the secret
_AFTER: tuple[tuple[str, str, str], ...] = (
    ("slack-webhook", "hooks.slack.com/", r"(?:services|workflows|triggers)/([\w/-]{20,120})"),
    ("discord-webhook", "/api/webhooks/", r"\d{15,22}/([\w-]{40,100})"),
    ("teams-webhook", ".webhook.office.com/webhookb2/", r"([\w@/-]{60,250})"),
    ("telegram-token", "api.telegram.org/bot", r"(\d{6,12}:[\w-]{30,40})"),
)


def _by_start() -> dict[str, list[_Rule]]:
    """The rules by the two characters they begin with."""
    rules: dict[str, list[_Rule]] = {}
    for kind, literals, rest in _PREFIXED:
        for literal in literals.split():
            pattern = re.compile(f"({re.escape(literal)}{rest})", re.ASCII)
            rules.setdefault(literal[:2], []).append(_Rule(kind, literal, pattern, 0))
    return rules


def _starts(literals: Iterable[str]) -> re.Pattern[str]:
    """Finds the beginning of any of the literals where a word begins; their first letters are read once."""
    root: dict[str, Any] = {}
    for literal in literals:
        node = root
        for letter in literal[:4]:
            node = node.setdefault(letter, {})
        node[""] = {}

    def alternatives(node: dict[str, Any]) -> str:
        if "" in node:  # a shorter literal ends here: what follows is left to the rules
            return ""
        parts = [re.escape(letter) + alternatives(rest) for letter, rest in node.items()]
        return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"

    return re.compile(f"(?<![A-Za-z0-9_]){alternatives(root)}", re.ASCII)


_BY_START = _by_start()
_STARTS = _starts(rule.literal for rules in _BY_START.values() for rule in rules)
_ELSEWHERE = (
    *(_Rule(kind, literal, re.compile(f"({whole})", re.ASCII), back) for kind, literal, whole, back in _INSIDE),
    *(_Rule(kind, before, re.compile(re.escape(before) + rest, re.ASCII), 0) for kind, before, rest in _AFTER),
)
_LONG_RUN = re.compile(rb" [^ ]{18,}")
"""The shortest of all is `sk_live_` with ten letters. Looked for after all other letters were made spaces: three times
faster than with a class of letters and a look behind."""
_APART = bytes(
    letter if letter < 128 and (chr(letter).isalnum() or chr(letter) in "_.~+/=%$:@-") else 32 for letter in range(256)
)
_PEM_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"(?:[A-Za-z0-9+/=\s]|\\[nr]|(?:Proc-Type|DEK-Info|Version|Comment): [^\n\\]{0,80})*")

KINDS = frozenset(
    {"private-key", *(rule[0] for rule in _PREFIXED), *(rule[0] for rule in _INSIDE), *(rule[0] for rule in _AFTER)}
)


def provider_spans(text: str, low: bytes) -> Iterator[Span]:
    """Every secret of a known shape; spans of different rules may overlap. `low` is the text, folded."""
    yield from _private_keys(text)
    # A secret is one long run of such letters: the literals are looked for in those runs alone, put side by side.
    starts, places, runs, size = [], [], [], 0
    for run in _LONG_RUN.finditer(b" " + low.translate(_APART)):
        start, end = run.start(), run.end() - 1  # one space was put before
        starts.append(size)
        places.append(start)
        runs.append(text[start:end])
        size += end - start + 1
    joined = "\n".join(runs)
    if not joined:
        return
    for found in _literals(joined):
        at = bisect_right(starts, found.start) - 1
        shift = places[at] - starts[at]
        yield Span(found.start + shift, found.end + shift, found.kind)


def _literals(text: str) -> Iterator[Span]:
    reached = 0
    for word in _STARTS.finditer(text):
        at = word.start()
        for rule in _BY_START[text[at : at + 2]] if at >= reached else ():
            found = rule.pattern.match(text, at)
            if found is not None and _bordered(found):
                yield Span(found.start(1), found.end(1), rule.kind)
                reached = found.end(1)
                break
    for rule in _ELSEWHERE:
        at = text.find(rule.literal)
        while at >= 0:
            found = rule.pattern.search(text, max(0, at - rule.back), at + 400)
            end = at + len(rule.literal)
            if found is not None and _bordered(found):
                yield Span(found.start(1), found.end(1), rule.kind)
                end = max(end, found.end(1))
            at = text.find(rule.literal, end)


def _bordered(found: re.Match[str]) -> bool:
    """Whether the match is not the middle of a longer run of base64 or of a word that only looks alike."""
    value = found.group(1)
    if value.isalpha() and value.islower():
        return False
    # A run of one letter or digit is a mask: sk-xxxxxxxxxxxx.
    return len(set(value[len(value) // 3 :])) > 3


def _private_keys(text: str) -> Iterator[Span]:
    at = text.find("-----BEGIN ")
    while at >= 0:
        begin = _PEM_BEGIN.match(text, at)
        stop = at + 11
        if begin is not None:
            body = _PEM_BODY.match(text, begin.end())
            assert body is not None  # it matches the empty string
            close = _PEM_END.match(text, body.end())
            stop = close.end() if close is not None else body.end()
            if len(body.group()) > 40:
                yield Span(at, len(text[:stop].rstrip()) if close is None else stop, "private-key")
        at = text.find("-----BEGIN ", stop)
