"""A tool server as verifiers starts it, with faults: tool_server.py [FAULT]. Serves the tool act over MCP at /mcp, gets the state from
the channel before each call and puts it after one that changed it.

stateless   it does not ask for the state
nan         it puts a state that is not JSON
secret      it asks with a wrong secret
path        it asks for a path that the channel does not have
rude        it sends the channel what is not HTTP, a request in pieces, and a state of 65 MiB
task        it prints the task that it gets
late        it listens after a second
ends        it ends before it listens
"""

import http.server
import json
import os
import sys
import time
import urllib.error
import urllib.request
import socket
from urllib.parse import urlparse

fault = sys.argv[1] if len(sys.argv) > 1 else ""
channel = os.environ["VF_STATE_URL"]
place = (urlparse(channel).hostname, urlparse(channel).port)


def ask(method, path, body=None):
    secret = "wrong" if fault == "secret" else os.environ["VF_STATE_SECRET"]
    request = urllib.request.Request(path, body, {"Authorization": f"Bearer {secret}"}, method=method)
    return urllib.request.urlopen(request, timeout=20).read()


def be_rude():
    with socket.create_connection(place) as other:
        other.sendall(b"\xff rubbish\r\n\r\n")
        other.recv(1)
    with socket.create_connection(place) as other:
        other.sendall(b"GET /st")
        time.sleep(0.05)
        other.sendall(b"ate HTTP/1.1\r\nAuthorization: Bearer " + os.environ["VF_STATE_SECRET"].encode() + b"\r\n\r\n")
        assert b"200 OK" in other.recv(1000)
    try:
        ask("PUT", channel, b"[" + b"0," * (65 << 19) + b"0]")
    except (urllib.error.URLError, OSError) as refused:
        print(refused, file=sys.stderr)


def act(arguments):
    if fault == "stateless":
        return "acted"
    if fault == "rude":
        be_rude()
    state = json.loads(ask("GET", channel + "/none" if fault == "path" else channel))
    state["acts"] = float("nan") if fault == "nan" else state.get("acts", 0) + 1
    if arguments.get("move") != "look":
        ask("PUT", channel, json.dumps(state).encode())
    if fault == "task":
        return ask("GET", channel.replace("/state", "/task")).decode()
    return json.dumps(state)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # a reply in one piece

    def log_message(self, *words):
        pass

    def do_GET(self):
        self.reply(405, b"")

    def reply(self, status, body):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in call:
            return self.reply(202, b"")
        tool = {"name": "act", "inputSchema": {"type": "object", "properties": {"move": {"type": "string"}}}}
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "toy", "version": "1"}},
            "tools/list": {"tools": [tool]},
        }
        result = results.get(call["method"])
        if call["method"] == "tools/call":
            try:
                result = {"content": [{"type": "text", "text": act(call["params"]["arguments"])}]}
            except Exception as failure:
                result = {"content": [{"type": "text", "text": str(failure)}], "isError": True}
        self.reply(200, json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}).encode())


class Server(http.server.ThreadingHTTPServer):
    def server_activate(self):
        with open(os.environ["MCP_PORT_FILE"], "w") as file:
            file.write(str(self.server_port))
        if fault == "ends":
            sys.exit("no lake today")
        time.sleep(1 if fault == "late" else 0)
        super().server_activate()


Server((os.environ["MCP_HOST"], int(os.environ["MCP_PORT"])), Handler).serve_forever()
