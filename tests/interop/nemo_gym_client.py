"""NeMo Gym's client: nemo_gym_client.py URL [--together] START.., with "TOOL {arguments}" on standard input, one call per line.
For each episode, which begins at START, prints the reply to each call, or the status if it is not 200, and then [reward,
components]; --together: all episodes make each request at the same time. As its agent does, a request has the cookies of the
reply before it: none after a reply of 500."""

import asyncio
import json
import sys
import urllib.parse
from unittest.mock import MagicMock

for absent in ("ray", "wandb", "wandb.util", "mlflow", "datasets"):
    sys.modules[absent] = MagicMock(__version__="0")

from nemo_gym import server_utils
from nemo_gym.config_types import BaseServerConfig
from omegaconf import OmegaConf


async def episode(post, start, calls):
    task = {"responses_create_params": {"input": []}, "start": start}
    _, _, cookies = await post("/seed_session", task, None)
    items = []
    for number, (name, arguments) in enumerate(calls):
        status, text, cookies = await post("/" + name, json.loads(arguments), cookies)
        print(text if status == 200 else status)
        items += [
            {"type": "function_call", "call_id": f"call_{number}", "name": name, "arguments": arguments},
            {"type": "function_call_output", "call_id": f"call_{number}", "output": text},
        ]
    response = {
        "id": "resp_0",
        "created_at": 0,
        "model": "scripted",
        "object": "response",
        "output": items,
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }
    verified = json.loads((await post("/verify", {**task, "response": response}, cookies))[1])
    print(json.dumps([verified["reward"], verified["reward_components"]]))


async def main(url, *starts):
    together = starts[0] == "--together"
    starts = starts[together:]
    turn = asyncio.Barrier(len(starts) if together else 1)
    calls = [line.split(" ", 1) for line in sys.stdin.read().splitlines()]
    place = urllib.parse.urlsplit(url)
    config = {"lake": {"resources_servers": {"lake": {"host": place.hostname, "port": place.port}}}}
    head = BaseServerConfig(host=place.hostname, port=place.port)
    client = server_utils.ServerClient(head_server_config=head, global_config_dict=OmegaConf.create(config))

    async def post(path, body, cookies):
        await turn.wait()
        reply = await client.post(server_name="lake", url_path=place.path + path, json=body, cookies=cookies)
        return reply.status, (await reply.read()).decode(), reply.cookies

    async with server_utils.set_global_aiohttp_client(server_utils.GlobalAIOHTTPAsyncClientConfig()):
        if together:
            await asyncio.gather(*(episode(post, int(start), calls) for start in starts))
        else:
            for start in starts:
                await episode(post, int(start), calls)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
