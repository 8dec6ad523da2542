"""The secrets of one session: found on arrival, replaced by placeholders, kept, and given back to calls that may."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from jettison.errors import SecretGone, StoreConflict, VaultError
from jettison.vault.declared import schemas_mended, task_mended
from jettison.vault.grants import Grant
from jettison.vault.leaves import NOWHERE, Calls, Origin, json_strings, private, rewritten
from jettison.vault.placeholders import PLACEHOLDER, name_of, placeholder
from jettison.vault.rehydrate import Rehydrator, rehydrated
from jettison.vault.secret import Secret
from jettison.vault.spans import Span
from jettison.vault.spelling import decoded, json_number, names_in, replaced, spellings

if TYPE_CHECKING:
    from jettison.call import Call
    from jettison.task import Task
    from jettison.vault.vault import Vault

__all__ = ["Arrived", "Keeper", "Seen"]

T = TypeVar("T")


class Seen:
    """A message that held secrets, for comparing alone: it equals what it was made of, and says nothing of it."""

    __slots__ = ("_digest",)
    _KEY = os.urandom(32)

    def __init__(self, message: Any) -> None:
        self._digest = self._of(message)

    @classmethod
    def _of(cls, message: Any) -> bytes:
        text = json.dumps(message, ensure_ascii=False, default=str, sort_keys=True)
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=cls._KEY, digest_size=32).digest()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Seen):
            return self._digest == other._digest
        return self._of(other) == self._digest

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return "Seen(…)"


class Arrived:
    """New messages after the vault: mended copies, and the placeholders that were put into each."""

    __slots__ = ("messages", "names")

    def __init__(self, messages: list[Any], names: list[tuple[str, ...]]) -> None:
        self.messages = messages
        self.names = names


class Keeper:
    """The vault of one session; `Session.vault` is one. Made by `Vault.open`."""

    def __init__(self, vault: Vault, session: str) -> None:
        self._vault, self.session = vault, session
        self._lock = threading.RLock()
        self._calls = Calls()
        self._secrets: dict[str, Secret] = {}
        self._variants: dict[str, str] = {}
        self._numbers: dict[str, int] = {}
        self._unsaved: dict[str, Secret] = {}
        self._declared = 0
        self._system: tuple[Any, Any] | None = None
        self._schemas: dict[str, tuple[Any, Any]] = {}
        self._stored: set[str] = set()
        self.known = 0
        """Rises with every spelling of a secret that becomes known: older messages may hold it."""
        self.refresh()

    def __repr__(self) -> str:
        return f"Keeper({self.session!r}, {len(self._secrets)} secrets)"

    # on arrival

    def arrive(self, messages: Sequence[Any]) -> Arrived:
        """The messages with every secret replaced. Messages without one come back as the same objects."""
        with self._lock:
            self._take_declared()
            before = self.known
            out = [rewritten(message, self._mend, self._calls) for message in messages]
            if self.known > before:  # what was found in a later one may stand bare in an earlier one
                out = [rewritten(message, self._known, Calls()) for message in out]
            names = [() if new is old else names_in(new) for new, old in zip(out, messages, strict=True)]
            return Arrived(out, names)

    def arrive_system(self, system: Any) -> Any:
        """The system field with every secret replaced; the same answer, unscanned, while it is the same."""
        with self._lock:
            if system is None:
                return None
            self._take_declared()
            if self._system is None or self._system[0] != (self.known, Seen(system)):
                new = rewritten(system, self._mend, Calls())
                self._system = ((self.known, Seen(system)), None if new is system else private(new))
            return system if self._system[1] is None else private(self._system[1])

    def arrive_schemas(self, tools: Any, what: str = "tools") -> Any:
        """Tool schemas (or a response schema) with every secret replaced: a default, an example, a description.

        The same object when none holds one; the same answer, unscanned, while they are the same.
        """
        with self._lock:
            if not tools:
                return tools
            self._take_declared()
            known = self._schemas.get(what)
            if known is None or known[0] != (self.known, Seen(tools)):
                new = schemas_mended(tools, self._mend)
                known = self._schemas[what] = ((self.known, Seen(tools)), None if new is tools else private(new))
            return tools if known[1] is None else private(known[1])

    def arrive_task(self, task: Task) -> None:
        """Replace every secret in what the caller declared: goal, constraints, operations and their needs, pins."""
        with self._lock:
            self._take_declared()
            task_mended(task, lambda text: self._mend(text, "", NOWHERE))

    def arrive_call(self, call: Call, task: Task) -> Call:
        """What a call declares, without secrets; the messages and the system field come later, one by one."""
        self.arrive_task(task)
        tools = self.arrive_schemas(call.tools)
        answer = self.arrive_schemas(call.response_schema, "response")
        if tools is call.tools and answer is call.response_schema:
            return call
        return replace(call, tools=tools, response_schema=answer)

    @property
    def lasting(self) -> bool:
        """Whether another process finds the secrets again."""
        return self._vault.lasting

    def recollect(self, messages: Sequence[Any]) -> None:
        """Note the calls of messages that were worked on in another process: results of them may be yet to come."""
        with self._lock:
            for message in messages:
                rewritten(message, lambda text, key, origin: text, self._calls)

    def holds(self, message: Any) -> bool:
        """Whether a message holds a known secret."""
        return rewritten(message, self._known, Calls()) is not message

    def cleaned(self, value: T) -> T:
        """A value with the known secrets in its texts replaced; the same object when it holds none."""
        with self._lock:
            new: T = rewritten(value, self._known, Calls())
            return new

    def text(self, text: str) -> str:
        """Any text (a log line, a summary) with secrets replaced as in messages."""
        with self._lock:
            self._take_declared()
            return self._mend(text, "", NOWHERE)

    def _mend(self, text: str, key: str, origin: Origin) -> str:
        if key == "arguments" and text.lstrip()[:1] in ("{", "["):
            text = json_strings(text, lambda value, name: self._mend_text(value, name, origin))
            return self._known(text, key, origin)
        return self._mend_text(text, key, origin)

    def _mend_text(self, text: str, key: str, origin: Origin) -> str:
        if len(text) < 4:
            return text
        spans = self._vault.detector.find(text)
        if not spans and (kind := self._vault.detector.kind_of_value(key, text)) is not None:
            spans = [Span(0, len(text), kind)]
        out, at = [], 0
        for start, end, kind in spans:
            raw = text[start:end]
            name = self._name(raw, decoded(text, start, raw), kind, origin)
            bare = raw.isdigit() and json_number(text, start, end)
            out += [text[at:start], f'"{name}"' if bare else name]
            at = end
        return self._known("".join([*out, text[at:]]) if out else text, key, origin)

    def _known(self, text: str, key: str, origin: Origin) -> str:
        """Known secrets that stand in the text, in any of their spellings; longest first."""
        for variant in sorted((one for one in self._variants if one in text), key=len, reverse=True):
            name = self._variants[variant]
            pieces = PLACEHOLDER.split(text) if "{{secret:" in text else [text]
            if len(pieces) == 1:
                text = replaced(text, variant, name)
                continue
            parts, at = [], 0
            for mark in PLACEHOLDER.finditer(text):
                parts += [replaced(text[at : mark.start()], variant, name), mark.group()]
                at = mark.end()
            text = "".join([*parts, replaced(text[at:], variant, name)])
        return text

    def _name(self, raw: str, value: str, kind: str, origin: Origin) -> str:
        """The placeholder of a secret: a known one, or the next."""
        known = self._variants.get(raw) or self._variants.get(value)
        if known is None:
            self._numbers[kind] = self._numbers.get(kind, 0) + 1
            known = placeholder(kind, self._numbers[kind])
            ttl = self._vault.ttl
            expires = None if ttl is None else self._vault.clock() + ttl
            self._secrets[known] = Secret(known, kind, value, expires=expires)
            self._unsaved[known] = self._secrets[known]
        secret = self._secrets[known]
        self._learn(known, {raw, *spellings(value)})
        # Where it first came from, not every tool that ever showed it: a page could be made to.
        if origin.tool is not None and not secret.tools:
            secret.tools.add(origin.tool)
            secret.hosts |= origin.hosts
            self._unsaved[known] = secret
        return known

    def _learn(self, name: str, variants: Iterable[str]) -> None:
        before = len(self._variants)
        for variant in variants:
            self._variants.setdefault(variant, name)
        self.known += len(self._variants) - before

    def _take_declared(self) -> None:
        declared = self._vault.declared
        for value, kind, grant in declared[self._declared :]:
            name = self._name(value, value, kind, NOWHERE)
            if grant is not None:
                self._secrets[name].grants.append(replace(grant, secret=name))
                self._unsaved[name] = self._secrets[name]
        self._declared = len(declared)

    # the way back

    def rehydrate(self, call: Any) -> Any:
        """The tool call with the values of its placeholders, in the shape it came in; the given one is unchanged.

        Raises SecretRefused when a secret may not go there, SecretGone when there is none.
        """
        return rehydrated(call, self)

    def rehydrator(self, tool: str, *, json: bool = True) -> Rehydrator:
        """For the arguments of one call that arrive in pieces. `json`: they are JSON text, values are escaped."""
        return Rehydrator(self, tool, json=json)

    def allow(
        self,
        secret: str,
        tools: Collection[str],
        *,
        arguments: Collection[str] | None = None,
        hosts: Collection[str] | None = None,
    ) -> None:
        """Let a secret (its placeholder) go to these tools, places and hosts. See `Grant`."""
        with self._lock:
            found = self._of(secret)
            found.grants.append(Grant(secret, tools, arguments, hosts))
            self._unsaved[secret] = found
        self.save()

    def grants(self, name: str) -> list[Grant]:
        """Everything that allows a secret: by the vault, for this one, and by where it came from."""
        secret = self._of(name)
        return [
            *(one for one in self._vault.grants if one.covers(name, secret.kind)),
            *secret.grants,
            *secret.default(),
        ]

    def value(self, name: str) -> str:
        """The value behind a placeholder, for the caller's own use: nothing is checked but that it is there.

        Raises SecretGone.
        """
        with self._lock:
            secret = self._of(name)
            if secret.expires is not None and secret.expires <= self._vault.clock():
                self._drop(secret, "expired")
            if secret.value is None:
                raise SecretGone(f"{name} is {secret.why_gone}: ask the user for it again")
            return secret.value

    def names(self) -> list[str]:
        """The placeholders of this session, in order of arrival."""
        return list(self._secrets)

    def revoke(self, name: str) -> None:
        """Forget a secret: from now on no call gets it. Its placeholder stays taken."""
        with self._lock:
            self._drop(self._of(name), "revoked")

    def wipe(self) -> int:
        """Forget all secrets of this session; returns how many."""
        with self._lock:
            live = [secret for secret in self._secrets.values() if secret.value is not None]
            for secret in live:
                self._drop(secret, "wiped")
            return len(live)

    def _of(self, name: str) -> Secret:
        secret = self._secrets.get(name)
        if secret is None:
            raise SecretGone(f"{name} is not a secret of this session: use a placeholder as it stands in the history")
        return secret

    def _drop(self, secret: Secret, why: str) -> None:
        self._vault.delete(self.session, secret.name)
        secret.value, secret.why_gone = None, why
        self._unsaved.pop(secret.name, None)
        self._stored.discard(secret.name)
        self._variants = {text: name for text, name in self._variants.items() if name != secret.name}
        self._system, self._schemas = None, {}

    # what is stored

    def save(self) -> None:
        """Store what is new. Raises VaultError; what could not be stored is tried again at the next call.

        Raises StoreConflict when another process took one of the placeholders meanwhile: what was new is forgotten,
        and what the other one stored is known. Work on the messages again.
        """
        with self._lock:
            for name, secret in list(self._unsaved.items()):
                if secret.value is not None and name in self._stored:
                    self._vault.put(self.session, name, secret)
                elif secret.value is not None:
                    if not self._vault.add(self.session, name, secret):
                        self._forget_new()
                        self.refresh()
                        raise StoreConflict(self.session, " (its secrets)")
                    self._stored.add(name)
                del self._unsaved[name]

    def _forget_new(self) -> None:
        for name in [name for name in self._unsaved if name not in self._stored]:
            del self._unsaved[name], self._secrets[name]
            self._variants = {text: one for text, one in self._variants.items() if one != name}
        self._system, self._schemas, self._declared = None, {}, 0
        self._numbers = {}
        for name in self._secrets:
            self._count(name)

    def _count(self, name: str) -> None:
        found = PLACEHOLDER.fullmatch(name)
        if found is None:
            raise VaultError(f"the vault holds a record for {name[:60]!r}, which is no placeholder")
        kind, number = name_of(found)
        self._numbers[kind] = max(number, self._numbers.get(kind, 0))

    @property
    def unsaved(self) -> bool:
        return bool(self._unsaved)

    def refresh(self) -> None:
        """Take over what other processes stored, and drop what they revoked."""
        with self._lock:
            found = dict(self._vault.load(self.session))
            for name, secret in found.items():
                mine = self._secrets.get(name)
                if mine is not None and mine.value is not None:
                    mine.tools |= secret.tools
                    mine.hosts |= secret.hosts
                    mine.grants += [grant for grant in secret.grants if grant not in mine.grants]
                    continue
                self._count(name)
                self._secrets[name] = secret
                self._stored.add(name)
                if secret.value is not None:
                    self._learn(name, spellings(secret.value))
            for name in self._stored - found.keys() if self._vault.lasting else ():
                self._drop(self._secrets[name], "revoked")
