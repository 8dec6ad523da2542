"""smolagents: a model that fits what it is sent, for `ToolCallingAgent` and `CodeAgent`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.integrations.common import MOST, Conversation, Conversations, Current, guarded, missing
from jettison.integrations.smolagents_messages import from_fitted, to_wire
from jettison.policy import Policy
from jettison.protocols import Archive
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer
from jettison.wire.base import digest

if TYPE_CHECKING:
    from jettison.vault import Vault

try:
    from smolagents import Model, Tool
    from smolagents.models import get_tool_json_schema
except ImportError as error:
    raise missing("smolagents 1.26 or newer", "smolagents") from error

__all__ = ["JettisonModel", "recall_tool"]


class JettisonModel(Model):
    """A model whose calls fit: `ToolCallingAgent(tools, JettisonModel(OpenAIModel("gpt-4o"), 32_000))`.

    The agent's memory stays full. The provider's usage flows back; after its overflow error there is one tighter try.
    `policy`: a `Policy`, a `Budget`, or tokens; None: the model's own window. `archive`, `vault`: as for `Session`.
    `conversation`: the key of all that is run; a conversation is known by its instructions and first task, so managed
    agents and planning calls have their own. `most`: conversations that are remembered.

    smolagents turns every error of a model into its AgentGenerationError: CannotFit is its `__cause__`.
    """

    def __init__(
        self,
        model: Any,
        policy: Policy | Budget | int | None = None,
        *,
        archive: Archive | str | PathLike[str] | None = None,
        vault: Vault | None = None,
        conversation: str | None = None,
        most: int = MOST,
    ) -> None:
        # Not the base's `__init__`: what it would set is the wrapped model's.
        self.model = model
        self._conversations = Conversations(policy, wire="openai-chat", archive=archive, vault=vault, most=most)
        self._conversation = conversation
        self._current = Current()
        self.recalls = False
        """An agent of this model has the recall tool. One that writes code names its tools in its prompt alone."""

    @property
    def session(self) -> Conversation | None:
        """Of the last call: in a tool that of the agent that called it. None before the first."""
        return self._current.get()

    def __getattr__(self, name: str) -> Any:
        if name == "model":  # a copy that is not made yet
            raise AttributeError(name)
        if name == "generate_stream":  # smolagents looks whether there is one
            inner = self.model.generate_stream
            return lambda *given, **settings: self._stream(inner, *given, **settings)
        return getattr(self.model, name)

    def generate(self, messages: Sequence[Any], *given: Any, **settings: Any) -> Any:
        settings = _named(given, settings)
        session = self._of(messages)

        def send() -> Any:
            return self.model.generate(_fit(session, messages, settings), **settings)

        answer = guarded(session, send)
        _feed(session, answer)
        return answer

    def _stream(self, inner: Any, messages: Sequence[Any], *given: Any, **settings: Any) -> Iterator[Any]:
        settings = _named(given, settings)
        session = self._of(messages)

        def send() -> tuple[list[Any], Iterator[Any]]:
            events = iter(inner(_fit(session, messages, settings), **settings))
            return [event for event in (next(events, None),) if event is not None], events  # a refusal comes here

        first, events = guarded(session, send)
        for part in (first, events):
            for event in part:
                _feed(session, event)
                yield event

    def parse_tool_calls(self, message: Any) -> Any:
        return self.model.parse_tool_calls(message)

    @property
    def supports_stop_parameter(self) -> bool:
        return bool(self.model.supports_stop_parameter)

    def to_dict(self) -> dict[str, Any]:
        return dict(self.model.to_dict())

    def _of(self, messages: Sequence[Any]) -> Conversation:
        begun = digest([wire["content"] for wire in to_wire(messages[:2]).messages])
        key = f"{self._conversation}/{begun}" if self._conversation else begun
        session = self._conversations.of(key, getattr(self.model, "model_id", None))
        if self.recalls and session.policy.recall is None:
            session.policy = replace(session.policy, recall=True)
        return self._current.set(session)


def recall_tool(model: JettisonModel) -> Tool:
    """The tool `recall_context` for `ToolCallingAgent([..., recall_tool(model)], model)`."""

    given = {key: {**entry, "nullable": True} for key, entry in PARAMETERS["properties"].items()}

    class Recall(Tool):
        name, description, inputs, output_type = NAME, DESCRIPTION, given, "string"

        def forward(self, handle: str = "", query: str = "", lines: str = "", characters: str = "") -> str:
            given = {"handle": handle, "query": query, "lines": lines, "characters": characters}
            session = model.session
            return "Nothing was cut yet." if session is None else recall_answer(session, given)

    model.recalls = True
    return Recall()


def _named(given: Sequence[Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Arguments by name: `Model.generate` may be given them by place too."""
    names = ("stop_sequences", "response_format", "tools_to_call_from")
    return {**dict(zip(names, given, strict=False)), **settings}


def _fit(session: Conversation, messages: Sequence[Any], settings: dict[str, Any]) -> list[Any]:
    wire = to_wire(messages)
    tools = [get_tool_json_schema(tool) for tool in settings.get("tools_to_call_from") or ()]
    fitted = session.fit(wire.messages, tools=tools or None, response_schema=settings.get("response_format"))
    return from_fitted(fitted, wire, messages)


def _feed(session: Conversation, answer: Any) -> None:
    used = getattr(answer, "token_usage", None)
    if used is not None and used.input_tokens:
        session.usage(input_tokens=used.input_tokens)
