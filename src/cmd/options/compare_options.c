/* --mask, --tolerance and --unordered: see compare_options.h. */
#include "cmd/options/compare_options.h"

#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "cmd/options/config_file.h"
#include "json/paths.h"
#include "json/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define NAMED_MAX 8 /* unstable values */

#define ROWS compare
#include "cmd/options/rows.h"
const struct option_group compare_group = {compare_opts, ARRAY_LEN(compare_opts),
                                           "comparison options"};

#define ROWS tools_rule
#include "cmd/options/rows.h"
const struct option_group tools_rule_group = {tools_rule_opts, ARRAY_LEN(tools_rule_opts),
                                              "comparison options"};

enum tools_rule tools_rule_of(const struct tools_rule_options *o)
{
	return !o->tools || !strcmp(o->tools, "compatible") ? TOOLS_COMPATIBLE
	       : !strcmp(o->tools, "strict")                ? TOOLS_STRICT
	                                                    : TOOLS_IGNORED;
}

static int check_pointer(const char *origin, const char *pointer, enum fail kind, struct error *err)
{
	struct json_paths *checked = json_paths_new(true);
	int failed = json_paths_add(checked, str_from(pointer), err);

	json_paths_free(checked);
	if (failed) {
		err->kind = kind;
		error_wrap(err, "%s", origin);
	}
	return failed;
}

static int read_tolerance(struct compare_rules *r, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '=');
	struct tolerance *one = &r->tolerances[r->tolerance_count];

	if (text[0] != '/' || !equals || !json_double_text(str_from(equals + 1), &one->most) ||
	    one->most < 0) {
		return error_set(
			err, FAIL_USAGE,
			"--tolerance: expected POINTER=NUMBER such as /reward=1e-6, got '%s'",
			text);
	}
	one->pattern = arena_str(&r->arena, (struct str){text, (size_t)(equals - text)}).p;
	r->tolerance_count++;
	patterns_add(&r->patterns, "--tolerance", one->pattern);
	return check_pointer("--tolerance", one->pattern, FAIL_USAGE, err);
}

static int read_unordered(struct compare_rules *r, const char *text, struct error *err)
{
	const char *equals = strrchr(text, '=');
	size_t n = equals ? (size_t)(equals - text) : strlen(text);
	struct unordered *one = &r->unordered[r->unordered_count++];

	if (text[0] != '/' || (equals && !equals[1])) {
		return error_set(err, FAIL_USAGE,
		                 "--unordered: expected POINTER or POINTER=KEY such as "
		                 "/state/items=id, got '%s'",
		                 text);
	}
	one->pattern = arena_str(&r->arena, (struct str){text, n}).p;
	one->key = equals ? equals + 1 : "";
	patterns_add(&r->patterns, "--unordered", one->pattern);
	return check_pointer("--unordered", one->pattern, FAIL_USAGE, err);
}

int compare_rules_read(struct compare_rules *r, const struct compare_options *o, struct error *err)
{
	for (size_t i = 0; i < o->masks.count; i++) {
		patterns_add(&r->patterns, "--mask", o->masks.item[i]);
		if (check_pointer("--mask", o->masks.item[i], FAIL_USAGE, err))
			return -1;
	}
	for (size_t i = 0; i < o->tolerances.count; i++)
		if (read_tolerance(r, o->tolerances.item[i], err))
			return -1;
	for (size_t i = 0; i < o->unordered.count; i++)
		if (read_unordered(r, o->unordered.item[i], err))
			return -1;
	return 0;
}

void compare_rules_apply(const struct compare_rules *r, struct compare_conf *conf)
{
	conf->tolerances = r->tolerances;
	conf->tolerance_count = r->tolerance_count;
	conf->unordered = r->unordered;
	conf->unordered_count = r->unordered_count;
}

void compare_rules_warn(const struct compare_rules *r, const char *seen)
{
	const struct patterns *p = &r->patterns;

	for (size_t i = 0; p->missed && i < p->count; i++) {
		const struct used_pattern *one = &p->items[i];
		AUTO_BUF near = BUF(BUF_MAX_SMALL);

		if (!one->matched && patterns_suggest(p, one, &near)) {
			log_warn("%s: '%s' matches nothing in %s; did you mean '%s'?", one->origin,
			         one->text, seen, buf_cstr(&near));
		} else if (!one->matched) {
			log_warn("%s: '%s' matches nothing in %s", one->origin, one->text, seen);
		}
	}
}

void compare_rules_release(struct compare_rules *r)
{
	patterns_release(&r->patterns);
	arena_release(&r->arena);
}

/* ---- proposals ---- */

static void put_option(struct buf *out, const struct proposed *one)
{
	static const char *const names[] = {"--mask", "--tolerance", "--unordered"};
	AUTO_BUF word = BUF(BUF_MAX_SMALL);

	buf_text(&word, one->pattern);
	if (one->kind == PROPOSE_TOLERANCE)
		buf_printf(&word, "=1e%d", one->exponent);
	buf_printf(out, " %s ", names[one->kind]);
	config_shell_word(out, buf_cstr(&word));
}

void proposals_say(const struct proposals *p, struct buf *out)
{
	size_t options = p->count, named = p->unstable.count;

	buf_text(out, options ? "if that may differ from run to run:" : "");
	for (size_t i = 0; i < options; i++)
		put_option(out, &p->items[i]);
	buf_text(out, options && named ? "\n" : "");
	for (size_t i = 0; i < named && i < NAMED_MAX; i++) {
		buf_text(out, i ? ", " : "unstable or changed: ");
		text_escape(out, str_from(p->unstable.text[i]));
	}
	if (named) {
		buf_printf(out,
		           "%s (no mask is proposed for numbers and texts; mask what differs "
		           "between two replays of the same environment, too)",
		           named > NAMED_MAX ? ", .." : "");
	}
}

/* ---- masks from options and files ---- */

#define MASK_FILE_MAX ((size_t)1 << 20)

int masks_strip(const char *const *masks, size_t count, struct strip **out, struct error *err)
{
	struct str *pointers = mem_array(count + 1, sizeof(*pointers));

	for (size_t i = 0; i < count; i++)
		pointers[i] = str_from(masks[i]);
	int failed = strip_new(pointers, count, out, err);
	free(pointers);
	return failed ? error_wrap(err, "--mask") : 0;
}

static void add(struct mask_list *l, const char *mask)
{
	l->items = mem_grow(l->items, l->count, sizeof(*l->items));
	l->items[l->count++] = mask;
}

void mask_list_options(struct mask_list *l, const struct opt_list *masks)
{
	for (size_t i = 0; i < masks->count; i++)
		add(l, masks->item[i]);
}

static const char *origin_of(struct mask_list *l, const char *path, size_t number)
{
	struct buf origin = BUF(BUF_MAX_SMALL);

	buf_printf(&origin, "%s:%zu", path, number);
	return buf_keep(&origin, &l->arena).p;
}

static int add_line(struct mask_list *l, struct str line, const char *origin, struct patterns *uses,
                    struct error *err)
{
	const char *mask = arena_str(&l->arena, line).p;

	if (check_pointer(origin, mask, FAIL_INPUT, err))
		return -1;
	add(l, mask);
	if (uses)
		patterns_add(uses, origin, mask);
	return 0;
}

static int add_lines(struct mask_list *l, struct str text, const char *path, struct patterns *uses,
                     struct error *err)
{
	int failed = 0;

	for (size_t number = 1; text.n && !failed; number++) {
		struct str line = text_trim(str_cut(&text, '\n'));

		if (line.n && line.p[0] != '#')
			failed = add_line(l, line, origin_of(l, path, number), uses, err);
	}
	return failed;
}

int mask_list_file(struct mask_list *l, const char *golden, struct patterns *uses,
                   struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL), text = BUF(MASK_FILE_MAX);

	buf_printf(&path, "%s.masks", golden);
	if (strcmp(golden, "-") == 0 || (access(buf_cstr(&path), F_OK) && errno == ENOENT))
		return 0;
	if (file_read_regular("mask file", buf_cstr(&path), &text, err))
		return -1;
	return add_lines(l, buf_view(&text), buf_cstr(&path), uses, err);
}

void mask_list_release(struct mask_list *l)
{
	free(l->items);
	arena_release(&l->arena);
	*l = (struct mask_list){.count = 0};
}
