/* The environment variables of a stdio: server: see child_variables.h. */
#include "cmd/options/child_variables.h"

#include "base/mem.h"

#include <stdlib.h>

/* The variables that MCP's Python and TypeScript SDKs pass on (DEFAULT_INHERITED_ENV_VARS). */
static const char *const inherited[] = {"HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER"};

/* Index of the variable; v->count if not found. */
static size_t find(const struct child_variables *v, const char *name)
{
	size_t n = strlen(name), i = 0;

	while (i < v->count && (strncmp(v->items[i], name, n) != 0 || v->items[i][n] != '=')) {
		i++;
	}
	return i;
}

static void add(struct child_variables *v, const char *name, const char *value)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	if (find(v, name) < v->count) {
		return;
	}
	buf_printf(&text, "%s=%s", name, value);
	v->items = mem_resize(v->items, v->count + 2, sizeof(*v->items));
	v->items[v->count++] = mem_text(buf_view(&text));
	v->items[v->count] = NULL;
	buf_release(&text);
}

/* NAME=value replaces an inherited value. */
static void assign(struct child_variables *v, const char *assignment)
{
	char *name = mem_text((struct str){assignment, strcspn(assignment, "=")});
	size_t at = find(v, name);

	if (at < v->count) {
		free(v->items[at]);
		v->items[at] = mem_text(str_from(assignment));
	} else {
		add(v, name, strchr(assignment, '=') + 1);
	}
	free(name);
}

int child_variables_withhold(struct child_variables *v, const struct opt_list *names,
                             const char *name, struct error *err)
{
	size_t at = find(v, name);

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

		if (equals && child_variables_withhold(v, names, equals + 1, err)) {
			return -1;
		}
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
		if (value && strncmp(value, "()", 2) != 0) {
			add(out, inherited[i], value);
		}
	}
	for (size_t i = 0; i < names->count; i++) {
		const char *equals = strchr(names->item[i], '=');
		const char *value = c->variable(names->item[i]);

		if (equals) {
			assign(out, names->item[i]);
			continue;
		}
		if (!value) {
			return error_set(err, FAIL_USAGE, "--pass-env: the variable %s is not set",
			                 names->item[i]);
		}
		add(out, names->item[i], value);
	}
	return withhold_headers(out, names, headers, err);
}

void child_variables_release(struct child_variables *v)
{
	for (size_t i = 0; i < v->count; i++) {
		free(v->items[i]);
	}
	free(v->items);
	*v = (struct child_variables){0};
}
