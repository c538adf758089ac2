"""A resources server of NeMo Gym with the native contract (0.7), and faults: nemo_gym.py [FAULT..].

new-session   a second seed_session gets another session
takes-other   a seed_session of another task in the same episode is accepted
needs-start   a seed_session must have a member `start`
close-once    a second close_session is an error
stays-open    calls after close_session are answered
no-cookie     a call without a session is answered, for a new one
"""

import base64
import http.server
import itertools
import json
import sys

faults = sys.argv[1:]
ids = itertools.count(1)
sessions = {}
tasks = {}
ROUTES = {"/seed_session", "/add", "/look", "/verify", "/close_session"}
NUMBER = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
BODY = {"content": {"application/json": {"schema": NUMBER}}}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # a reply in one piece

    def log_message(self, *words):
        pass

    def reply(self, status, value, cookie=None):
        body = json.dumps(value).encode()
        self.send_response(status)
        if cookie:  # signed anew in each reply
            payload = base64.b64encode(json.dumps({"session_id": cookie}).encode()).decode()
            self.send_header("Set-Cookie", f"Toy___env={payload}.{next(ids)}.signature; path=/")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def session(self):
        cookie = self.headers.get("Cookie", "")
        payload = cookie.partition("=")[2].partition(".")[0]
        return json.loads(base64.b64decode(payload))["session_id"] if payload else None

    def do_GET(self):
        paths = {route: {"post": {"requestBody": BODY} if route == "/add" else {}} for route in ROUTES}
        self.reply(200 if self.path == "/openapi.json" else 404, {"info": {"title": "Toy"}, "paths": paths})

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        name = self.session()
        if self.path == "/seed_session":
            if "needs-start" in faults and "start" not in asked["task_data"]:
                return self.reply(422, {"detail": [{"type": "missing", "loc": ["body", "start"], "msg": "Field required"}]})
            if not name or "new-session" in faults:
                name = f"s-{next(ids)}"
            if "takes-other" not in faults and tasks.setdefault(asked["episode_id"], asked["task_id"]) != asked["task_id"]:
                return self.reply(409, {"detail": "the episode has another task"}, name)
            sessions.setdefault(name, 0)
            return self.reply(200, {"resources_session_id": name}, name)
        if self.path == "/close_session":
            if sessions.pop(asked["resources_session_id"], None) is None and "close-once" in faults:
                return self.reply(500, {"detail": "no such session"}, name)
            return self.reply(200, {}, name)
        if not name and "no-cookie" in faults:
            name = f"s-{next(ids)}"
            sessions[name] = 0
        if name not in sessions and "stays-open" not in faults:
            return self.reply(410, {"detail": "the session is closed"}, name)
        sessions[name] = sessions.get(name, 0) + asked.get("n", 0)
        if self.path == "/verify":
            reward = float(sessions[name] >= 3)
            return self.reply(200, {"reward": reward, "reward_components": {"sum": reward}}, name)
        self.reply(200, {"sum": sessions[name]}, name)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"listening on 127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
