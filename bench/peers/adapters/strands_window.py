"""`strands` `SlidingWindowConversationManager`: it edits the agent's messages, which stay as it left them.

Its window is a number of messages; tokens come in when the provider refuses a request. So a request above the budget is
refused here, by our count, and the manager is asked to reduce, again and again, as the agent's loop does.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from strands.agent.conversation_manager import SlidingWindowConversationManager
from strands.types.exceptions import ContextWindowOverflowException

from bench.peers.adapters.converse import Conversation, weight
from bench.peers.contract import Given, Message

__all__ = ["SETTINGS"]


class Window:
    def __init__(self, given: Given, **options: Any) -> None:
        self.given = given
        self.manager = SlidingWindowConversationManager(**options)
        self.conversation = Conversation()
        self.agent = SimpleNamespace(messages=[])

    def fit(self, messages: list[Message]) -> list[Message]:
        self.agent.messages += self.conversation.new(messages)
        self.manager.apply_management(self.agent)
        room = self.given.budget - self.given.counter.messages(self.conversation.system)
        while weight(self.given.counter, self.agent.messages) > room:
            refused = ContextWindowOverflowException("the request is above the budget")
            self.manager.reduce_context(self.agent, e=refused)
        return self.conversation.read(self.agent.messages)


SETTINGS = {
    "default": lambda given: Window(given),
    "fair": lambda given: Window(given, window_size=100_000, pin_first=1),  # only the budget cuts; the task is pinned
}
