#!/usr/bin/env bats
# Seven faulty servers on the real OpenEnv core: the results of OpenEnv's `validate --url` and of rolldbg.

load lib

faults='cap-1 shared seed-ignored refused-in-text step-raises reset-raises constructor-raises'
walk=DOWN,DOWN,RIGHT,LEFT

setup_file() {
	openenv_file faulty 0.10 openenv_faulty.py
	for fault in $faults crowded; do
		sed -n "s|^$fault: listening on ||p" "$BATS_FILE_TMPDIR/faulty.log" >"$BATS_FILE_TMPDIR/$fault.url"
	done
	validate >"$BATS_FILE_TMPDIR/validated" 2>"$BATS_FILE_TMPDIR/validate.log"
}

# validate: runs OpenEnv's command on each server; prints a line with its name, the exit code and the failed checks.
validate() {
	local -a addresses=()
	for fault in $faults; do
		addresses+=("$fault=$(url "$fault")")
	done
	(python openenv openenv-0.10 - "${addresses[@]}") <<-'PYTHON'
		import contextlib, io, sys
		from openenv.cli.__main__ import app
		for name, url in (argument.split("=", 1) for argument in sys.argv[1:]):
		    said, code = io.StringIO(), 0
		    try:
		        with contextlib.redirect_stdout(said):
		            app(["validate", "--url", url])
		    except SystemExit as end:
		        code = end.code or 0
		    failed = [line.split()[1] for line in said.getvalue().splitlines() if line.split()[:1] == ["FAIL"]]
		    print(name, code, *failed)
	PYTHON
}

validate_result() {
	sed -n "s/^$1 //p" "$BATS_FILE_TMPDIR/validated"
}

@test "openenv validate passes six of the seven, and reports the metadata page of the seventh" {
	cat "$BATS_FILE_TMPDIR/validated" "$BATS_FILE_TMPDIR/validate.log"
	for fault in cap-1 shared seed-ignored refused-in-text step-raises reset-raises; do
		[ "$(validate_result $fault)" = 0 ]
	done
	[ "$(validate_result constructor-raises)" = "1 metadata_endpoint" ]
}

# probe_reports FAULT PROPERTY TEXT: on that server, only this property fails, and its evidence contains the text.
probe_reports() {
	local got=0
	"$ROLLDBG" probe --json --env "$(url "$1")" --need 4 --actions $walk >probe.json 2>probe.err || got=$?
	if [ $got != 1 ] || [ "$(jq -r 'select(.status == "fail") | .name' probe.json)" != "$2" ] ||
		! jq -se --arg words "$3" 'any(.status == "fail" and (.evidence | contains($words)))' probe.json >/dev/null; then
		echo "$1: exit code $got"
		cat probe.err probe.json
		return 1
	fi
}

@test "probe names the fault of each of the seven" {
	probe_reports cap-1 capacity "session 2 was refused: Server at capacity: 1/1"
	probe_reports shared isolation "only session 1 acted, but the state of session 2 changed"
	probe_reports seed-ignored seed "seed 42 gave two different initial states; they differ at /position"
	probe_reports refused-in-text tools "the lake takes no steps today"
	probe_reports step-raises tools "the ice has melted"
	probe_reports reset-raises capacity "session 1 was refused: there is no map"
	probe_reports constructor-raises capacity "Environment factory 'ConstructorRaises' failed"
}

@test "probe climbs to the load that breaks a server: 6 of 8 steps at once" {
	"$ROLLDBG" probe --json --env "$(url crowded)" --need 8 --actions $walk >probe.json 2>probe.err || [ $? = 1 ]
	cat probe.err probe.json
	[ "$(jq -r 'select(.status == "fail") | .name, .value' probe.json)" = $'load\nbreaks at 8 sessions' ]
	jq -se 'any(.name == "load" and (.evidence | contains("the ice is crowded")))' probe.json
	jq -se 'last | .fit == "no" and .fit_why == "load breaks at 8 sessions"' probe.json
	"$ROLLDBG" probe --json --env "$(url crowded)" --need 4 --actions $walk >probe.json
	jq -se 'any(.name == "load" and .value == "4 sessions at once")' probe.json
}

@test "every step refused inside the observation: an illusion" {
	drive text 1 --env "$(url refused-in-text)" --actions $walk
	fires text "multi-step-illusion error"
	holds text 'steps | all(.outcome == "tool-error" and .error.layer == "text" and .error.disagrees == "framework")'
	holds text 'steps | all(.error.message == "Error: the lake takes no steps today")'
}

@test "every step raising: an illusion" {
	drive raising 1 --env "$(url step-raises)" --actions $walk
	fires raising "multi-step-illusion error"
	holds raising 'steps | all(.error.message == "the ice has melted")'
}

# expect_refused NAME REASON: no episode starts; exit 1 and the server's message.
expect_refused() {
	run "$ROLLDBG" run --env "$(url "$1")" --actions $walk --out refused.jsonl
	[ "$status" = 1 ]
	[[ $output == *"$2"* ]]
	holds refused "ending.status == \"refused\" and reset.error.class == \"environment\" and (reset.error.message | contains(\"$2\"))"
}

@test "every reset raising: refused with the reason" {
	expect_refused reset-raises "there is no map"
}

# The core does not pass on the constructor's message.
@test "a constructor that raises: refused with the core's reason" {
	expect_refused constructor-raises "Environment factory 'ConstructorRaises' failed"
}

@test "one session at a time: a second one is refused for capacity" {
	address=$(url cap-1)
	hold_ws "ws${address#http}/ws" 1
	drive second 1 --env "$address" --actions $walk
	fires second "capacity error"
	release_ws
	drive alone 0 --env "$address" --actions $walk
	no_findings alone
}
