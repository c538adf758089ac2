/* Writes a healthy recording of any size to standard output: gen_recording dense|text
   MEGABYTES [SEED]. Both kinds have lines of about 2 KB. "dense" holds about 100 JSON values a
   line (a robot on a grid, sensors and all), "text" about 50 (pages of a book, mostly prose). The
   same call gives the same bytes. */
#include "base/hash.h"
#include "base/rng.h"
#include "json/canon.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

#define LINE_MAX_BYTES   ((size_t)1 << 20)
#define SAMPLES_A_TASK   4
#define SHORTEST_EPISODE 8
#define LONGEST_EPISODE  60

/* What one kind of recording puts where the two differ. */
struct kind {
	const char *name, *env, *tool, *tools;
	size_t thought_bytes; /* what the model says before it calls */
	void (*arguments)(struct rng *rng, struct json_writer *w);
	void (*state)(struct rng *rng, int64_t step, struct json_writer *w);
	void (*observation)(struct rng *rng, int64_t step, struct json_writer *w);
};

/* One rollout while it is written. The buffers hold JSON values that a line needs twice.
 */
struct episode {
	const struct kind *kind;
	struct rng rng;
	int64_t task, sample, steps, lines;
	char rollout[64], session[33];
	struct buf line, state, arguments, observation, scratch;
};

static void name_and_number(struct json_writer *w, const char *name, int64_t number)
{
	char text[64];

	snprintf(text, sizeof text, "%s-%lld", name, (long long)number);
	jw_text(w, text);
}

static void hundredths(struct json_writer *w, uint32_t value)
{
	char text[32];
	int n = snprintf(text, sizeof text, "%u.%02u", value / 100, value % 100);

	jw_raw(w, (struct str){text, (size_t)n});
}

static void row_of_numbers(struct rng *rng, struct json_writer *w, int length, uint32_t below)
{
	jw_array(w);
	for (int i = 0; i < length; i++)
		jw_u64(w, rng_below(rng, below));
	jw_end(w);
}

static const char *const words[] = {
	"ice",    "lantern", "harbour", "slowly", "a",      "the",    "of",       "winter",
	"ledger", "carried", "letter",  "signal", "answer", "they",   "machine",  "river",
	"quiet",  "stone",   "between", "and",    "in",     "it was", "evening,", "window."};

/* What keeps a text from being plain: about as often as in a page of prose. */
static const char *const rare[] = {"\n",          "\n\n",           "\"perhaps\"",
                                   "caf\xc3\xa9", "10\xe2\x82\xac", "C:\\notes"};

static void prose(struct rng *rng, struct buf *out, size_t bytes)
{
	buf_clear(out);
	while (out->n < bytes) {
		buf_text(out, rng_below(rng, 16) ? words[rng_below(rng, ARRAY_LEN(words))]
		                                 : rare[rng_below(rng, ARRAY_LEN(rare))]);
		buf_char(out, ' ');
	}
}

static void jw_prose(struct rng *rng, struct json_writer *w, size_t bytes)
{
	struct buf text = BUF(LINE_MAX_BYTES);

	prose(rng, &text, bytes);
	jw_str(w, buf_view(&text));
	buf_release(&text);
}

static const char *const directions[] = {"north", "east", "south", "west"};

static void robot_arguments(struct rng *rng, struct json_writer *w)
{
	jw_object(w);
	jw_put_text(w, "direction", directions[rng_below(rng, ARRAY_LEN(directions))]);
	jw_put_u64(w, "cells", 1 + rng_below(rng, 4));
	jw_end(w);
}

static void robot(struct rng *rng, int64_t step, struct json_writer *w)
{
	jw_object(w);
	jw_put_u64(w, "x", rng_below(rng, 40));
	jw_put_u64(w, "y", rng_below(rng, 40));
	jw_put_text(w, "heading", directions[rng_below(rng, ARRAY_LEN(directions))]);
	jw_key(w, "odometer");
	hundredths(w, (uint32_t)step * 131 + rng_below(rng, 100));
	jw_key(w, "battery");
	hundredths(w, 9800 - (uint32_t)step * 7);
	jw_end(w);
}

static void robot_state(struct rng *rng, int64_t step, struct json_writer *w)
{
	jw_object(w);
	jw_key(w, "robot");
	robot(rng, step, w);
	jw_key(w, "shelves");
	row_of_numbers(rng, w, 16, 100);
	jw_key(w, "orders_waiting");
	row_of_numbers(rng, w, 6, 90000);
	jw_key(w, "carrying");
	name_and_number(w, "crate-of-spare-parts", (int64_t)rng_below(rng, 9000));
	jw_end(w);
}

static void robot_observation(struct rng *rng, int64_t step, struct json_writer *w)
{
	jw_object(w);
	jw_key(w, "robot");
	robot(rng, step, w);
	jw_key(w, "range_sensors");
	row_of_numbers(rng, w, 14, 4000);
	jw_pack(w, "blocked:false");
	jw_key(w, "message");
	jw_prose(rng, w, 60);
	jw_end(w);
}

static void page_arguments(struct rng *rng, struct json_writer *w)
{
	jw_object(w);
	jw_put_u64(w, "page", 1 + rng_below(rng, 900));
	jw_end(w);
}

static void page_state(struct rng *rng, int64_t step, struct json_writer *w)
{
	jw_object(w);
	jw_key(w, "page");
	name_and_number(w, "page", step);
	jw_key(w, "title");
	jw_prose(rng, w, 40);
	jw_key(w, "visited");
	row_of_numbers(rng, w, 3, 900);
	jw_pack(w, "bookmarked:%b", rng_below(rng, 2) == 1);
	jw_end(w);
}

static void page_observation(struct rng *rng, int64_t step, struct json_writer *w)
{
	(void)step;
	jw_prose(rng, w, 400);
}

static const struct kind kinds[] = {
	{"dense", "warehouse", "move",
         "[{\"name\":\"move\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
         "\"direction\":{\"type\":"
         "\"string\"},\"cells\":{\"type\":\"integer\"}},\"required\":[\"direction\"]}}]",
         450, robot_arguments, robot_state, robot_observation},
	{"text", "library", "turn_to",
         "[{\"name\":\"turn_to\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
         "\"page\":{\"type\":"
         "\"integer\"}},\"required\":[\"page\"]}}]",
         300, page_arguments, page_state, page_observation},
};

static void key_text(struct json_writer *w, const char *key, const char *text)
{
	jw_put_text(w, key, text);
}

static void key_raw(struct json_writer *w, const char *key, const char *json)
{
	jw_put_raw(w, key, str_from(json));
}

static void key_number(struct json_writer *w, const char *key, int64_t number)
{
	jw_put_i64(w, key, number);
}

static void line_begin(struct episode *e, struct json_writer *w, const char *type)
{
	buf_clear(&e->line);
	jw_init(w, &e->line);
	jw_object(w);
	jw_put_text(w, "type", type);
	jw_put_text(w, "rollout", e->rollout);
}

static void line_end(struct episode *e, struct json_writer *w)
{
	jw_put_object(w, "meta");
	key_text(w, "at", "2026-01-01T00:00:00.000Z");
	jw_key(w, "latency_ms");
	hundredths(w, 90 + rng_below(&e->rng, 90));
	key_number(w, "http_status", 200);
	key_text(w, "session", e->session);
	key_text(w, "env_session", e->session);
	key_raw(w, "control", "{\"reward\":\"ok\",\"status\":\"ok\"}");
	jw_end(w);
	jw_end(w);
	buf_char(&e->line, '\n');
	fwrite(e->line.p, 1, e->line.n, stdout);
	e->lines++;
}

static void make(struct buf *out, struct episode *e, int64_t step,
                 void (*value)(struct rng *, int64_t, struct json_writer *))
{
	struct json_writer w;

	buf_clear(out);
	jw_init(&w, out);
	value(&e->rng, step, &w);
}

static void write_header(struct episode *e)
{
	struct json_writer w;

	line_begin(e, &w, "header");
	key_text(&w, "format", "rolldbg");
	key_number(&w, "version", 1);
	jw_put_object(&w, "task");
	jw_key(&w, "id");
	name_and_number(&w, "task", e->task);
	jw_end(&w);
	key_number(&w, "sample", e->sample);
	key_number(&w, "seed",
	           SAMPLES_A_TASK * e->task + e->sample); /* no two episodes are alike */
	jw_put_object(&w, "env");
	key_text(&w, "protocol", "mcp-gym");
	key_text(&w, "name", e->kind->env);
	key_text(&w, "version", "1.0");
	jw_end(&w);
	key_raw(&w, "state_source", "{\"kind\":\"control-plane\",\"ignore\":[]}");
	key_raw(&w, "policy", "{\"kind\":\"script\",\"name\":\"bench\",\"params\":{}}");
	key_raw(&w, "tools", e->kind->tools);
	key_raw(&w, "limits", "{\"max_turns\":100}");
	key_raw(&w, "masks", "[]");
	line_end(e, &w);
}

static void write_reset(struct episode *e)
{
	struct json_writer w;

	make(&e->observation, e, 0, e->kind->observation);
	line_begin(e, &w, "reset");
	key_text(&w, "outcome", "ok");
	key_raw(&w, "error", "null");
	jw_put_raw(&w, "observation", buf_view(&e->observation));
	key_raw(&w, "messages", "[{\"role\":\"system\",\"content\":\"Use the tools.\"}]");
	line_end(e, &w);
}

static void write_state(struct episode *e, struct json_writer *w, int64_t step)
{
	char hash[HASH_HEX + 1];

	make(&e->state, e, step, e->kind->state);
	jw_put_raw(w, "state", buf_view(&e->state));
	json_hash(buf_view(&e->state), NULL, &e->scratch, hash);
	key_text(w, "state_hash", hash);
}

/* What the model said and what the tool answered, as a chat holds it. */
static void write_messages(struct episode *e, struct json_writer *w, const char *call)
{
	jw_put_array(w, "messages");
	jw_object(w);
	key_text(w, "role", "assistant");
	jw_key(w, "content");
	jw_prose(&e->rng, w, e->kind->thought_bytes);
	jw_put_array(w, "tool_calls");
	jw_object(w);
	key_text(w, "id", call);
	key_text(w, "type", "function");
	jw_put_object(w, "function");
	key_text(w, "name", e->kind->tool);
	jw_put_str(w, "arguments", buf_view(&e->arguments));
	jw_end(w);
	jw_end(w);
	jw_end(w);
	jw_end(w);
	jw_object(w);
	key_text(w, "role", "tool");
	key_text(w, "tool_call_id", call);
	jw_key(w, "content");
	if (e->observation.p[0] == '"')
		jw_raw(w, buf_view(&e->observation));
	else
		jw_str(w, buf_view(&e->observation));
	jw_end(w);
	jw_end(w);
}

/* Of the last step: not the same for all samples of a task. */
static const char *reward_of(const struct episode *e)
{
	return e->sample == 0 ? "0.5" : "1.0";
}

static void write_step(struct episode *e, int64_t step)
{
	bool last = step == e->steps - 1;
	char call[32];
	struct json_writer w;

	snprintf(call, sizeof call, "c%lld", (long long)step);
	buf_clear(&e->arguments);
	jw_init(&w, &e->arguments);
	e->kind->arguments(&e->rng, &w);
	make(&e->observation, e, step + 1, e->kind->observation);

	line_begin(e, &w, "step");
	key_number(&w, "turn", step);
	key_number(&w, "step", step);
	write_state(e, &w, step);
	write_messages(e, &w, call);
	jw_put_object(&w, "tool_call");
	key_text(&w, "id", call);
	key_text(&w, "name", e->kind->tool);
	jw_put_raw(&w, "arguments", buf_view(&e->arguments));
	jw_end(&w);
	jw_put_raw(&w, "observation", buf_view(&e->observation));
	key_text(&w, "outcome", "ok");
	key_raw(&w, "error", "null");
	key_raw(&w, "reward", last ? reward_of(e) : "0.0");
	key_raw(&w, "terminated", last ? "true" : "false");
	key_raw(&w, "truncated", "false");
	key_number(&w, "env_steps", step + 1);
	line_end(e, &w);
}

static void write_end(struct episode *e)
{
	struct json_writer w;

	line_begin(e, &w, "end");
	key_text(&w, "status", "terminated");
	key_raw(&w, "reason", "null");
	key_number(&w, "turns", e->steps);
	key_number(&w, "steps", e->steps);
	key_raw(&w, "total_reward", reward_of(e));
	write_state(e, &w, e->steps);
	key_number(&w, "lines", e->lines + 1);
	line_end(e, &w);
}

/* Returns the bytes written. */
static size_t write_episode(struct episode *e, int64_t number)
{
	size_t bytes = 0;

	e->task = number / SAMPLES_A_TASK;
	e->sample = number % SAMPLES_A_TASK;
	e->lines = 0;
	e->steps = SHORTEST_EPISODE + rng_below(&e->rng, LONGEST_EPISODE - SHORTEST_EPISODE);
	snprintf(e->rollout, sizeof e->rollout, "task-%lld.%lld", (long long)e->task,
	         (long long)e->sample);
	snprintf(e->session, sizeof e->session, "%08x%08x%08x%08x", rng_next(&e->rng),
	         rng_next(&e->rng), rng_next(&e->rng), rng_next(&e->rng));
	write_header(e);
	bytes += e->line.n;
	write_reset(e);
	bytes += e->line.n;
	for (int64_t step = 0; step < e->steps; step++) {
		write_step(e, step);
		bytes += e->line.n;
	}
	write_end(e);
	return bytes + e->line.n;
}

static const struct kind *kind_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

int main(int argc, char **argv)
{
	bool complete = argc == 3 || argc == 4;
	const struct kind *kind = complete ? kind_find(argv[1]) : NULL;
	size_t megabytes = complete ? strtoul(argv[2], NULL, 10) : 0;

	if (!kind || megabytes == 0) {
		fputs("usage: gen_recording dense|text MEGABYTES [SEED] >FILE\n", stderr);
		return 2;
	}
	struct episode e = {.kind = kind,
	                    .line = BUF(LINE_MAX_BYTES),
	                    .state = BUF(LINE_MAX_BYTES),
	                    .arguments = BUF(LINE_MAX_BYTES),
	                    .observation = BUF(LINE_MAX_BYTES),
	                    .scratch = BUF(LINE_MAX_BYTES)};
	rng_seed(&e.rng, argc == 4 ? strtoul(argv[3], NULL, 10) : 1, 1);
	size_t written = 0;
	for (int64_t number = 0; written < megabytes * 1000 * 1000; number++)
		written += write_episode(&e, number);
	buf_release(&e.line);
	buf_release(&e.state);
	buf_release(&e.arguments);
	buf_release(&e.observation);
	buf_release(&e.scratch);
	return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
