"""What is protected, why, and until when."""

import json

import pytest

from jettison import Policy, Protection, Session
from jettison.errors import JettisonError
from jettison.flow.borders import holds

NOISE = "\n".join(f"09:00:{n % 60:02} INFO  worker.tick batch={n} took={n}ms" for n in range(60))


def call(number, name, args, result):
    made = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
    turn = {"role": "assistant", "content": None, "tool_calls": [made]}
    text = result if isinstance(result, str) else json.dumps(result)
    return [turn, {"role": "tool", "tool_call_id": f"c{number}", "content": text}]


def chat(*parts, noise=6):
    out = [{"role": "user", "content": "Refund ORD-48213. Never send anything to the old address."}]
    for part in parts:
        out += part
    for n in range(noise):
        out += [{"role": "assistant", "content": f"Step {n}."}, {"role": "user", "content": f"Log {n}:\n{NOISE}"}]
    return out


def locks(report, reason):
    return [lock for lock in report.protections if lock.reason.startswith(reason)]


REFUND = call(0, "create_refund", {"order_id": "ORD-48213"}, {"status": "pending", "ticket": "RF-20931"})


def test_every_protection_has_an_end_or_says_why_not():
    session = Session(Policy(budget=3_000))
    session.task.pin("Step 1.")
    report = session.fit(chat(REFUND)).report
    assert all(lock.until for lock in report.protections)
    for lock in report.protections:
        if lock.until.startswith("never"):
            assert len(lock.until) > len("never: ")


def test_an_open_operation_holds_its_call_its_ticket_and_its_needs_until_it_is_done():
    session, given = Session(Policy(budget=3_000)), chat(REFUND)
    fitted = session.fit(given)
    held = {lock.text for lock in locks(fitted.report, "open operation") + locks(fitted.report, "needed by")}
    assert {"", "RF-20931"} <= held
    assert "RF-20931" in json.dumps(fitted.messages)
    session.task.complete("op:RF-20931")
    report = session.fit(given).report
    assert not locks(report, "open operation")
    assert not locks(report, "needed by")


def test_pins_by_steps_lapse():
    session = Session(Policy(budget=100_000))
    session.task.pin("ORD-48213", steps=2)
    seen = [bool(locks(session.fit(chat(REFUND, noise=n)).report, "pinned")) for n in range(4)]
    assert seen == [True, True, False, False]


def test_a_pin_until_a_call_is_lifted_by_its_answer():
    session = Session(Policy(budget=100_000))
    session.task.pin("ORD-48213", call="close_case")
    assert locks(session.fit(chat(REFUND)).report, "pinned")[0].until == "close_case has answered"
    given = chat(REFUND) + call(9, "close_case", {}, "closed")
    assert not locks(session.fit(given).report, "pinned")


def test_pins_by_item_id():
    session = Session(Policy(budget=3_000))
    item = session.fit(chat(REFUND), observe=True).report.rows[3].item
    session.task.pin(item)
    report = session.fit(chat(REFUND)).report
    assert [lock.item for lock in locks(report, "pinned")] == [item]
    assert next(row for row in report.rows if row.item == item).decision == "full"


class Rates:
    """An object that is asked item by item."""

    name = "rates"

    def protect_item(self, item, view):
        return Protection(item.id, "a rate", "the case is closed") if "rate" in item.text else None


def whole_view(view):
    return [Protection(item.id, "view rule", "the case is closed") for item in view.items if "rate" in item.text]


def rule(item):
    return "rate" in item.text


@pytest.mark.parametrize(
    ("protector", "reason"), [(Rates(), "a rate"), (whole_view, "view rule"), (rule, "protector rule")]
)
def test_the_callers_protectors(protector, reason):
    given = chat(call(0, "look", {}, "The rate is 1.07." + NOISE[:400]), noise=10)
    session = Session(Policy(budget=3_000, protectors=(protector,)))
    fitted = session.fit(given)
    (lock,) = locks(fitted.report, reason)
    assert lock.until
    assert "The rate is 1.07." in json.dumps(fitted.messages)


def test_what_was_evicted_before_there_was_a_reason_is_noted_and_no_error():
    read = call(0, "read_file", {"path": "a.py"}, "\n".join(f"line {n} of a" for n in range(200)))
    session = Session(Policy(budget=3_000))
    given = chat(read, noise=10)
    report = session.fit(given).report
    assert next(row for row in report.rows if row.message == 2).decision != "full"
    given += call(9, "read_file", {"path": "a.py"}, "File unchanged since last read.")
    report = session.fit(given).report
    (lock,) = locks(report, "original of")
    assert lock.level in ("lost", "present")
    if lock.level == "lost":
        assert any("archive" in note for note in report.notes)


def test_declared_texts_that_stand_nowhere_are_noted():
    session = Session(Policy(budget=50_000))
    session.task.goal = "not said by anybody"
    session.task.constrain("nor this")
    notes = " ".join(session.fit(chat(REFUND)).report.notes)
    assert "declared goal" in notes
    assert "nor this" in notes


def test_the_goal_does_not_waver_between_whole_and_prose():
    """Message 0 of a session under pressure is whole until it is cut, and cut from then on."""
    session, given, seen = Session(Policy(budget=1_200)), [], []
    long = "Refund the tent. " + " ".join(f"Sentence number {n} tells a little more." for n in range(20))
    for n in range(14):
        given += [{"role": "user", "content": long if n == 0 else f"Log {n}:\n{NOISE[:1500]}"}]
        try:
            report = session.fit(given).report
        except JettisonError:
            continue
        finally:
            given += [{"role": "assistant", "content": f"Step {n}."}]
        seen.append(all(lock.whole for lock in locks(report, "goal") if lock.item.startswith("0.")))
    assert seen == sorted(seen, reverse=True)


def test_an_mcp_approval_request_without_response_is_unfinished():
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "server_label": "s3", "name": "drop", "arguments": "{}"}
    given = [{"type": "message", "role": "user", "content": "Drop the bucket."}, asked]
    session = Session(Policy(budget=50_000), wire="openai-responses")
    report = session.fit(given).report
    assert locks(report, "call mcpr_1 is not answered yet")
    answer = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    report = session.fit([*given, answer]).report
    assert not locks(report, "call mcpr_1")


def test_the_chain_of_values_can_be_asked_for():
    session, given = Session(Policy(budget=3_000)), chat(REFUND, call(1, "get_refund", {"ticket": "RF-20931"}, "soon"))
    rows = session.fit(given).report.rows
    result = next(row for row in rows if row.kind == "result")
    asked = [row for row in rows if row.kind == "call"][1]
    (edge,) = session.dependencies(result.item)
    assert (edge.value, edge.producer, edge.consumer) == ("rf-20931", result.item, asked.item)
    assert edge.argument == "ticket"
    assert edge in session.dependencies(asked.item)


def test_a_need_is_kept_itself_and_not_inside_a_longer_id():
    longer = call(2, "get_order", {"id": 2}, {"order": "ORD-17", "sum": 9})
    messages = chat(call(1, "get_order", {"id": 1}, {"order": "ORD-1", "sum": 5}), longer, noise=4)
    session = Session(Policy(budget=1_120))
    session.fit(messages[:3])
    session.task.begin("refund", needs=["ORD-1"])
    fitted = session.fit(messages)
    assert fitted.report.checks["sufficiency"].ok
    assert '"ORD-1"' in json.dumps(fitted.messages).replace("\\", "")


def test_of_look_alikes_in_one_result_the_one_that_is_needed_is_kept():
    rows = [{"order": f"ORD-{n}", "note": f"row {n} of the list, nothing to see"} for n in (*range(19, 9, -1), 1)]
    messages = chat(call(1, "list_orders", {}, {"rows": rows}), noise=4)
    session = Session(Policy(budget=1_150))
    session.task.begin("refund", needs=["ORD-1"])
    fitted = session.fit(messages)
    assert fitted.report.checks["sufficiency"].ok
    assert '"ORD-1"' in json.dumps(fitted.messages).replace("\\", "")


def test_an_evicted_need_comes_back_in_a_note_though_a_longer_id_still_stands():
    pages = [turn for n in range(2, 10) for turn in call(n, "run", {"cmd": f"step {n}"}, NOISE)]
    old, longer = (
        call(0, "get_order", {"id": 1}, {"order": "ORD-1"}),
        call(1, "get_order", {"id": 2}, {"order": "ORD-17"}),
    )
    messages = [{"role": "user", "content": "Look at the orders."}, *old, *pages, *longer]
    session = Session(Policy(budget=300))
    assert not holds(json.dumps(session.fit(messages).messages), "ORD-1")
    session.task.begin("refund", needs=["ORD-1"])
    later = [*messages, {"role": "assistant", "content": "Ok."}, {"role": "user", "content": "Refund it."}]
    fitted = session.fit(later)
    assert holds(json.dumps(fitted.messages), "ORD-1")
    assert [lock.level for lock in locks(fitted.report, "needed by refund")] == ["noted"]
