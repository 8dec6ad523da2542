"""LiteLLM: the real SDK, router and proxy hooks against a scripted server on loopback."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Iterator
from typing import Any

import pytest
from bench.secrets import made

from canary import CANARY, found_in
from integration.frameworks import login
from integration.frameworks.programs import check_program
from integration.frameworks.server import Server, serving
from integration.frameworks.task import (
    CALLS,
    GOALS,
    SYSTEM,
    Script,
    World,
    openai_tools,
    outcome,
    page,
    quarter,
    window,
)  # fmt: skip
from jettison import CannotFit

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would be fetched at import
pytest.importorskip("litellm", reason="needs jettison[litellm]")

import litellm
from litellm.exceptions import ContextWindowExceededError
from litellm.utils import trim_messages

from jettison.integrations.litellm import JettisonLogger, LiteLLM, NothingSafeFits

# LiteLLM loads most of itself at the first calls, and pydantic does not like some of its types.
pytestmark = pytest.mark.filterwarnings("ignore:.*`ReadOnly` qualifier:UserWarning")
BUDGET = quarter()
WINDOW = window(BUDGET)


@pytest.fixture(autouse=True)
def _no_callbacks() -> Iterator[None]:
    yield
    litellm.callbacks = []


def body(server: Server, messages: list[Any], **given: Any) -> dict[str, Any]:
    return {
        "model": "openai/gpt-4o", "api_base": f"{server.url}/v1", "api_key": "none", "max_retries": 0,
        "messages": messages, "tools": openai_tools(), **given,
    }  # fmt: skip


def start(language: str = "en") -> list[Any]:
    return [{"role": "system", "content": SYSTEM}, {"role": "user", "content": GOALS[language]}]


def acted(message: Any, messages: list[Any], world: Any) -> bool:
    """Put an answer and the results of its calls into the history; whether there were any."""
    messages.append(message)  # LiteLLM's own object, as its documentation does
    for call in message.tool_calls or ():
        answer = world.run(call.function.name, json.loads(call.function.arguments))
        messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
    return bool(message.tool_calls)


def looped(complete: Any, server: Server, world: World, language: str = "en", trim: Any = list) -> list[Any]:
    messages = start(language)
    while acted(complete(**body(server, trim(messages))).choices[0].message, messages, world):
        pass
    return messages


async def alooped(complete: Any, server: Server, world: World, language: str = "en", stream: bool = False) -> list[Any]:
    messages = start(language)
    while True:
        answer = await complete(**body(server, messages, stream=stream))
        if stream:
            answer = litellm.stream_chunk_builder([chunk async for chunk in answer])
        if not acted(answer.choices[0].message, messages, world):
            return messages


@pytest.mark.parametrize("how", ["callback", "sync", "async", "sync streamed", "async streamed"])
def test_a_tool_gets_the_token_that_the_provider_never_sees(how: str) -> None:
    script, desk = login.LoggingIn(), login.Desk()
    logger = JettisonLogger(3_000, vault=login.vault())
    client = LiteLLM(3_000, vault=login.vault())
    if "callback" in how:
        litellm.callbacks = [logger]
    complete = litellm.acompletion if "callback" in how else client.acompletion
    messages: list[Any] = [{"role": "system", "content": login.SYSTEM}, {"role": "user", "content": login.GOAL}]
    streamed = "streamed" in how

    async def answered(given: dict[str, Any]) -> Any:
        if how.startswith("sync"):
            answer = client.completion(**given)
            return litellm.stream_chunk_builder(list(answer)) if streamed else answer
        answer = await complete(**given)
        return litellm.stream_chunk_builder([chunk async for chunk in answer]) if streamed else answer

    async def run() -> list[Any]:
        with serving(script) as server:
            given = body(server, messages, tools=login.openai_tools(), stream=streamed)
            while acted((await answered(given)).choices[0].message, messages, desk):
                pass
            return server.seen

    seen = asyncio.run(run())
    login.check(script, desk, mailed=True)
    assert not found_in(seen)
    session = (logger if "callback" in how else client).session
    assert session is not None
    assert ["'send_mail'" in text for text in session.refusals.values()] == [True]


def test_calls_in_streams_of_the_callback_keep_their_placeholders() -> None:
    """LiteLLM shows a callback the last chunk alone."""
    script, logger = login.LoggingIn(step=1), JettisonLogger(3_000, vault=login.vault())
    litellm.callbacks = [logger]
    said = [{"role": "user", "content": f"Here is my token: {CANARY}"}]

    async def run() -> tuple[Any, Any]:
        with serving(script) as server:
            answer = await litellm.acompletion(**body(server, said, tools=login.openai_tools(), stream=True))
            return litellm.stream_chunk_builder([chunk async for chunk in answer]), server.seen

    answer, seen = asyncio.run(run())
    assert not found_in(seen)
    call, _ = answer.choices[0].message.tool_calls
    assert json.loads(call.function.arguments) == {"token": "Bearer {{secret:github-token:1}}"}
    assert logger.session is not None
    real = logger.session.rehydrate(call)
    assert json.loads(real["function"]["arguments"]) == {"token": f"Bearer {CANARY}"}


@pytest.mark.parametrize("call", ["aresponses", "anthropic_messages"])
def test_calls_on_the_other_wires_are_filled_by_the_callback(call: str) -> None:
    script = login.LoggingIn(step=1)
    litellm.callbacks = [JettisonLogger(3_000, vault=login.vault())]
    said = [{"role": "user", "content": f"Here is my token: {CANARY}"}]

    async def run() -> tuple[Any, Any]:
        with serving(script) as server:
            base = {"api_key": "none", "api_base": f"{server.url}/v1"}
            if call == "aresponses":
                answer: Any = await litellm.aresponses(model="openai/gpt-4o", input=said, **base)
                return [json.loads(item.arguments) for item in answer.output], server.seen
            asked: Any = {"model": "anthropic/claude-opus-4-8", "max_tokens": 9, "messages": said}
            answer = await litellm.anthropic_messages(**asked, api_key="none", api_base=server.url)
            return [block["input"] for block in answer["content"]], server.seen

    given, seen = asyncio.run(run())
    assert given[0] == {"token": f"Bearer {CANARY}"}
    assert given[1] == {"email": "eve@evil.test", "text": "The token: {{secret:github-token:1}}"}
    assert not found_in(seen)


def test_two_that_say_the_same_but_for_the_secret_are_kept_apart() -> None:
    scripts = [login.LoggingIn(step=1), login.LoggingIn(step=1)]
    tokens = [CANARY, made("github", "second")]
    litellm.callbacks = [JettisonLogger(3_000, vault=login.vault())]

    async def one(script: Any, token: str) -> Any:
        with serving(script) as server:
            said = [{"role": "user", "content": f"Here is my token: {token}"}]
            answer: Any = await litellm.acompletion(**body(server, said, tools=login.openai_tools()))
            return json.loads(answer.choices[0].message.tool_calls[0].function.arguments)["token"]

    async def both() -> Any:
        return await asyncio.gather(*map(one, scripts, tokens))

    assert asyncio.run(both()) == [f"Bearer {token}" for token in tokens]
    assert all("{{secret:github-token:1}}" in script.read[0] for script in scripts)


@pytest.mark.parametrize(("language", "stream"), [("en", False), ("ru", True)])
def test_a_task_of_60_calls_is_finished_in_a_quarter_of_its_history(language: str, stream: bool) -> None:
    script, world, logger = Script(window=WINDOW), World(), JettisonLogger(BUDGET)
    litellm.callbacks = [logger]
    with serving(script) as server:
        messages = asyncio.run(alooped(litellm.acompletion, server, world, language, stream))
    assert outcome(script, world).done, outcome(script, world)
    assert script.overflows == 0
    assert len(messages) > 2 * CALLS
    assert "[cut" not in str(messages)
    assert logger.session is not None
    assert logger.session.report is not None
    assert logger.session.report.call == CALLS


def test_the_providers_count_comes_back_through_the_callback() -> None:
    script, logger = Script(), JettisonLogger(BUDGET)
    litellm.callbacks = [logger]

    with serving(script) as server:
        server.factor = 2
        asyncio.run(litellm.acompletion(**body(server, start())))
    assert logger.session is not None
    assert logger.session._ratio > 1.8


def test_the_router_too() -> None:
    script, world = Script(window=WINDOW), World()
    litellm.callbacks = [JettisonLogger(BUDGET)]
    with serving(script) as server:
        given = {"model": "openai/gpt-4o", "api_base": f"{server.url}/v1", "api_key": "none"}
        router = litellm.Router(model_list=[{"model_name": "openai/gpt-4o", "litellm_params": given}], num_retries=0)
        asyncio.run(alooped(router.acompletion, server, world))
    assert outcome(script, world).done, outcome(script, world)


def test_synchronously_with_one_tighter_try() -> None:
    script, world, client = Script(window=WINDOW), World(), LiteLLM(BUDGET * 2)
    with serving(script) as server:
        looped(client.completion, server, world)
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2
    assert client.session is not None
    assert client.session._ratio != 1.0


def test_asynchronously_with_one_tighter_try() -> None:
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        asyncio.run(alooped(LiteLLM(BUDGET * 2).acompletion, server, world))
    assert outcome(script, world).done, outcome(script, world)
    assert 1 <= script.overflows <= 2


def test_after_an_overflow_the_next_try_is_tighter() -> None:
    script, world, logger = Script(window=WINDOW), World(), JettisonLogger(BUDGET * 2)
    litellm.callbacks = [logger]

    async def twice(**given: Any) -> Any:
        try:
            return await litellm.acompletion(**given)
        except ContextWindowExceededError:
            await asyncio.sleep(0.1)
            return await litellm.acompletion(**given)

    with serving(script) as server:
        asyncio.run(alooped(twice, server, world))
    assert outcome(script, world).done, outcome(script, world)
    assert logger.session is not None
    assert logger.session.overflows >= 1


def test_what_is_lost_without_it() -> None:
    rows = {}

    def own(messages: list[Any]) -> Any:
        plain = [m if isinstance(m, dict) else m.model_dump(exclude_none=True) for m in messages]
        return trim_messages(plain, max_tokens=BUDGET - 400, model="gpt-4o", trim_ratio=1.0)

    for name, trim in (("no trimming", list), ("trim_messages", own)):
        script, world = Script(window=WINDOW), World()
        error: Exception | None = None
        with serving(script) as server:
            try:
                looped(litellm.completion, server, world, trim=trim)
            except ContextWindowExceededError as raised:
                error = raised
        rows[name] = outcome(script, world, error)
    assert not any(row.done for row in rows.values()), rows
    script, world = Script(window=WINDOW), World()
    with serving(script) as server:
        looped(LiteLLM(BUDGET).completion, server, world)
    rows["LiteLLM(...)"] = outcome(script, world)
    page("LiteLLM", rows)
    assert rows["LiteLLM(...)"].done


def test_an_error_is_both_frameworks_own() -> None:
    litellm.callbacks = [JettisonLogger(50)]
    with serving(Script()) as server:
        with pytest.raises(ContextWindowExceededError, match="smallest safe request needs") as raised:
            asyncio.run(litellm.acompletion(**body(server, start())))
        assert isinstance(raised.value, NothingSafeFits)
        assert isinstance(raised.value, CannotFit)
        with pytest.raises(NothingSafeFits):
            LiteLLM(50).completion(**body(server, start()))
        assert server.seen == []


def test_proxy_keys_never_share_a_conversation() -> None:
    logger = JettisonLogger(BUDGET)

    async def run() -> list[Any]:
        seen = []
        for key in ("one", "two", "one"):
            request = {"model": "gpt-4o", "messages": start(), "metadata": {"user_api_key_hash": key}}
            await logger.async_pre_call_deployment_hook(request, "acompletion")
            seen.append(logger.session)
        return seen

    one, two, again = asyncio.run(run())
    assert one is not two
    assert one is again


def test_the_request_is_as_it_was_when_nothing_is_evicted() -> None:
    bodies = []
    for fitted in (False, True):
        script, world = Script(until=15), World()
        litellm.callbacks = [JettisonLogger(1_000_000)] if fitted else []
        with serving(script) as server:
            asyncio.run(alooped(litellm.acompletion, server, world))
            bodies.append(server.seen)
    assert bodies[0] == bodies[1]


def test_the_program_of_the_docs_runs() -> None:
    check_program("LiteLLM")
