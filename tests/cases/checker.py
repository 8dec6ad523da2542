"""What the providers refuse and what a request weighs, written a second time and on purpose not from the library.

Sources: shared/wire-rules.md (the rules) and tests/cases/data/README.md (o200k, 4 tokens a message, tool schemas).
`problems` lists broken rules in words; `recount` is a lower bound: media at their cheapest documented price.
"""

from __future__ import annotations

import base64
import json
import struct
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any

Message = dict[str, Any]

PER_MESSAGE = 4

_SILENT = {"role", "type", "id", "tool_use_id", "tool_call_id", "call_id", "approval_request_id", "status", "outcome"}
_SILENT |= {"thoughtSignature", "media_type", "mimeType", "detail", "cache_control", "annotations", "citations", "url"}
_SILENT |= {"file_id", "filename", "attributes", "language", "server_label", "page_age"}
"""Keys whose values are not text that is billed, or not by a rule we can state."""


# --- counting ----------------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _encoder() -> Callable[[str], Sequence[int]]:
    import bpe_openai

    with warnings.catch_warnings():  # the package reads its data by a deprecated function
        warnings.simplefilter("ignore", DeprecationWarning)
        encode: Callable[[str], Sequence[int]] = bpe_openai.get_encoding("o200k_base").encode_ordinary
    return encode


def tokens(text: str) -> int:
    """o200k tokens; text is cut in pieces the tokenizer accepts, so a very long one may come out a few too high."""
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if len(text) <= 40_000:
        return len(_encoder()(text))
    pieces = [text[at : at + 40_000] for at in range(0, len(text), 40_000)]
    return sum(len(_encoder()(piece)) for piece in pieces) - 2 * (len(pieces) - 1)


def recount(wire: str, messages: Sequence[Message], system: Any = None, tools: Any = None) -> int:
    """Tokens of what is sent, by the README's rule."""
    total = sum(PER_MESSAGE + sum(_weights(wire, message)) for message in messages)
    total += sum(_weights(wire, system)) if system else 0
    return total + (tokens(json.dumps(tools, ensure_ascii=False)) if tools else 0)


def _weights(wire: str, value: Any, key: str = "") -> Iterator[int]:
    if isinstance(value, str):
        yield 0 if key in _SILENT else tokens(value)
    elif isinstance(value, dict):
        if (media := _media(wire, value)) is not None:
            yield media
            return
        for name, inner in value.items():
            if name == "name" and value.get("role") in ("tool", "function"):
                continue  # the call named it; the 4 a message stand for the header
            if name == "response" and isinstance(inner, dict) and len(inner) == 1:
                only = next(iter(inner.values()))
                if isinstance(only, str):
                    yield tokens(only)  # Gemini's own rule is not known: the text, not its JSON escapes
                    continue
            if name in ("input", "args", "response", "arguments") and isinstance(inner, dict):
                yield tokens(json.dumps(inner, ensure_ascii=False))
            elif name not in _SILENT:
                yield from _weights(wire, inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield from _weights(wire, inner, key)


def _media(wire: str, block: Message) -> int | None:
    """The least that a media block costs, None where it is not one."""
    kind = block.get("type")
    if "inlineData" in block or "fileData" in block:
        return 258
    if kind in ("image_url", "input_image"):
        inner = block.get("image_url")
        url, detail = (
            (inner.get("url"), inner.get("detail")) if isinstance(inner, dict) else (inner, block.get("detail"))
        )
        size = _size(url or "")
        return 85 if detail == "low" or size is None else 85 + 170 * -(-min(size[0], 512) // 512)
    if kind in ("file", "input_file", "input_audio", "audio"):
        return 10
    source = block.get("source")
    if kind == "image" and isinstance(source, dict):
        size = _size(str(source.get("data", "")))
        return min(1_600, size[0] * size[1] // 750) if size else 1
    if kind == "document" and isinstance(source, dict) and source.get("type") in ("base64", "url", "file"):
        return 1_500 if wire == "anthropic" else 258
    return None


def _size(url: str) -> tuple[int, int] | None:
    try:
        head = base64.b64decode(url.rpartition(",")[2][:64] + "==")
    except ValueError:
        return None
    return struct.unpack(">II", head[16:24]) if head.startswith(b"\x89PNG") and len(head) >= 24 else None


# --- strings -----------------------------------------------------------------------------------------------


def strings(value: Any) -> Iterator[str]:
    """Every string value in a request, however deep; keys are left out."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from strings(inner)


def holds(value: Any, needle: str) -> bool:
    """Whether a text is in the request: in one of its strings, or in its JSON (`"c": 19` in call arguments)."""
    return any(needle in text for text in strings(value)) or needle in json.dumps(value, ensure_ascii=False)


# --- rules -------------------------------------------------------------------------------------------------


def problems(wire: str, messages: Sequence[Message], system: Any = None, tools: Any = None) -> list[str]:
    """Broken rules. A trailing turn whose calls are not all answered yet is pending, not broken."""
    found = [f"[{n}] not UTF-8" for n, message in enumerate([*messages, system]) if not _encodes(message)]
    if not messages:
        return [*found, "empty request"]
    found += _RULES[wire](messages)
    marks = json.dumps([system, tools, list(messages)]).count('"cache_control": {')
    return found + ([f"{marks} cache marks"] if marks > 4 else [])


def pending(wire: str, messages: Sequence[Message]) -> list[str]:
    """Ids (Gemini: names) of calls at the end that have no answer."""
    calls: list[str] = []
    if wire == "openai-chat":
        for message in messages:
            if message["role"] == "assistant":
                calls = [call["id"] for call in message.get("tool_calls") or []]
            elif message["role"] == "tool" and message["tool_call_id"] in calls:
                calls.remove(message["tool_call_id"])
        return calls
    if wire == "openai-responses":
        made = [item["call_id"] for item in messages if item.get("type") == "function_call"]
        done = {item["call_id"] for item in messages if item.get("type") == "function_call_output"}
        return [key for key in made if key not in done]
    last = messages[-1]
    if wire == "anthropic":
        return [
            block["id"] for block in _blocks(last) if last["role"] == "assistant" and block.get("type") == "tool_use"
        ]
    return [part["functionCall"]["name"] for part in last["parts"] if "functionCall" in part]


def _encodes(value: Any) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _blocks(message: Message) -> list[Message]:
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return content or []


def _chat(messages: Sequence[Message]) -> Iterator[str]:
    open_calls: list[str] = []
    in_run = False
    for n, message in enumerate(messages):
        role = message.get("role")
        if role == "tool":
            key = message.get("tool_call_id")
            if not in_run or key not in open_calls:
                yield f"[{n}] tool message {key} answers no call directly before it"
            else:
                open_calls.remove(key)
            if not isinstance(message.get("content"), str | list):
                yield f"[{n}] tool message without content"
            continue
        if open_calls:
            yield f"[{n}] unanswered {open_calls}"
        open_calls, in_run = [], False
        if role == "assistant":
            calls = message.get("tool_calls") or []
            open_calls, in_run = [call["id"] for call in calls], bool(calls)
            if len(set(open_calls)) != len(open_calls):
                yield f"[{n}] duplicate ids in one message"
            if any(not isinstance(call["function"]["arguments"], str) for call in calls if "function" in call):
                yield f"[{n}] arguments are not a string"
            if not calls and not message.get("content") and not message.get("refusal") and not message.get("audio"):
                yield f"[{n}] empty assistant message"
        elif role not in ("system", "developer", "user"):
            yield f"[{n}] role {role}"
        elif not _blocks(message) or any(block.get("text", "x") == "" for block in _blocks(message)):
            yield f"[{n}] empty content"


def _anthropic(messages: Sequence[Message]) -> Iterator[str]:
    if messages[0].get("role") != "user":
        yield "[0] first message is not a user message"
    wanted: list[str] = []
    seen: set[str] = set()
    for n, message in enumerate(messages):
        role, blocks = message.get("role"), _blocks(message)
        kinds = [block.get("type") for block in blocks]
        if n and role == messages[n - 1].get("role"):
            yield f"[{n}] two {role} messages in a row"
        if not blocks:
            yield f"[{n}] empty content"
        for block in blocks:
            if block.get("type") == "text" and not block["text"].strip():
                yield f"[{n}] empty text block"
            if "cache_control" in block and block.get("type") in ("thinking", "redacted_thinking"):
                yield f"[{n}] cache mark on thinking"
        answers = [block["tool_use_id"] for block in blocks if block.get("type") == "tool_result"]
        if answers and kinds[: len(answers)] != ["tool_result"] * len(answers):
            yield f"[{n}] tool_result blocks are not first"
        if Counter(answers) != Counter(wanted):
            yield f"[{n}] answers {answers} to calls {wanted}"
        wanted = [block["id"] for block in blocks if block.get("type") == "tool_use"]
        if len(set(wanted)) != len(wanted) or seen & set(wanted):
            yield f"[{n}] a tool_use id comes back"
        seen |= set(wanted)
        served = [block["id"] for block in blocks if block.get("type") == "server_tool_use"]
        results = [b["tool_use_id"] for b in blocks if "tool_use_id" in b and b["type"] != "tool_result"]
        if sorted(served) != sorted(results):
            yield f"[{n}] server tools {served}, results {results}"
        if role == "assistant" and set(kinds) <= {"thinking", "redacted_thinking"}:
            yield f"[{n}] only thinking"


def _responses(items: Sequence[Message]) -> Iterator[str]:
    calls: dict[str, int] = {}
    answered: Counter[str] = Counter()
    requests = set()
    for n, item in enumerate(items):
        kind = item.get("type", "message")
        following = items[n + 1] if n + 1 < len(items) else {}
        if kind == "message" and (not _blocks(item) or any(b.get("text", "x") == "" for b in _blocks(item))):
            yield f"[{n}] empty content"
        elif kind == "reasoning":
            if "summary" not in item:
                yield f"[{n}] reasoning without summary"
            if not _made_by_model(following):
                yield f"[{n}] reasoning {item.get('id')} without the item after it"
        elif kind == "function_call":
            if item["call_id"] in calls:
                yield f"[{n}] call id {item['call_id']} twice"
            calls[item["call_id"]] = n
        elif kind == "function_call_output":
            answered[item["call_id"]] += 1
            if item["call_id"] not in calls:
                yield f"[{n}] output {item['call_id']} without its call"
        elif kind == "mcp_approval_request":
            requests.add(item["id"])
        elif kind == "mcp_approval_response" and item["approval_request_id"] not in requests:
            yield f"[{n}] approval without its request"
    yield from (f"call {key} has {count} outputs" for key, count in answered.items() if count > 1)
    last = max((n for n, item in enumerate(items) if item.get("role") in ("user", "developer", "system")), default=-1)
    yield from (f"call {key} without output" for key, n in calls.items() if not answered[key] and n < last)


def _made_by_model(item: Message) -> bool:
    kind = item.get("type", "message")
    if kind == "message":
        return item.get("role") == "assistant"
    return bool(kind) and not kind.endswith(("_output", "_response"))


def _gemini(contents: Sequence[Message]) -> Iterator[str]:
    if contents[0].get("role") != "user":
        yield "[0] first content is not a user turn"
    wanted: list[str] = []
    for n, content in enumerate(contents):
        parts = content.get("parts") or []
        if n and content.get("role") == contents[n - 1].get("role"):
            yield f"[{n}] two {content.get('role')} turns in a row"
        if not parts or any(part.get("text", "x") == "" for part in parts):
            yield f"[{n}] empty part"
        answers = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        if answers != wanted:
            yield f"[{n}] responses {answers} to calls {wanted}"
        wanted = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        if wanted and content.get("role") != "model":
            yield f"[{n}] a call that is not the model's"


_RULES: dict[str, Callable[[Sequence[Message]], Iterator[str]]] = {
    "openai-chat": _chat,
    "openai-responses": _responses,
    "anthropic": _anthropic,
    "gemini": _gemini,
}


def torn(wire: str, given: Sequence[Message], sent: Sequence[Message]) -> list[str]:
    """What the rules tie together in `given` and what came apart in `sent`: reasoning and its item, signatures."""
    if wire == "openai-responses":
        return list(_torn_reasoning(given, sent))
    if wire == "gemini":
        known = [part for content in given for part in content["parts"] if "thoughtSignature" in part]
        return [
            f"signature {part['thoughtSignature']} on another part"
            for content in sent
            for part in content["parts"]
            if "thoughtSignature" in part and part not in known
        ]
    if wire == "anthropic":
        known = [b for m in given for b in _blocks(m) if b.get("type") in ("thinking", "redacted_thinking")]
        kept = [b for m in sent for b in _blocks(m) if b.get("type") in ("thinking", "redacted_thinking")]
        return [f"thinking block was changed: {block}" for block in kept if block not in known]
    return []


def _torn_reasoning(given: Sequence[Message], sent: Sequence[Message]) -> Iterator[str]:
    present = {item["id"] for item in sent if "id" in item}
    for n, item in enumerate(given):
        if item.get("type") != "reasoning":
            continue
        after = next((other for other in given[n + 1 :] if other.get("type") != "reasoning"), {})
        if "id" in after and (item["id"] in present) != (after["id"] in present):
            yield f"{item['id']} and {after['id']} came apart"
        if item["id"] in present and item not in sent:
            yield f"{item['id']} was changed"
