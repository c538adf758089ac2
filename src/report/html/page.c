/* Writes the data of the page: see page.h. Keeps the last state of each open rollout in memory. */
#include "report/html/page.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "json/diff.h"
#include "json/write.h"
#include "report/brief.h"
#include "report/changes.h"
#include "report/html/parts.h"

#include <stdlib.h>

/* ---- the page around the data ---- */

/* page.html with its style and scripts inserted. Its Content Security Policy allows only this style
   and script, by hash (CSP Level 3, section 2.3.1), and images embedded in the page. */

static void put_hash(struct str text, struct buf *out)
{
	unsigned char digest[HASH_SHA256_BYTES];

	hash_sha256(text, digest);
	buf_text(out, "sha256-");
	base64_encode(out, (struct str){(const char *)digest, sizeof(digest)});
}

static void put_part(struct str name, struct buf *out)
{
	const struct str style = {page_part_style, page_part_style_n};
	const struct str script = {page_part_script, page_part_script_n};

	if (str_is(name, "style"))
		buf_str(out, style);
	else if (str_is(name, "script"))
		buf_str(out, script);
	else
		put_hash(str_is(name, "style-hash") ? style : script, out);
}

/* Appends the template before the place of the data, or after it. Other marks are replaced by the part
   that they name. */
static void put_side(bool head, struct buf *out)
{
	const struct str data = STR("{{data}}");
	struct str rest = {page_part_page, page_part_page_n};
	size_t at = find_at(rest, data);

	rest = head ? (struct str){rest.p, at} : str_skip(rest, at + data.n);
	while (rest.n) {
		struct str text = {rest.p, find_at(rest, STR("{{"))};
		struct str mark = str_skip(rest, text.n);
		size_t n = find_at(mark, STR("}}"));

		buf_str(out, text);
		if (mark.n)
			put_part((struct str){mark.p + 2, n - 2}, out);
		rest = str_skip(mark, n + 2);
	}
}

/* Appends lines of JSON, each with its line feed, so that no HTML parser can find the end of the
   script element in them: "<", which occurs only within JSON strings, is written as \u003c
   (HTML, section 13.2.5.15: only "<" leaves the script data state). A carriage return, which is
   whitespace in JSON and which a parser would make a line feed, is written as a space. */
static void put_data(struct str line, struct buf *out)
{
	size_t from = 0;

	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];

		if (c == '<' || c == '\r' || (c == '\n' && i + 1 < line.n)) {
			buf_add(out, line.p + from, i - from);
			buf_text(out, c == '<' ? "\\u003c" : " ");
			from = i + 1;
		}
	}
	buf_add(out, line.p + from, line.n - from);
	if (!str_ends(line, STR("\n")))
		buf_char(out, '\n');
}

/* ---- state ---- */

#define CALL_CELLS    80
#define CHANGES_CELLS 60
#define POINTERS_MOST 64 /* listed per step; of further ones only the number */
/* total per step, so that the page is little larger than its data */
#define POINTER_BYTES ((size_t)4 << 10)
#define WHY_BYTES     ((size_t)400)

struct page_rollout {
	struct map_item item;
	struct str id;
	char *name;                 /* memory of id */
	int64_t number;             /* from 0, in order of first lines */
	struct buf state;           /* after the newest step; empty: unknown */
	struct json_paths *ignored; /* ignored in states */
	/* the row of the last step or turn, until the state after it is known; empty: none */
	struct buf step;
	struct json_writer writer; /* of that row */
	bool sent;
};

struct html_page {
	const struct page_conf *conf;
	struct map open; /* struct page_rollout by id */
	int64_t rollouts, lines;
	int64_t ended; /* number of the last rollout to end: its verdict follows */
	bool explained[CHECKS_MAX];
	struct changes changes;
	struct buf text, row;
};

struct html_page *page_new(const struct page_conf *conf, struct buf *out)
{
	struct html_page *p = mem_new(sizeof(*p));

	p->conf = conf;
	p->open.key = offsetof(struct page_rollout, id);
	p->ended = -1;
	p->text = BUF(BUF_MAX_SMALL);
	p->row = BUF(BUF_MAX_MESSAGE);
	put_side(true, out);
	return p;
}

static void drop_rollout(struct html_page *p, struct page_rollout *r)
{
	map_remove(&p->open, &r->item);
	json_paths_free(r->ignored);
	BUFS_RELEASE(&r->state, &r->step);
	free(r->name);
	free(r);
}

void page_free(struct html_page *p)
{
	if (!p)
		return;
	struct page_rollout **all = map_list(&p->open);
	for (size_t i = p->open.count; i-- > 0;)
		drop_rollout(p, all[i]);
	free(all);
	changes_release(&p->changes);
	BUFS_RELEASE(&p->text, &p->row);
	free(p);
}

/* ---- rows: JSON arrays ---- */

static struct json_writer row_begin(struct html_page *p, const char *name)
{

	buf_clear(&p->row);
	return jw_form(&p->row, "[%t", name);
}

static void row_end(struct html_page *p, struct json_writer *w, struct buf *out)
{
	jw_end(w);
	put_data(buf_view(&p->row), out);
}

/* ---- rollouts ---- */

static struct page_rollout *add_rollout(struct html_page *p, const struct evidence_update *u,
                                        const struct page_source *from, struct buf *out)
{
	struct page_rollout *r = mem_new(sizeof(*r));
	struct json_writer w = row_begin(p, "rollout");

	r->name = mem_text(u->rollout->id);
	r->id = (struct str){r->name, u->rollout->id.n};
	r->number = p->rollouts++;
	r->state = BUF(BUF_MAX_MESSAGE);
	r->step = BUF(BUF_MAX_MESSAGE);
	map_add(&p->open, &r->item, map_hash(r->id));
	jw_pack(&w, "%i,%i,%s,%t,%s,%c", r->number, p->lines, r->id, from->file, u->rollout->task,
	        (int64_t)from->side);
	row_end(p, &w, out);
	return r;
}

/* ---- steps ---- */

struct pointer_list {
	struct json_writer *w;
	struct buf text;
	size_t count, put, bytes;
};

/* "/position"; an added value as "+/inbox/2", a removed one as "-/inbox/2". */
static bool put_pointer(void *ctx, const struct json_difference *d)
{
	struct pointer_list *l = ctx;

	l->count++;
	l->bytes += d->pointer.n;
	if (l->put < POINTERS_MOST && l->bytes <= POINTER_BYTES) {
		l->put++;
		buf_clear(&l->text);
		buf_text(&l->text, !d->before.p ? "+" : !d->after.p ? "-" : "");
		buf_str(&l->text, d->pointer);
		jw_str(l->w, buf_view(&l->text));
	}
	return true;
}

/* A summary of the changes, the pointers, and how many there are if some are omitted. */
static void put_changes(struct html_page *p, struct json_writer *w, const struct page_rollout *r,
                        struct str after)
{
	struct pointer_list list = {.w = w, .text = BUF(BUF_MAX_SMALL)};
	struct str before = buf_view(&r->state);

	changes_find(&p->changes, before, after, r->ignored);
	buf_clear(&p->text);
	changes_add(&p->text, &p->changes, CHANGES_CELLS);
	jw_str(w, buf_view(&p->text));
	jw_array(w);
	json_diff(before, after, r->ignored, put_pointer, &list);
	jw_end(w);
	if (list.count > list.put)
		jw_u64(w, list.count);
	buf_release(&list.text);
}

/* Called with the line that shows the state after the step, or at the end. `shown` is the number of that
   line. */
static void put_step(struct html_page *p, struct page_rollout *r, const struct evidence_update *u,
                     int64_t shown, struct buf *out)
{
	const struct line *l = u->derived.line;
	bool after = l && line_has(l, KEY_STATE);

	if (!r->step.n)
		return;
	jw_pack(&r->writer, "%c", after ? shown : -1);
	if (r->sent && after && r->state.n && !str_eq(buf_view(&r->state), l->value[KEY_STATE]))
		put_changes(p, &r->writer, r, l->value[KEY_STATE]);
	jw_end(&r->writer);
	put_data(buf_view(&r->step), out);
	buf_clear(&r->step);
}

static struct str number_of(struct str value)
{
	return json_type(value) == JSON_NUMBER ? value : STR_NONE;
}

static void hold_step(struct html_page *p, struct page_rollout *r, const struct line *l)
{
	AUTO_BUF call = BUF(BUF_MAX_SMALL);

	brief_put_call(&call, l, CALL_CELLS);
	r->writer = jw_form(
		&r->step, "['step',%i,%i,%c,%c,%t,%r,%s,%r,%r", r->number, p->lines, l->turn,
		l->step, l->outcome == OUTCOME_NONE ? NULL : outcome_name(l->outcome),
		l->value[KEY_REWARD], buf_view(&call),
		number_of(JSON_GET(l->value[KEY_META], "latency_ms")),
		number_of(JSON_GET(JSON_GET(l->value[KEY_LLM], "usage"), "completion_tokens")));
	buf_set(&r->state, line_has(l, KEY_STATE) ? l->value[KEY_STATE] : STR_NONE);
	r->sent = l->step >= 0;
}

/* ---- other lines ---- */

static void put_event(struct html_page *p, const struct page_rollout *r, const struct line *l,
                      struct buf *out)
{
	struct json_writer w = row_begin(p, "event");
	struct str why = JSON_GET(l->value[KEY_DETAIL], "why");
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	json_text_or_json(json_type(why) == JSON_STRING ? why : STR_NONE, &text);
	jw_pack(&w, "%i,%i,%c,%r,%s", r->number, p->lines, l->turn, l->value[KEY_EVENT],
	        text.n ? text_utf8_cut(buf_view(&text), WHY_BYTES) : STR_NONE);
	row_end(p, &w, out);
}

static void put_place(struct html_page *p, const struct page_rollout *r, const struct line *l,
                      struct buf *out)
{
	struct json_writer w = row_begin(p, line_type_name(l->type));

	jw_pack(&w, "%i,%i", r->number, p->lines);
	row_end(p, &w, out);
}

static void put_row(struct html_page *p, struct page_rollout *r, const struct line *l,
                    struct buf *out)
{
	switch (l->type) {
	case LINE_HEADER:
		json_paths_free(r->ignored);
		r->ignored = changes_ignored(l);
		put_place(p, r, l, out);
		break;
	case LINE_RESET:
	case LINE_END:
		put_place(p, r, l, out);
		break;
	case LINE_STEP:
		hold_step(p, r, l);
		break;
	case LINE_EVENT:
		put_event(p, r, l, out);
		break;
	case LINE_TYPES:
	case LINE_UNKNOWN:
		return;
	}
	put_data(l->text, out);
	p->lines++;
}

/* One letter a step whose call was sent: changed, unchanged, unknown; n: counts or echoes only. */
static void put_effects(struct html_page *p, const struct page_rollout *r,
                        const struct rollout_facts *f, struct buf *out)
{
	struct json_writer w = row_begin(p, "effects");
	AUTO_BUF letters = BUF(BUF_MAX_MESSAGE);

	for (int64_t i = 0; i < f->steps; i++) {
		const struct completed_step *s = &f->completed[i];

		buf_char(&letters, s->counted                      ? 'n'
		                   : s->effect == EFFECT_CHANGED   ? 'c'
		                   : s->effect == EFFECT_UNCHANGED ? 'u'
		                                                   : '?');
	}
	jw_pack(&w, "%i,%s", r->number, buf_view(&letters));
	row_end(p, &w, out);
}

void page_line(struct html_page *p, const struct evidence_update *u, const struct page_source *from,
               struct buf *out)
{
	const struct line *l = u->derived.line;
	struct str id = u->rollout->id;

	if (p->conf->rollout && !str_is(id, p->conf->rollout)) {
		p->ended = -1;
		return;
	}
	struct page_rollout *r = map_find(&p->open, map_hash(id), id);
	if (!r)
		r = add_rollout(p, u, from, out);
	if (!l || (l->type != LINE_EVENT && l->type != LINE_UNKNOWN))
		put_step(p, r, u, p->lines, out);
	if (l)
		put_row(p, r, l, out);
	if (u->end) {
		put_effects(p, r, u->rollout, out);
		p->ended = r->number;
		drop_rollout(p, r);
	}
}

void page_note(struct html_page *p, const char *text, struct buf *out)
{
	struct json_writer w = row_begin(p, "note");

	jw_text(&w, text);
	row_end(p, &w, out);
}

/* ---- verdicts ---- */

static void put_text(const struct html_page *p, struct json_writer *w, const char *text)
{
	AUTO_BUF escaped = BUF(BUF_MAX_SMALL);

	p->conf->put_text(&escaped, text);
	jw_str(w, buf_view(&escaped));
}

/* Writes the rule's explanation the first time. */
static void explain(struct html_page *p, const char *rule, struct buf *out)
{
	for (size_t i = 0; i < checks_count; i++) {
		if (p->explained[i] || strcmp(checks[i]->id, rule) != 0)
			continue;
		struct json_writer w = row_begin(p, "rule");
		p->explained[i] = true;
		jw_text(&w, rule);
		put_text(p, &w, checks[i]->title);
		put_text(p, &w, checks[i]->why);
		row_end(p, &w, out);
	}
}

/* Writes each JSON line after the number of its rollout; negative: of no single rollout. */
static void put_lines(struct html_page *p, const char *name, int64_t rollout, struct str lines,
                      struct buf *out)
{
	while (lines.n) {
		struct json_writer w = row_begin(p, name);

		jw_pack(&w, "%c,%r", rollout, str_cut(&lines, '\n'));
		row_end(p, &w, out);
	}
}

void page_verdict(struct html_page *p, const struct rollout_verdict *v, struct buf *out)
{
	AUTO_BUF lines = BUF(BUF_MAX_MESSAGE);

	if (v->rollout.p && p->ended < 0)
		return; /* its rollout is left out */
	for (size_t i = 0; i < v->finding_count; i++)
		explain(p, v->findings[i].rule, out);
	report_json_verdict(v, &lines);
	put_lines(p, "verdict", v->rollout.p ? p->ended : -1, buf_view(&lines), out);
}

void page_results(struct html_page *p, struct str lines, struct buf *out)
{
	put_lines(p, "result", -1, lines, out);
}

void page_summary(struct html_page *p, const struct judge *j, int64_t unfinished, struct buf *out)
{
	struct judge_summary sum;
	AUTO_BUF lines = BUF(BUF_MAX_SMALL);
	struct json_writer w = row_begin(p, "summary");

	judge_summary(j, &sum);
	report_json_summary(j, &lines);
	jw_raw(&w, (struct str){lines.p, lines.n - 1}); /* without the line feed */
	buf_clear(&lines);
	report_conclusion(&sum, unfinished, (struct style){.columns = SIZE_MAX}, &lines);
	put_text(p, &w, buf_cstr(&lines));
	row_end(p, &w, out);
}

void page_end(struct html_page *p, struct buf *out)
{
	struct json_writer w = row_begin(p, "command");

	jw_text(&w, p->conf->command);
	row_end(p, &w, out);
	put_side(false, out);
}
