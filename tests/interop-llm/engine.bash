# Starts the inference engine, and runs the llm policy on the lake; uses the functions of ../interop/lib.bash.
# shellcheck shell=bash disable=SC2154 # variables of ../interop/lib.bash

bats_require_minimum_version 1.5.0
load ../interop/lib

engine=$root/.deps/interop-llm

# engine_start NAME [OPTIONS..]: llama-cpp-python's server with the model that plays the lake.
engine_start() {
	local name=$1 dir=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}
	shift
	[ -e "$BATS_FILE_TMPDIR/lake.gguf" ] ||
		"$engine/venv/bin/python" "$servers/lake_model.py" "$BATS_FILE_TMPDIR/lake.gguf"
	server_start "$name" env HOME="$BATS_FILE_TMPDIR" "$engine/venv/bin/python" -m llama_cpp.server \
		--model "$BATS_FILE_TMPDIR/lake.gguf" --model_alias lake --host 127.0.0.1 --port 0 --n_ctx 16384 \
		--n_threads 1 --n_threads_batch 1 --logits_all true --verbose false "$@" || return
	sed -i 's|/mcp$|/v1|' "$dir/$name.url"
}

# ask ENGINE NAME EXIT_CODE OPTIONS..: drive, with the engine's model as the policy.
ask() {
	local server=$1 name=$2 code=$3
	shift 3
	[[ " $* " == *" --policy "* ]] || set -- "$@" --policy llm
	[[ " $* " == *" --profile "* ]] || set -- "$@" --profile llamacpp
	drive "$name" "$code" "$@" --base-url "$(url "$server")" --model lake
}

# in_vain ENGINE NAME EXIT_CODE OPTIONS..: the same without `check`, for a model that refuses or is unreachable.
in_vain() {
	local server=$1 name=$2 code=$3 got=0
	shift 3
	"$ROLLDBG" run --json --out "$name.jsonl" --policy llm --base-url "$(url "$server")" --model lake "$@" \
		>"$name.json" 2>"$name.err" || got=$?
	same_code "$name" "$code" "$got"
}

# sampling JSON: writes a policy file with these sampling parameters and prints its name.
sampling() {
	jq -n --argjson sampling "$1" '{kind: "llm", name: "sampled", $sampling}' >policy.json
	echo policy.json
}

# played NAME [RULE..]: every turn has one executed call; the rollout ended by termination or the turn limit; and the only
# findings are those of a random walk and of these rules.
played() {
	local name=$1 found
	shift
	holds "$name" 'steps | length > 0 and all(.outcome == "ok" and .tool_call.name == "lake_move")'
	holds "$name" 'steps | map(.step) == [range(length)] and map(.turn) == map(.step)'
	holds "$name" 'ending | .status == "terminated" or .status == "max-turns"'
	found=$(findings "$name" | cut -d ' ' -f 1 | grep -vxE 'loop|frozen-state|zero-variance-group' | xargs)
	[ "$found" = "$*" ] || {
		echo "$name: findings '$found', not '$*'"
		return 1
	}
}

same_walk() {
	diff <(jq -c 'select(.type == "step") | .tool_call.arguments' "$1.jsonl") \
		<(jq -c 'select(.type == "step") | .tool_call.arguments' "$2.jsonl")
}
