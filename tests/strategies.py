"""Agent histories for property tests: one abstract script, rendered to each of the four wire formats.

A `Script` is what happened, without a wire: who said what, which tools ran, what was thought. `render(script, wire)`
is the same history as that wire's own list; what a wire has no form for (an MCP approval outside Responses, say)
becomes the nearest thing it has, so that one script can be compared between wires.

Long texts are built from a seed and a size, not drawn letter by letter: a run stays within seconds and shrinks well.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini")

_EXAMPLES = int(os.environ.get("JETTISON_FUZZ", "0"))
_PHASES = (Phase.explicit, Phase.generate) + (() if os.environ.get("JETTISON_NO_SHRINK") else (Phase.shrink,))


def law(examples: int = 30) -> Any:
    """Settings of a property: the same examples at every run; JETTISON_FUZZ=n explores n new ones instead."""
    return settings(
        max_examples=_EXAMPLES or examples,
        derandomize=not _EXAMPLES,
        database=None,
        phases=_PHASES,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )


# --- the script --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    name: str
    args: dict[str, Any]
    result: str
    shape: str = "text"
    """Of the result: `text`, `parts` (a list of two text parts) or `image` (text and a picture)."""
    error: bool = False


@dataclass(frozen=True)
class Say:
    """The user (or, mid-history, the developer) says something."""

    text: str
    shape: str = "text"
    """`text` (a string), `parts` (list content), `image` or `document`."""
    role: str = "user"
    mark: bool = False
    """A cache mark, where the wire has them."""
    extra: bool = False
    """Carries a field we do not know."""


@dataclass(frozen=True)
class Reply:
    """The assistant answers in text."""

    text: str
    thinking: str | None = None
    shape: str = "text"
    """`text`, `parts` or `refusal`."""
    extra: bool = False


@dataclass(frozen=True)
class Act:
    """The assistant calls tools, all at once, and they answer; those from `answered` on have not yet."""

    calls: tuple[Call, ...]
    text: str = ""
    thinking: str | None = None
    redacted: bool = False
    shuffle: int = 0
    """Order in which the answers arrived, where the wire leaves it free."""
    answered: int | None = None
    mark: bool = False
    extra: bool = False


@dataclass(frozen=True)
class Server:
    """A tool that the provider ran itself, inside the assistant's turn."""

    query: str
    found: str
    text: str


@dataclass(frozen=True)
class Approval:
    """An MCP call that needed the user's consent, and what the user said."""

    name: str
    args: dict[str, Any]
    approve: bool


Turn = Say | Reply | Act | Server | Approval


@dataclass(frozen=True)
class Script:
    system: str
    turns: tuple[Turn, ...]
    repeat_ids: bool = False
    """Call ids start from 0 in every turn, where the wire allows it."""

    @property
    def last_said(self) -> str:
        """What the user said last."""
        return next(turn.text for turn in reversed(self.turns) if isinstance(turn, Say) and turn.role == "user")

    @property
    def pending(self) -> bool:
        """The last turn has calls without an answer."""
        last = self.turns[-1]
        return isinstance(last, Act) and last.answered is not None


@dataclass(frozen=True)
class History:
    wire: str
    messages: list[dict[str, Any]] = field(repr=False)
    system: Any = field(repr=False)
    tools: list[dict[str, Any]] | None = field(repr=False)
    script: Script
    cuts: tuple[int, ...] = field(default=(), repr=False)
    """Lengths of the prefixes that were sent: one before each assistant turn, and the whole."""

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """How hypothesis shows it: `render(Script(...), wire)`, to paste into a test."""
        printer.text("render(")
        printer.pretty(self.script)
        printer.text(f", {self.wire!r})")

    def prefixes(self) -> list[list[dict[str, Any]]]:
        return [self.messages[:cut] for cut in self.cuts]


# --- texts -------------------------------------------------------------------------------------------------

ORDERS = ("ORD-9913", "ORD-20417", "RMA-77-b", "3f9c2e1a-77d4-4c0b-9a55-0d1f6f2f9b31", "src/ledger/drain.py")
_SHORT = (
    "Which module is slowest?",
    "Go on.",
    "The batch failed at 02:00; check the pool.",
    "Please list the changed files.",
    "Найди, почему очередь стоит, и не трогай платёжный шлюз.",
    "账单服务今天凌晨重启了三次,请不要改动支付网关的配置。",
    "정산 배치가 새벽 두 시에 실패했습니다.",
    "請求バッチは午前二時に失敗しました。",
    "👩‍👩‍👧‍👦 ok 🚀 𠮷野 e\u0301 n\u0303 🇦🇹🇯🇵 👍🏽",
    "שלום עולם ‎ا لسلام",
    "a\u200d\u200db\ufeff\u00a0c\u2028d",
    "Z̸̢͎̈a̵̛̝l̷͙̾g̴̱̈o̷͎͌",
    "- [ ] todo 1\r\n- [x] done 2\r\n",
    "<|endoftext|> is ordinary text here",
    "null",
    "{}",
    '{"status": "pending", "ticket": "exp-7f31c09b"}',
)
_RULES = (
    "Do NOT push to main until I say so.",
    "Never delete files under assets/.",
    "You must ask before a refund over 50 EUR.",
    "Никогда не перезапускай сверку.",
)
_WORDS = ("router", "quota", "worker", "ledger", "index", "mailer", "parser", "session", "invoice", "billing")
_WORDS += ("drain", "flush", "start", "tick")


def log_text(seed: int, size: int) -> str:
    """About `size` characters of log."""
    rng = random.Random(seed)
    lines, length = [], 0
    while length < size:
        lines.append(
            f"09:{rng.randrange(60):02}:{rng.randrange(60):02} INFO  {rng.choice(_WORDS)}.{rng.choice(_WORDS)} "
            f"batch={rng.randrange(1000)} took={rng.randrange(900)}ms"
        )
        length += len(lines[-1]) + 1
    return "\n".join(lines)


def rows_text(seed: int, size: int) -> str:
    """About `size` characters of JSON: a list of records."""
    import json

    rng = random.Random(seed)
    rows, length = [], 0
    while length < size:
        row = {"id": f"inv_{rng.randrange(10**6):06}", "cents": rng.randrange(10**5), "memo": rng.choice(_SHORT)}
        rows.append(row)
        length += 90
    return json.dumps({"items": rows, "next": None}, ensure_ascii=False)


def code_text(seed: int, size: int) -> str:
    """About `size` characters of Python."""
    rng = random.Random(seed)
    out, length = [], 0
    while length < size:
        out.append(f"def {rng.choice(_WORDS)}_{len(out)}(rows, limit={rng.randrange(99)}):\n    return rows[:limit]\n")
        length += len(out[-1])
    return "\n".join(out)


def dense_text(seed: int, size: int) -> str:
    """`size` characters without a space: base64, or one letter, or one emoji again and again."""
    rng = random.Random(seed)
    alphabet = rng.choice(("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "a", "👩‍👧", "数", "=-"))
    return "".join(rng.choices(alphabet, k=size)) if len(alphabet) > 3 else (alphabet * size)[:size]


def spaced_text(seed: int, size: int) -> str:
    """Mostly white space, with a word at each end."""
    return "begin" + " \t\n"[seed % 3] * size + "end"


_BUILDERS = (log_text, rows_text, code_text, dense_text, spaced_text)
_seeds = st.integers(0, 40)


def _long(low: int, high: int) -> st.SearchStrategy[str]:
    return st.builds(
        lambda make, seed, size: make(seed, size), st.sampled_from(_BUILDERS), _seeds, st.integers(low, high)
    )


short_text = st.one_of(
    st.sampled_from(_SHORT),
    st.builds("{} {}".format, st.sampled_from(_RULES), st.sampled_from(_SHORT)),
    st.builds("Look at {} and {}.".format, st.sampled_from(ORDERS), st.sampled_from(ORDERS)),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=30).filter(lambda t: bool(t.strip())),
)
said_text = st.one_of(short_text, short_text, short_text, _long(200, 1_500))
result_text = st.one_of(
    st.just(""),
    short_text,
    _long(100, 1_500),
    _long(100, 1_500),
    _long(2_000, 9_000),
    _long(20_000, 40_000),
)

# --- scripts -----------------------------------------------------------------------------------------------

TOOLS = {
    "read_file": ("Read a file", {"path": "string"}),
    "run": ("Run a shell command", {"cmd": "string"}),
    "get_order": ("Look up an order", {"order_id": "string"}),
    "refund": ("Refund an order", {"order_id": "string", "amount": "number"}),
}
_args = {
    "read_file": st.fixed_dictionaries({"path": st.sampled_from(ORDERS)}),
    "run": st.fixed_dictionaries({"cmd": st.one_of(st.sampled_from(("ls", "git status", "pytest -q")), short_text)}),
    "get_order": st.fixed_dictionaries({"order_id": st.sampled_from(ORDERS)}),
    "refund": st.fixed_dictionaries({"order_id": st.sampled_from(ORDERS), "amount": st.integers(1, 500)}),
}


@st.composite
def _calls(draw: st.DrawFn) -> Call:
    name = draw(st.sampled_from(sorted(TOOLS)))
    text = draw(result_text)
    shape = draw(st.sampled_from(("text", "text", "text", "parts", "image"))) if text.strip() else "text"
    return Call(name, draw(_args[name]), text, shape, draw(st.booleans()) and draw(st.booleans()))


_thinking = st.one_of(st.none(), st.none(), short_text, _long(100, 600))
_flag = st.sampled_from((False, False, False, True))

says = st.builds(
    Say,
    text=said_text,
    shape=st.sampled_from(("text", "text", "text", "parts", "image", "document")),
    role=st.sampled_from(("user",) * 9 + ("developer",)),
    mark=_flag,
    extra=_flag,
)
user_says = st.builds(Say, text=said_text, shape=st.sampled_from(("text", "text", "parts", "image")), mark=_flag)
replies = st.builds(
    Reply, text=said_text, thinking=_thinking, shape=st.sampled_from(("text", "text", "parts", "refusal")), extra=_flag
)
acts = st.builds(
    Act,
    calls=st.lists(_calls(), min_size=1, max_size=4).map(tuple),
    text=st.one_of(st.just(""), short_text),
    thinking=_thinking,
    redacted=_flag,
    shuffle=st.integers(0, 5),
    mark=_flag,
    extra=_flag,
)
servers = st.builds(Server, query=short_text, found=_long(100, 1_500), text=short_text)
approvals = st.builds(Approval, name=st.just("delete_bucket"), args=_args["run"], approve=st.booleans())


@st.composite
def scripts(draw: st.DrawFn, max_rounds: int = 5, pending: bool = True) -> Script:
    """A user turn, then rounds of work, then either a user turn, a finished tool turn or (`pending`) an open one."""
    turns: list[Turn] = [draw(user_says)]
    for _ in range(draw(st.integers(0, max_rounds))):
        work = draw(
            st.one_of(
                st.lists(acts, min_size=1, max_size=3),
                st.lists(acts, min_size=1, max_size=3),
                servers.map(lambda turn: [turn]),
                approvals.map(lambda turn: [turn]),
                st.just([]),
            )
        )
        turns += [
            *work,
            *draw(st.sampled_from((1, 1, 1, 0)).flatmap(lambda n: st.lists(replies, min_size=n, max_size=n))),
        ]
        turns += draw(st.lists(says, min_size=1, max_size=2))
    ending = draw(st.sampled_from(("said", "said", "acted", "acted", "pending" if pending else "acted")))
    if ending == "said" and not (isinstance(turns[-1], Say) and turns[-1].role == "user"):
        turns.append(draw(user_says))
    elif ending != "said":
        act = draw(acts)
        if ending == "pending":
            act = Act(act.calls, act.text, act.thinking, answered=draw(st.integers(0, len(act.calls) - 1)))
        turns.append(act)
    return Script(draw(short_text), tuple(turns), repeat_ids=draw(st.booleans()))


@st.composite
def histories(draw: st.DrawFn, wire: str, max_rounds: int = 5, pending: bool = True) -> History:
    """A valid history of that wire, with the script it was rendered from."""
    from rendering import render

    return render(draw(scripts(max_rounds, pending)), wire)


def budgets(total: int) -> st.SearchStrategy[int]:
    """Budgets for a history of `total` tokens: hopeless, tight, half, nearly all, ample."""
    return st.one_of(
        st.sampled_from((1, 60)),
        st.floats(0.05, 0.5).map(lambda share: max(1, int(total * share))),
        st.floats(0.5, 1.05).map(lambda share: max(1, int(total * share))),
        st.integers(total * 2 + 100, total * 3 + 200),
    )
