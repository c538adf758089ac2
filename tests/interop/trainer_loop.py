"""Rollouts as in a trainer's loop, on OpenEnv's client: each exception becomes one more message of the conversation.

trainer_loop.py URL COUNT DIRECTION..: COUNT rollouts at a time; all sessions stay open until the last rollout ends. Prints
the metrics that such a loop has.
"""

import asyncio
import json
import sys

from openenv.core.generic_client import GenericEnvClient


async def rollout(env, directions):
    talk = {"turns": 0, "reward": 0.0, "messages": []}
    try:
        observation = (await env.reset()).observation
    except Exception as failure:
        observation = {"error": str(failure)}
    talk["messages"].append(observation)
    for direction in directions:
        try:
            result = await env.step({"direction": direction})
            observation, done = result.observation, result.done
            talk["reward"] += result.reward or 0.0
        except Exception as failure:
            observation, done = {"error": str(failure)}, False
        talk["turns"] += 1
        talk["messages"].append(observation)
        if done:
            break
    return talk


async def main(url, count, directions):
    pool = [GenericEnvClient(base_url=url) for _ in range(count)]
    talks = await asyncio.gather(*(rollout(env, directions) for env in pool))
    await asyncio.gather(*(env.close() for env in pool))
    rewards = [talk["reward"] for talk in talks]
    turns = sum(talk["turns"] for talk in talks)
    messages = sum(len(talk["messages"]) for talk in talks)
    print(json.dumps({"rollouts": len(talks), "turns": turns, "messages": messages, "mean_reward": sum(rewards) / count}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.argv[3:]))
