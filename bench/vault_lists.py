"""Labelled texts that are kept as lists of templates: `bench/vault_sets/*.txt`.

A line is `kind|template` under `[secrets]`, and a template under `[look-alikes]`. `§` is the secret; `~name`, `~host`,
`~u` (uuid), `~h40` (hex), `~a24` (letters and digits) and `~d6` (digits) are drawn; `\\n` is a new line.
"""

from __future__ import annotations

import random
import re
import string
from collections.abc import Iterator
from pathlib import Path

from bench.secrets import _run
from bench.vault_shapes import SHAPES

__all__ = ["LISTS", "listed"]

LISTS = Path(__file__).parent / "vault_sets"
_SLOT = re.compile(r"~(name\b|host\b|u(?![a-z])|[had]\d+)")
_NAMES = ("anna", "boris", "deploy", "svc_build", "j.smith", "reader", "pavel", "app")
_HOSTS = ("db1.acme.test", "10.2.0.7", "ci.example.org", "files.acme.test", "node-3")
_LETTERS = {"h": "0123456789abcdef", "d": string.digits, "a": string.ascii_letters + string.digits}


def listed(name: str, draws: int = 2) -> Iterator[tuple[str, str, str | None]]:
    """(kind, text, secret or None) of a list, `draws` of each template, the same at every run."""
    alike = False
    for number, line in enumerate((LISTS / f"{name}.txt").read_text("utf-8").split("\n")):
        if line.startswith("[") and line in ("[secrets]", "[look-alikes]"):
            alike = line == "[look-alikes]"
            continue
        if not line or line.startswith("# "):
            continue
        for draw in range(draws):
            rng = random.Random(f"{name}/{number}/{draw}")
            if alike:
                yield "look-alike", _filled(line, rng), None
                continue
            kind, _, template = line.partition("|")
            secret = SHAPES[kind](rng)
            text = _filled(template, rng)
            if "\n" in secret and template.lstrip().startswith("{"):
                secret = secret.replace("\n", "\\n")
            yield kind, text.replace("§", secret), secret


def _filled(template: str, rng: random.Random) -> str:
    def one(slot: re.Match[str]) -> str:
        kind = slot.group(1)
        if kind == "name":
            return rng.choice(_NAMES)
        if kind == "host":
            return rng.choice(_HOSTS)
        if kind == "u":
            return "-".join(_run(rng, _LETTERS["h"], size) for size in (8, 4, 4, 4, 12))
        return _run(rng, _LETTERS[kind[0]], int(kind[1:]))

    return _SLOT.sub(one, template.replace("\\n", "\n"))
