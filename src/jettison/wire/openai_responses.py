"""OpenAI Responses: `input` items; each element of the list is a message in Jettison's sense."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jettison.errors import InvalidInput, Problem
from jettison.items import COMPACTION, SUMMARY_SLOT, Item, Kind
from jettison.wire.base import Cursor, Inserted, Message, Rendered, Repaired, json_text
from jettison.wire.media import image_size, label, openai_image_tokens
from jettison.wire.openai_parts import (
    BASE,
    REMOVED,
    Block,
    Slot,
    content_blocks,
    edit_content,
    edited,
    insertions,
    kept_by_message,
    lighten,
    media_block,
    opaque,
    part_text,
    rest_of,
    result_blocks,
    text_of,
    to_items,
    word,
)
from jettison.wire.openai_responses_rules import CALLS, check, is_answer, is_model, key_of, repair, sort_of

__all__ = ["OpenAIResponses"]

_KINDS = {
    "system": Kind.INSTRUCTION,
    "developer": Kind.INSTRUCTION,
    "user": Kind.USER,
    "assistant": Kind.ASSISTANT,
}
_SERVER_TOOLS = frozenset({"web_search_call", "file_search_call", "code_interpreter_call"})
_PLAIN_ANSWERS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_KNOWN = frozenset({"type", "id", "status", "role", "call_id"})
_NAMED = _KNOWN | {"name", "arguments"}
_READ = {
    "message": _KNOWN | {"content"},
    "reasoning": _KNOWN | {"summary", "content", "encrypted_content"},
    "function_call": _NAMED,
    "custom_tool_call": _NAMED | {"input"},
    "mcp_call": _NAMED | {"output", "error", "approval_request_id"},
    "mcp_approval_request": _NAMED,
    "mcp_approval_response": _KNOWN | {"approval_request_id", "reason"},
    "image_generation_call": _KNOWN | {"result"},
    "compaction": _KNOWN | {"encrypted_content"},
}
_ACTION = _KNOWN | {"name", "action", "operation", "output"}


class OpenAIResponses:
    """The `openai-responses` wire."""

    name: str = "openai-responses"
    field: str = "input"
    base_tokens: int = BASE
    system_field: str | None = "instructions"

    def parse(
        self, messages: Sequence[Message], cursor: Cursor = Cursor()
    ) -> tuple[list[tuple[Item, ...]], list[Cursor]]:
        """A run of model items and the outputs that answer them is a unit; see `_Walk` for where it ends."""
        groups: list[tuple[Item, ...]] = []
        cursors: list[Cursor] = []
        walk = _Walk(cursor)
        for index, message in enumerate(messages, cursor.message):
            sort = sort_of(message)
            unit, name = walk.take(message, sort)
            role = word(message.get("role")) if sort else ""
            ours = is_answer(sort) or (sort == "tool_search_output" and message.get("execution") == "client")
            role = role or ("tool" if ours else "assistant" if is_model(message, sort) else "")
            groups.append(to_items(_blocks(message, sort, name), index, unit, walk.step, role))
            cursors.append(walk.cursor(index + 1))
        return groups, cursors

    def parse_system(self, system: Any) -> tuple[Item, ...]:
        """The `instructions`, as one item."""
        if not system:
            return ()
        block = Block(Kind.INSTRUCTION, ("instructions",), text_of(system), editable=False)
        return to_items([block], -1, -1, 0, "system")

    def render(self, items: Sequence[Item], messages: Sequence[Message], first: int = 0) -> Rendered:
        """The elements of the kept items; reasoning goes when the item that followed it does."""
        kept: dict[int, dict[Slot, Item]] = {}
        built: dict[int, Message] = {}
        summaries: dict[int, Item] = {}
        for index, slots in kept_by_message(items, first):
            kept[index] = slots
            if SUMMARY_SLOT in slots:
                summaries[index] = slots.pop(SUMMARY_SLOT)
            message = _rebuilt(messages[index], slots) if slots else None
            if message is not None:
                built[index] = message
        out = Rendered([], [])
        for index in kept:
            message = built.get(index)
            if message is not None and not (sort_of(message) == "reasoning" and _stranded(messages, index, built)):
                if message is not messages[index]:
                    written = message.get("content") if "content" in message else message.get("output")
                    out.inserted.extend(insertions(len(out.messages), kept[index], written))
                out.messages.append(message)
                out.sources.append(index)
            if index in summaries:
                why = summaries[index].note or "summary"
                out.inserted.append(Inserted(len(out.messages), summaries[index].text, why))
                out.messages.append({"type": "message", "role": "user", "content": summaries[index].text})
                out.sources.append(-1)
        return out

    def check(
        self, messages: Sequence[Message], *, system: Any = None, start: int = 0, remote: bool = False
    ) -> list[Problem]:
        """All broken rules of messages[start:], and every call without its output wherever it stands."""
        return check(messages, start, remote)

    def repair(self, messages: Sequence[Message], remote: bool = False) -> Repaired:
        """Drop empties, orphan outputs and stranded reasoning, resolve duplicates, answer dead calls."""
        return repair(messages, remote)

    def split_body(self, body: Mapping[str, Any]) -> tuple[list[Any], Any, Any]:
        """(input, instructions, tools); a plain string input becomes one user message."""
        given = body.get("input")
        if isinstance(given, str):
            given = [{"role": "user", "content": given}]
        if not isinstance(given, list | tuple):
            raise InvalidInput("an openai-responses body has an `input`: a string or a list")
        return list(given), body.get("instructions"), body.get("tools")

    def join_body(self, body: Mapping[str, Any], messages: list[Message], system: Any) -> dict[str, Any]:
        """The body with its input and instructions replaced; an unchanged string input stays a string."""
        given = body.get("input")
        same = isinstance(given, str) and messages == [{"role": "user", "content": given}]
        joined = {**body, "input": given if same else messages}
        if system is not None or "instructions" in body:
            joined["instructions"] = system
        return joined


class _Walk:
    """Assigns units and steps, element by element.

    `mode` is what the unit under construction is: "model", "answers" to calls that are not here, or a break. `fed`:
    something came from the client since the last model item. `thought`: the unit has a reasoning item. `bare`: that
    was the last model item.
    """

    def __init__(self, cursor: Cursor) -> None:
        self.unit, self.step, self.calls = cursor.unit, cursor.step, cursor.calls
        self.mode, _, flags = cursor.state.partition(":")
        self.fed, self.thought, self.bare = "f" in flags or not self.mode, "t" in flags, "b" in flags
        self.open: dict[str, tuple[int, str]] = {}
        for key, value in self.calls:
            unit, _, name = value.partition(":")
            self.open[key] = int(unit), name

    def cursor(self, message: int) -> Cursor:
        """Open calls are kept as (family and id, unit and name): their answers may be far away."""
        flags = "f" * self.fed + "t" * self.thought + "b" * self.bare
        return Cursor(message, self.unit, self.step, self.calls, f"{self.mode}:{flags}")

    def take(self, message: Any, sort: str) -> tuple[int, str | None]:
        """(unit, tool name of the answered call) of the next element."""
        if is_answer(sort):
            return self._answer(key_of(message, sort))
        if not is_model(message, sort):
            self._begin("break")
            self.fed = True
        elif sort == "compaction":
            if not self.bare or self.fed:
                self._begin("break")
            self.bare = False
        else:
            self._model(message, sort)
        return self.unit, None

    def _begin(self, mode: str) -> None:
        self.unit += bool(self.mode)
        self.mode, self.thought, self.bare = mode, False, False

    def _answer(self, key: str) -> tuple[int, str | None]:
        self.fed = True
        if key in self.open:
            unit, name = self.open.pop(key)
            self._remember()
            return unit, name or None
        if self.mode not in ("model", "answers"):  # to calls that are on the server: sent together, kept together
            self._begin("answers")
        return self.unit, None

    def _model(self, message: Message, sort: str) -> None:
        thinking = sort == "reasoning"
        waiting = any(unit == self.unit for unit, _ in self.open.values())
        if self.mode != "model":
            new = True
        elif thinking:
            new = not waiting and (self.fed or not self.bare)
        else:
            new = self.fed and not waiting and not self.thought
        if new:
            self._begin("model")
        self.step += self.fed
        self.fed, self.bare, self.thought = False, thinking, self.thought or thinking
        if sort in CALLS and (key := key_of(message, sort)):
            self.open[key] = self.unit, _name_of(message, sort)
            self._remember()

    def _remember(self) -> None:
        self.calls = tuple((key, f"{unit}:{name}") for key, (unit, name) in self.open.items())


def _stranded(messages: Sequence[Message], index: int, built: Mapping[int, Message]) -> bool:
    """Whether the model item that followed this reasoning is gone."""
    follower = index + 1
    while follower < len(messages) and sort_of(messages[follower]) == "reasoning":
        follower += 1
    if follower == len(messages) or not is_model(messages[follower], sort_of(messages[follower])):
        return False
    return follower not in built


def _blocks(message: Message, sort: str, name: str | None, weigh: bool = True) -> list[Block]:
    """The element cut into blocks; without `weigh` only where they are."""
    if sort == "message":
        kind = _KINDS.get(word(message.get("role")))
        if kind is None:
            return [opaque((), message, weigh)]
        blocks = content_blocks(message.get("content"), "content", kind, weigh)
    elif is_answer(sort):
        blocks = _answer(message, sort, name, weigh)
    elif sort in CALLS or sort == "mcp_call":
        blocks = _call(message, sort)
    elif sort == "reasoning":
        said = [text for field in ("summary", "content") for text in _texts(message.get(field))]
        hidden = word(message.get("encrypted_content"))
        blocks = [Block(Kind.REASONING, (), "\n".join(said), extra=hidden, editable=False, bound=True)]
    elif sort == "image_generation_call" and (data := word(message.get("result"))):
        size = image_size(data) if weigh else None
        tokens, note, ident = openai_image_tokens(size, None), label("image", size, None), f"{len(data)}{data[-512:]}"
        blocks = [Block(Kind.MEDIA, (), fixed=tokens, note=note, editable=False, ident=ident)]
    elif sort == "compaction":
        blocks = [opaque((), message.get("encrypted_content"), weigh)._replace(note=COMPACTION)]
    elif sort == "tool_search_output":
        return [opaque((), message, weigh)._replace(reveals=tuple(_listed(message.get("tools"))))]
    elif sort in _SERVER_TOOLS:
        text, fixed = lighten(rest_of(message, _KNOWN)) if weigh else ("", 0)
        return [Block(Kind.OPAQUE, (), text, _name_of(message, sort), fixed=fixed, editable=False)]
    else:
        return [opaque((), message, weigh)]
    rest = rest_of(message, _READ.get(sort, _ACTION)) if weigh else ""
    if not blocks:
        return [Block(Kind.OPAQUE, (), extra=rest, editable=False)]
    if rest:
        blocks[0] = blocks[0]._replace(extra=blocks[0].extra + rest)
    return blocks


def _texts(parts: Any) -> list[str]:
    return [text for part in parts if (text := part_text(part))] if isinstance(parts, list) else []


def _listed(tools: Any) -> Iterator[str]:
    """Names of tools that a search found, those in a namespace too; an MCP server goes by its label."""
    for tool in tools if isinstance(tools, list) else ():
        if isinstance(tool, dict):
            yield from filter(None, (word(tool.get("name")) or word(tool.get("server_label")),))
            yield from _listed(tool.get("tools"))


def _name_of(message: Message, sort: str) -> str:
    """Name of the tool that is called; the built-in ones are named by their type."""
    return word(message.get("name")) or sort.removesuffix("_call")


def _call(message: Message, sort: str) -> list[Block]:
    """A call; an MCP call brings its result along."""
    name = _name_of(message, sort)
    call_id = word(message.get("call_id")) or word(message.get("id")) or None
    if sort == "mcp_call":
        output, error = message.get("output"), message.get("error")
        answer = Block(
            Kind.RESULT,
            ("output",),
            text_of(output or error),
            name,
            call_id,
            editable=isinstance(output, str) and bool(output),
            is_error=bool(error),
        )
        return [Block(Kind.CALL, ("arguments",), text_of(message.get("arguments")), name, call_id), answer]
    field = CALLS[sort]
    value = message.get(field)
    editable = sort in ("function_call", "custom_tool_call")
    return [Block(Kind.CALL, (field,), text_of(value), name, call_id, editable=editable)]


def _answer(message: Message, sort: str, name: str | None, weigh: bool) -> list[Block]:
    """The result of a call. A screenshot is one with its result: the wire takes nothing else in its place."""
    call_id = word(message.get("call_id")) or word(message.get("id")) or None
    output = message.get("output")
    if sort == "mcp_approval_response":
        call_id = word(message.get("approval_request_id")) or None
        return [Block(Kind.RESULT, ("reason",), word(message.get("reason")), name, call_id, editable=False)]
    if sort in _PLAIN_ANSWERS:
        return result_blocks(output, "output", (call_id, name), weigh)
    if sort == "computer_call_output" and isinstance(output, dict):
        media = media_block(output, ()) if weigh else Block(Kind.MEDIA, ())
        return [media._replace(kind=Kind.RESULT, slot=("output",), name=name, call_id=call_id, editable=False)]
    text = output if isinstance(output, str) else json_text(output) if output and weigh else ""
    return [Block(Kind.RESULT, ("output",), text, name, call_id, editable=False)]


def _rebuilt(message: Message, kept: Mapping[Slot, Item]) -> Message | None:
    """The element with what is kept of it: itself when that is all, None when that is nothing."""
    sort = sort_of(message)
    blocks = _blocks(message, sort, None, weigh=False)
    if len(kept) == len(blocks) and not any(map(edited, kept.values())):
        return message
    new = dict(message)
    if sort == "message":
        text_type = "output_text" if message.get("role") == "assistant" else "input_text"
        new["content"] = edit_content(message.get("content"), "content", blocks, kept, text_type)
        return new if new["content"] is not None else None
    for slot, item in kept.items():
        if edited(item) and slot in (("arguments",), ("input",)):
            new[str(slot[0])] = item.text
    if sort == "mcp_call" and message.get("output"):
        result = kept.get(("output",))
        new["output"] = REMOVED if result is None else result.text if edited(result) else message["output"]
    elif sort in _PLAIN_ANSWERS:
        output = edit_content(message.get("output"), "output", blocks, kept, "input_text")
        new["output"] = REMOVED if output is None else output
    return new
