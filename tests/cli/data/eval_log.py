"""Writes KIND.eval, an Inspect log of a JSON log, whole or spoiled, for each kind: eval_log.py LOG KIND..."""

import json
import sys
import zipfile


def write_log(log, kind, path):
    samples = log.pop("samples")
    start = {key: log[key] for key in ("version", "eval", "plan")}
    method = zipfile.ZIP_STORED if kind == "stored" else zipfile.ZIP_DEFLATED
    header = {"not-a-log": {"a": 1}, "bad-header": None}.get(kind, log)

    with zipfile.ZipFile(path, "w", method) as archive:

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
            elif kind == "parts":
                write(name + "/sample.json", sample)
            else:
                write(name + ".json", {**sample, "events": [{"event": "x" * 100}], "attachments": {"a": "b"}})
        if kind == "bomb":
            with archive.open("samples/3_epoch_1.json", "w") as entry:
                for _ in range(257):
                    entry.write(b" " * (1 << 20))
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
    write_log(json.load(open(sys.argv[1])), kind, kind + ".eval")
