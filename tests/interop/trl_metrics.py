"""TRL's metrics of a recording, by TRL's own code: nanstd of trl/trainer/utils.py, and the statements of grpo_trainer.py
that log tools/*, completions/clipped_ratio, reward, reward_std and frac_reward_zero_std. torch is 2 GB: the few functions
of it that this code needs are replaced by numpy.

Usage: trl_metrics.py DIRECTORY GROUP_SIZE RECORDING.."""

import ast
import collections
import json
import pathlib
import sys
import types

import numpy as np


class Tensor(np.ndarray):
    def float(self):
        return self.astype(float).view(Tensor)

    def gather(self):
        return self


def tensor(values, device=None):
    return np.asarray(values).view(Tensor)


torch = types.SimpleNamespace(
    Tensor=Tensor,
    tensor=tensor,
    nan=np.nan,
    isnan=np.isnan,
    sqrt=np.sqrt,
    where=np.where,
    isclose=lambda a, b: np.isclose(a, b).view(Tensor),
    zeros_like=np.zeros_like,
    full_like=lambda t, v: np.full(np.shape(t), v),
    nanmean=lambda t, dim=None, keepdim=False: np.nanmean(t, axis=dim, keepdims=keepdim),
    sum=lambda t, dim=None, keepdim=False: np.sum(t, axis=dim, keepdims=keepdim).astype(float),
)


def source(directory, name):
    return ast.parse((pathlib.Path(directory) / "trl" / "trainer" / name).read_text())


def run(nodes, names):
    exec(compile(ast.Module(body=nodes, type_ignores=[]), "trl", "exec"), names)


def nanstd(directory):
    names = {"torch": torch}
    found = [n for n in ast.walk(source(directory, "utils.py")) if isinstance(n, ast.FunctionDef) and n.name == "nanstd"]
    found[0].returns = None
    for argument in found[0].args.args:
        argument.annotation = None
    run(found, names)
    return names["nanstd"]


def statements(tree, logged):
    """The expression statement, or the if statement, that logs the metric."""
    for node in ast.walk(tree):
        for body in (getattr(node, "body", None), getattr(node, "orelse", None)):
            for statement in body if isinstance(body, list) else []:
                is_log = isinstance(statement, (ast.Expr, ast.If)) and f"'{logged}'" in ast.unparse(statement)
                if is_log and not any(f"'{logged}'" in ast.unparse(b) for b in getattr(statement, "orelse", [])):
                    if isinstance(statement, ast.Expr) or statement.test.__class__ is ast.Attribute:
                        return [statement]
    raise SystemExit(f"TRL logs no {logged}")


def rollouts(paths):
    found = collections.OrderedDict()
    for path in paths:
        for line in map(json.loads, open(path)):
            r = found.setdefault((path, line["rollout"]), {"calls": 0, "failures": 0, "clipped": False, "reward": np.nan})
            if line["type"] == "step" and line.get("tool_call") and line["outcome"] != "unparsed":
                r["calls"] += 1
                r["failures"] += line["outcome"] != "ok"
            if line["type"] == "step" and line.get("llm"):
                r["clipped"] = line["llm"].get("finish_reason") == "length"
            if line["type"] == "end" and line.get("total_reward") is not None:
                r["reward"] = float(line["total_reward"])
    return list(found.values())


def main(directory, group_size, *paths):
    tree, all_of = source(directory, "grpo_trainer.py"), rollouts(paths)
    metrics = collections.defaultdict(lambda: collections.defaultdict(list))
    this = types.SimpleNamespace(
        _metrics=metrics, tools=["tool"], accelerator=types.SimpleNamespace(gather=lambda t: t)
    )
    rewards = tensor([r["reward"] for r in all_of])
    std = nanstd(directory)
    groups = std(rewards.reshape(-1, int(group_size)), dim=1)
    names = {
        "self": this,
        "mode": "train",
        "device": None,
        "torch": torch,
        "nanstd": std,
        "rewards": rewards,
        "agg_prompt_lengths": [0] * len(all_of),
        "tool_call_count": sum(r["calls"] for r in all_of),
        "tool_failure_count": sum(r["failures"] for r in all_of),
        "agg_is_truncated": tensor([r["clipped"] for r in all_of]),
        "is_std_zero": torch.isclose(np.repeat(groups, int(group_size)), 0.0),
    }
    for logged in (
        "tools/call_frequency",
        "completions/clipped_ratio",
        "reward",
        "reward_std",
        "frac_reward_zero_std",
    ):
        run(statements(tree, logged), names)
    print(json.dumps({name: float(values[-1]) for name, values in metrics["train"].items()}))


main(*sys.argv[1:])
