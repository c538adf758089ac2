#!/usr/bin/env python3
"""OpenEnv's own client, as trainers use it: tap_client.py SCENARIO URL [NUMBER]

walk N     N sessions at once, each two episodes on the lake; prints what each saw
pool N     the same sessions, one thread, resets with seeds in pairs, as GRPO does
states     one session that asks for the state after each step
replaced   the connection is cut between two steps; the client opens another one by itself
late       the client's timeout passes while a step runs, and it goes on
many N     N sessions with resets, timeouts, reconnects and closes at random, 10,000 steps in all; prints each
           episode as {"id", "steps": [[direction, position or null], ...]}, id null without a reset
"""

import asyncio
import json
import random
import sys

from openenv.core.generic_client import GenericEnvClient

GOAL = ["DOWN", "DOWN", "RIGHT", "DOWN", "RIGHT", "RIGHT"]


def show(result):
    return [result.observation.get("position"), result.reward, result.done]


async def episode(client, seed, moves=GOAL):
    seen = [show(await client.reset(seed=seed))]
    for move in moves:
        seen.append(show(await client.step({"direction": move})))
    return seen


async def walk(url, n):
    async def one(number):
        async with GenericEnvClient(base_url=url) as client:
            return [await episode(client, number), await episode(client, number + 1)]

    print(json.dumps(await asyncio.gather(*map(one, range(n)))))


async def pool(url, n):
    clients = [GenericEnvClient(base_url=url) for _ in range(n)]
    for client in clients:
        await client.connect()
    for batch in range(2):
        for number, client in enumerate(clients):
            await client.reset(seed=10 * batch + number // 2)
        for move in GOAL:
            for client in clients:
                await client.step({"direction": move})
    # TRL never closes them


async def states(url, _):
    async with GenericEnvClient(base_url=url) as client:
        await client.reset(seed=1)
        print((await client.state())["position"])
        for move in GOAL[:3]:
            await client.step({"direction": move})
            print((await client.state())["position"])


async def replaced(url, _):
    client = GenericEnvClient(base_url=url)
    await client.connect()
    await client.reset(seed=1)
    for number, move in enumerate(GOAL):
        if number == 3:
            client._ws.transport.abort()
            await asyncio.sleep(0.2)
        try:
            print(json.dumps(show(await client.step({"direction": move}))))
        except Exception as error:
            print(type(error).__name__)
    await client.close()


async def late(url, _):
    client = GenericEnvClient(base_url=url, message_timeout_s=1)
    await client.connect()
    await client.reset(seed=1)
    for move in ["DOWN", "SLOW", "DOWN"]:
        try:
            print(json.dumps(show(await client.step({"direction": move}))))
        except Exception as error:
            print(type(error).__name__)
    await client.close()


async def many(url, n):
    episodes = []

    async def one(number):
        chance = random.Random(number)
        client, steps, slow = None, None, number % 16 == 0
        for count in range(10000 // n):
            what = chance.random()
            if client is None:
                # a slow step is longer than this; other steps must not be, on a busy machine
                client = GenericEnvClient(base_url=url, message_timeout_s=1 if slow else 60)
                await client.connect()
                steps = None
            if what < 0.1 or (steps is None and what < 0.95):
                name = f"{number}/{count}"
                await client.reset(seed=number, episode_id=name)
                steps = []
                episodes.append({"id": name, "steps": steps})
            elif steps is None:
                steps = []
                episodes.append({"id": None, "steps": steps})
            move = "SLOW" if slow and what > 0.98 else chance.choice(["DOWN", "RIGHT", "UP", "LEFT"])
            steps.append([move, None])
            try:
                steps[-1][1] = (await client.step({"direction": move})).observation["position"]
            except Exception:
                client = None  # it has closed the connection
                continue
            if 0.9 < what < 0.95:
                await client.close()
                client = None
            elif 0.95 < what < 0.96:
                client._ws.transport.abort()
                client = None
        if client:
            await client.close()

    await asyncio.gather(*map(one, range(n)))
    print(json.dumps(episodes))


scenario, address, *number = sys.argv[1:]
asyncio.run(globals()[scenario](address, int(number[0]) if number else 1))
