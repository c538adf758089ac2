/* Headers from options, files and variables, and variables of a child: see target_options.h. */
#include "cmd/options/target_options.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>

#define ROWS header
#include "cmd/options/rows.h"
const struct option_group header_group = {header_opts, ARRAY_LEN(header_opts),
                                          "environment options"};

/* A token of RFC 9110. */
static bool is_name(struct str name)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~";
	size_t n = 0;

	while (n < name.n && memchr(allowed, name.p[n], sizeof(allowed) - 1))
		n++;
	return n > 0 && n == name.n;
}

static int add_header(struct header_list *l, struct str header, const char *from, struct error *err)
{
	const char *colon = header.n ? memchr(header.p, ':', header.n) : NULL;
	bool control = false;

	for (size_t i = 0; i < header.n; i++)
		control |= (unsigned char)header.p[i] < ' ' && header.p[i] != '\t';
	if (!colon || !is_name((struct str){header.p, (size_t)(colon - header.p)}) || control) {
		/* the text may be a secret: not quoted */
		return error_set(err, FAIL_USAGE, "%s: expected 'Name: value'", from);
	}
	l->items = mem_resize(l->items, l->count + 1, sizeof(*l->items));
	l->items[l->count++] = mem_text(header);
	return 0;
}

static int add_file(struct header_list *l, const char *path, struct error *err)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	if (file_read("headers", path, &text, err))
		return -1;
	for (struct str rest = buf_view(&text); rest.n;) {
		struct str line = text_trim(str_cut(&rest, '\n'));

		if (line.n && line.p[0] != '#' && add_header(l, line, path, err))
			return -1;
	}
	return 0;
}

static int add_variable(const struct context *c, struct header_list *l, const char *spec,
                        struct error *err)
{
	const char *equals = strchr(spec, '='), *value = equals ? c->variable(equals + 1) : NULL;
	AUTO_BUF header = BUF(BUF_MAX_SMALL);

	if (!equals || !is_name((struct str){spec, (size_t)(equals - spec)})) {
		return error_set(err, FAIL_USAGE, "--header-env: expected NAME=VARIABLE, got '%s'",
		                 spec);
	}
	if (!value) {
		return error_set(err, FAIL_USAGE, "--header-env: the variable %s is not set",
		                 equals + 1);
	}
	buf_printf(&header, "%.*s: %s", (int)(equals - spec), spec, value);
	return add_header(l, buf_view(&header), "--header-env", err);
}

int headers_read(const struct context *c, const struct header_options *o, struct header_list *out,
                 struct error *err)
{
	for (size_t i = 0; i < o->headers.count; i++) {
		const char *item = o->headers.item[i];

		if (item[0] == '@' ? add_file(out, item + 1, err)
		                   : add_header(out, str_from(item), "--header", err)) {
			return -1;
		}
	}
	out->given = out->count;
	for (size_t i = 0; i < o->variables.count; i++)
		if (add_variable(c, out, o->variables.item[i], err))
			return -1;
	return 0;
}

void headers_release(struct header_list *l)
{
	mem_free_all(l->items, l->count);
	*l = (struct header_list){0};
}

/* ---- the variables of a stdio: server ---- */

/* The variables that MCP's Python and TypeScript SDKs pass on (DEFAULT_INHERITED_ENV_VARS). */
static const char *const inherited[] = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"};

/* Index of the variable; v->count if not found. */
static size_t find(const struct child_variables *v, struct str name)
{
	size_t i = 0;

	while (i < v->count &&
	       !(str_starts(str_from(v->items[i]), name) && v->items[i][name.n] == '='))
		i++;
	return i;
}

/* Replaces an earlier value. */
static void set_variable(struct child_variables *v, struct str name, const char *value)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);
	size_t at = find(v, name);

	buf_printf(&text, "%.*s=%s", STR_ARG(name), value);
	if (at < v->count) {
		free(v->items[at]);
	} else {
		v->items = mem_resize(v->items, v->count + 2, sizeof(*v->items));
		v->items[++v->count] = NULL;
	}
	v->items[at] = mem_text(buf_view(&text));
}

int child_variables_withhold(struct child_variables *v, const struct opt_list *names,
                             const char *name, struct error *err)
{
	size_t at = find(v, str_from(name));

	for (size_t i = 0; i < names->count; i++) {
		if (strcmp(names->item[i], name) == 0) {
			return error_set(
				err, FAIL_USAGE,
				"--pass-env: %s holds a credential for another server, so it is "
				"not passed on",
				name);
		}
	}
	if (at < v->count) {
		free(v->items[at]);
		v->items[at] = v->items[--v->count];
		v->items[v->count] = NULL;
	}
	return 0;
}

static int withhold_headers(struct child_variables *v, const struct opt_list *names,
                            const struct header_options *headers, struct error *err)
{
	for (size_t i = 0; i < headers->variables.count; i++) {
		const char *equals = strchr(headers->variables.item[i], '=');

		if (equals && child_variables_withhold(v, names, equals + 1, err))
			return -1;
	}
	return 0;
}

int child_variables_read(const struct context *c, const struct opt_list *names,
                         const struct header_options *headers, struct child_variables *out,
                         struct error *err)
{
	for (size_t i = 0; i < ARRAY_LEN(inherited); i++) {
		const char *value = c->variable(inherited[i]);

		/* "()": an exported shell function, which the SDKs omit as well */
		if (value && strncmp(value, "()", 2) != 0)
			set_variable(out, str_from(inherited[i]), value);
	}
	for (size_t i = 0; i < names->count; i++) {
		const char *item = names->item[i], *equals = strchr(item, '=');
		const char *value = equals ? equals + 1 : c->variable(item);

		if (!value) {
			return error_set(err, FAIL_USAGE, "--pass-env: the variable %s is not set",
			                 item);
		}
		set_variable(out, (struct str){item, strcspn(item, "=")}, value);
	}
	return withhold_headers(out, names, headers, err);
}

void child_variables_release(struct child_variables *v)
{
	mem_free_all(v->items, v->count);
	*v = (struct child_variables){0};
}
