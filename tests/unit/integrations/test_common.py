"""What all integrations share, without any framework."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from bench.secrets import made

from jettison import Budget, BudgetUnreachable, ConfigError
from jettison.archive import MemoryArchive
from jettison.errors import SecretRefused
from jettison.integrations.common import Conversation, Conversations, guarded, guarded_async
from jettison.integrations.metering import Meter, feed
from jettison.integrations.overflow import is_overflow
from jettison.vault import Grant, Vault, generate_key

LONG = "It rains a lot in this town. " * 40


def history(turns: int) -> list[dict[str, Any]]:
    said = [({"role": "user", "content": f"{n}: {LONG}"}, {"role": "assistant", "content": LONG}) for n in range(turns)]
    return [{"role": "user", "content": "Start."}, *(message for pair in said for message in pair)]


def test_every_message_says_where_it_came_from() -> None:
    messages = [*history(10), {"role": "user", "content": "And now?"}]
    fitted = Conversation(1_500).fit(messages)
    assert len(fitted.sources) == len(fitted.messages) < len(messages)
    assert fitted.sources[-1] == len(messages) - 1
    for at, message in zip(fitted.sources, fitted.messages, strict=True):
        assert at < 0 or message["role"] == messages[at]["role"]
    seen = Conversation(1_500).fit(messages, observe=True)
    assert seen.sources == tuple(range(len(messages)))


def test_conversations_are_kept_by_key_and_the_oldest_goes() -> None:
    many = Conversations(1_000, wire="openai-chat", most=2)
    one, two = many.of("1"), many.of("2")
    assert many.of("1") is one
    many.of("3")
    assert many.find("2") is None
    assert many.find("1") is one
    assert many.of("2") is not two


def test_in_a_shared_archive_a_conversation_has_its_key_for_a_name() -> None:
    many = Conversations(1_000, wire="openai-chat", archive=MemoryArchive())
    assert (many.of("chat-1").conversation, many.of("chat-2").conversation) == ("chat-1", "chat-2")
    assert many.of("chat-1").archive is many.of("chat-2").archive


def test_without_a_policy_the_model_must_be_known() -> None:
    many = Conversations(None, wire="openai-chat")
    assert many.of("1", "gpt-4o").policy.size.window == 128_000
    with pytest.raises(ConfigError, match="names no model"):
        many.of("2")
    with pytest.raises(ConfigError, match="above 0"):
        Conversations(1, wire="openai-chat", most=0)


class Provider:
    """Refuses more than `window` tokens, by our own count."""

    def __init__(self, session: Conversation, window: int) -> None:
        self.session, self.window, self.sent = session, window, list[int]()
        self.messages = [*history(6), {"role": "user", "content": "And now?"}]

    def __call__(self) -> int:
        size = self.session.fit(self.messages).report.after
        self.sent.append(size)
        if size > self.window:
            raise ValueError("This model's maximum context length is smaller.")
        return size

    async def later(self) -> int:
        return self()


@pytest.mark.parametrize("later", [False, True])
def test_after_an_overflow_there_is_one_tighter_try(later: bool) -> None:
    session = Conversation(Budget(5_000, reserve_output=1_000))
    provider = Provider(session, 3_000)
    size = asyncio.run(guarded_async(session, provider.later)) if later else guarded(session, provider)
    assert [provider.sent[1]] == [size]
    assert provider.sent[0] > 3_000 >= size
    assert session.policy.size.limit == int(provider.sent[0] * 0.75)
    assert session.policy.size.reserve_output == 1_000
    # It stays that tight, and a count of the provider below ours opens nothing again.
    session.usage(input_tokens=1)
    assert provider() <= 3_000


@pytest.mark.parametrize("later", [False, True])
def test_a_second_overflow_is_handed_on(later: bool) -> None:
    session = Conversation(4_000)
    provider = Provider(session, 100)
    with pytest.raises(ValueError, match="maximum context length"):
        asyncio.run(guarded_async(session, provider.later)) if later else guarded(session, provider)
    assert len(provider.sent) == 2


def test_when_nothing_is_tighter_the_providers_error_is_raised_with_ours_as_its_cause() -> None:
    session = Conversation(4_000)
    provider = Provider(session, 100)
    provider.messages = [{"role": "user", "content": LONG}]
    with pytest.raises(ValueError, match="maximum context length") as raised:
        guarded(session, provider)
    assert isinstance(raised.value.__cause__, BudgetUnreachable)
    assert len(provider.sent) == 1


@pytest.mark.parametrize("error", [KeyError("x"), ValueError("rate limit: too many requests"), BudgetUnreachable(2, 1)])
def test_other_errors_are_not_tried_again(error: Exception) -> None:
    tries = []

    def send() -> None:
        tries.append(1)
        raise error

    with pytest.raises(type(error)):
        guarded(Conversation(100), send)
    assert len(tries) == 1


class ContextWindowExceededError(Exception):
    pass


class Status(Exception):
    def __init__(self, status_code: int, text: str) -> None:
        self.status_code = status_code
        super().__init__(text)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (ContextWindowExceededError(), True),
        (Status(400, "prompt is too long: 205000 tokens > 200000 maximum"), True),
        (Status(400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"), True),
        (Status(400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."), True),
        (Status(400, "Error code: 400 - {'error': {'code': 'context_length_exceeded'}}"), True),
        (Status(400, "Your input exceeds the context window of this model."), True),
        (Status(400, "Input is too long for requested model."), True),
        (Status(429, "maximum context length"), False),
        (Status(400, "max_tokens must be positive"), False),
        (Status(401, "the key is wrong"), False),
    ],
)
def test_what_an_overflow_is(error: Exception, expected: bool) -> None:
    assert is_overflow(error) is expected


def used(wire: str, data: bytes, size: int = 7) -> float:
    """The ratio after a body came in pieces of `size` bytes, ours being the size of the request."""
    session = Conversation(10_000, wire=wire)
    body: dict[str, Any] = {"parts": [{"text": LONG}]} if wire == "gemini" else {"content": LONG}
    session.fit([{"role": "user", **body}])
    meter = Meter(session)
    for start in range(0, len(data), size):
        meter.take(data[start : start + size])
    meter.end()
    return session._ratio


@pytest.mark.parametrize("size", [1, 7, 10_000])
@pytest.mark.parametrize(
    ("wire", "data"),
    [
        ("openai-chat", b'{"choices": [], "usage": {"prompt_tokens": 100000}}'),
        ("openai-chat", b'data: {"choices": []}\n\ndata: {"usage": {"prompt_tokens": 100000}}\n\ndata: [DONE]\n\n'),
        ("openai-chat", b'\r\n\r\ndata: {"usage": {"prompt_tokens": 100000}}\r\n\r\n'),
        ("openai-responses", b'event: x\ndata: {"response": {"usage": {"input_tokens": 100000}}}\n\n'),
        ("anthropic", b'data: {"message": {"usage": {"input_tokens": 1, "cache_read_input_tokens": 100000}}}\n\n'),
        ("gemini", b'data: {"usageMetadata": {"promptTokenCount": 100000}}'),
    ],
)
def test_usage_is_read_as_it_passes_by(wire: str, data: bytes, size: int) -> None:
    assert used(wire, data, size) == 2.0  # the most that is believed


@pytest.mark.parametrize(
    "data", [b"", b"{", b"<html>", b'data: {"usage": nothing}\n\n', b'{"usage": {"prompt_tokens": "9"}}']
)
def test_what_is_no_usage_is_passed_over(data: bytes) -> None:
    assert used("openai-chat", data) == 1.0


def test_a_meter_for_nobody_takes_nothing() -> None:
    meter = Meter(None)
    meter.take(b'{"usage": {"prompt_tokens": 1}}')
    meter.end()
    feed(Conversation(100), {})


def told(token: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"My token is {token}"}]


def test_each_conversation_has_secrets_of_its_own() -> None:
    vault = Vault(rule_sets=(), grants=[Grant("github-token", ["login"])])
    sessions = Conversations(10_000, wire="openai-chat", vault=vault)
    tokens = {name: made("github", name) for name in ("a", "b")}
    for name, token in tokens.items():
        assert token not in str(sessions.of(name).fit(told(token)).messages)
    name = "{{secret:github-token:1}}"
    for key, token in tokens.items():
        session = sessions.of(key)
        assert session.filled("login", {"token": name}) == {"token": token}
        assert json.loads(session.filled("login", json.dumps({"token": name}))) == {"token": token}
        with pytest.raises(SecretRefused):
            session.filled("send_mail", {"text": name})
        assert session.cleaned([f"x{token}", {"id": token}]) == [f"x{name}", {"id": token}]
        clean = ["nothing", {"a": 1}]
        assert session.cleaned(clean) is clean


def test_without_a_vault_arguments_and_texts_are_as_they_are() -> None:
    session, arguments = Conversations(10_000, wire="openai-chat").of("a"), {"token": "{{secret:github-token:1}}"}
    assert session.filled("login", arguments) == arguments
    assert session.cleaned(arguments) is arguments
    assert session.vaulted([arguments], "Be brief.") == ([arguments], "Be brief.")


def test_a_forgotten_conversation_finds_its_secrets_in_a_vault_that_lasts(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="needs jettison[vault]")
    vault = Vault(tmp_path / "secrets.db", keys=generate_key(), rule_sets=(), grants=[Grant("*", ["login"])])
    sessions = Conversations(10_000, wire="openai-chat", vault=vault, most=1)
    token = made("github", "kept")
    sessions.of("a").fit(told(token))
    sessions.of("b").fit(told(made("github", "other")))
    assert sessions.find("a") is None
    assert sessions.of("a").filled("login", {"token": "{{secret:github-token:1}}"}) == {"token": token}
