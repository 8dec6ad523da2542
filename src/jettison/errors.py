"""What can go wrong, as one tree.

JettisonError(Exception)            .report where one exists
├── InvalidInput                    the given history breaks the wire's own rules: which, where
├── CannotFit
│   ├── BudgetUnreachable           numbers: needed, available, smallest budget, biggest items, what would help
│   ├── StagesRequired              .stages: a split of the open work, each stage with a context that fits
│   ├── StateBroken                 a protected item or a dependency would be lost
│   └── ContextInsufficient         the sufficiency check failed
├── CompressionFailed
│   └── CutAnswer                   a summariser's answer ended at its limit
├── ArchiveError
├── StoreError                      a session could not be saved, loaded or read
│   └── StoreConflict               another worker saved this conversation in between
├── SessionBusy                     waiting for the session here would never end
└── VaultError
    ├── SecretRefused               a call asked for a secret that it may not have; the agent can read why
    ├── SecretGone                  revoked, expired, wiped, or never there
    └── VaultKeyMissing             the key of the vault, or of one record, is not at hand
ConfigError(ValueError)             bad weights, marks, budget, wire name
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "ArchiveError",
    "BudgetUnreachable",
    "CannotFit",
    "CompressionFailed",
    "ConfigError",
    "ContextInsufficient",
    "CutAnswer",
    "InvalidInput",
    "JettisonError",
    "Problem",
    "SecretGone",
    "SecretRefused",
    "SessionBusy",
    "StagesRequired",
    "StateBroken",
    "StoreConflict",
    "StoreError",
    "VaultError",
    "VaultKeyMissing",
]


@dataclass(frozen=True, slots=True)
class Problem:
    """One broken rule of a wire format."""

    position: str
    """Where, as the user would index it: `messages[3].tool_calls[1]`."""
    rule: str
    """Which rule, in words: `every tool call is answered before the next message`."""
    repair: str
    """What to do about it."""
    kind: str = "structure"
    """`structure`: the provider refuses it. `compatibility`: some back ends refuse it. `pending`: work is
    unfinished and the request is not sendable yet, but the history is sound."""
    call_id: str | None = None
    message: int = -1
    """Index of the message it is in, -1 when in none."""

    def __str__(self) -> str:
        call = f" (call {self.call_id})" if self.call_id else ""
        return f"{self.position} does not meet the rule `{self.rule}`{call}: {self.repair}"


class JettisonError(Exception):
    """Base of all errors; `report` holds the `Report` of the attempt where one exists."""

    report: Any = None


class ConfigError(ValueError):
    """A setting that cannot work: bad weights, marks, budget, wire name or argument."""


class InvalidInput(JettisonError):
    """The given history breaks the wire's own rules.

    `problems` names each: position, rule and repair. `advice`: what would help with all of them.
    """

    def __init__(self, problems: Sequence[Problem] | str, advice: str = "") -> None:
        self.problems: tuple[Problem, ...] = () if isinstance(problems, str) else tuple(problems)
        if isinstance(problems, str):
            super().__init__(problems)
            return
        head = "\n".join(f"  {problem}" for problem in self.problems[:5])
        more = f"\n  … and {len(self.problems) - 5} more" if len(self.problems) > 5 else ""
        last = f"\n{advice}" if advice else ""
        super().__init__(f"the history breaks {len(self.problems)} rule(s) of its wire format:\n{head}{more}{last}")


class CannotFit(JettisonError):
    """No safe context within the budget was found."""


class BudgetUnreachable(CannotFit):
    """What must be kept does not fit.

    `needed`, `available` and `smallest` are input tokens: what the smallest safe request takes, what the
    budget leaves, and the smallest budget (as an int for `budget=`) that works. `biggest` lists
    (item id, kind, tokens, why it is kept) of the largest kept items, `hints` what would help.
    """

    outcome: Any = None
    """What the last attempt came to, for the report."""

    def __init__(
        self,
        needed: int,
        available: int,
        *,
        smallest: int | None = None,
        biggest: Sequence[tuple[str, str, int, str]] = (),
        hints: Sequence[str] = (),
    ) -> None:
        self.needed = needed
        self.available = available
        self.smallest = needed if smallest is None else smallest
        self.biggest = tuple(biggest)
        self.hints = tuple(hints)
        super().__init__()

    def revise(self, needed: int) -> None:
        """Correct `needed`, and `smallest` with it."""
        self.smallest += needed - self.needed
        self.needed = needed

    def __str__(self) -> str:
        lines = [
            f"the smallest safe request needs {self.needed:,} tokens, the budget leaves {self.available:,}; "
            f"the smallest budget that works is {self.smallest:,}"
        ]
        lines += [f"  {tokens:>8,} tokens  {kind} {item}: {why}" for item, kind, tokens, why in self.biggest]
        lines += [f"  help: {hint}" for hint in self.hints]
        return "\n".join(lines)


class StagesRequired(CannotFit):
    """The open work does not fit together; `stages` is a split of it, each with a context that fits.

    `stages` are `Stage` records for `session.enter`, in their order; `unfit` are the operations that do not fit even
    alone.
    """

    def __init__(self, message: str, stages: Sequence[Any] = (), unfit: Sequence[Any] = ()) -> None:
        self.stages = tuple(stages)
        self.unfit = tuple(unfit)
        super().__init__(message)


class StateBroken(CannotFit):
    """A protected item or a dependency would be lost; `missing` names each."""

    def __init__(self, message: str, missing: Sequence[str] = ()) -> None:
        self.missing = tuple(missing)
        super().__init__(message)


class ContextInsufficient(CannotFit):
    """The finished context does not hold what the task needs; `missing` names each."""

    def __init__(self, message: str, missing: Sequence[str] = ()) -> None:
        self.missing = tuple(missing)
        super().__init__(message)


class CompressionFailed(JettisonError):
    """A compressor broke its contract (raised, invented text, or lost a protected span)."""


class CutAnswer(CompressionFailed):
    """A summariser's answer was cut at its token limit: part of it is not used."""


class ArchiveError(JettisonError):
    """The archive could not store or return content; no stub was written for it."""


class StoreError(JettisonError):
    """A session could not be saved, loaded or read; what was stored before is as it was."""


class StoreConflict(StoreError):
    """Another worker saved this conversation since it was loaded; nothing was overwritten. Call again."""

    def __init__(self, conversation: str, where: str = "") -> None:
        self.conversation = conversation
        super().__init__(f"conversation {conversation!r}{where} was saved by another worker since it was loaded")


class SessionBusy(JettisonError):
    """The session is at work in this same thread or a task of its event loop, or waits for who calls it, as for a
    summariser of its own: waiting here would never end."""


class VaultError(JettisonError):
    """A secret could not be stored, found or decrypted."""


class SecretRefused(VaultError):
    """A call asked for a secret that it may not have. The text is for the agent: give it back as the tool's result.

    `placeholder`, `tool` and `hosts` say what was asked for.
    """

    def __init__(self, message: str, placeholder: str = "", tool: str = "", hosts: Sequence[str] = ()) -> None:
        self.placeholder, self.tool, self.hosts = placeholder, tool, tuple(hosts)
        super().__init__(message)


class SecretGone(VaultError):
    """A placeholder has no secret any more (revoked, expired, wiped), or never had one in this session."""


class VaultKeyMissing(VaultError):
    """The vault's key, or the one that a record was sealed with, is not at hand; everything else goes on."""
