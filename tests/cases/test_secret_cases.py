"""The field `secrets` of a case: it is run with a vault, and none of them comes out."""

from bench.secrets import made

from cases.runner import run_case, violations

TOKEN = made("gitlab", "case")


def case(**fields):
    call = {"id": "c1", "type": "function", "function": {"name": "read", "arguments": '{"path": ".env"}'}}
    messages = [
        {"role": "user", "content": f"Use the token {TOKEN} to push"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": f"GITLAB_TOKEN={TOKEN}\n" + "line of no interest\n" * 400},
        {"role": "user", "content": "go on"},
    ]
    return {"format": "openai-chat", "budget_tokens": 400, "messages": messages, "secrets": [TOKEN], **fields}


def test_secrets_stay_in():
    assert violations(case()) == []
    assert "{{secret:gitlab-token:1}}" in str(run_case(case()).fitted.messages)


def test_a_secret_that_comes_out_is_seen():
    """The check itself can fail: an order id is no secret to the vault."""
    leaky = case(secrets=["go on"])
    assert set(violations(leaky)) >= {"a secret of 5 characters came out"}
