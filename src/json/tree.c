/* Trees for what people write by hand. cJSON holds the nodes; reading and writing are
   ours, because cJSON's own reader accepts what is not JSON and its numbers are doubles.
   A number node keeps its token in `valuestring`. */
#include "json/tree.h"

#include "base/mem.h"
#include "json/lex.h"
#include "json/write.h"

#include <cJSON.h>
#include <stdlib.h>

struct json_tree {
	cJSON *root;
};

/* A node is a cJSON under a name that does not make callers include its header. */
static const cJSON *node(const struct json_tree_node *n)
{
	return (const void *)n;
}

static const struct json_tree_node *hide(const cJSON *n)
{
	return (const void *)n;
}

/* ---- reading ---- */

static int error_at(struct error *err, const char *name, struct str text, size_t at,
                    const char *why)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < at; i++) {
		if (text.p[i] == '\n') {
			line++;
			column = 1;
		} else if (((unsigned char)text.p[i] & 0xc0) != 0x80) {
			column++;
		}
	}
	return error_set(err, FAIL_INPUT, "%s:%zu:%zu: %s", name, line, column, why);
}

/* What is JSON but has no place in a terminated UTF-8 string. Escapes stand in strings
 * only. */
static int refuse_unreadable(struct str text, const char *name, struct error *err)
{
	const unsigned char *begin = lex_begin(text), *end = lex_end(text), *p = begin;

	while ((p = memchr(p, '\\', (size_t)(end - p)))) {
		size_t at = (size_t)(p - begin);
		uint32_t code = lex_unescape(&p, end);

		if (code == 0) {
			return error_at(err, name, text, at,
			                "\\u0000 is not allowed here");
		}
		if (lex_is_surrogate(code)) {
			return error_at(err, name, text, at, "half of a surrogate pair");
		}
	}
	return 0;
}

/* A string without its quotes as terminated text. */
static char *decoded(struct str inner)
{
	char *text = mem_new(inner.n + 1);
	size_t n;

	lex_decode(inner, text, &n);
	return text;
}

static cJSON *create(struct str value)
{
	cJSON *n = NULL;

	switch (json_type(value)) {
	case JSON_ABSENT:
	case JSON_NULL:
		n = cJSON_CreateNull();
		break;
	case JSON_FALSE:
	case JSON_TRUE:
		n = cJSON_CreateBool(json_type(value) == JSON_TRUE);
		break;
	case JSON_NUMBER:
		n = cJSON_CreateNumber(0);
		break;
	case JSON_STRING:
		n = cJSON_CreateString("");
		break;
	case JSON_ARRAY:
		n = cJSON_CreateArray();
		break;
	case JSON_OBJECT:
		n = cJSON_CreateObject();
		break;
	}
	if (!n) {
		abort(); /* no memory: see base/mem.h */
	}
	return n;
}

static cJSON *new_node(struct str value)
{
	cJSON *n = create(value);

	if (cJSON_IsNumber(n)) {
		n->valuestring = mem_text(value);
	} else if (cJSON_IsString(n)) {
		free(n->valuestring);
		n->valuestring = decoded(json_inner(value));
	}
	return n;
}

/* A container whose children are being read. */
struct open_node {
	struct str slice;
	size_t cursor;
	cJSON *node;
};

static cJSON *next_node(struct open_node *o, struct str *value)
{
	struct json_member m;
	cJSON *n = NULL;

	if (json_next(o->slice, &o->cursor, value)) {
		n = new_node(*value);
	} else if (json_next_member(o->slice, &o->cursor, &m)) {
		*value = m.value;
		n = new_node(*value);
		n->string = decoded(m.key);
	}
	if (n) {
		cJSON_AddItemToArray(o->node, n);
	}
	return n;
}

static cJSON *build(struct str value)
{
	struct open_node *open = mem_array(JSON_DEPTH_MAX + 1, sizeof(*open));
	size_t depth = 1;

	open[0] = (struct open_node){.slice = value, .node = new_node(value)};

	while (depth > 0) {
		struct str child;
		cJSON *n = next_node(&open[depth - 1], &child);

		if (!n) {
			depth--;
		} else if (cJSON_IsArray(n) || cJSON_IsObject(n)) {
			open[depth++] = (struct open_node){.slice = child, .node = n};
		}
	}
	cJSON *root = open[0].node;
	free(open);
	return root;
}

int json_tree_parse(struct str text, const char *name, struct json_tree **out,
                    struct error *err)
{
	struct json_fault fault;
	struct str value;

	if (lex_validate(text, &value, &fault) != 0) {
		return error_at(err, name, text, fault.at, fault.why);
	}
	if (refuse_unreadable(text, name, err) != 0) {
		return -1;
	}
	struct json_tree *t = mem_new(sizeof(*t));
	t->root = build(value);
	*out = t;
	return 0;
}

void json_tree_free(struct json_tree *t)
{
	if (t) {
		cJSON_Delete(t->root);
		free(t);
	}
}

/* ---- looking ---- */

const struct json_tree_node *json_tree_root(const struct json_tree *t)
{
	return hide(t->root);
}

const struct json_tree_node *json_tree_get(const struct json_tree_node *object,
                                           const char *key)
{
	const struct json_tree_node *found = NULL;

	if (json_tree_type(object) != JSON_OBJECT) {
		return NULL;
	}
	for (const cJSON *n = node(object)->child; n; n = n->next) {
		if (strcmp(n->string, key) == 0) {
			found = hide(n);
		}
	}
	return found;
}

const struct json_tree_node *json_tree_first(const struct json_tree_node *container)
{
	return container ? hide(node(container)->child) : NULL;
}

const struct json_tree_node *json_tree_next(const struct json_tree_node *child)
{
	return child ? hide(node(child)->next) : NULL;
}

const char *json_tree_key(const struct json_tree_node *member)
{
	return member ? node(member)->string : NULL;
}

enum json_type json_tree_type(const struct json_tree_node *n)
{
	static const struct {
		int kind;
		enum json_type type;
	} types[] = {
		{cJSON_False, JSON_FALSE},   {cJSON_True, JSON_TRUE},
		{cJSON_NULL, JSON_NULL},     {cJSON_Number, JSON_NUMBER},
		{cJSON_String, JSON_STRING}, {cJSON_Array, JSON_ARRAY},
		{cJSON_Object, JSON_OBJECT},
	};

	for (size_t i = 0; n && i < ARRAY_LEN(types); i++) {
		if ((node(n)->type & 0xff) == types[i].kind) {
			return types[i].type;
		}
	}
	return JSON_ABSENT;
}

const char *json_tree_string(const struct json_tree_node *n)
{
	return json_tree_type(n) == JSON_STRING ? node(n)->valuestring : NULL;
}

bool json_tree_i64(const struct json_tree_node *n, int64_t *out)
{
	return json_tree_type(n) == JSON_NUMBER &&
	       json_i64(str_from(node(n)->valuestring), out);
}

bool json_tree_bool(const struct json_tree_node *n, bool *out)
{
	enum json_type type = json_tree_type(n);

	if (type != JSON_TRUE && type != JSON_FALSE) {
		return false;
	}
	*out = type == JSON_TRUE;
	return true;
}

/* ---- writing ---- */

/* The node without its children; containers are left open. */
static void write_begin(const struct json_tree_node *n, struct buf *out)
{
	switch (json_tree_type(n)) {
	case JSON_ABSENT:
	case JSON_NULL:
		buf_text(out, "null");
		break;
	case JSON_FALSE:
		buf_text(out, "false");
		break;
	case JSON_TRUE:
		buf_text(out, "true");
		break;
	case JSON_NUMBER:
		buf_text(out, node(n)->valuestring);
		break;
	case JSON_STRING:
		json_quote(out, str_from(node(n)->valuestring));
		break;
	case JSON_ARRAY:
		buf_char(out, '[');
		break;
	case JSON_OBJECT:
		buf_char(out, '{');
		break;
	}
}

static void write_end(const struct json_tree_node *n, struct buf *out)
{
	if (json_tree_type(n) == JSON_OBJECT) {
		buf_char(out, '}');
	} else if (json_tree_type(n) == JSON_ARRAY) {
		buf_char(out, ']');
	}
}

void json_tree_write(const struct json_tree *t, const struct json_tree_node *n,
                     struct buf *out)
{
	struct {
		const struct json_tree_node *container, *child;
	} open[JSON_DEPTH_MAX + 1] = {{n, json_tree_first(n)}};
	size_t depth = 1;

	(void)t; /* every node carries its token itself */
	write_begin(n, out);
	while (depth > 0) {
		const struct json_tree_node *container = open[depth - 1].container;
		const struct json_tree_node *child = open[depth - 1].child;

		if (!child) {
			write_end(container, out);
			depth--;
			continue;
		}
		if (child != json_tree_first(container)) {
			buf_char(out, ',');
		}
		if (json_tree_type(container) == JSON_OBJECT) {
			json_quote(out, str_from(json_tree_key(child)));
			buf_char(out, ':');
		}
		write_begin(child, out);
		open[depth - 1].child = json_tree_next(child);
		open[depth].container = child;
		open[depth++].child = json_tree_first(child);
	}
}
