#!/usr/bin/env bats
# Invalid command lines: exit 2, nothing on standard output, and a helpful message.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

@test "every option that a message names exists" {
	"$ROLLDBG" __spec | awk -F '\t' '$1 == "option" { print $4 }' | sort -u >options
	grep -rhoE '\\1[a-z_]+\\2' "$BATS_TEST_DIRNAME/../../src" | sed 's/^..//; s/..$//' | tr _ - | sort -u >settings
	grep -qx ignore settings
	comm -13 options settings >unknown
	[ ! -s unknown ] || { cat unknown; return 1; }
}

@test "every row of usage.tsv" {
	while IFS=$'\t' read -r line message; do
		case $line in '#'*) continue ;; esac
		read -ra words <<<"$line"
		expect 2 rolldbg "${words[@]}"
		[ -z "$output" ]
		has "$stderr" "$message"
	done <"$data/usage.tsv"
	# no run was started and recorded
	[ -z "$(find state -name '*.jsonl')" ]
}

@test "every command prints the version" {
	for command in run check show replay diff strip stats list convert debug shrink bisect probe serve trust schema help; do
		expect 0 rolldbg $command --version
		[[ $output =~ ^rolldbg\ [0-9.]+$ ]]
	done
}

@test "no command: usage, exit 2" {
	expect 2 rolldbg
	has "$stderr" 'no command given; available: run, check, show, '
	has "$stderr" 'usage: rolldbg [GLOBAL OPTIONS] COMMAND [OPTIONS] [OPERANDS]'
}

@test "the usage below an error is that of the command" {
	expect 2 rolldbg check --nope
	has "$stderr" 'usage: rolldbg check [OPTIONS] [FILE|DIR...]'
	has "$stderr" 'see rolldbg help check'
}

@test "an error that is not about syntax is not followed by the usage" {
	: >a.jsonl
	expect 2 rolldbg run --out a.jsonl
	[ "$stderr" = 'rolldbg: run: a.jsonl exists; use --force to overwrite it' ]
}

@test "escape sequences in a value are printed escaped" {
	expect 2 rolldbg run --env $'\e]0;owned\a\e[2J'
	lacks "$stderr" $'\e'
	has "$stderr" '\x1b]0;owned\x07'
}

@test "an invalid MAX_CONCURRENT_ENVS is refused at the start, and quoted" {
	for value in abc 0 -1 1.5 '' ' 3' 99999999999999999999; do
		for command in 'serve --port 0' run 'run --env builtin:frozen_lake'; do
			read -ra words <<<"$command"
			MAX_CONCURRENT_ENVS=$value expect 2 rolldbg "${words[@]}"
			[ -z "$output" ]
			has "$stderr" "MAX_CONCURRENT_ENVS is '$value', not a positive integer"
		done
	done
}

@test "MAX_CONCURRENT_ENVS is ignored where no environment is served" {
	canned peer <<<''
	MAX_CONCURRENT_ENVS=abc expect 0 rolldbg run --env "$url" --actions X --force-call --max-turns 0
	MAX_CONCURRENT_ENVS=abc expect 0 rolldbg show
}

@test "without policy and actions: the lake has a default, elsewhere the tools are listed" {
	expect 0 rolldbg run
	expect 0 rolldbg run --env 'builtin:frozen_lake?map=8x8'
	canned peer <<-'END'
		tools/list	{"tools":[{"name":"jump","inputSchema":{"type":"object"}},{"name":"duck","inputSchema":{"type":"object"}}]}
	END
	expect 2 rolldbg run --env "$url" --out new.jsonl
	has "$stderr" "no policy: use --call 'TOOL key=value', --actions A,B,C or --policy FILE (or random:SEED); available tools: jump, duck"
	[ ! -e new.jsonl ]
	expect 2 rolldbg run --env "$url" --actions up
	has "$stderr" 'jump, duck'
}

@test "an empty operand, as from an unset variable, is a usage error" {
	for command in check show replay diff strip stats convert debug shrink bisect serve trust schema help; do
		expect 2 rolldbg "$command" ''
		has "$stderr" "rolldbg: $command: operand 1 is empty"
	done
	expect 2 rolldbg check a.jsonl ''
	has "$stderr" 'operand 2 is empty'
}

@test "a value that is not UTF-8: only names of files may be" {
	expect 2 rolldbg run --task $'a\xff' --out a.jsonl
	has "$stderr" '--task: the value is not valid UTF-8'
	expect 2 rolldbg run --actions $'\xfe'
	has "$stderr" '--actions: the value is not valid UTF-8'
	[ ! -e a.jsonl ]
	expect 0 rolldbg run --quiet --out $'a\xff.jsonl'
	expect 0 rolldbg check $'a\xff.jsonl'
}

@test "serve: a name with an extension is that of a file" {
	expect 3 rolldbg serve --port 0 run.json
	has "$stderr" 'cannot read run.json: No such file or directory'
	expect 2 rolldbg serve --port 0 'lake?delay=0.5'
	has "$stderr" "unknown built-in environment 'lake'"
}

@test "a URL as operand or without its scheme: what was meant" {
	expect 2 rolldbg run http://127.0.0.1:8000/mcp
	has "$stderr" "unexpected operand 'http://127.0.0.1:8000/mcp'; did you mean '--env URL'?"
	expect 2 rolldbg show a.jsonl http://127.0.0.1:8000
	[[ $stderr != *'did you mean'* ]]
	expect 2 rolldbg run --env 127.0.0.1:8000/mcp
	has "$stderr" "a URL begins with its scheme; did you mean 'http://127.0.0.1:8000/mcp'?"
	expect 2 rolldbg run --env localhost
	has "$stderr" "did you mean 'http://localhost'?"
	expect 2 rolldbg run --env staging
	has "$stderr" "unsupported environment 'staging': expected ws(s)://HOST, http(s)://HOST (openenv), "
}
