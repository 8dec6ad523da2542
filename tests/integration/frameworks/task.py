"""One scripted task of 60 LLM calls for all frameworks: a model that looks for what it needs, and real tools.

The model finds every argument in the messages it is given at that call. What is not there any more is lost: it then
says UNKNOWN, as a model that guesses would, and the tool refuses.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jettison import Session
from jettison.tokens import o200k

CALLS = 60
PAGES = CALLS - 5
"""One call each: customer, refund, 55 pages, confirmation, mail, answer; and one to look at the order first."""
CACHED, WRITTEN = 0.1, 1.25
"""Price of a token read from the prompt cache and of one written to it, in input tokens (the bench's model)."""
UNKNOWN = "UNKNOWN"

SYSTEM = "You are the back office of a shop. Work with the tools, one step after the other."
GOALS = {
    "en": (
        "Order ORD-9913 came back damaged. Open a refund for it, read the whole case file page by page, and then "
        "confirm the refund and mail the customer its number. Never refund more than 40 EUR."
    ),
    "ru": (
        "Заказ ORD-9913 вернулся повреждённым. Открой по нему возврат, прочитай дело постранично до конца, потом "
        "подтверди возврат и сообщи клиенту его номер письмом. Никогда не возвращай больше 40 EUR."
    ),
}
TOOLS: dict[str, tuple[str, dict[str, str]]] = {
    "get_order": ("Look up an order.", {"order_id": "string"}),
    "get_customer": ("Look up a customer.", {"customer_id": "string"}),
    "open_refund": ("Open a refund for an order.", {"order_id": "string"}),
    "read_page": ("Read one page of the case file.", {"page_code": "string"}),
    "check_stock": ("How many of an article are in stock.", {"sku": "string"}),
    "confirm_refund": ("Confirm an open refund.", {"refund_id": "string", "amount": "number"}),
    "send_mail": ("Send a mail.", {"email": "string", "text": "string"}),
}
REFUND, EMAIL, CUSTOMER = "RF-58213", "anna.k@example.com", "CUS-3307"
_WORDS = [
    "parcel",
    "depot",
    "courier",
    "label",
    "damage",
    "carton",
    "photo",
    "claim",
    "scan",
    "pallet",
    "route",
    "driver",
    "shelf",
    "corner",
    "tape",
    "wrap",
    "invoice",
    "batch",
]


def parameters(name: str) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments."""
    fields = TOOLS[name][1]
    return {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def openai_tools() -> list[dict[str, Any]]:
    """The tools as Chat Completions takes them."""
    return [
        {"type": "function", "function": {"name": name, "description": said, "parameters": parameters(name)}}
        for name, (said, _) in TOOLS.items()
    ]


FIXED = o200k(json.dumps(openai_tools())) + 3
"""Tokens of the tool schemas, which a provider counts too."""


def code_of(page: int) -> str:
    return f"PG-{10_000 + page * 7919 % 90_000}"


@dataclass
class World:
    """What the tools work on. Every tool takes its arguments by name and answers with text."""

    confirmed: list[tuple[str, float]] = field(default_factory=list)
    mails: list[tuple[str, str]] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)

    def get_order(self, order_id: str) -> str:
        if order_id != "ORD-9913":
            return self._refuse(f"no order {order_id}")
        return json.dumps({"order_id": order_id, "customer_id": CUSTOMER, "paid": 62.5, "status": "returned"})

    def get_customer(self, customer_id: str) -> str:
        if customer_id != CUSTOMER:
            return self._refuse(f"no customer {customer_id}")
        return json.dumps({"customer_id": customer_id, "name": "Anna K.", "email": EMAIL, "language": "en"})

    def open_refund(self, order_id: str) -> str:
        if order_id != "ORD-9913":
            return self._refuse(f"no order {order_id}")
        return json.dumps({"refund_id": REFUND, "status": "pending confirmation", "next_page": code_of(0)})

    def read_page(self, page_code: str) -> str:
        page = next((n for n in range(PAGES) if code_of(n) == page_code), None)
        if page is None:
            return self._refuse(f"no page {page_code}")
        chance = random.Random(page)
        notes = [f"{chance.randint(100, 999)} {' '.join(chance.choices(_WORDS, k=9))}." for _ in range(22)]
        more = {"next_page": code_of(page + 1)} if page + 1 < PAGES else {"end": True}
        return json.dumps({"page": page + 1, **more, "sku": f"SKU-{4000 + page}", "notes": notes})

    def check_stock(self, sku: str) -> str:
        return json.dumps({"sku": sku, "in_stock": int(sku[-2:]) % 9}) if sku != UNKNOWN else self._refuse("no article")

    def confirm_refund(self, refund_id: str, amount: float) -> str:
        if refund_id != REFUND:
            return self._refuse(f"no refund {refund_id}")
        self.confirmed.append((refund_id, float(amount)))
        return json.dumps({"refund_id": refund_id, "status": "confirmed", "amount": amount})

    def send_mail(self, email: str, text: str) -> str:
        if email != EMAIL:
            return self._refuse(f"mail to {email} bounced")
        self.mails.append((email, text))
        return json.dumps({"status": "sent"})

    def run(self, name: str, arguments: dict[str, Any]) -> str:
        tool: Callable[..., str] = getattr(self, name)
        return tool(**arguments)

    def _refuse(self, why: str) -> str:
        self.refused.append(why)
        return f"Error: {why}"

    @property
    def done(self) -> bool:
        """The refund is confirmed once, within the limit, and the customer was told its number."""
        return self.confirmed == [(REFUND, 40.0)] and any(REFUND in text for _, text in self.mails)


@dataclass(frozen=True)
class Call:
    name: str
    arguments: dict[str, Any]


class Overflow(Exception):
    """What a provider says when the prompt is larger than its window."""


@dataclass
class Script:
    """The model: `next` gets each message it is sent as one text, and gives calls or the answer.

    `window`: tokens it takes; above them it raises `overflow(text)` as its provider would. None: any number.
    """

    window: int | None = None
    until: int = CALLS
    """The call at which it stops, done or not."""
    overflow: Callable[[str], Exception] = Overflow
    step: int = 0
    lost: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    cost: float = 0.0
    overflows: int = 0
    last: list[str] = field(default_factory=list, repr=False)
    counts: dict[str, int] = field(default_factory=dict, repr=False)

    def next(self, seen: Sequence[str]) -> list[Call] | str:
        self._count(list(seen))
        text = "\n".join(seen)
        self.step += 1
        if self.step == self.until < CALLS:
            return "Enough."
        if self.step == 1:
            return [Call("get_order", {"order_id": self._find("order id", r"\b(ORD-\d+)", text, first=True)})]
        if self.step == 2:
            order = self._find("order id", r"\b(ORD-\d+)", text, first=True)
            customer = self._find("customer id", r"\b(CUS-\d+)", text)
            return [Call("get_customer", {"customer_id": customer}), Call("open_refund", {"order_id": order})]
        if self.step <= PAGES + 2:
            return self._reading(text)
        if self.step == PAGES + 3:
            limit = self._find("limit", r"(?:more than|больше) (\d+) EUR", text)
            refund = self._find("refund id", r"refund_id\W{1,6}(RF-\d+)", text)
            amount = float(limit) if limit != UNKNOWN else 62.5
            return [Call("confirm_refund", {"refund_id": refund, "amount": amount})]
        if self.step == PAGES + 4:
            email = self._find("e-mail", r"([\w.]+@example\.com)", text)
            refund = self._find("refund id", r"\b(RF-\d+)", text)
            return [Call("send_mail", {"email": email, "text": f"Your refund {refund} is confirmed."})]
        return f"Refund {self._find('refund id', r'(RF-[0-9]+)', text)} is confirmed."

    def _reading(self, text: str) -> list[Call]:
        calls = [Call("read_page", {"page_code": self._find("page code", r"next_page\W{1,6}(PG-\d+)", text)})]
        if self.step % 6 == 0:  # a parallel call
            calls.append(Call("check_stock", {"sku": self._find("article", r"\b(SKU-\d+)", text)}))
        return calls

    def _find(self, what: str, pattern: str, text: str, first: bool = False) -> str:
        found = re.findall(pattern, text)
        if not found:
            self.lost.append(f"{what} (call {self.step})")
            return UNKNOWN
        return str(found[0] if first else found[-1])

    def _count(self, seen: list[str]) -> None:
        sizes = [self.counts.setdefault(text, 0) or self._weigh(text) for text in seen]
        total = sum(sizes) + FIXED
        if self.window is not None and total > self.window:
            self.overflows += 1
            raise self.overflow(
                f"This model's maximum context length is {self.window} tokens. However, your messages resulted in "
                f"{total} tokens. Please reduce the length of the messages."
            )
        common = 0
        for mine, theirs in zip(self.last, seen, strict=False):
            if mine != theirs:
                break
            common += 1
        cached = sum(sizes[:common]) + (FIXED if self.last else 0)
        self.cost += CACHED * cached + WRITTEN * (total - cached)
        self.sizes.append(total)
        self.last = seen

    def _weigh(self, text: str) -> int:
        self.counts[text] = o200k(text) + 4
        return self.counts[text]


@dataclass(frozen=True)
class Outcome:
    """One row of the table in the docs."""

    done: bool
    calls: int
    lost: tuple[str, ...]
    refused: tuple[str, ...]
    peak: int
    cost: float
    error: str = ""

    def row(self, name: str) -> str:
        lost = ", ".join(dict.fromkeys(entry.partition(" (")[0] for entry in self.lost)) or "nothing"
        said = "yes" if self.done else f"no: {self.error}" if self.error else "no"
        return f"| {name} | {said} | {self.calls} | {lost} | {len(self.refused)} | {self.peak:,} | {self.cost:,.0f} |"


def outcome(script: Script, world: World, error: BaseException | None = None) -> Outcome:
    said = type(error).__name__ if error is not None else ""
    return Outcome(
        world.done and script.step == CALLS and not script.lost,
        script.step,
        tuple(script.lost),
        tuple(world.refused),
        max(script.sizes, default=0),
        script.cost,
        said,
    )


def chat_text(message: dict[str, Any]) -> str:
    """A Chat Completions message as the scripted model reads it."""
    content = message.get("content") or ""
    if isinstance(content, list):
        content = "\n".join(part.get("text", "") for part in content)
    calls = [f"{call['function']['name']}({call['function']['arguments']})" for call in message.get("tool_calls") or ()]
    return "\n".join([f"{message['role']}: {content}", *calls])


def play(script: Script, world: World, fit: Callable[[list[dict[str, Any]]], list[dict[str, Any]]] = list) -> None:
    """The smallest agent loop, on Chat Completions messages: what the frameworks do."""
    messages: list[dict[str, Any]] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": GOALS["en"]}]
    while True:
        action = script.next([chat_text(message) for message in fit(messages)])
        if isinstance(action, str):
            return
        calls = [
            {
                "id": f"call_{script.step}_{n}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for n, call in enumerate(action)
        ]
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for made, call in zip(calls, action, strict=True):
            answer = world.run(call.name, call.arguments)
            messages.append({"role": "tool", "tool_call_id": made["id"], "content": answer})


def quarter() -> int:
    """A quarter of the tokens of the task's whole history, tool schemas included."""
    script, world, sizes = Script(), World(), [0]
    session = Session(1_000_000)

    def fit(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        fitted = session.fit(messages, tools=openai_tools())
        sizes.append(fitted.report.before)
        return fitted.messages

    play(script, world, fit)
    return sizes[-1] // 4


def window(budget: int) -> int:
    """What a provider takes that counts a little differently (its own framing): 5 % more."""
    return budget * 21 // 20


def page(framework: str, rows: Mapping[str, Outcome]) -> None:
    """Print the rows of the table in docs/integrations.md; `make test-integrations` collects them."""
    for name, found in rows.items():
        print(found.row(f"{framework}: {name}"))
