"""What a call does, by its tool's name and its arguments."""

import json

import pytest

from jettison.flow.tool_roles import is_asking, is_looking, is_polling, is_running, is_stopping


def given(**arguments):
    return json.dumps(arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("get_order", given(id="ORD-1")),
        ("listJobs", "{}"),
        ("mcp__github__search_issues", "{}"),
        ("read_file", given(path="start.sh")),
        ("http_request", given(method="GET", url="/jobs")),
        ("bash", given(command="cat start.sh")),
        ("bash", given(command="cd src && grep -rn 'start' . | head")),
        ("bash", given(command="git status")),
        ("bash", given(command="python -m pytest tests/test_start.py")),
        ("run", given(cmd="curl https://api/svc/1")),
        ("run", given(cmd="kubectl get pods")),
        ("run_command", given(command=["docker", "ps"])),
        ("execute_sql", given(query="SELECT * FROM jobs")),
        ("process", given(action="list")),
        ("str_replace_editor", given(command="view", path="a.py")),
    ],
)
def test_calls_that_only_look(tool, arguments):
    assert is_looking(tool, arguments)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("create_list", "{}"),
        ("start_query", given(sql="SELECT 1")),
        ("submit_search", "{}"),
        ("http_request", given(method="POST", url="/jobs")),
        ("bash", given(command="make &")),
        ("bash", given(command="cat job.json | kubectl apply -f -")),
        ("bash", given(command="sbatch train.sh")),
        ("bash", given(command="make", run_in_background=True)),
        ("run", given(cmd="curl -X POST https://api/jobs")),
        ("run", given(cmd="gcloud builds submit --async")),
        ("run_export", given(year=1)),
        ("request_approval", given(action="delete the old logs")),
        ("запустить_выгрузку", "{}"),
    ],
)
def test_calls_that_may_begin_something(tool, arguments):
    assert not is_looking(tool, arguments)


def test_waiting_ending_asking_and_running():
    assert is_polling("BashOutput", given(bash_id="bash_3"))
    assert is_polling("process", given(action="poll", id="p-1"))
    assert not is_polling("set_label", given(ticket="exp-1"))
    assert is_stopping("KillShell", "{}")
    assert is_stopping("job", given(action="cancel"))
    assert not is_stopping("send_message", given(action="stop the old job"))
    assert is_asking("request_approval")
    assert is_running("bash", given(command="ls"))
    assert not is_running("BashOutput", given(bash_id="bash_3"))
