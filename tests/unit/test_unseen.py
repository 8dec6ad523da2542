"""What came since the model last spoke is held, wherever it stands; the running turn begins with the user's words."""

import base64
import json
import struct
import zlib

import pytest

from jettison import Budget, BudgetUnreachable, Policy, Session, fit
from strategies import log_text

RUN = {
    "name": "run",
    "description": "Run",
    "input_schema": {"type": "object", "properties": {"cmd": {"type": "string"}}},
}
REMINDER = {"type": "text", "text": "<system-reminder>The todo list is empty.</system-reminder>"}
THOUGHT = {"type": "thinking", "thinking": "Both checks come first. " * 40, "signature": "c2lnbmVk"}


def log(seed, lines=30):
    return "\n".join(log_text(seed, 4_000).split("\n")[:lines])


def picture(width=800, height=600):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", zlib.compress(b"\0" * 300))).decode()


def tightening(history, **given):
    """Fits of a history into less and less, down to the last that works."""
    full = fit(history, budget=100_000, **given).report.before
    made = []
    for share in (0.95, 0.8, 0.65, 0.5, 0.35, 0.2):
        try:
            made.append(fit(history, budget=int(share * full), **given))
        except BudgetUnreachable:
            break
    assert made
    return made


def round_of(number, size, *beside):
    """A call and its result on the Anthropic wire, with what stands beside the result."""
    call = {"type": "tool_use", "id": f"t{number}", "name": "run", "input": {"cmd": f"probe {number}"}}
    result = {
        "type": "tool_result",
        "tool_use_id": f"t{number}",
        "content": f"image sha256:{number}7aa01\n" + log(number, size),
    }
    return [{"role": "assistant", "content": [THOUGHT, call]}, {"role": "user", "content": [result, *beside]}]


ASKED = {"role": "user", "content": "Deploy build 17 to staging only."}


@pytest.mark.parametrize("beside", [(), (REMINDER,)])
def test_the_round_that_just_ran_stays_also_with_a_reminder_beside_its_results(beside):
    history = [ASKED, *round_of(1, 30), *round_of(2, 30, *beside)]
    full = fit(history, budget=10_000, wire="anthropic", tools=[RUN]).report.before
    for budget in (full - 50, int(0.8 * full)):
        sent = json.dumps(fit(history, budget=budget, wire="anthropic", tools=[RUN]).messages)
        assert '"t2"' in sent
        assert "sha256:27aa01" in sent
    with pytest.raises(BudgetUnreachable):
        fit(history, budget=150, wire="anthropic", tools=[RUN])


@pytest.mark.parametrize("model", [None, "claude-opus-5-5"])
def test_a_reminder_beside_results_does_not_end_the_turn_whose_reasoning_goes_back(model):
    history = [ASKED, *round_of(1, 30), *round_of(2, 30, REMINDER)]
    full = fit(history, budget=10_000, wire="anthropic", tools=[RUN]).report.before
    fitted = fit(history, budget=int(0.8 * full), wire="anthropic", model=model, tools=[RUN])
    assert fitted.report.after < full
    assert fitted.report.cache.reasoning_lost == 0
    assert [block["type"] for block in fitted.messages[-2]["content"]] == ["thinking", "tool_use"]


def test_a_large_result_with_a_reminder_beside_it_is_cut_like_one_without():
    cut = []
    for beside in ((), (REMINDER,)):
        session = Session(Policy(budget=Budget(1_500)), wire="anthropic")
        session.fit([ASKED, *round_of(1, 5)])
        fitted = session.fit([ASKED, *round_of(1, 5), *round_of(2, 200, *beside)])
        [row] = [row for row in fitted.report.rows if row.item.startswith("4.0-")]
        cut.append((fitted.report.cache.epoch, row.after))
    assert cut[0][0] == cut[1][0] == "arrival"
    assert abs(cut[0][1] - cut[1][1]) < 50


@pytest.mark.parametrize("role", ["user", "system", "developer"])
def test_on_chat_a_message_behind_the_results_does_not_let_them_go(role):
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "build"}'}}
    history = [
        ASKED,
        {"role": "assistant", "content": "Look first. " + log(9)},
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "image sha256:77aa01\n" + log(4, 8)},
        {"role": role, "content": "Two minutes are left."},
    ]
    for fitted in tightening(history):
        sent = json.dumps(fitted.messages)
        assert '"c1"' in sent
        assert "Two minutes" in sent


def test_gemini_text_beside_a_function_response_does_not_let_it_go():
    history = [
        {"role": "user", "parts": [{"text": "Deploy build 17 to staging only."}]},
        {"role": "model", "parts": [{"text": "Look first. " + log(9)}]},
        {"role": "user", "parts": [{"text": "Go on."}]},
        {"role": "model", "parts": [{"functionCall": {"name": "run", "args": {"cmd": "build"}}}]},
        {
            "role": "user",
            "parts": [
                {"functionResponse": {"name": "run", "response": {"output": "image sha256:77aa01\n" + log(4, 8)}}},
                {"text": "[reminder] the todo list is empty"},
            ],
        },
    ]
    for fitted in tightening(history, wire="gemini"):
        assert "functionCall" in json.dumps(fitted.messages)


def said(text):
    return {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }


def test_the_answer_to_a_call_of_long_ago_is_news():
    history = [
        {"role": "user", "content": "Run the nightly backup and report the archive id."},
        {"type": "function_call", "call_id": "call_1", "name": "run", "arguments": '{"cmd": "backup"}'},
        {"role": "user", "content": "While it runs: what is the disk usage? " + log(1, 15)},
        said("Disk is at 71%. " + log(3, 15)),
        {"role": "user", "content": "And memory? " + log(4, 10)},
        said("Memory 40%."),
        {"type": "function_call_output", "call_id": "call_1", "output": "done archive=ARC-55910\n" + log(7, 10)},
    ]
    budget = fit(history, budget=10_000, wire="openai-responses").report.before - 100
    session = Session(Policy(budget=Budget(budget)), wire="openai-responses")
    for length in (3, 5):
        session.fit(history[:length])
    for fitted in (session.fit(history), *tightening(history, wire="openai-responses")):
        assert len(json.dumps(fitted.messages)) < len(json.dumps(history))
        assert "ARC-55910" in json.dumps(fitted.messages)
        assert fitted.messages[-1]["type"] == "function_call_output"


def test_an_approval_is_held_with_what_it_approves():
    history = [
        {"role": "user", "content": "Delete the stale branch feature/x9."},
        {
            "type": "mcp_approval_request",
            "id": "mcpr_1",
            "server_label": "gh",
            "name": "delete_branch",
            "arguments": '{"branch": "feature/x9"}',
        },
        {"role": "user", "content": "Wait, first show me the log."},
        said("Here it is: " + log(2, 20)),
        {"role": "user", "content": "Thanks."},
        said("Waiting for your approval."),
        {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True},
    ]
    for fitted in tightening(history, wire="openai-responses"):
        kinds = [message.get("type") for message in fitted.messages]
        assert "mcp_approval_request" in kinds
        assert kinds[-1] == "mcp_approval_response"


def test_an_image_and_the_question_behind_it_are_one_turn():
    image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture()}"}}
    history = [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello. " + log(1, 12)},
        {"role": "user", "content": [image]},
        {"role": "user", "content": "What is in the picture?"},
    ]
    full = fit(history, budget=10_000).report.before
    sent = fit(history, budget=full - 50).messages
    assert "image_url" in json.dumps(sent)
    call = {"id": "c1", "type": "function", "function": {"name": "zoom", "arguments": "{}"}}
    later = [
        *history,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": log(2)},
    ]
    fitted = fit(later, budget=full + 1_000)
    held = {lock.item.split("-")[0] for lock in fitted.report.protections if lock.reason == "latest user turn"}
    assert held == {"2.0", "3.0"}


def test_a_thread_that_many_wrote_is_cut_where_it_does_not_fit():
    thread = [{"role": "user", "content": f"user-{n}: " + log(n, 3)} for n in range(60)]
    history = [*thread, {"role": "user", "content": "What do you all think of release 2.4.1?"}]
    fitted = fit(history, budget=2_000)
    assert fitted.messages[-1]["content"].startswith("What do you all")
    assert "user-59:" in json.dumps(fitted.messages)
    assert len(fitted.messages) < len(history)


def test_degrade_gives_up_what_came_before_the_last_words_and_says_so():
    call = {"id": "c1", "type": "function", "function": {"name": "run", "arguments": '{"cmd": "build"}'}}
    history = [
        ASKED,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": log(4)},
        {"role": "user", "content": "So, where is it?"},
    ]
    session = Session(Policy(budget=Budget(20), on_unsafe="degrade"))
    for _ in range(2):
        fitted = session.fit(history)
        assert fitted.messages == history[-1:]
        assert {"1.0", "2.0"} <= {loss.removeprefix("latest unit: ").split("-")[0] for loss in fitted.report.degraded}
