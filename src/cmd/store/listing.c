/* Lists of rules and formats: see listing.h. */
#include "cmd/store/listing.h"

#include "base/text.h"
#include "cmd/options/output.h"
#include "cmd/options/setting_options.h"
#include "convert/convert.h"
#include "json/write.h"

#define EXPLAIN_WIDTH 78
#define RULE_COLUMN   24
#define TITLE_COLUMN  (RULE_COLUMN + 9)
#define FORMAT_COLUMN 20
#define WHAT_COLUMN   32

/* ---- JSON lines ---- */

/* The last line, by which a reader knows that the list is complete. */
static void put_count(size_t count, struct buf *out)
{
	json_line(out, "listing", "listed:%i", (int64_t)count);
}

/* A text that may name options. */
static void put_settings(struct json_writer *w, const char *key, const char *text)
{
	AUTO_BUF replaced = BUF(BUF_MAX_MESSAGE);

	settings_put(&replaced, text);
	jw_put_str(w, key, buf_view(&replaced));
}

static void put_rule(const struct check *c, struct buf *out)
{
	struct json_writer w;

	jw_line(&w, out, "rule");
	jw_pack(&w, "rule:%t,severity:%t,raised:%t,lowered:%t", c->id, severity_name(c->severity),
	        c->raised, c->lowered);
	jw_put_array(&w, "explains");
	for (size_t i = 0; i < EXPLAINS_MAX && c->explains[i]; i++)
		jw_text(&w, c->explains[i]->id);
	jw_end(&w);
	put_settings(&w, "title", c->title);
	put_settings(&w, "explanation", c->why);
	jw_line_end(&w);
}

static void put_rule_at(size_t index, struct buf *out)
{
	put_rule(checks[index], out);
}

static void put_format_at(size_t index, struct buf *out)
{
	const struct format *f = formats[index];

	json_line(out, "format", "format:%t,written:%b,description:%t", f->name, f->write != NULL,
	          f->what);
}

/* ---- for people ---- */

/* Appends a rule's explanation: each line of `why` is a paragraph, or a list item if it begins
   with "- ". */
static void explain_paragraphs(struct str why, struct buf *out)
{
	while (why.n) {
		struct str paragraph = str_cut(&why, '\n');

		if (str_starts(paragraph, STR("- "))) {
			buf_text(out, "- ");
			text_wrap(out, str_skip(paragraph, 2), 2, EXPLAIN_WIDTH);
		} else {
			buf_char(out, '\n');
			text_wrap(out, paragraph, 0, EXPLAIN_WIDTH);
		}
	}
}

/* The rule's title, severity, the rules it explains, and its explanation. */
static void explain_rule(const struct check *c, struct buf *out)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	buf_printf(&text, "%s: ", c->id);
	settings_put(&text, c->title);
	buf_text(&text, "\nSeverity: ");
	check_describe_severity(c, &text);
	for (size_t i = 0; i < EXPLAINS_MAX && c->explains[i]; i++)
		buf_printf(&text, "%s%s", i ? ", " : "\nExplains: ", c->explains[i]->id);
	text_wrap(out, buf_view(&text), 0, EXPLAIN_WIDTH);
	buf_clear(&text);
	settings_put(&text, c->why);
	explain_paragraphs(buf_view(&text), out);
}

static void list_rule_at(size_t index, size_t width, struct buf *out)
{
	const struct check *c = checks[index];
	AUTO_BUF title = BUF(BUF_MAX_SMALL);

	settings_put(&title, c->title);
	buf_printf(out, "%-*s%-*s", RULE_COLUMN, c->id, TITLE_COLUMN - RULE_COLUMN,
	           severity_name(c->severity));
	text_wrap(out, buf_view(&title), TITLE_COLUMN, width);
}

static void list_format_at(size_t index, size_t width, struct buf *out)
{
	const struct format *f = formats[index];

	buf_printf(out, "%-*s%-*s", FORMAT_COLUMN, f->name, WHAT_COLUMN - FORMAT_COLUMN,
	           f->write ? "read, write" : "read");
	text_wrap(out, str_from(f->what), WHAT_COLUMN, width);
}

/* ---- the options ---- */

/* How a list prints its item with this index. */
struct list {
	void (*as_json)(size_t index, struct buf *out);
	void (*as_text)(size_t index, size_t width, struct buf *out);
};

static int print_list(const struct list *list, size_t count, struct style style, bool json,
                      struct error *err)
{
	struct output out = output_to_stdout();

	for (size_t i = 0; i < count; i++)
		if (json)
			list->as_json(i, &out.text);
		else
			list->as_text(i, style.terminal ? style.columns : SIZE_MAX, &out.text);
	if (json)
		put_count(count, &out.text);
	return output_close(&out, err);
}

int listing_rules(struct style style, bool json, struct error *err)
{
	return print_list(&(struct list){put_rule_at, list_rule_at}, checks_count, style, json,
	                  err);
}

int listing_rule(const char *name, bool json, struct error *err)
{
	const struct check *c = check_find(str_from(name));
	struct output out = output_to_stdout();

	if (!c) {
		output_release(&out);
		check_unknown(str_from(name), err);
		return error_wrap(err, "--explain");
	}
	if (json) {
		put_rule(c, &out.text);
		put_count(1, &out.text);
	} else {
		explain_rule(c, &out.text);
	}
	return output_close(&out, err);
}

int listing_formats(struct style style, bool json, struct error *err)
{
	return print_list(&(struct list){put_format_at, list_format_at}, formats_count, style, json,
	                  err);
}
