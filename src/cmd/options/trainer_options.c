/* Reads the trainer's settings: see trainer_options.h. */
#include "cmd/options/trainer_options.h"

#include "base/file.h"
#include "base/log.h"
#include "cmd/options/config_keys.h"
#include "rollout/trainer.h"

#define ROWS trainer
#include "cmd/options/rows.h"
const struct option_group trainer_group = {trainer_opts, ARRAY_LEN(trainer_opts),
                                           "trainer settings"};

/* The option of a number, which has dashes in its name. */
static const struct opt_u64 *option_of(const struct trainer_options *o, const char *number)
{
	const struct opt *row = config_option_of(trainer_opts, ARRAY_LEN(trainer_opts), number);

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
	[TRAINER_NEMO_RL] = "nemo-rl",
	[TRAINER_PRIME_RL] = "prime-rl",
	[TRAINER_VERL] = "verl",
};

struct config_place {
	const char *path;
	bool first;
};

static void say_skipped(void *ctx, int64_t line, struct str text)
{
	const struct config_place *place = ctx;
	bool inherits = str_starts(text, STR("defaults"));

	if (!inherits || place->first) {
		log_warn("%s:%lld: not read: %.*s%s", place->path, (long long)line, STR_ARG(text),
		         inherits ? " (give that file before this one, with its own "
		                    "--trainer-config)"
		                  : "");
	}
}

static int read_config(const char *path, bool first, struct trainer_settings *s, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	struct config_place place = {path, first};

	if (file_read("a trainer's configuration", path, &text, err))
		return -1;
	return trainer_config_read(buf_view(&text), path, s, say_skipped, &place, err);
}

int trainer_read(const struct trainer_options *o, struct trainer_plan *plan,
                 struct buf *description, struct error *err)
{
	struct trainer_settings s = {.kind = TRAINER_TRL};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (o->trainer && !strcmp(o->trainer, kinds[i]))
			s.kind = (enum trainer_kind)i;
	s.kind_given = o->trainer;
	for (size_t i = 0; i < o->configs.count; i++)
		if (read_config(o->configs.item[i], i == 0, &s, err))
			return -1;
	if (o->eval_strategy)
		s.eval_strategy = trainer_switch(str_from(o->eval_strategy));
	for (size_t i = 0; i < trainer_rows_count; i++) {
		const struct trainer_row *r = &trainer_rows[i];

		if (r->kind != TRAINER_ANY || r->is_switch)
			continue;
		const struct opt_u64 *given = option_of(o, r->path);

		if (given->given && given->value == 0)
			return error_set(err, FAIL_USAGE, "\1%s\2 must be at least 1", r->path);
		if (given->given)
			*trainer_setting_at(&s, i) = given->value;
	}
	if (trainer_plan(&s, plan, err))
		return -1;
	trainer_describe(&s, plan, description);
	return 0;
}
