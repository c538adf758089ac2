#!/usr/bin/env bats
# The tables that rolldbg convert writes, read by the data tools that people have.

# shellcheck disable=SC2154 # variables of bats

bats_require_minimum_version 1.5.0
load lib

# rows: of the files of each line of the input, the rows that DuckDB, pandas, polars and Hugging Face's datasets find.
rows() {
	HF_HOME=$BATS_TEST_TMPDIR/hf HF_DATASETS_OFFLINE=1 "$installed/tables/bin/python" -c "$(cat <<-'END'
		import sys, duckdb, pandas, polars, datasets
		datasets.disable_progress_bars()
		for files in (line.split() for line in sys.stdin):
		    kind = files[0].rsplit(".", 1)[1].replace("jsonl", "json")
		    of_pandas, options = getattr(pandas, "read_" + kind), {"lines": True} if kind == "json" else {}
		    of_polars = polars.read_ndjson if kind == "json" else getattr(polars, "read_" + kind)
		    whole = {} if kind == "parquet" else {"infer_schema_length": None}
		    print(files[0],
		          len(duckdb.sql(f"select * from read_{kind}({files!r})").fetchall()),
		          sum(len(of_pandas(f, **options)) for f in files),
		          of_polars(files, **whole).height,
		          datasets.load_dataset(kind, data_files=files, split="train").num_rows)
	END
	)" 2>errors || cat errors
}

@test "tables of one environment, of many in one file, and of many files" {
	PATH=$installed/tables/bin:$PATH # pyarrow
	local all=(lake.jsonl) each n=0 table kind file count
	"$ROLLDBG" run --quiet --seed 42 --out lake.jsonl
	for format in openai inspect nemo-gym openenv-collect eval-protocol mini-swe-agent; do
		all+=("$root/fixtures/convert/$format"/in.*)
	done
	table() { # NAME.KIND FILE..
		"$ROLLDBG" convert --quiet --to "$table" --out "$1" "${@:2}"
		count=$("$ROLLDBG" convert --quiet --to "$table" "${@:2}" | wc -l)
		echo "$1" >>files
		echo "$1 $count $count $count $count" >>want
	}
	for table in steps rollouts; do
		for kind in jsonl csv parquet; do
			each=()
			for file in "${all[@]}"; do
				each+=("$table$((n += 1)).$kind")
				table "${each[-1]}" "$file"
			done
			table $table.$kind "${all[@]}"
		done
		echo "${each[@]}" >>files # many Parquet files together
		echo "${each[0]} $count $count $count $count" >>want
	done
	rows <files | diff want -
}
