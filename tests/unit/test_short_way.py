"""Between epochs a call does work for what is new only: it renders, counts and checks no old message again."""

import pytest

from jettison import Session
from jettison.wire import wire_named
from rendering import render
from strategies import Act, Call, Reply, Say, Script, log_text


def history(wire, rounds):
    turns = [Say("Find the slow module.")]
    for at in range(rounds):
        turns += [
            Act((Call("run", {"cmd": f"step {at}"}, log_text(at, 400)),)),
            Reply(f"Step {at} looked at."),
            Say("Next."),
        ]
    return render(Script("You read logs.", tuple(turns)), wire)


@pytest.mark.parametrize("wire", ["openai-chat", "openai-responses", "anthropic", "gemini"])
@pytest.mark.parametrize("share", [2.0, 0.7])
def test_a_call_without_an_epoch_renders_only_what_is_new(wire, share, monkeypatch):
    made = history(wire, 30)
    full = Session(10**6, wire=wire).fit(made.messages, system=made.system, tools=made.tools).report.before
    session, kind, rendered = Session(int(share * full), wire=wire), type(wire_named(wire)), []
    whole = kind.render

    def watched(self, items, *given):
        rendered.append(len(items))
        return whole(self, items, *given)

    monkeypatch.setattr(kind, "render", watched)
    ends = [len(made.messages) - back for back in (12, 8, 4, 0)]
    quiet = 0
    for end in ends:
        rendered.clear()
        epoch = session.fit(made.messages[:end], system=made.system, tools=made.tools).report.cache.epoch
        if end != ends[0] and epoch == "none":
            quiet += 1
            assert sum(rendered) <= 12
    assert quiet
