/* Judges a rollout up to a step: see judged.h. The rules read the lines of all rollouts, since some
   compare them. After the last line, a synthetic end line carries the final state. */
#include "debug/judged.h"

#include "json/write.h"
#include "recording/reader.h"

#define INTERRUPT_LINES 4096

struct judged_reading {
	const struct judged_conf *conf;
	judged_fn *take;
	void *user;
	struct judge *judge;
	uint64_t lines;
	bool given;
};

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	struct judged_reading *g = ctx;

	if (!g->given && v->rollout.p && str_is(v->rollout, g->conf->rollout)) {
		g->given = true;
		g->take(g->user, v);
	}
}

/* Returns 1 after the last line to read. */
static int take_line(struct judged_reading *g, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	const struct judged_conf *c = g->conf;

	if (c->until && note->offset >= c->until->end) {
		return 1;
	}
	if (++g->lines % INTERRUPT_LINES == 0 && c->interrupted && c->interrupted(c->ctx)) {
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	}
	return judge_line(g->judge, l, note, err) ? -1 : g->given;
}

static int read_lines(struct judged_reading *g, struct error *err)
{
	struct reader_note note;
	struct reader *r;
	struct line l;
	int more, done = 0;

	if (reader_open(g->conf->path, &r, err)) {
		return -1;
	}
	while (!done && (more = reader_next(r, &l, &note, err)) > 0) {
		done = take_line(g, &l, &note, err);
	}
	reader_close(r);
	return done < 0 || (!done && more < 0) ? -1 : 0;
}

/* Ends the rollout here, with this state. */
static int put_end(struct judged_reading *g, struct error *err)
{
	const struct moment *m = g->conf->until;
	struct buf text = BUF(BUF_MAX_MESSAGE), id = BUF(BUF_MAX_MESSAGE);
	struct line l;
	size_t used;
	struct json_writer w = jw_begin(&text);

	jw_text(jw_key(&w, "type"), line_type_name(LINE_END));
	jw_str(jw_key(&w, "rollout"), g->conf->id);
	jw_raw(jw_key(&w, "state"), m->after);
	jw_raw(jw_key(&w, "state_hash"), m->after_hash);
	jw_end(&w);
	int failed = line_parse(buf_view(&text), &id, &l, &used, err) ||
	             judge_line(g->judge, &l, NULL, err);
	buf_release(&text);
	buf_release(&id);
	return failed ? -1 : 0;
}

int judged_find(const struct judged_conf *conf, judged_fn *take, void *user, struct error *err)
{
	struct judged_reading g = {.conf = conf, .take = take, .user = user};
	/* at `until`, the end is synthetic */
	const struct judge_conf rules = {.without = conf->until ? "one-step-episode" : NULL,
	                                 .verdict = take_verdict,
	                                 .ctx = &g};

	if (judge_new(&rules, &g.judge, err)) {
		return -1;
	}
	judge_many(g.judge);
	judge_file(g.judge, conf->path);
	int failed = read_lines(&g, err);
	if (!failed && !g.given && conf->until) {
		failed = put_end(&g, err);
	} else if (!failed && !g.given) {
		judge_finish(g.judge);
	}
	judge_free(g.judge);
	return failed ? -1 : 0;
}
