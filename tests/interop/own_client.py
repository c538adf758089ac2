"""OpenEnv's client on a lake with room for two sessions: own_client.py URL prints the replies, one per line."""

import asyncio
import json
import sys

from openenv.core.generic_client import GenericEnvClient


async def asked(question):
    try:
        return await question
    except Exception as failure:
        return f"{type(failure).__name__}: {failure}"


async def main(url):
    first, second, third = (GenericEnvClient(base_url=url) for _ in range(3))
    print((await first.reset(seed=3, episode_id="ours")).observation["position"])
    result = await first.step({"action": "DOWN"})
    print(result.observation["position"], result.reward, result.done)
    state = await first.state()
    print(json.dumps([state["episode_id"], state["step_count"], state["position"]]))
    print(await asked(first.step({"action": "SIDEWAYS"})))
    print((await second.reset()).observation["position"])
    print("refused" if isinstance(await asked(third.reset()), str) else "let in")
    await first.close()
    # the server notices the close with a delay
    for _ in range(200):
        fourth = GenericEnvClient(base_url=url)
        again = await asked(fourth.reset())
        if not isinstance(again, str):
            break
        await asyncio.sleep(0.05)
    print(again.observation["position"])
    await fourth.close()
    await second.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
