/* Batch sizes of trainers: parallel sessions, refused settings, and their description. */
#include "rollout/trainer.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
	struct trainer_settings settings;
	struct trainer_plan plan;
	const char *said;
} good[] = {
	{{0},
         {8, 1, 8, true, 0, false},
         "generation_batch_size 8 = 8 per device x 1 process x 1 step: 8 sessions at once, 1 prompt with 8 generations each"},
	{{.gradient_accumulation_steps = 4},
         {32, 4, 8, true, 0, false},
         "generation_batch_size 32 = 8 per device x 1 process x 4 steps: 32 sessions at once, 4 prompts with 8 generations each"},
	{{.num_processes = 4},
         {32, 4, 8, true, 0, false},
         "generation_batch_size 32 = 8 per device x 4 processes x 1 step: 32 sessions at once, 4 prompts with 8 generations each"},
	{{.num_generations = 8},
         {8, 1, 8, true, 0, false},
         "generation_batch_size 8 = 8 per device x 1 process x 1 step: 8 sessions at once, 1 prompt with 8 generations each"},
	{{.gradient_accumulation_steps = 4, .num_processes = 2},
         {64, 8, 8, true, 0, false},
         "generation_batch_size 64 = 8 per device x 2 processes x 4 steps: 64 sessions at once, 8 prompts with 8 generations each"},
	{{.num_generations = 4, .gradient_accumulation_steps = 4, .steps_per_generation = 2},
         {16, 4, 4, true, 0, false},
         "generation_batch_size 16 = 8 per device x 1 process x 2 steps: 16 sessions at once, 4 prompts with 4 generations each"},
	{{.num_generations = 12, .gradient_accumulation_steps = 4, .generation_batch_size = 24},
         {24, 2, 12, true, 0, false},
         "generation_batch_size 24 = 8 per device x 1 process x 3 steps: 24 sessions at once, 2 prompts with 12 generations each"},
	{{.per_device_train_batch_size = 1000, .num_processes = 1000},
         {1000000, 125000, 8, true, 0, false},
         "generation_batch_size 1000000 = 1000 per device x 1000 processes x 1 step: 1000000 sessions at once, 125000 prompts with 8 generations each"},
};

static const struct {
	struct trainer_settings settings;
	const char *message;
} bad[] = {
	{{.num_generations = 1},
         "num_generations (1): GRPO compares the generations of a prompt with each other and needs at least 2"},
	{{.per_device_train_batch_size = 1},
         "generation_batch_size (1) must be divisible by num_generations (8)"},
	{{.num_generations = 6, .gradient_accumulation_steps = 2},
         "generation_batch_size (16) must be divisible by num_generations (6)"},
	{{.generation_batch_size = 20, .num_processes = 2},
         "generation_batch_size (20) must be divisible by the global batch size (per_device_train_batch_size 8 x num_processes 2 = 16)"},
	{{.generation_batch_size = 16, .steps_per_generation = 2},
         "generation_batch_size and steps_per_generation cannot both be given"},
	{{.per_device_train_batch_size = 1001, .gradient_accumulation_steps = 1000},
         "generation_batch_size is more than 1000000"},
	{{.per_device_train_batch_size = UINT64_MAX,
          .gradient_accumulation_steps = UINT64_MAX,
          .num_processes = 2},
         "generation_batch_size is more than 1000000"},
	{{.generation_batch_size = 8000000}, "generation_batch_size is more than 1000000"},
	{{.num_generations = UINT64_MAX},
         "generation_batch_size (8) must be divisible by num_generations (18446744073709551615)"},
};

/* fixtures/trainer/sessions.tsv: the trainer, its settings as its configuration has them ("; " for a
   new line), and the sessions it opens at once. */
static const char *const kinds[] = {"trl",     "trl-async", "verifiers", "nemo-gym",
                                    "nemo-rl", "prime-rl",  "verl"};

static struct buf skips;

static void skipped(void *ctx, int64_t line, struct str text)
{
	(void)ctx;
	buf_printf(&skips, "%lld %.*s|", (long long)line, STR_ARG(text));
}

static void as_lines(char *text)
{
	for (char *p = text; (p = strstr(p, "; ")); p++) {
		p[0] = '\n';
		memmove(p + 1, p + 2, strlen(p + 2) + 1);
	}
}

static void test_row(char *row)
{
	char *kind = strtok(row, "\t\n"), *config = strtok(NULL, "\t\n"),
	     *sessions = strtok(NULL, "\t\n");
	struct trainer_settings s = {.kind = TRAINER_TRL};
	struct trainer_plan p = {.sessions = 0};
	struct error err = {0};

	while (strcmp(kinds[s.kind], kind) != 0)
		s.kind++;
	as_lines(config);
	ok(!trainer_config_read(str_from(config), "config.yaml", &s, skipped, NULL, &err),
	   "%s: read", config);
	bool refused = trainer_plan(&s, &p, &err);
	if (!strcmp(sessions, "refused")) {
		ok(refused && err.kind == FAIL_USAGE, "%s: refused", config);
	} else {
		ok(!refused, "%s: a plan", config);
		is_int(p.sessions, strtoll(sessions, NULL, 10), "%s: sessions", config);
	}
}

static void test_file(const char *path)
{
	char row[512];
	int rows = 0;
	FILE *f = fopen(path, "r");

	if (!f) {
		ok(false, "%s can be read", path);
		return;
	}
	while (fgets(row, sizeof(row), f)) {
		if (row[0] != '#') {
			test_row(row);
			rows++;
		}
	}
	fclose(f);
	ok(rows >= 20, "%d rows", rows);
}

/* A configuration, what it sets (generations, processes, evaluates, prompts) or the error, and the lines that
   were not read. */
static const struct {
	const char *text, *want, *skipped;
} configs[] = {
	{"num_generations: 4\nnum_processes: 2\neval_strategy: steps\n", "4 2 1 0", ""},
	{"\xef\xbb\xbf", "0 0 0 0", "1 \xef\xbb\xbf|"},
	{"# comment\n---\n\"num_generations\": '4'  # four\nnum_processes :  2 # two\r\neval_strategy: 'no'\n...\n",
         "4 2 -1 0", ""},
	{"model: x\nenv:\n  num_generations: 9\n  other: 1\nlist:\n- a: 1\n- num_processes: 3\n",
         "0 0 0 0", "3 num_generations: 9|7 - num_processes: 3|"},
	{"not yaml\nnum_generations: 4", "4 0 0 0", "1 not yaml|"},
	{"num_generations: null\nnum_processes: ~\neval_strategy: no\nrest: &a {b: 1}\n",
         "0 0 -1 0", ""},
	{"lr: 1\nnum_generations: 4.5\n",
         "c:2: num_generations: expected a whole number from 1, got '4.5'", ""},
	{"num_generations: 0", "c:1: num_generations: expected a whole number from 1, got '0'", ""},
	{"num_generations: 4 4", "c:1: num_generations: expected a whole number from 1, got '4 4'",
         ""},
	{"num_generations: *n", "c:1: num_generations: expected a whole number from 1, got '*n'",
         ""},
	{"num_generations: 99999999999999999999",
         "c:1: num_generations: expected a whole number from 1, got '99999999999999999999'", ""},
	{"{\"num_generations\": 4, \"x\": {\"num_processes\": 7}, \"eval_strategy\": \"epoch\"}",
         "4 0 1 0", ""},
	{" {\n\"num_processes\":\n2,\"num_generations\": null}\n", "0 2 0 0", ""},
	{"{\n\"a\": 1,\n\"num_generations\": -4}",
         "c:3: num_generations: expected a whole number from 1, got '-4'", ""},
	{"{\"num_generations\": 4", "c: not JSON: unexpected end of input", ""},
	{"", "0 0 0 0", ""},
	{"defaults: base.yaml\nother:\n  data:\n    train_batch_size: 9\ndata:\n  files: [a, b]\n  # c\n  train_batch_size: 64  # d\nactor_rollout_ref:\n  rollout:\n    stop:\n    - n: 3\n    n: 5\n    val_kwargs:\n      n: 2\ntrainer.test_freq: -1",
         "5 0 -1 64", "1 defaults: base.yaml|"},
	{"grpo:\n    async_grpo: {enabled: true}\n    num_prompts_per_step: ${n}\n    num_generations_per_prompt: 4\n    <<: *more\n    env:\n        num_processes: 2\nloss: {grpo: 1}\n",
         "4 0 0 0", "2 async_grpo: {enabled: true}|3 num_prompts_per_step: ${n}|5 <<: *more|"},
	{"grpo: {num_prompts_per_step: 3}\ngrpo.batch_multiplier: 1\ngrpo.batch_multiplier: 1.5",
         "0 0 0 0", "1 grpo: {num_prompts_per_step: 3}|3 grpo.batch_multiplier: 1.5|"},
	{"{\"grpo\": {\"num_prompts_per_step\": 3}, \"grpo.num_prompts_per_step\": 2}", "0 0 0 2",
         "1 grpo|"},
	{"num_processes = 2 # two\n[grpo]\nnum_prompts_per_step = 7\nlabels = [\n  \"[data]\",\n]\n\n[[data]]\ntrain_batch_size = 9\n[ actor_rollout_ref.rollout ] # n\n\"n\" = '6'\nval_kwargs = { n = 2 }\n",
         "6 2 0 7", "12 val_kwargs = { n = 2 }|"},
	{"[orchestrator.concurrency]\nmax_inflight = \"None\"",
         "c.toml:2: orchestrator.concurrency.max_inflight: expected a whole number from 1, got 'None'",
         ""},
	{"[orchestrator.concurrency]\nmax_inflight = 1_0",
         "c.toml:2: orchestrator.concurrency.max_inflight: expected a whole number from 1, got '1_0'",
         ""},
};

static void test_configs(void)
{
	for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
		struct trainer_settings s = {.kind = TRAINER_TRL};
		struct error err = {0};
		char got[256];
		const char *name = strstr(configs[i].text, " = ") ? "c.toml" : "c";

		buf_clear(&skips);
		if (trainer_config_read(str_from(configs[i].text), name, &s, skipped, NULL, &err)) {
			is_int(err.kind, FAIL_INPUT, "an input error");
			is_str(err.text, configs[i].want, "config %zu", i);
		} else {
			snprintf(got, sizeof(got), "%d %d %d %d", (int)s.num_generations,
			         (int)s.num_processes, (int)s.eval_strategy, (int)s.prompts);
			is_str(got, configs[i].want, "config %zu", i);
		}
		is_str(buf_cstr(&skips), configs[i].skipped, "lines that were not read");
	}
}

static const struct {
	struct trainer_plan plan;
	uint64_t turns, us;
	const char *said;
} times[] = {
	{{32, 4, 8, true, 0, false},
         6,
         20000,
         "32 rollouts x 6 turns x 20 ms = 3.84 s a batch (the trainer never overlaps two calls)"},
	{{8, 1, 2, true, 0, false},
         1,
         1500,
         "2 rollouts x 1 turn x 1.5 ms = 3 ms a batch (the trainer never overlaps two calls)"},
	{{16, 0, 8, false, 0, false},
         6,
         20000,
         "16 rollouts x 6 turns x 20 ms, overlapping: 120 ms or more"},
};

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		struct trainer_plan p = {0};
		struct buf said = BUF(BUF_MAX_SMALL);
		struct error err = {0};

		ok(trainer_plan(&good[i].settings, &p, &err) == 0, "%s", good[i].said);
		is_int(p.sessions, good[i].plan.sessions, "sessions");
		is_int(p.groups, good[i].plan.groups, "groups");
		is_int(p.group_size, good[i].plan.group_size, "their size");
		trainer_describe(&good[i].settings, &p, &said);
		is_str(buf_cstr(&said), good[i].said, "said");
		buf_release(&said);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct trainer_plan p = {0};
		struct error err = {0};

		ok(trainer_plan(&bad[i].settings, &p, &err) == -1, "%s", bad[i].message);
		is_int(err.kind, FAIL_USAGE, "a usage error");
		is_str(err.text, bad[i].message, "in these words");
		is_int(p.sessions, 0, "and no plan");
	}
	skips = BUF(BUF_MAX_SMALL);
	test_file("fixtures/trainer/sessions.tsv");
	test_configs();
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		struct buf said = BUF(BUF_MAX_SMALL);

		trainer_describe_time(&times[i].plan, times[i].turns, times[i].us, &said);
		is_str(buf_cstr(&said), times[i].said, "time");
		buf_release(&said);
	}
	buf_release(&skips);
	return done();
}
