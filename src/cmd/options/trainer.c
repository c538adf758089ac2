/* Reads the trainer's settings: see trainer.h. */
#include "cmd/options/trainer.h"

#include "base/file.h"
#include "base/log.h"
#include "cmd/options/config_keys.h"
#include "rollout/trainer.h"

#define FIELD(f) offsetof(struct trainer_options, f)

static const struct opt rows[] = {
	OPT_CHOICE(0, "trainer", OPT_HARMLESS, "KIND", "trl|trl-async|verifiers|nemo-gym",
                   FIELD(trainer), "whose arithmetic: how many sessions it opens (default trl)"),
	OPT_LIST(0, "trainer-config", OPT_HARMLESS, "FILE", FIELD(configs),
                 "read the settings by name from its configuration, JSON or lines of YAML; may be "
                 "given several times, and options come last"),
	OPT_NUMBER(0, "num-generations", OPT_HARMLESS, "N", FIELD(num_generations),
                   "rollouts per prompt (TRL's default: 8)"),
	OPT_NUMBER(0, "per-device-train-batch-size", OPT_HARMLESS, "N",
                   FIELD(per_device_train_batch_size),
                   "rollouts per process and step (TRL's default: 8)"),
	OPT_NUMBER(0, "gradient-accumulation-steps", OPT_HARMLESS, "N",
                   FIELD(gradient_accumulation_steps),
                   "steps per optimizer update (TRL's default: 1)"),
	OPT_NUMBER(0, "num-processes", OPT_HARMLESS, "N", FIELD(num_processes),
                   "number of devices (default: 1)"),
	OPT_NUMBER(0, "steps-per-generation", OPT_HARMLESS, "N", FIELD(steps_per_generation),
                   "steps per generation batch (TRL's default: gradient_accumulation_steps)"),
	OPT_NUMBER(0, "generation-batch-size", OPT_HARMLESS, "N", FIELD(generation_batch_size),
                   "rollouts (and sessions) at once; replaces --steps-per-generation (TRL's "
                   "default: per_device_train_batch_size x num_processes x steps_per_generation)"),
	OPT_STRING(0, "eval-strategy", OPT_HARMLESS, "WHEN", FIELD(eval_strategy),
                   "anything but no: evaluation opens sessions, too"),
	OPT_NUMBER(0, "per-device-eval-batch-size", OPT_HARMLESS, "N",
                   FIELD(per_device_eval_batch_size),
                   "rollouts per process in evaluation (TRL's default: 8)"),
	OPT_NUMBER(0, "max-inflight-tasks", OPT_HARMLESS, "N", FIELD(max_inflight_tasks),
                   "sessions of trl-async (TRL's default: max_staleness x "
                   "per_device_train_batch_size x gradient_accumulation_steps x num_processes)"),
	OPT_NUMBER(0, "max-staleness", OPT_HARMLESS, "N", FIELD(max_staleness),
                   "for trl-async (TRL's default: 4)"),
	OPT_NUMBER(0, "max-concurrent", OPT_HARMLESS, "N", FIELD(max_concurrent),
                   "sessions of verifiers (default 128)"),
	OPT_NUMBER(0, "num-samples-in-parallel", OPT_HARMLESS, "N", FIELD(num_samples_in_parallel),
                   "sessions of NeMo Gym (no default)"),
};
const struct option_group trainer_group = {rows, ARRAY_LEN(rows), "trainer settings"};

/* The option of a number, which has dashes in its name. */
static const struct opt_u64 *option_of(const struct trainer_options *o, size_t number)
{
	const struct opt *row =
		config_option_of(rows, ARRAY_LEN(rows), trainer_numbers[number].name);

	return (const struct opt_u64 *)(const void *)((const char *)o + row->offset);
}

bool trainer_given(const struct trainer_options *o)
{
	return options_given(&trainer_group, o);
}

static const char *const kinds[] = {
	[TRAINER_TRL] = "trl",
	[TRAINER_TRL_ASYNC] = "trl-async",
	[TRAINER_VERIFIERS] = "verifiers",
	[TRAINER_NEMO_GYM] = "nemo-gym",
};

static void say_skipped(void *ctx, int64_t line, struct str text)
{
	const char *const *name = ctx;

	log_warn("%s:%lld: not read, because it is no `key: value` at the outermost level: %.*s",
	         *name, (long long)line, STR_ARG(text));
}

static int read_config(const char *path, struct trainer_settings *s, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	if (file_read("a trainer's configuration", path, &text, err))
		return -1;
	return trainer_config_read(buf_view(&text), path, s, say_skipped, &path, err);
}

int trainer_read(const struct trainer_options *o, struct trainer_plan *plan,
                 struct buf *description, struct error *err)
{
	struct trainer_settings s = {.kind = TRAINER_TRL};

	for (size_t i = 0; i < o->configs.count; i++)
		if (read_config(o->configs.item[i], &s, err))
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (o->trainer && !strcmp(o->trainer, kinds[i]))
			s.kind = (enum trainer_kind)i;
	if (o->eval_strategy)
		s.evaluates = trainer_evaluates(str_from(o->eval_strategy));
	for (size_t i = 0; i < trainer_numbers_count; i++) {
		const struct opt_u64 *given = option_of(o, i);

		if (given->given && given->value == 0) {
			return error_set(err, FAIL_USAGE, "\1%s\2 must be at least 1",
			                 trainer_numbers[i].name);
		}
		if (given->given)
			*trainer_number_at(&s, i) = given->value;
	}
	if (trainer_plan(&s, plan, err))
		return -1;
	trainer_describe(&s, plan, description);
	return 0;
}
