/* Containers and their members for the Debug Adapter Protocol: see dap_values.h. */
#include "debug/dap_values.h"

#include "json/write.h"

#include <stdlib.h>

void dap_values_forget(struct dap_values *v)
{
	v->count = 0;
	arena_reset(&v->arena);
}

void dap_values_release(struct dap_values *v)
{
	free(v->list);
	arena_release(&v->arena);
	*v = (struct dap_values){.list = NULL};
}

static int64_t add(struct dap_values *v, struct str value, struct str path)
{
	enum json_type type = json_type(value);
	bool container = type == JSON_OBJECT || type == JSON_ARRAY;

	if (!container || !json_count(value) || v->count == DAP_VALUES_MAX)
		return 0;
	v->list = mem_grow(v->list, v->count, sizeof(*v->list));
	v->list[v->count++] =
		(struct dap_value){arena_str(&v->arena, value), arena_str(&v->arena, path)};
	return (int64_t)v->count;
}

int64_t dap_values_add(struct dap_values *v, struct str value)
{
	return add(v, value, STR_NONE);
}

/* An object with these facts as members. */
static struct str object_of(struct dap_values *v, const struct known *k,
                            const enum named_fact *facts, size_t count)
{
	struct buf text = BUF(SIZE_MAX / 2);
	struct str kept;
	struct json_writer w = jw_begin(&text);

	for (size_t i = 0; i < count; i++)
		jw_put_raw(&w, named_facts[facts[i]].name, fact_value(facts[i], k));
	jw_end(&w);
	kept = arena_str(&v->arena, buf_view(&text));
	buf_release(&text);
	return kept;
}

static void write_scope(struct json_writer *w, const char *name, int64_t number)
{
	jw_object(w);
	jw_put_text(w, "name", name);
	jw_put_i64(w, "variablesReference", number);
	jw_put_bool(w, "expensive", false);
	jw_end(w);
}

void dap_values_scopes(struct dap_values *v, const struct known *k, int64_t frame,
                       struct json_writer *w)
{
	static const enum named_fact step[] = {
		FACT_TURN,      FACT_STEP,        FACT_TOOL,       FACT_ARGUMENTS,  FACT_OUTCOME,
		FACT_ERROR,     FACT_REWARD,      FACT_EFFECT,     FACT_TERMINATED, FACT_TRUNCATED,
		FACT_ENV_STEPS, FACT_OBSERVATION, FACT_STRUCTURED, FACT_META,
	};

	(void)frame;
	jw_put_array(w, "scopes");
	write_scope(w, "Step", add(v, object_of(v, k, step, ARRAY_LEN(step)), STR_NONE));
	write_scope(w, "State", add(v, fact_value(FACT_STATE, k), STR("./")));
	write_scope(w, "State before", add(v, fact_value(FACT_BEFORE, k), STR_NONE));
	jw_end(w);
}

static void write_variable(struct dap_values *v, struct json_writer *w, struct str name,
                           struct str value, struct str above)
{
	struct buf path = BUF(BUF_MAX_MESSAGE), text = BUF(SIZE_MAX / 2);

	if (above.p) {
		buf_str(&path, above);
		buf_str(&path, name);
		buf_text(&path, "/");
	}
	jw_object(w);
	jw_put_str(w, "name", name);
	jw_put_str(w, "value", value);
	jw_put_text(w, "type", json_type_name(json_type(value)));
	jw_put_i64(w, "variablesReference", add(v, value, above.p ? buf_view(&path) : STR_NONE));
	jw_end(w);
	BUFS_RELEASE(&path, &text);
}

int dap_values_members(struct dap_values *v, int64_t number, struct json_writer *w,
                       struct error *err)
{
	struct buf name = BUF(BUF_MAX_MESSAGE);
	size_t cursor = 0, index = 0;
	struct json_member m;

	if (number < 1 || (size_t)number > v->count) {
		return error_set(err, FAIL_INPUT, "unknown variablesReference %lld",
		                 (long long)number);
	}
	const struct dap_value of = v->list[number - 1];
	bool array = json_type(of.value) == JSON_ARRAY;
	jw_put_array(w, "variables");
	while (array ? json_next(of.value, &cursor, &m.value)
	             : json_next_member(of.value, &cursor, &m)) {
		buf_clear(&name);
		if (array)
			buf_printf(&name, "%zu", index++);
		else
			json_decode_key(m.key, &name);
		write_variable(v, w, buf_view(&name), m.value, of.path);
	}
	jw_end(w);
	buf_release(&name);
	return 0;
}

bool dap_values_path(const struct dap_values *v, int64_t number, struct str name, struct buf *out)
{
	if (number < 1 || (size_t)number > v->count || !v->list[number - 1].path.p)
		return false;
	buf_str(out, v->list[number - 1].path);
	json_decode(name, out);
	return true;
}
