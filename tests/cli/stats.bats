#!/usr/bin/env bats
# Numbers beside the recordings: a trainer's log-probabilities.

# shellcheck disable=SC2154 # variables of lib.bash and of bats
load lib

kl=$BATS_TEST_DIRNAME/../../fixtures/check/kl-band

@test "check --trainer-logprobs: what the trainer says of the sampled tokens" {
	expect 0 rolldbg check --fail-on info --trainer-logprobs "$kl/good-near.trainer" "$kl/good-near.jsonl"
	# without the file there is nothing to compare with
	expect 0 rolldbg check --fail-on info "$kl/bad-apart.jsonl"
	expect 1 rolldbg check --fail-on warning --trainer-logprobs "$kl/bad-another-prompt.trainer" "$kl/bad-another-prompt.jsonl"
	has "$output" 'warning: kl-band: turns 0-5: KL of 72 tokens: k1 1.0'
	has "$output" 'conditioning_mismatch: mean |lr| is 1.5'
	# what was sampled with a temperature cannot be judged, and that is said
	expect 0 rolldbg check --fail-on warning --trainer-logprobs "$kl/bad-not-comparable.trainer" "$kl/bad-not-comparable.jsonl"
	has "$output" 'info: kl-band: '
	has "$output" 'not comparable, sent: temperature 0.7, top_p 0.9'
}

@test "check --trainer-logprobs: partners that are missing, or too many" {
	expect 1 rolldbg check --fail-on warning --trainer-logprobs "$kl/bad-named-otherwise.trainer" "$kl/good-near.jsonl"
	has "$output" 'warning: kl-band: 6 of 6 turns of the trainer'\''s file are in none of the recordings: are the rollouts named alike?'
	expect 1 rolldbg check --json --fail-on warning --trainer-logprobs "$kl/good-near.trainer" "$kl/good-near.jsonl" "$kl/good-older-shape.jsonl"
	has "$output" '"rollout":null,"task":null,"rule":"kl-band","severity":"warning"'
	has "$output" '6 of 6 turns of the trainer'\''s file were compared with several recorded ones'
}

@test "check --trainer-logprobs: a file that is none" {
	expect 3 rolldbg check --trainer-logprobs nowhere "$kl/good-near.jsonl"
	has "$stderr" 'cannot read nowhere: '
	printf '\n{"rollout":"lake.0","turn":"0","logprobs":[]}\n' >odd
	expect 3 rolldbg check --trainer-logprobs odd "$kl/good-near.jsonl"
	has "$stderr" 'odd:2: no "turn" that is a whole number from 0'
	printf '{"rollout":"lake.0","turn":0,"logprobs":[-Infinity]}' >odd
	expect 3 rolldbg check --trainer-logprobs odd "$kl/good-near.jsonl"
	has "$stderr" 'odd:1: '
}
