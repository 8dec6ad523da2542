"""More made-up shapes, for the later hold-outs: keys of providers, files of programs, passwords as people make them.

As in `bench.secrets`, no value is written down: all of them are drawn by a seeded generator.
"""

from __future__ import annotations

import base64
import random
import string
from collections.abc import Callable

from bench.secrets import _ALNUM, _HEX, _UPPER, MADE, _run, _shape, _uuid

__all__ = ["SHAPES"]

_B64 = _ALNUM + "+/"
_BASE32 = string.ascii_uppercase + "234567"
_WORDS = (
    "amber", "basket", "cactus", "delta", "ember", "fossil", "garnet", "harbor", "island", "jungle", "kettle", "lemon",
    "magnet", "nickel", "orbit", "pepper", "quartz", "rocket", "saddle", "timber", "umbrella", "velvet", "walnut",
    "yellow", "zebra", "sparrow", "tiger", "winter", "sunset", "river",
)  # fmt: skip
_RUSSIAN = ("яблоко", "берег", "ветер", "гора", "дождь", "ёлка", "зима", "игла", "камень", "лодка", "мост", "небо")


def password(rng: random.Random) -> str:
    """A password as people and generators make them: never one plain word."""
    word, other = rng.sample(_WORDS, 2)
    return rng.choice(
        (
            lambda: word + _run(rng, string.digits, rng.randint(2, 4)),
            lambda: word.capitalize() + _run(rng, string.digits, 4) + rng.choice("!*+$"),
            lambda: f"{word}-{other}-{_run(rng, string.digits, 2)}",
            lambda: word.replace("a", "4").replace("e", "3").capitalize() + rng.choice("!_*") + _run(rng, _ALNUM, 3),
            lambda: _run(rng, _ALNUM, rng.randint(10, 20)),
            lambda: _run(rng, _ALNUM, 5) + rng.choice("!*+_-$") + _run(rng, _ALNUM, 5),
            lambda: _run(rng, string.ascii_lowercase + string.digits, 12),
            lambda: "-".join(_run(rng, string.ascii_lowercase + string.digits, 6) for _ in range(3)),
        )
    )()


def _block(name: str, lines: int, width: int = 64, head: str = "") -> Callable[[random.Random], str]:
    def make(rng: random.Random) -> str:
        body = "\n".join(_run(rng, _B64, width) for _ in range(lines))
        return f"-----BEGIN {name}-----\n{head}{body}\n-----END {name}-----"

    return make


def _encoded(rng: random.Random) -> str:
    return base64.b64encode(password(rng).encode()).decode()


def _login(rng: random.Random) -> str:
    return base64.b64encode(f"{rng.choice(_WORDS)}:{password(rng)}".encode()).decode()


def _words(words: tuple[str, ...], size: int) -> Callable[[random.Random], str]:
    return lambda rng: " ".join(rng.choice(words) for _ in range(size))


def _recovery(rng: random.Random) -> str:
    return ", ".join(
        f"{_run(rng, string.ascii_lowercase + string.digits, 5)}-{_run(rng, string.ascii_lowercase + string.digits, 5)}"
        for _ in range(3)
    )


def _onepass(rng: random.Random) -> str:
    return "A3-" + "-".join(_run(rng, _UPPER, size) for size in (6, 6, 5, 5, 5, 5))


SHAPES: dict[str, Callable[[random.Random], str]] = {
    **MADE,
    "password": password,
    "sql-pass": password,
    "basic": _login,
    "b64": _encoded,
    "b64k": lambda rng: base64.b64encode(rng.randbytes(32)).decode(),
    "recovery": _recovery,
    "seed": _words(_WORDS, 12),
    "apr1": _shape("$apr1$", (_ALNUM, 8), "$", (_ALNUM + "./", 22)),
    "shadow": _shape("$6$", (_ALNUM, 16), "$", (_ALNUM + "./", 86)),
    "openssh": _block("OPENSSH PRIVATE" + " KEY", 5, 70),
    "pgp": _block("PGP PRIVATE" + " KEY BLOCK", 8, 64, "\n"),
    "twilio-auth": _shape((_HEX, 32)),
    "jwk": _shape((_ALNUM + "-_", 43)),
    "totp": _shape((_BASE32, 32)),
    "cookie": _shape((_ALNUM, 32)),
    "sas": _shape((_ALNUM, 43), "%3D"),
    "fireworks": _shape("fw_", (_ALNUM, 22)),
    "cohere": _shape((_ALNUM, 40)),
    "elevenlabs": _shape("sk_", (_HEX, 48)),
    "deepgram": _shape((_HEX, 40)),
    "datadog": _shape((_HEX, 32)),
    "pagerduty": _shape("u+", (_ALNUM + "_-", 18)),
    "okta": _shape("00", (_ALNUM + "_-", 40)),
    "algolia": _shape((_HEX, 32)),
    "azure-devops": _shape((string.ascii_lowercase + "234567", 52)),
    "jenkins": _shape("11", (_HEX, 32)),
    "sonar": _shape("squ_", (_HEX, 40)),
    "artifactory": _shape("AKCp8", (_ALNUM, 68)),
    "nuget": _shape("oy2", (string.ascii_lowercase + string.digits, 43)),
    "discord-bot": lambda rng: (
        base64.b64encode(_run(rng, string.digits, 18).encode()).decode()
        + f".G{_run(rng, _ALNUM, 5)}."
        + _run(rng, _ALNUM + "_-", 38)
    ),
    "twitter": _shape("AAAAAAAAAAAAAAAAAAAAA", (_ALNUM, 60), "%3D", (_ALNUM, 30)),
    "dropbox": _shape("sl.B", (_ALNUM + "_-", 134)),
    "vercel": _shape((_ALNUM, 24)),
    "heroku-new": _shape("HRKU-AA", (_ALNUM + "_-", 58)),
    "cloudflare": _shape((_ALNUM + "_-", 40)),
    "eth": _shape("0x", (_HEX, 64)),
    "wif": _shape("L", ("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz", 51)),
    "onepass": _onepass,
    "snyk": _uuid,
    "confluent": _shape((_B64, 64)),
    "mssql": lambda rng: _run(rng, _ALNUM, 8) + "!" + _run(rng, _ALNUM, 4),
    "license": lambda rng: "-".join(_run(rng, _UPPER, 5) for _ in range(5)),
    "seed-ru": _words(_RUSSIAN, 12),
}
"""Name of a shape -> a value of it."""
