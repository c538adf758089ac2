"""Canned replies of environments over HTTP, cheap and with sessions in name only: ORS at /ors, NeMo Gym at /gym (tools)
and /steps (as in Gymnasium), OpenEnv at /openenv. RIGHT in a request leads to place 1, all else to place 0."""

import json
import socket
import threading

HEALTH = {"paths": {"/reset": {}, "/step": {}, "/state": {}}}
SCHEMA = {"type": "object", "properties": {"action": {"type": "string"}}, "required": ["action"]}


def openapi(*paths):
    body = {"content": {"application/json": {"schema": SCHEMA}}}
    return {"openapi": "3.1.0", "paths": {path: {"post": {"requestBody": body}} for path in paths}}


def stream(event, data):
    return f"event: {event}\ndata: {data}\n\n"


def end(place):
    block = {"type": "text", "text": json.dumps({"place": place, "grid": "SFFF\nFHFH\nFFFH\nHFFG"}), "detail": None}
    output = {"blocks": [block], "metadata": None, "reward": 0.0, "finished": False}
    return stream("task_id", "t-1") + stream("end", json.dumps({"ok": True, "output": output}))


def step(place):
    return {"observation": {"place": place, "grid": "SFFF\nFHFH\nFFFH\nHFFG"}, "reward": 0.0, "terminated": False, "truncated": False}


MOVE = {"name": "move", "description": "Moves", "input_schema": SCHEMA}
PAGES = {
    "/ors/list_environments": ["lake"],
    "/ors/create_session": stream("task_id", "s-1") + stream("end", ""),
    "/ors/lake/splits": [{"name": "train", "type": "train"}],
    "/ors/create": {"sid": "s-1"},
    "/ors/lake/prompt": [{"type": "text", "text": "go", "detail": None}],
    "/ors/lake/task_tools": {"tools": [MOVE], "terminal_tool": None},
    "/ors/lake/call": (end(0), end(1)),
    "/gym/openapi.json": openapi("/seed_session", "/verify", "/aggregate_metrics", "/move"),
    "/gym/move": ({"place": 0, "grid": "SFFF\nFHFH\nFFFH\nHFFG"}, {"place": 1, "grid": "SFFF\nFHFH\nFFFH\nHFFG"}),
    "/gym/verify": {"reward": 0.0},
    "/steps/openapi.json": openapi("/reset", "/step", "/aggregate_metrics"),
    "/steps/reset": step(0),
    "/steps/step": (step(0), step(1)),
    "/openenv/health": {"status": "healthy"},
    "/openenv/openapi.json": HEALTH,
    "/openenv/schema": {"action": SCHEMA, "observation": {"type": "object"}, "state": {"type": "object"}},
    "/openenv/metadata": {"name": "lake", "description": "A lake", "version": "1"},
    "/openenv/reset": {"observation": {"place": 0}, "reward": None, "done": False},
    "/openenv/step": tuple({"observation": {"place": place}, "reward": 0.0, "done": False} for place in (0, 1)),
    "/openenv/state": tuple({"episode_id": "e-1", "step_count": 1, "place": place} for place in (0, 1)),
}


def whole(path, reply):
    """The response; its cookie's signature is of five digits, which the server counts."""
    text = reply if isinstance(reply, str) else json.dumps(reply)
    kind = "text/event-stream" if isinstance(reply, str) else "application/json"
    cookie = 'Set-Cookie: Toy___env=eyJzZXNzaW9uX2lkIjogImFhYWEtMSJ9.t.%05d; path=/; httponly\r\n'
    return (
        f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {len(text)}\r\n"
        + (cookie if path.startswith(("/gym", "/steps")) else "")
        + "\r\n"
        + text.replace("%", "%%")
    )


def serve(connection, pages):
    waiting, number, place = b"", 0, 0
    while True:
        got = connection.recv(1 << 20)
        if not got:
            return
        waiting += got
        head, found, body = waiting.partition(b"\r\n\r\n")
        size = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if not found or len(body) < int(size or 0):
            continue
        waiting, number = b"", number + 1
        reply = pages.get(head.split(b" ", 2)[1].decode(), "HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
        place = b"RIGHT" in body if body else place
        if isinstance(reply, tuple):
            reply = reply[place]
        connection.sendall((reply % (number % 100000) if "%0" in reply else reply).encode())


def main():
    pages = {}
    for path, reply in PAGES.items():
        made = reply if isinstance(reply, tuple) else (reply,)
        pages[path] = tuple(whole(path, one) for one in made) if len(made) > 1 else whole(path, made[0])
    pages["/gym/seed_session"] = whole("/gym", {})
    pages["/ors/delete"] = pages["/ors/delete_session"] = whole("/ors", {})
    listener = socket.create_server(("127.0.0.1", 0))
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        connection, _ = listener.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(connection, pages), daemon=True).start()


main()
