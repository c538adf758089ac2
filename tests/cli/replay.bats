#!/usr/bin/env bats
# replay: sends the calls of a golden again and compares the replies.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

# golden NAME ACTIONS [OPTION...]: writes a stripped recording of the built-in lake.
golden() {
	local name=$1 actions=$2
	shift 2
	rolldbg run --quiet --seed 42 --actions "$actions" --out raw.jsonl --force "$@"
	rolldbg strip raw.jsonl >"$name.jsonl"
}

@test "an environment that behaves the same: exit 0, the golden untouched" {
	golden lake "$goal"
	cp lake.jsonl before
	expect 0 rolldbg replay lake.jsonl
	[ "$output" = 'no differences · 1 rollout · 6 steps' ]
	cmp lake.jsonl before
	[ ! -e lake.jsonl.new ]
	# an unstripped recording works, too
	expect 0 rolldbg replay raw.jsonl --quiet
	[ -z "$output" ]
}

@test "a difference: first step, pointer, expected and got; FILE.new, and --accept" {
	golden lake DOWN,DOWN,RIGHT
	cp lake.jsonl before
	expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	has "$output" $'lake.jsonl: rollout FrozenLake-v1.0\n'
	has "$output" $'  step 1  lake_move action=DOWN\n    /state/position  4 -> 8\n'
	has "$output" '  first divergence: the reset; from there on 3 calls, 3 ok, 3 effective; finished, reward 0.0'
	has "$output" 'written: lake.jsonl.new'
	has "$output" 'recorded: '
	cmp lake.jsonl before
	# FILE.new is a golden of that environment
	cp lake.jsonl.new other.jsonl
	expect 0 rolldbg replay other.jsonl --env 'builtin:frozen_lake?map=8x8'
	expect 0 rolldbg replay lake.jsonl
	[ ! -e lake.jsonl.new ]
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --accept
	has "$output" 'accepted: lake.jsonl'
	cmp lake.jsonl other.jsonl
}

@test "GOLDEN.new cannot be written: exit 5, and differences are still printed" {
	golden lake DOWN,DOWN,RIGHT
	mkdir lake.jsonl.new
	expect 5 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	has "$output" '/state/position  4 -> 8'
	has "$stderr" 'cannot write lake.jsonl.new'
	[ -z "$(ls ./*.partial 2>/dev/null)" ]
}

@test "as JSON lines" {
	golden lake DOWN,DOWN
	expect 1 rolldbg replay --json lake.jsonl --env 'builtin:frozen_lake?fault=drop-iserror'
	[ "$(jq -c 'select(.type == "divergence") | [.step, .calls, .ok, .effective, .status, .expected_status]' <<<"$output")" = \
		'[1,1,0,0,"finished","finished"]' ]
	[ "$(jq -cs 'map(select(.type == "difference"))[0] | [.type, .file, .line, .step, .pointer, .expected, .got]' <<<"$output")" = \
		'["difference","lake.jsonl","step",1,"/outcome","ok","tool-error"]' ]
	[ "$(jq -cs '.[-1] | [.type, .rollouts, .different]' <<<"$output")" = '["summary",1,1]' ]
}

@test "masks of the golden and of the options, and tolerances" {
	golden lake DOWN,DOWN --mask '/observation/grid' --mask '/state/grid'
	expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	lacks "$output" grid
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --mask '/**/position'
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --tolerance /state/position=12 \
		--tolerance /observation/position=12
}

@test "GOLDEN.masks: masks next to a golden" {
	golden lake DOWN,DOWN
	printf '# drawn next to the fact\n/observation/grid\n\n  /**/position  \r\n' >lake.jsonl.masks
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	[ -z "$stderr" ]
	# --accept keeps them as masks of the new golden
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8&fault=drop-iserror' --accept
	[ "$(jq -c 'select(.type == "header") | .masks' lake.jsonl)" = '["/observation/grid","/**/position"]' ]
	printf '# first\nstate\n' >lake.jsonl.masks
	expect 3 rolldbg replay lake.jsonl
	has "$stderr" "lake.jsonl.masks:2: 'state' is not a JSON Pointer"
	rm lake.jsonl.masks
	mkdir lake.jsonl.masks
	expect 3 rolldbg replay lake.jsonl
	has "$stderr" 'lake.jsonl.masks'
}

@test "a mask that matches nothing is reported once, with the nearest pointer" {
	mkdir goldens
	golden goldens/a DOWN,DOWN --task a
	golden goldens/b DOWN,DOWN --task b
	printf '/observation/grd\n' >goldens/b.jsonl.masks
	expect 0 rolldbg replay goldens --mask /state/positions --mask '/**/gird' --mask /reward \
		--tolerance /nowhere/at/all=1 --unordered /state/position
	[ "$stderr" = "$(printf 'rolldbg: %s\n' \
		"--mask: '/state/positions' matches nothing in the goldens; did you mean '/state/position'?" \
		"--mask: '/**/gird' matches nothing in the goldens; did you mean '/**/grid'?" \
		"--tolerance: '/nowhere/at/all' matches nothing in the goldens" \
		"goldens/b.jsonl.masks:1: '/observation/grd' matches nothing in the goldens; did you mean '/observation/grid'?")" ]
	expect 2 rolldbg replay goldens --mask state
	has "$stderr" "--mask: 'state' is not a JSON Pointer"
}

# replay_edited SCRIPT OPTION...: replays lake.jsonl against itself as jq changes its lines.
replay_edited() {
	local script=$1
	shift
	jq -c "$script" lake.jsonl >edited.jsonl
	start player "$ROLLDBG" serve --port 0 edited.jsonl
	run --separate-stderr rolldbg replay lake.jsonl --env "$url" "$@"
	kill "$(cat player.pid)"
	rm player.pid
}

@test "options are proposed for what varies, and with them nothing differs; none for a fact" {
	golden lake DOWN,DOWN,RIGHT
	add='if .type == "step" then (.state, .observation) |= . + %s else . end'
	# shellcheck disable=SC2059 # a format
	jq -c "$(printf "$add" '{id: "9dc011d1", list: ["a", "b", "c"], x: 0.5}')" lake.jsonl >other.jsonl
	mv other.jsonl lake.jsonl
	# shellcheck disable=SC2059
	varied=$(printf "$add" '{id: "02e74d6a", list: ["c", "b", "a"], x: 0.500000001}')
	replay_edited "$varied"
	[ "$status" = 1 ]
	options=$(sed -n 's/^if that may differ from run to run: //p' <<<"$output")
	[ "$(xargs -n 2 <<<"$options" | sort -u | grep -c .)" = 6 ]
	# shellcheck disable=SC2086 # several options
	replay_edited "$varied" $options
	[ "$status" = 0 ]
	replay_edited 'if .step == 1 then .observation.id = "02e74d6a" | .reward = 1 else . end'
	[ "$status" = 1 ]
	lacks "$output" 'from run to run'
	lacks "$output" unstable
	replay_edited 'if .step == 1 then .observation.x = 7 else . end'
	has "$output" 'unstable or changed: /observation/x (no mask is proposed'
	lacks "$output" --mask
}

@test "a mask that hides a new member is not useless" {
	golden lake DOWN,DOWN
	replay_edited 'if .type == "step" then .observation.news = 1 else . end' --mask /observation/news
	[ "$status" = 0 ]
	[ -z "$stderr" ]
}

@test "--update, which writes nothing in CI" {
	golden lake DOWN,DOWN
	cp lake.jsonl before
	other='builtin:frozen_lake?map=8x8'
	CI=true expect 1 rolldbg replay lake.jsonl --env "$other"
	expect 1 rolldbg replay lake.jsonl --env "$other" --update none
	lacks "$output" written
	[ ! -e lake.jsonl.new ]
	CI=false expect 1 rolldbg replay lake.jsonl --env "$other"
	[ -e lake.jsonl.new ]
	rm lake.jsonl.new
	CI=true expect 1 rolldbg replay lake.jsonl --env "$other" --update new
	cmp lake.jsonl before
	has "$output" 'written: lake.jsonl.new'
	CI=true expect 0 rolldbg replay lake.jsonl --env "$other" --update all
	[ ! -e lake.jsonl.new ]
	has "$output" 'accepted: lake.jsonl'
	for wrong in '--update all --accept' '--review --accept' '--review --update none'; do
		# shellcheck disable=SC2086 # two words
		expect 2 rolldbg replay lake.jsonl $wrong
		has "$stderr" 'are mutually exclusive'
	done
	expect 2 rolldbg replay lake.jsonl --update some
	expect 2 rolldbg replay lake.jsonl --review
	has "$stderr" '--review needs a terminal'
}

@test "a call without a reply is a failure, not a lost environment" {
	golden lake DOWN,DOWN
	expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?fault=hang' --timeout 300ms
	has "$stderr" 'no response from'
	has "$stderr" 'was not replayed in full; not compared'
}

@test "--accept keeps a golden whose episode ends before all of its calls are sent" {
	golden a DOWN,RIGHT,DOWN,RIGHT --env 'builtin:frozen_lake?map=8x8' --task a
	golden b DOWN --task b --env 'builtin:frozen_lake?map=8x8'
	cat a.jsonl b.jsonl >both.jsonl
	cp both.jsonl before
	# on the small map the second call ends in a hole
	expect 1 rolldbg replay both.jsonl --env builtin:frozen_lake --accept
	has "$stderr" 'both.jsonl: rollout a.0 is not accepted: the environment ended the episode after 2 of its 4 calls; to keep only these, replace the golden by both.jsonl.new'
	head -n 7 both.jsonl | cmp - a.jsonl
	run ! cmp -s both.jsonl before
	[ "$(jq -s 'map(select(.type == "step" and .rollout == "a.0")) | length' both.jsonl.new)" = 2 ]
	mv both.jsonl.new both.jsonl
	expect 0 rolldbg replay both.jsonl
}

@test "--accept takes no outage for a golden" {
	golden lake DOWN,DOWN,RIGHT
	cp lake.jsonl before
	while IFS=$'\t' read -r fault class; do
		for option in --accept '--update all'; do
			# shellcheck disable=SC2086 # words
			expect 1 rolldbg replay lake.jsonl --env "builtin:frozen_lake?fault=$fault" $option
			has "$stderr" "lake.jsonl: rollout FrozenLake-v1.0 is not accepted: step 0 was answered in the golden, and now fails with $class"
			cmp lake.jsonl before
			[ -e lake.jsonl.new ]
		done
	done <<-'END'
		http-500	protocol
		no-tools	unknown-tool
	END
	# an error of the environment itself is one of its answers
	jq -c 'if .type == "step" and .step == 2 then .tool_call.arguments.action = "UPWARDS" else . end' before >lake.jsonl
	expect 0 rolldbg replay lake.jsonl --env builtin:frozen_lake --accept
	[ "$(jq -c 'select(.step == 2) | .error != null' lake.jsonl)" = true ]
}

@test "--accept keeps the conversation of a model's golden" {
	golden lake DOWN,DOWN,RIGHT
	jq -c 'if .type == "step" then .messages = [{"role":"assistant","content":"I go down"}] else . end' lake.jsonl >model
	for filter in . 'if .type == "step" then .messages = [] elif .type == "reset" then .messages = [{"role":"user","content":"Go"}] else . end'; do
		jq -c "$filter" model >lake.jsonl
		cp lake.jsonl before
		expect 0 rolldbg replay lake.jsonl --accept
		cmp lake.jsonl before
		expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --accept
		has "$stderr" 'lake.jsonl: rollout FrozenLake-v1.0 is not accepted: a replay has no conversation with the model; record it again with run'
		cmp lake.jsonl before
	done
}

@test "a golden of another lake is not compared with the default one" {
	for options in '--env builtin:frozen_lake?map=8x8' '--env builtin:frozen_lake?map=random --seed 3' \
		'--env builtin:frozen_lake?protocol=openenv&map=random --seed 3'; do
		read -ra words <<<"$options"
		golden lake DOWN,DOWN "${words[@]}"
		expect 2 rolldbg replay lake.jsonl
		[ -z "$output" ]
		has "$stderr" 'lake.jsonl: rollout FrozenLake-v1.0 begins differently in the built-in lake, which is the environment without --env: name its environment with --env'
		[ ! -e lake.jsonl.new ]
		expect 2 rolldbg replay lake.jsonl --accept --json
		expect 1 rolldbg replay lake.jsonl --env builtin:frozen_lake
		rm lake.jsonl.new
	done
}

@test "--accept keeps the policy of the golden" {
	golden a DOWN,DOWN
	jq -c 'if .type == "header" then .policy = {"kind":"llm","name":"qwen","params":{"model":"q"}} else . end' a.jsonl >model.jsonl
	rolldbg strip model.jsonl >lake.jsonl
	jq -c 'select(.type == "header").policy' lake.jsonl >policy
	expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	jq -c 'select(.type == "header").policy' lake.jsonl.new | cmp - policy
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8' --accept
	jq -c 'select(.type == "header").policy' lake.jsonl | cmp - policy
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	expect 0 rolldbg check lake.jsonl
}

# on_terminal CODE KEYS COMMAND...: types the keys when the program asks for them; sets $output.
on_terminal() {
	expect "$1" python3 "$data/on_terminal.py" "${@:2}"
}

@test "--review: one key for each rollout that differs" {
	command -v python3 >/dev/null || skip 'no python3'
	mkdir goldens
	for n in 1 2 3; do
		golden goldens/$n DOWN,DOWN --task "task$n"
	done
	golden goldens/many DOWN -g 2 --task many
	cp -r goldens before
	other='builtin:frozen_lake?map=8x8'
	on_terminal 1 arsxar "$ROLLDBG" replay goldens --env "$other" --review
	has "$output" 'goldens/1.jsonl: rollout task1.0 [a,r,s,A,q,?]? accepted'
	has "$output" 'goldens/3.jsonl: rollout task3.0 [a,r,s,A,q,?]? skipped'
	[ "$(cd goldens && echo *)" = '1.jsonl 2.jsonl 3.jsonl 3.jsonl.new many.jsonl' ]
	run ! cmp -s goldens/1.jsonl before/1.jsonl
	cmp goldens/2.jsonl before/2.jsonl
	cmp goldens/3.jsonl before/3.jsonl
	# of the last file's two rollouts, one was accepted and the other one is unchanged
	expect 1 rolldbg replay goldens/many.jsonl --env "$other" --json
	[ "$(jq -cs 'map(.rollout) | unique' <<<"$output")" = '[null,"many.1"]' ]
	expect 0 rolldbg replay goldens/1.jsonl --env "$other"
	rm -r goldens && cp -r before goldens
	on_terminal 0 aaaaa "$ROLLDBG" replay goldens --env "$other" --review
	expect 0 rolldbg replay goldens --env "$other"
	# for all that follow
	rm -r goldens && cp -r before goldens
	on_terminal 1 q "$ROLLDBG" replay goldens --env "$other" --review
	has "$output" 'goldens/1.jsonl: rollout task1.0 [a,r,s,A,q,?]? skipped, like all that follow'
	lacks "$output" 'rollout task2.0 ['
	diff -r -x '*.new' goldens before
	on_terminal 0 '?A' "$ROLLDBG" replay goldens --env "$other" --review
	has "$output" '  q  skip this one and all that follow'
	has "$output" '[a,r,s,A,q,?]? accepted, like all that follow'
	expect 0 rolldbg replay goldens --env "$other"
	# an episode that ends early is not asked about
	golden early DOWN,RIGHT,DOWN --env "$other"
	on_terminal 1 '' "$ROLLDBG" replay early.jsonl --env builtin:frozen_lake --review
	has "$output" 'is not accepted: the environment ended the episode after 2 of its 3 calls'
	# end of input (Ctrl-D)
	rm -r goldens && cp -r before goldens
	on_terminal 1 $'\004\004\004\004\004' "$ROLLDBG" replay goldens --env "$other" --review
	diff -r -x '*.new' goldens before
}

@test "shards: files by the hash of their path" {
	mkdir goldens
	for n in 1 2 3 4 5; do
		golden goldens/$n DOWN --task "task$n"
	done
	expect 0 rolldbg replay goldens --shard 2/2
	has "$stderr" 'shard 2 of 2: '
	has "$stderr" ' of 5 goldens'
	total=0
	for i in 1 2 3; do
		total=$((total + $(rolldbg replay goldens --shard $i/3 --json | jq 'select(.type == "summary") | .rollouts')))
	done
	[ $total = 5 ]
	# an empty shard succeeds
	expect 0 rolldbg replay goldens --shard 600/1000
	has "$stderr" 'shard 600 of 1000: 0 of 5 goldens'
	for wrong in 0/2 3/2 2 x/2 1/0 -1/2; do
		expect 2 rolldbg replay goldens --shard $wrong
		has "$stderr" "--shard: expected I/N with I from 1 to N such as 2/4, or auto, got '$wrong'"
	done
}

@test "goldens that are obsolete or missing, judged on full runs only" {
	mkdir goldens
	for n in 1 2 3; do
		golden goldens/$n DOWN --task "task$n"
	done
	printf '{"id":"task%s"}\n' 1 2 4 >tasks.jsonl
	expect 1 rolldbg replay goldens --tasks tasks.jsonl
	has "$output" 'goldens/3.jsonl: obsolete: rollout task3.0 belongs to no task in tasks.jsonl'
	has "$output" 'tasks.jsonl:3: missing: task task4 has no golden'
	expect 1 rolldbg replay goldens --tasks tasks.jsonl --json
	[ "$(jq -c 'select(.type == "golden") | [.kind, .file, .task]' <<<"$output")" = \
		$'["obsolete","goldens/3.jsonl","task3"]\n["missing","tasks.jsonl","task4"]' ]
	for part in 'goldens --shard 1/2' goldens/1.jsonl; do
		# shellcheck disable=SC2086 # several words
		expect 0 rolldbg replay $part --tasks tasks.jsonl
		has "$stderr" 'not checked: which goldens are obsolete or missing'
	done
	rm goldens/3.jsonl
	golden goldens/4 DOWN --task task4
	expect 0 rolldbg replay goldens --tasks tasks.jsonl
	expect 3 rolldbg replay goldens --tasks missing.jsonl
}

@test "--update new records the goldens that are missing" {
	mkdir goldens
	golden goldens/1 DOWN --task task1
	printf '{"id":"one","actions":"DOWN"}\n' >tasks.jsonl
	mkdir empty
	expect 1 rolldbg replay empty --tasks tasks.jsonl --update none
	has "$output" 'tasks.jsonl:1: missing: task one has no golden'
	expect 0 rolldbg replay empty --tasks tasks.jsonl --update all
	expect 0 rolldbg replay empty --tasks tasks.jsonl --update none
	[ "$output" = 'no differences · 1 rollout · 1 step' ]
	printf '{"id":"task1"}\n{"id":"a/b","actions":"RIGHT,DOWN","seed":3}\n{"id":"task3"}\n' >tasks.jsonl
	CI=true expect 1 rolldbg replay goldens --tasks tasks.jsonl
	has "$output" 'tasks.jsonl:2: missing: task a/b has no golden (record one with --update new)'
	expect 1 rolldbg replay goldens --tasks tasks.jsonl --update none
	expect 4 rolldbg replay goldens --tasks tasks.jsonl --env http://127.0.0.1:9/mcp --keep-going
	[ "$(ls goldens)" = 1.jsonl ]
	expect 1 rolldbg replay goldens --tasks tasks.jsonl --mask /reward --report junit:j.xml --report sarif:s.json
	has "$output" 'recorded: goldens/a%2Fb.0.jsonl'
	has "$output" 'missing: task task3 has no golden (record one with run, then strip it)'
	has "$output" 'no differences · 1 rollout'
	[ "$(jq -r '[.runs[].results[].level] | join(",")' s.json)" = error ]
	rolldbg run --quiet --actions RIGHT,DOWN --seed 3 --task a/b --mask /reward --out run.jsonl
	rolldbg strip run.jsonl | cmp - goldens/a%2Fb.0.jsonl
	sed -i '$d' tasks.jsonl
	CI=true expect 0 rolldbg replay goldens --tasks tasks.jsonl
	rm goldens/a*
	expect 0 rolldbg replay goldens --tasks tasks.jsonl --json
	[ "$(jq -c 'select(.type == "golden") | [.kind, .file, .task]' <<<"$output")" = '["recorded","goldens/a%2Fb.0.jsonl","a/b"]' ]
	expect 0 rolldbg replay goldens/1.jsonl --tasks tasks.jsonl # a single file is not a full run
	rm goldens/a*
	expect 0 rolldbg replay goldens --shard 1/1 --tasks tasks.jsonl
	[ "$(find goldens -name 'a*')" = '' ]
}

@test "more goldens than the first allocation holds" {
	rolldbg run --quiet --seed 1 --actions DOWN -g 70 --out many.jsonl
	expect 0 rolldbg replay many.jsonl --jobs 4
	[ "$output" = 'no differences · 70 rollouts · 70 steps' ]
	rolldbg strip many.jsonl >golden.jsonl
	expect 0 rolldbg replay golden.jsonl --env 'builtin:frozen_lake?map=8x8' --accept
	expect 0 rolldbg replay golden.jsonl --env 'builtin:frozen_lake?map=8x8'
}

@test "no environment for the first golden: without --keep-going the others are not tried" {
	mkdir goldens
	for n in 1 2 3; do
		golden goldens/$n DOWN --task "task$n"
	done
	expect 4 rolldbg replay goldens --env http://127.0.0.1:9/mcp
	has "$stderr" '2 rollouts were not tried after that (--keep-going tries all)'
	expect 4 rolldbg replay goldens --env http://127.0.0.1:9/mcp --keep-going
	lacks "$stderr" 'not tried'
	[ "$(grep -c 'was not replayed in full' <<<"$stderr")" = 3 ]
}

@test "a golden without a seed, a tool that was removed or has another schema" {
	rolldbg run --quiet --actions DOWN --out raw.jsonl --env 'builtin:frozen_lake?map=random'
	rolldbg strip raw.jsonl >unseeded.jsonl
	expect 1 rolldbg replay unseeded.jsonl --env 'builtin:frozen_lake?map=8x8'
	has "$stderr" 'unseeded.jsonl: rollout FrozenLake-v1.0 began differently; in one more session the environment begins as in the replay: it has changed since'
	golden lake DOWN,DOWN
	expect 1 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?map=8x8'
	has "$stderr" 'in one more session with seed 42 the environment begins as in the replay'
	sed 's/"name":"lake_move"/"name":"lake_mov"/g' lake.jsonl >gone.jsonl
	expect 1 rolldbg replay gone.jsonl
	expect 1 rolldbg replay lake.jsonl --env builtin:desk
	has "$stderr" "lake.jsonl: rollout FrozenLake-v1.0: this golden is of FrozenLake-v1; the environment is Desk-v1 and has no tool 'lake_move'"
	rm lake.jsonl.new
	expect 1 rolldbg replay gone.jsonl
	has "$output" $'  header\n    /tools/lake_mov/name  lake_mov -> lake_move\n'
	sed 's/"LEFT"/"WEST"/' lake.jsonl >schema.jsonl
	run ! cmp -s lake.jsonl schema.jsonl
	expect 1 rolldbg replay schema.jsonl
	has "$output" '/tools/lake_move/inputSchema/properties/action/enum/WEST  WEST removed'
	has "$stderr" 'schema.jsonl: compatible tool change: /tools/lake_move/inputSchema/properties/action/enum/LEFT added'
}

@test "changes of tools: the exit code of each under each rule, in JSON, and in JUnit" {
	golden lake DOWN
	while IFS=';' read -r name edit codes; do
		jq -c "if .type == \"header\" then .tools |= ($edit) else . end" lake.jsonl >"$name.jsonl"
		run ! cmp -s lake.jsonl "$name.jsonl"
		# shellcheck disable=SC2086 # words
		set -- $codes
		for rule in strict compatible ignore; do
			expect "$1" rolldbg replay "$name.jsonl" --tools "$rule" --json --report "junit:$name.xml"
			[ "$(jq -s 'map(select(.line? == "header" and .type == "difference")) | length > 0' <<<"$output")" = "$([ "$1" = 1 ] && echo true || echo false)" ]
			[ "$(grep -c '<failure' "$name.xml")" = "$1" ]
			shift
		done
	done <<-'END'
		removed;. + [{"name":"gone","inputSchema":{"type":"object"}}];1 1 0
		renamed;map(.name = "lake_go");1 1 0
		required;map(.inputSchema.required = []);1 1 0
		narrowed;map(.inputSchema.properties.action = {"type":"string"});1 1 0
		optional;map(.inputSchema.properties.action.enum |= .[:3]);1 0 0
		added;[];1 0 0
		text;map(.description = "Moves.");1 0 0
	END
	expect 0 rolldbg replay text.jsonl
	has "$stderr" 'text.jsonl: text tool change: /tools/lake_move/description changed'
	expect 2 rolldbg replay text.jsonl --tools some
}

@test "a suite: files and directories, several at a time, with different ids" {
	mkdir goldens
	for n in 1 2 3 4; do
		golden goldens/$n DOWN,RIGHT --task "task$n"
	done
	expect 0 rolldbg replay goldens --jobs 4
	[ "$output" = 'no differences · 4 rollouts · 8 steps' ]
	[ -z "$stderr" ]
	cp goldens/1.jsonl again.jsonl
	expect 0 rolldbg replay goldens again.jsonl --jobs 4
	has "$stderr" 'two goldens have the rollout id task1.0: replayed one at a time'
	rolldbg run --quiet --actions DOWN -g 5 -j 5 --out many.jsonl
	expect 0 rolldbg replay many.jsonl --jobs 3
	[ "$output" = 'no differences · 5 rollouts · 5 steps' ]
}

@test "an environment that is unreachable or refuses: nothing is accepted" {
	golden lake DOWN,DOWN
	cp lake.jsonl before
	expect 4 rolldbg replay lake.jsonl --env http://127.0.0.1:9/mcp --accept
	has "$stderr" 'connection refused'
	has "$stderr" 'lake.jsonl: rollout FrozenLake-v1.0 was not replayed in full; not compared'
	expect 0 rolldbg replay lake.jsonl --env 'builtin:frozen_lake?max_envs=1'
	golden two DOWN -g 2 --task two
	expect 1 rolldbg replay two.jsonl --jobs 2 --env 'builtin:frozen_lake?max_envs=1&delay=500ms' --accept
	cmp lake.jsonl before
	[ ! -e lake.jsonl.new ] && [ ! -e two.jsonl.new ]
	[ "$(grep -c '"outcome":"ok"' two.jsonl)" = 4 ]
}

@test "calls of a model, and calls that were never sent" {
	golden lake DOWN,RIGHT
	# a turn without a call, and a turn whose call was not sent
	awk '{ print } NR == 2 {
		print "{\"type\":\"step\",\"rollout\":\"FrozenLake-v1.0\",\"turn\":7,\"step\":null,\"state\":null,\"tool_call\":null}"
		print "{\"type\":\"step\",\"rollout\":\"FrozenLake-v1.0\",\"turn\":8,\"step\":null,\"state\":null,\"tool_call\":{\"id\":\"x\",\"name\":\"lake_move\",\"arguments\":{}},\"outcome\":\"not-sent\"}"
	}' lake.jsonl | sed '$ s/"lines":5/"lines":7/' >model.jsonl
	expect 0 rolldbg replay model.jsonl
	[ "$output" = 'no differences · 1 rollout · 2 steps' ]
}

@test "run --policy RECORDING: its calls, without a comparison" {
	golden lake DOWN,UP,DOWN
	expect 0 rolldbg run --policy lake.jsonl --env 'builtin:frozen_lake?map=8x8' --out again.jsonl --quiet
	[ "$(jq -r 'select(.type == "step") | .tool_call.arguments.action' again.jsonl | paste -sd,)" = DOWN,UP,DOWN ]
	[ "$(jq -r 'select(.type == "header") | .policy.kind' again.jsonl)" = replay ]
	expect 2 rolldbg run --policy lake.jsonl --actions DOWN
	has "$stderr" 'cannot be combined with --actions, --call or a model'
	rolldbg run --quiet --actions DOWN -g 2 --out many.jsonl
	# several rollouts: a task each, or those of the tasks
	rolldbg run --quiet --actions RIGHT --seed 5 --task b --out b.jsonl
	cat b.jsonl >>many.jsonl
	expect 0 rolldbg run --policy many.jsonl --out each.jsonl
	[ "$(jq -r 'select(.type == "step") | "\(.rollout) \(.tool_call.arguments.action)"' each.jsonl | sort | paste -sd,)" = 'b.0 RIGHT,env.0 DOWN,env.1.0 DOWN' ]
	[ "$(jq -c 'select(.type == "header") | .seed' each.jsonl | sort | paste -sd,)" = 5,null,null ]
	printf '{"id":"b"}\n' >tasks.jsonl
	expect 0 rolldbg run --policy many.jsonl --tasks tasks.jsonl --out one.jsonl
	[ "$(jq -c 'select(.type == "step").tool_call.arguments.action' one.jsonl)" = '"RIGHT"' ]
	printf '{"id":"c"}\n' >>tasks.jsonl
	expect 3 rolldbg run --policy many.jsonl --tasks tasks.jsonl
	has "$stderr" 'tasks.jsonl:2: many.jsonl has no rollout of task c'
	expect 2 rolldbg run --policy many.jsonl --task q
	# the server lacks the tool: nothing is sent without --force-call
	sed -i 's/"name":"lake_move"/"name":"lake_mov"/g' lake.jsonl
	expect 3 rolldbg run --policy lake.jsonl
	has "$stderr" "did you mean 'lake_move'?"
}

@test "goldens that cannot be used: exit 3, with the reason" {
	golden lake DOWN,DOWN
	grep -v '"type":"end"' lake.jsonl >no-end.jsonl
	expect 3 rolldbg replay no-end.jsonl
	has "$stderr" 'no-end.jsonl: rollout FrozenLake-v1.0 has no end line: only a complete recording can be replayed'
	head -c -9 lake.jsonl >torn.jsonl
	expect 3 rolldbg replay torn.jsonl
	has "$stderr" 'torn.jsonl:5: the last line is truncated: only a complete recording can be replayed'
	sed 4d lake.jsonl >lost.jsonl
	expect 3 rolldbg replay lost.jsonl
	has "$stderr" 'lost.jsonl: rollout FrozenLake-v1.0 is incomplete: its end line counts 5 lines, but the file has 4; record it again'
	[ ! -e lost.jsonl.new ]
	echo nothing >foreign.jsonl
	expect 3 rolldbg replay foreign.jsonl
	: >empty.jsonl
	expect 3 rolldbg replay empty.jsonl
	expect 3 rolldbg replay missing.jsonl
	sed 's/"version":1/"version":9/' lake.jsonl >newer.jsonl
	expect 3 rolldbg replay newer.jsonl
	has "$stderr" 'newer.jsonl:1: '
	has "$stderr" 'version 9'
	expect 2 rolldbg replay
	expect 2 rolldbg replay lake.jsonl --jobs 0
	# nothing was sent or recorded
	[ -z "$(find state -name '*.jsonl')" ]
}

@test "a golden of another environment needs --env" {
	canned peer <<-'END'
		initialize	{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"shop","version":"1"}}
		tools/call	{"content":[{"type":"text","text":"done"}]}
	END
	rolldbg run --quiet --env "$url" --actions A,B --out peer.jsonl
	rolldbg run --quiet --env builtin:desk --policy random:1 --max-turns 1 --fail-on never --out desk.jsonl
	golden lake DOWN
	# a server with the name of the built-in lake
	sed 's/"version":"builtin-1"/"version":"1.30.0"/' lake.jsonl >gym.jsonl
	run ! cmp -s lake.jsonl gym.jsonl
	while read -r file name target; do
		for option in '' --accept --until-divergence; do
			# shellcheck disable=SC2086 # none or one word
			expect 2 rolldbg replay "$file" $option
			has "$stderr" "$file was recorded from $name, and the environment is builtin:frozen_lake without --env: name it with --env $target"
		done
	done <<-'END'
		peer.jsonl shop TARGET
		desk.jsonl Desk-v1 builtin:desk
		gym.jsonl FrozenLake-v1 TARGET
	END
	expect 2 rolldbg replay lake.jsonl peer.jsonl
	expect 0 rolldbg replay peer.jsonl --env "$url"
	expect 0 rolldbg replay gym.jsonl --env builtin:frozen_lake
}

@test "endless input does not fill the disk" {
	for command in replay debug; do
		expect 3 rolldbg "$command" /dev/zero
		has "$stderr" "/dev/zero:1: the line is longer than 64 MiB"
	done
}

@test "--out does not replace a golden, even with --force" {
	rolldbg run --quiet --out a.jsonl
	rolldbg strip a.jsonl >golden.jsonl
	cp golden.jsonl kept
	ln golden.jsonl other
	for out in golden.jsonl ./golden.jsonl other; do
		expect 2 rolldbg replay golden.jsonl --out $out --force
		has "$stderr" "--out $out: that is a golden; name another file, or replace the golden with --accept"
	done
	cmp golden.jsonl kept
	expect 0 rolldbg replay golden.jsonl --out a.jsonl --force
}

@test "a golden carries its state source, what it ignores, and whether it is of plain MCP" {
	local state want
	while IFS=$'\t' read -r state want; do
		# shellcheck disable=SC2086 # options
		rolldbg run --quiet --force --fail-on never --actions DOWN,DOWN,RIGHT $state --out a.jsonl
		rolldbg strip a.jsonl >golden.jsonl
		[ "$(head -n 1 golden.jsonl | jq -c '.state_source | del(.ignore)')" = "$want" ]
		expect 0 rolldbg replay golden.jsonl
		has "$output" 'no differences'
	done <<-'END'
		--state observation:/position	{"kind":"observation","pointer":"/position"}
		--state observation --ignore /grid	{"kind":"observation"}
		--state none	{"kind":"none"}
		--protocol mcp --state observation	{"kind":"observation"}
		--protocol mcp --state tool:lake_move:{"action":"UP"}	{"kind":"tool","tool":"lake_move","arguments":{"action":"UP"}}
		--state resource:game://frozen_lake/initial_state	{"kind":"resource","resource":"game://frozen_lake/initial_state"}
	END
	expect 1 rolldbg replay golden.jsonl --state control-plane
}

@test "many rollouts: what differs is told in a few lines, the most frequent first" {
	for n in 1 2 3; do
		rolldbg run --quiet --seed 42 --actions DOWN,DOWN --task "t$n" --out raw.jsonl --force
		rolldbg strip raw.jsonl >>many.jsonl
	done
	jq -c 'if .rollout == "t3.0" and .step == 0 then .reward = 5 else . end' many.jsonl >some.jsonl
	expect 1 rolldbg replay some.jsonl
	lacks "$output" $'what differs:\n  /reward changed: 2'
	has "$output" $'what differs:\n  /reward changed: 1 of 3 rollouts\n1 of 3 rollouts differs'
	expect 1 rolldbg replay many.jsonl --env 'builtin:frozen_lake?fault=drop-iserror'
	has "$output" '  /outcome ok -> tool-error: 3 of 3 rollouts'
}

@test "no seed is advised where only a clock differs" {
	rolldbg run --quiet --env builtin:desk --policy "$root/policies/desk-look.json" --ignore none --out raw.jsonl
	rolldbg strip raw.jsonl >desk.jsonl
	expect 1 rolldbg replay desk.jsonl --env builtin:desk --ignore none
	has "$output" '--mask /'
	lacks "$stderr" 'record the golden with --seed'
}

@test "a golden of --ignore none compares all of the state, and what is ignored does not grow" {
	local have
	rolldbg run --quiet --seed 1 --actions DOWN --ignore none --out raw.jsonl
	rolldbg strip raw.jsonl | jq -c 'if .state.grid then .state.grid = "another" else . end' >golden.jsonl
	expect 1 rolldbg replay golden.jsonl
	has "$output" '/state/grid'
	rolldbg run --quiet --seed 1 --actions DOWN --ignore /position --out raw.jsonl --force
	rolldbg strip raw.jsonl >golden.jsonl
	have=$(head -n 1 golden.jsonl | jq -c .state_source.ignore)
	jq -c 'if .step == 0 then .reward = 5 else . end' golden.jsonl >other.jsonl
	expect 1 rolldbg replay other.jsonl
	[ "$(head -n 1 other.jsonl.new | jq -c .state_source.ignore)" = "$have" ]
}

@test "an episode that begins differently each time: the environment ignores its seed" {
	start openenv "$ROLLDBG" serve --protocol openenv --port 0 --map random --fault seed-ignored
	env=ws${url#http}
	env=${env%/mcp}
	rolldbg run --quiet --env "$env" --seed 7 --actions RIGHT,RIGHT --task one --out raw.jsonl --fail-on never
	rolldbg run --quiet --env "$env" --seed 7 --actions RIGHT,RIGHT --task two --out raw2.jsonl --fail-on never
	rolldbg strip raw.jsonl raw2.jsonl >golden.jsonl
	expect 1 rolldbg replay golden.jsonl --env "$env"
	has "$stderr" 'began differently; in one more session with seed 7 the environment differs from itself: it ignores its seed'
	[ "$(grep -c 'one more session' <<<"$stderr")" = 1 ]
	sed 's/"seed":7/"seed":null/' golden.jsonl >unseeded.jsonl
	expect 1 rolldbg replay unseeded.jsonl --env "$env"
	has "$stderr" 'the environment differs from itself: its episodes are random (record the golden with --seed), or it shows the time'
}

# trained FILE: a trainer's log of two rollouts, whose calls are named after a method of its environment class
trained() {
	jq -nc '["DOWN RIGHT", "RIGHT"][] | {messages: ([{role: "user", content: "go"}] + ([split(" ")[] |
		{role: "assistant", content: "", tool_calls: [{id: "1", type: "function", function: {name: "move", arguments: ({action: .} | tojson)}}]},
		{role: "tool", tool_call_id: "1", content: "ok"}]))}' >"$1"
}

@test "--tool-map: calls that a trainer named after a method" {
	trained log.jsonl
	expect 1 rolldbg replay log.jsonl --env builtin:frozen_lake --update none
	[ "$(grep -c -- '--tool-map' <<<"$stderr")" = 1 ]
	has "$stderr" "log.jsonl calls 'move', and the environment has no such tool; if its 'lake_move' is meant: --tool-map move=lake_move"
	expect 1 rolldbg replay log.jsonl --env builtin:frozen_lake --update none --tool-map x=y --tool-map move=lake_move
	has "$output" $'  step 1  lake_move action=RIGHT\n    /observation'
	lacks "$output" tool-error
	lacks "$output" ' step 1  move'
	lacks "$stderr" --tool-map
	for map in move move= =step; do
		expect 2 rolldbg replay log.jsonl --env builtin:frozen_lake --tool-map "$map"
		has "$stderr" "--tool-map $map: not NAME=TOOL, such as move=step"
	done
	# as a policy: each of the rollouts, or one
	expect 0 rolldbg run --policy log.jsonl --tool-map move=lake_move
	has "$output" '2 rollouts'
	expect 2 rolldbg run --policy log.jsonl --rollout row-7
	expect 0 rolldbg run --policy log.jsonl --rollout row-1.0 --tool-map move=lake_move --out a.jsonl
	[ "$(jq -c 'select(.type == "step").tool_call | [.name, .arguments.action]' a.jsonl)" = '["lake_move","RIGHT"]' ]
}
