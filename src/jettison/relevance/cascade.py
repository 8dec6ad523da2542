"""The cascade: rules for all items, embeddings for prose, a judge for prose that is near the cut.

A generator: it yields what is to be asked and receives the answers, so that one logic serves sync and async callers
and a recorded run can be replayed. It is only run where an epoch is due: nothing else depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jettison.flow.dependencies import Flow
from jettison.items import Item
from jettison.plan import Locks, Score, Semantic, Spent, View
from jettison.protocols import Embedder, Judge
from jettison.relevance.context import words_of
from jettison.relevance.effects import Embed, Judging, Keep, LookUp, Vectors, Verdict
from jettison.relevance.embedding import Query, Scale, anchors, nearness, queries, scale_of
from jettison.relevance.judge import Judged, moved, pleads, question_for, read_answer
from jettison.relevance.limits import EmbedLimits, JudgeLimits
from jettison.relevance.passages import Passage, digest, passages_of

__all__ = ["Consulted", "Memory", "consult"]

LEAST = 0.5
"""Relevance under which prose is kept for no more than its values."""


@dataclass
class Memory:
    """What a session has asked already. Content only, keyed by hash: losing it costs time, never correctness."""

    vectors: dict[bytes, Any] = field(default_factory=dict)
    scale: Scale | None = None
    verdicts: dict[tuple[bytes, bytes], Judged] = field(default_factory=dict)
    """By (passage, task)."""
    calls: int = 0
    """Questions to the judge, those without an answer too."""

    def copy(self) -> Memory:
        """One that changes apart from this one."""
        return Memory(dict(self.vectors), self.scale, dict(self.verdicts), self.calls)


@dataclass(frozen=True, slots=True)
class Consulted:
    """Who is asked, how much, and about what."""

    view: View
    flow: Flow
    items: Sequence[Item]
    """Items that may be evicted, in order."""
    scores: Mapping[str, Score]
    """By the rules."""
    locks: Locks
    target: int
    """Tokens that will be left of these items."""
    embedder: Embedder
    judge: Judge | None = None
    embed_limits: EmbedLimits = field(default_factory=EmbedLimits)
    judge_limits: JudgeLimits = field(default_factory=JudgeLimits)
    ask: bool = True
    """Whether the judge is asked; else only what it has answered before counts."""
    kept: str = ""
    """Under which name vectors are kept in the archive; empty: they are not."""


Steps = Generator[Embed | Judging | LookUp | Keep, Any, Semantic]


def consult(asked: Consulted, memory: Memory) -> Steps:
    """Scores of prose beyond the rules, with what they cost. Failures leave the cheaper score, and a note."""
    work = _Work(asked, memory)
    near = yield from work.embedded()
    final, reasons = dict(near), {}
    if asked.judge is not None:
        answers = yield from work.judged(near)
        for at, answer in answers.items():
            passage = work.passages[at]
            final[at] = moved(work.cheap(at, near), answer.usefulness, asked.judge_limits.bound, pleads(passage.text))
            reasons[passage.item] = answer.reason
        return work.result(near, final, {at: answer.usefulness for at, answer in answers.items()}, reasons)
    return work.result(near, final, {}, reasons)


class _Work:
    def __init__(self, asked: Consulted, memory: Memory) -> None:
        self.asked, self.memory = asked, memory
        self.parts: list[Query] = queries(asked.view)
        words = frozenset().union(*(words_of(query.text) for query in self.parts)) if self.parts else frozenset()
        self.passages: list[Passage] = [
            passage
            for item in asked.items
            if item.id not in asked.locks.whole
            for passage in passages_of(item, asked.flow, asked.embed_limits.chars, words)
        ]
        self.items = {item.id: item for item in asked.items}
        self.sizes = [asked.view.count(passage.text) for passage in self.passages]
        self.notes: list[str] = []
        self.texts = self.judge_calls = self.judge_tokens = self.about = 0
        self.embed_seconds = self.judge_seconds = 0.0

    # embeddings

    def embedded(self) -> Generator[Embed | LookUp | Keep, Any, dict[int, float]]:
        """Nearness to the task by passage, of those that have a vector."""
        if not self.passages or not self.parts:
            return {}
        if name := self.asked.kept:
            yield from self.looked_up(name)
        new = yield from self.asked_for(self.wanted())
        if name and new:
            failure = yield Keep(name, new)
            if failure:
                self.notes.append(f"embeddings: vectors are not kept in the archive: {failure}")
        return self.near()

    def looked_up(self, name: str) -> Generator[LookUp, Vectors, None]:
        """Take over what the archive has of what has no vector yet."""
        keys = tuple(self.missing())
        if not keys:
            return
        found = yield LookUp(name, keys)
        if found.failure:
            self.notes.append(f"embeddings: kept vectors cannot be read: {found.failure}; embedded anew")
            return
        known = {key: row for key, row in zip(keys, found.rows, strict=True) if row is not None}
        self.memory.vectors.update(known)

    def asked_for(self, wanted: Mapping[bytes, str]) -> Generator[Embed, Vectors, dict[bytes, Any]]:
        """The vectors of these texts, as far as they come in time."""
        keys, found = list(wanted), dict[bytes, Any]()
        limits, left = self.asked.embed_limits, self.asked.embed_limits.seconds
        for start in range(0, len(keys), limits.batch):
            if left <= 0:
                self.notes.append(
                    f"embeddings: {len(keys) - start} of {len(keys)} texts not within {limits.seconds:g} s"
                )
                break
            batch = keys[start : start + limits.batch]
            answer = yield Embed(self.asked.embedder, tuple(wanted[key] for key in batch), left)
            left -= answer.seconds
            self.embed_seconds += answer.seconds
            if answer.failure:
                self.notes.append(f"embeddings: {answer.failure}; {len(keys) - start} texts are scored by rules alone")
                break
            self.texts += len(batch)
            found.update(zip(batch, answer.rows, strict=True))
        self.memory.vectors.update(found)
        return found

    def missing(self) -> dict[bytes, str]:
        """What has no vector: anchors and the task, then passages of the newest items."""
        texts = {digest(text): text for text in (anchors() if self.memory.scale is None else ())}
        texts |= {digest(query.text): query.text for query in self.parts}
        texts |= {passage.key: passage.text for passage in reversed(self.passages)}
        return {key: text for key, text in texts.items() if key not in self.memory.vectors}

    def wanted(self) -> dict[bytes, str]:
        """Of what has no vector as much as may be embedded at one call."""
        missing, passages = self.missing(), {passage.key for passage in self.passages}
        new, most = [key for key in missing if key in passages], self.asked.embed_limits.texts
        if len(new) > most:
            self.notes.append(f"embeddings: {len(new) - most} passages of the oldest items left out (limit {most})")
        out = set(new[most:])
        return {key: text for key, text in missing.items() if key not in out}

    def near(self) -> dict[int, float]:
        memory, vectors = self.memory, self.memory.vectors
        try:
            if memory.scale is None:
                memory.scale = scale_of({text: vectors[digest(text)] for text in anchors()})
            parts = [query for query in self.parts if digest(query.text) in vectors]
            at = [index for index, passage in enumerate(self.passages) if passage.key in vectors]
            rows = [vectors[self.passages[index].key] for index in at]
            found = nearness(rows, [vectors[digest(query.text)] for query in parts], parts, memory.scale)
        except KeyError:  # the anchors have no vectors: an answer failed before
            return {}
        except ValueError as error:  # vectors of two lengths: the embedder changed under way
            self.notes.append(f"embeddings: {error}; scored by rules alone")
            vectors.clear()
            memory.scale = None
            return {}
        kept = {digest(text) for text in (*anchors(), *(query.text for query in self.parts))}
        kept.update(passage.key for passage in self.passages)
        for key in [key for key in vectors if key not in kept]:
            del vectors[key]
        return dict(zip(at, found, strict=True))

    # the judge

    def cheap(self, at: int, near: Mapping[int, float]) -> float:
        """The score that stands without a judge: nearness, else what the rules say of the item."""
        return near[at] if at in near else self.asked.scores[self.passages[at].item].relevance

    def judged(self, near: Mapping[int, float]) -> Generator[Judging, Verdict, dict[int, Judged]]:
        """Answers by passage: known ones, and of one question more."""
        asked, memory, limits = self.asked, self.memory, self.asked.judge_limits
        assert asked.judge is not None
        task = digest("\n".join(query.text for query in self.parts if query.part != "step"))
        unsure = self.unsure(near)
        known = {at: memory.verdicts[key] for at in unsure if (key := (self.passages[at].key, task)) in memory.verdicts}
        new = self.batch([at for at in unsure if at not in known])
        if not new or not asked.ask:
            return known
        if memory.calls >= limits.calls:
            self.notes.append(f"judge: its {limits.calls} calls are used up; the cheap scores stand")
            return known
        memory.calls += 1
        question = question_for([self.passages[at] for at in new], asked.view)
        answer = yield Judging(asked.judge, question, limits.seconds)
        self.judge_calls, self.about, self.judge_seconds = 1, len(new), answer.seconds
        self.judge_tokens = asked.view.count(question.prompt) + asked.view.count(answer.text)
        try:
            found = {} if answer.failure else read_answer(answer.text, question)
            failure = answer.failure
        except ValueError as error:
            found, failure = {}, str(error)
        if failure:
            self.notes.append(f"judge: {failure}; the cheap scores stand")
        elif len(found) < len(new):
            self.notes.append(f"judge: answered {len(found)} of {len(new)}; for the rest the cheap scores stand")
        for at, entry in zip(new, question.passages, strict=True):
            if entry.id in found:
                known[at] = memory.verdicts[self.passages[at].key, task] = found[entry.id]
        return known

    def unsure(self, near: Mapping[int, float]) -> list[int]:
        """Passages around the cut, those nearest to it first. The cut: where the room of prose is full."""
        limits = self.asked.judge_limits
        cheap = {at: self.cheap(at, near) for at in range(len(self.passages))}
        order = sorted(cheap, key=lambda at: (-cheap[at], -at))
        left = self.room()
        for cut in order:
            left -= self.sizes[cut]
            if left < 0:
                break
        else:
            return []
        apart = {at: abs(cheap[at] - cheap[cut]) for at in order if self.sizes[at] >= limits.least}
        return sorted((at for at in apart if apart[at] <= limits.band), key=lambda at: (apart[at], -at))

    def batch(self, unsure: Sequence[int]) -> list[int]:
        """As many as one question may hold, in their order; of equal texts one."""
        limits, tokens = self.asked.judge_limits, 0
        chosen: list[int] = []
        seen: set[bytes] = set()
        for at in unsure:
            passage = self.passages[at]
            tokens += self.sizes[at]
            if tokens > limits.tokens or len(chosen) >= limits.passages:
                break
            if passage.key not in seen:
                seen.add(passage.key)
                chosen.append(at)
        return sorted(chosen)

    # the result

    def room(self) -> float:
        """Tokens for prose that is kept for what it says: as much of the room as prose takes of what is there, and no
        more than the share of the limits."""
        whole = max(1, sum(self.asked.view.cost(item) for item in self.asked.items))
        return min(self.asked.embed_limits.share, sum(self.sizes) / whole) * self.asked.target

    def lifted(self, final: Mapping[int, float]) -> set[int]:
        """The passages that are worth their room: the best ones up to the room of prose, of equal texts the newest.

        With a passage of an item that is not cut comes all of the item.
        """
        room, seen, paid, chosen = self.room(), set[bytes](), set[str](), set[int]()
        for at in sorted(final, key=lambda at: (-final[at], -at)):
            passage = self.passages[at]
            if final[at] < LEAST or room <= 0:
                break
            if passage.key in seen:
                continue
            seen.add(passage.key)
            chosen.add(at)
            if passage.whole and passage.item not in paid:
                room -= self.asked.view.cost(self.items[passage.item])
                paid.add(passage.item)
            elif not passage.whole:
                room -= self.sizes[at]
        return chosen

    def worth(self, at: int, relevance: float) -> float:
        """Relevance of a passage, spread over the item where all of it has to stay: squares add up by tokens."""
        passage = self.passages[at]
        if not passage.whole:
            return relevance
        whole = max(1, self.asked.view.cost(self.items[passage.item]))
        return relevance * math.sqrt(min(1.0, self.sizes[at] / whole))

    def result(
        self, near: Mapping[int, float], final: Mapping[int, float], useful: Mapping[int, float], why: Mapping[str, str]
    ) -> Semantic:
        signals: dict[str, dict[str, float]] = {}
        prose: dict[str, dict[int, float]] = {}
        lifted = self.lifted(final)
        for at, passage in enumerate(self.passages):
            for name, values in (("embedding", near), ("judge", useful), ("prose", final)):
                if at in values:
                    of = signals.setdefault(passage.item, {})
                    of[name] = max(of.get(name, 0.0), values[at])
            if at in lifted:
                by, worth = prose.setdefault(passage.item, {}), self.worth(at, final[at])
                for index in passage.segments:
                    known = by.get(index, 0.0)
                    by[index] = min(1.0, math.hypot(known, worth)) if passage.whole else max(known, worth)
        spent = Spent(
            self.texts, self.embed_seconds, self.about, self.judge_calls, self.judge_tokens, self.judge_seconds
        )
        return Semantic(signals, prose, why, tuple(self.notes), spent)
