"""`cutctx`: a plan over the whole history before each call, with a stand-in for the summary that it asks its user for.

A turn of the assistant with its calls and their results is one exchange, as its documentation wants it.
"""

from __future__ import annotations

from typing import Any

from cutctx import (
    CharRatioEstimator,
    CompactionBudget,
    CompactionExecutor,
    DropOldestPolicy,
    Role,
    Transcript,
    TranscriptTurn,
    default_chain,
)

from bench.peers.contract import Given, Message
from bench.peers.extractive import Extractive

__all__ = ["SETTINGS"]


class Plan:
    def __init__(self, given: Given, policy: Any, count: Any, pinned: int = 0, **options: Any) -> None:
        self.policy, self.count, self.pinned = policy, count, pinned
        self.budget = CompactionBudget(given.budget, **options)
        self.extract = Extractive(given)
        self.turns: list[Any] = []
        self.exchange: str | None = None

    @property
    def spent(self) -> int:
        return self.extract.spent

    def fit(self, messages: list[Message]) -> list[Message]:
        for message in messages[len(self.turns) :]:
            self.turns.append(self._turn(message, len(self.turns)))
        transcript = Transcript(tuple(self.turns))
        plan = self.policy.decide(transcript, self.budget)
        by_id = {turn.turn_id: turn for turn in self.turns}
        summaries = {
            asked.group_id: self.extract("\n".join(by_id[turn].content for turn in asked.turn_ids))
            for asked in plan.summarization_requests
        }
        view = CompactionExecutor().apply(transcript, plan, summaries=summaries).transcript
        return [self._back(turn, by_id, messages) for turn in view.turns]

    def _turn(self, message: Message, at: int) -> Any:
        if message["role"] == "assistant":
            self.exchange = f"x{at}" if message.get("tool_calls") else None
        elif message["role"] != "tool":
            self.exchange = None
        text = message.get("content") or ""
        for call in message.get("tool_calls") or ():
            text += f"\n{call['function']['name']}({call['function']['arguments']})"
        return TranscriptTurn(
            str(at), Role(message["role"]), text, self.count(message, text), self.exchange, pinned=at < self.pinned
        )

    def _back(self, turn: Any, by_id: dict[str, Any], messages: list[Message]) -> Message:
        known = by_id.get(turn.turn_id)
        if known is None:
            return {"role": turn.role.value, "content": turn.content}
        message = messages[int(turn.turn_id)]
        return message if turn.content == known.content else {**message, "content": turn.content}


def _characters(message: Message, text: str) -> int:
    return int(CharRatioEstimator().estimate_tokens(text))


def _fair(given: Given) -> Plan:
    # Whole exchanges, oldest first: no summary, which replaces every exact value, and no masks, whose cost it estimates
    # too low. Only the last turn is untouchable, since four of them often weigh more than the budget.
    def count(message: Message, text: str) -> int:
        return given.counter.message(message)

    return Plan(given, DropOldestPolicy(), count, given.head, protected_recent_turns=1)


SETTINGS = {
    "default": lambda given: Plan(given, default_chain(prompt_id="extract"), _characters),
    "fair": _fair,
}
