"""Jettison: an eviction policy for the context of LLM agents."""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from jettison.budget import Budget
from jettison.errors import (
    ArchiveError,
    BudgetUnreachable,
    CannotFit,
    CompressionFailed,
    ConfigError,
    ContextInsufficient,
    InvalidInput,
    JettisonError,
    Problem,
    SessionBusy,
    StagesRequired,
    StateBroken,
    StoreConflict,
    StoreError,
    VaultError,
)
from jettison.items import Fidelity, Item, Kind, Unit
from jettison.oneshot import fit, fit_request
from jettison.plan import Decision, Edge, Fitted, Plan, Protection, Report, Score, View, apply
from jettison.policy import Policy
from jettison.session import Session
from jettison.task import Operation, Stage, Task
from jettison.tool_policy import ToolPolicy

if _TYPE_CHECKING:
    from jettison.integrations.clients import wrap
    from jettison.recall import recall_answer, recall_tool
    from jettison.vault import Vault

__version__ = "0.1.0"
__all__ = [
    "ArchiveError",
    "Budget",
    "BudgetUnreachable",
    "CannotFit",
    "CompressionFailed",
    "ConfigError",
    "ContextInsufficient",
    "Decision",
    "Edge",
    "Fidelity",
    "Fitted",
    "InvalidInput",
    "Item",
    "JettisonError",
    "Kind",
    "Operation",
    "Plan",
    "Policy",
    "Problem",
    "Protection",
    "Report",
    "Score",
    "Session",
    "SessionBusy",
    "Stage",
    "StagesRequired",
    "StateBroken",
    "StoreConflict",
    "StoreError",
    "Task",
    "ToolPolicy",
    "Unit",
    "Vault",
    "VaultError",
    "View",
    "__version__",
    "apply",
    "fit",
    "fit_request",
    "recall_answer",
    "recall_tool",
    "wrap",
]

_LATER = {
    "Vault": "jettison.vault",
    "recall_answer": "jettison.recall",
    "recall_tool": "jettison.recall",
    "wrap": "jettison.integrations.clients",
}
"""Names whose modules are loaded when they are first used: not every program needs them."""


def __getattr__(name: str) -> object:
    if name not in _LATER:
        raise AttributeError(f"module 'jettison' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_LATER[name]), name)
