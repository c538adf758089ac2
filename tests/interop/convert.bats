#!/usr/bin/env bats
# The output of rolldbg convert, read by the programs that define the formats.

# shellcheck disable=SC2154 # variables of bats

bats_require_minimum_version 1.5.0
load lib

# valid_atif FILE..: validates with PyPI's atif, and checks step order and call ids, which atif does not.
valid_atif() {
	"$installed/formats/bin/python" - "$@" <<-'END'
		import sys, atif
		for path in sys.argv[1:]:
		    with open(path) as file:
		        steps = atif.Trajectory.model_validate_json(file.read()).steps
		    assert [step.step_id for step in steps] == list(range(1, len(steps) + 1)), path
		    for step in steps:
		        ids = [call.tool_call_id for call in step.tool_calls or []]
		        results = step.observation.results if step.observation else []
		        assert len(ids) == len(set(ids)), path
		        assert all(result.source_call_id in ids for result in results), path
	END
}

@test "ATIF: from a run, and from every format that is read" {
	"$ROLLDBG" run --quiet --out lake.jsonl
	"$ROLLDBG" convert --quiet lake.jsonl --to atif --out lake.json
	valid_atif lake.json
	for file in "$root"/fixtures/convert/*/in.*; do
		[[ $file != */map/* ]] || continue
		rm -rf written
		"$ROLLDBG" convert --quiet "$file" --to atif --out written/
		valid_atif written/*.json
	done
}

# playback_calls FILE: the calls that eval-protocol reads from a playback file, one line each.
playback_calls() {
	LITELLM_LOCAL_MODEL_COST_MAP=True EP_PLAYBACK_FILE=$1 "$installed/gym/bin/python" - <<-'END' 2>/dev/null
		import asyncio, json
		from eval_protocol.playback_policy import PlaybackPolicyBase

		class Player(PlaybackPolicyBase):
		    async def _generate_live_tool_calls(self, *_):
		        raise NotImplementedError

		player = Player()
		for environment in sorted(player._playback_actions):
		    while player.has_more_playback_data(int(environment)):
		        calls, *_ = asyncio.run(player([], int(environment), []))
		        print(environment, json.dumps([[call.tool_name, call.arguments] for call in calls]))
	END
}

@test "eval-protocol plays back what convert writes" {
	"$ROLLDBG" run --quiet --actions DOWN,DOWN,RIGHT --group-size 2 --out lake.jsonl
	"$ROLLDBG" convert --quiet lake.jsonl --to eval-protocol --out playback.jsonl
	run playback_calls playback.jsonl
	[ "$output" = '0 [["lake_move", {"action": "DOWN"}]]
0 [["lake_move", {"action": "DOWN"}]]
0 [["lake_move", {"action": "RIGHT"}]]
1 [["lake_move", {"action": "DOWN"}]]
1 [["lake_move", {"action": "DOWN"}]]
1 [["lake_move", {"action": "RIGHT"}]]' ]
}

@test "EvaluationRow: as eval-protocol's own model writes it" {
	LITELLM_LOCAL_MODEL_COST_MAP=True "$installed/gym/bin/python" - >rows.jsonl 2>/dev/null <<-'END'
		from eval_protocol.models import EvaluationRow, InputMetadata, Message, Status
		call = {"id": "c1", "type": "function", "function": {"name": "lake_move", "arguments": '{"action": "DOWN"}'}}
		messages = [
		    Message(role="user", content="Go."),
		    Message(role="assistant", content="", tool_calls=[call]),
		    Message(role="tool", tool_call_id="c1", content='{"position": 4}',
		            control_plane_step={"step": 0, "reward": 0.5, "terminated": True, "info": {}}),
		]
		row = EvaluationRow(messages=messages, input_metadata=InputMetadata(row_id="lake"))
		row.rollout_status = Status.rollout_finished()
		print(row.model_dump_json())
		row.rollout_status = Status.rollout_error("no environment")
		print(row.model_dump_json())
	END
	run "$ROLLDBG" convert rows.jsonl
	[ "$(jq -c 'select(.type == "step") | [.rollout, .outcome, .observation, .reward, .terminated]' <<<"$output")" = \
		'["lake.0","ok",{"position":4},0.5,true]
["lake.1","ok",{"position":4},0.5,true]' ]
	[ "$(jq -c 'select(.type == "end") | [.status, .total_reward]' <<<"$output")" = '["finished",0.5]
["failed",0.5]' ]
}
