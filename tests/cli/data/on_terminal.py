"""Runs a program on a terminal of its own and types one key whenever it asks: on_terminal.py KEYS COMMAND..

What it prints goes to standard output; its exit code is ours."""

import os
import pty
import sys

keys, command = list(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
seen = b""
while True:
    try:
        block = os.read(terminal, 4096)
    except OSError:  # Linux: the other end is closed
        break
    if not block:
        break
    sys.stdout.buffer.write(block)
    seen += block
    if seen.endswith(b"? ") and keys:
        os.write(terminal, keys.pop(0).encode())
        # a key that is no answer is passed over: the next one is typed at once
        while keys and keys[0] not in "arsAq?\x04" and len(keys) > 1:
            keys.pop(0)
        seen = b""
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
