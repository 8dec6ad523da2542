"""Made-up secrets: the shapes that providers issue, filled by a seeded generator. None of them is, or ever was, real.

Nothing that looks like a secret is written down here: the values exist only while a benchmark or a test runs.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

__all__ = ["MADE", "made"]

_ALNUM, _HEX = string.ascii_letters + string.digits, "0123456789abcdef"
_UPPER = string.ascii_uppercase + string.digits


def _run(rng: random.Random, letters: str, size: int) -> str:
    """Random letters with at least one digit, as real ones have."""
    out = [rng.choice(letters) for _ in range(size)]
    digits = [char for char in letters if char.isdigit()]
    if digits and size > 3:
        out[size // 2] = rng.choice(digits)
    return "".join(out)


def _shape(*parts: str | tuple[str, int]) -> Callable[[random.Random], str]:
    return lambda rng: "".join(part if isinstance(part, str) else _run(rng, *part) for part in parts)


def _uuid(rng: random.Random) -> str:
    return "-".join(_run(rng, _HEX, size) for size in (8, 4, 4, 4, 12))


def _b64(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _jwt(rng: random.Random) -> str:
    body = _b64('{"sub":"' + _run(rng, string.digits, 10) + '","name":"made up","iat":1700000000}')
    head = _b64('{"alg":"HS256","typ":"JWT"}')
    return f"{head}.{body}.{_run(rng, _ALNUM + '-_', 43)}"


def _pem(rng: random.Random) -> str:
    lines = "\n".join(_run(rng, _ALNUM + "+/", 64) for _ in range(6))
    name = "PRIVATE" + " KEY"
    return f"-----BEGIN RSA {name}-----\n{lines}\n-----END RSA {name}-----"


def _password(rng: random.Random) -> str:
    return rng.choice(("Sunny", "Kvartz", "Blue", "Trolley", "Zima")) + _run(rng, _ALNUM, 4) + rng.choice("!#%+*") + "7"


def _basic(rng: random.Random) -> str:
    return base64.b64encode(f"robot:{_password(rng)}".encode()).decode()


MADE: dict[str, Callable[[random.Random], str]] = {
    "github": _shape("ghp_", (_ALNUM, 36)),
    "github-fine": _shape("github_pat_", (_ALNUM, 22), "_", (_ALNUM, 59)),
    "github-app": _shape("ghs_", (_ALNUM, 36)),
    "gitlab": _shape("glpat-", (_ALNUM + "_-", 20)),
    "aws-id": lambda rng: "AKIA" + _run(rng, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16),
    "aws-secret": lambda rng: _run(rng, _ALNUM + "+/", 40),
    "google-api": _shape("AIza", (_ALNUM + "_-", 35)),
    "google-oauth": _shape("ya29.", (_ALNUM + "_-", 60)),
    "google-client": _shape("GOCSPX-", (_ALNUM, 28)),
    "slack-bot": _shape("xoxb-", (string.digits, 12), "-", (string.digits, 12), "-", (_ALNUM, 24)),
    "slack-app": _shape("xapp-1-A", (_UPPER, 10), "-", (string.digits, 13), "-", (_HEX, 64)),
    "slack-hook": _shape("T", (_UPPER, 8), "/B", (_UPPER, 8), "/", (_ALNUM, 24)),
    "discord-hook": _shape((_ALNUM + "_-", 68)),
    "anthropic": _shape("sk-ant-api03-", (_ALNUM + "_-", 93), "AA"),
    "openai": _shape("sk-proj-", (_ALNUM, 48)),
    "openai-old": _shape("sk-", (_ALNUM, 48)),
    "deepseek": _shape("sk-", (_HEX, 32)),
    "openrouter": _shape("sk-or-v1-", (_HEX, 64)),
    "stripe": _shape("sk_live_", (_ALNUM, 24)),
    "stripe-hook": _shape("whsec_", (_ALNUM, 32)),
    "npm": _shape("npm_", (_ALNUM, 36)),
    "pypi": _shape("pypi-AgEIcHlwaS5vcmc", (_ALNUM + "_-", 80)),
    "docker": _shape("dckr_pat_", (_ALNUM + "_-", 27)),
    "huggingface": _shape("hf_", (string.ascii_letters, 34)),
    "sendgrid": _shape("SG.", (_ALNUM, 22), ".", (_ALNUM, 43)),
    "mailgun": _shape("key-", (_HEX, 32)),
    "mailchimp": _shape((_HEX, 32), "-us14"),
    "twilio": _shape("SK", (_HEX, 32)),
    "telegram": _shape((string.digits[1:], 10), ":AA", (_ALNUM + "_-", 33)),
    "shopify": _shape("shpat_", (_HEX, 32)),
    "digitalocean": _shape("dop_v1_", (_HEX, 64)),
    "linear": _shape("lin_api_", (_ALNUM, 40)),
    "notion": _shape("ntn_", (_ALNUM, 46)),
    "figma": _shape("figd_", (_ALNUM + "_-", 40)),
    "atlassian": _shape("ATATT3xFfGF0", (_ALNUM + "_-", 170), "=", (_UPPER, 8)),
    "databricks": _shape("dapi", (_HEX, 32)),
    "hashicorp": _shape("hvs.", (_ALNUM, 90)),
    "terraform": _shape((_ALNUM, 14), ".atlasv1.", (_ALNUM, 64)),
    "pulumi": _shape("pul-", (_HEX, 40)),
    "supabase": _shape("sbp_", (_HEX, 40)),
    "postman": _shape("PMAK-", (_HEX, 24), "-", (_HEX, 34)),
    "newrelic": _shape("NRAK-", (_UPPER, 27)),
    "grafana": _shape("glsa_", (_ALNUM, 32), "_", (_HEX, 8)),
    "square": _shape("sq0atp-", (_ALNUM, 22)),
    "age": _shape("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "tailscale": _shape("tskey-auth-", (_ALNUM, 16), "-", (_ALNUM, 32)),
    "groq": _shape("gsk_", (_ALNUM, 52)),
    "replicate": _shape("r8_", (_ALNUM, 37)),
    "langsmith": _shape("lsv2_pt_", (_HEX, 32), "_", (_HEX, 10)),
    "airtable": _shape("pat", (_ALNUM, 14), ".", (_HEX, 64)),
    "azure-client": _shape((_ALNUM, 3), "8Q~", (_ALNUM + "_-", 34)),
    "azure-storage": _shape((_ALNUM + "+/", 86), "=="),
    "yandex": _shape("AQVN", (_ALNUM + "_-", 36)),
    "yandex-oauth": _shape("y0_", (_ALNUM + "_-", 58)),
    "vk": _shape("vk1.a.", (_ALNUM + "_-", 85)),
    "heroku": _uuid,
    "jwt": _jwt,
    "private-key": _pem,
    "password": _password,
    "basic": _basic,
    "opaque": _shape((_ALNUM, 32)),
    "hex": _shape((_HEX, 40)),
    "session": _shape((_ALNUM, 26)),
    "otp": _shape((string.digits, 6)),
    "pin": _shape((string.digits, 4)),
}
"""Name of a shape -> a value of it."""


def made(name: str, seed: object) -> str:
    """A made-up secret of this shape, the same for the same seed."""
    return MADE[name](random.Random(f"{name}/{seed}"))
