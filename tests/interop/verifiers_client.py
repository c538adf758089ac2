"""Drives a tool server of verifiers as its framework does, with moves on standard input: starts `python -m MODULE NAME`, hosts the
state channel and prints [the state before the call, the reply] for each move, one per line."""

import asyncio
import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

from mcp.client.client import Client

TASK = {"cls": "verifiers.v1.task:TaskData", "task": "{}"}


class Channel(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # a reply in one piece
    state = b"{}"

    def log_message(self, *words):
        pass

    def reply(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.reply(json.dumps(TASK).encode() if self.path == "/task" else Channel.state)

    def do_PUT(self):
        Channel.state = self.rfile.read(int(self.headers["Content-Length"]))
        self.reply(b"{}")


async def drive(url, moves):
    async with Client(url) as client:
        for direction in moves:
            before = json.loads(Channel.state)
            result = await client.call_tool("move", {"direction": direction})
            print(json.dumps([before, result.content[0].text]))


def connected(url):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            return asyncio.run(drive(url, []))
        except Exception:
            time.sleep(0.2)


def main(*command):
    moves = sys.stdin.read().split()
    channel = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Channel)
    threading.Thread(target=channel.serve_forever, daemon=True).start()
    with tempfile.NamedTemporaryFile() as port:
        variables = {
            "MCP_PORT_FILE": port.name,
            "VF_STATE_URL": f"http://127.0.0.1:{channel.server_port}/state",
            "VF_STATE_SECRET": "secret",
        }
        server = subprocess.Popen([sys.executable, "-m", *command], env={**os.environ, **variables})
        try:
            while not (digits := open(port.name).read()) and server.poll() is None:
                time.sleep(0.05)
            url = f"http://127.0.0.1:{digits}/mcp"
            connected(url)
            asyncio.run(drive(url, moves))
        finally:
            server.terminate()


if __name__ == "__main__":
    main(*sys.argv[1:])
