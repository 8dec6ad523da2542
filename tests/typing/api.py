"""How the public names are used, checked by `mypy --strict` and never run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, assert_type

from jettison import (
    Budget,
    Edge,
    Fitted,
    Item,
    Policy,
    Protection,
    Report,
    Session,
    ToolPolicy,
    View,
    fit,
    fit_request,
)
from jettison.archive import MemoryArchive, PostgresArchive, Pruned, Scoped, SQLiteArchive
from jettison.errors import BudgetUnreachable, JettisonError
from jettison.integrations.openai_summarizer import OpenAISummarizer
from jettison.protocols import (
    Archive,
    Check,
    ConversationArchive,
    ItemProtector,
    ItemRule,
    Protector,
    Scorer,
    Summarizer,
    TokenCounter,
)
from jettison.recall import recall_answer, recall_tool

messages: list[dict[str, Any]] = [{"role": "user", "content": "hello"}]

# one shot

fitted: Fitted = fit(messages, budget=32_000)
fit(messages, budget=Budget(200_000, reserve_output=8_000), wire="anthropic", system="Be brief.", tools=[{"name": "x"}])
fit(messages, policy=Policy(budget=1_000), observe=True)
fit(messages, budget=1_000, decay=0.1, w_recency=0.5, w_relevance=0.5, profile="economy")
fit(tuple(messages), model="gpt-4o", repair=True, prior_tokens=10)
assert_type(fitted.messages, list[dict[str, Any]])
assert_type(fitted.report, Report)
assert_type(fitted.report.sendable, bool)
assert_type(fitted.report.to_json(), str)

body: dict[str, Any] = fit_request({"model": "gpt-4o", "messages": messages}, budget=1_000)
assert_type(fit_request(body, budget=1_000).report, Report)

# strategies: functions


def count(text: str) -> int:
    return len(text) // 3


def urgent(item: Item, view: View) -> float:
    return 1.0 if "urgent" in item.text else 0.0


def first(view: View) -> list[Protection]:
    return [Protection(view.items[0].id, "first", "never: it is the first")]


def invoices(item: Item) -> bool:
    return "invoice" in item.text


def never_empty(items: Sequence[Item], view: View) -> list[str]:
    return [] if items else ["nothing is left"]


counter: TokenCounter = count
scorer: Scorer = urgent
protector: Protector = first
rule: ItemRule = invoices
check: Check = never_empty
Policy(1_000, counter=count, scorers=((0.5, urgent),), protectors=(first, invoices), checks=(never_empty,))

# strategies: objects


class Counter:
    name = "mine"
    error = "about 5 %"

    def __call__(self, text: str, /) -> int:
        return len(text)


class Urgent:
    name = "urgent"

    def __call__(self, item: Item, view: View, /) -> float:
        return 0.5


class Invoices:
    def protect_item(self, item: Item, view: View, /) -> Protection | bool | None:
        return None


class NeverEmpty:
    def __call__(self, items: Sequence[Item], view: View, /) -> Sequence[str]:
        return ()


class Shelf:
    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def put(self, handle: str, text: str) -> None:
        self.texts[handle] = text

    def get(self, handle: str) -> str:
        return self.texts[handle]

    def search(self, query: str, limit: int = 10) -> list[tuple[str, str]]:
        return list(self.texts.items())[:limit]


keeper: ItemProtector = Invoices()
stores: list[Archive] = [Shelf(), MemoryArchive()]
shared: list[ConversationArchive] = [MemoryArchive(), SQLiteArchive("a.db"), Scoped(MemoryArchive(), "user-9")]
database: Callable[[str], ConversationArchive] = PostgresArchive
assert_type(MemoryArchive().prune(max_bytes=1_000_000, max_age=3_600), Pruned)
assert_type(recall_answer(Shelf(), {"handle": "gajuzasufo"}), str)
declared: dict[str, Any] = recall_tool("gemini")
policy = Policy(
    Budget.for_model("gpt-4o"),
    counter=Counter(),
    scorers=((0.5, Urgent()),),
    protectors=(Invoices(),),
    checks=(NeverEmpty(),),
    tools=(ToolPolicy("get_*", refetchable=True), ToolPolicy("login", keep="latest")),
    on_unsafe="degrade",
)

# sessions

session = Session(policy, wire="openai-responses", model="gpt-5", archive=Shelf())
assert_type(recall_answer(session, '{"query": "tent"}'), str)
Session(32_000, archive="postgresql://me@host/db", conversation="chat-17")
Session(Budget(32_000))
assert_type(session.fit(messages, system="Be brief."), Fitted)
session.task.goal = "Refund the tent."
session.task.constrain("never push to main")
operation: str = session.task.begin("refund", needs=["ORD-9913"])
session.task.complete(operation)
session.task.pin("ORD-9913", steps=3)
session.usage(input_tokens=900, cache_read_tokens=100)
assert_type(session.recall("badugisona"), str)
assert_type(session.search("tent", limit=3), list[tuple[str, str]])
assert_type(session.dependencies("3.0-abc"), tuple[Edge, ...])


async def run() -> Report:
    result = await session.afit(messages)
    request: dict[str, Any] = await session.afit_request({"input": messages})
    del request
    return result.report


# errors

try:
    fit(messages, budget=10)
except BudgetUnreachable as unreachable:
    assert_type(unreachable.needed, int)
    assert_type(unreachable.smallest, int)
    assert_type(unreachable.biggest, tuple[tuple[str, str, int, str], ...])
except JettisonError as other:
    print(other.report)


# a summariser: any callable, sync or async


def one(prompt: str, max_tokens: int) -> str:
    return prompt[:max_tokens]


async def two(prompt: str, max_tokens: int) -> str:
    return prompt[:max_tokens]


summarizers: list[Summarizer] = [one, two, OpenAISummarizer("http://localhost/v1", "m"), lambda prompt, most: prompt]
