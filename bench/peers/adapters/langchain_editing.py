"""`ContextEditingMiddleware` with `ClearToolUsesEdit`: edits a copy of the whole history before each call."""

from __future__ import annotations

from typing import Any

from langchain.agents.middleware import ClearToolUsesEdit, ContextEditingMiddleware, ModelRequest
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import SystemMessage

from bench.peers.adapters.langchain_messages import Growing, weigher
from bench.peers.contract import Given, Message

__all__ = ["SETTINGS"]


class Editing:
    def __init__(self, **options: Any) -> None:
        self.middleware = ContextEditingMiddleware(**options)
        self.history = Growing()
        self.model = FakeListChatModel(responses=["never asked"])

    def fit(self, messages: list[Message]) -> list[Message]:
        self.history.new(messages)
        made = self.history.made
        system = made[0] if made and isinstance(made[0], SystemMessage) else None
        request = ModelRequest(model=self.model, messages=made[1:] if system else made, system_message=system)
        sent: list[Any] = []

        def handler(edited: Any) -> Any:
            sent.extend([edited.system_message] if edited.system_message else [])
            sent.extend(edited.messages)
            return None

        self.middleware.wrap_model_call(request, handler)
        return self.history.read(sent)


def _fair(given: Given) -> Editing:
    # The system message is not in what the counter sees; it is part of the head, so the trigger is that much lower.
    edit = ClearToolUsesEdit(trigger=given.budget, keep=3)
    weigh = weigher(given.counter)
    editing = Editing(edits=[edit], token_counter=weigh)

    def with_system(messages: Any) -> int:
        made = editing.history.made
        return int(weigh(messages)) + (int(weigh(made[:1])) if made and isinstance(made[0], SystemMessage) else 0)

    editing.middleware.token_counter = with_system
    return editing


SETTINGS = {
    "default": lambda given: Editing(),  # the trigger is 100,000 tokens, whatever the model's window
    "fair": _fair,
}
