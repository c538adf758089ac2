"""Writes KIND.eval for each kind: an Inspect .eval log of a JSON log, whole or spoiled. eval_log.py LOG KIND..."""

import json
import sys
import zipfile

CHUNKED = (
    "chunked-and-whole",
    "chunk-missing",
    "chunk-last-missing",
    "attachment-missing",
    "no-shell",
    "no-refs",
    "bad-refs",
    "bad-chunk",
    "bad-shell",
    "many-bytes",
)


def blanks(archive, name, mib):
    """An entry of that many MiB: an empty array."""
    with archive.open(name, "w") as entry:
        entry.write(b"[")
        for _ in range(mib):
            entry.write(b" " * (1 << 20))
        entry.write(b"]")


def chunks(sample):
    """The entries of a chunked sample: two messages and one attachment in each, and a message that only events have."""
    texts = ["not used"]

    def attach(value):
        if isinstance(value, dict):
            return {key: attach(item) for key, item in value.items()}
        if isinstance(value, list):
            return [attach(item) for item in value]
        if value in ("Go.", "pwd", "/root"):
            texts.append(value)
            return f"attachment://{len(texts) - 1}"
        return value

    messages = [attach(message) for message in sample["messages"]]
    pool = messages[:1] + [{"role": "user", "content": "of an event"}] + messages[1:]
    refs = [[0, 1], [2, len(pool)]] if messages[1:] else [[0, 1]]
    shell = {**{key: sample[key] for key in sample if key != "messages"}, "message_refs": refs}
    entries = {"sample": shell, "skeleton": {"spans": []}, "events/stats": [], "events/uuids": [], "events/0": [{}]}
    for i in range(0, len(pool), 2):
        entries[f"messages/{i}"] = pool[i : i + 2]
    for i, text in enumerate(texts):
        entries[f"attachments/{i}"] = [text]
    return entries


def spoil(kind, entries):
    if kind == "chunk-missing":
        del entries["messages/2"]
    elif kind == "chunk-last-missing":
        del entries["messages/6"]
    elif kind == "attachment-missing":
        del entries["attachments/1"]
    elif kind == "no-shell":
        del entries["sample"]
    elif kind == "no-refs":
        del entries["sample"]["message_refs"]
    elif kind == "bad-refs":
        entries["sample"]["message_refs"] = [[0, 1], [2]]
    elif kind == "bad-chunk":
        entries["messages/0"] = {}
    elif kind == "bad-shell":
        entries["sample"] = []
    elif kind == "many-bytes":
        entries.update({f"messages/{i}": None for i in range(3)})


def write_log(log, kind, path):
    samples = log.pop("samples")
    start = {key: log[key] for key in ("version", "eval", "plan")}
    method = zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED
    header = {"not-a-log": {"a": 1}, "bad-header": None}.get(kind, log)
    with zipfile.ZipFile(path, "w", method, compresslevel=1) as archive:

        def write(name, value, indent=2):
            archive.writestr(name, json.dumps(value, indent=indent))

        write("_journal/start.json", start)
        if kind == "again":
            write("samples/1_epoch_1.json", {"id": 1, "epoch": 1, "messages": []})
        for sample in [] if kind == "no-samples" else samples:
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}"
            if kind == "odd-names":
                name = "samples/../../" + name + "\u001b[2J\u00e4_epoch_1"
            if kind == "bad-sample":
                archive.writestr(name + ".json", '{"id": 1,')
            elif kind in ("chunked", "chunked-backward", "both-forms") or (kind in CHUNKED and sample["epoch"] == 1):
                entries = chunks(sample)
                spoil(kind, entries)
                for entry in sorted(entries, reverse=kind == "chunked-backward"):
                    value = entries[entry]
                    if value is None:
                        blanks(archive, f"{name}/{entry}.json", 180)
                    else:
                        write(f"{name}/{entry}.json", value)
                if kind == "both-forms":
                    write(name + ".json", {**sample, "attachments": {}})
            else:
                write(name + ".json", {**sample, "events": [{"event": "x" * 100}], "attachments": {"a": "b"}})
        if kind == "bomb":
            blanks(archive, "samples/3_epoch_1.json", 257)
        if kind == "no-log":
            archive = archive.close() or zipfile.ZipFile(path, "w")
            write("photo.json", {})
        elif kind != "crashed":
            archive.writestr("header.json", "{" if header is None else json.dumps(header))

    raw = bytearray(open(path, "rb").read())
    if kind == "truncated":
        del raw[len(raw) // 2 :]
    if kind == "damaged":
        at = raw.index(b"samples/") + 60
        raw[at : at + 20] = bytes(20)
    if kind in ("encrypted", "method"):
        for mark, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
            at = raw.find(mark)
            while at >= 0:
                if kind == "encrypted":
                    raw[at + flags] |= 1
                else:
                    raw[at + flags + 2] = 77
                at = raw.find(mark, at + 4)
    if kind == "empty":
        raw = raw[raw.index(b"PK\x05\x06") :]
        raw[8:20] = bytes(12)
    open(path, "wb").write(raw)


for kind in sys.argv[2:]:
    write_log(json.load(open(sys.argv[1])), kind, f"{kind}.eval")
