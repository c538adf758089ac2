#!/usr/bin/env bats
# rolldbg schema and its table of results: --json prints the members in the table. (make interop checks the output with a
# JSON Schema validator.)

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# as_listed COMMAND: each line of $output has the members that __spec lists for its type, in that order.
as_listed() {
	local type wanted got
	[ -n "$output" ]
	while IFS=$'\t' read -r type got; do
		wanted=$(awk -F '\t' -v command="$1" -v type="$type" '
			$1 == "result" { on = index("," $2 ",", "," command ",") && $3 == type }
			$1 == "member" && on { printf "%s ", $3 }' listed)
		[ "$got" = "$wanted" ] || {
			printf '%s: %s line\nhas:  %s\nlist: %s\n' "$1" "$type" "$got" "$wanted" >&2
			return 1
		}
	done < <(jq -r '[.type, (keys_unsorted - ["type"] | map(. + " ") | add // "")] | @tsv' <<<"$output" | sed 's/rollouts tasks .*//' | sort -u)
}

@test "every JSON line has its members in order" {
	rolldbg __spec >listed
	expect 1 rolldbg run --env 'builtin:frozen_lake?fault=fallback-session&max_envs=3' --policy random:7 --max-turns 10 --json --out a.jsonl
	as_listed run
	expect 1 rolldbg check --json a.jsonl
	as_listed check
	rolldbg run --quiet --out good.jsonl
	expect 1 rolldbg diff --json a.jsonl good.jsonl
	as_listed diff
	expect 0 rolldbg replay --json good.jsonl
	as_listed replay
	expect 1 rolldbg bisect --json good.jsonl --env builtin:frozen_lake --env 'builtin:frozen_lake?fault=drop-iserror'
	as_listed bisect
	rolldbg run --quiet --env builtin:desk --policy "$root/policies/desk-tidy.json" --state tool:get_task --out still.jsonl --fail-on never
	expect 0 rolldbg shrink --json still.jsonl --env builtin:desk --state tool:get_task --rule frozen-state
	as_listed shrink
	expect 0 rolldbg stats --by task --json a.jsonl
	as_listed stats
	expect 0 rolldbg stats --compare --json a.jsonl good.jsonl
	as_listed stats
	bad='builtin:frozen_lake?fault=drop-iserror&max_envs=9'
	expect 0 rolldbg shrink --divergence good.jsonl --env "$bad" --json
	as_listed shrink
	expect 1 rolldbg bisect good.jsonl --env builtin:frozen_lake --env "$bad" --json
	as_listed bisect
	rolldbg run --quiet
	expect 0 rolldbg list --json
	as_listed list
	expect 0 rolldbg show --json a.jsonl
	as_listed show
	canned tools <<<$'resources/list\t{"resources":[{"uri":"note:///a"}]}'
	expect 0 rolldbg tools --env "$url" --json
	as_listed tools
	expect 0 rolldbg probe --json
	sed -i '/^member.*model_requests/d' listed
	as_listed probe
	for arguments in 'check --list' 'check --explain kl-band' 'convert --list'; do
		# shellcheck disable=SC2086 # words
		expect 0 rolldbg $arguments --json
		as_listed "${arguments%% *}"
		[ "$(jq -s '.[-1] == {type: "listing", listed: (length - 1)}' <<<"$output")" = true ]
	done
}

@test "a schema for recordings and for each command with --json lines" {
	expect 0 rolldbg schema
	[ "$(jq -r '."$schema"' <<<"$output")" = https://json-schema.org/draft/2020-12/schema ]
	[ "$(jq -r '."$defs".step.properties.outcome.enum | index("not-sent") != null' <<<"$output")" = true ]
	for name in $(rolldbg __spec | awk -F '\t' '$1 == "option" && $4 == "json" { print $2 }'); do
		expect 0 rolldbg schema "$name"
		jq -e '.required == ["type"] and (."$defs" | length > 0)' <<<"$output" >/dev/null
	done
}

@test "an unknown schema" {
	expect 2 rolldbg schema chek
	has "$stderr" "no schema for 'chek'; did you mean 'check'?"
	expect 2 rolldbg schema serve
	has "$stderr" "no schema for 'serve'; available: recording, run, check, "
}
