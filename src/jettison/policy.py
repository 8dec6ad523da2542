"""Policy: the frozen configuration; its `decide` runs the stages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from os import PathLike
from typing import TYPE_CHECKING, Any

from jettison.budget import Budget
from jettison.errors import ConfigError
from jettison.items import Item
from jettison.plan import Score, Semantic, View
from jettison.prices import Prices
from jettison.protocols import (
    Check,
    Embedder,
    ItemProtector,
    ItemRule,
    Judge,
    Protector,
    Scorer,
    Summarizer,
    TokenCounter,
)
from jettison.relevance.limits import EmbedLimits, JudgeLimits
from jettison.tool_policy import ToolPolicy

if TYPE_CHECKING:
    from jettison.epoch import Outcome, Request
    from jettison.flow.dependencies import Flow

__all__ = ["PROFILES", "RELEVANCE", "Policy", "Profile"]

RELEVANCE = ("rules", "rules+embeddings", "full")


@dataclass(frozen=True, slots=True)
class Profile:
    """Marks and admission that go together."""

    first_call: float
    """Low-water mark of an epoch at the first call of a session: it may be the only one, as in `fit`, and nothing is
    cached yet."""
    first: float
    """… of the first epoch of a session that has run (L in algorithm.md)."""
    later: float
    """… of the others (M)."""
    admit_always: bool
    """Whether an oversize unit is cut on arrival even where the request fits."""


PROFILES = {
    # Cut only where the request does not fit. Strict support / completeness of all pressured calls / cost at 25 % of
    # the body: 93.8 / 96.0 / .551, 96.6 / 95.3 / .542, 97.1 / 97.9 / .782, 94.7 / 93.1 / .511 (mcpmark / swe-lm32b /
    # tau-airline / toolathlon). With .7 and .6, as in algorithm.md: support +1.3 / +.1 / +.5 / −.1, completeness +.7 /
    # +.1 / +.4 / −.6, cost +.020 / +.018 / +.009 / +.021 (both with ADMITTED .2 in epoch.py).
    "safe": Profile(0.7, 0.6, 0.55, False),
    # Oversize units cut on arrival.
    # The same figures: 92.9 / 95.7 / .50, 96.1 / 94.6 / .51, 96.8 / 97.4 / .75, 94.3 / 92.0 / .47.
    "economy": Profile(0.5, 0.5, 0.5, True),
}


_PARTS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "scorers": (
        "(weight, scorer) pairs",
        lambda part: isinstance(part, tuple | list) and len(part) == 2 and callable(part[1]),
    ),
    "protectors": (
        "functions, or objects with protect_item",
        lambda part: callable(part) or hasattr(part, "protect_item"),
    ),
    "tools": ("ToolPolicy records", lambda part: isinstance(part, ToolPolicy)),
    "checks": ("functions", callable),
}
"""What stands in a tuple: what each of it is, and whether something is one."""


def _check_parts(name: str, parts: Any, what: str, fits: Callable[[Any], bool]) -> None:
    if not isinstance(parts, tuple | list):
        raise ConfigError(f"{name} is a tuple of {what}, not {type(parts).__name__}: {name}=(…,)")
    for part in parts:
        if not fits(part):
            raise ConfigError(f"{name} is a tuple of {what}, and {part!r} is none"[:200])


def _check_counter(counter: Any) -> None:
    """Raises ConfigError for what counts no tokens."""
    if counter is not None and not (callable(counter) and not isinstance(counter, str)):
        from jettison.tokens import counter_for

        counter_for(counter, None, "o200k")


@dataclass(frozen=True, slots=True)
class Policy:
    """What to keep and how far to go. Raises ConfigError for settings that cannot work."""

    budget: Budget | int = field(kw_only=False, default=128_000)
    """Input tokens: a `Budget`, or an int as the limit."""
    decay: float = 0.05
    """λ of R = e^(−λt), a step; 0.05: half after 14 steps. Recency orders prose only: for values it says nothing
    beyond last use (AUC .45–.63 alone, algorithm.md)."""
    w_recency: float = 0.3
    w_relevance: float = 0.7
    """Weights of the Score; must sum to 1."""
    relevance: str = "rules"
    """`rules`: no model is asked. `rules+embeddings`: prose is compared with the task. `full`: a judge is asked about
    prose near the cut as well. Both act where an epoch is due (docs/relevance.md)."""
    embedder: Embedder | None = None
    """Texts to vectors; None: the local one of `jettison[embeddings]`, where relevance needs one."""
    judge: Judge | None = None
    """Who is asked with `relevance="full"`."""
    embed_limits: EmbedLimits = field(default_factory=EmbedLimits)
    judge_limits: JudgeLimits = field(default_factory=JudgeLimits)
    counter: TokenCounter | str | None = None
    """How tokens are counted: a callable, a family name, or None: by `model`."""
    profile: str = "safe"
    """`safe` or `economy`: low-water marks and admission together."""
    on_unsafe: str = "raise"
    """`raise`, or `degrade`: best effort, with `report.degraded` naming each loss; BudgetUnreachable all the same where
    what is never given up is over the limit (instructions, schemas, unanswered calls: docs/stages.md)."""
    reasoning_drop: bool = False
    """The wire's drop setting is on: reasoning that an edit voids is dropped by the provider, not refused."""
    scorers: tuple[tuple[float, Scorer], ...] = ()
    """Further relevance signals: (weight, scorer)."""
    protectors: tuple[Protector | ItemProtector | ItemRule, ...] = ()
    """Further protections: a function of the view that lists them, an object with `protect_item(item, view)`, or a
    function of one parameter called `item`; the last two give True, a Protection, or nothing for each item."""
    tools: tuple[ToolPolicy, ...] = ()
    """What is known of tools; comes before their own MCP annotations."""
    checks: tuple[Check, ...] = ()
    summarizer: Summarizer | str | None = None
    """Writes one rolling summary of what epochs drop whole: a callable, or `extractive` for one made of sentences of
    the history. None: nothing stands for what is dropped, the archive has it."""
    recall: bool | None = None
    """Marks of cuts name the handle by which the recall tool gives back the whole (`ref gajuzasufo`, 6 tokens each).
    None: where the tools of the request have `recall_context`, also under a server's prefix. False: never, True:
    always, for an agent that gets back what was cut in another way. The report names all handles in any case."""
    drop_unused_tools: int | None = None
    """Steps after which the schema of a tool that was not called in them is left out (`Fitted.tools`), from an epoch
    on; never of one that the request still shows a call of, that the task names, of the provider's own, or of the last
    one. None: never."""
    place_cache_marks: bool = False
    """On wires with cache marks: the caller's marks on messages are replaced by marks on the last message, at the
    border of what an epoch has settled, and at the end of the last request. False: they are kept where they are."""
    prices: Prices | None = None
    """What tokens cost, for the report; None: the model's own (`models.json`), else cached .1 and written 1.25 times
    the price of input."""

    def __post_init__(self) -> None:
        if not isinstance(self.budget, Budget | int) or isinstance(self.budget, bool):
            hint = ": give it as policy=" if isinstance(self.budget, Policy) else f" {self.budget!r}"[:80]
            raise ConfigError(f"budget must be an int or a Budget, not {type(self.budget).__name__}{hint}")
        object.__setattr__(self, "budget", Budget.of(self.budget))
        for name in ("decay", "w_recency", "w_relevance"):
            value = getattr(self, name)
            if not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
                raise ConfigError(f"{name} must be a finite number >= 0, not {value!r}")
        if abs(self.w_recency + self.w_relevance - 1) > 1e-9:
            raise ConfigError(f"w_recency + w_relevance must be 1, not {self.w_recency + self.w_relevance:g}")
        if self.relevance not in RELEVANCE:
            raise ConfigError(f"relevance={self.relevance!r} is not known: use one of {', '.join(RELEVANCE)}")
        if self.relevance == "full" and self.judge is None:
            raise ConfigError("relevance='full' asks a judge: give judge=, or use 'rules+embeddings'")
        if self.judge is not None and self.relevance != "full":
            raise ConfigError(f"a judge is only asked with relevance='full', not {self.relevance!r}")
        if self.embedder is not None and self.relevance == "rules":
            raise ConfigError("an embedder is only asked with relevance='rules+embeddings' or 'full'")
        if isinstance(self.summarizer, str) and self.summarizer != "extractive":
            raise ConfigError(f"summarizer={self.summarizer!r} is not known: give a callable, or 'extractive'")
        if self.profile not in PROFILES:
            raise ConfigError(f"profile={self.profile!r} is not known: use one of {', '.join(PROFILES)}")
        after = self.drop_unused_tools
        if after is not None and (not isinstance(after, int) or isinstance(after, bool) or after < 1):
            raise ConfigError(f"drop_unused_tools must be a number of steps >= 1, not {after!r}")
        if self.on_unsafe not in ("raise", "degrade"):
            raise ConfigError(f"on_unsafe must be 'raise' or 'degrade', not {self.on_unsafe!r}")
        _check_counter(self.counter)
        for name, (what, fits) in _PARTS.items():
            _check_parts(name, getattr(self, name), what, fits)

    @classmethod
    def from_file(cls, path: str | PathLike[str], **changes: Any) -> Policy:
        """The policy of a TOML file, with `changes` on top; `jettison/jettison.toml` lists every setting with its
        evidence. Raises ConfigError, with the file and the setting."""
        from jettison.settings import made_from

        return made_from(cls, path, [entry.name for entry in fields(cls)], changes)

    @property
    def size(self) -> Budget:
        """The budget as a `Budget`."""
        return Budget.of(self.budget)

    @property
    def marks(self) -> Profile:
        """Low-water marks and admission of the profile."""
        return PROFILES[self.profile]

    def evaluate(
        self, view: View, flow: Flow, items: Sequence[Item] | None = None, semantic: Semantic = Semantic()
    ) -> dict[str, Score]:
        """Scores of all items, or of some, with this policy's weights."""
        from jettison.stages.evaluate import (
            evaluate,  # the stages are half of the import time: loaded at the first call
        )

        return evaluate(
            view,
            flow,
            decay=self.decay,
            w_recency=self.w_recency,
            w_relevance=self.w_relevance,
            scorers=self.scorers,
            items=items,
            semantic=semantic,
        )

    def decide(self, request: Request) -> Outcome:
        """What is done to the context of one call. Pure; raises BudgetUnreachable when nothing safe fits."""
        from jettison.epoch import Run

        return Run(self, request).decide()
