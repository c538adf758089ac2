"""OpenAI's client against `serve llm`: every kind of request that a program may make. Usage: openai_client.py BASE_URL"""

import sys

import openai

client = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="sk-right", max_retries=0)
parameters = {"type": "object", "properties": {"action": {"type": "string", "enum": ["LEFT", "DOWN"]}}, "required": ["action"]}
function = {"name": "lake_move", "description": "Moves.", "parameters": parameters}
tools = [{"type": "function", "function": function}]
user = [{"role": "user", "content": "go"}]


def chat(model="calls", **more):
    return client.chat.completions.create(model=model, messages=user, tools=tools, **more)


def raised(kind, code, call):
    try:
        call()
    except kind as e:
        assert type(e) is kind and e.code == code, (type(e), e.code)
        return e
    raise AssertionError(f"no {kind.__name__}")


# models
assert [m.id for m in client.models.list()] == ["calls", "talks", "busy", "poor", "long"]
assert client.models.retrieve("talks").id == "talks"
raised(openai.NotFoundError, "model_not_found", lambda: client.models.retrieve("nobody"))

# choices, complete and streamed
reply = chat(n=3)
assert [c.index for c in reply.choices] == [0, 1, 2] and all(c.message.tool_calls for c in reply.choices)
chunks = list(chat(n=2, stream=True))
assert {c.index for chunk in chunks for c in chunk.choices} == {0, 1}
assert sum(c.finish_reason == "tool_calls" for chunk in chunks for c in chunk.choices) == 2

# tool_choice
assert chat(tool_choice="none").choices[0].message.tool_calls is None
assert chat(tool_choice="none").choices[0].finish_reason == "stop"
assert chat("talks", tool_choice="auto").choices[0].message.content == "Hello there."
for choice in ("required", {"type": "function", "function": {"name": "lake_move"}}):
    call = chat("talks", tool_choice=choice).choices[0].message.tool_calls[0]
    assert (call.function.name, call.function.arguments) == ("lake_move", '{"action":"LEFT"}')

# errors
wrong = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="sk-wrong", max_retries=0)
raised(openai.AuthenticationError, "invalid_api_key", lambda: wrong.models.list())
raised(openai.NotFoundError, "model_not_found", lambda: chat("nobody"))
raised(openai.BadRequestError, None, lambda: chat(n=1000))
assert raised(openai.RateLimitError, "rate_limit_exceeded", lambda: chat("busy")).type == "requests"
assert raised(openai.RateLimitError, "insufficient_quota", lambda: chat("poor")).type == "insufficient_quota"

# completions
text = client.completions.create(model="talks", prompt="go", n=2)
assert [c.text for c in text.choices] == ["Hello there."] * 2 and text.choices[0].finish_reason == "stop"
pieces = client.completions.create(model="talks", prompt="go", stream=True)
assert "".join(p.choices[0].text for p in pieces) == "Hello there."

# responses
flat = [{"type": "function", **function, "strict": False}]
said = client.responses.create(model="talks", input="go")
assert said.output_text == "Hello there." and said.status == "completed" and said.usage.input_tokens == 5
called = client.responses.create(model="calls", input=[{"role": "user", "content": "go"}], tools=flat)
call = called.output[-1]
assert (call.type, call.name, call.arguments) == ("function_call", "lake_move", '{"action":"DOWN"}')
result = {"type": "function_call_output", "call_id": call.call_id, "output": "ok"}
again = client.responses.create(model="talks", input=[call.model_dump(), result], tools=flat)
assert again.output_text == "Hello there."
raised(openai.BadRequestError, None, lambda: client.responses.create(model="talks", input=[result]))
assert client.responses.create(model="calls", input="go", tools=flat, tool_choice="none").output_text == ""
assert client.responses.create(model="long", input="go").incomplete_details.reason == "max_output_tokens"
for model, kind in (("talks", "message"), ("calls", "function_call")):
    with client.responses.stream(model=model, input="go", tools=flat) as stream:
        kinds = [e.type for e in stream]
        final = stream.get_final_response()
    assert kinds[0] == "response.created" and kinds[-1] == "response.completed", kinds
    assert final.output[-1].type == kind
print("all is well")
