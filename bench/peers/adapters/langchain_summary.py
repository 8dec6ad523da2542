"""`SummarizationMiddleware`: what it returns becomes the agent's state, as in a run. The summariser is a stand-in."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain.agents.middleware import SummarizationMiddleware
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langgraph.graph.message import add_messages

from bench.peers.adapters.langchain_messages import Growing, weigher
from bench.peers.contract import Given, Message
from bench.peers.extractive import Extractive

__all__ = ["SETTINGS"]


class StandIn(GenericFakeChatModel):
    """A chat model whose answer is an extract of its prompt."""

    extract: Any = None

    def _generate(self, messages: list[BaseMessage], *given: Any, **more: Any) -> Any:
        self.messages = iter([AIMessage(self.extract("\n".join(str(m.content) for m in messages)))])
        return super()._generate(messages, *given, **more)


class Summary:
    def __init__(self, given: Given, options: Callable[[int], dict[str, Any]]) -> None:
        self.given, self.options = given, options
        self.extract = Extractive(given)
        self.history = Growing()
        self.system: list[Any] = []
        self.state: list[Any] = []
        self.middleware: Any = None

    @property
    def spent(self) -> int:
        return self.extract.spent

    def fit(self, messages: list[Message]) -> list[Message]:
        fresh = self.history.new(messages)
        if self.middleware is None:
            # The system prompt is no part of the state that the middleware sees, nor of its budget.
            self.system, fresh = fresh[: fresh[0].type == "system"], fresh[fresh[0].type == "system" :]
            room = self.given.budget - self.given.counter.messages(messages[: len(self.system)])
            model = StandIn(messages=iter(()), extract=self.extract)
            self.middleware = SummarizationMiddleware(model, **self.options(room))
        self.state = add_messages(self.state, fresh)
        change = self.middleware.before_model({"messages": self.state}, None)
        if change:
            self.state = add_messages(self.state, change["messages"])
        return self.history.read([*self.system, *self.state])


def _fair(given: Given) -> Summary:
    return Summary(
        given,
        lambda room: {
            "trigger": ("tokens", int(0.9 * room)),
            "keep": ("tokens", int(0.5 * room)),
            "token_counter": weigher(given.counter),
            "trim_tokens_to_summarize": None,
        },
    )


SETTINGS = {
    # The trigger has no default that fires; the docs set it by tokens and keep 20 messages.
    "default": lambda given: Summary(given, lambda room: {"trigger": ("tokens", room), "keep": ("messages", 20)}),
    "fair": _fair,
}
