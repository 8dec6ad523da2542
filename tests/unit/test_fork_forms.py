"""What a branch sees of items that were decided more than once: what its own past saw of them."""

import copy
import json
import random
from itertools import pairwise

import pytest

from jettison import CannotFit, Policy, Session
from jettison.archive import MemoryArchive
from jettison.keeping import REPLACED
from jettison.store import MemoryStore
from rendering import render
from strategies import Act, Call, Reply, Say, Script, rows_text

WIRES = ("openai-chat", "openai-responses", "anthropic", "gemini")
MODEL = "claude-fable-5-1"


class Talk:
    """An agent that thinks at each step. `sent`: by name of a thought what stood before it when it was made."""

    def __init__(self, seed, budget, kept="live", *, summarizer=None, operation=False):
        self.draw, self.kept, self.operation = random.Random(seed), kept, operation
        self.policy = Policy(budget=budget, profile="economy", summarizer=summarizer)
        self.archive, self.store = MemoryArchive(), MemoryStore() if kept == "store" else None
        self.sent, self.given, self.points, self.orders = {}, [], [], []
        self.session = self.opened()

    def opened(self):
        where = {"wire": "anthropic", "model": MODEL, "conversation": "c", "archive": self.archive}
        return Session(self.policy, store=self.store, **where)

    def fit(self, given):
        if self.kept == "saved":
            self.session = Session.load(self.session.save(), self.policy, archive=self.archive)
        elif self.kept == "store":
            self.session = self.opened()
        return self.session.fit(given)

    def ask(self, text):
        self.given = [*self.given, {"role": "user", "content": text}]

    def step(self, rows=0):
        """A call, and the model's answer to it: a call with so many rows as its result, or the end of the turn."""
        name, before = f"T{len(self.sent)}", self.fit(self.given).messages
        self.sent[name] = json.dumps(before)
        thought = {"type": "thinking", "thinking": name, "signature": f"sig-{name}"}
        if not rows:
            self.given = [
                *self.given,
                {"role": "assistant", "content": [thought, {"type": "text", "text": f"{name} is done."}]},
            ]
            return
        found = [
            {"order_id": f"ORD-{self.draw.randint(1000, 9999)}", "state": "open", "total": self.draw.randint(1, 500)}
            for _ in range(rows)
        ]
        self.orders.append(found[0]["order_id"])
        use = {"type": "tool_use", "id": name, "name": "run", "input": {"job": name}}
        result = {"type": "tool_result", "tool_use_id": name, "content": json.dumps(found)}
        self.given = [
            *self.given,
            {"role": "assistant", "content": [thought, use]},
            {"role": "user", "content": [result]},
        ]
        self.points.append(self.given)

    def turns(self, count):
        for turn in range(count):
            words = " ".join(self.draw.choices(["router", "quota", "ledger"], k=self.draw.randint(3, 60)))
            self.ask(f"Next {turn}: check ORD-{self.draw.randint(1000, 9999)}, {words}.")
            if self.operation and turn == 3:
                self.refund = self.session.task.begin("refund", needs=[self.orders[0]])
            if self.operation and turn == 5:
                self.session.task.complete(self.refund)
            if self.store is not None:
                self.session.commit()
            for _ in range(self.draw.randint(1, 2)):
                self.step(self.draw.randint(3, 30))
            self.step()

    def misplaced(self, messages):
        """Thoughts in a request that do not stand behind what they were made behind."""
        for at, message in enumerate(messages):
            for block in message["content"] if isinstance(message["content"], list) else ():
                if block["type"] == "thinking" and self.sent[block["thinking"]] != json.dumps(messages[:at]):
                    yield block["thinking"]


@pytest.mark.parametrize("kept", ["live", "saved", "store"])
def test_a_result_that_was_cut_again_is_cut_as_it_was_then(kept):
    """Cut on arrival, and once more by a later epoch: in a branch that begins between both it was whole."""
    talk = Talk(0, 2_500, kept)
    talk.ask("Check the open orders.")
    talk.step(60)
    talk.step(1)
    then, before = talk.points[1], talk.sent["T1"]
    talk.step()
    for turn in range(12):
        talk.ask(f"Next {turn}, please.")
        talk.step(talk.draw.randint(5, 25))
        talk.step()
    talk.ask("And now?")
    talk.fit(talk.given)
    found = next(d for name, d in talk.session._state.plan.decisions.items() if name.startswith("2.0-"))
    assert len(list(found.chain())) > 1
    again = talk.fit(then).messages
    assert json.dumps(again[:3]) == before
    assert not list(talk.misplaced(again))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("settings", [{}, {"summarizer": "extractive"}, {"operation": True}])
def test_back_in_any_turn_its_thoughts_stand_behind_what_they_were_made_behind(settings, seed):
    """Also behind a summary that was written anew since, and behind a note that was taken out."""
    talk, seen = Talk(seed, 4_000, **settings), 0
    talk.turns(9)
    talk.ask("And now?")
    talk.fit(talk.given)
    data = talk.session.save()
    for point in talk.points:
        talk.session = Session.load(data, talk.policy, archive=talk.archive)
        messages = talk.fit(point).messages
        assert not list(talk.misplaced(messages))
        seen += json.dumps(messages).count('"thinking"')
    assert seen


@pytest.mark.parametrize("seed", [8, 15, 58])
@pytest.mark.parametrize("kept", ["live", "saved"])
def test_a_branch_of_a_branch_has_seen_what_the_branch_saw(kept, seed):
    talk = Talk(seed, 3_000, kept, summarizer="extractive" if seed % 2 else None)
    for step in range(60):
        at = [at for at, message in enumerate(talk.given) if message["role"] == "user"]
        if len(at) > 3 and talk.draw.random() < 0.18:
            talk.given = talk.given[: talk.draw.choice(at[-8:]) + 1]
            if isinstance(talk.given[-1]["content"], str):
                text = talk.given[-1]["content"] + f" (edited {step})"
                talk.given = talk.given[:-1]
                talk.ask(text)
        elif not at or talk.given[-1]["role"] == "assistant":
            talk.ask(f"Next {step}: " + "quota " * talk.draw.randint(3, 60))
        try:
            messages = talk.fit(talk.given).messages
        except CannotFit:
            break
        assert not list(talk.misplaced(messages))
        talk.step(talk.draw.randint(3, 15) if talk.draw.random() < 0.6 else 0)
    assert step > 20


@pytest.mark.parametrize("wire", WIRES)
def test_the_newest_result_is_again_as_it_was_sent(wire):
    """On every wire: what was cut when it came and dropped later was whole in a branch that ends with it."""
    turns = []
    for n in range(12):
        turns += [Say(f"Read page {n}."), Act((Call("read", {"page": n}, rows_text(n, 3_000)),)), Reply(f"Page {n}.")]
    made = render(Script("You read pages.", (*turns, Say("And now?"))), wire)
    session, then = Session(Policy(budget=1_800, counter="o200k"), wire=wire), {}
    for prefix in made.prefixes():
        fitted = session.fit(prefix, system=made.system, tools=made.tools)
        then[len(prefix)] = copy.deepcopy(fitted.messages[-1]), fitted.report.cache.epoch
    data, cut = session.save(), 0
    for prefix in made.prefixes():
        was, epoch = then[len(prefix)]
        if epoch != "arrival":
            continue
        cut += 1
        back = Session.load(data, Policy(budget=1_800, counter="o200k"))
        assert back.fit(prefix, system=made.system, tools=made.tools).messages[-1] == was
    assert cut


def test_what_is_kept_of_replaced_decisions_is_bounded():
    talk = Talk(1, 1_500)
    talk.turns(16)
    plan = talk.session._state.plan
    replaced = [one.earlier for decision in plan.decisions.values() for one in decision.chain() if one.earlier]
    known = [one for one in replaced if not one.forgotten]
    assert known
    assert len(known) < len(replaced), "or nothing is tested here"
    assert sum(one.after for one in known) <= REPLACED * 1_500
    assert all(one.call > two.call for d in plan.decisions.values() for one, two in pairwise(d.chain()))
