"""Counts turns, calls, answers, errors, rewards and ends in other programs' logs, by their documentation,
and compares with what rolldbg reads: count_logs.py ROLLDBG FILE.. It exits 1 if there is a difference."""

import collections
import json
import subprocess
import sys
import zipfile

Count = collections.namedtuple("Count", "turns calls answers errors reward reason")


def chat(messages, known_errors=lambda m: False, reward=None, reason=None):
    """OpenAI's messages, and Anthropic's blocks in them."""
    turns = calls = answers = errors = 0
    for m in messages:
        blocks = m.get("content") if isinstance(m.get("content"), list) else []
        if m["role"] == "assistant":
            turns += 1
            calls += len(m.get("tool_calls") or []) + bool(m.get("function_call"))
            calls += sum(b.get("type") == "tool_use" for b in blocks if isinstance(b, dict))
        if m["role"] in ("tool", "function"):
            answers += 1
            errors += bool(known_errors(m))
            if answers > calls:  # a program called, not the model: a turn of its own
                turns, calls = turns + 1, calls + 1
        for b in blocks:
            if isinstance(b, dict) and b.get("type") == "tool_result":
                answers += 1
                errors += bool(b.get("is_error"))
    return Count(turns, calls, answers, errors, reward, reason)


def items(output, reward, reason=None):
    """Items of the Responses API: a turn ends where something is answered or somebody else speaks; what the server
    runs by itself has no call_id."""
    turns = calls = answers = open_turn = 0
    for o in output:
        kind = o.get("type")
        if str(kind).endswith("_output"):
            answers += 1
            open_turn = False
        elif kind == "message" and o.get("role") != "assistant":
            open_turn = False
        elif kind in ("message", "reasoning") or str(kind).endswith("_call"):
            turns += not open_turn
            open_turn = True
            calls += str(kind).endswith("_call") and "call_id" in o
    return Count(turns, calls, answers, 0, reward, reason)


def lines(path):
    with open(path, encoding="utf-8") as f:
        return [json.loads(one) for one in f if one.strip()]


def trl(rows):
    own = {"step", "prompt", "completion", "advantage"}
    for r in rows:
        rewards = [v for k, v in r.items() if k not in own and isinstance(v, float)]
        yield chat(r["completion"], reward=rewards[0] if len(rewards) == 1 else None)


def nemo(rows):
    for r in rows:
        failure = r.get("_ng_failure_class")
        output = (r.get("response") or {}).get("output") or []
        if output and isinstance(output[0], list):
            output = output[-1]  # transitions: each is the conversation up to it
        yield items(output, r.get("reward"), failure)


def mini(rows):
    """api_calls of the agent are its turns; each action is a call; a returncode is an answer."""
    for info, messages in ((r["info"], r["messages"]) for r in rows):
        extras = [m.get("extra") or {} for m in messages]
        turns = sum(m.get("role") == "assistant" or m.get("object") == "response" for m in messages)
        turns += sum(e.get("interrupt_type") == "FormatError" for e in extras)
        calls = sum(len(e.get("actions") or []) for e in extras)
        codes = [e["returncode"] for e in extras if "returncode" in e]
        if not any(extras):  # version 1
            texts = [str(m["content"]) for m in messages if m["role"] == "user"]
            codes = [int(t[12:].split("<")[0]) for t in texts if t.startswith("<returncode>")]
            codes += [-1 for t in texts if t.startswith("The last command <")]
            calls = len(codes)
        assert info["exit_status"].endswith("Error") or turns == info.get("model_stats", {}).get("api_calls", turns)
        yield Count(turns, calls, len(codes), sum(c in (126, 127, 124, 137, -1) for c in codes), None,
                    info["exit_status"])


def swe(rows):
    for r in rows:
        n = len(r.get("trajectory") or [])
        yield Count(n, n, n, 0, None, r["info"].get("exit_status")) if n else chat(r["history"])


def claude(rows):
    """One message of the model is written as a line for each of its blocks; a sidechain is a rollout of its own."""
    sessions = collections.OrderedDict()
    for r in rows:
        if isinstance(r, dict) and r.get("type") in ("user", "assistant") and isinstance(r.get("message"), dict):
            sessions.setdefault((r["sessionId"], bool(r.get("isSidechain"))), []).append(r["message"])
    for messages in sessions.values():
        c = chat(messages)
        ids = [m.get("id") or i for i, m in enumerate(messages) if m["role"] == "assistant"]
        yield c._replace(turns=len(set(ids)))


def inspect_samples(path):
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as z:
            return [json.loads(z.read(n)) for n in z.namelist() if n.startswith("samples/")]
    return json.load(open(path, encoding="utf-8"))["samples"]


def inspect(samples):
    for s in sorted(samples, key=lambda s: (str(s["id"]).zfill(20), s["epoch"])):
        scores = list((s.get("scores") or {"": s.get("score")}).values())
        value = (scores[0] or {}).get("value") if len(scores) == 1 else None
        value = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}.get(value, value)
        yield chat(s["messages"], lambda m: m.get("error"), value, (s.get("error") or {}).get("message"))


def codex(rows):
    yield items([r.get("payload", r) for r in rows if r.get("type") == "response_item" or "payload" not in r], None)


def tau(document):
    return [chat(r["traj"], reward=r["reward"]) for r in document]


def tau2(document):
    for s in document.get("simulations") or [document]:
        own = [m for m in s["messages"] if m.get("requestor") != "user"]
        own = [m | ({} if m["role"] == "assistant" else {"tool_calls": []}) for m in own]
        reward = (s.get("reward_info") or {}).get("reward")
        yield chat(own, lambda m: m.get("error"), reward, s["termination_reason"])


def independent(path):
    if path.endswith(".parquet"):
        import pyarrow.parquet
        return list(trl(pyarrow.parquet.read_table(path).to_pylist()))
    if path.endswith(".eval"):
        return list(inspect(inspect_samples(path)))
    try:
        document = json.load(open(path, encoding="utf-8"))
        rows = [document]
    except ValueError:
        rows = document = lines(path)
    first = rows[0] if isinstance(rows[0], dict) else rows[0][0]
    for keys, reader, argument in (
            (("step", "prompt", "completion"), trl, rows),
            (("responses_create_params",), nemo, rows), (("_ng_failure_class",), nemo, rows),
            (("trajectory_format",), mini, rows), (("trajectory", "info"), swe, rows), (("history",), swe, rows),
            (("sessionId",), claude, rows), (("payload",), codex, rows), (("git",), codex, rows),
            (("eval", "samples"), inspect, first.get("samples")),
            (("traj",), tau, document), (("simulations",), tau2, document), (("termination_reason",), tau2, document),
            (("type",), claude, rows)):
        if all(k in first for k in keys):
            return list(reader(argument))
    if "role" in first:
        return [chat(document if isinstance(document[0], dict) else document[0])]
    return [chat(r["messages"], reward=r.get("reward")) for r in rows]


def rolldbg(program, path):
    def table(name):
        out = subprocess.run([program, "convert", "--quiet", "--to", name, path], capture_output=True, check=True)
        return [json.loads(one) for one in out.stdout.splitlines()]

    calls, errors = collections.Counter(), collections.Counter()
    for s in table("steps"):
        calls[s["rollout"]] += s["tool"] is not None
        errors[s["rollout"]] += bool(s["failed"])
    return [Count(r["turns"], calls[r["rollout"]], r["steps"], errors[r["rollout"]], r["reward"], r["reason"])
            for r in table("rollouts")]


def order(count):
    return str(count._replace(errors=0)), count.errors


def main(program, paths):
    differences = rollouts = 0
    for path in paths:
        want, got = independent(path), rolldbg(program, path)
        rollouts += len(want)
        if len(want) != len(got):
            differences += 1
            print(f"{path}: {len(want)} rollouts, {len(got)} read")
            continue
        for i, (w, g) in enumerate(zip(sorted(want, key=order), sorted(got, key=order))):
            # errors only: those that the log states; rolldbg also finds them in what tools said
            if w != g._replace(errors=w.errors) or w.errors > g.errors:
                differences += 1
                print(f"{path}[{i}]: {w}\n    rolldbg: {g}")
    print(f"{len(paths)} files, {rollouts} rollouts, {differences} differences")
    return differences != 0


sys.exit(main(sys.argv[1], sys.argv[2:]))
