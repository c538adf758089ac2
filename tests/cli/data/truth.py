"""Counts turns, calls, failures and rewards of other programs' files, independently of rolldbg.

One line per file: name, rollouts, turns, answered calls, failed calls, reward (- where unknown).
"""
import ast
import json
import os
import sys


def lines(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        document = json.loads(text)
        return document if isinstance(document, list) else [document]
    except ValueError:
        return [json.loads(line) for line in text.splitlines() if line.strip()]


def is_error(content):
    """A reply that is an object, as JSON or as Python prints it, with an error."""
    for read in (json.loads, ast.literal_eval):
        try:
            value = read(content)
        except (ValueError, SyntaxError, TypeError):
            continue
        return isinstance(value, dict) and bool(value.get("error") or value.get("detail"))
    return isinstance(content, str) and content.startswith(("Error:", "Traceback"))


def chat(messages):
    turns = sum(m["role"] == "assistant" for m in messages)
    replies = [m for m in messages if m["role"] == "tool"]
    return turns, len(replies), sum(is_error(m["content"]) for m in replies)


def mini(document):
    messages = document["messages"]
    replies = [m["extra"]["returncode"] for m in messages if "returncode" in m.get("extra", {})]
    turns = sum(m["role"] == "assistant" for m in messages)
    return turns, len(replies), sum(code in (-1, 124, 126, 127, 137) for code in replies)


def nemo(row):
    turns, calls, failed, answered = 0, 0, 0, True
    for item in row["response"]["output"]:
        if item["type"] == "function_call_output":
            calls += 1
            failed += is_error(item["output"])
            answered = True
        elif item.get("role") == "user":
            answered = True
        else:
            turns += answered
            answered = False
    return turns, calls, failed


def count(row):
    if "trajectory_format" in row or "mini_version" in row.get("info", {}):
        return mini(row), None
    if "response" in row:
        return nemo(row), row["reward"]
    if "traj" in row:
        return chat(row["traj"]), row["reward"]
    if "completion" in row:
        known = ("step", "prompt", "completion", "advantage")
        rewards = [v for k, v in row.items() if k not in known and isinstance(v, float)]
        return chat(row["completion"]), rewards[0] if len(rewards) == 1 else None
    return chat(row["messages"]), None


for name in sys.argv[1:]:
    total, reward = [0, 0, 0], None
    rows = lines(name)
    for one in rows:
        counts, earned = count(one)
        total = [a + b for a, b in zip(total, counts)]
        if earned is not None:
            reward = (reward or 0) + earned
    print(os.path.basename(name), len(rows), *total, "-" if reward is None else f"{reward:g}")
