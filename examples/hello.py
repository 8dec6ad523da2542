"""Jettison in one file, offline: an agent's history that outgrew its budget, and what was decided about it.

Run: python examples/hello.py
"""

import json

from jettison import fit

catalogue = [{"sku": f"TNT-{n}", "name": f"Tent {n}", "price": 199 + n, "stock": n % 9} for n in range(120)]


def call(number: int, name: str, **arguments: object) -> dict:
    function = {"name": name, "arguments": json.dumps(arguments)}
    return {"role": "assistant", "tool_calls": [{"id": f"call_{number}", "type": "function", "function": function}]}


def answer(number: int, result: object) -> dict:
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": json.dumps(result)}


messages = [
    {"role": "system", "content": "You are the support agent of a shop for tents."},
    {"role": "user", "content": "Refund the tent of ORD-4821. Do not cancel ORD-4877, it is a present."},
    call(1, "get_order", order_id="ORD-4821"),
    answer(1, {"order_id": "ORD-4821", "sku": "TNT-17", "paid": 216, "state": "delivered"}),
    call(2, "search_products", query="tent"),
    answer(2, catalogue),
    call(3, "create_refund", order_id="ORD-4821", amount=216),
    answer(3, {"status": "pending", "ticket": "RF-209"}),
    {"role": "user", "content": "Thank you. Is the refund through?"},
]

fitted = fit(messages, budget=1_500)

report = fitted.report
print(f"{report.before} -> {report.after} tokens, limit {report.limit}; cache: {report.cache.epoch}")
for name, check in report.checks.items():
    print(f"  {name}: {'holds' if check.ok else 'FAILS'} ({check.detail})")
for row in report.rows:
    print(f"{row.kind:12} {row.before:>5} -> {row.after:<5} {row.decision:10} {row.reason}")
