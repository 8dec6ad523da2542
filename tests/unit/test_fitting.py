"""One call: what is decided again when the rendered request is larger than it was decided."""

from jettison import Policy, Session
from jettison.output import Output
from strategies import log_text
from unit.flow.reading import call, join, user

HISTORY = join(
    user("Find why ORD-9913 failed."),
    *(call("run", {"cmd": f"tail {n}"}, log_text(n, 700), number=n) for n in range(6)),
)


def test_a_request_that_came_out_a_token_too_large_is_decided_for_less_than_it_was(monkeypatch):
    counted = Output.recount
    for budget in range(1_000, 1_200, 20):  # most plans leave some tokens below the limit: segments have a size
        first = []

        def recount(self, request, rendered, first=first, budget=budget):
            first[:] = first or [rendered.messages]
            return budget + 1 if rendered.messages == first[0] else counted(self, request, rendered)

        monkeypatch.setattr(Output, "recount", recount)
        assert Session(Policy(budget=budget)).fit(HISTORY).report.after <= budget
