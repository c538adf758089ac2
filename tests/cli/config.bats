#!/usr/bin/env bats
# The project file, named environments and mcp.json.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# enter_project: writes the project file from standard input and changes to a directory below it.
enter_project() {
	mkdir -p project/below
	cat >project/.rolldbg.json
	cd project/below || return
}

@test "defaults of a command, from a directory above" {
	enter_project <<-'END'
		{"defaults": {
			"run": {"max_turns": 2, "seed": 9007199254740993, "quiet": true},
			"check": {"only": "loop"}
		}}
	END
	expect 0 rolldbg run --out a.jsonl
	[ -z "$output" ]
	# jq would round the seed to a double
	has "$(head -n 1 a.jsonl)" '"seed":9007199254740993,'
	[ "$(jq -c 'select(.type == "header") | .limits.max_turns' a.jsonl)" = 2 ]
	# the command line overrides the file
	expect 0 rolldbg run --out b.jsonl --max-turns 3 --no-quiet --seed 8
	[ -n "$output" ]
	[ "$(jq -c 'select(.type == "header") | [.seed, .limits.max_turns]' b.jsonl)" = '[8,3]' ]
	expect 0 rolldbg check "$root/fixtures/check/no-tools/"bad-*.jsonl
	ROLLDBG_CONFIG='' expect 1 rolldbg check "$root/fixtures/check/no-tools/"bad-*.jsonl
}

@test "a named environment: its settings override defaults, the command line overrides them" {
	enter_project <<-'END'
		{
			"environments": {
				"big": {"target": "builtin:frozen_lake?map=8x8", "seed": 3, "ignore": ["/a", "/b"], "mask": "/state/c", "timeout": "9s"}
			},
			"defaults": {"run": {"env": "big", "seed": 1, "ignore": "/first"}, "probe": {"env": "big"}}
		}
	END
	expect 0 rolldbg run --quiet --actions DOWN,DOWN --ignore /last --out a.jsonl
	[ "$(jq -c 'select(.type == "header") | [.seed, .limits.timeout_ms, .masks]' a.jsonl)" = '[3,9000,["/state/c"]]' ]
	[ "$(jq -c 'select(.type == "header") | .state_source.ignore - ["/first","/a","/b","/last"] == .state_source.ignore' a.jsonl)" = false ]
	[ "$(jq -c 'select(.type == "step") | .state.position' a.jsonl | tr '\n' ' ')" = '0 8 ' ]
	# probe has no --mask: the setting is ignored
	expect 0 rolldbg probe --quiet --sessions 2
	expect 0 rolldbg --print-config run --seed 5 --ignore /last
	before=$output
	expect 0 rolldbg run --print-config --seed 5 --ignore /last
	[ "$output" = "$before" ]
	has "$output" "# project file: ${PWD%/below}/.rolldbg.json"
	has "$output" 'big = builtin:frozen_lake?map=8x8  # '
	has "$output" 'seed             5  # command line'
	lacks "$output" 'seed             3'
	has "$output" 'ignore           /b  # '
	has "$output" 'ignore           /last  # command line'
	has "$output" 'timeout          9s  # '
	has "$output" '.rolldbg.json:3'
	[ -z "$(find "$XDG_STATE_HOME" -name '*.jsonl')" ]
}

@test "headers from variables are sent, but never shown" {
	enter_project <<-'END'
		{"environments": {"here": {
			"target": "${URL}",
			"headers": {"Authorization": "Bearer ${TOKEN}", "X-Plain": "${PLAIN:-nothing}"}
		}}}
	END
	start serve "$ROLLDBG" serve --port 0
	export URL=$url TOKEN=a-very-secret-token
	expect 0 rolldbg trust
	expect 0 rolldbg run --env here --actions DOWN --print-config
	# shellcheck disable=SC2016 # the literal text of the file
	has "$output" 'Authorization: Bearer ${TOKEN}'
	lacks "$output" very-secret
	expect 0 rolldbg run --env here --actions DOWN --out a.jsonl -vv
	lacks "$output$stderr$(cat a.jsonl)" very-secret
	unset TOKEN
	expect 3 rolldbg run --env here --actions DOWN
	has "$stderr" '.rolldbg.json:3: environments.here: "Authorization": the variable TOKEN is not set'
	# an unused environment may refer to unset variables
	expect 0 rolldbg run --quiet --env builtin:frozen_lake
	echo '{"environments": {"lake": {"target": "builtin:frozen_lake", "headers": null}}}' >.rolldbg.json
	rolldbg trust >/dev/null
	expect 0 rolldbg run --quiet --env lake
}

@test "mcp.json: servers of MCP clients are environments" {
	cat >server <<-'END'
		#!/bin/sh
		[ "$1 $2 $API_KEY" = "it's a\$b sesame-open" ] || { echo "wrong: $*" >&2; exit 1; }
		while read -r line; do
			id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
			case $line in
			*'"initialize"'*) reply='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
			*'"tools/list"'*) reply='"result":{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"move":{"type":"string"}}}}]}' ;;
			*'"tools/call"'*) reply='"result":{"content":[{"type":"text","text":"moved"}]}' ;;
			*) reply='"error":{"code":-32601,"message":"no such method"}' ;; # silence would cost the whole --timeout
			esac
			[ -z "$id" ] || echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$reply}"
		done
	END
	chmod +x server
	cat >mcp.json <<-'END'
		{"inputs": [], "mcpServers": {
			"local": {"type": "stdio", "command": "./server", "args": ["it's", "a$b"], "env": {"API_KEY": "${KEY}"}},
			"remote": {"type": "http", "url": "${URL}", "headers": {"X-Key": "${env:KEY}"}, "disabled": false}
		}}
	END
	start serve "$ROLLDBG" serve --port 0
	export URL=$url KEY=sesame-open
	expect 0 rolldbg trust mcp.json
	expect 0 rolldbg run --env mcp.json#local --actions up --out a.jsonl --fail-on never
	[ "$(jq -r 'select(.type == "step") | .outcome' a.jsonl)" = ok ]
	lacks "$(cat a.jsonl)" sesame
	expect 0 rolldbg run --env mcp.json#remote --actions DOWN --out b.jsonl
	lacks "$(cat b.jsonl)" sesame
	echo '{"environments": {"mine": {"target": "mcp.json#remote", "seed": 9}}}' >.rolldbg.json
	expect 0 rolldbg run --env mine --actions DOWN --out c.jsonl
	[ "$(jq -r 'select(.type == "header") | .seed' c.jsonl)" = 9 ]
	expect 3 rolldbg run --env mcp.json#remot
	has "$stderr" "mcp.json:1: no server \"remot\"; did you mean 'remote'?"
	expect 3 rolldbg run --env other.json#remote
	has "$stderr" 'configuration other.json does not exist'
	echo '{}' >empty.json
	expect 3 rolldbg run --env empty.json#x
	has "$stderr" 'empty.json:1: "mcpServers" is missing'
	echo '{"servers": {"x": {"type": "http"}}}' >empty.json
	expect 3 rolldbg run --env empty.json#x
	has "$stderr" 'empty.json:1: x: "url" or "command" is missing'
}

# expect_refused TEXT MESSAGE: commands fail with that message on a project file with that text, but not --help.
expect_refused() {
	printf '%s\n' "$1" >.rolldbg.json
	expect 3 rolldbg check "$root/fixtures/recordings/good.jsonl" --config .rolldbg.json
	has "$stderr" "$2"
	expect 0 rolldbg check --help --config .rolldbg.json
}

@test "an invalid file: the line and the nearest name are reported" {
	expect_refused '{' '.rolldbg.json:1:2: '
	expect_refused '[]' 'must be an object, not an array'
	expect_refused '{"environments": []}' '"environments" must be an object, not an array'
	expect_refused '{"defaults": "run"}' '"defaults" must be an object, not "run"'
	expect_refused $'{\n"environment": {}}' ".rolldbg.json:2: unknown key \"environment\"; did you mean 'environments'?"
	expect_refused $'{"defaults": {\n"chek": {}}}' ".rolldbg.json:2: defaults: unknown command \"chek\"; did you mean 'check'?"
	expect_refused $'{"defaults": {"check":\n{"fail-on": "error"}}}' ".rolldbg.json:2: defaults.check: unknown key \"fail-on\"; did you mean 'fail_on'?"
	expect_refused $'{"defaults": {"check":\n{"fail_on": "worst"}}}' ".rolldbg.json:2: defaults.check: --fail-on: expected one of error|warning|info|never, got 'worst'"
	expect_refused $'{"defaults": {"check": {"jobs":\n[1]}}}' '.rolldbg.json:2: defaults.check: "jobs" must be one value, not an array'
	expect_refused $'{"defaults": {"check": {\n"verify": 1}}}' '.rolldbg.json:2: defaults.check: "verify" must be true or false, not 1'
	expect_refused '{"description": "a\u0000b"}' '.rolldbg.json:1:19: a NUL or lone surrogate, or a number of over 63 bytes'
	expect_refused $'{\n"description": "\\ud800"}' '.rolldbg.json:2:17: a NUL'
	expect_refused '{"environments": {"a": {"target": "builtin:lake", "target": "builtin:desk"}}}' 'environments.a: duplicate key "target"'
	# types are checked whatever the command, and before anything else
	while IFS=$'\t' read -r settings message; do
		expect_refused "{\"defaults\": {\"run\":"$'\n'"$settings}}" ".rolldbg.json:2: defaults.run: $message"
	done <<-'END'
		{"out": 3}	"out" must be a string, not 3
		{"env": ["a"]}	"env" must be one value, not an array
		{"actions": true}	"actions" must be a string, not true
		{"max_turns": {}}	"max_turns" must be a number, not an object
		{"max_turns": true}	"max_turns" must be a number, not true
		{"timeout": 30}	"timeout" must be a duration such as "30s", not 30
		{"ignore": ["/a", 1]}	"ignore" must be a string, or an array of strings, not 1
		{"ignore": {}}	"ignore" must be a string, or an array of strings, not an object
		{"fail_on": 1}	"fail_on" must be a string, not 1
		{"insecure": "yes"}	"insecure" must be true or false, not "yes"
		{"reset_json": 7}	"reset_json" must be an object, not 7
		{"verbose": true}	"verbose" must be a number, not true
		{"quiet": 1}	"quiet" must be true or false, not 1
	END
	expect_refused $'{"environments": {"x": {"target":\n3}}}' '.rolldbg.json:2: environments.x: "target" must be a string, not 3'
	expect_refused $'{"environments": {"x": {"target": "a",\n"headers": []}}}' '.rolldbg.json:2: environments.x: "headers" must be an object, not an array'
	expect_refused $'{"environments": {"x": {"target": "a",\n"headers": {"X-A": 3}}}}' '.rolldbg.json:2: environments.x: "X-A" must be a string, not 3'
	expect_refused $'{"environments": {"x": {"target": "a", "out": 3}}}' 'environments.x: "out" must be a string, not 3'
	expect_refused $'{"environments": {"x": {"target": "a", "description": 3}}}' 'environments.x: "description" must be a string, not 3'
	echo '{"defaults": {"check": {"jobs": null, "only": null}}}' >.rolldbg.json
	expect 0 rolldbg check "$root/fixtures/recordings/good.jsonl"
	expect_refused $'{"environments": {"x": {}}}' '.rolldbg.json:1: environments.x: "target" is missing'
	expect_refused $'{"environments": {"x": {"target": "a", "timeot": "3s"}}}' "environments.x: unknown key \"timeot\"; did you mean 'timeout'?"
	echo '{"environments": {"staging": {"target": "builtin:frozen_lake"}}}' >.rolldbg.json
	expect 2 rolldbg run --env stagin
	has "$stderr" "unknown environment 'stagin': neither a target nor a name in "
	has "$stderr" "did you mean 'staging'?"
	ROLLDBG_CONFIG=nowhere expect 3 rolldbg check
	has "$stderr" 'configuration nowhere: '
}
