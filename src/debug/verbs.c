/* The table of verbs, and finding one: see debugger.h. */
#include "base/text.h"
#include "debug/debugger.h"

#define VERBS_MAX 64

const struct verb verbs[] = {
#define VERB(id, how, name, forms, arguments, group, repeats, help)                                \
	{name, forms, arguments, help, group, repeats, how, verb_##id},
#define ALSO VERB
#include "debug/verbs.def"
#undef VERB
#undef ALSO
};
const size_t verbs_count = ARRAY_LEN(verbs);

/* Commands of gdb and pdb that have another name here. */
static const struct {
	const char *names, *use;
} others[] = {
	{"run,start,restart", "goto start"},
	{"until,advance,jump,frame,up,down", "goto N"},
	{"enable,disable,ignore,clear", "condition N EXPRESSION or delete N"},
	{"x,ptype,output", "print PATH"},
	{"set", "edit JSON"},
	{"commands", "display PATH"},
	{"checkpoint", "fork N"},
	{"thread,inferior", "rollout ID"},
	{"args,locals", "info facts"},
};

/* forms: separated by commas */
static bool has_form(const char *forms, struct str word)
{
	struct str rest = str_from(forms);

	while (rest.n)
		if (str_eq(str_cut(&rest, ','), word))
			return true;
	return false;
}

void verb_short_forms(const struct verb *v, struct buf *out)
{
	for (const char *p = v->short_forms; *p; p++) {
		buf_char(out, *p);
		buf_text(out, *p == ',' ? " " : "");
	}
}

static int is_ambiguous(struct str word, struct error *err)
{
	AUTO_BUF names = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < verbs_count; i++)
		if (str_starts(str_from(verbs[i].name), word))
			buf_printf(&names, "%s%s", names.n ? ", " : "", verbs[i].name);
	return error_set(err, FAIL_USAGE, "ambiguous command \"%.*s\": %s", STR_ARG(word),
	                 buf_cstr(&names));
}

static int is_unknown(struct str word, struct error *err)
{
	const char *names[VERBS_MAX];

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (has_form(others[i].names, word)) {
			return error_set(err, FAIL_USAGE, "undefined command: \"%.*s\"; use %s",
			                 STR_ARG(word), others[i].use);
		}
	for (size_t i = 0; i < verbs_count && i < VERBS_MAX; i++)
		names[i] = verbs[i].name;
	const char *near = text_nearest(word, names, verbs_count);
	return error_set(err, FAIL_USAGE, "undefined command: \"%.*s\"; %s%s%s", STR_ARG(word),
	                 near ? "did you mean \"" : "try \"help\"", near ? near : "",
	                 near ? "\"?" : "");
}

int verb_find(struct str word, const struct verb **out, struct error *err)
{
	size_t found = 0;

	for (size_t i = 0; i < verbs_count; i++) {
		struct str name = str_from(verbs[i].name);

		if (str_eq(name, word) || has_form(verbs[i].short_forms, word)) {
			*out = &verbs[i];
			return 0;
		}
	}
	for (size_t i = 0; i < verbs_count; i++) {
		if (str_starts(str_from(verbs[i].name), word)) {
			*out = &verbs[i];
			found++;
		}
	}
	return found == 1 ? 0 : found ? is_ambiguous(word, err) : is_unknown(word, err);
}

/* ---- help ---- */

static const char *const group_titles[VERB_GROUPS] = {[GROUP_MOVE] = "Moving",
                                                      [GROUP_LOOK] = "Examining",
                                                      [GROUP_STOP] = "Breakpoints and displays",
                                                      [GROUP_LIVE] = "Live sessions",
                                                      [GROUP_OTHER] = "Other"};

static void help_line(struct debugger *d, const struct verb *v)
{
	size_t start = d->out.n, width = 30;

	buf_printf(&d->out, "  %s %s", v->name, v->arguments);
	size_t used = d->out.n - start;
	if (used + 2 > width)
		buf_printf(&d->out, "\n%*s", (int)width, "");
	else
		buf_printf(&d->out, "%*s", (int)(width - used), "");
	text_wrap(&d->out, str_from(v->help), width, d->conf->style.columns);
}

int verb_help(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str word = argument_word(&arguments);
	const struct verb *v;

	if (argument_none(arguments, err))
		return -1;
	if (word.n) {
		if (verb_find(word, &v, err))
			return -1;
		help_line(d, v);
		if (*v->short_forms) {
			buf_text(&d->out, "  aliases: ");
			verb_short_forms(v, &d->out);
			buf_char(&d->out, '\n');
		}
		return 0;
	}
	for (int group = 0; group < VERB_GROUPS; group++) {
		buf_printf(&d->out, "%s\n", group_titles[group]);
		for (size_t i = 0; i < verbs_count; i++)
			if ((int)verbs[i].group == group)
				help_line(d, &verbs[i]);
	}
	text_wrap(&d->out,
	          STR("Names can be abbreviated if unambiguous. 'info facts' lists what "
	              "expressions can name."),
	          0, d->conf->style.columns);
	return 0;
}

/* ---- arguments ---- */

struct str argument_word(struct str *rest)
{
	struct str word;
	size_t n = 0;

	*rest = text_trim(*rest);
	while (n < rest->n && rest->p[n] != ' ' && rest->p[n] != '\t')
		n++;
	word = (struct str){rest->p, n};
	*rest = text_trim(str_skip(*rest, n));
	return word;
}

int argument_none(struct str rest, struct error *err)
{
	rest = text_trim(rest);
	return rest.n ? error_set(err, FAIL_USAGE, "unexpected '%.*s'", STR_ARG(rest)) : 0;
}

static int number_of(struct str word, int64_t *out, struct error *err)
{
	return text_i64(word, out) && *out >= 0
	               ? 0
	               : error_set(err, FAIL_USAGE, "expected a number, got '%.*s'", STR_ARG(word));
}

int argument_count(struct str rest, int64_t *out, struct error *err)
{
	struct str word = argument_word(&rest);

	*out = 1;
	if (argument_none(rest, err) || (word.n && number_of(word, out, err)))
		return -1;
	return *out ? 0 : error_set(err, FAIL_USAGE, "expected a number of at least 1");
}

int argument_place(struct str rest, bool *turn, int64_t *out, struct error *err)
{
	struct str word = argument_word(&rest);

	*turn = str_is(word, named_facts[FACT_TURN].name);
	if (*turn || str_is(word, named_facts[FACT_STEP].name))
		word = argument_word(&rest);
	if (!word.n) {
		return error_set(err, FAIL_USAGE, "expected the number of a %s",
		                 named_facts[*turn ? FACT_TURN : FACT_STEP].name);
	}
	return argument_none(rest, err) || number_of(word, out, err) ? -1 : 0;
}
