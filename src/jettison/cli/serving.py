"""`jettison mcp`: recall and search over an archive, for any agent that speaks the Model Context Protocol."""

from __future__ import annotations

import asyncio
import os
from functools import partial
from importlib import metadata
from typing import TYPE_CHECKING, Any

from jettison.archive import Archive, ConversationArchive, Scoped, opened
from jettison.errors import ArchiveError, ConfigError
from jettison.recall import DESCRIPTION, NAME, PARAMETERS, recall_answer

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["run", "served", "server"]


def served(where: str, conversation: str | None, create: bool = False) -> Archive:
    """The archive that is offered: a file, or a `postgresql://` address; one conversation of it or all.

    Raises ArchiveError for a file that is not there, unless it is to be made: a mistyped name would be an archive in
    which nothing is ever found.
    """
    if "://" not in where and not create and not os.path.exists(where):
        raise ArchiveError(
            f"there is no archive {where}: give the file that the agent evicts to, Session(archive={where!r}), by its "
            "absolute path, as clients start servers in folders of their own; --create makes an empty one, for a "
            "server that starts before its agent"
        )
    archive = opened(where)
    if conversation is None:
        return archive
    if not isinstance(archive, ConversationArchive):
        raise ConfigError(f"{where} has no conversations")
    return Scoped(archive, conversation)


def server(archive: Archive, limit: int) -> Server[Any]:
    """An MCP server with one tool, `recall_context`."""
    import mcp_types as types
    from mcp.server.lowlevel import Server

    tool = types.Tool(
        name=NAME,
        description=DESCRIPTION,
        input_schema=dict(PARAMETERS),
        annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )

    async def tools(context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool])

    async def call(context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        failed = params.name != NAME
        if failed:
            text = f"There is no tool {params.name!r} here, only {NAME}."
        else:
            try:
                text = await asyncio.to_thread(partial(recall_answer, archive, params.arguments, limit=limit))
            except ArchiveError as error:
                failed, text = True, f"The archive cannot be read now: {error}"
        return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=failed)

    return Server("jettison", version=metadata.version("jettison"), on_list_tools=tools, on_call_tool=call)


def run(where: str, conversation: str | None, limit: int, *, create: bool = False) -> None:
    """Serve on standard input and output until the client closes them.

    Raises ArchiveError for an archive that cannot be used, ModuleNotFoundError naming the extra without `mcp`.
    """
    try:
        from mcp.server.stdio import stdio_server
    except ModuleNotFoundError as missing:
        if missing.name != "mcp":
            raise
        raise ModuleNotFoundError("the MCP server needs mcp: pip install 'jettison[mcp]'", name="mcp") from missing
    if limit < 1:
        raise ConfigError(f"--limit must be > 0, not {limit}")
    mine = server(served(where, conversation, create), limit)

    async def serve() -> None:
        async with stdio_server() as (reader, writer):
            await mine.run(reader, writer, mine.create_initialization_options())

    asyncio.run(serve())
