"""A history that is edited, rewound or forked: the branch is whole, weighed anew, and the same after a load."""

import copy

import pytest

from jettison import Policy, Session, fit
from jettison.notes import Note


def user(text):
    return {"role": "user", "content": text}


def says(text):
    return {"role": "assistant", "content": text}


def log(mark, lines=60):
    return "\n".join(f"09:{n % 60:02} ORD-{mark}{n:03} packed lot {n * 7 + mark}" for n in range(lines))


def read(number, page=None, lines=60):
    page = number if page is None else page
    function = {"name": "read", "arguments": f'{{"p":{page}}}'}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": log(page, lines)},
    ]


def history(reads, lines=60):
    made = [message for number in range(reads) for message in read(number, lines=lines)]
    return [user("Handle."), *made, says("ok"), user("go on")]


def weight(messages, wire):
    return fit(copy.deepcopy(messages), budget=10**8, wire=wire, counter="o200k").report.before


def test_a_branch_is_counted_anew():
    """What framing and notes took in the branch that was left was taken from the count of the new one: it went over."""
    session = Session(Policy(budget=3_000, counter="o200k"), wire="anthropic")
    talk = [user("Work off the list.")]
    for turn in range(60):
        talk += [says(f"Answer {turn}: " + "blah " * 40), user(f"Never touch table T{turn}.")]
        session.fit(talk)
    fresh = [user("A new topic.")]
    for turn in range(150):
        fitted = session.fit(fresh)
        assert fitted.report.after == weight(fitted.messages, "anthropic") <= 3_000
        fresh += [says(f"Reply {turn} " + "w " * 6), user(f"Say {turn} " + "v " * 6)]


@pytest.mark.parametrize("loaded", [False, True])
def test_handles_of_a_branch_resolve_also_after_a_load(loaded):
    session, given = Session(3_000), history(8)
    session.fit(given)
    edited = [user("Handle it."), *given[1:]]
    if loaded:
        session = Session.load(session.save(), 3_000)
    rows = [row for row in session.fit(edited).report.rows if row.handle]
    calls = [message["tool_calls"][0]["function"]["arguments"] for message in edited if "tool_calls" in message]
    texts = [*(message["content"] for message in edited), *calls]
    assert rows
    assert all(session.recall(row.handle) in texts for row in rows)


@pytest.mark.parametrize("budget", [1_200, 1_500, 2_000])
def test_a_branch_after_a_load_has_the_bytes_of_one_that_lived_on(budget):
    policy = Policy(budget=budget, profile="economy")
    given = [user("Handle.")]
    session = Session(policy, conversation="c", archive=":memory:")
    for number in range(6):
        given += read(number, lines=80)
        session.fit(given)
    other = Session.load(session.save(), policy, archive=":memory:")
    edited = [user("Handle it."), *given[1:], *read(9, page=2, lines=80)]
    assert session.fit(edited).messages == other.fit(edited).messages


def searched(text):
    found = {"type": "web_search_result", "title": "q", "url": "https://example.org", "page_age": None}
    return [{**found, "encrypted_content": text}]


def test_a_call_of_the_server_stays_with_its_result():
    given = []
    for turn in range(8):
        call = {"type": "server_tool_use", "id": f"s{turn}", "name": "web_search", "input": {"query": f"page {turn}"}}
        result = {"type": "web_search_tool_result", "tool_use_id": f"s{turn}", "content": searched("abc " * 100)}
        answer = {"type": "text", "text": f"Answer {turn}: " + "bar " * 60}
        given += [user(f"Question {turn}: " + "foo " * 60), {"role": "assistant", "content": [call, result, answer]}]
    given.append(user("And now?"))
    session = Session(1_500, wire="anthropic")
    session.fit(given)
    edited = copy.deepcopy(given)
    edited[1]["content"][1]["content"] = searched("none")
    fit(session.fit(edited).messages, budget=10**6, wire="anthropic")  # raises where one stands without the other


@pytest.mark.parametrize("rewound", [False, True])
def test_an_answer_stays_with_the_reasoning_that_its_wire_ties_it_to(rewound):
    given = []
    for turn in range(6):
        asked = {"type": "input_text", "text": f"Check page {turn}.\n{log(turn)}"}
        said = {"type": "output_text", "text": f"Page {turn} is fine, seal SEAL-{turn}77-X.\n{log(turn + 10, 30)}"}
        given += [
            {"type": "message", "role": "user", "content": [asked]},
            {"type": "reasoning", "id": f"rs_{turn}", "summary": [], "encrypted_content": "gAAA" + "x" * 40},
            {"type": "message", "role": "assistant", "id": f"msg_{turn}", "status": "completed", "content": [said]},
        ]
    given.append({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "And now?"}]})
    session = Session(4_000, wire="openai-responses", model="gpt-5")
    session.fit(given)
    if rewound:
        session.task.begin("refund", needs=["SEAL-077-X"])
        given = [*given[:-4], given[-1]]
    else:
        given = copy.deepcopy(given)
        given[2]["content"][0]["text"] = "Page 0 is fine."
    ids = {message.get("id") for message in session.fit(given).messages}
    assert "msg_0" in ids
    assert all(f"rs_{turn}" in ids for turn in range(6) if f"msg_{turn}" in ids)


# reasoning that the model checks


def thought(name):
    return {"type": "thinking", "thinking": name, "signature": f"sig-{name}=="}


def turn_of(number):
    call = {"type": "tool_use", "id": f"t{number}", "name": "read", "input": {"p": number}}
    result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": log(number)}
    return [
        user(f"Check page {number}."),
        {"role": "assistant", "content": [thought(f"T{number}a"), call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": [thought(f"T{number}b"), {"type": "text", "text": f"{number} is fine."}]},
    ]


def thoughts(messages):
    """(what was thought, what stands before it) of a request."""
    for at, message in enumerate(messages):
        for block in message["content"] if isinstance(message["content"], list) else ():
            if block["type"] == "thinking":
                yield block["thinking"], messages[:at]


@pytest.mark.parametrize("loaded", [False, True])
@pytest.mark.parametrize("back", range(4))
def test_rewound_into_a_turn_its_thoughts_stand_behind_what_they_were_thought_behind(back, loaded):
    session, given, bound, points = Session(4_000, wire="anthropic", model="claude-opus-5-5"), [], {}, []
    for number in range(5):
        for message in turn_of(number):
            if message["role"] == "assistant":
                sent = copy.deepcopy(session.fit(given).messages)
                bound |= {name: sent for name, _ in thoughts([message])}
            given = [*given, message]
            if number and message["role"] == "user" and isinstance(message["content"], list):
                points.append(given)
    if loaded:
        session = Session.load(session.save(), 4_000)
    sent = session.fit(points[back]).messages
    assert all(bound[name] == before for name, before in thoughts(sent))


def agent(seed, budget, *, summarizer=None, operation=False):
    """Runs a chat with some thoughts in it; yields each request, with what was sent when each thought was made."""
    import random

    draw, words = random.Random(seed), ["router", "quota", "worker", "ledger", "mailer", "parser", "invoice", "depot"]
    session = Session(Policy(budget=budget, summarizer=summarizer), wire="anthropic", model="claude-opus-5-5")
    given, bound, needs = [], {}, ""
    for number in range(40):
        given.append(
            user(f"Question {number}: {' '.join(draw.choices(words, k=draw.randrange(5, 150)))} ORD-{number:03}.")
        )
        if operation and number == 15:
            needs = session.task.begin("refund", needs=["ORD-001"])
        if operation and number == 18:
            session.task.complete(needs)
        fitted = session.fit(given)
        yield fitted, bound
        said = {"type": "text", "text": f"Answer {number}: {' '.join(draw.choices(words, k=draw.randrange(5, 150)))}"}
        content = [thought(f"T{number}"), said] if draw.random() < 0.6 else [said]
        if len(content) > 1:
            bound[f"T{number}"] = copy.deepcopy(fitted.messages)
        given.append({"role": "assistant", "content": content})


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("settings", [{"summarizer": "extractive"}, {"operation": True}])
def test_what_we_insert_or_take_out_voids_thoughts_like_any_edit(seed, settings):
    """A summary that is written anew, a note whose operation is done: they stand before thoughts, too."""
    epochs = 0
    for fitted, bound in agent(seed, 1_500 + seed % 7 * 200, **settings):
        epochs += fitted.report.cache.epoch in ("minor", "major")
        assert all(bound[name] == before for name, before in thoughts(fitted.messages))
    assert epochs


def test_a_note_whose_operation_is_done_stays_until_the_next_epoch():
    session, given = Session(4_000, wire="anthropic"), []
    for number in range(6):
        given += [user(f"Check page {number}.\n{log(number)}")]
        session.fit(given)
        given += [says(f"Page {number} is fine.")]
    refund = session.task.begin("refund", needs=["ORD-0037 packed lot"])
    given += [user("Go on.")]
    session.fit(given)
    given += [says("Ok 1."), user("Go on 2.")]
    session.fit(given)
    session.task.complete(refund)
    session.task.begin("ship", needs=["ORD-1041 packed lot"])
    given += [says("Ok 2.")]
    last = copy.deepcopy(session.fit(given).messages)
    given += [user("Go on 3.")]
    fitted = session.fit(given)
    assert fitted.report.cache.epoch == "none"
    assert fitted.messages[: len(last) - 1] == last[:-1], "the last message may take another text of the user"
    assert any(isinstance(note, Note) for note in session._state.notes)


def test_to_observe_changes_nothing_of_what_comes_next():
    def run(observe):
        session = Session(3_000)
        for reads in range(1, 6):
            session.fit(history(reads, 40)[:-2])
        given = history(6, 40)[:-2]
        if observe:
            assert session.fit(given, observe=True).messages == given
        fitted = session.fit(given)
        return fitted.messages, fitted.report.cache

    assert run(True) == run(False)
