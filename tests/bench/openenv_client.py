#!/usr/bin/env python3
"""A walk by OpenEnv's own client: openenv_client.py sync|async URL KEY SESSIONS STEPS [state]

Each session goes back and forth STEPS times (KEY is the only field of the action); with `state` it also asks for the
state after each step, as whoever records what an action changed must. Prints one JSON line: steps made, and the CPU
seconds they took, opening and closing the sessions counted, the start of Python not.
"""

import asyncio
import json
import sys
import time

from openenv.core.generic_client import GenericEnvClient

MOVES = ["RIGHT", "LEFT"]


def check(position, number):
    if position != 1 - number % 2:
        sys.exit(f"step {number}: at {position}")


def sync_walk(url, key, steps, state):
    began = time.process_time()
    with GenericEnvClient(base_url=url).sync() as client:
        client.reset()
        for number in range(steps):
            check(client.step({key: MOVES[number % 2]}).observation["position"], number)
            if state:
                check(client.state()["position"], number)
    return time.process_time() - began


async def async_walk(url, key, sessions, steps, state):
    began = time.process_time()
    clients = [GenericEnvClient(base_url=url) for _ in range(sessions)]

    async def one(client):
        for number in range(steps):
            check((await client.step({key: MOVES[number % 2]})).observation["position"], number)
            if state:
                check((await client.state())["position"], number)

    for client in clients:
        await client.connect()
        await client.reset()
    await asyncio.gather(*map(one, clients))
    for client in clients:
        await client.close()
    return time.process_time() - began


def main(mode, url, key, sessions, steps, *state):
    sessions, steps = int(sessions), int(steps)
    if mode == "sync":
        cpu = sync_walk(url, key, steps, bool(state))
        sessions = 1
    else:
        cpu = asyncio.run(async_walk(url, key, sessions, steps, bool(state)))
    print(json.dumps({"steps": sessions * steps, "cpu": cpu}))


if __name__ == "__main__":
    main(*sys.argv[1:])
