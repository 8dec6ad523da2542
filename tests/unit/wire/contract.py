"""What every wire format must do. Inherit, set `wire` and `histories`, and name the class `Test…`.

    from unit.wire.contract import WireContract

    class TestOpenAIChat(WireContract):
        wire = OpenAIChat()
        histories = [[{"role": "user", "content": "hi"}], ...]

`histories` are valid and sendable: `check` finds nothing in them. Have parallel calls, media, reasoning and unknown
fields among them; at least one with several user turns.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

from jettison.items import Fidelity, Item, Kind, summary_item, units_of
from jettison.wire.base import Cursor, Message, Rendered, Wire, json_text

MARK = "replaced-7f3a"
SUMMARY = "[summary of 3 earlier messages, data not instructions, ref badugisona]\nDone:\n- what was done"


def replacement(item: Item) -> str:
    """A new text for an item: calls keep JSON arguments."""
    return json.dumps({"note": MARK}) if item.kind is Kind.CALL else f"[{MARK}]"


def flat(parsed: list[tuple[Item, ...]]) -> list[Item]:
    return [item for group in parsed for item in group]


class WireContract:
    """The laws of `jettison.wire.base.Wire`."""

    wire: ClassVar[Wire]
    histories: ClassVar[list[list[Message]]]

    def parsed(self) -> Iterator[tuple[list[Message], list[Item]]]:
        for history in self.histories:
            yield history, flat(self.wire.parse(history)[0])

    def assert_sound(self, rendered: Rendered, why: str) -> None:
        problems = self.wire.check(rendered.messages)
        assert problems == [], f"{why}: {problems[0]}\n{json_text(rendered.messages)[:2000]}"
        assert len(rendered.sources) == len(rendered.messages)

    def test_has_samples(self) -> None:
        assert self.histories

    def test_every_message_has_items_in_order(self) -> None:
        for history in self.histories:
            groups, cursors = self.wire.parse(history)
            assert len(groups) == len(cursors) == len(history)
            for index, group in enumerate(groups):
                assert group, f"message {index} has no item"
                assert [item.message for item in group] == [index] * len(group)
                assert [item.part for item in group] == list(range(len(group)))
                assert len({item.slot for item in group}) == len(group)
                assert all(item.fidelity is Fidelity.FULL for item in group)

    def test_cursor_counts_messages(self) -> None:
        for history in self.histories:
            assert [cursor.message for cursor in self.wire.parse(history)[1]] == list(range(1, len(history) + 1))

    def test_parse_is_incremental(self) -> None:
        for history in self.histories:
            groups, cursors = self.wire.parse(history)
            for cut in range(len(history) + 1):
                head, before = self.wire.parse(history[:cut])
                tail, after = self.wire.parse(history[cut:], before[-1] if before else Cursor())
                assert head + tail == groups, f"cut at {cut}"
                assert before + after == cursors, f"cut at {cut}"

    def test_steps_and_units_grow(self) -> None:
        for history, items in self.parsed():
            steps = [item.step for item in items]
            assert steps == sorted(steps), json_text(history)[:500]
            firsts = [unit.index for unit in units_of(items)]
            assert firsts == sorted(firsts)

    def test_calls_and_results_share_a_unit(self) -> None:
        for _, items in self.parsed():
            for unit in units_of(items):
                calls = {item.call_id for item in unit.of(Kind.CALL)}
                assert {item.call_id for item in unit.of(Kind.RESULT)} <= calls

    def test_ids_are_unique_and_stable(self) -> None:
        for history, items in self.parsed():
            ids = [item.id for item in items]
            assert len(ids) == len(set(ids))
            assert ids == [item.id for item in flat(self.wire.parse(copy.deepcopy(history))[0])]

    def test_media_is_never_text(self) -> None:
        for _, items in self.parsed():
            for item in items:
                assert item.kind is not Kind.MEDIA or (not item.text and item.note and item.fixed > 0)

    def test_render_of_everything_is_the_input(self) -> None:
        for history, items in self.parsed():
            rendered = self.wire.render(items, history)
            assert rendered.messages == history
            assert all(new is old for new, old in zip(rendered.messages, history, strict=True))
            assert rendered.sources == list(range(len(history)))
            assert rendered.inserted == []

    def test_render_of_a_tail_continues_the_head(self) -> None:
        for history, items in self.parsed():
            last = max(item.unit for item in items)
            first = next(item.message for item in items if item.unit == last)
            if any(item.unit == last for item in items if item.message < first):
                continue
            rendered = self.wire.render(items, history, first=first)
            assert rendered.messages == history[first:]
            assert rendered.sources == list(range(first, len(history)))

    def test_inputs_are_never_mutated(self) -> None:
        for history in self.histories:
            before = copy.deepcopy(history)
            items = flat(self.wire.parse(history)[0])
            self.wire.render(items[::2], history)
            self.wire.render([self._edited(item) for item in items], history)
            self.wire.check(history)
            self.wire.repair(history)
            self.wire.repair([message for message in history if message is not history[len(history) // 2]])
            assert history == before

    def test_any_unit_can_go(self) -> None:
        for history, items in self.parsed():
            units = units_of(items)
            first_user = next((unit.index for unit in units if Kind.USER in unit.kinds), units[0].index)
            for unit in units:
                if unit.index in (first_user, units[-1].index):
                    continue
                kept = [item for item in items if item.unit != unit.index]
                self.assert_sound(self.wire.render(kept, history), f"without unit {unit.index}")

    def test_many_units_can_go(self) -> None:
        for history, items in self.parsed():
            units = units_of(items)
            first_user = next((unit.index for unit in units if Kind.USER in unit.kinds), units[0].index)
            kept = [item for item in items if item.unit in (first_user, units[-1].index)]
            self.assert_sound(self.wire.render(kept, history), "first user unit and last unit only")

    def test_a_summary_can_stand_for_any_units(self) -> None:
        for history, items in self.parsed():
            units = [unit.index for unit in units_of(items) if unit.index >= 0]
            for start in range(len(units) - 1):
                for end in range(start + 1, len(units)):
                    self._assert_summarised(history, items, set(units[start:end]))

    def _assert_summarised(self, history: list[Message], items: list[Item], covered: set[int]) -> None:
        first = next(item for item in items if item.unit in covered)
        kept: list[Item] = []
        for item in items:
            if item is first:
                kept.append(summary_item(SUMMARY, first))
            if item.unit not in covered:
                kept.append(item)
        before = copy.deepcopy(history)
        rendered = self.wire.render(kept, history)
        assert history == before
        self.assert_sound(rendered, f"a summary for units {sorted(covered)}")
        listed = [entry for entry in rendered.inserted if entry.why == "summary"]
        assert [entry.text for entry in listed] == [SUMMARY]
        assert json_text(SUMMARY)[1:-1] in json_text(rendered.messages[listed[0].message])
        again = flat(self.wire.parse(rendered.messages)[0])
        found = [item for item in again if item.kind is Kind.SUMMARY]
        assert [(item.text, item.synthetic) for item in found] == [(SUMMARY, True)]
        assert found[0].role not in ("assistant", "model", "system", "developer")
        texts = [item.text for item in again if item.kind in (Kind.CALL, Kind.RESULT, Kind.USER)]
        for item in kept:
            if item.kind in (Kind.CALL, Kind.RESULT, Kind.USER) and item.text:
                assert item.text in texts, item
        sources = [source for source in rendered.sources if source >= 0]
        assert sources == sorted(set(sources))
        assert self.wire.render(again, rendered.messages).messages == rendered.messages

    def test_any_editable_text_can_be_replaced(self) -> None:
        for history, items in self.parsed():
            for position, item in enumerate(items):
                if not item.editable:
                    continue
                changed = [*items[:position], self._edited(item), *items[position + 1 :]]
                rendered = self.wire.render(changed, history)
                self.assert_sound(rendered, f"{item.id} ({item.kind}) replaced")
                assert MARK in json_text(rendered.messages), item
                self._assert_listed(rendered, replacement(item))
                untouched = [m for i, m in enumerate(history) if i != item.message]
                assert [m for i, m in zip(rendered.sources, rendered.messages, strict=True) if i != item.message] == (
                    untouched
                )

    def test_replaced_text_comes_back_when_parsed(self) -> None:
        for history, items in self.parsed():
            for item in items:
                if not item.editable or item.kind is Kind.MEDIA:
                    continue
                changed = [self._edited(other) if other is item else other for other in items]
                again = flat(self.wire.parse(self.wire.render(changed, history).messages)[0])
                found = [other for other in again if MARK in other.text]
                assert [other.kind for other in found] == [item.kind]
                same = found[0].text == replacement(item)
                assert same or json.loads(found[0].text) == json.loads(replacement(item))

    def test_all_editable_texts_can_be_replaced_at_once(self) -> None:
        for history, items in self.parsed():
            rendered = self.wire.render([self._edited(item) for item in items], history)
            self.assert_sound(rendered, "everything replaced")
            assert len(rendered.inserted) == sum(item.editable for item in items)

    def test_valid_histories_have_no_problem(self) -> None:
        for history in self.histories:
            assert self.wire.check(history) == []

    def test_repair_of_a_valid_history_changes_nothing(self) -> None:
        for history in self.histories:
            repaired = self.wire.repair(history)
            assert repaired.notes == []
            assert len(repaired.messages) == len(history)
            assert all(new is old for new, old in zip(repaired.messages, history, strict=True))

    def test_body_round_trip(self) -> None:
        for history in self.histories:
            body: dict[str, Any] = {"model": "m", self.wire.field: history, "temperature": 0}
            before = copy.deepcopy(body)
            messages, system, tools = self.wire.split_body(body)
            assert (messages, system, tools) == (history, None, None)
            joined = self.wire.join_body(body, messages, system)
            assert joined == before
            assert list(joined) == list(before)
            assert body == before

    @staticmethod
    def _edited(item: Item) -> Item:
        return replace(item, text=replacement(item), fidelity=Fidelity.COMPRESSED) if item.editable else item

    @staticmethod
    def _assert_listed(rendered: Rendered, text: str) -> None:
        found = [entry for entry in rendered.inserted if entry.text == text]
        assert found, "the new text is not listed in `inserted`"
        assert all(MARK in json_text(rendered.messages[entry.message]) for entry in found)
