"""Runs one adapter: `python -m bench.peers.child ADAPTER SETTING`, one JSON object a line in and out.

    → {"start": {"budget": 8000, "head": 2, "head_tokens": 900}}
    ← {"ok": true}
    → {"more": [messages that are new]}
    ← {"seconds": 0.01, "request": [0, 1, {"role": …}, 7], "spent": 0}
    ← {"seconds": 0.01, "error": "ValueError", "detail": "…"}
    → {"time": [messages], "start": {…}, "remember": true, "limit": 60}
    ← {"cpu": 1.2, "wall": 1.3, "tokens": 7990, "messages": 40}

The history is kept here, so that a call costs what is new; a whole number in a request is the message of that index.
`seconds` is processor time of the adapter alone: it does not grow when the machine is busy. The first line out says
which versions are installed. A timed call that takes more than `limit` seconds of processor time ends the process.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import resource
import sys
import time
from importlib import metadata
from typing import IO, Any

from bench.peers.contract import Adapter, Counter, Given, Message, Settings

__all__ = ["main", "serve"]


def serve(settings: Settings, setting: str, lines: IO[str], out: IO[str]) -> None:
    """Answer lines until there are no more."""
    make = settings[setting]
    adapter: Adapter | None = None
    history: list[Message] = []
    counter = Counter()
    for line in lines:
        given = json.loads(line)
        answer: dict[str, Any] = {"ok": True}
        if "time" in given:
            answer = _timed(make, given)
        elif "start" in given:
            history = []
            adapter = make(Given(counter=counter, **given["start"]))
        else:
            assert adapter is not None, "a conversation is started first"
            history += given["more"]
            answer = _fitted(adapter, history)
        out.write(json.dumps(answer) + "\n")  # ASCII: a lone surrogate must not end the process
        out.flush()


def _fitted(adapter: Adapter, history: list[Message]) -> dict[str, Any]:
    started = time.process_time()
    try:
        request = adapter.fit(list(history))
    except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer, and is reported as that
        return {"seconds": time.process_time() - started, "error": type(error).__name__, "detail": str(error)[:300]}
    seconds = time.process_time() - started
    return {"seconds": seconds, "request": _short(request, history), "spent": getattr(adapter, "spent", 0)}


def _short(request: list[Message], history: list[Message]) -> list[int | Message]:
    """Messages of the history by their index."""
    by_id = {id(message): at for at, message in enumerate(history)}
    short: list[int | Message] = []
    at = 0
    for message in request:
        same = by_id.get(id(message))
        if same is None:
            same = next((i for i in range(at, len(history)) if history[i] == message), None)
        short.append(message if same is None else same)
        at = at if same is None else same + 1
    return short


def _timed(make: Any, given: dict[str, Any]) -> dict[str, Any]:
    """One cold call over a whole history, its set-up included."""
    used = int(time.process_time())
    resource.setrlimit(resource.RLIMIT_CPU, (used + given["limit"], resource.RLIM_INFINITY))
    counter = Counter(remember=bool(given["remember"]))
    counter.text("the tokenizer loads on first use")
    gc.collect()
    cpu, wall = time.process_time(), time.perf_counter()
    try:
        request = make(Given(counter=counter, **given["start"])).fit(given["time"])
    except Exception as error:  # noqa: BLE001 - as above
        return {"error": type(error).__name__, "detail": str(error)[:300]}
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return {"cpu": cpu, "wall": wall, "tokens": counter.messages(request), "messages": len(request)}


def _versions(distributions: list[str]) -> dict[str, str]:
    found = {}
    for name in distributions:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found


def main() -> None:
    """Serve on standard input and output; what a peer prints goes to standard error."""
    adapter, setting, *distributions = sys.argv[1:]
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    settings: Settings = importlib.import_module(adapter).SETTINGS
    out.write(json.dumps({"ready": True, "versions": _versions(distributions)}) + "\n")
    out.flush()
    with open(0, encoding="utf-8", closefd=False) as lines:
        serve(settings, setting, lines, out)


if __name__ == "__main__":
    main()
