/* Headers from options, files and variables: see headers.h. */
#include "cmd/options/headers.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define FIELD(f) offsetof(struct header_options, f)

static const struct opt header_rows[] = {
	OPT_LIST('H', "header", OPT_REACH, "HEADER|@FILE", FIELD(headers),
                 "send this header ('Name: value') with every request; @FILE contains one header "
                 "per line"),
	OPT_LIST(0, "header-env", OPT_POWER, "NAME=VARIABLE", FIELD(variables),
                 "send header NAME with the value of an environment variable, for credentials"),
};
const struct option_group header_group = {header_rows, ARRAY_LEN(header_rows),
                                          "environment options"};

/* A token of RFC 9110. */
static bool is_name(struct str name)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
		"!#$%&'*+-.^_`|~";
	size_t n = 0;

	while (n < name.n && memchr(allowed, name.p[n], sizeof(allowed) - 1)) {
		n++;
	}
	return n > 0 && n == name.n;
}

static int add(struct header_list *l, struct str header, const char *from, struct error *err)
{
	const char *colon = header.n ? memchr(header.p, ':', header.n) : NULL;
	bool control = false;

	for (size_t i = 0; i < header.n; i++) {
		control |= (unsigned char)header.p[i] < ' ' && header.p[i] != '\t';
	}
	if (!colon || !is_name((struct str){header.p, (size_t)(colon - header.p)}) || control) {
		/* the text may be a secret: not quoted */
		return error_set(err, FAIL_USAGE, "%s: expected 'Name: value'", from);
	}
	l->items = mem_resize(l->items, l->count + 1, sizeof(*l->items));
	l->items[l->count++] = mem_text(header);
	return 0;
}

static int cannot_read(const char *path, struct error *err)
{
	error_errno(err, "--header @%s", path);
	err->kind = FAIL_INPUT;
	return -1;
}

static int add_file(struct header_list *l, const char *path, struct error *err)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	int failed = 0;

	if (!f) {
		return cannot_read(path, err);
	}
	while (!failed && (n = getline(&line, &room, f)) >= 0) {
		while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r')) {
			n--;
		}
		if (n > 0 && line[0] != '#') {
			failed = add(l, (struct str){line, (size_t)n}, path, err);
		}
	}
	if (!failed && ferror(f)) {
		failed = cannot_read(path, err);
	}
	free(line);
	fclose(f);
	return failed;
}

static int add_variable(const struct context *c, struct header_list *l, const char *spec,
                        struct error *err)
{
	const char *equals = strchr(spec, '='), *value = equals ? c->variable(equals + 1) : NULL;
	struct buf header = BUF(BUF_MAX_SMALL);

	if (!equals || !is_name((struct str){spec, (size_t)(equals - spec)})) {
		return error_set(err, FAIL_USAGE, "--header-env: expected NAME=VARIABLE, got '%s'",
		                 spec);
	}
	if (!value) {
		return error_set(err, FAIL_USAGE, "--header-env: the variable %s is not set",
		                 equals + 1);
	}
	buf_printf(&header, "%.*s: %s", (int)(equals - spec), spec, value);
	int failed = add(l, buf_view(&header), "--header-env", err);
	buf_release(&header);
	return failed;
}

int headers_read(const struct context *c, const struct header_options *o, struct header_list *out,
                 struct error *err)
{
	for (size_t i = 0; i < o->headers.count; i++) {
		const char *item = o->headers.item[i];

		if (item[0] == '@' ? add_file(out, item + 1, err)
		                   : add(out, str_from(item), "--header", err)) {
			return -1;
		}
	}
	out->given = out->count;
	for (size_t i = 0; i < o->variables.count; i++) {
		if (add_variable(c, out, o->variables.item[i], err)) {
			return -1;
		}
	}
	return 0;
}

void headers_release(struct header_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->items[i]);
	}
	free(l->items);
	*l = (struct header_list){0};
}
