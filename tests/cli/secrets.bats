#!/usr/bin/env bats
# Credentials are sent to the server and appear nowhere else.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

secret=hunter2hunter2

# expect_no_secret: the secret is in no file and in no output of the last run.
expect_no_secret() {
	lacks "$output" "$secret"
	lacks "$stderr" "$secret"
	! grep -r "$secret" a.jsonl state
}

start_echo() {
	canned peer <<-END
		initialize	{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"canned","version":"Bearer $secret"}}
		tools/call	{"content":[{"type":"text","text":"you said Bearer $secret"}]}
	END
}

@test "a header's value is never recorded or printed, even if the server repeats it" {
	start_echo
	for given in "--header=Authorization: Bearer $secret" '--header=@headers' '--header-env=Authorization=TOKEN' \
		"--header=X-Api-Key: $secret" "--header=Cookie: session=$secret"; do
		printf '# ours\nAuthorization: Bearer %s\n' "$secret" >headers
		TOKEN="Bearer $secret" expect 0 rolldbg -vv run --env "$url" "$given" --actions A,B --out a.jsonl --force
		rm headers
		expect_no_secret
		grep -q 'you said ' a.jsonl
		TOKEN="Bearer $secret" run --separate-stderr rolldbg -vv run --env "$url" "$given" --actions A,B --json
		expect_no_secret
	done
}

@test "--secret hides any value, in the URL and in a policy too" {
	start_echo
	expect 0 rolldbg -vv run --env "$url" --secret $secret --actions "[\"$secret\",\"B\"]" --out a.jsonl
	expect_no_secret
	expect 4 rolldbg -vv run --env "$url?key=$secret" --secret $secret --actions B --out a.jsonl --force
	expect_no_secret
	has "$stderr" 'key=<redacted>'
}

@test "an unreachable server is reported without the credentials" {
	expect 4 rolldbg -vv run --env "http://127.0.0.1:1/mcp?key=$secret" --secret $secret --header "Authorization: Bearer $secret" \
		--actions A --out a.jsonl
	expect_no_secret
	expect 2 rolldbg -vv run --env "ftp://127.0.0.1:1/mcp?key=$secret" --secret $secret --actions A
	lacks "$stderr" $secret
}

@test "reports hide what a recording hides" {
	canned peer <<-END
		initialize	{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"canned","version":"1"}}
		tools/call	{"isError":true,"content":[{"type":"text","text":"no Bearer $secret here"}]}
	END
	reports=()
	for kind in json junit tap sarif github markdown; do
		reports+=(--report "$kind:state/report.$kind")
	done
	: >a.jsonl
	for target in "$url" "http://127.0.0.1:1/mcp?key=$secret"; do
		run --separate-stderr rolldbg run --env "$target" --secret $secret --header "Authorization: Bearer $secret" \
			--actions A,B,C --out state/r.jsonl --force "${reports[@]}"
		[ "$status" -gt 0 ]
		grep -q -e 'no .*&lt;redacted&gt; here' -e 'cannot connect' state/report.junit
		expect_no_secret
		[ -e state/golden.jsonl ] || rolldbg strip state/r.jsonl >state/golden.jsonl
		run --separate-stderr rolldbg replay state/golden.jsonl --env "$target" --secret $secret "${reports[@]}"
		expect_no_secret
	done
	grep -q 'cannot connect' state/report.junit
}

@test "an invalid header is not quoted: it may be a secret" {
	expect 2 rolldbg run --header "$secret"
	lacks "$stderr" $secret
	echo "$secret" >headers
	expect 2 rolldbg run --header @headers
	has "$stderr" headers
	lacks "$stderr" $secret
	expect 3 rolldbg run --header @nowhere
	has "$stderr" 'nowhere: No such file'
	# a value cannot inject a second header
	expect 2 rolldbg run --header $'A: b\r\nC: '$secret
	lacks "$stderr" $secret
}

# secret_spellings: rows of a canned server whose replies have the secret in several encodings.
secret_spellings() {
	local value='hunter2/hunter2"x' base64
	base64=$(printf 'user:%s' "$value" | base64 -w0)
	cat <<-END
		initialize	{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"canned","version":"1"}}
		tools/call	{"content":[{"type":"text","text":"hunter2\\/hunter2\\"x hunter2%2Fhunter2%22x hunter2/hunter2&quot;x $base64 {\\"a\\":\\"hunter2/hunter2\\\\\\"x\\"}"}]}
	END
}

@test "the value of any --header-env and --secret-env is redacted in every spelling of it" {
	canned peer < <(secret_spellings)
	for given in --header-env=X-Tenant=VALUE --secret-env=VALUE; do
		VALUE='hunter2/hunter2"x' expect 0 rolldbg -vv run --env "$url" "$given" --actions A --out a.jsonl --force
		for part in hunter2 aHVudGVy h1bnRlcjIv odW50ZXIy; do
			lacks "$output$stderr$(cat a.jsonl)" $part
		done
		[ "$(jq -r 'select(.type == "step").observation' a.jsonl | grep -o '<redacted>' | wc -l)" = 5 ]
	done
	expect 2 rolldbg run --env "$url" --secret-env NOT_SET_HERE --actions A
	has "$stderr" '--secret-env: the variable NOT_SET_HERE is not set'
	VALUE=abc expect 0 rolldbg run --env "$url" --header-env X-A=VALUE --secret-env VALUE --actions A --out a.jsonl --force
	has "$stderr" '--header-env X-A=VALUE: a value shorter than 4 bytes is not redacted'
	has "$stderr" '--secret-env VALUE: a value shorter than 4 bytes is not redacted'
	has "$(rolldbg run --help all | tr -s ' \n' ' ')" 'visible in the process list'
}

@test "keys in the query of --env are secrets, and so is a password in a URL" {
	expect 4 rolldbg -vv run --env "http://127.0.0.1:1/mcp?api_key=$secret&lang=en" --actions A --out a.jsonl
	expect_no_secret
	has "$stderr" 'api_key=<redacted>&lang=en'
	expect 4 rolldbg -vv probe --env "http://127.0.0.1:1/mcp?token=$secret"
	lacks "$output$stderr" $secret
	for given in "--env=http://me:$secret@127.0.0.1:1/mcp" "--env=htp://me:$secret@127.0.0.1:1/mcp"; do
		expect 2 rolldbg -vv run "$given" --actions A --out a.jsonl
		lacks "$output$stderr" $secret
	done
	for base in "htp://me:$secret@127.0.0.1:1" "http://me:$secret@127.0.0.1:1" "ftp://127.0.0.1/?key=$secret"; do
		expect 2 rolldbg -vv run --policy llm --model m --base-url "$base"
		lacks "$output$stderr" $secret
	done
}

@test "a policy file cannot send arbitrary variables to arbitrary servers" {
	echo '{"kind":"llm","base_url":"http://models.invalid:1/v1","model":"m","key_env":"MY_KEY"}' >p.json
	MY_KEY=$secret expect 2 rolldbg run --policy p.json
	has "$stderr" '"key_env" would send the variable MY_KEY to http://models.invalid:1/v1/chat/completions: allow it with --allow-key-env MY_KEY'
	MY_KEY=$secret expect 4 rolldbg run --policy p.json --allow-key-env MY_KEY --model-retries 0 --out a.jsonl
	MY_KEY=$secret expect 4 rolldbg run --policy p.json --key-env MY_KEY --model-retries 0 --out a.jsonl --force
	MY_KEY=$secret expect 4 rolldbg run --policy p.json --base-url http://127.0.0.1:1 --model-retries 0 --out a.jsonl --force
	sed -i 's/MY_KEY/OPENAI_API_KEY","profile":"openai/' p.json
	OPENAI_API_KEY=$secret expect 2 rolldbg run --policy p.json
	has "$stderr" '"key_env" would send the variable OPENAI_API_KEY to http://models.invalid:1/'
	expect_no_secret
}

@test "a provider's key is sent to that provider and to this host, elsewhere only if the user allows it" {
	export OPENAI_API_KEY=$secret https_proxy=http://127.0.0.1:1 # prevents traffic to a real provider
	llm=(rolldbg run --policy llm --model m --profile openai --model-retries 0 --out a.jsonl --force)
	for url in https://models.invalid:1/v1 https://evilapi.openai.com.invalid:1 https://xapi.openai.com:1 http://api.openai.com:1; do
		expect 2 "${llm[@]}" --base-url $url
		has "$stderr" "the profile would send the variable OPENAI_API_KEY to $url"
		has "$stderr" 'allow it with --allow-key-env OPENAI_API_KEY'
	done
	for url in https://API.openai.com:1 https://eu.api.openai.com:1/v1 http://127.0.0.1:1; do
		expect 4 "${llm[@]}" --base-url $url
	done
	expect 4 "${llm[@]}" --base-url https://models.invalid:1/v1 --allow-key-env OPENAI_API_KEY
	expect 4 "${llm[@]}" --base-url https://models.invalid:1/v1 --key-env OPENAI_API_KEY
	expect_no_secret
}

@test "recordings in the state directory are readable by their owner only, others according to the umask" {
	umask 022
	expect 0 rolldbg run
	[ "$(stat -Lc %a "$XDG_STATE_HOME/rolldbg/latest")" = 600 ]
	[ "$(stat -c %a "$XDG_STATE_HOME/rolldbg")" = 700 ]
	expect 0 rolldbg run --out a.jsonl
	[ "$(stat -c %a a.jsonl)" = 644 ]
}

@test "a target's variables, and arguments of a program that look like keys, are secrets" {
	cat >echo.sh <<-'END'
		#!/bin/sh
		while read -r line; do
			id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
			case $line in
			*'"initialize"'*) reply='"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"'$*'","version":"'$KEY'"}}' ;;
			*'"tools/list"'*) reply='"result":{"tools":[{"name":"act","inputSchema":{"type":"object","properties":{"move":{"type":"string"}}}}]}' ;;
			*'"tools/call"'*) reply='"result":{"content":[{"type":"text","text":"'$*$KEY'"}]}' ;;
			*) reply='"error":{"code":-32601,"message":"no such method"}' ;;
			esac
			[ -z "$id" ] || echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$reply}"
		done
	END
	chmod +x echo.sh
	cat >mcp.json <<-END
		{"mcpServers": {
			"option": {"command": "./echo.sh", "args": ["--api-key", "$secret"]},
			"variable": {"command": "./echo.sh", "args": ["\${MY_TOKEN}"]},
			"env": {"command": "./echo.sh", "env": {"KEY": "\${MY_TOKEN}"}},
			"url": {"command": "./echo.sh", "args": ["remote=http://me:$secret@127.0.0.1:1"]}
		}}
	END
	expect 0 rolldbg trust mcp.json
	export MY_TOKEN=$secret
	for target in "stdio:./echo.sh --api-key $secret" "stdio:./echo.sh '--token=$secret'" "stdio:KEY=$secret ./echo.sh" \
		mcp.json#option mcp.json#variable mcp.json#env mcp.json#url; do
		expect 0 rolldbg -vv run --env "$target" --actions A --out a.jsonl --force
		expect_no_secret
		grep -q '<redacted>' a.jsonl
		expect 0 rolldbg --print-config run --env "$target" --actions A
		expect_no_secret
	done
}

@test "keys in any part of a URL are secrets, whether from a variable or not; --print-config too" {
	cat >.rolldbg.json <<-'END'
		{"environments": {"here": {"target": "http://127.0.0.1:${PORT}/mcp/${TENANT}"}}, "defaults": {"probe": {"env": "http://127.0.0.1:1/${TENANT}"}}}
	END
	expect 0 rolldbg trust
	export TENANT=$secret PORT=1234
	expect 4 rolldbg -vv run --env here --actions A --out a.jsonl
	expect_no_secret
	has "$stderr" 127.0.0.1:1234
	expect 0 rolldbg --print-config run --env here
	expect_no_secret
	has "$output" 'http://127.0.0.1:1234/mcp/<redacted>'
	expect 4 rolldbg -vv probe
	expect_no_secret
	for target in "http://127.0.0.1:1/mcp?code=$secret" "http://127.0.0.1:1/mcp?jwt=$secret" \
		"http://127.0.0.1:1/mcp#access_token=$secret" "me:$secret@127.0.0.1:1/mcp" "http://me:$secret@127.0.0.1:1/mcp"; do
		run --separate-stderr rolldbg -vv run --env "$target" --actions A --out a.jsonl --force
		[ "$status" -ge 2 ]
		expect_no_secret
		expect 0 rolldbg --print-config run --env "$target" --base-url "$target"
		expect_no_secret
	done
}

@test "--print-config hides what a run would" {
	VALUE=$secret expect 0 rolldbg --print-config run --env "http://127.0.0.1:1/$secret" --secret-env VALUE
	expect_no_secret
	has "$output" '/<redacted>'
	expect 0 rolldbg --print-config run --env "http://127.0.0.1:1/$secret" --secret "$secret" --header "Authorization: Bearer $secret"
	expect_no_secret
}
