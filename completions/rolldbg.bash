# bash completion for rolldbg, written by `make completions` from the program's own tables.

_rolldbg_words()
{
	mapfile -t COMPREPLY < <(compgen -W "$1" -- "$cur")
}

_rolldbg_files()
{
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen "$1" -- "$cur")
}

# The value of option $1 ("COMMAND:OPTION"); fails when it takes none.
_rolldbg_value()
{
	case $1 in
	:--color) _rolldbg_words 'auto always never' ;;
	run:--env | run:-e) _rolldbg_words '' ;;
	run:--seed | run:-s) _rolldbg_words '' ;;
	run:--actions | run:-a) _rolldbg_words '' ;;
	run:--tool | run:-t) _rolldbg_words '' ;;
	run:--policy | run:-p) _rolldbg_files -f ;;
	run:--max-turns | run:-n) _rolldbg_words '' ;;
	run:--out | run:-o) _rolldbg_files -f ;;
	run:--tasks) _rolldbg_files -f ;;
	run:--group-size | run:-g) _rolldbg_words '' ;;
	run:--jobs | run:-j) _rolldbg_words '' ;;
	run:--num-generations) _rolldbg_words '' ;;
	run:--per-device-batch) _rolldbg_words '' ;;
	run:--grad-accum) _rolldbg_words '' ;;
	run:--processes) _rolldbg_words '' ;;
	run:--mask) _rolldbg_words '' ;;
	run:--task) _rolldbg_words '' ;;
	run:--model) _rolldbg_words '' ;;
	run:--base-url) _rolldbg_words '' ;;
	run:--profile) _rolldbg_words 'generic openai vllm sglang llamacpp ollama fireworks' ;;
	run:--key-env) _rolldbg_words '' ;;
	run:--tool-mode) _rolldbg_words 'native json text' ;;
	run:--on-no-tool) _rolldbg_words 'stop nudge continue' ;;
	run:--model-timeout) _rolldbg_words '' ;;
	run:--model-retries) _rolldbg_words '' ;;
	run:--state) _rolldbg_words '' ;;
	run:--ignore) _rolldbg_words '' ;;
	run:--timeout) _rolldbg_words '' ;;
	run:--protocol) _rolldbg_words '' ;;
	run:--era) _rolldbg_words 'legacy modern auto' ;;
	run:--header | run:-H) _rolldbg_files -f ;;
	run:--header-env) _rolldbg_words '' ;;
	run:--secret) _rolldbg_words '' ;;
	run:--ca-file) _rolldbg_files -f ;;
	run:--fail-on) _rolldbg_words 'error warning info never' ;;
	run:--only) _rolldbg_words 'multi-step-illusion effect-despite-error failed-run all-steps-failed retry-same-error expected-error-missing loop frozen-state session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size zero-variance-group incomplete' ;;
	run:--without) _rolldbg_words 'multi-step-illusion effect-despite-error failed-run all-steps-failed retry-same-error expected-error-missing loop frozen-state session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size zero-variance-group incomplete' ;;
	run:--read-only) _rolldbg_words '' ;;
	run:--noop) _rolldbg_words '' ;;
	run:--baseline) _rolldbg_files -f ;;
	run:--expect-error) _rolldbg_words '' ;;
	check:--fail-on) _rolldbg_words 'error warning info never' ;;
	check:--only) _rolldbg_words 'multi-step-illusion effect-despite-error failed-run all-steps-failed retry-same-error expected-error-missing loop frozen-state session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size zero-variance-group incomplete' ;;
	check:--without) _rolldbg_words 'multi-step-illusion effect-despite-error failed-run all-steps-failed retry-same-error expected-error-missing loop frozen-state session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size zero-variance-group incomplete' ;;
	check:--read-only) _rolldbg_words '' ;;
	check:--noop) _rolldbg_words '' ;;
	check:--baseline) _rolldbg_files -f ;;
	check:--expect-error) _rolldbg_words '' ;;
	check:--trainer-logprobs) _rolldbg_files -f ;;
	check:--explain) _rolldbg_words 'multi-step-illusion effect-despite-error failed-run all-steps-failed retry-same-error expected-error-missing loop frozen-state session-churn session-alias capacity fallback-session unknown-tool no-tools no-tool-call tool-drift arguments-schema observation-lost special-tokens tools-not-in-prompt prompt-truncated prompt-drift logprob-range kl-band missing-state aliased-state post-terminal control-plane-blind stale-reward one-step-episode reward-without-effect group-size zero-variance-group incomplete' ;;
	show:--turn | show:-t) _rolldbg_words '' ;;
	show:--rollout | show:-r) _rolldbg_words '' ;;
	strip:--mask) _rolldbg_words '' ;;
	stats:--by | stats:-b) _rolldbg_words 'task none' ;;
	stats:--trainer-logprobs) _rolldbg_files -f ;;
	probe:--env | probe:-e) _rolldbg_words '' ;;
	probe:--seed | probe:-s) _rolldbg_words '' ;;
	probe:--sessions | probe:-j) _rolldbg_words '' ;;
	probe:--need | probe:-N) _rolldbg_words '' ;;
	probe:--actions | probe:-a) _rolldbg_words '' ;;
	probe:--tool | probe:-t) _rolldbg_words '' ;;
	probe:--policy | probe:-p) _rolldbg_files -f ;;
	probe:--tasks) _rolldbg_files -f ;;
	probe:--settle) _rolldbg_words '' ;;
	probe:--model) _rolldbg_words '' ;;
	probe:--base-url) _rolldbg_words '' ;;
	probe:--profile) _rolldbg_words 'generic openai vllm sglang llamacpp ollama fireworks' ;;
	probe:--key-env) _rolldbg_words '' ;;
	probe:--tool-mode) _rolldbg_words 'native json text' ;;
	probe:--on-no-tool) _rolldbg_words 'stop nudge continue' ;;
	probe:--model-timeout) _rolldbg_words '' ;;
	probe:--model-retries) _rolldbg_words '' ;;
	probe:--num-generations) _rolldbg_words '' ;;
	probe:--per-device-batch) _rolldbg_words '' ;;
	probe:--grad-accum) _rolldbg_words '' ;;
	probe:--processes) _rolldbg_words '' ;;
	probe:--state) _rolldbg_words '' ;;
	probe:--ignore) _rolldbg_words '' ;;
	probe:--timeout) _rolldbg_words '' ;;
	probe:--protocol) _rolldbg_words '' ;;
	probe:--era) _rolldbg_words 'legacy modern auto' ;;
	probe:--header | probe:-H) _rolldbg_files -f ;;
	probe:--header-env) _rolldbg_words '' ;;
	probe:--secret) _rolldbg_words '' ;;
	probe:--ca-file) _rolldbg_files -f ;;
	serve:--port | serve:-p) _rolldbg_words '' ;;
	serve:--bind) _rolldbg_words '' ;;
	serve:--protocol) _rolldbg_words 'mcp openenv' ;;
	serve:--map) _rolldbg_words '4x4 8x8 random random8x8' ;;
	serve:--max-envs) _rolldbg_words '' ;;
	serve:--fault) _rolldbg_words 'html-200 http-500 no-control-plane no-tools instance-shared slow hang capacity leak-slot alias seed-ignored no-metadata close-1011 stateless zombie fallback-session session-churn stale-reward drop-iserror late-reply disconnect' ;;
	serve:--delay) _rolldbg_words '' ;;
	*) return 1 ;;
	esac
}

_rolldbg()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} commands=' run check show strip stats probe serve help ' command i
	COMPREPLY=()
	# readline splits --option=value into three words
	if [ "$cur" = = ]; then
		cur=
	elif [ "$prev" = = ]; then
		prev=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	for ((i = 1; i < COMP_CWORD; i++)); do
		case $commands in
		*" ${COMP_WORDS[i]} "*) command=${COMP_WORDS[i]} && break ;;
		esac
	done
	_rolldbg_value "$command:$prev" && return
	case $command:$cur in
	:-*) _rolldbg_words '--help -h --verbose -v --quiet -q --color --version' ;;
	:*) _rolldbg_words 'run check show strip stats probe serve help' ;;
	run:-*) _rolldbg_words '--env -e --seed -s --actions -a --tool -t --policy -p --max-turns -n --out -o --force -f --append --sync --tasks --group-size -g --jobs -j --num-generations --per-device-batch --grad-accum --processes --mask --task --force-call --model --base-url --profile --key-env --tool-mode --on-no-tool --no-repair --tokens --stream --model-timeout --model-retries --state --ignore --timeout --protocol --era --header -H --header-env --secret --ca-file --insecure --json --fail-on --only --without --read-only --noop --baseline --expect-error' ;;
	check:-*) _rolldbg_words '--json --fail-on --only --without --read-only --noop --baseline --expect-error --trainer-logprobs --explain --list --verify' ;;
	check:*) _rolldbg_files -f ;;
	show:-*) _rolldbg_words '--turn -t --rollout -r --prompt --json' ;;
	show:*) _rolldbg_files -f ;;
	strip:-*) _rolldbg_words '--mask' ;;
	strip:*) _rolldbg_files -f ;;
	stats:-*) _rolldbg_words '--by -b --trainer-logprobs --json' ;;
	stats:*) _rolldbg_files -f ;;
	probe:-*) _rolldbg_words '--env -e --seed -s --sessions -j --need -N --actions -a --tool -t --policy -p --tasks --settle --call-read-only --json --model --base-url --profile --key-env --tool-mode --on-no-tool --no-repair --tokens --stream --model-timeout --model-retries --num-generations --per-device-batch --grad-accum --processes --state --ignore --timeout --protocol --era --header -H --header-env --secret --ca-file --insecure' ;;
	serve:-*) _rolldbg_words '--port -p --bind --protocol --map --slippery --max-envs --fault --delay' ;;
	serve:*) _rolldbg_words 'frozen_lake desk llm' ;;
	help:-*) _rolldbg_words '' ;;
	help:*) _rolldbg_words 'run check show strip stats probe serve help' ;;
	esac
}
complete -F _rolldbg rolldbg
