"""What a result says of work under way: begun, and with which handle."""

import json

import pytest

from jettison.flow.statuses import begun


def text(value):
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def handles(tool, arguments, result):
    for status in begun(text(result), tool, text(arguments)):
        start, end = status.span
        assert not status.handle or text(result)[start:end] == status.handle
        yield status.handle


UUID = "a1b2c3d4-0000-4000-8000-000000000001"


@pytest.mark.parametrize(
    ("result", "handle"),
    [
        ({"ok": True, "result": {"build": {"number": 48213, "status": "QUEUED"}}}, "48213"),
        ({"payment_intent": "pi_3Qk77", "status": "requires_action"}, "pi_3Qk77"),
        ({"id": "pay_88Kd", "status": "requires_capture"}, "pay_88Kd"),
        ({"instance": "i-0f3ab77", "state": "pending", "ip": None}, "i-0f3ab77"),
        ({"instances": [{"instanceId": "i-0aa11bb22", "state": {"name": "pending"}}]}, "i-0aa11bb22"),
        ({"reservation": "RSV-88Q2", "status": "pending"}, "RSV-88Q2"),
        ({"region": "eu-west-1", "reservation": "RSV-88Q2", "status": "pending"}, "RSV-88Q2"),
        ({"бронь": "БР-5519-К", "статус": "ожидает оплаты"}, "БР-5519-К"),
        ({"возврат": {"номер": "ВЗ-771", "состояние": "на рассмотрении"}}, "ВЗ-771"),
        ({"status": "pending", "ticket": {"id": "exp-7f31c09b"}}, "exp-7f31c09b"),
        ({"data": {"job": {"uuid": UUID, "state": "PENDING"}}}, UUID),
        ({"operation": {"name": "operations/abc-123", "done": False}}, "operations/abc-123"),
        ({"jobStatus": "RUNNING", "jobId": "exp-1f9"}, "exp-1f9"),
        ({"jobId": "exp-1", "isDone": False}, "exp-1"),
        ({"code": 202, "message": "Accepted", "data": {"taskId": "t_9fK2LmQ"}}, "t_9fK2LmQ"),
        ({"message": "Queued", "request_id": "req-8812"}, "req-8812"),
        ({"id": "exp-1", "progress": 40}, "exp-1"),
        ({"ok": True, "message": "Заявка ЗВ-771 принята в работу"}, "ЗВ-771"),
        ("<status>pending</status><ticket>exp-1f9c</ticket>", "exp-1f9c"),
        ("Your booking RSV-88Q2 is awaiting payment", "RSV-88Q2"),
        ("Заявка ЗВ-771 ждёт подтверждения", "ЗВ-771"),
        ("Job exp-7f31c09b submitted.", "exp-7f31c09b"),
        ("exp-7f31c09b: running", "exp-7f31c09b"),
        ("Export queued. Ticket: exp-1f9c", "exp-1f9c"),
        ("Started export job exp-1f9c", "exp-1f9c"),
        ("Deployment dep-44a1: IN_PROGRESS (2/5)", "dep-44a1"),
        ("Agent spawned: agent_id=ag-research-77. It will report when finished.", "ag-research-77"),
        ("Экспорт exp-7f31c09b запущен.", "exp-7f31c09b"),
        ("Экспорт exp-7f31c09b принят в работу", "exp-7f31c09b"),
        ("Задание ЗД-7781 выполняется.", "ЗД-7781"),
        ("Заявка 55-1920 отправлена на модерацию.", "55-1920"),
        ("Заявка № ВЗ-771 принята, срок 3 дня", "ВЗ-771"),
        ("Задача t-8812 ещё не завершена", "t-8812"),
        ("处理中，任务编号 RW-8812", "RW-8812"),
        ("Auftrag AU-55012 läuft noch.", "AU-55012"),
        ("Tarea TR-991 en curso", "TR-991"),
    ],
)
def test_an_open_status_is_seen_whatever_its_form(result, handle):
    assert list(handles("start_job", {"year": 1}, result)) == [handle]


def test_each_of_a_few_that_were_started_is_one_and_a_long_list_is_data():
    jobs = [{"id": f"j-8{n}", "status": "queued"} for n in range(20)]
    assert list(handles("start_jobs", {}, {"jobs": jobs[:2]})) == ["j-80", "j-81"]
    assert not list(handles("start_jobs", {}, {"jobs": jobs}))


@pytest.mark.parametrize(
    ("tool", "arguments", "result", "handle"),
    [
        ("bash", {"command": "sbatch train.sh"}, "Submitted batch job 4471190", "4471190"),
        ("bash", {"command": "sleep 100"}, "Command running in background with ID: bash_3", "bash_3"),
        ("run", {"cmd": "curl -X POST /jobs"}, {"job": "j-771", "status": "queued"}, "j-771"),
        ("http_request", {"method": "POST"}, {"id": "job-7", "status": "pending"}, "job-7"),
        ("get_job_status", {"id": "j-771"}, {"id": "j-771", "status": "running"}, "j-771"),
    ],
)
def test_a_shell_begins_by_its_command_and_a_poll_by_what_it_polls(tool, arguments, result, handle):
    assert list(handles(tool, arguments, result)) == [handle]


@pytest.mark.parametrize(
    ("tool", "arguments", "result"),
    [
        ("get_job", {"id": "j-1"}, {"job_id": "j-771", "status": "running"}),
        ("http_request", {"method": "GET"}, {"id": "svc-7", "state": "running"}),
        ("get_service_status", {"id": "svc-7"}, {"id": "svc-7", "state": "running"}),
        ("run", {"cmd": "curl /svc/7"}, {"id": "svc-7", "state": "running"}),
        ("run", {"cmd": "kubectl get pods"}, "web-7f9c  1/1  Running\nweb-8a1b  0/1  Pending"),
        ("run", {"cmd": "docker ps"}, "a1b2c3d4 nginx:1.25 Up 3 hours status: running"),
        ("run", {"cmd": "git status"}, "On branch fix-pending-7: status: processing queue refactor"),
        ("run", {"cmd": "pytest"}, "test_queue.py::test_is_running_7 PASSED\nnow running 14 tests"),
        ("run", {"cmd": "cat README.md"}, "Status: in progress. See issue-441 for the background task design."),
        ("run", {"cmd": "grep -n state a.py"}, "a.py:12: state = 'pending'  # job-queue-7\na.py:40: status: running"),
        ("execute_sql", {"query": "SELECT * FROM jobs"}, [{"id": "j-11", "status": "running"}]),
        ("edit_file", {"path": "a"}, "Edited. exp-1f9c: running"),
        ("job", {"action": "list"}, {"id": "exp-77", "status": "running"}),
        ("получить_заказ", {}, {"id": "ЗК-771", "статус": "в обработке"}),
        ("start_export", {}, {"ok": True, "message": "Export exp-1f9c finished"}),
        ("web_search", {}, "Job 8812 is running in the background at ACME"),
        ("create_issue", {}, {"number": 12, "state": "open", "title": "x"}),
        ("create_user", {}, {"id": "usr-771", "status": "created"}),
        ("create_page", {}, {"id": "pg-771", "Status": {"status": {"id": "in-progress", "name": "In progress"}}}),
        ("create_todo", {}, {"id": "td-771", "done": False, "title": "x"}),
        ("send_email", {}, {"id": "msg-771", "status": "sent"}),
        ("start_export", {}, "Export exp-1f9c is not running"),
        ("start_export", {}, "Is exp-1f9c running?"),
        ("start_export", {}, "Export exp-1f9c finished"),
        ("start_server", {}, "Server started on port 8080"),
        ("run_tests", {}, "12 passed, job-7 pending\n" + "x\n" * 400),
    ],
)
def test_what_only_describes_begins_nothing(tool, arguments, result):
    assert not list(handles(tool, arguments, result))


@pytest.mark.parametrize(
    "line",
    ["exp-1 done ", "exp-12 ", "a", "exp-1 not ", "-a1", "1/2 ", "Job ", "status: ", "exp-1 step ", "выполняется "],
)
def test_a_line_without_a_stop_begins_nothing(line):
    """And it comes to an end: in squares of its length it would not."""
    assert begun(line * (100_000 // len(line)), "start_job") == begun(line * 3, "start_job") == ()
