"""OpenReward's client: ors_client.py URL SPLIT, with moves on standard input, prints [position, reward, finished] or the
class of the error for each move of each task, one per line."""

import json
import os
import sys

import openreward


def moved(session, direction):
    try:
        output = session.call_tool("move", {"direction": direction})
    except Exception as failure:
        return type(failure).__name__
    return [json.loads(output.blocks[0].text)["position"], output.reward, output.finished]


def main(url, split):
    moves = sys.stdin.read().split()
    os.environ["OPENREWARD_API_URL"] = os.environ["OPENREWARD_SESSION_URL"] = url
    environment = openreward.OpenReward(api_key="none").environments.get("lake")
    for index in range(environment.num_tasks(split)):
        with environment.session(split=split, index=index) as session:
            for direction in moves:
                print(json.dumps(moved(session, direction)))


if __name__ == "__main__":
    main(*sys.argv[1:])
