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
assert [m.id for m in client.models.list()] == ["calls", "talks", "busy", "poor"]
assert client.models.retrieve("talks").id == "talks"
raised(openai.NotFoundError, "model_not_found", lambda: client.models.retrieve("nobody"))

# one choice, complete and streamed
reply = chat()
assert len(reply.choices) == 1 and reply.choices[0].message.tool_calls
chunks = list(chat(stream=True))
assert sum(c.finish_reason == "tool_calls" for chunk in chunks for c in chunk.choices) == 1

# errors
wrong = openai.OpenAI(base_url=sys.argv[1] + "/v1", api_key="sk-wrong", max_retries=0)
raised(openai.AuthenticationError, "invalid_api_key", lambda: wrong.models.list())
raised(openai.NotFoundError, "model_not_found", lambda: chat("nobody"))
raised(openai.BadRequestError, None, lambda: chat(n=2))
assert raised(openai.RateLimitError, "rate_limit_exceeded", lambda: chat("busy")).type == "requests"
assert raised(openai.RateLimitError, "insufficient_quota", lambda: chat("poor")).type == "insufficient_quota"

print("all is well")
