"""Pydantic AI: a capability that fits what each model request is sent, and a history processor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import Any

from jettison.budget import Budget
from jettison.errors import CannotFit
from jettison.integrations.common import MOST, Conversation, Conversations, missing
from jettison.integrations.overflow import is_overflow
from jettison.integrations.pydantic_ai_messages import Placed, from_fitted, to_tools, to_wire
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

try:
    from pydantic_ai import FunctionToolset, RunContext, Tool
    from pydantic_ai.capabilities import AbstractCapability
    from pydantic_ai.exceptions import ModelContextWindowExceededError, RetryModelRequest
except ImportError as error:
    raise missing("pydantic-ai 2.68 or newer", "pydantic-ai") from error

__all__ = ["Jettison", "NothingSafeFits", "history_processor"]


class NothingSafeFits(CannotFit, ModelContextWindowExceededError):
    """No safe context fits: Jettison's error and Pydantic AI's, so that a fallback model may take over."""

    def __init__(self, model_name: str, error: CannotFit) -> None:
        ModelContextWindowExceededError.__init__(self, model_name, str(error))
        self.report = error.report


class Jettison(AbstractCapability[Any]):
    """`Agent(model, capabilities=[Jettison(32_000)])`: each attempt at a request is sent what fits.

    The run's messages stay full. The provider's usage flows back; after its overflow error the request is tried once
    more, tighter. `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own window. `archive`: as for
    `Session`. `recall`: give the agent the tool `recall_context`. `most`: conversations that are remembered, by their
    `conversation_id`. Put it last, so that it sees what other capabilities made of the request.

    Raises NothingSafeFits, which is a `ModelContextWindowExceededError` and a `CannotFit`.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        recall: bool = False,
        most: int = MOST,
    ) -> None:
        self._conversations = Conversations(policy, wire="openai-chat", archive=archive, most=most)
        self._recall = recall
        self._refused: dict[str, tuple[int, Exception]] = {}
        self.session: Conversation | None = None
        """Of the last request."""

    async def prepare_model_request(self, ctx: Any, request_context: Any) -> Any:
        request = request_context
        session = self.session = self._of(ctx, request.messages, request.model.model_name)
        parameters = request.model_request_parameters
        said = [part.content for part in parameters.instruction_parts or ()]
        wire = to_wire(request.messages, "\n\n".join(said))
        schema = parameters.output_object.json_schema if parameters.output_object is not None else None
        try:
            fitted = await session.afit(wire.messages, tools=to_tools(parameters) or None, response_schema=schema)
        except CannotFit as error:
            step, refused = self._refused.pop(_key(ctx, request.messages), (None, None))
            if refused is not None and step == ctx.run_step:
                raise refused from error
            raise NothingSafeFits(request.model.model_name, error) from error
        return replace(request, messages=from_fitted(fitted, wire, request.messages))

    async def after_model_request(self, ctx: Any, *, request_context: Any, response: Any) -> Any:
        self._refused.pop(_key(ctx, ctx.messages), None)
        session = self._conversations.find(_key(ctx, ctx.messages))
        if session is not None and response.usage.input_tokens:
            session.usage(input_tokens=response.usage.input_tokens)
        return response

    async def on_model_request_error(self, ctx: Any, *, request_context: Any, error: Exception) -> Any:
        key = _key(ctx, ctx.messages)
        session = self._conversations.find(key)
        if session is None or not is_overflow(error) or self._refused.get(key, (None,))[0] == ctx.run_step:
            raise error
        self._refused[key] = (ctx.run_step, error)
        session.tighten()
        raise RetryModelRequest from error

    def get_toolset(self) -> Any:
        if not self._recall:
            return None

        async def recall_context(ctx: RunContext[Any], **given: Any) -> str:
            return recall_answer(self._of(ctx, ctx.messages, None), given)

        made = Tool.from_schema(recall_context, NAME, DESCRIPTION, dict(PARAMETERS), takes_ctx=True)
        return FunctionToolset([made], id="jettison")

    def _of(self, ctx: Any, messages: Sequence[Any], model: str | None) -> Conversation:
        return self._conversations.of(_key(ctx, messages), model)


def history_processor(
    policy: Policy | Budget | int,
    *,
    tools: Sequence[dict[str, Any]] = (),
    archive: Archive | str | PathLike[str] | None = None,
    model: str | None = None,
    most: int = MOST,
) -> Callable[[Any, list[Any]], Awaitable[list[Any]]]:
    """For `ProcessHistory(history_processor(32_000))`: Pydantic AI then keeps the fitted messages in the run, too.

    It does not show a processor tools nor usage: `tools` (as Chat Completions declares them) are counted. An overflow
    error is not tried again. Prefer `Jettison`.
    """
    conversations = Conversations(policy, wire="openai-chat", archive=archive, most=most)

    async def process(ctx: RunContext[Any], messages: list[Any]) -> list[Any]:
        session = conversations.of(_key(ctx, messages), model)
        said = next((text for message in reversed(messages) if (text := getattr(message, "instructions", None))), None)
        wire: Placed = to_wire(messages, said)
        fitted = await session.afit(wire.messages, tools=list(tools) or None)
        return from_fitted(fitted, wire, messages)

    return process


def _key(ctx: Any, messages: Sequence[Any]) -> str:
    """The conversation's own id; agents that call one another in it are kept apart by how theirs began."""
    first = messages[0].parts[0] if messages and messages[0].parts else None
    return f"{ctx.conversation_id}/{digest(str(getattr(first, 'content', first)))}"
