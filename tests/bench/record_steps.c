/* What recording costs: record_steps FILE writes steps of a lake to FILE, from the facts
   of a step to the line on disk, as a run does without --sync. Prints the microseconds a
   step. */
#include "recording/line_writer.h"

#include <stdio.h>

#define STEPS 200000
#define GRID  "\"grid\":\"\\nSFFF\\n\\u001b[41mF\\u001b[0mHFH\\nFFFH\\nHFFG\\n\""

/* A walk over the sixteen fields. */
static void field(char *out, size_t size, int64_t number)
{
	snprintf(out, size, "{\"position\":%lld," GRID "}", (long long)(number % 16));
}

static int record_step(struct line_writer *w, int64_t number, const struct json_paths *ignore,
                       struct error *err)
{
	static const struct call_fields call = {.name = STR_INIT("lake_move"),
	                                        .arguments = STR_INIT("{\"action\":\"DOWN\"}")};
	static const struct str session = STR_INIT("0123456789abcdef0123456789abcdef");
	char before[160], after[160];

	field(before, sizeof before, number);
	field(after, sizeof after, number + 1);
	struct env_reply reply = {.outcome = OUTCOME_OK,
	                          .observation = str_from(after),
	                          .reward = STR("0.0"),
	                          .env_steps = number + 1,
	                          .http_status = 200,
	                          .session = session,
	                          .env_session = session,
	                          .control_reward = "ok",
	                          .control_status = "ok"};
	struct step_fields facts = {.turn = number,
	                            .step = number,
	                            .state = str_from(before),
	                            .ignore = ignore,
	                            .call = &call,
	                            .reply = &reply,
	                            .at_ms = w->clock.unix_ms(w->clock.ctx),
	                            .latency_us = 1250};
	return line_writer_step(w, &facts, err);
}

static int record(struct recorder *r, double *took_us, struct error *err)
{
	struct json_paths *ignore = json_paths_new(false);
	struct line_writer w;
	int rc = 0;

	if (json_paths_add(ignore, STR("/grid"), err) != 0) {
		json_paths_free(ignore);
		return -1;
	}
	struct scratch_pool *scratch = scratch_pool_new();
	line_writer_init(&w, r, NULL, 0, clock_real(), scratch);
	w.rollout = "lake.0";
	uint64_t began_ns = w.clock.monotonic_ns(w.clock.ctx);
	for (int64_t number = 0; number < STEPS && rc == 0; number++)
		rc = record_step(&w, number, ignore, err);
	*took_us = (double)(w.clock.monotonic_ns(w.clock.ctx) - began_ns) / 1e3;
	scratch_pool_free(scratch);
	json_paths_free(ignore);
	return rc;
}

int main(int argc, char **argv)
{
	struct recorder_conf conf = {.path = argc == 2 ? argv[1] : NULL, .force = true};
	struct recorder *recorder = NULL;
	struct error err = {.kind = FAIL_NONE}, late = {.kind = FAIL_NONE};
	double took_us = 0;

	if (!conf.path) {
		fputs("usage: record_steps FILE\n", stderr);
		return 2;
	}
	int rc = recorder_new(&conf, &recorder, &err);
	if (rc == 0)
		rc = record(recorder, &took_us, &err);
	if (recorder_close(recorder, &late) != 0 && rc == 0) {
		err = late;
		rc = -1;
	}
	if (rc != 0) {
		fprintf(stderr, "record_steps: %s\n", err.text);
		return 1;
	}
	printf("%.3f\n", took_us / STEPS);
	return 0;
}
