/* Repeats the beginning of a recorded rollout: see prefix.h. */
#include "debug/prefix.h"

#include "json/write.h"
#include "report/changes.h"

#define DIFFERENCES_SHOWN 10

/* ---- its calls ---- */

struct calls {
	struct json_writer w;
	int64_t until; /* last position */
	int64_t sent;  /* calls up to there */
	bool ended;    /* the last call ended the episode */
};

static int add_call(void *ctx, const struct moment *m, struct error *err)
{
	struct calls *c = ctx;
	struct str call = m->line->value[KEY_TOOL_CALL], arguments = JSON_GET(call, "arguments");

	(void)err;
	if (m->line->step < 0 || json_type(JSON_GET(call, "name")) != JSON_STRING) {
		return 0;
	}
	jw_object(&c->w);
	jw_raw(jw_key(&c->w, "name"), JSON_GET(call, "name"));
	jw_raw(jw_key(&c->w, "arguments"),
	       json_type(arguments) == JSON_OBJECT ? arguments : STR("{}"));
	jw_end(&c->w);
	if (m->position <= c->until) {
		c->sent++;
		c->ended = m->line->terminated > 0 || m->line->truncated > 0;
	}
	return 0;
}

static int read_calls(struct prefix *p, struct cursor *c, int64_t position, struct error *err)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct calls calls = {.until = position};

	jw_init(&calls.w, &text);
	jw_array(&calls.w);
	int got = cursor_search(c, false, add_call, &calls, err);
	jw_end(&calls.w);
	if (got >= 0 && text.full) {
		got = error_set(err, FAIL_INPUT, "the calls of this rollout exceed 64 MiB");
	}
	p->request.calls = arena_str(&p->arena, buf_view(&text));
	p->steps = calls.sent;
	p->request.parent_ended = calls.ended;
	buf_release(&text);
	return got < 0 ? -1 : 0;
}

/* ---- its header ---- */

static void take_header(struct prefix *p, const struct cursor_facts *f, const char *file, bool fork)
{
	struct live_request *q = &p->request;
	struct str task = f->header.value[KEY_TASK], reset = JSON_GET(task, "reset");

	q->again = true;
	p->has_seed = q->has_seed = json_i64(f->header.value[KEY_SEED], &q->seed);
	q->reset = json_type(reset) == JSON_OBJECT ? arena_str(&p->arena, reset) : STR_NONE;
	q->task = json_text(&p->arena, JSON_GET(task, "id")).p;
	q->sample = line_count(f->header.value[KEY_SAMPLE]);
	q->sample = q->sample < 0 ? 0 : q->sample;
	q->parent = fork ? arena_str(&p->arena, f->rollout) : STR_NONE;
	q->parent_steps = p->steps;
	q->parent_file = fork ? arena_str(&p->arena, str_from(file)).p : NULL;
	p->ignored = changes_ignored(&f->header);
}

int prefix_read(struct prefix *p, const struct cursor *c, int64_t position, bool fork,
                const char *file, struct cursor **parent, struct error *err)
{
	const struct cursor_facts *f = cursor_facts(c);
	const struct cursor_conf conf = {.path = f->path, .rollout = f->name};

	if (cursor_open(&conf, parent, err) || read_calls(p, *parent, position, err)) {
		return -1;
	}
	take_header(p, cursor_facts(*parent), file, fork);
	return 0;
}

void prefix_release(struct prefix *p)
{
	json_paths_free(p->ignored);
	arena_release(&p->arena);
}

/* ---- comparing states ---- */

/* The recorded state before that step, or after the last one. */
static int recorded_state(const struct prefix *p, struct cursor *parent, int64_t step,
                          struct str *out, struct error *err)
{
	*out = STR_NONE;
	if (step < p->steps) {
		int got = cursor_find(parent, false, step, err);

		*out = got > 0 ? cursor_now(parent)->line->value[KEY_STATE] : STR_NONE;
		return got < 0 ? -1 : 0;
	}
	int got = step ? cursor_find(parent, false, step - 1, err) : cursor_go(parent, 0, err);
	*out = got > 0 ? cursor_now(parent)->after : STR_NONE;
	return got < 0 ? -1 : 0;
}

static bool is_same(struct str a, struct str b, const struct json_paths *ignored)
{
	struct buf scratch = BUF(BUF_MAX_MESSAGE);
	struct hasher *h = hasher_new();
	char first[HASH_HEX + 1], second[HASH_HEX + 1];

	json_hash(h, a, ignored, &scratch, first);
	json_hash(h, b, ignored, &scratch, second);
	buf_release(&scratch);
	hasher_free(h);
	return !strcmp(first, second);
}

int prefix_compare(struct prefix *p, struct cursor *parent, int64_t step, struct str state,
                   struct buf *out, bool *same, struct error *err)
{
	struct str recorded;

	if (recorded_state(p, parent, step, &recorded, err)) {
		return -1;
	}
	if (json_is_null(recorded) || json_is_null(state)) {
		p->unknown++;
		return 0;
	}
	*same = is_same(recorded, state, p->ignored);
	if (!*same) {
		buf_printf(out,
		           "the state %s step %lld differs from the recording (recorded -> now):\n",
		           step < p->steps ? "before" : "after",
		           (long long)(step < p->steps ? step : step - 1));
		changes_list(out, recorded, state, p->ignored, DIFFERENCES_SHOWN);
	}
	return 0;
}
