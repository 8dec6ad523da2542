"""A made-up secret that no test may ever find anywhere: planted in every session of an integration test (law 11).

Tests put `CANARY` or `TOLD` into what tools and users say. `watching` gives each session that is opened meanwhile a
vault, and looks at all that comes out of it: outputs, reports, errors, `repr`, archives, saved states, logs, and the
files that were written.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from unittest import mock

from bench.secrets import made

from jettison import Session
from jettison.archive import MemoryArchive
from jettison.call import Call
from jettison.errors import JettisonError
from jettison.saved import unpacked
from jettison.vault import MemoryStore, Vault

CANARY = made("github", "canary")
PASSWORD = made("password", "canary")
SPELLED = {form for value in (CANARY, PASSWORD) for form in (value, json.dumps(value)[1:-1])}
TOLD = f"The token is {CANARY}, and the password is {PASSWORD}."


def found_in(value: Any) -> list[str]:
    """The canaries that stand in a value, as it is shown, or as JSON."""
    text = value if isinstance(value, str) else repr(value)
    return [form for form in SPELLED if form in text]


class _Unsealed:
    """Keys that seal nothing: the environments of frameworks have no cryptography."""

    def seal(self, data: bytes, session: str, name: str, expires: float | None) -> bytes:
        return data

    def open(self, record: bytes, session: str, name: str) -> bytes:
        return record


class Watch:
    """Sessions of one test, and what they gave."""

    def __init__(self) -> None:
        self.sessions: list[Session] = []
        self.store = MemoryStore()

    def vault(self) -> Vault:
        made = Vault(rule_sets=())
        made.store, made._keys = self.store, _Unsealed()  # type: ignore[assignment]
        return made

    def look(self, fitted: Any) -> None:
        for place in (fitted.messages, fitted.system, fitted.tools, fitted.report.to_dict(), fitted):
            assert not found_in(place)
            assert not found_in(json.dumps(place, ensure_ascii=False, default=repr))

    def refused(self, error: JettisonError) -> None:
        assert not found_in(f"{error} {error!r} {error.report!r}")

    def end(self, logged: str, folder: Path | None, allowed: tuple[str, ...] = ()) -> None:
        """At the end of the test: what was left behind."""
        assert not found_in(logged)
        for session in self.sessions:
            assert not found_in(repr(session._state))
            assert not found_in(repr(session.task))
            assert not found_in(repr(session.vault))
            if isinstance(session.archive, MemoryArchive):
                assert not found_in(repr(vars(session.archive)))
            if session.vault is not None and session.vault.lasting and session._state.call:
                assert not found_in(json.dumps(unpacked(session.save())))
        for file in folder.rglob("*") if folder is not None else ():
            if file.is_file() and file.name not in allowed:
                assert not held_by(file), file


def held_by(file: Path) -> list[str]:
    """The canaries in the bytes of a file, also where they are compressed."""
    data = file.read_bytes()
    plain = [data]
    at = data.find(b"\x78")
    while at >= 0 and len(plain) < 200:
        with suppress(zlib.error):
            plain.append(zlib.decompressobj().decompress(data[at:]))
        at = data.find(b"\x78", at + 1)
    return [form for form in SPELLED for piece in plain if form.encode() in piece]


@contextmanager
def watching() -> Iterator[Watch]:
    """Every session that is opened has a vault that knows the canaries from the first call on."""
    watch = Watch()
    begin, sync, run = Session.__init__, Session._sync, Session._async
    load = Session.load.__func__  # type: ignore[attr-defined]

    def opened(self: Session, *arguments: Any, **settings: Any) -> None:
        # A session that is loaded brings its own key: its vault is opened by `load`.
        if settings.get("vault") is None:
            settings["vault"] = watch.vault()
        begin(self, *arguments, **settings)
        watch.sessions.append(self)

    def loaded(cls: type[Session], data: bytes, *arguments: Any, **settings: Any) -> Session:
        settings.setdefault("vault", watch.vault())
        session: Session = load(cls, data, *arguments, **settings)
        return session

    def checked(self: Session, call: Call) -> Any:
        try:
            fitted = sync(self, call)
        except JettisonError as error:
            watch.refused(error)
            raise
        if not call.observe:
            watch.look(fitted)
        return fitted

    async def checked_async(self: Session, call: Call) -> Any:
        try:
            fitted = await run(self, call)
        except JettisonError as error:
            watch.refused(error)
            raise
        if not call.observe:
            watch.look(fitted)
        return fitted

    with (
        mock.patch.object(Session, "__init__", opened),
        mock.patch.object(Session, "load", classmethod(loaded)),
        mock.patch.object(Session, "_sync", checked),
        mock.patch.object(Session, "_async", checked_async),
    ):
        yield watch
