"""eval-protocol's own rollout on a FrozenLake server: ep_rollout.py URL STEPS. Prints steps, seconds and CPU seconds."""

import asyncio
import json
import os
import sys
import time

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

from eval_protocol.mcp_env import make, rollout
from eval_protocol.utils.static_policy import StaticPolicy


async def main(url, steps):
    # There and back again, so that the episode never ends.
    policy = StaticPolicy("lake_move", ["RIGHT", "LEFT"] * (steps // 2 + 1))
    task = {
        "id": f"bench-{os.getpid()}",
        "system_prompt": "",
        "user_prompt_template": "{observation}",
        "environment_context": {"seed": 42},
    }
    envs = make(url, dataset=[task], model_id=policy.model_id)
    began, cpu = time.perf_counter(), time.process_time()
    rows = await rollout(envs, policy=policy, steps=steps)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    calls = [message for message in rows[0].messages if message.role == "tool"]
    return {"steps": len(calls), "seconds": seconds, "cpu": cpu}


if __name__ == "__main__":
    result = asyncio.run(main(sys.argv[1], int(sys.argv[2])))
    print(json.dumps(result))
