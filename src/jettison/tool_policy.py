"""Tool policies: what the caller, or a tool's own annotations, say about its results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from jettison.errors import ConfigError

__all__ = ["ToolPolicies", "ToolPolicy", "policies_for"]


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """What is known of a tool, or of all whose names match. Raises ConfigError for a `keep` that does not exist."""

    name: str
    """The tool's name, or a pattern with `*`, `?` and `[...]`."""
    refetchable: bool | None = None
    """Whether the same call gives the same again, at no harm: such results are the first to go. None: not known."""
    produces: tuple[str, ...] = ()
    """Kinds of values that its results hold, as key names: `("order_id",)`."""
    consumes: tuple[str, ...] = ()
    """Kinds of values that its arguments need; results that hold such keys are worth more."""
    keep: str | None = None
    """`always`: every result is protected until `session.task.release` of its id or of the tool's name. `latest`: the
    newest one is."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ConfigError("a ToolPolicy needs the name of a tool, or a pattern")
        if self.keep not in (None, "always", "latest"):
            raise ConfigError(f"keep must be 'always', 'latest' or None, not {self.keep!r}")
        for name in ("produces", "consumes"):
            value = getattr(self, name)
            if isinstance(value, str):
                raise ConfigError(f"{name} is a tuple of key names, not one string")
            object.__setattr__(self, name, tuple(value))


_NOTHING = ToolPolicy("*")


@dataclass(frozen=True)
class ToolPolicies:
    """Policies in order: of those that match a tool, the first that says something counts."""

    policies: tuple[ToolPolicy, ...] = ()
    _known: dict[str, ToolPolicy] = field(default_factory=dict, repr=False, compare=False)

    @property
    def keeps(self) -> bool:
        """Whether any of them protects results."""
        return any(policy.keep for policy in self.policies)

    def of(self, name: str | None) -> ToolPolicy:
        """All that is said of a tool, as one policy."""
        if not name or not self.policies:
            return _NOTHING
        known = self._known.get(name)
        if known is None:
            found = [policy for policy in self.policies if fnmatchcase(name, policy.name)]
            known = self._known[name] = ToolPolicy(
                name,
                next((policy.refetchable for policy in found if policy.refetchable is not None), None),
                tuple(dict.fromkeys(kind for policy in found for kind in policy.produces)),
                tuple(dict.fromkeys(kind for policy in found for kind in policy.consumes)),
                next((policy.keep for policy in found if policy.keep is not None), None),
            )
        return known

    def needed(self) -> frozenset[str]:
        """Kinds of values that some tool needs, lower case."""
        return frozenset(kind.lower() for policy in self.policies for kind in policy.consumes)


def policies_for(declared: Iterable[ToolPolicy], tools: Any) -> ToolPolicies:
    """The declared policies, then what the tools' MCP annotations say (readOnlyHint, idempotentHint, destructiveHint).

    They stand at the tool or under `annotations`. Hints are only hints: a declared policy comes first.
    """
    hinted = [policy for tool in tools or () if (policy := _hinted(tool)) is not None]
    return ToolPolicies((*declared, *hinted))


def _hinted(tool: Any) -> ToolPolicy | None:
    if not isinstance(tool, Mapping):
        return None
    inner = tool.get("function")
    inner = inner if isinstance(inner, Mapping) else {}
    name = tool.get("name") or inner.get("name")
    hints: dict[str, Any] = {}
    for place in (tool, inner, tool.get("annotations"), inner.get("annotations")):
        if isinstance(place, Mapping):
            hints.update(
                (key, place[key]) for key in ("readOnlyHint", "idempotentHint", "destructiveHint") if key in place
            )
    if not isinstance(name, str) or not name or not hints:
        return None
    if hints.get("readOnlyHint") is True:
        return ToolPolicy(name, refetchable=True)
    if hints.get("destructiveHint") is True or hints.get("readOnlyHint") is False:
        return ToolPolicy(name, refetchable=False)  # to call it again is to do it again
    return ToolPolicy(name, refetchable=True) if hints.get("idempotentHint") is True else None
