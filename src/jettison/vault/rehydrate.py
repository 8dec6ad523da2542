"""Putting values back into calls that may have them, whole or as they stream in."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Protocol
from urllib.parse import quote

from jettison.errors import InvalidInput, SecretRefused
from jettison.vault.grants import Grant, hosts_of, refusal
from jettison.vault.placeholders import PLACEHOLDER, open_end

__all__ = ["Rehydrator", "Secrets", "rehydrated"]


class Secrets(Protocol):
    """What rehydration asks of a session's vault."""

    def grants(self, name: str) -> list[Grant]: ...

    def value(self, name: str) -> str: ...


def rehydrated(call: Any, secrets: Secrets) -> Any:
    """The call with real values. Shapes: a tool call of any of the wires, as a dict or an SDK object.

    Raises SecretRefused, SecretGone; InvalidInput for what is no tool call.
    """
    data = _plain(call)
    return _filled_call(data, secrets)


def _plain(call: Any) -> dict[str, Any]:
    if isinstance(call, Mapping):
        return dict(call)
    dump = getattr(call, "model_dump", None)
    if dump is None:
        raise InvalidInput(f"a tool call must be a dict or have model_dump(), not {type(call).__name__}")
    dumped: dict[str, Any] = dump(mode="json", exclude_unset=True)
    return dumped


def _filled_call(call: dict[str, Any], secrets: Secrets) -> dict[str, Any]:
    for outer in ("function", "custom", "functionCall", "function_call"):  # chat, chat custom, Gemini, legacy chat
        inner = call.get(outer)
        if isinstance(inner, Mapping):
            return {**call, outer: _filled_call(dict(inner), secrets)}
    name = call.get("name")
    if not isinstance(name, str):
        raise InvalidInput("a tool call needs a name: pass it as the provider gave it")
    for field in ("arguments", "input", "args"):  # chat and Responses; Anthropic and custom; Gemini
        if field in call:
            return {**call, field: filled(call[field], name, secrets, text_is_json=field == "arguments")}
    return dict(call)


def filled(arguments: Any, tool: str, secrets: Secrets, *, text_is_json: bool) -> Any:
    """Arguments with real values; JSON text stays JSON text."""
    if not isinstance(arguments, str):
        return _Filling(tool, secrets, hosts_of(arguments)).walk(arguments, "")
    if text_is_json:
        try:
            parsed = json.loads(arguments)
        except (ValueError, RecursionError):
            parsed = None
        if isinstance(parsed, dict | list):
            new = _Filling(tool, secrets, hosts_of(parsed)).walk(parsed, "")
            return arguments if new == parsed else json.dumps(new, ensure_ascii=False)
    return _Filling(tool, secrets, hosts_of(arguments)).text(arguments, "")


class _Filling:
    """One call: which secrets go where."""

    def __init__(self, tool: str, secrets: Secrets, hosts: Collection[str]) -> None:
        self.tool, self.secrets, self.hosts = tool, secrets, hosts

    def walk(self, value: Any, path: str) -> Any:
        if isinstance(value, str):
            return self.text(value, path)
        if isinstance(value, dict):
            for key in value:
                if isinstance(key, str) and (found := PLACEHOLDER.search(key)) is not None:
                    raise SecretRefused(
                        f"{found.group()} stands in the name of an argument: put it into a value",
                        found.group(),
                        self.tool,
                    )
            return {key: self.walk(inner, f"{path}.{key}" if path else str(key)) for key, inner in value.items()}
        if isinstance(value, list):
            return [self.walk(inner, f"{path}.{n}" if path else str(n)) for n, inner in enumerate(value)]
        return value

    def text(self, text: str, path: str) -> str:
        out, at = [], 0
        for found in PLACEHOLDER.finditer(text):
            value = self.value(found.group(), path)
            out += [text[at : found.start()], quote(value, safe="") if in_url(text, found.start()) else value]
            at = found.end()
        return "".join([*out, text[at:]]) if out else text

    def value(self, name: str, path: str) -> str:
        """The value, if it may go there."""
        grants = self.secrets.grants(name)
        if not any(grant.allows(self.tool, path, self.hosts) for grant in grants):
            message = refusal(name, self.tool, path, sorted(self.hosts), grants)
            raise SecretRefused(message, name, self.tool, sorted(self.hosts))
        return self.secrets.value(name)


def in_url(text: str, at: int) -> bool:
    """Whether a place is inside a URL: there a value is percent-encoded."""
    start = text.rfind("://", max(0, at - 2000), at)
    return start >= 0 and not any(char.isspace() or char in "\"'<>" for char in text[start:at])


class Rehydrator:
    """Puts values into the arguments of one call as they stream in, wherever the pieces are cut.

    `feed` returns what can go on at once: everything up to the first placeholder. From there on it holds back until
    `close`, as what follows may name a host that must not have the secret. The pieces together are what
    `Keeper.rehydrate` makes of the whole, but for the spacing of JSON.
    """

    def __init__(self, secrets: Secrets, tool: str, *, json: bool = True) -> None:
        self._secrets, self._tool, self._json = secrets, tool, json
        self._passed: list[str] = []
        self._held = ""
        self._holding = False

    def feed(self, delta: str) -> str:
        """The part that is certain now; may be empty."""
        if self._holding:
            self._passed.append(delta)
            return ""
        text = self._held + delta
        found = PLACEHOLDER.search(text)
        end = found.start() if found is not None else open_end(text)
        if self._json and found is None:
            end = _before_escape(text, end)
        out, self._held = text[:end], text[end:]
        self._passed.append(out)
        if found is not None:
            self._holding = True
            self._passed.append(self._held)
            self._sent = sum(map(len, self._passed)) - len(self._held)
        return out

    def close(self) -> str:
        """The rest. Raises SecretRefused or SecretGone: then nothing of the rest, and no secret, was passed on."""
        if not self._holding:
            rest, self._held = self._held, ""
            return rest
        whole, self._passed, self._holding, self._held = "".join(self._passed), [], False, ""
        rest = whole[self._sent :]
        hosts, parsed = hosts_of(whole), None
        if self._json:
            try:
                parsed = json.loads(whole)
            except (ValueError, RecursionError):
                parsed = None
        if parsed is not None:
            hosts = hosts_of(parsed)
        filling = _Filling(self._tool, self._secrets, hosts)
        if parsed is not None:
            filling.walk(parsed, "")  # every place of every secret, or an error
        out, at = [], 0
        for found in PLACEHOLDER.finditer(rest):
            value = self._value(filling, found.group(), parsed is not None)
            start = self._sent + found.start()
            if in_url(whole, start):
                value = quote(value, safe="")
            out += [rest[at : found.start()], json.dumps(value, ensure_ascii=False)[1:-1] if self._json else value]
            at = found.end()
        return "".join([*out, rest[at:]])

    def _value(self, filling: _Filling, name: str, checked: bool) -> str:
        return self._secrets.value(name) if checked else filling.value(name, "")


def _before_escape(text: str, end: int) -> int:
    """Not in the middle of an escape of JSON: a brace may be written as one."""
    at = text.rfind("\\", max(0, end - 6), end)
    return at if at >= 0 and end - at < 6 and text[at + 1 : at + 2] in ("", "u") else end
