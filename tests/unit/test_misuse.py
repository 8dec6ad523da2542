"""What cannot work is refused where it is said, by name, with what to do instead."""

import pytest

from jettison import Budget, Policy, Session, fit, fit_request
from jettison.errors import ConfigError, InvalidInput
from jettison.oneshot import _ARGUMENTS

ASKED = [{"role": "user", "content": "Refund ORD-17."}]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"budgets": 100}, "no setting budgets=: did you mean budget="),
        ({"budget": 100, "relevanse": "rules"}, "no setting relevanse=: did you mean relevance="),
        ({"budget": 100, "tolls": []}, "no setting tolls=: did you mean tools="),
        ({"budget": 100, "zzz": 1}, "no setting zzz=$"),
        ({"budget": Policy()}, "not Policy: give it as policy="),
        ({"budget": "100"}, "must be an int or a Budget, not str '100'"),
        ({"policy": 100}, "policy must be a Policy, not int"),
        ({"budget": 100, "model": 5}, "model is a name, not int"),
    ],
)
def test_arguments_of_fit(given, says):
    with pytest.raises(ConfigError, match=says):
        fit(ASKED, **given)
    if "tolls" not in given:
        with pytest.raises(ConfigError, match=says):
            fit_request({"messages": ASKED}, **given)


def test_each_argument_can_be_meant():
    import inspect

    named = {name for name in inspect.signature(fit).parameters if name not in ("messages", "settings")}
    assert set(_ARGUMENTS) == named


def test_a_body_is_a_dict():
    for call in (lambda: fit_request(ASKED, budget=100), lambda: Session(100).fit_request(ASKED)):
        with pytest.raises(InvalidInput, match=r"a request body is a dict, not list: fit\(\) takes its parts"):
            call()


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"counter": "o200"}, "counter='o200' is not known"),
        ({"counter": 5}, "counter must be a name or a callable"),
        ({"protectors": ("x",)}, "protectors is a tuple of functions, or objects with protect_item, and 'x' is none"),
        ({"protectors": len}, "protectors is a tuple of .*, not builtin_function_or_method: protectors="),
        ({"tools": ("x",)}, "tools is a tuple of ToolPolicy records, and 'x' is none"),
        ({"scorers": (len,)}, r"scorers is a tuple of \(weight, scorer\) pairs"),
        ({"checks": (1,)}, "checks is a tuple of functions, and 1 is none"),
    ],
)
def test_settings_of_a_policy(given, says):
    with pytest.raises(ConfigError, match=says):
        Policy(budget=100, **given)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"archive": 5}, "archive is a file's name, an address or an Archive, not int 5"),
        ({"vault": "secrets.db"}, "vault is a jettison.vault.Vault, not str 'secrets.db'"),
        ({"model": 5}, "model is a name, not int 5"),
    ],
)
def test_arguments_of_a_session(given, says):
    with pytest.raises(ConfigError, match=says):
        Session(Budget(100), **given)
