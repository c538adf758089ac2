#!/usr/bin/env bats
# What a file may set that the user did not name: a clone is safe to inspect, and asks before it acts.

# shellcheck disable=SC2016,SC2154 # texts of files, not expansions; variables of lib.bash and of bats
load lib

# clone TEXT: a clone with that project file (a literal \n begins a line), and with a recording and a golden.
clone() {
	cd "$BATS_TEST_TMPDIR" || return
	rm -rf clone
	mkdir clone
	cp "$root/fixtures/recordings/good.jsonl" clone/golden.jsonl
	cp clone/golden.jsonl clone/file
	cd clone || return
	project "$1"
}

project() {
	printf '%b\n' "$1" >.rolldbg.json
}

# unharmed: what the hostile files of the tests try to do did not happen.
unharmed() {
	[ ! -e pwned ] && [ ! -e golden.jsonl.new ]
	cmp golden.jsonl "$root/fixtures/recordings/good.jsonl"
	cmp file golden.jsonl
}

@test "a hostile clone: what acts is refused, with file, line, setting and the cure" {
	export AWS_SECRET_ACCESS_KEY=a-secret-of-the-user
	while IFS=$'\t' read -r command setting class text; do
		clone "{\"defaults\": {\"${command%% *}\":\n{$text}}}"
		read -ra words <<<"$command"
		expect 2 rolldbg "${words[@]}" </dev/null
		[ -z "$output" ]
		has "$stderr" "$PWD/.rolldbg.json:2: defaults.${words[0]}: \"$setting\" needs trust ($class): rolldbg trust $PWD/.rolldbg.json"
		unharmed
		# the command line does not excuse it, and a file that was named may do it
		expect 0 rolldbg --config .rolldbg.json "${words[@]}" --print-config
	done <<-'END'
		run	env	power	"env": "stdio:touch pwned"
		run	env	power	"env": "verifiers:touch pwned"
		probe	env	power	"env": "stdio:touch pwned"
		replay golden.jsonl	env	power	"env": "stdio:touch pwned"
		debug golden.jsonl	env	power	"env": "stdio:touch pwned"
		shrink golden.jsonl --rule loop	env	power	"env": "stdio:touch pwned"
		bisect golden.jsonl	env	power	"env": ["builtin:frozen_lake", "stdio:touch pwned"]
		run	env	reach	"env": "http://127.0.0.1:9/mcp"
		run	env	power	"env": "http://127.0.0.1:9/${AWS_SECRET_ACCESS_KEY}"
		run	header	power	"header": ["X-A: b", "X-Key: ${AWS_SECRET_ACCESS_KEY}"]
		run	header	power	"header": "@/etc/hostname"
		run	header	reach	"header": "X-A: b"
		run	header_env	power	"header_env": "X-Key=AWS_SECRET_ACCESS_KEY"
		run	pass_env	power	"pass_env": "AWS_SECRET_ACCESS_KEY"
		run	reset_json	reach	"reset_json": {"a": 1}
		run	state	reach	"state": "tool:delete_everything"
		run	task	power	"task": "${AWS_SECRET_ACCESS_KEY}"
		run	base_url	reach	"base_url": "http://127.0.0.1:9/v1"
		run	key_env	power	"key_env": "AWS_SECRET_ACCESS_KEY", "base_url": "http://127.0.0.1:9/v1"
		run	policy	reach	"policy": "llm"
		run	insecure	power	"insecure": true
		run	out	power	"out": "file"
		run	append	power	"append": true
		run	report	power	"report": ["table", "junit:file"]
		replay golden.jsonl	report	power	"report": "sarif:golden.jsonl"
		debug golden.jsonl	ex	power	"ex": "save pwned"
		debug golden.jsonl	command_file	power	"command_file": "file"
		serve --port 0	bind	reach	"bind": "0.0.0.0"
	END
}

@test "a hostile clone: force, accept and key variables come from no file that was found, trusted or not" {
	while IFS=$'\t' read -r command setting option text; do
		clone "{\"defaults\": {\"${command%% *}\":\n{$text}}}"
		read -ra words <<<"$command"
		for trusted in no yes; do
			[ $trusted = no ] || expect 0 rolldbg trust
			expect 2 rolldbg "${words[@]}"
			has "$stderr" ".rolldbg.json:2: defaults.${words[0]}: \"$setting\" is not taken from a file that was found: use --$option, or name the file with --config"
			unharmed
		done
	done <<-'END'
		run --out file	force	force	"force": true
		replay golden.jsonl	accept	accept	"accept": true
		replay golden.jsonl	update	update	"update": "all"
		shrink golden.jsonl --rule loop	force	force	"force": true
		run --policy llm	allow_key_env	allow-key-env	"allow_key_env": "AWS_SECRET_ACCESS_KEY"
		run	config	config	"config": "file"
	END
}

@test "a hostile clone: an environment's target, headers and settings" {
	export AWS_SECRET_ACCESS_KEY=a-secret-of-the-user
	clone '{"environments": {\n"a": {"target": "stdio:touch pwned"},
		"b": {"target": "builtin:frozen_lake",\n"headers": {"X-Key":\n"${AWS_SECRET_ACCESS_KEY}"}},
		"c": {"target": "builtin:frozen_lake", "out": "file"},
		"d": {"target": "mcp.json#x"}, "safe": {"target": "builtin:frozen_lake", "seed": 7, "timeout": "9s"}}}'
	echo '{"mcpServers": {"x": {"command": "touch", "args": ["pwned"]}}}' >mcp.json
	for command in run probe; do
		expect 2 rolldbg $command --env a
		has "$stderr" '.rolldbg.json:2: environments.a: "target" needs trust (power): rolldbg trust '
		expect 2 rolldbg $command --env b
		has "$stderr" '.rolldbg.json:5: environments.b: "X-Key" needs trust (power): rolldbg trust '
		expect 2 rolldbg $command --env d
		has "$stderr" 'mcp.json:1: x: "command" needs trust (power): rolldbg trust mcp.json'
		expect 2 rolldbg $command --env mcp.json#x
		has "$stderr" 'mcp.json:1: x: "command" needs trust (power): rolldbg trust mcp.json'
	done
	expect 2 rolldbg run --env c
	has "$stderr" 'environments.c: "out" needs trust (power)'
	unharmed
	expect 0 rolldbg run --quiet --env safe --out ../safe.jsonl
	[ "$(jq -c 'select(.type == "header") | [.seed, .limits.timeout_ms]' ../safe.jsonl)" = '[7,9000]' ]
	# a file named with --config vouches for the files that it names, but not for those named elsewhere
	expect 0 rolldbg --config .rolldbg.json run --env d --print-config
	expect 2 rolldbg --config .rolldbg.json run --env mcp.json#x
	unharmed
}

@test "a hostile clone: commands that look take harmless settings only, and are not stopped" {
	expect 0 rolldbg run --quiet --seed 42
	clone ''
	rolldbg strip golden.jsonl >../stripped
	mkfifo pipe # reading it would wait for ever
	while IFS=$'\t' read -r command setting text; do
		project "{\"unknown\": 1, \"defaults\": {\"${command%% *}\":\n{\"unknown\": 1, \"quiet\": true, $text}}}"
		read -ra words <<<"$command"
		expect 0 rolldbg "${words[@]}"
		has "$stderr" ".rolldbg.json:2: defaults.${words[0]}: \"$setting\" "
		unharmed
		expect 0 rolldbg "${words[@]}" --print-config
		lacks "$output" "$setting "
		has "$output" 'quiet            true'
	done <<-'END'
		strip golden.jsonl	mask	"mask": ["/state", "/observation"]
		list	prune	"prune": "1h"
		list	prune	"prune": ["1h"]
		check golden.jsonl	report	"report": "junit:file"
		check golden.jsonl	html	"html": "file"
		check golden.jsonl	verify	"verify": 3
		stats golden.jsonl	html	"html": "file"
		show golden.jsonl	html	"html": "file"
		diff golden.jsonl file	html	"html": "pwned"
		convert golden.jsonl	out	"out": "file"
		convert golden.jsonl	force	"force": true
		check golden.jsonl	list	"list": true
		check golden.jsonl	explain	"explain": "loop"
		check golden.jsonl	baseline	"baseline": "pipe"
		check golden.jsonl	trainer_logprobs	"trainer_logprobs": "pipe"
		check golden.jsonl	jobs	"jobs": {}
		show golden.jsonl	turn	"turn": 99
		show golden.jsonl	rollout	"rollout": "nothing"
		show golden.jsonl	prompt	"prompt": true
		diff golden.jsonl file	rollout	"rollout": "nothing"
		stats golden.jsonl	merge	"merge": true
		stats golden.jsonl	partial	"partial": true
		stats golden.jsonl file	compare	"compare": true
		stats golden.jsonl	trainer_logprobs	"trainer_logprobs": "pipe"
		convert golden.jsonl	list	"list": true
		convert golden.jsonl	from	"from": "atif"
		convert golden.jsonl	to	"to": "atif"
		convert golden.jsonl	rollout	"rollout": "nothing"
	END
	# what is wrong leaves the default
	for value in 0 '"x"' '"-1"' '"99999999999999999999"'; do
		project "{\"defaults\": {\"check\": {\"jobs\": $value, \"min_effective\": $value}, \"strip\": {\"jobs\": $value}}}"
		expect 0 rolldbg check golden.jsonl
		has "$stderr" '.rolldbg.json:1: defaults.check: --jobs: '
		expect 0 rolldbg strip golden.jsonl
		printf '%s\n' "$output" | cmp - ../stripped
	done
	project '{"defaults": {"check": {"fail_on": "worst", "only": "loop"}}}'
	expect 0 rolldbg check golden.jsonl --print-config
	has "$stderr" '.rolldbg.json:1: defaults.check: --fail-on: expected one of error'
	has "$output" 'only             loop  # '
	project '{"defaults": {"strip": {"mask": "/state"}}}'
	expect 0 rolldbg strip golden.jsonl
	printf '%s\n' "$output" | cmp - ../stripped
	[ "$(find "$XDG_STATE_HOME" -name '*.jsonl' ! -type l | wc -l)" = 1 ]
	# not even if it is trusted
	expect 0 rolldbg trust
	has "$output" '"mask" = "/state" (never taken from a file that was found)'
	expect 0 rolldbg strip golden.jsonl
	has "$stderr" '"mask" is not taken from a file that was found: use --mask, or name the file with --config'
	printf '%s\n' "$output" | cmp - ../stripped
	# what only the command finds wrong is passed over with the rest of its defaults
	while IFS=$'\t' read -r command text why; do
		project "{\"defaults\": {\"${command%% *}\": {$text}}}"
		read -ra words <<<"$command"
		expect 0 rolldbg "${words[@]}"
		has "$stderr" "ignored: " "/.rolldbg.json: defaults.${words[0]}: $why"
	done <<-'END'
		check golden.jsonl	"only": "no-such-rule"	--only: unknown rule 'no-such-rule'
		check golden.jsonl	"ignore": ["x"]	--ignore x: not a JSON Pointer
		check golden.jsonl	"max_environment_failures": "often"	--max-environment-failures: expected a share
		check golden.jsonl	"shard": "1/2"	--shard needs --partial
		diff golden.jsonl file	"tolerance": "x"	--tolerance: expected POINTER=NUMBER
		stats golden.jsonl	"max_environment_failures": "often"	--max-environment-failures: expected
	END
	# nor by a file that cannot be read
	for text in '{' '[]' '{"defaults": []}' '{"defaults": {"check": [1]}}' '{"environments": 1}'; do
		project "$text"
		expect 0 rolldbg check golden.jsonl
		expect 0 rolldbg help check
		[ -z "$(rolldbg __spec policies 2>&1 >/dev/null)" ]
	done
}

@test "trust: shows what the file asks for, and lets it until it changes" {
	clone '{"environments": {"here": {"target":\n"stdio:touch pwned", "headers": {"X-Key": "${KEY}"}, "seed": 3}},
		"defaults": {"run": {"out": "new.jsonl", "force": true, "max_turns": 2}, "check": {"jobs": 2}}}'
	expect 0 rolldbg trust --dry-run
	for line in '2: environments.here: "target" = "stdio:touch pwned" (power)' \
		'2: environments.here: "X-Key" = "${KEY}" (power)' '2: environments.here: "seed" = 3 (harmless)' \
		'3: defaults.run: "out" = "new.jsonl" (power)' '3: defaults.run: "force" = true (never taken from a file that was found)'; do
		has "$output" "$PWD/.rolldbg.json:$line"
	done
	before=$output
	expect 2 rolldbg run --env builtin:frozen_lake
	project '{"defaults": {"run": {"out": "new.jsonl", "max_turns": 2}}}'
	mkdir -p below/two
	cd below/two
	expect 0 rolldbg trust
	lacks "$before" 'trusted:'
	has "$output" "trusted: ${PWD%/below/two}/.rolldbg.json"
	expect 0 rolldbg run --quiet
	[ -e new.jsonl ]
	cd ../..
	echo >>.rolldbg.json # no change of what it says
	expect 0 rolldbg run --quiet
	project '{"defaults": {"run": {"out": "other.jsonl", "max_turns": 2}}}'
	expect 2 rolldbg run
	has "$stderr" '"out" needs trust (power), and the file has changed since it was trusted: rolldbg trust '
	# the same content elsewhere is not trusted
	expect 0 rolldbg trust .rolldbg.json
	mkdir ../other
	cp .rolldbg.json ../other
	cd ../other
	expect 2 rolldbg run
	cd ../clone
	expect 0 rolldbg run --quiet
	rm other.jsonl
	rm "$XDG_STATE_HOME"/rolldbg/trusted/*
	expect 2 rolldbg run
	[ ! -e other.jsonl ]
	# a file that is wrong is not trusted, and its settings for trust itself do not exist
	project '{"defaults": {\n"trust": {"quiet": true}}}'
	expect 3 rolldbg trust
	has "$stderr" '.rolldbg.json:2: defaults: unknown command "trust"'
	rm .rolldbg.json
	expect 2 rolldbg trust
	has "$stderr" 'no .rolldbg.json here or above: name a file'
}

@test "trust: the servers of an mcp.json" {
	mkdir 'a b'
	cd 'a b'
	cat >mcp.json <<-'END'
		{"mcpServers": {
			"local": {"command": "./server", "args": ["a"], "cwd": "/", "env": {"LD_PRELOAD": "./evil.so"}},
			"remote": {"url": "http://127.0.0.1:9/mcp",
				"headers": {"X-A": "b", "X-Key": "${KEY}"}, "disabled": false}}}
	END
	expect 2 rolldbg run --env "$PWD/mcp.json#local"
	has "$stderr" "mcp.json:2: local: \"command\" needs trust (power): rolldbg trust '$PWD/mcp.json'"
	expect 2 env KEY=sesame "$ROLLDBG" run --env mcp.json#remote
	has "$stderr" 'mcp.json:3: remote: "url" needs trust (reach)'
	expect 0 rolldbg trust mcp.json
	for line in '2: local: "command" = "./server" (power)' '2: local: "args" = ["a"] (power)' '2: local: "cwd" = "/" (power)' \
		'2: local: "LD_PRELOAD" = "./evil.so" (power)' '3: remote: "url" = "http://127.0.0.1:9/mcp" (reach)' \
		'4: remote: "X-A" = "b" (reach)' '4: remote: "X-Key" = "${KEY}" (power)'; do
		has "$output" "mcp.json:$line"
	done
	lacks "$output" disabled
	KEY=sesame expect 0 rolldbg run --env mcp.json#remote --print-config
	KEY=sesame expect 0 rolldbg run --env "$PWD/mcp.json#remote" --print-config
	sed -i s/evil/worse/ mcp.json
	expect 2 rolldbg run --env mcp.json#local
	has "$stderr" 'the file has changed since it was trusted'
}

@test "trust: peers' text is shown escaped, and key by key" {
	clone '{"environments": {"a\u202eb": {"target": "stdio:x\u202e", "headers": {"X\\u001b[2J": "y"}}}}'
	expect 0 rolldbg trust
	has "$output" 'environments.a\u{202e}b: "target" = "stdio:x\u{202e}" (power)'
	has "$output" '"X\x1b[2J" = "y" (reach)'
	# no second spelling of a key, and no file of two kinds, of which one would be shown and the other used
	project '{"environments": {"a": {"target": "builtin:frozen_lake", "t\\u0061rget": "stdio:x"}}}'
	expect 3 rolldbg trust
	project '{"mcpServers": {}, "defaults": {"run": {"out": "file"}}}'
	expect 3 rolldbg trust
	has "$stderr" 'unknown key "mcpServers"'
	project '{"defaults": {"run": {"out": "a"}, "run": {"out": "b"}}}'
	expect 0 rolldbg trust
	has "$output" '"out" = "a" (power)'
	has "$output" '"out" = "b" (power)'
}

# unusable TEXT: the project file stops the commands that act, and those that look only warn of it.
unusable() {
	for command in run probe 'replay golden.jsonl' 'shrink golden.jsonl' 'bisect golden.jsonl' 'debug golden.jsonl' 'run -q'; do
		read -ra words <<<"$command"
		expect 2 rolldbg "${words[@]}" </dev/null
		[ -z "$output" ]
		has "$stderr" "$PWD/.rolldbg.json may not be used: it $1"
	done
	for command in 'check golden.jsonl' 'show golden.jsonl' 'stats golden.jsonl' 'diff golden.jsonl file' \
		'strip golden.jsonl' list 'convert golden.jsonl' 'help check'; do
		read -ra words <<<"$command"
		expect 0 rolldbg "${words[@]}"
		[ "${words[0]}" = help ] || has "$stderr" "$PWD/.rolldbg.json may not be used: it $1"
	done
	[ -z "$(rolldbg __spec policies 2>&1 >/dev/null)" ]
	unharmed
}

@test "a file that was found: no link, no pipe, nobody else's, and nobody else may write it" {
	clone '{"defaults": {"run": {"max_turns": 1}}}'
	expect 0 rolldbg run --quiet --out a.jsonl
	all_are a.jsonl end '.turns == 1'
	for mode in 664 646 666; do
		chmod $mode .rolldbg.json
		unusable "can be written by other users: chmod go-w $PWD/.rolldbg.json, name it with --config $PWD/.rolldbg.json, or use none with ROLLDBG_CONFIG="
		expect 3 rolldbg trust
		has "$stderr" ".rolldbg.json can be written by other users"
	done
	ROLLDBG_CONFIG='' expect 0 rolldbg run --quiet --out none.jsonl
	all_are none.jsonl end '.turns == 6'
	expect 0 rolldbg run --config .rolldbg.json --quiet --out given.jsonl
	all_are given.jsonl end '.turns == 1'
	chmod 600 .rolldbg.json
	mv .rolldbg.json real
	for to in real nowhere; do
		ln -s $to .rolldbg.json
		unusable 'is a symbolic link: '
		rm .rolldbg.json
	done
	mkfifo .rolldbg.json
	unusable 'is no regular file: '
	rm .rolldbg.json
	mkdir .rolldbg.json
	unusable 'is no regular file: '
	if [ "$(id -u)" = 0 ]; then
		rmdir .rolldbg.json
		cp real .rolldbg.json
		chown 12345 .rolldbg.json
		unusable 'belongs to another user: '
	fi
	rm -rf .rolldbg.json
	# one that was named is read whatever it is
	expect 0 rolldbg --config real run --quiet --out named.jsonl
	all_are named.jsonl end '.turns == 1'
	ln -s real named
	ROLLDBG_CONFIG=named expect 0 rolldbg run --quiet --out named2.jsonl
	all_are named2.jsonl end '.turns == 1'
	echo '{"servers": {"x": {"command": "touch pwned"}}}' >real.mcp
	ln -s real.mcp mcp.json
	expect 3 rolldbg run --env mcp.json#x
	has "$stderr" 'mcp.json is a symbolic link'
	expect 3 rolldbg trust mcp.json
	chmod 666 real.mcp
	expect 3 rolldbg run --env real.mcp#x
	[ "$(id -u)" = 0 ] || return 0
	chmod 600 real.mcp
	chown 12345 real.mcp
	expect 3 rolldbg run --env real.mcp#x
	has "$stderr" 'real.mcp belongs to another user'
	unharmed
}

@test "--config and ROLLDBG_CONFIG name a file that may set everything" {
	clone '{"defaults": {"run": {"max_turns": 5}}}'
	mkdir below
	echo '{"defaults": {"run": {"max_turns": 2, "out": "out.jsonl", "force": true, "quiet": true}}}' >below/ci.json
	echo '{"defaults": {"run": {"max_turns": 3, "out": "out.jsonl", "force": true, "quiet": true}}}' >below/other.json
	touch out.jsonl
	expect 0 rolldbg run --config below/ci.json
	all_are out.jsonl end '.turns == 2'
	expect 0 rolldbg --config below/ci.json run --out more.jsonl
	all_are more.jsonl end '.turns == 2'
	ROLLDBG_CONFIG=below/other.json expect 0 rolldbg run
	all_are out.jsonl end '.turns == 3'
	# the option before the variable, and the variable before what is found
	ROLLDBG_CONFIG=below/other.json expect 0 rolldbg run --config below/ci.json
	all_are out.jsonl end '.turns == 2'
	ROLLDBG_CONFIG=nowhere expect 3 rolldbg check golden.jsonl
	expect 3 rolldbg check golden.jsonl --config nowhere
	has "$stderr" 'configuration nowhere: '
	# errors in a file that was named stop every command
	echo '{"unknown": 1}' >below/ci.json
	expect 3 rolldbg check golden.jsonl --config below/ci.json
}
