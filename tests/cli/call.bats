#!/usr/bin/env bats
# Complete calls on the command line and on standard input.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# The basket: a tool with two arguments, and one that reads.
basket() {
	canned basket <<-'END'
		tools/list	{"tools":[{"name":"add","inputSchema":{"type":"object","properties":{"item":{"type":"string"},"count":{"type":"integer"}},"required":["item","count"]}},{"name":"list","annotations":{"readOnlyHint":true},"inputSchema":{"type":"object"}}]}
		tools/call	{"content":[{"type":"text","text":"done"}]}
	END
}

# calls FILE: the recording's calls, one a line.
calls() {
	jq -c 'select(.type == "step").tool_call | [.name, .arguments]' "$1"
}

@test "--call: several arguments, typed by the schema, in the order given" {
	basket
	printf 'a\n"b"' >text
	expect 0 rolldbg run --env "$url" --out a.jsonl --call "add item='whole milk' count=2" --call 'add item=@text count:=3' -c list
	[ "$(calls a.jsonl)" = '["add",{"item":"whole milk","count":2}]
["add",{"item":"a\n\"b\"","count":3}]
["list",{}]' ]
	[ "$(jq -c 'select(.type == "header").policy' a.jsonl)" = '{"kind":"script","name":"calls","params":{"calls":["add item='"'whole milk'"' count=2","add item=@text count:=3","list"]}}' ]
	rolldbg check a.jsonl >/dev/null
	expect 0 rolldbg run --out b.jsonl --call action=DOWN
	[ "$(calls b.jsonl)" = '["lake_move",{"action":"DOWN"}]' ]
}

@test "--call: what is wrong is said before anything is sent" {
	basket
	expect 2 rolldbg run --env "$url" --call 'add item=x count=1' --call 'add itm=x count=1'
	[ "$stderr" = "rolldbg: run: call 'add itm=x count=1': the tool has no argument 'itm'; did you mean 'item'?" ]
	expect 2 rolldbg run --env "$url" --call 'item=x'
	has "$stderr" 'the server has several tools'
	expect 2 rolldbg run --env "$url" --call "add item='x"
	has "$stderr" "' is not closed"
	expect 3 rolldbg run --env "$url" --call 'add item=@none count=1'
	has "$stderr" 'cannot read file none'
	for others in '--actions A' '--policy random:1' '--policy -'; do
		[ "$others" != '--policy random:1' ] || continue
		# shellcheck disable=SC2086 # options
		expect 2 rolldbg run --env "$url" --call list $others
		has "$stderr" 'mutually exclusive'
	done
	run grep -c 'POST tools/call' basket.log
	[ "$output" = 0 ]
	expect 2 rolldbg run --env "$url" --actions A
	has "$stderr" 'the server has several tools'
	expect 2 rolldbg run --env "$url" --tool add --actions A
	has "$stderr" "use --call 'add item=.. count=..'"
}

@test "--policy -: calls from standard input, one a line, as text or as recorded" {
	basket
	# shellcheck disable=SC2016 # not expanded here
	printf '# two\nadd item=a count=1\n\n  {"name":"add","arguments":{"item":"b","count":2}}\nlist' >lines
	expect 0 rolldbg run --env "$url" --out a.jsonl --policy - <lines
	[ "$(calls a.jsonl)" = '["add",{"item":"a","count":1}]
["add",{"item":"b","count":2}]
["list",{}]' ]
	jq -c 'select(.type == "step").tool_call' a.jsonl >again
	expect 0 rolldbg run --env "$url" --out b.jsonl -g 2 --policy - <again
	[ "$(calls b.jsonl | sort | uniq -c | sort -n | awk '{ print $1 }' | tr '\n' ' ')" = '2 2 2 ' ]
	expect 3 rolldbg run --env "$url" --policy - </dev/null
	has "$stderr" 'policy -: no calls'
	printf 'list\0' >nul
	expect 3 rolldbg run --env "$url" --policy - <nul
	has "$stderr" 'a NUL byte'
}

@test "--call with probe and debug" {
	basket
	rolldbg probe --env "$url" --json --call 'add item=a count=1' --call 'add item=b count=2' >lines || [ $? = 1 ]
	jq -es 'map(select(.name == "tools")) | .[0].value | contains("1 of 1 tested")' lines >/dev/null
	printf 'step\nstep\nquit\n' >commands
	expect 0 rolldbg debug --env "$url" --out d.jsonl --call 'add item=a count=1' --call list <commands
	[ "$(calls d.jsonl | head -n 1)" = '["add",{"item":"a","count":1}]' ]
	printf "call add item='b c' count=2\ncall add count=two\nquit\n" >commands
	run rolldbg debug --env "$url" --out e.jsonl <commands
	has "$output" "call 'add count=two': the argument 'count' must be of type \"integer\""
	[ "$(calls e.jsonl)" = '["add",{"item":"b c","count":2}]' ]
}

@test "a policy file's calls may be texts, too" {
	basket
	printf '{"kind":"script","calls":["add item=a count=1",{"name":"list"},"list"]}' >texts.json
	expect 0 rolldbg run --env "$url" --policy texts.json --out a.jsonl
	[ "$(calls a.jsonl)" = '["add",{"item":"a","count":1}]
["list",{}]
["list",{}]' ]
	printf '{"kind":"script","calls":["list","add itm=a count=1"]}' >texts.json
	expect 3 rolldbg run --env "$url" --policy texts.json --out b.jsonl
	has "$stderr" "policy texts.json: calls[1]: call 'add itm=a count=1': the tool has no argument 'itm'"
	printf '{"kind":"script","calls":["list \\u0022"]}' >texts.json
	expect 3 rolldbg run --env "$url" --policy texts.json --out b.jsonl
	has "$stderr" 'is not closed'
}
