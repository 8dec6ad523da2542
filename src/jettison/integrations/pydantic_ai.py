"""Pydantic AI: a capability that fits what each model request is sent, and a history processor."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import CannotFit, SecretGone, SecretRefused
from jettison.integrations.common import MOST, Conversation, Conversations, missing
from jettison.integrations.overflow import is_overflow
from jettison.integrations.pydantic_ai_messages import Placed, from_fitted, to_tools, to_wire, without_secrets
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

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
    more, tighter. `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own window. `archive`, `vault`:
    as for `Session`; tools get the values of placeholders. `recall`: give the agent the tool `recall_context`.
    `most`: conversations that are remembered, by their `conversation_id`. Put it last, so that it sees what other
    capabilities made of the request.

    Raises NothingSafeFits, which is a `ModelContextWindowExceededError` and a `CannotFit`.
    """

    def __init__(
        self,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        recall: bool = False,
        most: int = MOST,
    ) -> None:
        self._conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
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
        messages = from_fitted(fitted, wire, request.messages)
        if session.vault is None:
            return replace(request, messages=messages)
        return replace(request, **without_secrets(session.cleaned, messages, parameters))

    async def before_tool_validate(self, ctx: Any, *, call: Any, tool_def: Any, args: Any) -> Any:
        """With a vault: the tool gets the values of placeholders, where it may have them. The call in the history
        keeps its placeholders."""
        session = self._conversations.find(_key(ctx, ctx.messages))
        if session is None or not args:
            return args
        try:
            return session.filled(call.tool_name, args)
        except (SecretRefused, SecretGone):
            return args  # `wrap_tool_execute` says it: here it would count as a try

    async def wrap_tool_execute(self, ctx: Any, *, call: Any, tool_def: Any, args: Any, handler: Any) -> Any:
        """The tool's answer, or why it may not have a secret."""
        session = self._conversations.find(_key(ctx, ctx.messages))
        if session is not None and call.args:
            try:
                session.filled(call.tool_name, call.args)
            except (SecretRefused, SecretGone) as refused:
                return str(refused)
        return await handler(args)

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
    vault: Vault | None = None,
    model: str | None = None,
    most: int = MOST,
) -> Callable[[Any, list[Any]], Awaitable[list[Any]]]:
    """For `ProcessHistory(history_processor(32_000))`: Pydantic AI then keeps the fitted messages in the run, too.

    It does not show a processor tools nor usage: `tools` (as Chat Completions declares them) are counted. An overflow
    error is not tried again. Prefer `Jettison`.
    """
    conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)

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
