"""A process that answers requests, each with a session loaded from the store, and prints each output. To be killed.

python session_child.py FILE-OR-ADDRESS SEED FIRST
"""

from __future__ import annotations

import base64
import json
import sys

from fitting_child import BUDGET, canary, steps

__all__ = ["KEY", "main", "secrets_of"]

KEY = base64.b64encode(bytes(32)).decode()
"""Of a vault that holds nothing real."""


def secrets_of(where: str) -> str:
    """Where the secrets are kept: a table of the same database, or a file beside."""
    return where if "://" in where else f"{where}.secrets"


def main(where: str, seed: int, first: int) -> None:
    from jettison import Policy, Session
    from jettison.archive import opened
    from jettison.store import opened as opened_store
    from jettison.vault import Vault

    archive, store = opened(where), opened_store(where)
    for at, messages in enumerate(steps(seed, canary(seed))):
        if at < first:
            continue
        policy = Policy(budget=BUDGET, counter=count)
        vault = Vault(secrets_of(where), keys=KEY, rule_sets=())
        session = Session(policy, archive=archive, store=store, conversation=f"run-{seed}", vault=vault)
        session.task.constrain("Find out what went wrong")
        print(json.dumps([at, session.fit(messages).messages], ensure_ascii=False), flush=True)


def count(text: str) -> int:
    return len(text) // 3


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
