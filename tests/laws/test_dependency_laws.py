"""Execution dependencies: what an open operation needs is there or named, in either language."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jettison import Policy, Session
from jettison.errors import BudgetUnreachable, CannotFit
from laws.support import reads, session_for, weight
from rendering import render
from strategies import WIRES, Act, Call, Reply, Say, budgets, law, scripts

per_wire = pytest.mark.parametrize("wire", WIRES)
TICKET, ORDER = "RF-20931-x", "ORD-48213-y"
PENDING = Act((Call("refund", {"order_id": ORDER, "amount": 7}, json.dumps({"status": "pending", "ticket": TICKET})),))


@st.composite
def with_refund(draw, wire):
    """Any history, with a refund begun somewhere in it that is not finished."""
    script = draw(scripts())
    places = [n for n, turn in enumerate(script.turns) if isinstance(turn, Say) and turn.role == "user"]
    at = draw(st.sampled_from(places))
    turns = (
        *script.turns[: at + 1],
        PENDING,
        Reply("The refund is under way."),
        Say("Go on."),
        *script.turns[at + 1 :],
    )
    history = render(replace(script, turns=turns), wire)
    return history, draw(budgets(weight(history)))


def named(error, value):
    """Whether an error says that the value is what does not fit or is missing."""
    held = [lock.text for lock in error.report.protections]
    return value in str(error) or value in held or any(value in text for text in held)


def assert_named(error, messages, *needs):
    """The error names what the open operations need, or these needs."""
    found = needs or [need for op in error.report.task.open_operations for need in op.needs if reads(messages, need)]
    assert all(named(error, need) for need in found)


@per_wire
@given(data=st.data())
@law()
def test_what_an_open_operation_needs_is_in_the_output_or_an_error_names_it(wire, data):
    history, budget = data.draw(with_refund(wire))
    session = session_for(history, budget)
    for prefix in history.prefixes():
        try:
            fitted = session.fit(prefix, system=history.system, tools=history.tools)
        except BudgetUnreachable as error:
            assert_named(error, prefix)
            continue
        operations = {op.handle: op for op in fitted.report.task.operations}
        if reads(prefix, TICKET):
            assert TICKET in operations
        for op in operations.values():
            assert not op.open or all(reads(fitted.messages, need) for need in op.needs)


@per_wire
@given(data=st.data())
@law(15)
def test_what_a_declared_operation_needs_is_in_the_output_or_an_error_names_it(wire, data):
    history, budget = data.draw(with_refund(wire))
    session = session_for(history, budget)
    need = data.draw(st.sampled_from((TICKET, ORDER, "nowhere-4471")))
    op = session.task.begin("label", needs=[need])
    try:
        fitted = session.fit(history.messages, system=history.system, tools=history.tools)
    except CannotFit as error:
        if need != "nowhere-4471" or not isinstance(error, BudgetUnreachable):
            assert_named(error, history.messages, need)
        return
    assert reads(fitted.messages, need)
    session.task.complete(op)
    report = session.fit(history.messages, system=history.system, tools=history.tools).report
    assert not [lock for lock in report.protections if "label" in lock.reason]


# One history, told twice. Tools and identifiers are the same; what people and tools say is not.

ENGLISH = {
    "system": "You are the support agent. Never show internal notes.",
    "goal": "My tent from ORD-48213 is torn, I want a refund. Do not cancel ORD-48377 whatever happens. "
    "I don't have the receipt.",
    "ack": "Thanks!",
    "pending": {"status": "pending", "ticket": "RF-20931", "order_id": "ORD-48213"},
    "tale": "We only took it to the park three times. Is there a warranty?",
    "skill": "LABELS\nNever print a label twice.\nAsk me before changing the carrier.\nLabels are A6.",
    "todo": [{"content": "print the label", "status": "in_progress"}, {"content": "write", "status": "done"}],
    "change": "Instead of the tent, exchange the stove.",
    "background": "Export of the invoices started in background with ID: bash_3",
    "approval": "Request REQ-18 is awaiting approval by the team lead.",
    "approved": "REQ-18 approved.",
    "unchanged": "File unchanged since last read.",
    "rule": "Use only the new e-mail.",
    "plain": "What is the weather like on the coast?",
    "go": "Go on.",
}
RUSSIAN = {
    "system": "Вы агент поддержки. Никогда не показывай внутренние заметки.",
    "goal": "Моя палатка из ORD-48213 порвана, хочу вернуть деньги. Ни в коем случае не отменяй ORD-48377. "
    "У меня нет чека.",
    "ack": "Спасибо!",
    "pending": {"статус": "в обработке", "ticket": "RF-20931", "order_id": "ORD-48213"},
    "tale": "Мы только три раза ходили с ней в парк. Есть ли гарантия?",
    "skill": (
        "ЭТИКЕТКИ\nНикогда не печатай этикетку дважды.\nСпроси меня, прежде чем менять перевозчика.\n"
        "Формат этикеток A6."
    ),
    "todo": [
        {"content": "напечатать этикетку", "status": "в работе"},
        {"content": "написать", "status": "готово"},
    ],
    "change": "Вместо этого обменяй плитку.",
    "background": "Выгрузка счетов запущена в фоне, процесс bash_3",
    "approval": "Заявка REQ-18 ожидает согласования руководителя.",
    "approved": "REQ-18 одобрена.",
    "unchanged": "Файл не изменился с прошлого чтения.",
    "rule": "Используй только новую почту.",
    "plain": "Какая погода на побережье?",
    "go": "Дальше.",
}
LOG = "\n".join(f"09:00:{n % 60:02} INFO  worker.tick batch={n} took={n}ms" for n in range(50))


def told(words):
    """The scripted history in one of the languages: 37 messages."""
    out, number = [{"role": "system", "content": words["system"]}], 0

    def say(text):
        out.append({"role": "user", "content": text})

    def act(name, args, result):
        nonlocal number
        number += 1
        made = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        out.append({"role": "assistant", "content": None, "tool_calls": [made]})
        out.append({"role": "tool", "tool_call_id": f"c{number}", "content": text})

    say(words["goal"])
    act("get_order", {"order_id": "ORD-48213"}, {"order_id": "ORD-48213", "state": "delivered"})
    act("create_refund", {"order_id": "ORD-48213"}, words["pending"])
    out.append({"role": "assistant", "content": "RF-20931"})
    say(words["ack"])
    act("read_file", {"path": "log.txt"}, LOG)
    say(words["tale"])
    act("read_skill", {"name": "labels"}, words["skill"])
    act("TodoWrite", {"todos": words["todo"]}, "ok")
    say(words["change"])
    act("bash", {"command": "export &"}, words["background"])
    act("request_approval", {"what": "stove"}, words["approval"])
    say(words["plain"])
    act("read_file", {"path": "log.txt"}, words["unchanged"])
    say(words["rule"])
    act("check_request", {"id": "REQ-18"}, words["approved"])
    for n in range(3):
        act("look", {"n": n}, LOG)
    out.append({"role": "assistant", "content": "ok"})
    say(words["go"])
    return out


@pytest.mark.parametrize("budget", [100_000, 4_000])
def test_russian_and_english_versions_give_the_same_protections(budget):
    def protections(words):
        history, seen = told(words), []
        session = Session(Policy(budget=budget))
        for end in range(2, len(history) + 1):
            if history[end - 1]["role"] != "assistant":
                report = session.fit(history[:end]).report
                task = report.task
                locks = {(lock.item.split("-")[0], lock.reason, lock.whole) for lock in report.protections}
                seen.append((locks, {(op.id, op.open) for op in task.operations}, len(task.constraints)))
        return seen

    english, russian = protections(ENGLISH), protections(RUSSIAN)
    assert len(told(ENGLISH)) >= 25
    for one, two in zip(english, russian, strict=True):
        assert one == two
    locks, operations, constraints = english[-1]
    reasons = {reason for _, reason, _ in locks}
    assert operations == {("op:RF-20931", True), ("op:bash_3", True), ("op:REQ-18", False)}
    assert constraints == 3
    assert {"goal", "guard of the open list", "original of an unchanged result", "open entries of TodoWrite"} <= reasons
