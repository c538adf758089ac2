#!/usr/bin/env bats
# Credentials reach the server and nothing else.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

secret=hunter2hunter2

# nowhere: the secret is in no file and in no output of the last run.
nowhere() {
	lacks "$output" "$secret"
	lacks "$stderr" "$secret"
	! grep -r "$secret" a.jsonl state
}

echoing() {
	canned peer <<-END
		initialize	{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"canned","version":"Bearer $secret"}}
		tools/call	{"content":[{"type":"text","text":"you said Bearer $secret"}]}
	END
}

@test "a header's value is never recorded or printed, even when the server repeats it" {
	echoing
	for given in "--header=Authorization: Bearer $secret" '--header=@headers' '--header-env=Authorization=TOKEN' \
		"--header=X-Api-Key: $secret" "--header=Cookie: session=$secret"; do
		printf '# ours\nAuthorization: Bearer %s\n' "$secret" >headers
		TOKEN="Bearer $secret" expect 0 rolldbg -vv run --env "$url" "$given" --actions A,B --out a.jsonl --force
		rm headers
		nowhere
		grep -q 'you said ' a.jsonl
		TOKEN="Bearer $secret" run --separate-stderr rolldbg -vv run --env "$url" "$given" --actions A,B --json
		nowhere
	done
}

@test "--secret hides any value, in the URL and in a policy too" {
	echoing
	expect 0 rolldbg -vv run --env "$url" --secret $secret --actions "$secret,B" --out a.jsonl
	nowhere
	expect 4 rolldbg -vv run --env "$url?key=$secret" --secret $secret --actions B --out a.jsonl --force
	nowhere
	has "$stderr" 'key=<redacted>'
}

@test "a server that is not there is told of without the credentials" {
	expect 4 rolldbg -vv run --env "http://127.0.0.1:1/mcp?key=$secret" --secret $secret --header "Authorization: Bearer $secret" \
		--actions A --out a.jsonl
	nowhere
	expect 2 rolldbg -vv run --env "ftp://127.0.0.1:1/mcp?key=$secret" --secret $secret --actions A
	lacks "$stderr" $secret
}

@test "a header that is none is not quoted: it may be a secret" {
	expect 2 rolldbg run --header "$secret"
	lacks "$stderr" $secret
	echo "$secret" >headers
	expect 2 rolldbg run --header @headers
	has "$stderr" headers
	lacks "$stderr" $secret
	expect 3 rolldbg run --header @nowhere
	has "$stderr" 'nowhere: No such file'
	# no second header behind the first
	expect 2 rolldbg run --header $'A: b\r\nC: '$secret
	lacks "$stderr" $secret
}
