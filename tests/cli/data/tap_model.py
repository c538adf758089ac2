#!/usr/bin/env python3
"""Both ends of a model's connection, for what `serve llm` and `run` do not do: tap_model.py WHAT [URL..]

server            an engine: completions of token ids, as a trainer asks for a batch; prints "listening on ADDRESS:PORT"
trainer MODEL ENV a trainer: a batch of four prompts of token ids at each turn, and its calls one by one, row by row, in OpenEnv
                  sessions that it keeps
twins MODEL ENV   two MCP sessions whose first turns hold the same call, made in the opposite order of their replies; then turns
                  that differ
"""

import base64
import http.server
import json
import os
import socket
import sys
import urllib.request

MOVES = {0: ["DOWN", "DOWN", "RIGHT", "DOWN"], 1: ["DOWN", "RIGHT", "RIGHT", None]}


def call_text(move):
    call = json.dumps({"name": "walk", "arguments": {"action": move}})
    return f"<tool_call>\n{call}\n</tool_call>" if move else "I am there."


class Engine(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # a reply in one piece

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        choices = []
        for i, ids in enumerate(body["prompt"]):
            turn = ids.count(7)
            drift = [99] if body.get("drift") else []
            choices.append({"index": i, "text": call_text(MOVES[turn][i]), "finish_reason": "stop", "token_ids": [100 + i, 101, 2],
                            "prompt_token_ids": ids + drift, "logprobs": {"token_logprobs": [-0.5, -0.25, -0.125]}})
        data = json.dumps({"object": "text_completion", "model": "tiny", "choices": choices, "usage": {"prompt_tokens": 1}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


def server():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Engine) as s:
        print(f"listening on 127.0.0.1:{s.server_port}", flush=True)
        s.serve_forever()


def post(url, body, headers=None):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request) as reply:
        return reply.headers, reply.read()


class Socket:
    """A WebSocket with small text messages."""

    def __init__(self, url):
        host, port = url.removeprefix("http://").split(":")
        self.s = socket.create_connection((host, int(port)))
        key = base64.b64encode(os.urandom(16)).decode()
        self.s.sendall(f"GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                       f"Sec-WebSocket-Key: {key}\r\n\r\n".encode())
        self.f = self.s.makefile("rb")
        while self.f.readline().strip():
            pass

    def ask(self, kind, data):
        text = json.dumps({"type": kind, "data": data}).encode()
        self.s.sendall(bytes([0x81, 0x80 | len(text), 0, 0, 0, 0]) + text)
        while True:
            first, n = self.f.read(2)
            n = int.from_bytes(self.f.read(2), "big") if n == 126 else n
            message = self.f.read(n)
            if first == 0x81:
                return json.loads(message)


def trainer(model, env, *more):
    rows = [Socket(env) for _ in range(4)]
    for s in rows:
        s.ask("reset", {"seed": 3})
    prompts = [[1, 5, 5] for _ in rows]
    for turn in range(2):
        body = {"model": "tiny", "prompt": prompts, "temperature": 0.7, "drift": "drift" in more}
        choices = json.loads(post(model + "/v1/completions", body)[1])["choices"]
        for i, s in enumerate(rows):
            move = MOVES[turn][i]
            if move:
                s.ask("step", {"action": move})
            prompts[i] = prompts[i] + choices[i]["token_ids"] + [7, 30 + i]


class Mcp:
    def __init__(self, url):
        self.url, self.headers, self.n = url + "/mcp", {"Accept": "application/json, text/event-stream"}, 0
        info = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        headers, _ = self.ask("initialize", info)
        self.headers["mcp-session-id"] = headers["mcp-session-id"]
        post(self.url, {"jsonrpc": "2.0", "method": "notifications/initialized"}, self.headers)

    def ask(self, method, params):
        self.n += 1
        headers, body = post(self.url, {"jsonrpc": "2.0", "id": self.n, "method": method, "params": params}, self.headers)
        lines = [line[6:] for line in body.decode().splitlines() if line.startswith("data: ")]
        return headers, json.loads(lines[0] if lines else body)

    def move(self, action):
        return self.ask("tools/call", {"name": "lake_move", "arguments": {"action": action}})[1]["result"]["content"][0]["text"]


def twins(model, env):
    sessions, talks = [Mcp(env), Mcp(env)], [[{"role": "user", "content": c}] for c in ("a", "b")]

    def say(i):
        reply = json.loads(post(model + "/v1/chat/completions", {"model": "m" + "ab"[i], "messages": talks[i]})[1])["choices"][0]["message"]
        talks[i].append(reply)
        return reply["tool_calls"][0]

    def act(i, call):
        text = sessions[i].move(json.loads(call["function"]["arguments"])["action"])
        talks[i].append({"role": "tool", "tool_call_id": call["id"], "content": text})

    calls = [say(0), say(1)]
    for i in (1, 0):
        act(i, calls[i])
    for i in (0, 1):
        act(i, say(i))


what, *operands = sys.argv[1:]
globals()[what](*operands)
