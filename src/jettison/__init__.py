"""Jettison: an eviction policy for the context of LLM agents."""

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
from jettison.plan import Decision, Edge, Fitted, Plan, Protection, Report, Score, View, apply
from jettison.policy import Policy
from jettison.session import Session, fit, fit_request
from jettison.task import Operation, Task
from jettison.tool_policy import ToolPolicy

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
    "StagesRequired",
    "StateBroken",
    "StoreConflict",
    "StoreError",
    "Task",
    "ToolPolicy",
    "Unit",
    "VaultError",
    "View",
    "__version__",
    "apply",
    "fit",
    "fit_request",
]
