#!/usr/bin/env bats
# What people have: the logs of trainers and agents, as they are.
# shellcheck disable=SC2154

load lib.bash

formats=$root/fixtures/convert
shared=${ROLLDBG_SHARED:-$root/../shared}/recordings

with_pyarrow() {
	python3 -I -c 'import pyarrow' 2>/dev/null || skip 'no pyarrow'
}

# rules FILE..: the rules of its findings, with their severities.
rules() {
	rolldbg check --json "$@" | jq -r 'select(.type == "finding") | .severity + " " + .rule' | sort | uniq -c | sed 's/^ *//'
}

@test "TRL: each log of a real trainer gets its verdict" {
	[ -d "$shared/trl" ] || skip 'no shared recordings'
	cd "$shared/trl"
	[ "$(rules trl-talk.jsonl)" = '1 error void-rollouts
4 warning no-tool-call
1 warning zero-variance-group' ]
	[ "$(rules trl-badjson.jsonl)" = '4 error no-tool-call
1 error void-rollouts
1 warning zero-variance-group' ]
	[ "$(rules trl-mixed.jsonl)" = '1 error void-rollouts
1 warning no-tool-call' ]
	[ "$(rules trl-lostobs.jsonl)" = '4 warning observation-lost
1 warning zero-variance-group' ]
	[ "$(rules trl-two.jsonl)" = '1 warning zero-variance-group' ]
	[ "$(rules trl-s3-lazy-cap1-g4.jsonl | grep '^. error')" = '3 error capacity
3 error multi-step-illusion
1 error void-rollouts' ]
	[ "$(rules trl-wrongtool.jsonl | grep '^. error')" = '4 error multi-step-illusion
4 error unknown-tool
1 error void-rollouts' ]
	echo '[{"type":"function","function":{"name":"move","parameters":{"type":"object"}}}]' >"$BATS_TEST_TMPDIR/tools.json"
	expect 1 rolldbg check --tools "$BATS_TEST_TMPDIR/tools.json" trl-talk.jsonl
	has "$output" 'error: no-tool-call: turn 0: no tool was called in 1 turn'
}

@test "counts equal those of an independent script" {
	command -v python3 >/dev/null || skip 'no python3'
	[ -d "$shared/trl" ] || skip 'no shared recordings'
	python3 "$data/truth.py" "$shared"/trl/trl-*.jsonl "$shared"/other/* "$formats/tau-bench/in.json" >truth
	while read -r file rollouts turns steps failed reward; do
		path=$(find "$shared/trl" "$shared/other" "$formats/tau-bench" -name "$file")
		[ "$(rolldbg check --json "$path" | tail -n 1 | jq -r '"\(.rollouts) \(.turns) \(.steps) \(.failed) \(.reward // "-")"')" = \
			"$rollouts $turns $steps $failed $reward" ] || {
			echo "$file differs"
			false
		}
	done <truth
	[ "$(wc -l <truth)" = 11 ]
}

@test "TRL: several reward functions are shown; --reward chooses one" {
	file=$formats/trl-completions/in.jsonl
	expect 0 rolldbg convert "$file"
	[ "$(jq 'select(.event == "rewards").detail == {opened: 0, GateEnv: 0.25}' <<<"$output")" = true ]
	tail -n 1 "$file" >row.jsonl
	expect 0 rolldbg convert --reward GateEnv row.jsonl
	[ "$(jq 'select(.type == "end").total_reward' <<<"$output")" = 0.25 ]
	sed 's/"opened":0.0,\(.*\)"advantage":null/"port":38506,"log_port":null,\1"advantage":0.0/' row.jsonl >port.jsonl
	expect 0 rolldbg convert port.jsonl
	[ "$(jq 'select(.type == "end").total_reward' <<<"$output")" = 0.25 ]
	expect 3 rolldbg check --reward Gate row.jsonl
	has "$stderr" "row.jsonl:1: no column 'Gate' for the reward"
	echo '{"no":"tools"}' >tools.json
	expect 3 rolldbg check --tools tools.json row.jsonl
	has "$stderr" '--tools tools.json: not a list of tools'
}

@test "Parquet, a trainer's folder and trackio's database" {
	with_pyarrow
	python3 - <<-'END'
		import json, sqlite3, pyarrow as pa, pyarrow.parquet as pq
		call = {"type": "function", "function": {"name": "go", "arguments": {"to": "B"}}}
		talk = [{"role": "assistant", "content": "", "tool_calls": [call], "name": None},
		    {"role": "tool", "content": "at B", "tool_calls": None, "name": "go"}]
		rows = [{"step": 1, "prompt": [{"role": "user", "content": "Go \u2028"}], "completion": talk, "R": r, "advantage": float("nan")}
		    for r in (0.0, 1.0)]
		import os; os.makedirs("out/completions")
		pq.write_table(pa.Table.from_pylist(rows), "out/completions/completions_00001.parquet")
		base = sqlite3.connect("trackio.db")
		base.execute("pragma journal_mode=wal")
		base.execute("create table metrics (id integer primary key, metrics text)")
		for i in range(2):
		    base.execute("insert into metrics (metrics) values (?)", (json.dumps({"loss": 1, "completions": {"_type": "trackio.table", "_value": [{**r, "advantage": 0.0} for r in rows]}}),))
		base.commit()
		base.close()
		sqlite3.connect("other.db").execute("create table t (x)").connection.commit()
	END
	for file in out out/completions/completions_00001.parquet trackio.db; do
		expect 0 rolldbg check "$file"
		has "$output" '2 rollouts · 2 turns · 2 steps · effective unknown · 0 failed · reward 1'
	done
	expect 0 rolldbg check - <out/completions/completions_00001.parquet
	expect 0 rolldbg check - < <(cat out/completions/completions_00001.parquet)
	python3 -c 'import pyarrow as pa, pyarrow.parquet as pq; pq.write_table(pa.table({"step": [1], "prompt": ["Go"]}), "none.parquet")'
	expect 3 rolldbg check none.parquet
	has "$stderr" 'none.parquet: the first row, as JSON: not a recording: it is JSON, but of no known format (keys: step, prompt);'
	expect 3 rolldbg check other.db
	has "$stderr" 'other.db: no such table: metrics'
	head -c 300 out/completions/completions_00001.parquet >cut.parquet
	printf PAR1 >empty.parquet
	for file in cut empty; do
		expect 3 rolldbg check "$file.parquet"
		has "$stderr" "$file.parquet: "
	done
}

@test "Parquet without pyarrow, without python3, and with a python3 in the working directory" {
	printf 'PAR1xxxxPAR1' >log.parquet
	mkdir bin empty
	printf '#!/bin/sh\necho "No module named '"'pyarrow'"'" >&2\nexit 4\n' >bin/python3
	printf '#!/bin/sh\ntouch %s/executed\n' "$PWD" >python3
	chmod +x bin/python3 python3
	expect 5 env PATH="$PWD/bin:$PATH" "$ROLLDBG" check log.parquet
	has "$stderr" 'to install it: python3 -m pip install pyarrow'
	expect 5 env PATH=".:$PWD/empty" "$ROLLDBG" check log.parquet
	has "$stderr" 'there is no python3 in PATH'
	expect 5 env PATH=":$PWD/empty" "$ROLLDBG" check log.parquet
	[ ! -e executed ]
}

@test "a job folder of Harbor: the trajectory with its result, and a trial without one" {
	mkdir -p job/{a,b,c}/agent
	cp "$formats/harbor/in.json" job/b/result.json
	jq '.exception_info = null | .verifier_result.rewards.reward = 0.5' job/b/result.json >job/a/result.json
	jq 'del(.extra.total_reward)' "$formats/atif/in.json" >job/a/agent/trajectory.json
	echo '{"id":"job"}' >job/result.json
	expect 1 rolldbg check job
	has "$output" '2 rollouts'
	has "$output" 'reward 0.5'
	[ "$(rolldbg convert job/a/agent/trajectory.json | jq -r 'select(.type == "header").task.id')" = gate ]
	expect 0 rolldbg convert job/b/result.json
	[ "$(jq -r 'select(.type == "end") | .status + " " + .reason' <<<"$output")" = 'failed AgentTimeoutError' ]
}

@test "chat messages: a list, one a line, a list a line" {
	rolldbg convert "$formats/chat/in.json" | jq -c 'del(.rollout, .task)' >list
	jq -c '.[]' "$formats/chat/in.json" >lines.jsonl
	rolldbg convert lines.jsonl | jq -c 'del(.rollout, .task)' | diff list -
	jq -c . "$formats/chat/in.json" >one.jsonl
	cat one.jsonl one.jsonl >two.jsonl
	[ "$(rolldbg convert two.jsonl | grep -c '"type":"header"')" = 2 ]
}

@test "OpenHands: a conversation that is kept as a file an event" {
	jq -c 'select(.instance_id == "gate-3") | .history[]' "$formats/openhands/in.jsonl" | split -l 1 -d - event-
	rolldbg convert --quiet - --to steps < <(cat event-*) | jq -c 'del(.file, .rollout, .task)' >events
	jq -c 'select(.instance_id == "gate-3")' "$formats/openhands/in.jsonl" >whole.jsonl
	rolldbg convert --quiet whole.jsonl --to steps | jq -c 'del(.file, .rollout, .task)' | diff - events
	[ -s events ]
}

@test "Gemini CLI: a saved chat is a list of contents, or has it as its history" {
	cat >list.json <<-'END'
		[{"role":"user","parts":[{"text":"Mend the gate."}]},
		{"role":"model","parts":[{"text":"I look."},{"functionCall":{"name":"list","args":{"path":"."}}},{"functionCall":{"name":"read","args":{"path":"x"}}}]},
		{"role":"user","parts":[{"functionResponse":{"name":"list","response":{"output":"gate.c"}}},{"functionResponse":{"name":"read","response":{"error":"File not found"}}}]},
		{"role":"model","parts":[{"text":"Done."}]}]
	END
	jq '{history: ., authType: "x"}' list.json >history.json
	for file in list history; do
		expect 0 rolldbg convert --to steps "$file.json"
		[ "$(jq -c '[.turn, .tool, .observation, .outcome]' <<<"$output")" = '[0,"list","gate.c","ok"]
[0,"read","File not found","tool-error"]
[1,null,null,null]' ]
	done
	head -c -30 list.json >torn.json
	expect 3 rolldbg check torn.json
	echo '[{"role":"user","parts":{}}]' >other.json
	expect 3 rolldbg check other.json
	has "$stderr" 'of no known format'
}

@test "bad values of each format" {
	while IFS='|' read -r _ good bad message; do
		printf '%s\n' "$good" "$bad" >in.jsonl
		expect 3 rolldbg check in.jsonl
		has "$stderr" "in.jsonl:2: $message"
		printf '%s\n%s' "$good" "${bad%?}" >torn.jsonl
		run rolldbg check torn.jsonl
		[[ $status = [013] ]]
	done <<-'END'
		tau-bench|{"task_id":1,"traj":[]}|{"task_id":1,"traj":{"role":"user"}}|expected a list of messages at "/traj"
		tau2|{"task_id":"a","termination_reason":"x","messages":[]}|{"task_id":"a","messages":"none"}|expected a list of messages at "/messages"
		nemo-gym|{"responses_create_params":{},"response":{"output":[]}}|{"response":{"output":7}}|expected a list of messages at "/response/output"
		mini-swe-agent|{"messages":[],"trajectory_format":"mini-swe-agent-9"}|{"messages":{},"info":1}|not in the format mini-swe-agent
		gemini-cli|{"sessionId":"s","projectHash":"p"}|[[1]]|not a session of Gemini CLI
		openhands|{"source":"user","action":"message","args":{}}|{"history":0}|not an event of OpenHands
		trl-completions|{"step":1,"prompt":[],"completion":[]}|{"step":"1","prompt":[],"completion":[]}|not in the format trl-completions
		trl-completions|{"step":"1","prompt":[],"completion":[],"advantage":0.5}|{"prompt":[]}|not in the format trl-completions
	END
}

@test "hostile text stays text" {
	jq -c '.completion[0].tool_calls[0].function.arguments = {"a,null": ":null,{\"x\":1.0}", "n\":null": [null, 1.0, -2.0], "deep": {"x": null}}' \
		<(tail -n 1 "$formats/trl-completions/in.jsonl") >in.jsonl
	expect 0 rolldbg convert in.jsonl
	[ "$(jq -c 'select(.step == 0).tool_call.arguments' <<<"$output")" = '{"a,null":":null,{\"x\":1.0}","n\":null":[null,1,-2],"deep":{}}' ]
}

# The formats that count_logs.py knows, and the recordings of real programs.
@test "turns, calls, answers, errors, rewards and ends are those that a script counts in the logs themselves" {
	local files=("$formats"/{art,chat,claude-code,codex,codex-2025,inspect,mini-swe-agent,nemo-gym,openai,swe-agent,tau-bench,tau2}/in.*)

	[ ! -d "$shared/trl" ] || files+=("$shared"/trl/trl-*.jsonl "$shared"/other/*)
	python3 "$root/tests/cli/count_logs.py" "$ROLLDBG" "${files[@]}"
	sed 's/"gate --test","tool_call_id":"b1"}/&,{}/' "$formats"/mini-swe-agent/in.* >more.traj.jsonl
	run ! python3 "$root/tests/cli/count_logs.py" "$ROLLDBG" more.traj.jsonl
}
