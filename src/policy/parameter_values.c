/* Which parameter a list of values belongs to: see parameter_values.h. */
#include "policy/parameter_values.h"

#include "policy/tools.h"

#define PARAMETERS_MAX 64  /* of one tool */
#define DEPTH_MAX      8   /* of arguments */
#define SEEN_BEFORE    256 /* tokens before a list in which its parameter is looked for */
#define SEEN_AFTER     16

struct named_parameter {
	struct str key;  /* as spelled in JSON */
	struct str sent; /* decoded text of the value sent; absent: none */
	bool listed;     /* the text that is read has a list for it */
};

/* What a text is about. */
struct subject {
	struct str tool; /* decoded name */
	struct named_parameter item[PARAMETERS_MAX];
	size_t count;
	bool is_error;
	struct arena scratch;
};

/* ---- parameters of a call ---- */

/* The parameter of that name, added if it is new; NULL: no room. */
static struct named_parameter *parameter(struct subject *s, struct str key)
{
	for (size_t i = 0; i < s->count; i++) {
		if (str_eq(s->item[i].key, key)) {
			return &s->item[i];
		}
	}
	if (s->count == PARAMETERS_MAX) {
		return NULL;
	}
	s->item[s->count] = (struct named_parameter){.key = key};
	return &s->item[s->count++];
}

static void add_properties(struct subject *s, struct str schema)
{
	struct str properties = JSON_GET(schema, "properties");
	struct json_member m;
	size_t cursor = 0;

	while (s->count < PARAMETERS_MAX && json_next_member(properties, &cursor, &m)) {
		parameter(s, m.key);
	}
}

static void add_sent(struct subject *s, struct str key, struct str value)
{
	struct named_parameter *p = parameter(s, key);
	enum json_type type = json_type(value);

	if (p && type == JSON_STRING) {
		p->sent = json_text(&s->scratch, value);
	} else if (p && type == JSON_NUMBER) {
		p->sent = value;
	}
}

struct argument_level {
	struct str container, key; /* key: of an array, that of its elements */
	size_t cursor;
};

static bool next_value(struct argument_level *l, struct str *key, struct str *value)
{
	struct json_member m;

	*key = l->key;
	if (json_type(l->container) == JSON_ARRAY) {
		return json_next(l->container, &l->cursor, value);
	}
	if (!json_next_member(l->container, &l->cursor, &m)) {
		return false;
	}
	*key = m.key;
	*value = m.value;
	return true;
}

static void add_arguments(struct subject *s, struct str arguments)
{
	struct argument_level levels[DEPTH_MAX] = {{.container = arguments}};
	size_t depth = json_type(arguments) == JSON_OBJECT;
	struct str key, value;

	while (depth) {
		if (!next_value(&levels[depth - 1], &key, &value)) {
			depth--;
		} else if (json_type(value) != JSON_ARRAY && json_type(value) != JSON_OBJECT) {
			add_sent(s, key, value);
		} else if (depth < DEPTH_MAX) {
			levels[depth++] = (struct argument_level){.container = value, .key = key};
		}
	}
}

/* ---- what a text names ---- */

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Equal in any case, or one the plural of the other. */
static bool is_same_word(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	struct str rest = str_skip(a.n > b.n ? a : b, n);

	for (size_t i = 0; i < n; i++) {
		if (lower(a.p[i]) != lower(b.p[i])) {
			return false;
		}
	}
	return n && (!rest.n || (n > 1 && (str_is(rest, "s") || str_is(rest, "es"))));
}

static const char *const vague[] = {"id", "name", "value", "type", "index", "num", "number", "new"};

static bool is_vague(struct str part)
{
	for (size_t i = 0; i < ARRAY_LEN(vague); i++) {
		if (is_same_word(part, str_from(vague[i]))) {
			return true;
		}
	}
	return part.n < 3;
}

static bool begins_part(struct str key, size_t i)
{
	return key.p[i] == '_' || key.p[i] == '-' ||
	       (i && key.p[i] >= 'A' && key.p[i] <= 'Z' && key.p[i - 1] >= 'a');
}

/* Does the word name the parameter, or a part of its name: "room" for room_name, roomName? */
static bool is_named(struct str key, struct str word)
{
	size_t start = 0;

	if (is_same_word(key, word)) {
		return true;
	}
	for (size_t i = 1; i <= key.n; i++) {
		if (i < key.n && !begins_part(key, i)) {
			continue;
		}
		struct str part = {key.p + start, i - start};

		if (!is_vague(part) && is_same_word(part, word)) {
			return true;
		}
		start = i < key.n && (key.p[i] == '_' || key.p[i] == '-') ? i + 1 : i;
	}
	return false;
}

/* Does the token name the parameter or repeat the value sent for it? "a" may be an article. */
static bool is_about(const struct prose_token *t, const struct named_parameter *p)
{
	bool word = t->kind == TOKEN_WORD || t->kind == TOKEN_QUOTED;

	if (word && is_named(p->key, t->text)) {
		return true;
	}
	return p->sent.n && (word || t->kind == TOKEN_NUMBER) && str_eq(p->sent, t->text) &&
	       (p->sent.n > 1 || t->kind != TOKEN_WORD);
}

static struct named_parameter *about(struct subject *s, const struct prose_token *t)
{
	for (size_t i = 0; i < s->count; i++) {
		if (is_about(t, &s->item[i])) {
			return &s->item[i];
		}
	}
	return NULL;
}

/* The parameter named last before the list, else first after it in its sentence; NULL: none. */
static struct named_parameter *named_near(struct subject *s, const struct tokens *t,
                                          const struct value_list *l)
{
	struct named_parameter *found = NULL;
	size_t first = l->begin > SEEN_BEFORE ? l->begin - SEEN_BEFORE : 0;

	for (size_t i = l->begin; i > first && !found; i--) {
		found = about(s, &t->item[i - 1]);
	}
	for (size_t i = l->end; !found && i < t->count && i < l->end + SEEN_AFTER; i++) {
		if (tokens_is(t, i, TOKEN_LINE) || tokens_mark(t, i, ".") ||
		    tokens_mark(t, i, ";")) {
			break;
		}
		found = about(s, &t->item[i]);
	}
	return found;
}

static struct named_parameter *only_one(struct subject *s)
{
	return s->count == 1 ? &s->item[0] : NULL;
}

/* Lists of parameters: "missing arguments: a, b". */
static bool names_parameters(const struct subject *s, const struct value_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		for (size_t k = 0; k < s->count; k++) {
			if (str_eq(l->item[i].text, s->item[k].key)) {
				return true;
			}
		}
	}
	return false;
}

/* ---- keeping lists ---- */

static struct parameter_list *slot(struct parameter_values *v, struct str tool, struct str key,
                                   bool from_error)
{
	for (size_t i = 0; i < v->count; i++) {
		struct parameter_list *p = &v->item[i];

		if (p->from_error == from_error && !p->key.p == !key.p && str_eq(p->key, key) &&
		    str_eq(p->tool, tool)) {
			return p;
		}
	}
	return NULL;
}

static struct parameter_list *add(struct parameter_values *v, struct str tool, struct str key,
                                  bool from_error)
{
	if (v->count == PARAMETER_VALUES_MAX) {
		return NULL;
	}
	v->item = arena_grow(&v->arena, v->item, v->count, sizeof(*v->item));
	struct parameter_list *p = &v->item[v->count++];

	*p = (struct parameter_list){.tool = arena_str(&v->arena, tool),
	                             .key = arena_str(&v->arena, key),
	                             .from_error = from_error};
	return p;
}

static bool same_list(const struct value_list *a, const struct value_list *b)
{
	bool same = a->shape == b->shape && a->count == b->count && a->low == b->low &&
	            a->high == b->high;

	for (size_t i = 0; same && i < a->count; i++) {
		same = str_eq(a->item[i].text, b->item[i].text);
	}
	return same;
}

/* Without the value that was rejected; false: no other is listed. */
static bool keep(struct parameter_values *v, const struct subject *s,
                 const struct named_parameter *p, const struct value_list *found)
{
	struct parameter_list *into = slot(v, s->tool, p->key, s->is_error);
	struct value_list list = *found;

	list.count = 0;
	for (size_t i = 0; i < found->count; i++) {
		if (!p->sent.p || !str_eq(found->item[i].text, p->sent)) {
			list.item[list.count++] = found->item[i];
		}
	}
	if (!list.count && list.shape != LIST_RANGE) {
		return false;
	}
	into = into ? into : add(v, s->tool, p->key, s->is_error);
	if (!into || same_list(&into->list, &list)) {
		return true;
	}
	for (size_t i = 0; i < list.count; i++) {
		list.item[i].text = arena_str(&v->arena, list.item[i].text);
		list.item[i].number = arena_str(&v->arena, list.item[i].number);
	}
	into->list = list;
	return true;
}

/* ---- texts ---- */

/* The parameter that the list belongs to; NULL: none, or unknown. */
static struct named_parameter *owner(struct subject *s, const struct tokens *t,
                                     const struct value_list *l)
{
	struct named_parameter *p = names_parameters(s, l) ? NULL : named_near(s, t, l);

	if (p) {
		return value_list_is_clear(l) || (s->is_error && l->colon) ? p : NULL;
	}
	bool enough =
		value_list_is_clear(l) && !names_parameters(s, l) && (l->cued || !s->is_error);
	return enough ? only_one(s) : NULL;
}

/* Reads a text about these parameters, or only about the given one. The first list of each
   counts. */
static bool read_text(struct parameter_values *v, struct subject *s, struct named_parameter *only,
                      struct str text)
{
	struct value_list *lists;
	struct tokens t;
	bool found = false;

	tokens_read(&t, &s->scratch, text);
	size_t count = value_lists_read(&t, &s->scratch, &lists);
	for (size_t i = 0; i < count; i++) {
		struct named_parameter *p = only ? only : owner(s, &t, &lists[i]);

		if (p && !p->listed && (!only || value_list_is_clear(&lists[i]))) {
			p->listed = keep(v, s, p, &lists[i]);
			found |= p->listed;
		}
	}
	return found;
}

/* ---- errors that are JSON ---- */

/* The array of objects in an error message, as zod and pydantic write it; absent: none. */
static struct str issues_in(struct str error)
{
	struct json_fault fault;
	size_t used;

	for (size_t i = 0; i < error.n; i++) {
		size_t next = i + 1;

		if (error.p[i] != '[') {
			continue;
		}
		while (next < error.n && strchr(" \t\r\n", error.p[next])) {
			next++;
		}
		if (next < error.n && error.p[next] == '{') {
			struct str rest = str_skip(error, i);
			bool valid = json_validate_first(rest, &used, &fault) == 0;

			return valid ? (struct str){rest.p, used} : STR_NONE;
		}
	}
	return STR_NONE;
}

/* The parameter at a path such as ["body","action","light"]. */
static struct named_parameter *at_path(struct subject *s, struct str path)
{
	struct named_parameter *found = NULL;
	struct str each;
	size_t cursor = 0;

	while (json_next(path, &cursor, &each)) {
		for (size_t i = 0; json_type(each) == JSON_STRING && i < s->count; i++) {
			if (str_eq(s->item[i].key, json_inner(each))) {
				found = &s->item[i];
			}
		}
	}
	return found;
}

static bool read_values(struct parameter_values *v, struct subject *s, struct named_parameter *p,
                        struct str values)
{
	struct value_list l = {.shape = LIST_MARKED};
	struct str each;
	size_t cursor = 0;

	while (l.count < VALUES_MAX && json_next(values, &cursor, &each)) {
		if (json_type(each) == JSON_STRING) {
			l.item[l.count++].text = json_text(&s->scratch, each);
		} else if (json_type(each) == JSON_NUMBER) {
			l.item[l.count++] = (struct listed_value){each, each};
		}
	}
	return keep(v, s, p, &l);
}

/* {"path":["light"],"options":["a","b"],"message":".."} of zod 3, "values" of zod 4;
   {"loc":["light"],"msg":"Input should be 'a' or 'b'"} of pydantic. */
static bool read_issue(struct parameter_values *v, struct subject *s, struct str issue)
{
	static const struct str keys[] = {STR_INIT("path"),    STR_INIT("loc"),
	                                  STR_INIT("options"), STR_INIT("values"),
	                                  STR_INIT("message"), STR_INIT("msg")};
	struct str value[ARRAY_LEN(keys)];

	json_pick(issue, keys, ARRAY_LEN(keys), value);
	struct named_parameter *p = at_path(s, value[0].p ? value[0] : value[1]);
	if (!p) {
		return false;
	}
	return read_values(v, s, p, value[2].p ? value[2] : value[3]) ||
	       read_text(v, s, p, json_text(&s->scratch, value[4].p ? value[4] : value[5]));
}

static bool read_issues(struct parameter_values *v, struct subject *s, struct str error)
{
	struct str issues = issues_in(error), issue;
	size_t cursor = 0;
	bool found = false;

	while (json_next(issues, &cursor, &issue)) {
		found |= read_issue(v, s, issue);
	}
	return found;
}

/* ---- the interface ---- */

static void begin(struct subject *s, struct str tool)
{
	*s = (struct subject){.count = 0};
	s->tool = json_text(&s->scratch, JSON_GET(tool, "name"));
	add_properties(s, tool_schema(tool));
}

void parameter_values_describe(struct parameter_values *v, struct str tool)
{
	struct subject s;

	begin(&s, tool);
	if (!slot(v, s.tool, STR_NONE, false) && add(v, s.tool, STR_NONE, false)) {
		read_text(v, &s, NULL, json_text(&s.scratch, JSON_GET(tool, "description")));
	}
	arena_release(&s.scratch);
}

bool parameter_values_learn(struct parameter_values *v, struct str tool, struct str arguments,
                            struct str error)
{
	struct subject s;

	begin(&s, tool);
	s.is_error = true;
	add_arguments(&s, arguments);
	bool found = read_issues(v, &s, error) || read_text(v, &s, NULL, error);
	arena_release(&s.scratch);
	return found;
}

const struct value_list *parameter_values_find(const struct parameter_values *v, struct str tool,
                                               struct str key, bool from_error)
{
	for (size_t i = 0; i < v->count; i++) {
		const struct parameter_list *p = &v->item[i];

		if (p->from_error == from_error && p->key.p && str_eq(p->key, key) &&
		    str_eq(p->tool, tool)) {
			return &p->list;
		}
	}
	return NULL;
}

void parameter_values_release(struct parameter_values *v)
{
	arena_release(&v->arena);
	*v = (struct parameter_values){.count = 0};
}
