"""One script as the message list of each wire format. Everything rendered here is valid on its wire."""

from __future__ import annotations

import base64
import json
import random
import struct
import zlib
from typing import Any

from strategies import TOOLS, Act, Approval, Call, History, Reply, Say, Script, Server

Message = dict[str, Any]


def png(width: int, height: int, seed: int = 7) -> str:
    """Base64 of a PNG of noise: long as text, cheap as an image."""
    rng = random.Random(seed)
    raw = b"".join(b"\0" + rng.randbytes(width * 3) for _ in range(height))

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


IMAGE = png(48, 32)
PDF = base64.b64encode(
    b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
    b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF"
).decode()
SECOND = "Second part: nothing else."


def _order(act: Act) -> list[int]:
    order = list(range(len(act.calls) if act.answered is None else act.answered))
    random.Random(act.shuffle).shuffle(order)
    return order


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


class _Chat:
    def __init__(self, script: Script) -> None:
        self.script = script
        self.out: list[Message] = [{"role": "system", "content": script.system}]
        self.cuts: list[int] = []
        self.calls = 0

    def say(self, turn: Say) -> None:
        content: Any = turn.text
        if turn.shape != "text":
            content = [{"type": "text", "text": turn.text}]
            if turn.role == "developer" or turn.shape == "parts":
                content.append({"type": "text", "text": SECOND})
            elif turn.shape == "image":
                url = f"data:image/png;base64,{IMAGE}"
                content.append({"type": "image_url", "image_url": {"url": url, "detail": "low"}})
            else:
                data = f"data:application/pdf;base64,{PDF}"
                content.append({"type": "file", "file": {"filename": "rulebook.pdf", "file_data": data}})
        self.out.append({"role": turn.role, "content": content})
        if turn.extra:
            self.out[-1] |= {"name": "alice", "x_trace": {"span": "7f31c09b"}}

    def reply(self, turn: Reply) -> None:
        message: Message = {"role": "assistant", "content": turn.text}
        if turn.shape == "parts":
            message["content"] = [{"type": "text", "text": turn.text}, {"type": "text", "text": SECOND}]
        elif turn.shape == "refusal":
            message |= {"content": None, "refusal": turn.text}
        self._assistant(message, turn.thinking, turn.extra)

    def act(self, turn: Act) -> None:
        first = 0 if self.script.repeat_ids else self.calls
        ids = [f"call_{first + n}" for n in range(len(turn.calls))]
        self.calls += len(ids)
        calls = [
            {"id": key, "type": "function", "function": {"name": call.name, "arguments": _dump(call.args)}}
            for key, call in zip(ids, turn.calls, strict=True)
        ]
        self._assistant({"role": "assistant", "content": turn.text or None, "tool_calls": calls}, turn.thinking, False)
        for n in _order(turn):
            call = turn.calls[n]
            content: Any = call.result
            if call.shape != "text":
                content = [{"type": "text", "text": call.result}, {"type": "text", "text": SECOND}]
            self.out.append({"role": "tool", "tool_call_id": ids[n], "content": content})
            if turn.extra:
                self.out[-1]["name"] = call.name

    def server(self, turn: Server) -> None:
        note = {"type": "url_citation", "url_citation": {"title": turn.query, "url": "https://example.org"}}
        self._assistant({"role": "assistant", "content": turn.text, "annotations": [note]}, None, False)

    def approval(self, turn: Approval) -> None:
        self._assistant({"role": "assistant", "content": f"May I call {turn.name}?"}, None, False)
        self.out.append({"role": "user", "content": "yes" if turn.approve else "no"})

    def _assistant(self, message: Message, thinking: str | None, extra: bool) -> None:
        self.cuts.append(len(self.out))
        if thinking:
            message["reasoning_content"] = thinking
        if extra:
            message["x_trace"] = {"span": "7f31c09b"}
        self.out.append(message)

    def finish(self) -> tuple[list[Message], Any, list[Message] | None]:
        return (
            self.out,
            None,
            [
                {"type": "function", "function": {"name": name, "description": about, "parameters": _schema(fields)}}
                for name, (about, fields) in TOOLS.items()
            ],
        )


def _schema(fields: dict[str, str]) -> Message:
    return {
        "type": "object",
        "properties": {name: {"type": kind} for name, kind in fields.items()},
        "required": list(fields),
    }


class _Responses(_Chat):
    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.out = []
        self.ids = 0

    def _id(self, prefix: str) -> str:
        self.ids += 1
        return f"{prefix}_{self.ids:03}"

    def say(self, turn: Say) -> None:
        parts: list[Message] = [{"type": "input_text", "text": turn.text}]
        if turn.shape == "parts" or (turn.shape != "text" and turn.role == "developer"):
            parts.append({"type": "input_text", "text": SECOND})
        elif turn.shape == "image":
            parts.append({"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "low"})
        elif turn.shape == "document":
            data = f"data:application/pdf;base64,{PDF}"
            parts.append({"type": "input_file", "filename": "rulebook.pdf", "file_data": data})
        if turn.shape == "text" and turn.extra:
            self.out.append({"role": turn.role, "content": turn.text})
        else:
            self.out.append({"type": "message", "role": turn.role, "content": parts})

    def reply(self, turn: Reply) -> None:
        self.cuts.append(len(self.out))
        self._think(turn.thinking)
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        if turn.shape == "parts":
            content.append({"type": "output_text", "text": SECOND, "annotations": []})
        elif turn.shape == "refusal":
            content = [{"type": "refusal", "refusal": turn.text}]
        self._message(content, bool(turn.thinking) or turn.extra)

    def act(self, turn: Act) -> None:
        self.cuts.append(len(self.out))
        self._think(turn.thinking)
        if turn.text:
            self._message([{"type": "output_text", "text": turn.text, "annotations": []}], bool(turn.thinking))
        ids = [f"call_{self.calls + n}" for n in range(len(turn.calls))]
        self.calls += len(ids)
        for key, call in zip(ids, turn.calls, strict=True):
            item = {"type": "function_call", "call_id": key, "name": call.name, "arguments": _dump(call.args)}
            if turn.thinking or turn.extra:
                item |= {"id": self._id("fc"), "status": "completed"}
            self.out.append(item)
        for n in _order(turn):
            output: Any = turn.calls[n].result
            if turn.calls[n].shape != "text":
                output = [{"type": "input_text", "text": output}, {"type": "input_text", "text": SECOND}]
                if turn.calls[n].shape == "image":
                    output[1] = {"type": "input_image", "image_url": f"data:image/png;base64,{IMAGE}", "detail": "low"}
            self.out.append({"type": "function_call_output", "call_id": ids[n], "output": output})

    def server(self, turn: Server) -> None:
        self.cuts.append(len(self.out))
        found = {"file_id": "file-1", "filename": "rules.md", "score": 0.9, "text": turn.found, "attributes": {}}
        self.out.append(
            {"type": "file_search_call", "id": self._id("fs"), "status": "completed", "queries": [turn.query]}
            | {"results": [found]}
        )
        self._message([{"type": "output_text", "text": turn.text, "annotations": []}], True)

    def approval(self, turn: Approval) -> None:
        self.cuts.append(len(self.out))
        asked = {"name": turn.name, "arguments": _dump(turn.args), "server_label": "files"}
        key = self._id("mcpr")
        self.out.append({"type": "mcp_approval_request", "id": key, **asked})
        self.out.append({"type": "mcp_approval_response", "approval_request_id": key, "approve": turn.approve})
        if turn.approve:
            self.cuts.append(len(self.out))
            done = {"approval_request_id": key, "output": "deleted", "error": None}
            self.out.append({"type": "mcp_call", "id": self._id("mcp"), **asked, **done})

    def _think(self, thinking: str | None) -> None:
        if thinking:
            sealed = base64.b64encode(random.Random(thinking).randbytes(60)).decode()
            summary = [{"type": "summary_text", "text": thinking}] if len(thinking) < 100 else []
            item = {"type": "reasoning", "id": self._id("rs"), "summary": summary, "encrypted_content": f"gAAA{sealed}"}
            self.out.append(item)

    def _message(self, content: list[Message], known: bool) -> None:
        item: Message = {"type": "message", "role": "assistant", "content": content}
        self.out.append(item | ({"id": self._id("msg"), "status": "completed"} if known else {}))

    def finish(self) -> tuple[list[Message], Any, list[Message] | None]:
        return (
            self.out,
            self.script.system,
            [
                {"type": "function", "name": name, "description": about, "parameters": _schema(fields), "strict": False}
                for name, (about, fields) in TOOLS.items()
            ],
        )


class _Anthropic(_Chat):
    key = "content"

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.out = []
        self.marks = len(script.system) % 2

    def _push(self, role: str, blocks: list[Message], text: str | None = None) -> None:
        """A message of that role; one that follows another of the same role becomes part of it."""
        if self.out and self.out[-1]["role"] == role:
            last = self.out[-1]
            if isinstance(last[self.key], str):
                last[self.key] = [{"type": "text", "text": last[self.key]}]
            last[self.key] += blocks
            return
        if role != "user":
            self.cuts.append(len(self.out))
        self.out.append({"role": role, self.key: blocks if text is None else text})

    def _mark(self, block: Message) -> None:
        if self.marks < 4:
            self.marks += 1
            block["cache_control"] = {"type": "ephemeral"}

    def say(self, turn: Say) -> None:
        blocks: list[Message] = [{"type": "text", "text": turn.text}]
        if turn.mark:
            self._mark(blocks[0])
        if turn.shape == "parts":
            blocks.append({"type": "text", "text": SECOND})
        elif turn.shape == "image":
            source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
            blocks.append({"type": "image", "source": source})
        elif turn.shape == "document" and turn.extra:
            source = {"type": "text", "media_type": "text/plain", "data": "Rule 1: be exact.\n" * 20}
            blocks.append({"type": "document", "source": source, "title": "rules.txt", "citations": {"enabled": True}})
        elif turn.shape == "document":
            source = {"type": "base64", "media_type": "application/pdf", "data": PDF}
            blocks.append({"type": "document", "source": source, "title": "rulebook.pdf"})
        plain = turn.shape == "text" and not turn.mark
        self._push("user", blocks, turn.text if plain else None)

    def reply(self, turn: Reply) -> None:
        blocks = [*self._thoughts(turn.thinking, False), {"type": "text", "text": turn.text}]
        if turn.shape == "parts":
            blocks.append({"type": "text", "text": SECOND})
        if turn.extra:
            cited = {"type": "char_location", "cited_text": "Rule 1", "document_index": 0, "document_title": None}
            blocks[-1]["citations"] = [cited | {"start_char_index": 0, "end_char_index": 6}]
        self._push(
            "assistant", blocks, turn.text if turn.shape == "text" and len(blocks) == 1 and not turn.extra else None
        )

    def act(self, turn: Act) -> None:
        ids = [f"toolu_{self.calls + n}" for n in range(len(turn.calls))]
        self.calls += len(ids)
        blocks = self._thoughts(turn.thinking, turn.redacted)
        if turn.text:
            blocks.append({"type": "text", "text": turn.text})
        blocks += [
            {"type": "tool_use", "id": key, "name": call.name, "input": call.args}
            for key, call in zip(ids, turn.calls, strict=True)
        ]
        self._push("assistant", blocks)
        if turn.answered is not None:
            return
        results = [self._result(ids[n], turn.calls[n]) for n in _order(turn)]
        if turn.mark:
            self._mark(results[-1])
        self._push("user", results)

    def _result(self, key: str, call: Call) -> Message:
        block: Message = {"type": "tool_result", "tool_use_id": key, "content": call.result}
        if call.shape != "text":
            block["content"] = [{"type": "text", "text": call.result}, {"type": "text", "text": SECOND}]
        if call.shape == "image":
            source = {"type": "base64", "media_type": "image/png", "data": IMAGE}
            block["content"][1] = {"type": "image", "source": source}
        if not call.result and call.error:
            del block["content"]
        return block | ({"is_error": True} if call.error else {})

    def server(self, turn: Server) -> None:
        key = f"srvtoolu_{len(self.out)}"
        found = {"type": "web_search_result", "title": turn.query, "url": "https://example.org", "page_age": None}
        self._push(
            "assistant",
            [
                {"type": "server_tool_use", "id": key, "name": "web_search", "input": {"query": turn.query}},
                {
                    "type": "web_search_tool_result",
                    "tool_use_id": key,
                    "content": [found | {"encrypted_content": turn.found}],
                },
                {"type": "text", "text": turn.text},
            ],
        )

    def approval(self, turn: Approval) -> None:
        asked, answer = f"May I call {turn.name}?", "yes" if turn.approve else "no"
        self._push("assistant", [{"type": "text", "text": asked}], asked)
        self._push("user", [{"type": "text", "text": answer}], answer)

    def _thoughts(self, thinking: str | None, redacted: bool) -> list[Message]:
        sealed = base64.b64encode(random.Random(thinking).randbytes(40)).decode()
        blocks: list[Message] = []
        if thinking:
            blocks.append({"type": "thinking", "thinking": thinking, "signature": sealed})
        if thinking and redacted:
            blocks.append({"type": "redacted_thinking", "data": sealed})
        return blocks

    def finish(self) -> tuple[list[Message], Any, list[Message] | None]:
        system: Any = self.script.system
        if len(system) % 2:
            system = [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}]
        return (
            self.out,
            system,
            [
                {"name": name, "description": about, "input_schema": _schema(fields)}
                for name, (about, fields) in TOOLS.items()
            ],
        )


class _Gemini(_Anthropic):
    key = "parts"

    def say(self, turn: Say) -> None:
        parts: list[Message] = [{"text": turn.text}]
        if turn.shape == "parts":
            parts.append({"text": SECOND})
        elif turn.shape == "image":
            parts.append({"inlineData": {"mimeType": "image/png", "data": IMAGE}})
        elif turn.shape == "document":
            parts.append({"inlineData": {"mimeType": "application/pdf", "data": PDF}})
        self._push("user", parts)

    def reply(self, turn: Reply) -> None:
        parts = [*self._thoughts(turn.thinking, False), {"text": turn.text}]
        if turn.shape == "parts":
            parts.append({"text": SECOND})
        if turn.extra:
            parts[-1]["thoughtSignature"] = "c2lnLXRleHQ="
        self._push("model", parts)

    def act(self, turn: Act) -> None:
        parts = self._thoughts(turn.thinking, False)
        if turn.text:
            parts.append({"text": turn.text})
        calls: list[Message] = [{"functionCall": {"name": call.name, "args": call.args}} for call in turn.calls]
        if turn.extra:
            for n, part in enumerate(calls):
                part["functionCall"]["id"] = f"fc-{self.calls + n}"
        if turn.thinking or turn.extra:
            calls[0]["thoughtSignature"] = f"c2ln{self.calls}="
        self._push("model", parts + calls)
        if turn.answered is None:
            self._push("user", [self._answer(call, part) for call, part in zip(turn.calls, calls, strict=True)])
        self.calls += len(calls)

    def _answer(self, call: Call, part: Message) -> Message:
        response: Message = {"error" if call.error else "output": call.result}
        if call.shape != "text":
            response["more"] = {"note": SECOND, "rows": 2}
        answer: Message = {"name": call.name, "response": response}
        if "id" in part["functionCall"]:
            answer["id"] = part["functionCall"]["id"]
        return {"functionResponse": answer}

    def server(self, turn: Server) -> None:
        code = {"executableCode": {"language": "PYTHON", "code": f"search({turn.query!r})"}}
        ran = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": turn.found}}
        self._push("model", [code, ran, {"text": turn.text}])

    def approval(self, turn: Approval) -> None:
        self._push("model", [{"text": f"May I call {turn.name}?"}])
        self._push("user", [{"text": "yes" if turn.approve else "no"}])

    def _thoughts(self, thinking: str | None, redacted: bool) -> list[Message]:
        return [{"text": thinking, "thought": True}] if thinking else []

    def finish(self) -> tuple[list[Message], Any, list[Message] | None]:
        declared = [
            {"name": name, "description": about, "parameters": _schema(fields)}
            for name, (about, fields) in TOOLS.items()
        ]
        return self.out, {"parts": [{"text": self.script.system}]}, [{"functionDeclarations": declared}]


_RENDERERS = {"openai-chat": _Chat, "openai-responses": _Responses, "anthropic": _Anthropic, "gemini": _Gemini}


def render(script: Script, wire: str) -> History:
    """The script as that wire's history."""
    made = _RENDERERS[wire](script)
    for turn in script.turns:
        match turn:
            case Say():
                made.say(turn)
            case Reply():
                made.reply(turn)
            case Act():
                made.act(turn)
            case Server():
                made.server(turn)
            case Approval():
                made.approval(turn)
    messages, system, tools = made.finish()
    cuts = sorted({cut for cut in [*made.cuts, len(messages)] if cut > (wire == "openai-chat")})
    return History(wire, messages, system, tools, script, tuple(cuts))
