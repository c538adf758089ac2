#!/usr/bin/env bats
# The schemas of `rolldbg schema` match what the program writes and reads, checked by a validator from PyPI.

# shellcheck disable=SC2154 # variables of bats
load lib

bats_require_minimum_version 1.5.0

# validate [--closed] NAME FILE..: every line is valid by `rolldbg schema NAME`; with --closed, unknown keys are invalid.
validate() {
	local -a how=()
	if [ "$1" = --closed ]; then
		how=("$1")
		shift
	fi
	local name=$1
	shift
	"$ROLLDBG" schema "$name" >"$name.schema"
	run "$installed/gym/bin/python" "$root/tests/interop/validate.py" "${how[@]}" "$name.schema" "$@"
	[ "$status" = 0 ] || {
		printf '%s\n' "$output" | head -n 20 >&2
		return 1
	}
	[ "${lines[-1]}" != '0 valid' ]
}

# validate_output CODE NAME ARGUMENTS..: the --json output of a command, which must exit with CODE, is valid.
validate_output() {
	local code=$1 name=$2
	shift 2
	run -"$code" --separate-stderr "$ROLLDBG" "$name" --json "$@"
	printf '%s\n' "$output" >"$name.lines"
	validate --closed "$name" "$name.lines"
}

# Fixtures may have keys of later versions, so --closed is not used.
@test "every readable recording, whole and stripped" {
	mkdir whole stripped
	for file in "$root"/fixtures/check/*/*.jsonl "$root"/fixtures/recordings/good.jsonl; do
		name=$(basename "$(dirname "$file")")-$(basename "$file")
		"$ROLLDBG" strip "$file" >"stripped/$name" 2>/dev/null || rm "stripped/$name"
		[ ! -f "stripped/$name" ] || ! jq -c . "$file" >"whole/$name" 2>/dev/null || continue
		rm -f "whole/$name" # its last line is truncated
	done
	[ "$(find whole -type f | wc -l)" -gt 100 ]
	validate recording whole/*.jsonl
	validate recording stripped/*.jsonl
}

@test "recordings of runs, and the JSON lines of the commands" {
	validate_output 0 run --seed 42 --out good.jsonl
	validate_output 1 run --env 'builtin:frozen_lake?fault=fallback-session&max_envs=3' --policy random:7 --max-turns 10 --out bad.jsonl
	validate_output 0 run --env 'builtin:frozen_lake?protocol=openenv' --out openenv.jsonl
	run -4 "$ROLLDBG" run --env http://127.0.0.1:9/mcp --actions UP --json --out none.jsonl
	echo '{"then": "last", "replies": [{"text": "I will go DOWN now."}]}' >talk.json
	"$ROLLDBG" serve llm talk.json --port 0 >model.log 3>&- &
	echo $! >model.pid
	until grep -q listening model.log; do sleep 0.1; done
	validate_output 1 run --policy llm --model m --base-url "http://$(sed 's/.* //' model.log)/v1" --max-turns 2 --out model.jsonl
	validate --closed recording ./*.jsonl
	validate_output 1 check good.jsonl bad.jsonl model.jsonl
	validate_output 1 diff good.jsonl bad.jsonl
	validate_output 0 replay good.jsonl
	validate_output 1 replay --env 'builtin:frozen_lake?fault=drop-iserror' good.jsonl
	validate_output 0 shrink --divergence good.jsonl --env 'builtin:frozen_lake?fault=drop-iserror'
	validate_output 1 bisect good.jsonl --env builtin:frozen_lake --env 'builtin:frozen_lake?fault=drop-iserror'
	validate_output 0 stats --by task good.jsonl bad.jsonl
	validate_output 0 stats --compare good.jsonl bad.jsonl
	XDG_STATE_HOME=$PWD/state "$ROLLDBG" run --quiet
	XDG_STATE_HOME=$PWD/state validate_output 0 list
	validate_output 0 probe
	validate_output 1 probe --env 'builtin:frozen_lake?max_envs=3' --sessions 8
}

@test "an invalid line is noticed" {
	"$ROLLDBG" run --quiet --out good.jsonl
	# shellcheck disable=SC2094 # "schema" is a command and then a file
	"$ROLLDBG" schema >schema
	for change in '.type = "step" | .turn = "0"' '.outcome = "fine"' '.tool_call.name = 1' '.version = 2' 'del(.rollout)'; do
		jq -c "$change" good.jsonl >wrong.jsonl
		run "$installed/gym/bin/python" "$root/tests/interop/validate.py" schema wrong.jsonl
		[ "$status" = 1 ]
	done
}
