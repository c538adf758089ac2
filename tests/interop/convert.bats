#!/usr/bin/env bats
# What rolldbg convert writes, read by the programs whose format it is.

# shellcheck disable=SC2154 # what bats sets

bats_require_minimum_version 1.5.0
load lib

# valid_atif FILE..: for PyPI's atif, which leaves the order of the steps and the ids of their calls unchecked.
valid_atif() {
	"$installed/formats/bin/python" - "$@" <<-'END'
		import sys, atif
		for path in sys.argv[1:]:
		    with open(path) as file:
		        steps = atif.Trajectory.model_validate_json(file.read()).steps
		    assert [step.step_id for step in steps] == list(range(1, len(steps) + 1)), path
		    for step in steps:
		        ids = [call.tool_call_id for call in step.tool_calls or []]
		        results = step.observation.results if step.observation else []
		        assert len(ids) == len(set(ids)), path
		        assert all(result.source_call_id in ids for result in results), path
	END
}

@test "ATIF: of a run, and of every format that is read" {
	"$ROLLDBG" run --quiet --out lake.jsonl
	"$ROLLDBG" convert --quiet lake.jsonl --to atif --out lake.json
	valid_atif lake.json
	for file in "$root"/fixtures/convert/*/in.*; do
		[[ $file != */map/* ]] || continue
		rm -rf written
		"$ROLLDBG" convert --quiet "$file" --to atif --out written/
		valid_atif written/*.json
	done
}
