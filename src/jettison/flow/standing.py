"""Standing facts: what one item says and no later one repeats. Todo lists and the rules they must obey, revealed
tools, the originals of results that only say "unchanged", and the provider's own compaction of what came before."""

from __future__ import annotations

import json
import re
from collections import ChainMap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from jettison.flow.guards import is_guard
from jettison.flow.patterns import compiled
from jettison.items import COMPACTION, Item, Kind, Unit
from jettison.task import Fact, Span

__all__ = ["COMPACTED", "StandingReader"]

COMPACTED = "compaction of what came before"
"""Why the provider's own compaction is held: it reads nothing that stands before the latest one."""

LIST_SILENCE = 60
"""Steps after which a todo list that was not touched is no longer state. As TIME_OUT of operations."""
STUB_STEPS = 30
"""Steps for which an "unchanged" result holds its original. In the recorded sets 9 of 10 later uses of a value come
within 30 units of the last one (algorithm.md, "Worth": a use fades to 1/e in 10)."""
LONGEST_LIST = 4_000
"""Characters of a file that is a todo list; a longer one is a document."""
LONGEST_GUARD = 20_000
"""Characters of a text of rules; a longer one is a manual."""
MOST_GUARDS = 16
"""Rules held of one text."""
LONGEST_STUB = 300
LONGEST_TOOL_LIST = 6_000

_TODO_TOOL = (
    r"(?<![a-z])to_?dos?(?!ist)|(?:update|write|set|make|create|submit)_?plan\b|\bplan_?(?:update|write)|check_?list"
)
_TODO_FILE = r"(?:^|[\\/])[\w.-]*(?:to[-_]?do|check[-_]?list|task[-_]?list|(?<![a-z])plan)[\w-]*\.(?:md|txt|org)$"
_DONE = (
    r"^\W*(?:done|completed?|finished|cancel+ed|closed|skipped|x|true|готов\w*|выполнен\w*|заверш[её]н\w*|"
    r"отмен[её]н\w*|сделан\w*|deleted|resolved|удал[её]н\w*)\b"
)
# Claude Code's TaskCreate and TaskUpdate, and tools of that form: `create_task`, `task_update`, `update_todo_item`.
_TASK_MADE = re.compile(r"(?:^|_)(?:task_create|create_task|add_task|task_add)$")
_TASK_CHANGED = re.compile(r"(?:^|_)(?:task_(?:update|complete|close|delete)|(?:update|complete|close|delete)_task)$")
_TASK_ID = re.compile(r"#(\d+)|\"?(?:task_?)?id\"?\s*[:=]\s*\"?#?([\w-]{1,40})", re.IGNORECASE)
_OLD = ("old_string", "old_str", "old_text", "search")
_NEW = ("new_string", "new_str", "new_text", "replace", "insert_text")
_BOX = re.compile(r"\[( |x|X|✓|~|-|>)\]")
_LISTED = re.compile(r"^\s*(?:[-*•]|\d+[.)]?)\s+\S", re.MULTILINE)
_ENTRIES = ("todos", "plan", "items", "tasks", "steps", "entries", "list", "todo_list", "todoList")
_TEXTS = ("content", "file_text", "text", "contents", "markdown", "plan", "todos")
_PATHS = ("path", "file_path", "filename", "file", "filepath", "name")
_UNCHANGED = (
    r"\bunchanged\b|\bnot (?:been )?(?:changed|modified)\b|\bno changes? since\b|\bsame as (?:before|last time|"
    r"previous\w*|above|earlier)\b|"
    r"\bidentical to (?:the )?(?:previous|last|earlier)|\bnot modified\b|не измени\w+|без изменений|не менял\w+|"
    r"то же,? что и? ?(?:раньше|прежде|выше)"
)
_REVEAL_KEY = (
    r"^(?:revealed|loaded|activated|enabled|unlocked|discovered|added|tools?|tool_names?|available_tools|"
    r"tool_references|matches|found)$"
)
_DEAD_KEY = r"^(?:removed|revoked|disabled|unloaded|deactivated|unavailable|dropped)(?:_tools)?$"
_TOOL_TOOL = r"tool|toolset|plugin|capabilit|mcp_server"
_NAME = re.compile(r"[A-Za-z][\w.-]{2,63}")

Rules = Callable[[Item], Iterable[tuple[int, int]]]


@dataclass(slots=True)
class _State:
    """What stands after some units."""

    lists: dict[str, tuple[str, str, int]] = field(default_factory=dict)
    """By tool or file: (item, name, step) of the latest list with open entries; single tasks and edits of a list have
    a `#` in their key."""
    texts: dict[str, str] = field(default_factory=dict)
    """By file: the list as it stands after its edits."""
    guards: MutableMapping[str, Item] = field(default_factory=dict)
    """By result, of those short enough to state rules: its call. Read only while a list is open."""
    results: MutableMapping[str, Item] = field(default_factory=dict)
    """These results."""
    revealed: dict[str, Span] = field(default_factory=dict)
    """By tool name: where it was made known."""
    originals: MutableMapping[tuple[str, str], str] = field(default_factory=dict)
    """By (tool, arguments): the latest result that was not a stub."""
    stubs: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """By the same: (original, step of the stub)."""
    references: dict[str, Item] = field(default_factory=dict)
    """By tool name: the latest item by which the provider knows that the tool can be called."""
    compaction: str = ""
    """The latest item that the provider made of all before it."""
    answers: tuple[str, ...] = ()
    """Results of calls that are on the server: it refuses a call without one."""

    def branch(self) -> _State:
        """A copy for units that may still grow; it costs nothing for the long tables."""
        guards: MutableMapping[str, Item] = ChainMap({}, self.guards)
        results: MutableMapping[str, Item] = ChainMap({}, self.results)
        originals: MutableMapping[tuple[str, str], str] = ChainMap({}, self.originals)
        revealed, stubs = dict(self.revealed), dict(self.stubs)
        lists, texts, references = dict(self.lists), dict(self.texts), dict(self.references)
        late = references, self.compaction, self.answers
        return _State(lists, texts, guards, results, revealed, originals, stubs, *late)


@dataclass
class StandingReader:
    """Reads each unit once; the newest again at each call."""

    rules: Rules
    """Spans of an item that bind the agent."""
    _state: _State = field(default_factory=_State)
    _read: dict[str, tuple[Span, ...]] = field(default_factory=dict)

    def restart(self) -> None:
        self._state = _State()

    def settle(self, units: Iterable[Unit]) -> None:
        """Take in units that will not change any more."""
        for unit in units:
            self._take(unit, self._state)

    def read(self, newest: Iterable[Unit], step: int, tools: Collection[str]) -> Iterator[Fact]:
        """What stands after these units. `tools`: names of the tools that can be called now."""
        state = self._state.branch()
        for unit in newest:
            self._take(unit, state)
        held = False
        for place, name, touched in state.lists.values():
            if step - touched <= LIST_SILENCE:
                held = True
                yield Fact(place, f"open entries of {name}", "a newer list, or none of it is open")
        if held:
            for key, call in state.guards.items():
                for span in self._guards(state.results[key], call):
                    yield Fact(span.item, "guard of the open list", "the list it guards is done", span)
        for name, span in state.revealed.items():
            if name in tools:
                yield Fact(span.item, f"revealed tool {name}", "the tool leaves the tool list", span)
        for name, item in state.references.items():
            if item.role == "tool":  # found by the client's own search: it may be declared nowhere else
                yield Fact(item.id, f"revealed tool {name}", "a later search finds the tool")
            elif name in tools:
                yield Fact(item.id, f"revealed tool {name}", "the tool leaves the tool list")
        if state.compaction:
            yield Fact(state.compaction, COMPACTED, "a later compaction")
        for place in state.answers:
            yield Fact(place, "answers a call on the server", "never: the server refuses a call without its answer")
        for place, stubbed in state.stubs.values():
            if step - stubbed <= STUB_STEPS:
                yield Fact(place, "original of an unchanged result", f"read anew, or {STUB_STEPS} steps have passed")

    def _take(self, unit: Unit, state: _State) -> None:
        calls = {item.call_id: item for item in unit.items if item.kind is Kind.CALL}
        for made in calls.values():
            _list_in_call(made, state)
        for item in unit.items:
            if item.kind is Kind.OPAQUE:
                _provided(item, state)
                continue
            call = calls.get(item.call_id) if item.kind is Kind.RESULT else None
            if item.kind is Kind.RESULT and call is None and item.call_id is not None:  # none: of a legacy function
                state.answers = (*state.answers, item.id)
            if call is None or item.synthetic or item.is_error:
                continue
            key = (call.name or "", call.text)
            if _is_stub(item.text):
                if key in state.originals:
                    state.stubs[key] = (state.originals[key], item.step)
            else:
                state.originals[key] = item.id
                state.stubs.pop(key, None)
            _list_in_result(item, call, state)
            _task_in_result(item, call, state)
            _tools_in(item, call, state)
            if len(item.text) <= LONGEST_GUARD:
                state.guards[item.id] = call
                state.results[item.id] = item

    def _guards(self, item: Item, call: Item) -> tuple[Span, ...]:
        """The rules that a file of rules states; none of another result. Read once."""
        found = self._read.get(item.id)
        if found is None:
            rules = self.rules(item) if is_guard(call.name or "", call.text) else ()
            spans = [Span(item.id, start, end, item.text[start:end]) for start, end in rules]
            found = self._read[item.id] = tuple(spans[:MOST_GUARDS])
        return found


def _provided(item: Item, state: _State) -> None:
    """What the provider itself holds on to: found tools, and its compaction."""
    for name in item.reveals:
        state.references[name] = item
    if item.note == COMPACTION:
        state.compaction = item.id


def _is_stub(text: str) -> bool:
    return len(text) <= LONGEST_STUB and compiled(_UNCHANGED).search(text) is not None


@lru_cache(maxsize=2_048)
def _is_about_tools(name: str) -> bool:
    return compiled(_TOOL_TOOL).search(name) is not None


@lru_cache(maxsize=2_048)
def _is_todo(name: str) -> bool:
    return compiled(_TODO_TOOL).search(_snake(name)) is not None


@lru_cache(maxsize=2_048)
def _task_tool(tool: str) -> tuple[str, re.Pattern[str] | None]:
    """(the name in snake case, which of the patterns of task tools it has)."""
    name = _snake(tool)
    return name, next((pattern for pattern in (_TASK_MADE, _TASK_CHANGED) if pattern.search(name)), None)


@lru_cache(maxsize=2_048)
def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


def _arguments(call: Item) -> Mapping[str, Any]:
    try:
        value = json.loads(call.text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _list_in_call(call: Item, state: _State) -> None:
    """A todo list given as arguments, to a tool for it or to one that writes a file."""
    name = call.name or ""
    if _is_todo(name):
        arguments = _arguments(call)
        entries = next((arguments[key] for key in _ENTRIES if arguments.get(key) is not None), None)
        open_ = _has_open(entries)
        if open_ is not None:
            _hold(state, "", open_, call.id, name, call.step)
        return
    low = call.text[:300].lower()
    if len(call.text) > 2 * LONGEST_LIST or not any(
        map(low.__contains__, ("todo", "to-do", "to_do", "check", "list", "plan"))
    ):
        return
    arguments = _arguments(call)
    path = next((value for key in _PATHS if isinstance(value := arguments.get(key), str)), "")
    if not compiled(_TODO_FILE).search(path):
        return
    text = next((value for key in _TEXTS if isinstance(value := arguments.get(key), str)), None)
    if text is not None and len(text) <= LONGEST_LIST and _LISTED.search(text):
        _forget(state, path)
        state.texts[path] = text
        _hold(state, path, _has_open(text) is not False, call.id, path, call.step)
    elif path in state.lists:
        _edit(call, path, arguments, state)


def _edit(call: Item, path: str, arguments: Mapping[str, Any], state: _State) -> None:
    """An edit of a list that is held: the edit is held beside it, or both are over when no entry is open after it."""
    item, known, _ = state.lists[path]
    state.lists[path] = (item, known, call.step)
    old, new = (
        next((value for key in keys if isinstance(value := arguments.get(key), str)), None) for keys in (_OLD, _NEW)
    )
    if new is None or len(new) > LONGEST_LIST:
        return
    text = state.texts.get(path, "")
    state.texts[path] = text.replace(old, new, 1) if old and old in text else f"{text}\n{new}"
    if _has_open(state.texts[path]) is False:
        _forget(state, path)
    else:
        state.lists[f"{path}#{call.id}"] = (call.id, path, call.step)


def _forget(state: _State, path: str) -> None:
    """Let a list go, with its edits."""
    for key in [key for key in state.lists if key == path or key.startswith(f"{path}#")]:
        del state.lists[key]


def _task_in_result(item: Item, call: Item, state: _State) -> None:
    """One task of a list that is kept entry by entry: made by one tool, updated by another, each named by its id."""
    name, does = _task_tool(call.name or "")
    if does is _TASK_MADE:
        found = _TASK_ID.search(item.text[:400])
        if found:
            state.lists[f"task#{found.group(1) or found.group(2)}"] = (call.id, call.name or "", call.step)
    elif does is _TASK_CHANGED:
        arguments = _arguments(call)
        number = next((str(arguments[key]) for key in ("taskId", "task_id", "id") if key in arguments), "")
        key = f"task#{number.lstrip('#')}"
        if key in state.lists:
            ends = re.search(r"complete|close|delete", name) is not None
            if ends or compiled(_DONE).match(str(arguments.get("status", ""))):
                del state.lists[key]
            else:
                made, tool, _ = state.lists[key]
                state.lists[key] = (made, tool, call.step)


def _list_in_result(item: Item, call: Item, state: _State) -> None:
    """A todo list that a tool for it gave back, where its call had none."""
    if not _is_todo(call.name or "") or state.lists.get("", ("",))[0] == call.id or len(item.text) > 4 * LONGEST_LIST:
        return
    try:
        value = json.loads(item.text)
    except (ValueError, RecursionError):
        value = item.text if _BOX.search(item.text) else None
    if isinstance(value, dict):
        value = next((value[key] for key in _ENTRIES if value.get(key) is not None), None)
    open_ = _has_open(value)
    if open_ is not None:
        _hold(state, "", open_, item.id, call.name or "", item.step)


def _hold(state: _State, key: str, open_: bool, item: str, name: str, step: int) -> None:
    if open_:
        state.lists[key] = (item, name, step)
    else:
        state.lists.pop(key, None)


def _has_open(entries: Any) -> bool | None:
    """Whether a list has entries that are not done; None where it is no list."""
    if isinstance(entries, str):
        boxes = _BOX.findall(entries)
        if boxes:
            return any(box not in "xX✓" for box in boxes)
        return True if _LISTED.search(entries) else None
    if not isinstance(entries, list):
        return None
    return any(map(_is_open, entries))


def _is_open(entry: Any) -> bool:
    if isinstance(entry, dict):
        marks = [str(entry[key]) for key in ("status", "state", "done", "completed", "статус") if key in entry]
        return not any(compiled(_DONE).match(mark) for mark in marks)
    return not compiled(r"^\s*(?:[-*]\s*)?\[[xX✓]\]").match(str(entry))


def _tools_in(item: Item, call: Item, state: _State) -> None:
    """Names that a result makes known as tools, or takes back."""
    if len(item.text) > LONGEST_TOOL_LIST:
        return
    about = _is_about_tools(call.name or "")
    low = item.text[:200].lower() if not about else ""
    if not about and not any(map(low.__contains__, ("reveal", "tool", "activated", "unlocked"))):
        return
    try:
        value = json.loads(item.text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        for key, inner in value.items():
            if compiled(_DEAD_KEY).match(key):
                for name in _strings(inner):
                    state.revealed.pop(name, None)
                    state.references.pop(name, None)
            elif compiled(_REVEAL_KEY).match(key):
                _reveal(item, _strings(inner), state)
    elif about:
        _reveal(item, _strings(value) if value is not None else _NAME.findall(item.text), state)


def _reveal(item: Item, names: Iterable[str], state: _State) -> None:
    for name in dict.fromkeys(names):
        at = item.text.find(name)
        if at >= 0:
            state.revealed[name] = Span(item.id, at, at + len(name), name)


def _strings(value: Any, depth: int = 0) -> Iterator[str]:
    """Names in a list of names or of records with a name."""
    if isinstance(value, str) and _NAME.fullmatch(value):
        yield value
    elif isinstance(value, list) and depth < 3:
        for inner in value:
            yield from _strings(inner, depth + 1)
    elif isinstance(value, dict) and depth < 3:
        yield from _strings(value.get("name") or value.get("tool_name") or value.get("tool"), depth + 1)
