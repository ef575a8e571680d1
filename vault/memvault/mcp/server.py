"""The MCP server: the official SDK over one connection's lines, both protocol eras from one server object.

Owns how tools, resources, the prompt, errors and elicitation look in MCP. Importing it loads the SDK. What
a call may do is the desk's matter. The broad `except` of this boundary is here: whatever a call raises
becomes an answer, and its words stay out of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextvars import ContextVar
from typing import Any, cast

import anyio
import mcp_types as types
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream
from mcp.server.caching import CacheHint
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp_types.version import is_version_at_least
from pydantic import ValidationError

from memvault import __version__
from memvault.errors import FrameInvalid, Locked, MemvaultError, VaultAbsent
from memvault.mcp import envelope, offers, tools
from memvault.mcp.arguments import Add
from memvault.mcp.desk import Desk
from memvault.rpc import framing, requests
from memvault.text import visible

log = logging.getLogger(__name__)
# The SDK's own records may quote what they were given.
logging.getLogger("mcp").setLevel(logging.CRITICAL + 1)

Context = ServerRequestContext[Desk, Any]
Send = Callable[[bytes], Awaitable[None]]

CLOSING_S = 5.0
"""For what is under way when the agent has gone."""
RESOURCE_NOT_FOUND = -32_002
ASKS_IN_RESULT = "2026-07-28"
"""From this version on a question to the person rides in the result of the call, not in a request of ours."""
ASKED = "keep"
ASK_S = 600.0
"""A person who does not answer for so long does not want it kept."""

_DESK: ContextVar[Desk] = ContextVar("desk")


@contextlib.asynccontextmanager
async def _desk_of_connection(_: Server[Desk]) -> AsyncIterator[Desk]:
    yield _DESK.get()


def _annotations(tool: tools.Tool) -> types.ToolAnnotations:
    return types.ToolAnnotations(
        title=tool.title,
        read_only_hint=tool.read_only,
        destructive_hint=False,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )


async def _list_tools(ctx: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    offered = [
        types.Tool(
            name=tool.name,
            title=tool.title,
            description=tool.description,
            input_schema=tool.input_schema,
            output_schema=tool.gives,
            annotations=_annotations(tool),
        )
        for tool in tools.TABLE
        if ctx.lifespan_context.offers(tool.needs)
    ]
    return types.ListToolsResult(tools=offered)


async def _call_tool(
    ctx: Context, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    desk, tool = ctx.lifespan_context, tools.BY_NAME.get(params.name)
    if tool is None or not desk.offers(tool.needs):
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown tool: {params.name[:60]}")
    try:
        args = msgspec.convert(params.arguments or {}, tool.takes)
    except msgspec.ValidationError as error:
        return _failed(f"invalid arguments: {error}")
    if isinstance(args, Add) and args.ask:
        wish = await _wish(ctx, params, args)
        if isinstance(wish, types.InputRequiredResult):
            return wish
        if wish != "accept":
            return _done(desk, tools.declined(desk))
    await ctx.session.report_progress(0, 1, tool.title)
    try:
        answer = await tool.run(desk, args)
    except MemvaultError as error:
        return _failed(_explained(desk, error))
    except Exception as error:
        log.exception("%s failed: %s", tool.name, type(error).__name__)
        return _failed("something went wrong inside memvault; its daemon.log names the place")
    await ctx.session.report_progress(1, 1, tool.title)
    return _done(desk, answer)


def _done(desk: Desk, answer: tools.Answer) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=answer.text)]
    return types.CallToolResult(content=content, structured_content=tools.whole(desk.place(), answer))


def _failed(why: str) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(type="text", text=f"memvault: {visible(why)}")]
    return types.CallToolResult(content=content, is_error=True)


def _explained(desk: Desk, error: MemvaultError) -> str:
    """What went wrong and who can mend it."""
    if isinstance(error, Locked):
        return "the vault is locked: the person runs `memvault unlock`"
    if isinstance(error, VaultAbsent):
        return "there is no vault yet: the person runs `memvault init`"
    place = desk.place()
    if error.code == "not_found" and not place.verbs and place.state == "unlocked":
        return tools.not_let_in(place)
    return f"{error.message}. {error.hint}".rstrip(". ") + "."


# ------------------------------------------------------------------------------------------------- the person


async def _wish(
    ctx: Context, params: types.CallToolRequestParams, args: Add
) -> str | types.InputRequiredResult:
    """What the person says to a proposal: accept, decline or cancel; accept when the host cannot ask.

    The answer comes through the agent's own host and proves nothing: accepted, it is proposed as ever.
    """
    if not _can_ask(ctx.session.client_capabilities):
        return "accept"
    question = types.ElicitRequestFormParams(
        message="memvault: may this be proposed as a memory? You confirm it later in memvault.\n\n"
        + envelope.shown(args.content, envelope.MOST_CHARS, one_line=False),
        requested_schema={"type": "object", "properties": {}},
    )
    if is_version_at_least(ctx.protocol_version, ASKS_IN_RESULT):
        given = (params.input_responses or {}).get(ASKED)
        if given is None:
            return types.InputRequiredResult(input_requests={ASKED: types.ElicitRequest(params=question)})
        return given.action if isinstance(given, types.ElicitResult) else "decline"
    with anyio.move_on_after(ASK_S):
        found = await ctx.session.elicit_form(question.message, question.requested_schema, ctx.request_id)
        return found.action
    return "cancel"


def _can_ask(able: types.ClientCapabilities | None) -> bool:
    """Whether the host shows forms: it declares that, or, as older ones, elicitation without saying which."""
    if able is None or able.elicitation is None:
        return False
    return able.elicitation.form is not None or able.elicitation.url is None


# ------------------------------------------------------------------------------------ resources and prompt


async def _list_resources(_: Context, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    index = types.Resource(
        name="index",
        title="Index of memories",
        uri=offers.INDEX,
        description="One line for each memory of this project and of the user; never the content.",
        mime_type="text/plain",
    )
    return types.ListResourcesResult(resources=[index])


async def _list_templates(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    item = types.ResourceTemplate(
        name="item",
        title="One memory",
        uri_template=offers.TEMPLATE,
        description="A memory in full, by its id.",
        mime_type="text/plain",
    )
    return types.ListResourceTemplatesResult(resource_templates=[item])


async def _read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    desk, uri = ctx.lifespan_context, str(params.uri)
    try:
        text = await offers.read(desk, uri)
    except MemvaultError as error:
        code = RESOURCE_NOT_FOUND if error.code == "not_found" else framing.DOMAIN_ERROR
        raise MCPError(code=code, message=_explained(desk, error), data={"uri": uri}) from None
    if text is None:
        raise MCPError(code=RESOURCE_NOT_FOUND, message="Resource not found", data={"uri": uri})
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type="text/plain", text=text)]
    )


async def _list_prompts(_: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    focus = types.PromptArgument(name="focus", description="What to look at above all.", required=False)
    prompt = types.Prompt(
        name=offers.PROMPT,
        title="Save what was learned",
        description="Propose what this session taught as memories.",
        arguments=[focus],
    )
    return types.ListPromptsResult(prompts=[prompt])


async def _get_prompt(_: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
    if params.name != offers.PROMPT:
        raise MCPError(code=types.INVALID_PARAMS, message=f"Unknown prompt: {params.name[:60]}")
    text = types.TextContent(type="text", text=offers.prompt((params.arguments or {}).get("focus")))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=text)])


# ------------------------------------------------------------------------------------------------- the server


async def _count(ctx: Context, call_next: CallNext) -> HandlerResult:
    """Every request counts against the agent's limits, whatever it asks."""
    if ctx.request_id is not None:
        try:
            ctx.lifespan_context.spend()
        except MemvaultError as error:
            told = f"{error.message}. {error.hint}"
            raise MCPError(code=framing.DOMAIN_ERROR, message=told, data={"code": error.code}) from None
    return await call_next(ctx)


def _server() -> Server[Desk]:
    lasting = CacheHint(ttl_ms=3_600_000, scope="public")
    server = Server[Desk](
        "memvault",
        version=__version__,
        title="memvault",
        instructions=offers.INSTRUCTIONS,
        lifespan=_desk_of_connection,
        cache_hints={
            "tools/list": lasting,
            "prompts/list": lasting,
            "resources/list": lasting,
            "resources/templates/list": lasting,
        },
        on_list_tools=_list_tools,
        on_call_tool=_call_tool,
        on_list_resources=_list_resources,
        on_list_resource_templates=_list_templates,
        on_read_resource=_read_resource,
        on_list_prompts=_list_prompts,
        on_get_prompt=_get_prompt,
    )
    # Instead of the SDK's tracing.
    server.middleware[:] = [_count]
    return server


SERVER = _server()


async def serve(desk: Desk, lines: AsyncIterator[bytes], send: Send) -> None:
    """Speak MCP until `lines` end. `send` gets whole lines. Raises what `lines` raises."""
    _DESK.set(desk)
    incoming, reading = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    writing, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    loop = asyncio.get_running_loop()
    talk = loop.create_task(SERVER.run(reading, writing, SERVER.create_initialization_options()), name="mcp")
    out = loop.create_task(_write(outgoing, send), name="mcp answers")
    try:
        async with incoming:
            async for line in lines:
                message = _message(line)
                if isinstance(message, bytes):
                    await send(message)
                else:
                    await incoming.send(SessionMessage(message))
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        pass
    finally:
        await _end(talk, out)


async def _end(*tasks: asyncio.Task[None]) -> None:
    """Let the server see the end of its input; what does not end by itself is cancelled."""
    _, late = await asyncio.wait(tasks, timeout=CLOSING_S)
    for task in late:
        task.cancel()
    for found in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(found, Exception):
            log.error("mcp connection ended: %s", type(found).__name__, exc_info=found)


async def _write(outgoing: MemoryObjectReceiveStream[SessionMessage], send: Send) -> None:
    async with outgoing:
        async for message in outgoing:
            # Members in this order: the pipe tells answers by the beginning of their line.
            await send(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")


def _message(line: bytes) -> types.JSONRPCMessage | bytes:
    """The message of a line, or the error line that answers it."""
    try:
        parsed = requests.parse(line)
    except FrameInvalid as error:
        return _refusal(None, framing.PARSE_ERROR, error.message)
    number: Any = cast(dict[str, Any], parsed).get("id") if isinstance(parsed, dict) else None
    number = number if isinstance(number, (int, str)) else None
    if isinstance(parsed, dict) and not framing.is_unicode(line, cast(dict[str, Any], parsed)):
        return _refusal(number, framing.INVALID_REQUEST, "a lone surrogate is not Unicode")
    try:
        return types.jsonrpc_message_adapter.validate_python(parsed, by_name=False)
    except ValidationError:
        return _refusal(number, framing.INVALID_REQUEST, "not a JSON-RPC 2.0 message")


def _refusal(number: int | str | None, code: int, why: str) -> bytes:
    return framing.encode({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": why}})
