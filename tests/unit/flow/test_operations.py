"""Operations: what opens one, what it is known by, what closes it; and what stands without being repeated."""

import json
from pathlib import Path

import pytest
from reading import call, facts, join, read, says, user

from jettison.task import Task

EXAMPLE = Path(__file__).parents[3] / "examples" / "support_refund.json"
PENDING = {"status": "pending", "ticket": "RF-20931", "order_id": "ORD-48213"}


def ops(messages, task=None):
    return {op.id: op for op in read(messages, task)[0].operations}


def test_the_pending_refund_of_the_example_is_open_with_all_that_identifies_it():
    found = ops(json.loads(EXAMPLE.read_text("utf-8"))["messages"])
    refund = found["op:RF-20931"]
    assert refund.open
    assert refund.handle == "RF-20931"
    assert {"RF-20931", "ORD-48213", "PM-5521"} <= set(refund.needs)
    assert "op:ORD-48377" not in found, "an order that was only read is a record, not an operation"


@pytest.mark.parametrize(
    ("tool", "result", "handle"),
    [
        ("create_refund", PENDING, "RF-20931"),
        ("start_export", {"state": "queued", "job_id": "exp-7f31c09b"}, "exp-7f31c09b"),
        ("start_export", {"job": {"id": "exp-7f31c09b", "status": "RUNNING"}}, "exp-7f31c09b"),
        ("submit_batch", {"status": "submitted", "batch_id": "batch_91"}, "batch_91"),
        ("bash", "Command running in background with ID: bash_3", "bash_3"),
        ("Task", "Async agent launched successfully.\nagentId: a12f0c9", "a12f0c9"),
        ("spawn", {"agent_id": "agent-77", "status": "running"}, "agent-77"),
        ("request_approval", "Request REQ-18 is awaiting approval by the team lead.", "REQ-18"),
        ("request_approval", {"status": "awaiting approval"}, ""),
        ("poll_job", {"job_id": "exp-7f31c09b", "status": "in_progress"}, "exp-7f31c09b"),
        ("запустить_выгрузку", {"статус": "в обработке", "номер_заявки": "ЗВ-4471"}, "ЗВ-4471"),
        ("start_export", "Заявка ЗВ-4471 поставлена в очередь, ожидайте.", "ЗВ-4471"),
        ("request_approval", "Заявка ЗВ-9 ожидает согласования руководителя.", "ЗВ-9"),
    ],
)
def test_work_under_way_is_found_with_its_handle(tool, result, handle):
    state, items = read(join(user("Do it."), call(tool, {"a": 1}, result), says("Started.")))
    (op,) = state.open_operations
    assert op.handle == handle
    assert op.span.text in items[op.span.item].text
    assert items[op.span.item].text[op.span.start : op.span.end] == op.span.text


@pytest.mark.parametrize(
    ("tool", "result"),
    [
        ("get_order", {"order_id": "ORD-48377", "state": "processing"}),
        ("list_jobs", {"jobs": [{"id": "j-11", "status": "running"}, {"id": "j-12", "status": "pending"}]}),
        ("search_issues", [{"number": 11, "status": "pending"}, {"number": 12, "status": "open"}]),
        ("submit_assignment", {"id": 173, "workflow_state": "submitted"}),
        ("read_file", "status: pending\nticket: RF-1\n" + "row\n" * 400),
        ("get_pull_request", {"number": 41, "state": "open", "mergeable_state": "pending"}),
        ("bash", "3 passed, 0 failed, 1 pending review of coverage"),
        ("place_order", {"order_id": "ORD-1", "status": "accepted"}),
        ("search", "The queue holds the pending jobs of each worker; see job.py"),
    ],
)
def test_records_and_reports_are_data(tool, result):
    assert not read(join(user("Look."), call(tool, {"a": 1}, result)))[0].operations


@pytest.mark.parametrize(
    "completion",
    [
        call("get_refund", {"ticket": "RF-20931"}, {"ticket": "RF-20931", "status": "settled"}, number=1),
        call("get_refund", {"ticket": "RF-20931"}, {"status": "COMPLETED"}, number=1),
        call("list_refunds", {}, {"refunds": [{"ticket": "RF-20931", "status": "failed"}]}, number=1),
        call("cancel_refund", {"ticket": "RF-20931"}, {"ok": True}, number=1),
        call("check", {"id": "RF-20931"}, "Возврат RF-20931 выполнен", number=1),
        user("News from the bank: refund RF-20931 was approved and paid."),
    ],
)
def test_a_matching_completion_closes_it(completion):
    begin = join(user("Refund it."), call("create_refund", {"order_id": "ORD-48213"}, PENDING))
    (op,) = ops(join(begin, completion, says("Done."))).values()
    assert not op.open
    assert op.closed


@pytest.mark.parametrize(
    "later",
    [
        call("get_refund", {"ticket": "RF-20931"}, {"ticket": "RF-20931", "status": "pending"}, number=1),
        call("get_order", {"order_id": "ORD-48213"}, {"order_id": "ORD-48213", "state": "delivered"}, number=1),
        call("get_refund", {"ticket": "RF-77"}, {"ticket": "RF-77", "status": "settled"}, number=1),
        call(
            "get_order", {"id": "ORD-1"}, {"order_id": "ORD-1", "status": "delivered", "refund": "RF-20931"}, number=1
        ),
        says("The refund RF-20931 is completed."),
        user("Is RF-20931 there yet?"),
    ],
)
def test_what_is_no_completion_leaves_it_open(later):
    begin = join(user("Refund it."), call("create_refund", {"order_id": "ORD-48213"}, PENDING))
    assert ops(join(begin, later, user("And?")))["op:RF-20931"].open


EXPORT = join(user("Export it."), call("start_export", {"y": 1}, {"status": "pending", "ticket": "exp-1"}))


@pytest.mark.parametrize(
    "later",
    [
        call("poll_job", {"ticket": "exp-12"}, {"ticket": "exp-12", "status": "done"}, number=1),
        call("poll_job", {"ticket": "exp-12"}, "done", number=1),
        call("cancel_job", {"ticket": "exp-12"}, "ok", number=1),
        user("exp-12 отменена вчера"),
        call("poll_job", {"ticket": "exp-1"}, {"status": "success", "data": {"progress": 40}}, number=1),
        call("poll_job", {"ticket": "exp-1"}, "503 Service Unavailable: request failed", number=1),
        call("cancel_job", {"ticket": "exp-1"}, "Could not cancel exp-1", number=1),
        call("cancel_job", {"ticket": "exp-1"}, {"status": "pending", "message": "cancellation is queued"}, number=1),
        call("set_label", {"ticket": "exp-1", "label": "q4"}, {"status": "success"}, number=1),
        call("set_label", {"ticket": "exp-1"}, {"ticket": "exp-1", "status": "success"}, number=1),
        call("send_message", {"text": "exp-1 ещё идёт"}, {"status": "delivered"}, number=1),
        call("run", {"cmd": "echo exp-1 >> notes"}, "exit code: 0", number=1),
        call("run", {"cmd": "grep exp-1 log"}, "Command completed successfully", number=1),
        user("Is exp-1 done?"),
        user("Скажи, когда exp-1 будет готова."),
    ],
)
def test_a_look_alike_a_mention_and_a_question_leave_it_open(later):
    found = ops(join(EXPORT, later, says("ok")))
    assert found["op:exp-1"].open


@pytest.mark.parametrize(
    "later",
    [
        call("poll_job", {"ticket": "exp-1"}, {"status": "success"}, number=1),
        call("get_job", {"ticket": "exp-1"}, {"status": "done"}, number=1),
        call("run", {"cmd": "curl /jobs/exp-1"}, {"status": "done"}, number=1),
        call("list_jobs", {}, [{"id": "exp-12", "status": "running"}, {"id": "exp-1", "status": "done"}], number=1),
        call("list_jobs", {}, [{"id": "exp-12", "status": "failed"}, {"id": "exp-1", "status": "success"}], number=1),
        call("job", {"action": "cancel", "id": "exp-1"}, "ok", number=1),
        user("exp-1 готова"),
    ],
)
def test_its_own_record_a_poll_a_stop_and_the_user_close_it(later):
    assert not ops(join(EXPORT, later, says("ok")))["op:exp-1"].open


def test_a_poll_by_a_tool_that_reads_is_news_of_it():
    polls = [
        call("get_job", {"ticket": "exp-1"}, {"ticket": "exp-1", "status": "running"}, number=n + 1) for n in range(70)
    ]
    assert ops(join(EXPORT, *polls))["op:exp-1"].open


def test_background_shells_close_by_their_status_and_not_by_their_output():
    begin = join(user("Build."), call("bash", {"command": "make &"}, "Command running in background with ID: bash_3"))
    running = call("BashOutput", {"bash_id": "bash_3"}, "<status>running</status>\n0 failed, Build success", number=1)
    over = call("BashOutput", {"bash_id": "bash_3"}, "<status>completed</status>\nexit code: 0", number=2)
    assert ops(join(begin, running))["op:bash_3"].open
    assert not ops(join(begin, running, over))["op:bash_3"].open


def test_a_request_for_leave_is_answered_by_the_user():
    begin = join(user("Delete it."), call("request_approval", {"action": "delete"}, {"status": "awaiting approval"}))
    for turn in ("What is in it?", "Да, кстати, кто владелец?", "Нет времени сейчас.", "Ok, meanwhile: what is in it?"):
        assert read(join(begin, says("I wait."), user(turn)))[0].open_operations
    assert not read(join(begin, says("I wait."), user("Approved, go ahead.")))[0].open_operations
    assert not read(join(begin, says("Жду."), user("Да, одобряю.")))[0].open_operations


def test_the_caller_closes_it_by_id_or_handle():
    begin = join(user("Refund it."), call("create_refund", {"order_id": "ORD-48213"}, PENDING), says("ok"))
    for what in ("op:RF-20931", "RF-20931"):
        task = Task()
        task.complete(what)
        assert not read(begin, task)[0].open_operations


def test_a_time_out_is_reported():
    begin = join(user("Refund it."), call("create_refund", {"order_id": "ORD-48213"}, PENDING))
    silence = [message for n in range(70) for message in call("look", {"n": n}, f"nothing {n}", number=n + 1)]
    state, _ = read(join(begin, silence))
    assert not state.open_operations
    assert any("timed out" in note and "op:RF-20931" in note for note in state.notes)


def test_a_second_operation_that_mentions_the_first_is_found():
    first = call("create_refund", {"order_id": "ORD-48213"}, PENDING)
    second = call("start_export", {}, {"job_id": "exp-1", "status": "queued", "after": "RF-20931"}, number=1)
    assert set(ops(join(user("Go."), first, second))) == {"op:RF-20931", "op:exp-1"}


def todo(*marks, number=0):
    entries = [{"content": f"step {n}", "status": mark} for n, mark in enumerate(marks)]
    return call("TodoWrite", {"todos": entries}, "Todos have been modified.", number=number)


def test_the_latest_todo_list_stands_while_it_has_open_entries():
    state, items = read(join(user("Go."), todo("completed", "pending"), todo("completed", "in_progress", number=1)))
    ((reason, text),) = facts(state, items)
    assert "TodoWrite" in reason
    assert "in_progress" in text
    assert not read(join(user("Go."), todo("pending"), todo("completed", number=1)))[0].facts
    assert not read(join(user("Go."), todo("pending"), todo("выполнено", number=1)))[0].facts


def test_tasks_that_are_kept_one_by_one():
    made = call("TaskCreate", {"subject": "Write the tests"}, "Task #3 created: Write the tests")
    assert len(read(join(user("Go."), made))[0].facts) == 1
    begun = call("TaskUpdate", {"taskId": "3", "status": "in_progress"}, "Updated task #3 status", number=1)
    assert len(read(join(user("Go."), made, begun))[0].facts) == 1
    done = call("TaskUpdate", {"taskId": "3", "status": "completed"}, "Updated task #3 status", number=2)
    assert not read(join(user("Go."), made, begun, done))[0].facts
    other = call("create_task", {"title": "Сверить счёт"}, '{"id": "t-9", "status": "pending"}', number=3)
    assert len(read(join(user("Go."), made, other, done))[0].facts) == 1
    assert not read(join(user("Go."), other, call("complete_task", {"id": "t-9"}, "ok", number=4)))[0].facts


def test_an_edit_of_a_list_is_held_with_it_until_nothing_is_open():
    made = call("write_file", {"path": "todo.md", "content": "- [ ] one\n- [ ] two"}, "ok")
    edit = call("edit_file", {"path": "todo.md", "old_string": "- [ ] one", "new_string": "- [x] one"}, "ok", number=1)
    assert len(read(join(user("Go."), made, edit))[0].facts) == 2
    last = call("edit_file", {"path": "todo.md", "old_string": "- [ ] two", "new_string": "- [x] two"}, "ok", number=2)
    assert not read(join(user("Go."), made, edit, last))[0].facts
    again = call("write_file", {"path": "todo.md", "content": "- [ ] three"}, "ok", number=3)
    assert len(read(join(user("Go."), made, edit, again))[0].facts) == 1


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("todowrite", {"todos": [{"content": "a", "status": "pending"}]}),
        ("update_plan", {"plan": [{"step": "a", "status": "in_progress"}]}),
        ("write_todos", {"todos": ["- [x] a", "- [ ] b"]}),
        ("write_file", {"path": "todo.md", "content": "1 replace logo\n2 clean up old checkout route"}),
    ],
)
def test_tools_for_lists(name, args):
    assert len(read(join(user("Go."), call(name, args, "ok")))[0].facts) == 1


@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("todoist_add", {"items": ["buy milk"]}),
        ("write_file", {"path": "plan.md", "content": "The plan of the house is on page 4."}),
        ("write_file", {"path": "src/todo.py", "content": "- a\n- b"}),
        ("bash", {"command": "cat todo.md"}),
    ],
)
def test_no_tools_for_lists(name, args):
    assert not read(join(user("Go."), call(name, args, "ok")))[0].facts


def test_guards_stand_while_a_list_does():
    skill = call("read_file", {"path": "skills/brand.md"}, "BRAND\nNever delete routes.\nAsk before changing checkout.")
    todos = todo("pending", number=1)
    held = [text for reason, text in facts(*read(join(user("Go."), skill, todos))) if reason.startswith("guard")]
    assert held == ["Never delete routes.", "Ask before changing checkout."]
    assert not read(join(user("Go."), skill))[0].facts


def test_a_revealed_tool_stands_while_it_can_be_called():
    messages = join(user("Refund."), call("search_tools", {"query": "refund"}, {"revealed": ["refund_order"]}))
    state, items = read(messages, tools=("search_tools", "refund_order"))
    assert facts(state, items) == [("revealed tool refund_order", "refund_order")]
    assert not read(messages, tools=("search_tools",))[0].facts
    dead = join(messages, call("unload", {}, {"removed_tools": ["refund_order"], "tool": "x"}, number=1))
    assert not read(dead, tools=("search_tools", "refund_order"))[0].facts


@pytest.mark.parametrize(
    "stub", ["File unchanged since last read.", "Same as before.", "Файл не изменился с прошлого чтения."]
)
def test_an_unchanged_result_holds_its_original(stub):
    first = call("read_file", {"path": "a.py"}, "def a(): ...\n" * 20)
    other = call("read_file", {"path": "b.py"}, "def b(): ...\n" * 20, number=1)
    again = call("read_file", {"path": "a.py"}, stub, number=2)
    ((_, text),) = facts(*read(join(user("Go."), first, other, again)))
    assert text.startswith("def a()")
    anew = call("read_file", {"path": "a.py"}, "def a2(): ...\n" * 20, number=3)
    assert not read(join(user("Go."), first, other, again, anew))[0].facts
