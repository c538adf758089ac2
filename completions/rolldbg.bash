# bash completion for rolldbg, written by `make completions` from the program's own tables.

_rolldbg_is_command()
{
	[[ ' run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help ' == *" $1 "* ]]
}

# The value of option $1 ("COMMAND:OPTION"); fails if it takes none.
_rolldbg_value()
{
	case $1 in
	:--color) _rolldbg_words 'auto always never' ;;
	:--config) _rolldbg_files -f ;;
	run:--env | run:-e) _rolldbg_target 'builtin:frozen_lake builtin:desk http:// https:// ws:// wss:// stdio: verifiers:' 'protocol=mcp protocol=openenv map=4x4 map=8x8 map=random map=random8x8 slippery=1 max_envs= fault=html-200 fault=http-500 fault=no-control-plane fault=no-tools fault=instance-shared fault=slow fault=hang fault=capacity fault=leak-slot fault=alias fault=seed-ignored fault=no-metadata fault=close-1011 fault=stateless fault=zombie fault=fallback-session fault=rebuild fault=session-churn fault=stale-reward fault=drop-iserror fault=bad-field fault=late-reply fault=disconnect allow_origin= delay=' ;;
	run:--seed | run:-s) _rolldbg_words '' ;;
	run:--actions | run:-a) _rolldbg_words '' ;;
	run:--call | run:-c) _rolldbg_words '' ;;
	run:--tool | run:-t) _rolldbg_words '' ;;
	run:--argument) _rolldbg_words '' ;;
	run:--policy | run:-p) _rolldbg_policy 'random: llm' ;;
	run:--rollout | run:-r) _rolldbg_words '' ;;
	run:--tool-map) _rolldbg_words '' ;;
	run:--max-turns | run:-n) _rolldbg_words '' ;;
	run:--break) _rolldbg_words '' ;;
	run:--mask) _rolldbg_words '' ;;
	run:--task) _rolldbg_words '' ;;
	run:--out | run:-o) _rolldbg_files -f ;;
	run:--tasks) _rolldbg_files -f ;;
	run:--group-size | run:-g) _rolldbg_words '' ;;
	run:--jobs | run:-j) _rolldbg_words '' ;;
	run:--shard) _rolldbg_words '' ;;
	run:--trainer) _rolldbg_words 'trl trl-async verifiers nemo-gym nemo-rl prime-rl verl' ;;
	run:--trainer-config) _rolldbg_files -f ;;
	run:--num-generations) _rolldbg_words '' ;;
	run:--per-device-train-batch-size) _rolldbg_words '' ;;
	run:--gradient-accumulation-steps) _rolldbg_words '' ;;
	run:--num-processes) _rolldbg_words '' ;;
	run:--steps-per-generation) _rolldbg_words '' ;;
	run:--generation-batch-size) _rolldbg_words '' ;;
	run:--eval-strategy) _rolldbg_words '' ;;
	run:--per-device-eval-batch-size) _rolldbg_words '' ;;
	run:--max-inflight-tasks) _rolldbg_words '' ;;
	run:--max-staleness) _rolldbg_words '' ;;
	run:--max-concurrent) _rolldbg_words '' ;;
	run:--num-samples-in-parallel) _rolldbg_words '' ;;
	run:--model) _rolldbg_words '' ;;
	run:--base-url) _rolldbg_words '' ;;
	run:--profile) _rolldbg_words 'generic openai vllm sglang llamacpp ollama fireworks anthropic' ;;
	run:--api) _rolldbg_words 'chat responses anthropic' ;;
	run:--key-env) _rolldbg_words '' ;;
	run:--allow-key-env) _rolldbg_words '' ;;
	run:--tool-mode) _rolldbg_words 'native json text' ;;
	run:--tool-format) _rolldbg_words 'auto hermes granite granite-20b-fc cohere command-r tool-calls functools toolcall gigachat3 apertus longcat internlm inkling k2-horizon dots llama deepseek kimi mistral plamo3 functionary seed-oss qwen-coder glm iquest dsml gigachat35 kimi-k3 muse step3 invoke minicpm5 minimax-m3 gemma4 function-gemma pythonic harmony mimo json' ;;
	run:--on-no-tool) _rolldbg_words 'stop nudge continue' ;;
	run:--model-timeout) _rolldbg_words '' ;;
	run:--model-retries) _rolldbg_words '' ;;
	run:--state) _rolldbg_words 'auto control-plane openenv verifiers resource: tool: observation none' ;;
	run:--ignore) _rolldbg_words '' ;;
	run:--reset-json) _rolldbg_words '' ;;
	run:--error-text) _rolldbg_words '' ;;
	run:--timeout) _rolldbg_words '' ;;
	run:--open-timeout) _rolldbg_words '' ;;
	run:--wait) _rolldbg_words '' ;;
	run:--serve) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	run:--protocol) _rolldbg_words 'openenv openenv-http ors nemo-gym verifiers mcp mcp-gym' ;;
	run:--era) _rolldbg_words 'legacy modern auto' ;;
	run:--secret-env) _rolldbg_words '' ;;
	run:--secret) _rolldbg_words '' ;;
	run:--pass-env) _rolldbg_words '' ;;
	run:--ca-file) _rolldbg_files -f ;;
	run:--header | run:-H) _rolldbg_files -f ;;
	run:--header-env) _rolldbg_words '' ;;
	run:--report) _rolldbg_words 'table json junit: tap sarif: github markdown:' ;;
	run:--fail-on) _rolldbg_words 'error warning info never' ;;
	run:--only) _rolldbg_list 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	run:--without) _rolldbg_list 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	run:--read-only) _rolldbg_words '' ;;
	run:--noop) _rolldbg_words '' ;;
	run:--baseline) _rolldbg_files -f ;;
	run:--effect) _rolldbg_words '' ;;
	run:--expect-error) _rolldbg_words '' ;;
	run:--min-effective) _rolldbg_words '' ;;
	run:--max-environment-failures) _rolldbg_words '' ;;
	check:--jobs | check:-j) _rolldbg_words '' ;;
	check:--ignore) _rolldbg_words '' ;;
	check:--tools) _rolldbg_files -f ;;
	check:--reward) _rolldbg_words '' ;;
	check:--trainer-logprobs) _rolldbg_files -f ;;
	check:--shard) _rolldbg_words '' ;;
	check:--html) _rolldbg_files -f ;;
	check:--explain) _rolldbg_words 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	check:--report) _rolldbg_words 'table json junit: tap sarif: github markdown:' ;;
	check:--fail-on) _rolldbg_words 'error warning info never' ;;
	check:--only) _rolldbg_list 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	check:--without) _rolldbg_list 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	check:--read-only) _rolldbg_words '' ;;
	check:--noop) _rolldbg_words '' ;;
	check:--baseline) _rolldbg_files -f ;;
	check:--effect) _rolldbg_words '' ;;
	check:--expect-error) _rolldbg_words '' ;;
	check:--min-effective) _rolldbg_words '' ;;
	check:--max-environment-failures) _rolldbg_words '' ;;
	show:--turn | show:-t) _rolldbg_words '' ;;
	show:--rollout | show:-r) _rolldbg_words '' ;;
	show:--html) _rolldbg_files -f ;;
	replay:--env | replay:-e) _rolldbg_target 'builtin:frozen_lake builtin:desk http:// https:// ws:// wss:// stdio: verifiers:' 'protocol=mcp protocol=openenv map=4x4 map=8x8 map=random map=random8x8 slippery=1 max_envs= fault=html-200 fault=http-500 fault=no-control-plane fault=no-tools fault=instance-shared fault=slow fault=hang fault=capacity fault=leak-slot fault=alias fault=seed-ignored fault=no-metadata fault=close-1011 fault=stateless fault=zombie fault=fallback-session fault=rebuild fault=session-churn fault=stale-reward fault=drop-iserror fault=bad-field fault=late-reply fault=disconnect allow_origin= delay=' ;;
	replay:--seed | replay:-s) _rolldbg_words '' ;;
	replay:--tool-map) _rolldbg_words '' ;;
	replay:--update) _rolldbg_words 'none new all' ;;
	replay:--tasks) _rolldbg_files -f ;;
	replay:--shard) _rolldbg_words '' ;;
	replay:--jobs | replay:-j) _rolldbg_words '' ;;
	replay:--out | replay:-o) _rolldbg_files -f ;;
	replay:--mask) _rolldbg_words '' ;;
	replay:--tolerance) _rolldbg_words '' ;;
	replay:--unordered) _rolldbg_words '' ;;
	replay:--tools) _rolldbg_words 'strict compatible ignore' ;;
	replay:--report) _rolldbg_words 'table json junit: tap sarif: github markdown:' ;;
	replay:--state) _rolldbg_words 'auto control-plane openenv verifiers resource: tool: observation none' ;;
	replay:--ignore) _rolldbg_words '' ;;
	replay:--reset-json) _rolldbg_words '' ;;
	replay:--error-text) _rolldbg_words '' ;;
	replay:--timeout) _rolldbg_words '' ;;
	replay:--open-timeout) _rolldbg_words '' ;;
	replay:--wait) _rolldbg_words '' ;;
	replay:--serve) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	replay:--protocol) _rolldbg_words 'openenv openenv-http ors nemo-gym verifiers mcp mcp-gym' ;;
	replay:--era) _rolldbg_words 'legacy modern auto' ;;
	replay:--secret-env) _rolldbg_words '' ;;
	replay:--secret) _rolldbg_words '' ;;
	replay:--pass-env) _rolldbg_words '' ;;
	replay:--ca-file) _rolldbg_files -f ;;
	replay:--header | replay:-H) _rolldbg_files -f ;;
	replay:--header-env) _rolldbg_words '' ;;
	diff:--rollout | diff:-r) _rolldbg_words '' ;;
	diff:--html) _rolldbg_files -f ;;
	diff:--mask) _rolldbg_words '' ;;
	diff:--tolerance) _rolldbg_words '' ;;
	diff:--unordered) _rolldbg_words '' ;;
	strip:--mask) _rolldbg_words '' ;;
	stats:--by | stats:-b) _rolldbg_words 'task none' ;;
	stats:--tools) _rolldbg_files -f ;;
	stats:--reward) _rolldbg_words '' ;;
	stats:--trainer-logprobs) _rolldbg_files -f ;;
	stats:--shard) _rolldbg_words '' ;;
	stats:--names) _rolldbg_words 'trl verl' ;;
	stats:--html) _rolldbg_files -f ;;
	stats:--max-environment-failures) _rolldbg_words '' ;;
	list:--finding) _rolldbg_words 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	list:--env | list:-e) _rolldbg_words '' ;;
	list:--since) _rolldbg_words '' ;;
	list:--prune) _rolldbg_words '' ;;
	list:--missing) _rolldbg_files -d ;;
	convert:--from) _rolldbg_mixed 'rolldbg map: tau-bench tau2 nemo-gym harbor eval-protocol-log claude-code codex codex-2025 chat eval-protocol evaluation-row openenv-collect openenv-capture verifiers atif gemini-cli openhands mini-swe-agent swe-agent inspect scout agent-vcr verl trl-completions trl art openai' ;;
	convert:--tools) _rolldbg_files -f ;;
	convert:--reward) _rolldbg_words '' ;;
	convert:--to) _rolldbg_words 'rolldbg eval-protocol openenv-collect atif scout trl-completions trl openai' ;;
	convert:--out | convert:-o) _rolldbg_files -f ;;
	convert:--rollout | convert:-r) _rolldbg_words '' ;;
	debug:--env | debug:-e) _rolldbg_target 'builtin:frozen_lake builtin:desk http:// https:// ws:// wss:// stdio: verifiers:' 'protocol=mcp protocol=openenv map=4x4 map=8x8 map=random map=random8x8 slippery=1 max_envs= fault=html-200 fault=http-500 fault=no-control-plane fault=no-tools fault=instance-shared fault=slow fault=hang fault=capacity fault=leak-slot fault=alias fault=seed-ignored fault=no-metadata fault=close-1011 fault=stateless fault=zombie fault=fallback-session fault=rebuild fault=session-churn fault=stale-reward fault=drop-iserror fault=bad-field fault=late-reply fault=disconnect allow_origin= delay=' ;;
	debug:--seed | debug:-s) _rolldbg_words '' ;;
	debug:--actions | debug:-a) _rolldbg_words '' ;;
	debug:--call | debug:-c) _rolldbg_words '' ;;
	debug:--tool | debug:-t) _rolldbg_words '' ;;
	debug:--argument) _rolldbg_words '' ;;
	debug:--policy | debug:-p) _rolldbg_policy 'random: llm' ;;
	debug:--command-file | debug:-x) _rolldbg_files -f ;;
	debug:--ex) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	debug:--interpreter) _rolldbg_words 'text json' ;;
	debug:--rollout | debug:-r) _rolldbg_words '' ;;
	debug:--out | debug:-o) _rolldbg_files -f ;;
	debug:--max-turns | debug:-n) _rolldbg_words '' ;;
	debug:--task) _rolldbg_words '' ;;
	debug:--model) _rolldbg_words '' ;;
	debug:--base-url) _rolldbg_words '' ;;
	debug:--profile) _rolldbg_words 'generic openai vllm sglang llamacpp ollama fireworks anthropic' ;;
	debug:--api) _rolldbg_words 'chat responses anthropic' ;;
	debug:--key-env) _rolldbg_words '' ;;
	debug:--allow-key-env) _rolldbg_words '' ;;
	debug:--tool-mode) _rolldbg_words 'native json text' ;;
	debug:--tool-format) _rolldbg_words 'auto hermes granite granite-20b-fc cohere command-r tool-calls functools toolcall gigachat3 apertus longcat internlm inkling k2-horizon dots llama deepseek kimi mistral plamo3 functionary seed-oss qwen-coder glm iquest dsml gigachat35 kimi-k3 muse step3 invoke minicpm5 minimax-m3 gemma4 function-gemma pythonic harmony mimo json' ;;
	debug:--on-no-tool) _rolldbg_words 'stop nudge continue' ;;
	debug:--model-timeout) _rolldbg_words '' ;;
	debug:--model-retries) _rolldbg_words '' ;;
	debug:--state) _rolldbg_words 'auto control-plane openenv verifiers resource: tool: observation none' ;;
	debug:--ignore) _rolldbg_words '' ;;
	debug:--reset-json) _rolldbg_words '' ;;
	debug:--error-text) _rolldbg_words '' ;;
	debug:--timeout) _rolldbg_words '' ;;
	debug:--open-timeout) _rolldbg_words '' ;;
	debug:--wait) _rolldbg_words '' ;;
	debug:--serve) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	debug:--protocol) _rolldbg_words 'openenv openenv-http ors nemo-gym verifiers mcp mcp-gym' ;;
	debug:--era) _rolldbg_words 'legacy modern auto' ;;
	debug:--secret-env) _rolldbg_words '' ;;
	debug:--secret) _rolldbg_words '' ;;
	debug:--pass-env) _rolldbg_words '' ;;
	debug:--ca-file) _rolldbg_files -f ;;
	debug:--header | debug:-H) _rolldbg_files -f ;;
	debug:--header-env) _rolldbg_words '' ;;
	shrink:--env | shrink:-e) _rolldbg_target 'builtin:frozen_lake builtin:desk http:// https:// ws:// wss:// stdio: verifiers:' 'protocol=mcp protocol=openenv map=4x4 map=8x8 map=random map=random8x8 slippery=1 max_envs= fault=html-200 fault=http-500 fault=no-control-plane fault=no-tools fault=instance-shared fault=slow fault=hang fault=capacity fault=leak-slot fault=alias fault=seed-ignored fault=no-metadata fault=close-1011 fault=stateless fault=zombie fault=fallback-session fault=rebuild fault=session-churn fault=stale-reward fault=drop-iserror fault=bad-field fault=late-reply fault=disconnect allow_origin= delay=' ;;
	shrink:--seed | shrink:-s) _rolldbg_words '' ;;
	shrink:--rule) _rolldbg_words 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	shrink:--divergence) _rolldbg_words '' ;;
	shrink:--rollout) _rolldbg_words '' ;;
	shrink:--mask) _rolldbg_words '' ;;
	shrink:--max-runs) _rolldbg_words '' ;;
	shrink:--jobs | shrink:-j) _rolldbg_words '' ;;
	shrink:--out | shrink:-o) _rolldbg_files -f ;;
	shrink:--state) _rolldbg_words 'auto control-plane openenv verifiers resource: tool: observation none' ;;
	shrink:--ignore) _rolldbg_words '' ;;
	shrink:--reset-json) _rolldbg_words '' ;;
	shrink:--error-text) _rolldbg_words '' ;;
	shrink:--timeout) _rolldbg_words '' ;;
	shrink:--open-timeout) _rolldbg_words '' ;;
	shrink:--wait) _rolldbg_words '' ;;
	shrink:--serve) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	shrink:--protocol) _rolldbg_words 'openenv openenv-http ors nemo-gym verifiers mcp mcp-gym' ;;
	shrink:--era) _rolldbg_words 'legacy modern auto' ;;
	shrink:--secret-env) _rolldbg_words '' ;;
	shrink:--secret) _rolldbg_words '' ;;
	shrink:--pass-env) _rolldbg_words '' ;;
	shrink:--ca-file) _rolldbg_files -f ;;
	shrink:--header | shrink:-H) _rolldbg_files -f ;;
	shrink:--header-env) _rolldbg_words '' ;;
	bisect:--env | bisect:-e) _rolldbg_target 'builtin:frozen_lake builtin:desk http:// https:// ws:// wss:// stdio: verifiers:' 'protocol=mcp protocol=openenv map=4x4 map=8x8 map=random map=random8x8 slippery=1 max_envs= fault=html-200 fault=http-500 fault=no-control-plane fault=no-tools fault=instance-shared fault=slow fault=hang fault=capacity fault=leak-slot fault=alias fault=seed-ignored fault=no-metadata fault=close-1011 fault=stateless fault=zombie fault=fallback-session fault=rebuild fault=session-churn fault=stale-reward fault=drop-iserror fault=bad-field fault=late-reply fault=disconnect allow_origin= delay=' ;;
	bisect:--seed | bisect:-s) _rolldbg_words '' ;;
	bisect:--jobs | bisect:-j) _rolldbg_words '' ;;
	bisect:--mask) _rolldbg_words '' ;;
	bisect:--tolerance) _rolldbg_words '' ;;
	bisect:--unordered) _rolldbg_words '' ;;
	bisect:--tools) _rolldbg_words 'strict compatible ignore' ;;
	bisect:--state) _rolldbg_words 'auto control-plane openenv verifiers resource: tool: observation none' ;;
	bisect:--ignore) _rolldbg_words '' ;;
	bisect:--reset-json) _rolldbg_words '' ;;
	bisect:--error-text) _rolldbg_words '' ;;
	bisect:--timeout) _rolldbg_words '' ;;
	bisect:--open-timeout) _rolldbg_words '' ;;
	bisect:--wait) _rolldbg_words '' ;;
	bisect:--serve) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	bisect:--protocol) _rolldbg_words 'openenv openenv-http ors nemo-gym verifiers mcp mcp-gym' ;;
	bisect:--era) _rolldbg_words 'legacy modern auto' ;;
	bisect:--secret-env) _rolldbg_words '' ;;
	bisect:--secret) _rolldbg_words '' ;;
	bisect:--pass-env) _rolldbg_words '' ;;
	bisect:--ca-file) _rolldbg_files -f ;;
	bisect:--header | bisect:-H) _rolldbg_files -f ;;
	bisect:--header-env) _rolldbg_words '' ;;
	probe:--env | probe:-e) _rolldbg_target 'builtin:frozen_lake builtin:desk http:// https:// ws:// wss:// stdio: verifiers:' 'protocol=mcp protocol=openenv map=4x4 map=8x8 map=random map=random8x8 slippery=1 max_envs= fault=html-200 fault=http-500 fault=no-control-plane fault=no-tools fault=instance-shared fault=slow fault=hang fault=capacity fault=leak-slot fault=alias fault=seed-ignored fault=no-metadata fault=close-1011 fault=stateless fault=zombie fault=fallback-session fault=rebuild fault=session-churn fault=stale-reward fault=drop-iserror fault=bad-field fault=late-reply fault=disconnect allow_origin= delay=' ;;
	probe:--seed | probe:-s) _rolldbg_words '' ;;
	probe:--sessions | probe:-j) _rolldbg_words '' ;;
	probe:--need | probe:-N) _rolldbg_words '' ;;
	probe:--actions | probe:-a) _rolldbg_words '' ;;
	probe:--call | probe:-c) _rolldbg_words '' ;;
	probe:--tool | probe:-t) _rolldbg_words '' ;;
	probe:--argument) _rolldbg_words '' ;;
	probe:--policy | probe:-p) _rolldbg_policy 'random: llm' ;;
	probe:--solution) _rolldbg_files -f ;;
	probe:--golden) _rolldbg_files -f ;;
	probe:--tasks) _rolldbg_files -f ;;
	probe:--settle) _rolldbg_words '' ;;
	probe:--model) _rolldbg_words '' ;;
	probe:--base-url) _rolldbg_words '' ;;
	probe:--profile) _rolldbg_words 'generic openai vllm sglang llamacpp ollama fireworks anthropic' ;;
	probe:--api) _rolldbg_words 'chat responses anthropic' ;;
	probe:--key-env) _rolldbg_words '' ;;
	probe:--allow-key-env) _rolldbg_words '' ;;
	probe:--tool-mode) _rolldbg_words 'native json text' ;;
	probe:--tool-format) _rolldbg_words 'auto hermes granite granite-20b-fc cohere command-r tool-calls functools toolcall gigachat3 apertus longcat internlm inkling k2-horizon dots llama deepseek kimi mistral plamo3 functionary seed-oss qwen-coder glm iquest dsml gigachat35 kimi-k3 muse step3 invoke minicpm5 minimax-m3 gemma4 function-gemma pythonic harmony mimo json' ;;
	probe:--on-no-tool) _rolldbg_words 'stop nudge continue' ;;
	probe:--model-timeout) _rolldbg_words '' ;;
	probe:--model-retries) _rolldbg_words '' ;;
	probe:--trainer) _rolldbg_words 'trl trl-async verifiers nemo-gym nemo-rl prime-rl verl' ;;
	probe:--trainer-config) _rolldbg_files -f ;;
	probe:--num-generations) _rolldbg_words '' ;;
	probe:--per-device-train-batch-size) _rolldbg_words '' ;;
	probe:--gradient-accumulation-steps) _rolldbg_words '' ;;
	probe:--num-processes) _rolldbg_words '' ;;
	probe:--steps-per-generation) _rolldbg_words '' ;;
	probe:--generation-batch-size) _rolldbg_words '' ;;
	probe:--eval-strategy) _rolldbg_words '' ;;
	probe:--per-device-eval-batch-size) _rolldbg_words '' ;;
	probe:--max-inflight-tasks) _rolldbg_words '' ;;
	probe:--max-staleness) _rolldbg_words '' ;;
	probe:--max-concurrent) _rolldbg_words '' ;;
	probe:--num-samples-in-parallel) _rolldbg_words '' ;;
	probe:--state) _rolldbg_words 'auto control-plane openenv verifiers resource: tool: observation none' ;;
	probe:--ignore) _rolldbg_words '' ;;
	probe:--reset-json) _rolldbg_words '' ;;
	probe:--error-text) _rolldbg_words '' ;;
	probe:--timeout) _rolldbg_words '' ;;
	probe:--open-timeout) _rolldbg_words '' ;;
	probe:--wait) _rolldbg_words '' ;;
	probe:--serve) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	probe:--protocol) _rolldbg_words 'openenv openenv-http ors nemo-gym verifiers mcp mcp-gym' ;;
	probe:--era) _rolldbg_words 'legacy modern auto' ;;
	probe:--secret-env) _rolldbg_words '' ;;
	probe:--secret) _rolldbg_words '' ;;
	probe:--pass-env) _rolldbg_words '' ;;
	probe:--ca-file) _rolldbg_files -f ;;
	probe:--header | probe:-H) _rolldbg_files -f ;;
	probe:--header-env) _rolldbg_words '' ;;
	tools:--env | tools:-e) _rolldbg_target 'builtin:frozen_lake builtin:desk http:// https:// ws:// wss:// stdio: verifiers:' 'protocol=mcp protocol=openenv map=4x4 map=8x8 map=random map=random8x8 slippery=1 max_envs= fault=html-200 fault=http-500 fault=no-control-plane fault=no-tools fault=instance-shared fault=slow fault=hang fault=capacity fault=leak-slot fault=alias fault=seed-ignored fault=no-metadata fault=close-1011 fault=stateless fault=zombie fault=fallback-session fault=rebuild fault=session-churn fault=stale-reward fault=drop-iserror fault=bad-field fault=late-reply fault=disconnect allow_origin= delay=' ;;
	tools:--seed | tools:-s) _rolldbg_words '' ;;
	tools:--state) _rolldbg_words 'auto control-plane openenv verifiers resource: tool: observation none' ;;
	tools:--ignore) _rolldbg_words '' ;;
	tools:--reset-json) _rolldbg_words '' ;;
	tools:--error-text) _rolldbg_words '' ;;
	tools:--timeout) _rolldbg_words '' ;;
	tools:--open-timeout) _rolldbg_words '' ;;
	tools:--wait) _rolldbg_words '' ;;
	tools:--serve) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	tools:--protocol) _rolldbg_words 'openenv openenv-http ors nemo-gym verifiers mcp mcp-gym' ;;
	tools:--era) _rolldbg_words 'legacy modern auto' ;;
	tools:--secret-env) _rolldbg_words '' ;;
	tools:--secret) _rolldbg_words '' ;;
	tools:--pass-env) _rolldbg_words '' ;;
	tools:--ca-file) _rolldbg_files -f ;;
	tools:--header | tools:-H) _rolldbg_files -f ;;
	tools:--header-env) _rolldbg_words '' ;;
	serve:--port | serve:-p) _rolldbg_words '' ;;
	serve:--bind) _rolldbg_words '' ;;
	serve:--protocol) _rolldbg_words 'mcp openenv' ;;
	serve:--map) _rolldbg_words '4x4 8x8 random random8x8' ;;
	serve:--max-envs) _rolldbg_words '' ;;
	serve:--fault) _rolldbg_words 'html-200 http-500 no-control-plane no-tools instance-shared slow hang capacity leak-slot alias seed-ignored no-metadata close-1011 stateless zombie fallback-session rebuild session-churn stale-reward drop-iserror bad-field late-reply disconnect' ;;
	serve:--allow-origin) _rolldbg_words '' ;;
	serve:--delay) _rolldbg_words '' ;;
	serve:--as) _rolldbg_words 'env llm' ;;
	serve:--match) _rolldbg_words 'exact arguments sequential' ;;
	tap:--listen | tap:-l) _rolldbg_words '' ;;
	tap:--to | tap:-t) _rolldbg_words '' ;;
	tap:--model-to) _rolldbg_words '' ;;
	tap:--model-listen) _rolldbg_words '' ;;
	tap:--bind) _rolldbg_words '' ;;
	tap:--idle) _rolldbg_words '' ;;
	tap:--state) _rolldbg_words 'auto control-plane openenv verifiers resource: tool: observation none' ;;
	tap:--fault) _rolldbg_words '' ;;
	tap:--delay) _rolldbg_words '' ;;
	tap:--max-envs) _rolldbg_words '' ;;
	tap:--ca-file) _rolldbg_files -f ;;
	tap:--secret-env) _rolldbg_words '' ;;
	tap:--secret) _rolldbg_words '' ;;
	tap:--out | tap:-o) _rolldbg_files -f ;;
	tap:--report) _rolldbg_words 'table json junit: tap sarif: github markdown:' ;;
	tap:--fail-on) _rolldbg_words 'error warning info never' ;;
	tap:--only) _rolldbg_list 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	tap:--without) _rolldbg_list 'multi-step-illusion effect-despite-error drawn-calls failed-run all-steps-failed retry-same-error expected-error-missing min-effective timeout loop frozen-state no-effect only-counts observation-frozen starts-over no-history session-replaced session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state terminated-at-reset post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size void-rollouts zero-variance-group seed-ignored incomplete fault-injected' ;;
	tap:--read-only) _rolldbg_words '' ;;
	tap:--noop) _rolldbg_words '' ;;
	tap:--baseline) _rolldbg_files -f ;;
	tap:--effect) _rolldbg_words '' ;;
	tap:--expect-error) _rolldbg_words '' ;;
	tap:--min-effective) _rolldbg_words '' ;;
	tap:--max-environment-failures) _rolldbg_words '' ;;
	*) return 1 ;;
	esac
}

# A word of $1 ("COMMAND:WORD") that is not a value.
_rolldbg_word()
{
	case $1 in
	:-*) _rolldbg_words '--help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	:*) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	run:-*) _rolldbg_words '--env -e --seed -s --actions -a --call -c --tool -t --argument --policy -p --rollout -r --tool-map --max-turns -n --break --mask --task --force-call --confirm --out -o --force -f --append --sync --tasks --group-size -g --jobs -j --shard --trainer --trainer-config --num-generations --per-device-train-batch-size --gradient-accumulation-steps --num-processes --steps-per-generation --generation-batch-size --eval-strategy --per-device-eval-batch-size --max-inflight-tasks --max-staleness --max-concurrent --num-samples-in-parallel --model --base-url --profile --api --key-env --allow-key-env --model-insecure --tool-mode --tool-format --on-no-tool --no-repair --tokens --stream --model-timeout --model-retries --state --ignore --reset-json --error-text --timeout --open-timeout --wait --serve --protocol --era --secret-env --secret --pass-env --ca-file --insecure --header -H --header-env --report --json --fail-on --only --without --read-only --noop --baseline --effect --expect-error --min-effective --max-environment-failures --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	check:-*) _rolldbg_words '--jobs -j --ignore --tools --reward --trainer-logprobs --shard --partial --merge --html --explain --list --verify --report --json --fail-on --only --without --read-only --noop --baseline --effect --expect-error --min-effective --max-environment-failures --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	check:*) _rolldbg_files -f ;;
	show:-*) _rolldbg_words '--turn -t --rollout -r --prompt --json --raw --html --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	show:*) _rolldbg_files -f ;;
	replay:-*) _rolldbg_words '--env -e --seed -s --tool-map --update --accept --review --keep-going -k --tasks --shard --until-divergence --jobs -j --out -o --force -f --mask --tolerance --unordered --tools --report --json --state --ignore --reset-json --error-text --timeout --open-timeout --wait --serve --protocol --era --secret-env --secret --pass-env --ca-file --insecure --header -H --header-env --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	diff:-*) _rolldbg_words '--rollout -r --stat --word-diff --html --json --exit-code --no-exit-code --mask --tolerance --unordered --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	strip:-*) _rolldbg_words '--mask --text --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	strip:*) _rolldbg_files -f ;;
	merge:-*) _rolldbg_words ' --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	merge:*) _rolldbg_files -f ;;
	stats:-*) _rolldbg_words '--by -b --compare --tools --reward --trainer-logprobs --shard --partial --merge --names --json --html --max-environment-failures --csv --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	stats:*) _rolldbg_files -f ;;
	list:-*) _rolldbg_words '--finding --env -e --since --prune --dry-run --missing --json --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	convert:-*) _rolldbg_words '--from --tools --reward --to --csv --out -o --force -f --rollout -r --list --json --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	convert:*) _rolldbg_files -f ;;
	debug:-*) _rolldbg_words '--env -e --seed -s --actions -a --call -c --tool -t --argument --policy -p --command-file -x --ex --batch --interpreter --dap --rollout -r --out -o --force -f --max-turns -n --task --force-call --model --base-url --profile --api --key-env --allow-key-env --model-insecure --tool-mode --tool-format --on-no-tool --no-repair --tokens --stream --model-timeout --model-retries --state --ignore --reset-json --error-text --timeout --open-timeout --wait --serve --protocol --era --secret-env --secret --pass-env --ca-file --insecure --header -H --header-env --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	debug:*) _rolldbg_files -f ;;
	shrink:-*) _rolldbg_words '--env -e --seed -s --rule --divergence --rollout --mask --max-runs --jobs -j --out -o --force -f --json --state --ignore --reset-json --error-text --timeout --open-timeout --wait --serve --protocol --era --secret-env --secret --pass-env --ca-file --insecure --header -H --header-env --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	shrink:*) _rolldbg_files -f ;;
	bisect:-*) _rolldbg_words '--env -e --seed -s --jobs -j --json --mask --tolerance --unordered --tools --state --ignore --reset-json --error-text --timeout --open-timeout --wait --serve --protocol --era --secret-env --secret --pass-env --ca-file --insecure --header -H --header-env --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	bisect:*) _rolldbg_files -f ;;
	probe:-*) _rolldbg_words '--env -e --seed -s --sessions -j --need -N --actions -a --call -c --tool -t --argument --policy -p --solution --golden --tasks --settle --call-read-only --json --model --base-url --profile --api --key-env --allow-key-env --model-insecure --tool-mode --tool-format --on-no-tool --no-repair --tokens --stream --model-timeout --model-retries --trainer --trainer-config --num-generations --per-device-train-batch-size --gradient-accumulation-steps --num-processes --steps-per-generation --generation-batch-size --eval-strategy --per-device-eval-batch-size --max-inflight-tasks --max-staleness --max-concurrent --num-samples-in-parallel --state --ignore --reset-json --error-text --timeout --open-timeout --wait --serve --protocol --era --secret-env --secret --pass-env --ca-file --insecure --header -H --header-env --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	tools:-*) _rolldbg_words '--env -e --seed -s --json --state --ignore --reset-json --error-text --timeout --open-timeout --wait --serve --protocol --era --secret-env --secret --pass-env --ca-file --insecure --header -H --header-env --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	serve:-*) _rolldbg_words '--port -p --bind --protocol --map --slippery --max-envs --fault --allow-origin --delay --as --match --loop --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	serve:*) _rolldbg_mixed 'frozen_lake desk llm' ;;
	tap:-*) _rolldbg_words '--listen -l --to -t --model-to --model-listen --bind --idle --ask-state --state --fault --delay --max-envs --ca-file --insecure --secret-env --secret --out -o --force -f --append --sync --report --json --fail-on --only --without --read-only --noop --baseline --effect --expect-error --min-effective --max-environment-failures --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	tap:*) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help' ;;
	trust:-*) _rolldbg_words '--dry-run --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	trust:*) _rolldbg_files -f ;;
	schema:-*) _rolldbg_words ' --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	schema:*) _rolldbg_words 'recording run check show replay diff stats list convert shrink bisect probe tools tap' ;;
	help:-*) _rolldbg_words ' --help -h --verbose -v --quiet -q --color --no-pager --config --print-config --version' ;;
	help:*) _rolldbg_words 'run check show replay diff strip merge stats list convert debug shrink bisect probe tools serve tap trust schema help all' ;;
	esac
}

# shellcheck shell=bash
# The part of completions/rolldbg.bash that needs no tables. $cur is the value that is being typed, $before its "--option=".

# Those of $2, $3.. that begin with $cur; its beginning $1 is kept. Unlike `compgen -W`, this expands nothing: a word may be
# the name of a file, such as '$(date)'.
_rolldbg_choose()
{
	local word
	COMPREPLY=()
	for word in "${@:2}"; do
		[[ $1$word != "$cur"* ]] || COMPREPLY+=("$1$word")
	done
}

# The same for the words of $1, which are ours; the beginning is $2.
_rolldbg_words()
{
	local -a list
	read -ra list <<<"$1"
	_rolldbg_choose "${2-}" "${list[@]}"
}

# Files that begin with $cur, or directories with -d. (compgen -f would read quotes and $ in $cur as the shell does.)
_rolldbg_files()
{
	local word start=$cur tilde=''
	files=1
	if [[ -z $quote && -z $before && $cur == \~/* ]]; then
		home=$HOME tilde='~'
		start=$home${cur:1}
	fi
	COMPREPLY=()
	while IFS= read -rd '' word; do
		[ ! -d "$word" ] || word+=/
		[[ $1 == -d && $word != */ ]] || COMPREPLY+=("$tilde${word#"$home"}")
	done < <(set +f && shopt -u failglob && shopt -s nullglob && for word in "$start"*; do printf '%s\0' "$word"; done)
}

# One more of the words of $1, after the last comma.
_rolldbg_list()
{
	_rolldbg_words "$1" "${cur%"${cur##*,}"}"
}

# An environment of $1; a built-in one is followed by settings, of $2.
_rolldbg_target()
{
	compopt -o nospace 2>/dev/null
	case $cur in
	builtin:*\?*) _rolldbg_words "$2" "${cur%"${cur##*[?&]}"}" ;;
	*) _rolldbg_words "$1" ;;
	esac
}

# Files, after what was chosen.
_rolldbg_and_files()
{
	local -a chosen=("${COMPREPLY[@]}")
	_rolldbg_files -f
	COMPREPLY+=("${chosen[@]}")
}

# A word of $1, or a file.
_rolldbg_mixed()
{
	_rolldbg_words "$1"
	_rolldbg_and_files
}

# A value of $1, a ready-made policy, or a file.
_rolldbg_policy()
{
	local -a list policies
	read -ra list <<<"$1"
	mapfile -t policies < <(rolldbg __spec policies 2>/dev/null)
	_rolldbg_choose '' "${list[@]}" "${policies[@]}"
	_rolldbg_and_files
}

# Reads the line as readline does: its last word is $cur, without quotes, the others are $words. $quote is the one that is
# open in $cur. readline keeps what is before it, or before the last : = or @: $kept. Fails where the shell would expand
# something or ends the command, and after a closed quote.
_rolldbg_read()
{
	local line=$1 escaped='' special='' i c
	for ((i = 0; i < ${#line}; i++)); do
		c=${line:i:1}
		if [ -n "$escaped" ]; then
			[[ -z $quote || $c == [\\\"\$\`] ]] || cur+=\\
			cur+=$c
			escaped=''
		elif [[ $c == \\ && $quote != \' ]]; then
			escaped=1
		elif [[ -n $quote && $c == "$quote" ]]; then
			quote=''
			special=1
		elif [ -n "$quote" ]; then
			[[ $quote == \' || $c != [\$\`] ]] || special=1
			cur+=$c
		elif [[ $c == [\"\'] ]]; then
			quote=$c
			kept=$cur
		elif [[ $c == [[:blank:]] ]]; then
			[ -z "$cur" ] || words+=("$cur")
			cur='' kept='' special=''
		else
			[[ $c != [\$\`\<\>\;\|\&\(\)] ]] || special=1
			[[ $c != @ || $COMP_WORDBREAKS != *@* ]] || kept=$cur
			cur+=$c
			[[ $c != [:=] || $COMP_WORDBREAKS != *$c* ]] || kept=$cur
		fi
	done
	[ -z "$special" ]
}

# Puts $1 into $text as it is typed within $quote. Fails if that cannot be done, or would need $'..', which is no use for the
# beginning that several replies share.
_rolldbg_quote()
{
	text=$1
	case $quote in
	\') [[ $text != *[\'[:cntrl:]]* ]] || return ;;
	\")
		[[ $text != *!* && $text != *[[:cntrl:]]* ]] || return
		text=${text//\\/\\\\}
		text=${text//\"/\\\"}
		text=${text//\$/\\\$}
		text=${text//\`/\\\`}
		;;
	*)
		[[ $text == *[!A-Za-z0-9_./,:=@%+~-]* || $text == '~'* ]] || return 0
		printf -v text %q "$text"
		[[ $text != \$\'* ]] || return
		[ -z "$home" ] || text=${text#\\}
		;;
	esac
}

# Replies are quoted here: readline quotes only a single one, and only if it is the name of a file. readline's
# own way with files (it lists the last part of a path, and puts a slash after a directory) is taken where nothing needs
# quotes.
_rolldbg_reply()
{
	local -a quoted=()
	local reply text plain=$files
	[[ $kept == "$before" ]] || plain=''
	for reply in "${COMPREPLY[@]}"; do
		reply=$before$reply
		reply=${reply#"$kept"}
		_rolldbg_quote "$reply" || continue
		[[ $text == "$reply" ]] || plain=''
		quoted+=("$text")
	done
	if [ -n "$plain" ]; then
		compopt -o filenames 2>/dev/null
		quoted=("${quoted[@]%/}")
	elif [[ ${#quoted[@]} == 1 && ${quoted[0]} == */ ]]; then
		compopt -o nospace 2>/dev/null
	fi
	COMPREPLY=("${quoted[@]}")
}

_rolldbg()
{
	local cur='' kept='' quote='' files='' home='' before='' command='' prev i
	local -a words=()
	COMPREPLY=()
	_rolldbg_read "${COMP_LINE:0:COMP_POINT}" || return 0
	prev=${words[-1]}
	for i in "${words[@]:1}"; do
		if _rolldbg_is_command "$i"; then
			command=$i
			break
		fi
	done
	if [[ $cur == --*=* ]]; then
		prev=${cur%%=*}
		before=$prev=
		cur=${cur#*=}
	fi
	_rolldbg_value "$command:$prev" || _rolldbg_value ":$prev" || _rolldbg_word "$command:$cur"
	_rolldbg_reply
}
complete -F _rolldbg rolldbg
