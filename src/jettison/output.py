"""The request of one call as messages: rendered or appended to the last one, counted, checked, its cache marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from jettison.call import Call
from jettison.epoch import Outcome, Request
from jettison.errors import Problem
from jettison.history import Snapshot, copied, nested
from jettison.items import Item
from jettison.notes import Note, placed
from jettison.plan import CacheEffect, View, apply
from jettison.policy import Policy
from jettison.prices import Rewrite, prices_for
from jettison.reporting import first_change
from jettison.state import Kit, State
from jettison.summing import Rolling, inserted
from jettison.wire.base import Inserted, Message, Rendered, plain
from jettison.wire.marks import MOST, marked, marks_in, unmarked

__all__ = ["Output", "marks_seen", "without_marks_inside"]


class Output:
    """Puts what was decided into messages. `old`: what the last call left; `state`: the same, or of a fork its branch.
    `notes`: those that this call adds; `extra`: tokens of placeholders, notes and merged framing."""

    def __init__(
        self,
        kit: Kit,
        call: Call,
        policy: Policy,
        taken: Snapshot,
        old: State,
        state: State,
        view: View,
        notes: tuple[Note, ...],
        extra: int,
    ) -> None:
        self.kit, self.call, self.policy, self.taken = kit, call, policy, taken
        self.old, self.state, self.view, self.added, self.extra = old, state, view, notes, extra
        self.wire, self.costs = kit.wire, kit.costs
        self._read: tuple[Rendered | None, list[tuple[Item, ...]]] = None, []

    def records(self, rendered: Rendered) -> list[tuple[Item, ...]]:
        """The items of each message of a rendered request, read once."""
        if self._read[0] is not rendered:
            self._read = rendered, self.wire.parse(rendered.messages)[0]
        return self._read[1]

    def appends(self, outcome: Outcome) -> bool:
        """Whether the output is the last one, with what is new behind it."""
        state = self.state
        grown = bool(state.sources) and self.taken.common == len(state.history.raw)
        if not grown or outcome.fresh or outcome.plan is not state.plan or self.joins():
            return False
        as_it_came = state.sources[-1] == self.taken.common - 1 and state.own[-1] is None
        return self.base() == len(state.sources) or as_it_came

    def joins(self) -> bool:
        """Whether the first new message has to be joined to a note of ours that was sent last, as a message of its own
        behind the assistant's: both are the user's."""
        source, note = self.state.sources[-1], self.state.own[-1]
        if not self.kit.traits.merges or source >= 0 or note is None or self.taken.common == len(self.taken.records):
            return False
        return bool(note.get("role") == self.taken.messages[self.taken.common].get("role"))

    def base(self) -> int:
        """How many messages of the last output stay where this call appends: all, but for the last one where a note is
        added and no message is new, as a wire may have to put it into that one."""
        return len(self.state.sources) - (bool(self.added) and self.taken.common == len(self.taken.records))

    def plain(self) -> bool:
        """Whether what stays of the last output is the history as it came."""
        return self.state.plain and self.base() == len(self.state.sources)

    def appended(self, outcome: Outcome) -> Rendered:
        """The last output, and what is new after it."""
        taken, base, state = self.taken, self.base(), self.state
        first = taken.common - (len(state.sources) - base)
        new = apply([item for record in taken.records[first:] for item in record], outcome.plan)
        tail = self.wire.render(placed(new, self.added, taken.records), taken.messages, first)
        sources = list(state.sources[:base])
        if self.plain():
            messages = taken.messages[:base]
        else:
            mine = zip(sources, state.own, strict=False)
            messages = [taken.messages[at] if own is None else own for at, own in mine]
        inserted = list(state.inserted)
        while inserted and inserted[-1].message >= base:
            del inserted[-1]
        inserted += [replace(entry, message=entry.message + len(messages)) for entry in tail.inserted]
        merged = {at: more for at, more in state.merged.items() if at < base}
        merged.update((at + base, more) for at, more in tail.merged.items())
        messages += tail.messages
        sources += tail.sources
        return Rendered(messages, sources, inserted, merged)

    def copies(
        self, sources: Sequence[int], own: tuple[Message | None, ...], plain: bool, last: tuple[Message | None, ...]
    ) -> tuple[list[Any], tuple[Message | None, ...]]:
        """(the messages to hand out, those of them that are not as they came). `plain`: all are as they came.

        `last`: what was handed out for the first of them before. It goes out again, as long as nobody has changed it:
        to compare takes a tenth of the time of a copy.
        """
        taken = self.taken
        if plain:
            return list(taken.given), ()
        known = last[: len(own)]
        if known != own[: len(known)]:
            known = tuple(old if old == new else copied(new) for old, new in zip(known, own, strict=False))
        handed = (*known, *map(copied, own[len(known) :]))
        out = [taken.given[at] if mine is None else mine for at, mine in zip(sources, handed, strict=True)]
        if taken.mended:
            for place, at in enumerate(sources):
                if at in taken.mended and own[place] is None:
                    out[place] = copied(taken.messages[at])
        return out, handed

    def rendered(self, request: Request, outcome: Outcome, summary: Rolling) -> Rendered:
        """The kept items, the summary and the notes that hold, as messages."""
        kept = [item for item in apply(request.view.items, outcome.plan) if item.message >= 0]
        kept = inserted(kept, request.view.items, summary)
        live = request.notes[: len(request.notes) - len(self.added)]
        notes = (*self.standing(outcome, live), *self.added)
        return self.wire.render(placed(kept, notes, self.taken.records), self.taken.messages)

    def standing(self, outcome: Outcome, live: Sequence[Note]) -> tuple[Note, ...]:
        """The notes of earlier calls in this output: those that hold (`live`), and until the next epoch the others."""
        epoch = outcome.epoch in ("minor", "major") or self.state is not self.old
        return tuple(live) if epoch else self.state.notes

    def recount(self, request: Request, rendered: Rendered) -> int:
        """Tokens of a rendered request: parsed and counted anew."""
        system = [item for item in request.view.items if item.message < 0]
        items = [*system, *(item for record in self.records(rendered) for item in record)]
        return request.view.fixed - self.extra + self.costs.once(items)

    def kept(self, outcome: Outcome, rendered: Rendered) -> list[Item]:
        """The kept items that are really in the output: sufficiency is judged by what is sent, not by the plan."""
        if not outcome.fresh:
            locked = None if self.policy.checks else outcome.locked
            return apply(self.view.items if locked is None else locked, outcome.plan)
        items = apply(self.view.items, outcome.plan)
        sent = {item.text for record in self.records(rendered) for item in record}
        return [item for item in items if item.message < 0 or not item.text or item.text in sent]

    def broken(self, rendered: Rendered, outcome: Outcome) -> list[Problem]:
        """The wire's verdict on what was not checked before: as input, or in the last output."""
        if not outcome.fresh and not rendered.inserted and self.state is self.old:
            return []
        start = 0
        if self.appends(outcome):
            start, border = self.base(), self.state.history.border(self.taken.common)
            while start > 0 and not 0 <= rendered.sources[start - 1] < border:
                start -= 1
        remote, system = self.call.prior_tokens is not None, self.taken.system_out
        return self.wire.check(rendered.messages, system=system, start=start, remote=remote)

    def hidden(self, rendered: Rendered) -> Iterator[Inserted]:
        """The placeholders that stand for secrets in the output."""
        if self.taken.secrets:
            for at, source in enumerate(rendered.sources):
                for one in (source, *rendered.merged.get(at, ())):
                    for name in self.taken.secrets.get(one, ()):
                        yield Inserted(at, name, "secret")

    def cache(self, outcome: Outcome, rendered: Rendered, tokens: int, front: bool, dropped: bool) -> CacheEffect:
        """Where the output first differs from the last one, and what is sent again because of it. `front`: what stands
        before all messages is not as it was; `dropped`: because tools were left out at this call."""
        if not front and self.appends(outcome) and self.base() == len(self.state.sources):
            return CacheEffect(outcome.epoch, None, 0, outcome.voided, tokens)
        mine = zip(self.old.sources, self.old.own, strict=True)
        last = [self.old.history.sent(at) if own is None else own for at, own in mine]
        first, again = first_change(last, rendered.messages), 0
        if front:
            first, again = 0, tokens
        elif first is not None:
            again = self.costs.once(item for record in self.records(rendered)[first:] for item in record)
        kept = max(0, tokens - again)
        if first is None or not outcome.fresh or self.state is not self.old:
            return CacheEffect(outcome.epoch, first, again, outcome.voided, kept)
        prices = self.policy.prices or prices_for(self.kit.model)
        come = sum(self.costs.total(record) for record in self.taken.records[self.taken.common :])
        # Where the caller changed what stands in front, nothing would be cached without the rewrite either.
        cached = 0 if front and not dropped else self.old.tokens
        made = Rewrite(cached, come + self.old.tokens - cached, kept, again)
        extra, back = round(made.extra(prices), 1), made.pays_back(prices)
        return CacheEffect(outcome.epoch, first, again, outcome.voided, kept, made.removed, extra, back)

    def mark(self, messages: list[Message], rendered: Rendered, sealed: int) -> None:
        """Put cache marks on finished messages: those that their sources have, the newest of several, or placed ones.
        In place."""
        given, sources = self.taken.given, rendered.sources
        if not self.kit.traits.marks or not self.policy.place_cache_marks:
            for at in reversed(range(len(messages))):
                every, message = (sources[at], *rendered.merged.get(at, ())), messages[at]
                if 0 <= every[-1] < self.taken.bare:
                    break  # the sources of what stands before it have no marks either
                if every[0] >= 0 and message is not given[every[0]]:
                    for mark in [mark for one in every for mark in marks_seen(given[one])][-1:]:
                        messages[at] = marked(message, mark) or message
            return
        own = next(self.asked(), {"type": "ephemeral"})
        left = MOST - self.call.marks - sum(1 for _ in marks_seen((self.call.system, self.call.tools)))
        border = self.border(sources, sealed)
        for at in dict.fromkeys((len(messages) - 1, border, len(self.old.sources) - 1)):
            if left <= 0 or not 0 <= at < len(messages):
                continue
            while at >= 0 and (new := marked(nested(plain(messages[at])), own)) is None:
                at -= 1  # a message of nothing but thinking
            if at >= 0 and new is not None and not marks_in(messages[at]):
                messages[at], left = new, left - 1

    def asked(self) -> Iterator[Any]:
        """The caller's own marks, in order. Messages that are known to have none are not looked at again."""
        bare = set(map(id, self.taken.given[: self.taken.bare]))
        yield from marks_seen([message for message in self.call.messages if id(message) not in bare])
        yield from marks_seen(self.call.system)

    def border(self, sources: list[int], sealed: int) -> int:
        """Index of the last message that an epoch has settled."""
        settled = -1
        for at, source in enumerate(sources):
            if source >= 0 and all(item.unit < sealed for item in self.taken.records[source]):
                settled = at
        return settled


def marks_seen(value: Any) -> Iterator[Any]:
    """The cache marks of messages, blocks, tools or a system field, in order, those in objects of an SDK as well."""
    if isinstance(value, list | tuple):
        for one in value:
            yield from marks_seen(one)
        return
    if not isinstance(value, dict):
        if isinstance(value, str) or not hasattr(value, "model_dump"):
            return
        value = plain(value)
    yield from marks_seen(value.get("content"))
    if value.get("cache_control"):
        yield nested(value["cache_control"])


def without_marks_inside(messages: Sequence[Any]) -> Sequence[Any]:
    """The messages with no mark in a block that is an object of an SDK: where there was one, as plain data."""
    if isinstance(messages, str | bytes) or not isinstance(messages, Sequence):
        return messages
    return [
        unmarked(nested(one)) if isinstance(one, dict) and _has_objects(one) and any(marks_seen(one)) else one
        for one in messages
    ]


def _has_objects(value: dict[str, Any]) -> bool:
    """Whether blocks of a message are objects of an SDK."""
    content = value.get("content")
    if not isinstance(content, list | tuple):
        return hasattr(content, "model_dump")
    return any(_has_objects(one) if isinstance(one, dict) else hasattr(one, "model_dump") for one in content)
