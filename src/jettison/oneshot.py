"""Fit once, without a session to keep: a fresh session's first call."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from jettison.bodies import Body
from jettison.budget import Budget
from jettison.errors import ConfigError
from jettison.plan import Fitted
from jettison.policy import Policy
from jettison.session import Session

__all__ = ["fit", "fit_request"]


def fit(
    messages: Sequence[Any],
    *,
    budget: Budget | int | None = None,
    wire: str = "openai-chat",
    model: str | None = None,
    policy: Policy | None = None,
    system: Any = None,
    tools: Any = None,
    response_schema: Any = None,
    repair: bool = False,
    observe: bool = False,
    prior_tokens: int | None = None,
    **settings: Any,
) -> Fitted:
    """Fit a history once: a fresh `Session`'s first call. `settings` are fields of `Policy`.

    See `Session.fit` for arguments and errors. `budget` defaults to the model's own (`Budget.for_model`).
    """
    session = Session(_policy(policy, budget, model, settings), wire=wire, model=model)
    return session.fit(
        messages,
        system=system,
        tools=tools,
        response_schema=response_schema,
        repair=repair,
        observe=observe,
        prior_tokens=prior_tokens,
    )


def fit_request(
    body: Mapping[str, Any],
    *,
    budget: Budget | int | None = None,
    wire: str = "openai-chat",
    model: str | None = None,
    policy: Policy | None = None,
    repair: bool = False,
    observe: bool = False,
    **settings: Any,
) -> Body:
    """Fit a whole request body once; the model is read from it. See `Session.fit_request`."""
    said = body.get("model") if isinstance(body, Mapping) else None
    named = model or (said if isinstance(said, str) else None)
    session = Session(_policy(policy, budget, named, settings), wire=wire, model=named)
    return session.fit_request(body, repair=repair, observe=observe)


_ARGUMENTS = (
    "budget",
    "model",
    "observe",
    "policy",
    "prior_tokens",
    "repair",
    "response_schema",
    "system",
    "tools",
    "wire",
)


def _policy(policy: Policy | None, budget: Budget | int | None, model: str | None, settings: dict[str, Any]) -> Policy:
    known = [field.name for field in fields(Policy)]
    for name in settings:
        if name not in known:
            near = difflib.get_close_matches(name, [*known, *_ARGUMENTS], 1)
            raise ConfigError(f"there is no setting {name}={f': did you mean {near[0]}=?' if near else ''}")
    if policy is not None:
        if not isinstance(policy, Policy):
            raise ConfigError(f"policy must be a Policy, not {type(policy).__name__}")
        if settings:
            raise ConfigError(f"give {', '.join(settings)} in the policy, not beside it")
        return policy if budget is None else replace(policy, budget=budget)
    if budget is None:
        if model is None:
            raise ConfigError("budget= is missing: give tokens, a Budget, or a model whose window is on record")
        budget = Budget.for_model(model)
    return Policy(budget=budget, **settings)
