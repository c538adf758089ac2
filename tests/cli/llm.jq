# Compares the results of the cases of one file of fixtures/llm ($cases[0]) with the expected ones: a line for each mismatch.
# Input: for each case {"part":"got","exit":N}, the lines of its recording, {"part":"verdict"}, those of --json.

def differences($want; $exit; $lines; $verdict):
	($lines | map(select(.type == "step"))) as $turns
	| ($lines | map(select(.type == "end")) | last) as $ending
	| ($turns | map(.llm | objects)) as $llm
	| ($lines | map(select(.type == "event" and .event == "retry"))) as $retries
	| {
		exit: $exit,
		status: $ending.status,
		steps: $ending.steps,
		executed: ([$turns[].env_steps | numbers] | max // 0),
		outcomes: ($turns | map(.outcome)),
		moves: ($turns | map(select(.outcome == "ok") | .tool_call.arguments.action)),
		ids: ($turns | map(.tool_call.id | strings)),
		parse: ($turns | map(.llm.parse)),
		said: ($turns | map(.messages[0] | select(.role == "assistant"))),
		seeds: ($turns | map(.llm.seed)),
		retries: ($retries | length),
		waits: ($retries | map(.detail.wait_ms)),
		error: ($llm | map(.error.class | strings) | last),
		tokens: ($llm[0] // {} | {
			prompt: .prompt_token_ids, ids: .token_ids, logprobs: (.logprobs.content | if . then map(.logprob) else null end),
			stop: .stop_reason, usage: .usage.total_tokens } | with_entries(select(.value != null))),
		findings: ($verdict | map(select(.type == "finding") | .rule) | unique),
	} as $got
	| if $want == {} then {want: "nothing is wanted"} else empty end, (
		$want | to_entries[]
		| if .value == "any" or .key == "secret" or .key == "says" then empty
		  elif .key == "reason" then select(($ending.reason // "") | contains($want.reason) | not) | {reason: $ending.reason, want: .value}
		  elif $got[.key] == .value then empty
		  else {(.key): $got[.key], want: .value} end
	);

reduce inputs as $line ([];
	if $line.part == "got" then . + [{exit: $line.exit, got: [], verdict: [], to: "got"}]
	elif $line.part == "verdict" then .[-1].to = "verdict"
	else .[-1][.[-1].to] += [$line] end)
| . as $played
| if ($played | length) != ($cases[0] | length) or ($played | length) < 2
  then "\($cases[0] | length) cases, \($played | length) played" else empty end,
  (range($played | length) as $i | $cases[0][$i] as $case | $played[$i] as $p
	| [differences($case.want; $p.exit; $p.got; $p.verdict)] | select(length > 0) | "\($case.case): \(tojson)")
