"""What is given up when an epoch was not enough, step by step, and what the report says of it."""

import json
import re

import pytest

from jettison import Policy, Session, fit
from jettison.errors import BudgetUnreachable
from jettison.tool_policy import ToolPolicy
from strategies import log_text
from unit.flow.reading import call, join, user

QUESTION = "What does the warranty say about torn tents? Answer in one sentence."
TENTS = [
    "The warranty covers torn tents for two years.",
    "A torn tent is repaired, not replaced.",
    "Tents are made of nylon.",
]
OTHER = [f"The cafeteria on floor {n} opens at {n + 6} and serves soup number {n}." for n in range(1, 40)]


def chunk(title, sentences):
    return {
        "type": "search_result",
        "title": title,
        "source": f"https://kb.test/{title}",
        "content": [{"type": "text", "text": "\n".join(sentences)}],
    }


CHUNKS = [*(chunk(f"cafeteria-{n}", OTHER) for n in range(3)), chunk("warranty", TENTS * 2)]
RAG = [{"role": "user", "content": [*CHUNKS, {"type": "text", "text": QUESTION}]}]


def rag(budget):
    session = Session(Policy(budget=budget, counter="o200k"), wire="anthropic")
    return session, session.fit(RAG)


def written(fitted):
    return json.dumps(fitted.messages, ensure_ascii=False)


def test_nothing_is_escalated_while_it_fits():
    _, fitted = rag(100_000)
    assert fitted.messages == RAG
    assert fitted.report.escalation == ()


@pytest.mark.parametrize("budget", [700, 1_000, 2_000])
def test_retrieved_documents_of_the_latest_turn_give_way_first_the_question_stays(budget):
    session, fitted = rag(budget)
    report = fitted.report
    assert [step.step for step in report.escalation] == ["retrieved documents reduced"]
    step = report.escalation[0]
    assert step.before > report.limit >= step.after
    assert QUESTION in written(fitted)
    assert "covers torn tents for two years" in written(fitted)
    assert report.ok
    assert report.after <= budget
    cut = [row for row in report.rows if row.decision != "full"]
    assert {row.kind for row in cut} == {"document"}
    assert all("cafeteria" in session.recall(row.handle) or "tent" in session.recall(row.handle) for row in cut)


def test_each_chunk_leaves_at_least_a_mark_in_the_latest_turn():
    _, fitted = rag(400)
    assert len(fitted.messages[0]["content"]) == len(CHUNKS) + 1


def test_what_is_gone_on_with_is_the_cut_documents():
    session, fitted = rag(700)
    longer = [*RAG, {"role": "assistant", "content": "Two years."}]
    assert session.fit(longer).messages[:1] == fitted.messages


def test_the_steps_stand_in_their_order_and_each_was_needed():
    messages = join(
        user(f"Find the error. {' '.join(OTHER)}"), call("run", {"cmd": "tail"}, log_text(1, 9_000), number=1)
    )
    seen = set()
    order = ["everything evictable reduced again", "goals kept as prose", "results of the latest unit cut"]
    for budget in range(400, 3_000, 300):
        try:
            report = Session(Policy(budget=budget, counter="o200k")).fit(messages).report
        except BudgetUnreachable as error:
            report = error.report
        names = [step.step for step in report.escalation]
        assert names == order[: len(names)]
        assert all(step.after > report.limit for step in report.escalation[:-1])
        assert all(step.after <= step.before for step in report.escalation)
        seen.add(len(names))
    assert 3 in seen


def test_an_attempt_that_failed_says_what_was_tried():
    with pytest.raises(BudgetUnreachable) as caught:
        rag(40)
    steps = caught.value.report.to_dict()["escalation"]
    assert [step["step"] for step in steps][:2] == ["retrieved documents reduced", "everything evictable reduced again"]
    assert len(steps) == 4
    assert all(set(step) == {"step", "before", "after"} for step in steps)


def test_what_degrading_gave_up_is_a_step():
    session = Session(Policy(budget=120, counter="o200k", on_unsafe="degrade"))
    for sentence in OTHER[:12]:
        session.task.pin(sentence)
    report = session.fit(join(user(" ".join(OTHER)), user("Go on with it."))).report
    assert report.degraded
    assert report.escalation[-1].step == "protections given up"
    json.loads(report.to_json())


LONG = " ".join(OTHER)
KEPT = ToolPolicy("keep", keep="always")


@pytest.mark.parametrize(
    ("messages", "tools"),
    [
        ([{"role": "system", "content": LONG}, *user("Go on.")], ()),
        (join(user("Go on."), call("run", {"text": LONG}, "", number=1)[:1]), ()),
        (
            join(user("Read."), call("keep", {}, LONG, number=1), call("run", {}, "ok", number=2), user("Go on.")),
            (KEPT,),
        ),
    ],
    ids=["instructions", "a call without an answer", "what a tool policy keeps"],
)
def test_degrading_never_gives_up_what_the_docs_say_it_does_not(messages, tools):
    with pytest.raises(BudgetUnreachable) as caught:
        Session(Policy(budget=120, counter="o200k", on_unsafe="degrade", tools=tools)).fit(messages)
    assert caught.value.smallest > 120
    assert not any("degrade" in hint for hint in caught.value.hints)


def test_degrading_is_offered_only_where_it_can_help():
    def hints(*messages):
        with pytest.raises(BudgetUnreachable) as caught:
            Session(Policy(budget=120, counter="o200k")).fit(join(*messages))
        return " ".join(caught.value.hints)

    assert "degrade" in hints(user(f"Never ship to these: {LONG}"))
    assert "degrade" not in hints([{"role": "system", "content": LONG}], user("Go on."))


def test_the_biggest_items_name_each_reason_once():
    rules = "Never open parcel PX-1. Never open parcel PX-2. Never open parcel PX-3. " + LONG
    with pytest.raises(BudgetUnreachable) as caught:
        Session(Policy(budget=60, counter="o200k")).fit([{"role": "system", "content": rules}, *user("Go on.")])
    assert caught.value.biggest[0][3] == "instruction, constraint (system)"


ORDERS = [
    {"role": "user", "content": "\n".join(f"line {n}: order ORD-{n:04} goes to depot {n * 3}" for n in range(60))}
]
WANTED = [f"line {n}: order ORD-{n:04} goes" for n in range(0, 60, 3)]


@pytest.mark.parametrize("budget", [60, 220, 400])
@pytest.mark.parametrize("how", ["begin", "pin", "constrain"])
@pytest.mark.parametrize("loaded", [False, True])
def test_what_degrade_gave_up_is_not_asked_for_again(budget, how, loaded):
    """It was demanded as a note at the next call, which then did not fit, or turned the request inside out."""
    policy = Policy(budget=budget, on_unsafe="degrade")
    session = Session(policy)
    if how == "begin":
        session.task.begin("refund", needs=WANTED)
    for text in WANTED if how != "begin" else ():
        getattr(session.task, how)(text)
    first = session.fit(ORDERS)
    if loaded:
        session = Session.load(session.save(), policy)
    again = session.fit(ORDERS)
    assert again.messages == first.messages
    assert again.report.after == first.report.after <= budget
    lost = [line for line in first.report.degraded if "line" in line]
    assert lost
    sent = str(first.messages)
    assert all(line.split(" ", 3)[-1] not in sent for line in lost if "line" in line), (
        "what is still there is not named"
    )


TOOL = {"type": "function", "name": "run", "description": "Run a command.", "parameters": {}}
FIELDS = {f"field_{n}": {"type": "string", "description": "What is in it."} for n in range(60)}
LARGE = {"type": "object", "properties": FIELDS}


@pytest.mark.parametrize(
    ("given", "named", "least", "most"),
    [
        ({"prior_tokens": 900, "tools": [TOOL]}, "prior_tokens", 900, 900),
        ({"response_schema": LARGE, "tools": [TOOL]}, "response schema", 800, 1_400),
        ({"tools": [{**TOOL, "parameters": LARGE}]}, "tool schemas", 800, 1_400),
    ],
)
def test_the_error_names_what_is_no_item_with_its_tokens(given, named, least, most):
    with pytest.raises(BudgetUnreachable) as caught:
        fit([{"role": "user", "content": "Go."}], budget=500, wire="openai-responses", **given)
    (hint,) = (hint for hint in caught.value.hints if "tokens)" in hint)
    assert named in hint
    (tokens,) = map(int, re.findall(r"\d+", hint.replace(",", "")))
    assert least <= tokens <= most
    assert caught.value.needed - tokens < 60


@pytest.mark.parametrize("on_unsafe", ["raise", "degrade"])
@pytest.mark.parametrize("response_schema", [None, LARGE])
def test_asked_again_the_error_is_the_same_and_nothing_is_counted_again(on_unsafe, response_schema):
    tools = [{**TOOL, "name": f"run_{n}", "parameters": LARGE} for n in range(4)]
    counted = []

    def counter(text):
        counted.append(text)
        return len(text) // 4

    session, said, sizes = Session(Policy(budget=500, counter=counter, on_unsafe=on_unsafe)), [], []
    for _ in range(3):
        counted.clear()
        with pytest.raises(BudgetUnreachable) as caught:
            session.fit(user("Go on."), tools=tools, response_schema=response_schema)
        said.append((str(caught.value), caught.value.hints, caught.value.report.to_dict()["checks"]))
        sizes.append(sum(map(len, counted)))
    assert said[0] == said[1] == said[2]
    assert any("tool schemas" in hint for hint in said[0][1])
    assert sizes[0] < 2.5 * len(json.dumps([tools, response_schema])), "the sum, and each alone for the report"
    assert sizes[1:] == [0, 0]


def test_schemas_that_are_others_are_counted():
    session, takes = Session(Policy(budget=500, counter="o200k")), []
    for count in (4, 2):
        with pytest.raises(BudgetUnreachable) as caught:
            session.fit(user("Go on."), tools=[{**TOOL, "name": f"run_{n}", "parameters": LARGE} for n in range(count)])
        (hint,) = (hint for hint in caught.value.hints if "tool schemas" in hint)
        takes += map(int, re.findall(r"\d+", hint.replace(",", "")))
    assert abs(takes[0] - 2 * takes[1]) < 20
