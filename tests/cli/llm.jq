# What came of a case of fixtures/llm against what was wanted: the differences, [] when there are none.
# Input: the lines of the recording. $case, $exit, $findings (lines of --json), $said (standard error).
[
map(select(.type == "step")) as $turns
| (map(select(.type == "end")) | last) as $ending
| ($turns | map(.llm | objects)) as $llm
| map(select(.type == "event" and .event == "retry")) as $retries
| {
	exit: $exit,
	status: $ending.status,
	steps: $ending.steps,
	executed: ([$turns[].env_steps | numbers] | max // 0),
	outcomes: ($turns | map(.outcome)),
	moves: ($turns | map(select(.outcome == "ok") | .tool_call.arguments.action)),
	ids: ($turns | map(.tool_call.id | strings)),
	parse: ($turns | map(.llm.parse)),
	retries: ($retries | length),
	waits: ($retries | map(.detail.wait_ms)),
	error: ($llm | map(.error.class | strings) | last),
	tokens: ($llm[0] // {} | {
		prompt: .prompt_token_ids, ids: .token_ids, logprobs: (.logprobs.content | if . then map(.logprob) else null end),
		stop: .stop_reason, usage: .usage.total_tokens } | with_entries(select(.value != null))),
	findings: ($findings | map(.rule) | unique),
} as $got
| $case.want | to_entries[]
| if .value == "any" or .key == "secret" then empty
  elif .key == "reason" then select(($ending.reason // "") | contains($case.want.reason) | not) | {reason: $ending.reason, want: .value}
  elif .key == "says" then select($said | contains($case.want.says) | not) | {said: $said, want: .value}
  elif $got[.key] == .value then empty
  else {(.key): $got[.key], want: .value} end
]
