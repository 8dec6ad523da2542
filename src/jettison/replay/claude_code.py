"""Claude Code session files (`~/.claude/projects/<project>/<session>.jsonl`) as Anthropic messages.

A session is a log of rows, not a list of messages. What has to be known to read it (there is no official
description; this is what public reports on the files agree on):

- Rows form a tree by `parentUuid`; rewinding leaves abandoned branches. The conversation is the path from the last
  main-chain row up to its root. Rows of any type (`system`, `attachment`, `progress`) can be links of it.
- One API message is written as several `assistant` rows, one content block each, that share `message.id`. With
  parallel calls each result hangs on the row of its own call, so the path misses the other branches: they are
  found again by `message.id`.
- Compaction writes a `compact_boundary` row without a parent, then a summary as a user row: what came before is no
  longer in the model's context. Messages that were kept are named in `compactMetadata` and follow the summary.
- Rows can be written twice with one `uuid`. `isSidechain` rows belong to sub-agents.
- Neither the system prompt nor the tool schemas are in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jettison.errors import InvalidInput

__all__ = ["conversation", "is_session"]

Row = dict[str, Any]
_SPEAKERS = ("user", "assistant")


def is_session(rows: Sequence[Any]) -> bool:
    """Whether these rows are a session: some row is a user's or assistant's with its message inside."""
    return any(isinstance(row, dict) and _speaks(row) for row in rows)


def conversation(rows: Sequence[Row], name: str) -> tuple[list[dict[str, Any]], str | None, list[str]]:
    """(messages, model, notes) of the conversation that the session would go on with."""
    spoken = [row for row in rows if _speaks(row)]
    main = [row for row in spoken if not row.get("isSidechain") and not row.get("parent_tool_use_id")] or spoken
    if any("parentUuid" in row for row in main):
        chain, notes = _chain(rows, main)
    else:  # `--output-format stream-json`: no tree, the order of the lines is the conversation
        chain, notes = main, []
    messages = _merged(chain)
    if not messages:
        raise InvalidInput(f"{name} is a Claude Code session without messages; give one that has some")
    models = [row["message"].get("model") for row in chain if row["type"] == "assistant"]
    model = next((m for m in reversed(models) if isinstance(m, str) and not m.startswith("<")), None)
    notes.append("a session file holds neither the system prompt nor the tool schemas: they are not counted")
    return messages, model, notes


def _speaks(row: Row) -> bool:
    return row.get("type") in _SPEAKERS and isinstance(row.get("message"), dict)


def _chain(rows: Sequence[Row], main: Sequence[Row]) -> tuple[list[Row], list[str]]:
    """The user and assistant rows of the live path, root first."""
    nodes: dict[str, Row] = {}
    for row in rows:
        if isinstance(row.get("uuid"), str):
            nodes.setdefault(row["uuid"], row)
    parents = _parents(nodes)
    path: list[str] = []
    seen: set[str] = set()
    mine = set(map(id, main))
    at: str | None = next((uuid for uuid, row in reversed(nodes.items()) if id(row) in mine), None)
    while at in nodes and at not in seen:
        seen.add(at)
        path.append(at)
        at = parents.get(at)
    notes = [] if at is None else [f"row {at} is not in the file: the history begins after it"]
    chain = [nodes[uuid] for uuid in reversed(path)]
    attached = sum(row.get("type") == "attachment" for row in chain)
    if attached:
        notes.append(f"{attached} attachment rows hold no messages and are left out")
    if any(row.get("subtype") == "compact_boundary" for row in chain):
        notes.append("the session was compacted: the history begins at its summary")
    return [row for row in _recovered(chain, nodes, seen) if _speaks(row)], notes


def _parents(nodes: dict[str, Row]) -> dict[str, str | None]:
    """Parent links, with the messages that the last compaction kept moved behind its summary."""
    parents = {uuid: row.get("parentUuid") for uuid, row in nodes.items()}
    boundary = next((row for row in reversed(nodes.values()) if row.get("subtype") == "compact_boundary"), None)
    meta = (boundary or {}).get("compactMetadata")
    kept, anchor = _kept(meta if isinstance(meta, dict) else {}, nodes, parents)
    if not kept:
        return parents
    for uuid, parent in list(parents.items()):
        if parent == anchor:
            parents[uuid] = kept[-1]
    parents.update(zip(kept, [anchor, *kept], strict=False))
    return parents


def _kept(meta: Row, nodes: dict[str, Row], parents: dict[str, str | None]) -> tuple[list[str], str]:
    """(uuids of the kept messages in order, uuid of the summary they follow); empty when there are none."""
    listed, segment = meta.get("preservedMessages"), meta.get("preservedSegment")
    if isinstance(listed, dict) and listed.get("anchorUuid") in nodes:
        kept = [uuid for uuid in listed.get("allUuids") or listed.get("uuids") or [] if uuid in nodes]
        return ([], "") if listed["anchorUuid"] in kept else (kept, listed["anchorUuid"])
    if isinstance(segment, dict) and segment.get("anchorUuid") in nodes:
        found: dict[str, None] = {}
        at = segment.get("tailUuid")
        while at in nodes and at not in found:
            found[at] = None
            if at == segment.get("headUuid"):
                return list(found)[::-1], segment["anchorUuid"]
            at = parents[at]
    return [], ""


def _recovered(chain: list[Row], nodes: dict[str, Row], seen: set[str]) -> list[Row]:
    """The chain with the parallel calls, and their results, that hang beside it."""
    siblings: dict[str, list[Row]] = {}
    results: dict[str, list[Row]] = {}
    for row in nodes.values():
        if _speaks(row) and row["type"] == "assistant" and row["message"].get("id"):
            siblings.setdefault(row["message"]["id"], []).append(row)
        elif _speaks(row) and _is_results(row["message"].get("content")) and row.get("parentUuid"):
            results.setdefault(row["parentUuid"], []).append(row)
    last = {row["message"].get("id"): row["uuid"] for row in chain if _speaks(row) and row["type"] == "assistant"}
    out: list[Row] = []
    for row in chain:
        out.append(row)
        message_id = row["message"].get("id") if _speaks(row) else None
        if not message_id or last.get(message_id) != row["uuid"]:
            continue
        group = siblings.get(message_id, [])
        answers = [answer for member in group for answer in results.get(member["uuid"], [])]
        fresh = [beside for beside in (*group, *answers) if beside["uuid"] not in seen]
        seen.update(beside["uuid"] for beside in fresh)
        out += fresh
    return out


def _merged(chain: Sequence[Row]) -> list[dict[str, Any]]:
    """Messages as they were sent: rows of one API message joined, neighbouring user rows too, results first."""
    messages: list[dict[str, Any]] = []
    ids: list[Any] = []
    for row in chain:
        blocks = _blocks(row["message"].get("content"))
        if row.get("isApiErrorMessage") or not blocks:
            continue
        message_id = row["message"].get("id")
        home = _home(messages, ids, row["type"], message_id)
        if home is None:
            messages.append({"role": row["type"], "content": blocks})
            ids.append(message_id)
        else:
            content = messages[home]["content"]
            content += [block for block in blocks if row["type"] == "user" or block not in content]
    for message in messages:
        if message["role"] == "assistant":
            continue
        message["content"].sort(key=lambda block: block.get("type") != "tool_result")
        if len(message["content"]) == 1 and set(message["content"][0]) == {"type", "text"}:
            message["content"] = message["content"][0]["text"]
    return messages


def _home(messages: Sequence[Row], ids: Sequence[Any], role: str, message_id: Any) -> int | None:
    """Index of the message that a row belongs to; None: it begins a new one."""
    last = len(messages) - 1
    if role == "user":
        return last if messages and messages[last]["role"] == "user" else None
    while last >= 0 and messages[last]["role"] == "user" and _is_results(messages[last]["content"]):
        last -= 1
    return last if message_id and last >= 0 and ids[last] == message_id else None


def _is_results(content: Any) -> bool:
    blocks = content if isinstance(content, list) else []
    return bool(blocks) and all(isinstance(block, dict) and block.get("type") == "tool_result" for block in blocks)


def _blocks(content: Any) -> list[dict[str, Any]]:
    """Content as a new list of blocks, without the empty text that the API refuses."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    found = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    return [block for block in found if block.get("type") != "text" or str(block.get("text") or "").strip()]
