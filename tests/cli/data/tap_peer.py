"""Odd clients and servers for the tap. Prints what it got; `serve` variants print "listening on 127.0.0.1:PORT" first.

send PORT HEX [half]     sends the bytes (@FILE: those of a file), with `half` ends its side, and prints what comes back, as text
upgrade PORT N           opens N WebSockets, then waits until it is told to go on (a line on standard input)
frames PORT MODE         a WebSocket whose reset comes in fragments, with pings, or is 64 MiB of nonsense
pool PORT SEED:TURNS..   a trainer's pool of two sessions: for each batch they are reset with the seed, then step; TURNS is
                         such as 01 (the first session makes no call, the second one), or 1- (the second is not used)
lazy PORT                asks for 50 MB and reads nothing
echo                     a server that is no HTTP: sends back what it gets, and ends when the client does
big                      a server whose every reply has 50 MB
silent                   a server that accepts and never answers
undescribed              one that opens WebSockets, and answers nothing else; prints the paths
"""

import os
import socket
import sys
import threading
import time


def connect(port):
    s = socket.create_connection(("127.0.0.1", int(port)), 20)
    s.settimeout(20)
    return s


def read_all(s):
    got = b""
    try:
        while piece := s.recv(65536):
            got += piece
    except ConnectionResetError:
        got += b"[reset]"
    return got


def send(port, text, *half):
    s = connect(port)
    s.sendall(open(text[1:], "rb").read() if text[0] == "@" else bytes.fromhex(text))
    if half:
        s.shutdown(socket.SHUT_WR)
    print(read_all(s).decode("utf-8", "replace"))


def handshake(port):
    s = connect(port)
    s.sendall(
        b"GET /ws HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
        b"Sec-WebSocket-Extensions: permessage-deflate\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    )
    head = b""
    while b"\r\n\r\n" not in head:
        head += s.recv(1)
    return s, head


def frame(opcode, payload, fin=True):
    mask, n = os.urandom(4), len(payload)
    length = bytes([0x80 | n]) if n < 126 else b"\xfe" + n.to_bytes(2, "big") if n < 65536 else b"\xff" + n.to_bytes(8, "big")
    if n < 65536:
        body = bytes(b ^ mask[i & 3] for i, b in enumerate(payload))
    else:
        mask, body = bytes(4), payload
    return bytes([0x80 * fin | opcode]) + length + mask + body


def frames(port, mode):
    s, head = handshake(port)
    assert b"deflate" not in head
    if mode == "fragments":
        for piece in [frame(1, b'{"type":', False), frame(9, b"hi"), frame(0, b'"re', False), frame(0, b'set"}')]:
            for byte in piece:
                s.sendall(bytes([byte]))
        print(s.recv(4096)[2:4].decode())
        time.sleep(0.3)
        s.sendall(frame(8, b"\x03\xe8"))
    elif mode == "huge":
        try:
            s.sendall(frame(1, b"x" * (64 << 20)))
        except OSError:
            pass
    elif mode == "nonsense":
        s.sendall(b"\xff\xff\xff\xff nonsense")
    read_all(s)


def upgrade(port, n):
    all = [handshake(port)[0] for _ in range(int(n))]
    print("open", flush=True)
    sys.stdin.readline()
    del all


def ask(s, message):
    s.sendall(frame(1, message.encode()))
    s.recv(65536)


def pool(port, *batches):
    sessions = [handshake(port)[0] for _ in range(2)]
    for batch in batches:
        seed, turns = batch.split(":")
        used = [(s, int(n)) for s, n in zip(sessions, turns) if n != "-"]
        for s, _ in used:
            ask(s, '{"type":"reset","data":{"seed":%s}}' % seed)
        for s, n in used:
            for _ in range(n):
                ask(s, '{"type":"step","data":{"action":"DOWN"}}')


def lazy(port):
    s = connect(port)
    s.sendall(b"GET /big HTTP/1.1\r\nHost: x\r\n\r\n")
    print("asked", flush=True)
    sys.stdin.readline()


def serve(handle):
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    print(f"listening on 127.0.0.1:{listener.getsockname()[1]}", flush=True)
    while True:
        s, _ = listener.accept()
        threading.Thread(target=handle, args=(s,), daemon=True).start()


def echo(s):
    while piece := s.recv(65536):
        s.sendall(piece)
    s.close()


def big(s):
    s.recv(65536)
    try:
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 50000000\r\n\r\n" + b"x" * 50000000)
    except OSError:
        pass
    s.close()


def silent(s):
    time.sleep(3600)


def undescribed(s):
    path = s.recv(65536).split()[1]
    print(path.decode(), flush=True)
    if path == b"/ws":
        s.sendall(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    time.sleep(3600)


mode, *arguments = sys.argv[1:]
if mode in ("echo", "big", "silent", "undescribed"):
    serve(globals()[mode])
else:
    globals()[mode](*arguments)
