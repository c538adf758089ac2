/* JSON Schemas of recordings and results: see schemas.h. */
#include "report/schemas.h"

#include "json/write.h"
#include "stats/metrics.h"

#define DRAFT "https://json-schema.org/draft/2020-12/schema"

/* ---- results.def as arrays ---- */

static const char status_list[] =
#define STATUS_WORD(id, word) word ","
#include "recording/keys.def"
	"incomplete";
static const char failure_list[] =
#define FAILURE_CAUSE(id, word, whose, meaning) "," word
#include "evidence/attribution.def"
	;
#define FAILURES   (failure_list + 1)
#define STATUSES   status_list
#define SEVERITIES "error,warning,info"

const struct result_line result_lines[RESULTS] = {
#define RESULT(id, commands, type, metrics, meaning) {(commands), (type), (meaning), metrics},
#include "report/results.def"
};

const struct result_member result_members[] = {
#define MEMBER(result, name, types, words, inner, meaning)                                         \
	{RESULT_##result, (name), (types), (words), RESULT_##inner, (meaning)},
#include "report/results.def"
};
const size_t result_members_count = ARRAY_LEN(result_members);

static bool result_is_of(const struct result_line *r, const char *command)
{
	for (struct str rest = str_from(r->commands); rest.n;)
		if (str_is(str_cut(&rest, ','), command))
			return true;
	return false;
}

/* ---- values ---- */

size_t value_types(unsigned types, const char *out[TYPE_NAMES])
{
	static const struct {
		unsigned bits;
		const char *name;
	} names[] = {{T_BOOL, "boolean"},
	             {T_STRING, "string"},
	             {T_ARRAY, "array"},
	             {T_OBJECT, "object"},
	             {T_NULL, "null"}};
	size_t count = 0;

	if ((types & T_ANY) == T_ANY)
		return 0;
	if (types & T_NUMBER)
		out[count++] = types & T_INTEGRAL ? "integer" : "number";
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (types & names[i].bits)
			out[count++] = names[i].name;
	return count;
}

static void put_types(struct json_writer *w, unsigned types)
{
	const char *names[TYPE_NAMES];
	size_t count = value_types(types, names);

	if (count == 1)
		jw_put_text(w, "type", names[0]);
	if (count < 2)
		return;
	jw_put_array(w, "type");
	for (size_t i = 0; i < count; i++)
		jw_text(w, names[i]);
	jw_end(w);
}

/* The words of an open list are examples. */
static void put_enum(struct json_writer *w, const char *words, unsigned types)
{
	if (!words)
		return;
	jw_put_array(w, types & T_OPEN ? "examples" : "enum");
	for (struct str rest = str_from(words); rest.n;)
		jw_str(w, str_cut(&rest, ','));
	if (types & T_NULL)
		jw_null(w);
	jw_end(w);
}

/* Begins the schema of the value with that key; the caller ends it. */
static void begin_value(struct json_writer *w, const char *name, const char *meaning,
                        unsigned types, const char *words)
{
	jw_put_object(w, name);
	jw_put_text(w, "description", meaning);
	put_types(w, types);
	put_enum(w, words, types);
	if (types & T_NATURAL)
		jw_put_i64(w, "minimum", 0);
}

static void put_value(struct json_writer *w, const char *name, const char *meaning, unsigned types,
                      const char *words)
{
	begin_value(w, name, meaning, types, words);
	jw_end(w);
}

static void put_reference(struct json_writer *w, const char *name)
{
	AUTO_BUF to = BUF(BUF_MAX_SMALL);

	buf_printf(&to, "#/$defs/%s", name);
	jw_put_str(w, "$ref", buf_view(&to));
}

/* ---- a line by its type ---- */

static void begin_schema(struct json_writer *w, const char *title, struct buf *out)
{
	*w = jw_form(out, "{$schema:%t,title:%t,type:'object'", DRAFT, title);
}

static void begin_object(struct json_writer *w, const char *name, const char *meaning)
{
	jw_put_object(w, name);
	if (meaning)
		jw_put_text(w, "description", meaning);
	jw_put_object(w, "properties");
}

/* {"if":{"properties":{"type":{"const":TYPE}}},"then":{"$ref":..}} */
static void put_case(struct json_writer *w, const char *type)
{
	jw_pack(w, "{if:{properties:{type:{const:%t}}},then:{", type);
	put_reference(w, type);
	jw_pack(w, "}}");
}

/* ---- recordings ---- */

static bool has_parts(enum key key)
{
	for (size_t i = 0; i < line_parts_count; i++)
		if (line_parts[i].key == key)
			return true;
	return false;
}

/* The reader does not check inside objects: null there is treated as missing. */
static void put_key(struct json_writer *w, const struct line_key *k, bool inside)
{
	begin_value(w, k->name, k->meaning, inside ? k->types | T_NULL : k->types, k->words);
	if (!inside && has_parts(k->key))
		put_reference(w, k->name);
	if (!inside && k->key == KEY_VERSION)
		jw_put_i64(w, "maximum", RECORD_VERSION);
	jw_end(w);
}

static void put_parts(struct json_writer *w)
{
	for (size_t i = 0; i < line_parts_count; i++) {
		enum key key = line_parts[i].key;

		if (i == 0 || line_parts[i - 1].key != key)
			begin_object(w, line_key_name(key), NULL);
		put_key(w, &line_parts[i], true);
		if (i + 1 == line_parts_count || line_parts[i + 1].key != key) {
			jw_end(w);
			jw_end(w);
		}
	}
}

static void put_line_type(struct json_writer *w, enum line_type type)
{
	size_t count;
	const struct line_key *rows = line_rows(type, &count);

	begin_object(w, line_type_name(type), NULL);
	for (size_t i = 0; i < count; i++)
		put_key(w, &rows[i], false);
	jw_end(w);
	if (type == LINE_HEADER)
		jw_pack(w, "required:[%t,%t]", line_key_name(KEY_FORMAT),
		        line_key_name(KEY_VERSION));
	jw_end(w);
}

void schema_recording(struct buf *out)
{
	struct json_writer w;

	begin_schema(&w, "A line of a rolldbg recording", out);
	jw_pack(&w, "required:[%t,%t],properties:{", line_key_name(KEY_TYPE),
	        line_key_name(KEY_ROLLOUT));
	put_value(&w, line_key_name(KEY_TYPE), "Readers ignore lines of other types.", T_STRING,
	          NULL);
	begin_value(&w, line_key_name(KEY_ROLLOUT), "Id of the rollout.", T_STRING, NULL);
	jw_pack(&w, "}},allOf:[");
	for (enum line_type t = LINE_HEADER; t < LINE_TYPES; t++)
		put_case(&w, line_type_name(t));
	jw_pack(&w, "],$defs:{");
	for (enum line_type t = LINE_HEADER; t < LINE_TYPES; t++)
		put_line_type(&w, t);
	put_parts(&w);
	jw_pack(&w, "}}");
}

/* ---- results ---- */

static void put_members(struct json_writer *w, enum result result)
{
	for (size_t i = 0; i < result_members_count; i++) {
		const struct result_member *m = &result_members[i];

		if (m->result != result)
			continue;
		begin_value(w, m->name, m->meaning, m->types, m->words);
		if (m->inner != RESULT_NONE && m->types == T_ARRAY) {
			jw_put_object(w, "items");
			put_reference(w, result_lines[m->inner].type);
			jw_end(w);
		} else if (m->inner != RESULT_NONE) {
			put_reference(w, result_lines[m->inner].type);
		}
		jw_end(w);
	}
	for (size_t i = 0; i < metric_count && result_lines[result].metrics; i++) {
		put_value(w, metric_table[i].name, metric_table[i].meaning, T_NUMBER | T_NULL,
		          NULL);
	}
}

static void put_required(struct json_writer *w, enum result result)
{
	jw_put_array(w, "required");
	for (size_t i = 0; i < result_members_count; i++) {
		const struct result_member *m = &result_members[i];

		if (m->result == result && !(m->types & T_OPTIONAL))
			jw_text(w, m->name);
	}
	for (size_t i = 0; i < metric_count && result_lines[result].metrics; i++)
		jw_text(w, metric_table[i].name);
	jw_end(w);
}

static void put_result(struct json_writer *w, enum result result)
{
	const struct result_line *r = &result_lines[result];

	begin_object(w, r->type, r->meaning);
	if (r->commands)
		put_value(w, "type", "Names this line.", T_STRING, r->type);
	put_members(w, result);
	jw_end(w);
	put_required(w, result);
	jw_end(w);
}

/* Definitions of the line and of the objects in it. */
static void put_definitions(struct json_writer *w, const char *command)
{
	for (enum result r = 0; r < RESULTS; r++)
		if (result_is_of(&result_lines[r], command))
			put_result(w, r);
	for (size_t i = 0; i < result_members_count; i++) {
		const struct result_member *m = &result_members[i];

		if (m->inner != RESULT_NONE && result_is_of(&result_lines[m->result], command))
			put_result(w, m->inner);
	}
}

bool schema_results(const char *command, struct buf *out)
{
	struct json_writer w;
	AUTO_BUF title = BUF(BUF_MAX_SMALL), types = BUF(BUF_MAX_SMALL);

	for (enum result r = 0; r < RESULTS; r++)
		if (result_is_of(&result_lines[r], command))
			buf_printf(&types, "%s%s", types.n ? "," : "", result_lines[r].type);
	if (!types.n)
		return false;
	buf_printf(&title, "A JSON line of rolldbg %s", command);
	begin_schema(&w, buf_cstr(&title), out);
	jw_pack(&w, "required:['type'],properties:{");
	begin_value(&w, "type", "What the line is about.", T_STRING, buf_cstr(&types));
	jw_pack(&w, "}},allOf:[");
	for (enum result r = 0; r < RESULTS; r++)
		if (result_is_of(&result_lines[r], command))
			put_case(&w, result_lines[r].type);
	jw_pack(&w, "],$defs:{");
	put_definitions(&w, command);
	jw_pack(&w, "}}");
	return true;
}
