"""An agent, as frameworks write them: the official clients of models (openai, anthropic) and of MCP.

Usage: model_client.py API MODEL_URL ENV_URL [stream] [NUMBER]

API is chat, responses or messages; NUMBER agents act at once, each in an environment session of its own. Prints what each of them
sent and was told."""

import asyncio
import json
import sys

import anthropic
import openai
from mcp import ClientSession
from mcp.client.streamable_http import streamablehttp_client

api, model_url, env_url, *more = sys.argv[1:]
stream = "stream" in more
number = int(more[-1]) if more and more[-1].isdigit() else 1
openai_client = openai.AsyncOpenAI(base_url=model_url + "/v1", api_key="sk-right", max_retries=0)
anthropic_client = anthropic.AsyncAnthropic(
    base_url=model_url, api_key="sk-right", max_retries=0, default_headers={"x-api-key": "sk-right", "anthropic-version": "2023-06-01"}
)


async def chat(messages, tools):
    tools = [{"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.inputSchema}} for t in tools]
    args = {"model": "tiny", "messages": messages, "tools": tools}
    if stream:
        calls, text = {}, ""
        async for chunk in await openai_client.chat.completions.create(stream=True, **args):
            for delta in [c.delta for c in chunk.choices]:
                text += delta.content or ""
                for c in delta.tool_calls or []:
                    call = calls.setdefault(c.index, {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": ""}})
                    call["function"]["arguments"] += c.function.arguments or ""
        said = {"role": "assistant", "content": text or None} | ({"tool_calls": list(calls.values())} if calls else {})
    else:
        said = (await openai_client.chat.completions.create(**args)).choices[0].message.model_dump(exclude_none=True)
    messages.append(said)
    return [(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in said.get("tool_calls", [])]


async def responses(items, tools):
    tools = [{"type": "function", "name": t.name, "description": t.description, "parameters": t.inputSchema, "strict": False} for t in tools]
    args = {"model": "tiny", "input": items, "tools": tools, "store": False, "instructions": "Call tools."}
    if stream:
        reply = [e async for e in await openai_client.responses.create(stream=True, **args)][-1].response
    else:
        reply = await openai_client.responses.create(**args)
    calls = [i for i in reply.output if i.type == "function_call"]
    if reply.output_text:
        items.append({"role": "assistant", "content": reply.output_text})
    items += [{"type": "function_call", "call_id": c.call_id, "name": c.name, "arguments": c.arguments} for c in calls]
    return [(c.call_id, c.name, json.loads(c.arguments)) for c in calls]


async def messages(conversation, tools):
    tools = [{"name": t.name, "description": t.description, "input_schema": t.inputSchema} for t in tools]
    args = {"model": "tiny", "messages": conversation, "tools": tools, "max_tokens": 512, "system": "Call tools."}
    if stream:
        async with anthropic_client.messages.stream(**args) as events:
            reply = await events.get_final_message()
    else:
        reply = await anthropic_client.messages.create(**args)
    content = [{"type": "text", "text": b.text} if b.type == "text" else {"type": b.type, "id": b.id, "name": b.name, "input": b.input}
               for b in reply.content if b.type != "thinking"]
    conversation.append({"role": "assistant", "content": content})
    return [(b.id, b.name, b.input) for b in reply.content if b.type == "tool_use"]


def add_results(conversation, results):
    if api == "chat":
        conversation += [{"role": "tool", "tool_call_id": c, "content": text} for c, text in results]
    elif api == "responses":
        conversation += [{"type": "function_call_output", "call_id": c, "output": text} for c, text in results]
    else:
        conversation.append({"role": "user", "content": [{"type": "tool_result", "tool_use_id": c, "content": text} for c, text in results]})


async def agent():
    asked = [{"type": "text", "text": "Reach the goal."}] if api == "messages" else "Reach the goal."
    conversation, seen = [{"role": "user", "content": asked}], []
    async with streamablehttp_client(env_url) as (read, write, _), ClientSession(read, write) as env:
        await env.initialize()
        tools = (await env.list_tools()).tools
        while calls := await globals()[api](conversation, tools):
            results = []
            for call, name, arguments in calls:
                results.append((call, (await env.call_tool(name, arguments)).content[0].text))
                seen.append([arguments["action"], json.loads(results[-1][1])["position"]])
            add_results(conversation, results)
    return seen


async def main():
    print(json.dumps(await asyncio.gather(*(agent() for _ in range(number)))))


asyncio.run(main())
