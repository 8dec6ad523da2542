"""Validate: each of the three checks fails exactly when it should."""

from dataclasses import replace

import pytest

from jettison.errors import Problem
from jettison.items import Fidelity
from jettison.plan import Locks, Protection
from jettison.stages.validate import validate
from unit.flow.reading import call, join, user
from unit.stages.scene import scene

SEEN = scene(join(user("Refund ORD-9913."), call("get_order", {"id": "ORD-9913"}, "paid by PM-5521")), limit=100)
RESULT = SEEN.item("2.0")


def checked(items=SEEN.view.items, locks=(), tokens=100, problems=(), checks=()):
    return validate(items, SEEN.view, Locks(tuple(locks)), tokens, problems, checks)


def lock(text="", level="verbatim"):
    return Protection(RESULT.id, "test", "never: test", text, level)


def passed(results):
    return {name for name, result in results.items() if result.ok}


ALL = {"budget", "integrity", "sufficiency"}


def test_all_hold():
    assert passed(checked(locks=[lock(), lock("PM-5521")])) == ALL


def test_one_token_over_the_limit_breaks_the_budget():
    results = checked(tokens=101)
    assert passed(results) == ALL - {"budget"}
    assert results["budget"].detail == "101 of 100 input tokens"


@pytest.mark.parametrize(("kind", "ok"), [("structure", False), ("compatibility", True), ("pending", True)])
def test_broken_structure_breaks_integrity(kind, ok):
    results = checked(problems=[Problem("messages[1]", "a rule", "mend it", kind)])
    assert results["integrity"].ok is ok
    assert passed(results) >= {"budget", "sufficiency"}
    if not ok:
        assert results["integrity"].missing == ("messages[1] does not meet the rule `a rule`: mend it",)


@pytest.mark.parametrize("text", ["", "PM-5521"])
@pytest.mark.parametrize("level", ["verbatim", "present"])
def test_a_protected_item_that_is_absent_breaks_sufficiency(text, level):
    results = checked(items=SEEN.view.items[:-1], locks=[lock(text, level)])
    assert passed(results) == ALL - {"sufficiency"}
    assert RESULT.id in results["sufficiency"].missing[0]


def test_a_shortened_item_breaks_what_is_protected_verbatim_only():
    items = [*SEEN.view.items[:-1], replace(RESULT, text="paid by", fidelity=Fidelity.COMPRESSED)]
    assert not checked(items, [lock()])["sufficiency"].ok
    assert checked(items, [lock(level="present")])["sufficiency"].ok


def test_a_span_must_be_there_word_for_word():
    items = [*SEEN.view.items[:-1], replace(RESULT, text="PM-5521", fidelity=Fidelity.COMPRESSED)]
    assert checked(items, [lock("PM-5521")])["sufficiency"].ok
    missing = checked(items, [lock("by PM-5521")])["sufficiency"].missing
    assert missing == (f"{RESULT.id} (test): 'by PM-5521' is not there word for word",)


def test_what_was_lost_before_is_no_failure_of_this_call():
    assert checked(items=SEEN.view.items[:-1], locks=[lock(level="lost")])["sufficiency"].ok


def test_every_loss_is_named():
    results = checked(items=(), locks=[lock(), lock("PM-5521")])
    assert len(results["sufficiency"].missing) == 2
    assert results["sufficiency"].detail.startswith("2 of 2")


def test_a_further_check_counts():
    results = checked(checks=[lambda items, view: [] if len(items) > 5 else ["too few items"]])
    assert results["sufficiency"].missing == ("too few items",)
    assert passed(checked(checks=[lambda items, view: []])) == ALL
