#!/usr/bin/env bats
# Third-party environments under OpenEnv 0.10: games of TextArena and sums of reasoning-gym, healthy and faulty. None may
# access the network.

load lib

setup_file() {
	at_once 'world hanoi --cap 2' 'world frozen_lake --cap 2' 'world wordle' 'world guess_who' 'world sums --cap 2' \
		'world 2048 --cap 4'
}

# world NAME [OPTIONS..]: starts the server of an environment, under its name.
world() {
	openenv_file "$1" 0.10 openenv_worlds.py --world "$@"
}

counts() {
	jq -c 'select(.type == "rollout") | [.status, .turns, .steps, .effective, .failed]' "$1.json"
}

@test "TowerOfHanoi: solved in seven moves, all of them effective" {
	drive hanoi 0 --env "$(url hanoi)" --actions '["[A C]","[A B]","[C B]","[A C]","[B A]","[B C]","[A C]"]'
	holds hanoi 'steps | map(.state.board.towers.C) == [[], [1], [1], [], [3], [3], [3, 2]]'
	holds hanoi 'ending.state.board.towers == {A: [], B: [], C: [3, 2, 1]}'
	holds hanoi 'steps | map(.reward) == [0, 0, 0, 0, 0, 0, 1]'
	no_findings hanoi
	[ "$(counts hanoi)" = '["terminated",7,7,7,0]' ]
}

@test "TowerOfHanoi: a move that is not allowed is a step without effect, not a failure" {
	drive bad 0 --env "$(url hanoi)" --actions '["[A C]","[A C]","[A B]","please","[C B]"]'
	holds bad 'steps | map(.outcome) | unique == ["ok"]'
	holds bad 'steps | map(.env_steps) == [1, 2, 3, 4, 5]'
	holds bad 'steps[1].observation.text | contains("larger disk on a smaller disk")'
	no_findings bad
	[ "$(counts bad)" = '["finished",5,5,3,0]' ]
}

@test "FrozenLake: to the goal, twice, with the same bytes after strip" {
	for run in one two; do
		drive $run 0 --env "$(url frozen_lake)" --seed 0 --actions '["[right]","[right]","[down]","[down]","[right]","[down]"]'
		holds $run 'ending | .state.board.player_pos == [3, 3] and .total_reward == 1'
		no_findings $run
		[ "$(counts $run)" = '["terminated",6,6,6,0]' ]
	done
	diff <("$ROLLDBG" strip one.jsonl) <("$ROLLDBG" strip two.jsonl)
}

# TextArena gives two thirds of the reward for a hole four steps from the start. No rule can detect this; the recording
# shows it.
@test "FrozenLake: a hole is rewarded with 0.667, and the state shows it" {
	drive hole 0 --env "$(url frozen_lake)" --seed 0 --actions '["[right]","[right]","[right]","[down]"]'
	holds hole 'steps[3] | .terminated == true and (.reward * 1000 | round) == 667'
	holds hole 'ending.state.board | .player_pos == [1, 3] and .grid[1][3] == "H"'
	no_findings hole
}

@test "Wordle without its word list: no episode begins, and the reason is reported" {
	run "$ROLLDBG" run --env "$(url wordle)" --actions '["[crane]","[slate]","[audio]"]' --out wordle.jsonl
	[ "$status" = 1 ]
	[[ $output == *"Resource 'words' not found"* && $output == *"the rollout did not start"* ]]
	holds wordle 'reset | .outcome == "tool-error" and .error.class == "environment" and .error.code == "EXECUTION_ERROR"'
	holds wordle 'reset.error.message | contains("words")'
	holds wordle 'steps == [] and ending.status == "refused"'
}

# Session and reset are fine; the game master is a model, which is unreachable.
@test "GuessWho without its game master: an illusion" {
	drive who 1 --env "$(url guess_who)" --seed 1 --actions '["Is it a man?","Is it a woman?","Is there a beard?","Is there a hat?"]'
	holds who 'reset.outcome == "ok"'
	holds who 'steps | all(.outcome == "tool-error" and .error.class == "environment" and .error.message == "Connection error.")'
	fires who "multi-step-illusion error"
	[ "$(counts who)" = '["finished",4,4,null,4]' ]
}

@test "reasoning-gym: one question, one answer, and no one-step-episode" {
	drive right 0 --env "$(url sums)" --seed 42 --actions 7
	holds right 'reset.observation.question | contains("4 + 3")'
	holds right 'steps | length == 1 and .[0].reward == 1 and .[0].terminated == true'
	no_findings right
	drive wrong 0 --env "$(url sums)" --seed 42 --actions 8
	holds wrong 'ending.total_reward == 0'
	no_findings wrong
	# Unused actions of the script are not a finding. The environment only repeats its question, so the effect of the
	# answer is not visible.
	drive long 0 --env "$(url sums)" --seed 42 --actions 7,8,9
	no_findings long
	[ "$(counts long)" = '["terminated",1,1,null,0]' ]
}

@test "reasoning-gym: the seed determines the question" {
	for seed in 42 42 7; do
		"$ROLLDBG" run --env "$(url sums)" --seed $seed --actions 0 --out - 2>run.err |
			jq -r 'select(.type == "reset") | .observation.question' >>questions
	done
	[ "$(sort -u questions | wc -l)" = 2 ]
	[ "$(head -n 2 questions | sort -u | wc -l)" = 1 ]
}

# probe_not_ok NAME EXIT_CODE OPTIONS..: "property status" of each property that is not ok.
probe_not_ok() {
	local got=0
	"$ROLLDBG" probe --json --env "$(url "$1")" "${@:3}" >"$1.lines" 2>"$1.err" || got=$?
	[ $got = "$2" ] || cat "$1.err" "$1.lines"
	jq -r 'select(.type == "property" and .status != "ok") | "\(.name) \(.status)"' "$1.lines" | paste -sd ,
}

# TextArena draws all games from Python's global generator.
@test "2048: a seed is reproducible until another session plays at the same time" {
	[ "$(probe_not_ok 2048 1 --need 4 --actions '["[up]","[left]","[down]","[right]"]')" = "release unknown,seed fail,contract unknown,reward unknown" ]
	jq -se 'any(.name == "seed" and (.evidence | contains("seed 42 repeats its episode alone, but not while another session calls")))' \
		2048.lines
}

@test "TowerOfHanoi: two isolated sessions, and nothing is random" {
	[ "$(probe_not_ok hanoi 0 --need 2 --actions '["[A C]","[A B]"]')" = "release unknown,seed unknown,reward unknown" ]
}
