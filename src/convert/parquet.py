"""Run by rolldbg with python3 -I: reads Parquet or a trackio database on standard input as JSON lines or, given columns, writes such lines as Parquet."""
import gc, json, math, os, sys

out = open(1, "wb", 1 << 20, closefd=False)


def other(v):
    if isinstance(v, (bytes, bytearray)):
        return bytes(v).decode("utf-8", "replace")
    return v.isoformat() if hasattr(v, "isoformat") else str(v)


def finite(v):
    if isinstance(v, float):
        return v if math.isfinite(v) else None
    if isinstance(v, dict):
        return {str(k): finite(x) for k, x in v.items()}
    return [finite(x) for x in v] if isinstance(v, (list, tuple)) else v


encode = json.JSONEncoder(default=other, allow_nan=False, check_circular=False, separators=(",", ":")).encode


def put(row):
    try:
        text = encode(row)
    except ValueError:
        text = encode(finite(row))
    out.write(text.encode() + b"\n")


def read_parquet():
    import pyarrow.parquet

    file = pyarrow.parquet.ParquetFile(os.fdopen(0, "rb", closefd=False))
    for batch in file.iter_batches(4096):
        for row in batch.to_pylist():
            put(row)


def read_trackio():
    import sqlite3

    data = bytearray(open(0, "rb", closefd=False).read())
    data[18:20] = b"\1\1"  # not WAL, which a database in memory cannot be
    base = sqlite3.connect(":memory:")
    base.deserialize(bytes(data))
    last = None
    for (text,) in base.execute("select metrics from metrics order by id"):
        for v in json.loads(text).values():
            if not isinstance(v, dict) or v.get("_type") != "trackio.table":
                continue
            if v.get("_value") != last:  # the last table is logged twice
                last = v.get("_value")
                for row in last or ():
                    put(row)
    if last is None:
        raise ValueError("an SQLite database, but not of trackio: it has no logged tables")


def write_parquet(columns):
    import pyarrow as pa, pyarrow.parquet as pq

    schema = pa.schema([(name, getattr(pa, type)()) for name, type in json.loads(columns)])
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        rows = []
        for line in open(0, "rb", closefd=False):
            rows.append(json.loads(line))
            if len(rows) == 16384:
                writer.write_table(pa.Table.from_pylist(rows, schema=schema))
                rows.clear()
        writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def main():
    if sys.argv[1]:
        write_parquet(sys.argv[1])
        return
    gc.disable()  # its search for cycles, which rows have none of, makes them a third slower
    (read_parquet if os.pread(0, 4, 0) == b"PAR1" else read_trackio)()


def fail(code, why):
    sys.stderr.write("\n" + " ".join(str(why).split()) + "\n")
    sys.stderr.flush()
    os._exit(code)


try:
    main()
    out.flush()
except ImportError as e:
    fail(4, e)
except (MemoryError, KeyboardInterrupt) as e:
    fail(5, repr(e))
except OSError as e:
    fail(5 if e.errno in (12, 27, 28, 122) else 3, e)
except Exception as e:
    fail(3, e)
os._exit(0)
