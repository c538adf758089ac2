"""MCP clients of the Python SDK, which make the same calls: tap_mcp_client.py modern|http URL, or stdio COMMAND..
Prints the text of each reply, one per line."""

import asyncio
import json
import sys


async def make_calls(session):
    tools = [tool.name for tool in (await session.list_tools()).tools]
    calls = [("count", {"by": n}) for n in (1, 2, 3)] if "count" in tools else [("echo", {"message": "hi"}), ("nothing", {})]
    for name, arguments in calls:
        try:
            reply = await session.call_tool(name, arguments)
            print(json.dumps(reply.content[0].text))
        except Exception as failure:
            print(type(failure).__name__)


async def main(kind, *target):
    if kind == "modern":
        from mcp.client.client import Client

        async with Client(target[0], mode="auto") as client:
            await make_calls(client)
        return
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp.client.streamable_http import streamablehttp_client

    if kind == "stdio":
        opened = stdio_client(StdioServerParameters(command=target[0], args=list(target[1:])))
    else:
        opened = streamablehttp_client(target[0])
    async with opened as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        await make_calls(session)


asyncio.run(main(*sys.argv[1:]))
