/* Imports one file, as called by the reader (recording/foreign.h), and what formats share: ids,
   recorded answers, lists of messages. */
#include "convert/import.h"

#include "base/error.h"
#include "base/text.h"
#include "convert/convert.h"
#include "convert/parquet.h"
#include "env/failure.h"
#include "env/hidden_error.h"
#include "json/python.h"
#include "recording/line.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the formats ---- */

#define FORMAT(id) extern const struct format format_##id;
#include "convert/formats.def"
#undef FORMAT

const struct format *const formats[] = {
#define FORMAT(id) &format_##id,
#include "convert/formats.def"
#undef FORMAT
};
const size_t formats_count = ARRAY_LEN(formats);

const struct format *format_find(struct str name)
{
	for (size_t i = 0; i < formats_count; i++)
		if (str_is(name, formats[i]->name))
			return formats[i];
	return NULL;
}

/* ---- files of no known format ---- */

static bool is_yaml(struct str s)
{
	const char *colon = s.n ? memchr(s.p, ':', s.n) : NULL;
	size_t key = colon ? (size_t)(colon - s.p) : 0;

	for (size_t i = 0; i < key; i++)
		if (!strchr("abcdefghijklmnopqrstuvwxyz_-ABCDEFGHIJKLMNOPQRSTUVWXYZ", s.p[i]))
			return false;
	return key && (key + 1 == s.n || s.p[key + 1] == ' ');
}

/* True if the first line has three or more names separated by commas. */
static bool is_csv(struct str s)
{
	size_t commas = 0;

	for (size_t i = 0; i < s.n; i++) {
		commas += s.p[i] == ',';
		if (strchr("{}[]()", s.p[i]))
			return false;
	}
	return commas >= 2;
}

static bool is_json(struct str s)
{
	struct json_fault fault;
	size_t used;

	return json_validate_first(s, &used, &fault) == 0;
}

static bool is_text(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' && s.p[i] != '\t' && s.p[i] != '\r')
			return false;
	return s.n && s.p[0] != '{' && s.p[0] != '[';
}

/* A damaged line of JSON is not: it begins with a bracket or brace. */
static bool is_binary(struct str s)
{
	return s.n && s.p[0] != '{' && s.p[0] != '[' && !is_text(s);
}

/* What a file looks like: by how it begins, or by a function. */
static const struct look {
	const char *what, *begins[4];
	bool (*is)(struct str begin);
} looks[] = {
	{"looks like HTML", {"<!DOCTYPE", "<!doctype", "<html", "<HTML"}, NULL},
	{"looks like XML", {"<?xml"}, NULL},
	{"looks like text that Python printed, not JSON", {"{'", "[{'"}, NULL},
	{"is JSON, but of no known format", {NULL}, is_json},
	{"looks like YAML", {"---", "%YAML"}, is_yaml},
	{"looks like CSV", {NULL}, is_csv},
	{"looks like text", {NULL}, is_text},
	{"looks like binary data", {NULL}, is_binary},
};

static bool looks_like(const struct look *l, struct str begin)
{
	bool found = l->is && l->is(begin);

	for (size_t i = 0; i < ARRAY_LEN(l->begins) && l->begins[i]; i++)
		found = found || str_starts(begin, str_from(l->begins[i]));
	return found;
}

#define KEYS_BYTES 200

/* True if it is a line of a recording, possibly damaged. */
static bool is_ours(struct str begin)
{
	if (!begin.n || begin.p[0] == '\0')
		return true;
	if (!is_json(begin))
		return str_starts(begin, STR("{\"type\":"));
	for (enum line_type t = 0; t < LINE_TYPES; t++)
		if (json_is(JSON_GET(begin, "type"), str_from(line_type_name(t))))
			return true;
	return JSON_GET(begin, "rollout").p;
}

/* Of JSON: which keys or columns it has. */
static void put_keys(struct str begin, struct buf *out)
{
	struct json_member one;
	const char *between = " (keys: ";

	for (size_t cursor = 0; json_next_member(begin, &cursor, &one) && out->n < KEYS_BYTES;) {
		buf_text(out, between);
		(void)text_escape_cut(out, one.key, 40);
		between = ", ";
	}
	buf_text(out, !out->n ? "" : out->n < KEYS_BYTES ? ")" : ", ..)");
}

/* Sets FAIL_INPUT with the likely type of a file that begins with these bytes and the formats that
   can be read, and returns true. Returns false if it may be a damaged recording. */
static bool looks_describe(struct str begin, struct error *err)
{
	AUTO_BUF list = BUF(BUF_MAX_SMALL), keys = BUF(BUF_MAX_SMALL);
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(looks) && !found && !is_ours(begin); i++) {
		found = looks_like(&looks[i], begin);
		if (found) {
			for (size_t k = 0; k < formats_count; k++)
				buf_printf(&list, ", %s", formats[k]->name);
			if (looks[i].is == is_json)
				put_keys(begin, &keys);
			error_set(
				err, FAIL_INPUT,
				"not a recording: it %s%s; for any JSON: rolldbg convert \1from\2 "
				"map:FILE; formats: " RECORD_FORMAT "%s",
				looks[i].what, buf_cstr(&keys), buf_cstr(&list));
		}
	}
	return found;
}

/* ---- import ---- */

#define UNPACKED_MAX (UINT64_C(16) << 30) /* total bytes of an archive's entries */

struct task_samples {
	struct map_item item;
	int64_t count;
};

struct foreign {
	struct import import;
};

static const struct format *recognize(struct str value)
{
	for (size_t i = 0; i < formats_count; i++)
		if (json_type(value) == JSON_OBJECT && formats[i]->is(value))
			return formats[i];
	return NULL;
}

static struct foreign_options options;

void foreign_set_options(const struct foreign_options *o)
{
	options = *o;
}

static struct foreign *open_import(const struct format *format, const char *path)
{
	struct foreign *f = mem_new(sizeof(*f));

	f->import = (struct import){.format = format,
	                            .path = path,
	                            .options = &options,
	                            .work = BUF(FOREIGN_BYTES_MAX),
	                            .value = BUF(FOREIGN_BYTES_MAX)};
	return f;
}

static int take_one(struct import *m, struct str value, struct error *err)
{
	const struct format *f = m->format;
	int failed;

	/* without `finish`, nothing is kept between values: each stands by itself */
	if (!f->finish && !f->is(value))
		failed = error_set(err, FAIL_INPUT, "not in the format %s: %s", f->name, f->what);
	else
		failed = f->take(m, value, err);
	m->values++;
	arena_reset(&m->arena);
	return failed;
}

static int take_value(struct foreign *f, struct str value, struct buf *out, struct error *err)
{
	struct import *m = &f->import;
	struct str one;
	int failed = 0;

	m->out = out;
	if (json_type(value) != JSON_ARRAY)
		return take_one(m, value, err);
	for (size_t cursor = 0; !failed && json_next(value, &cursor, &one);)
		failed = take_one(m, one, err);
	return failed || !m->format->take_list_end ? failed : m->format->take_list_end(m, err);
}

static int finish(struct foreign *f, struct buf *out, struct error *err)
{
	struct import *m = &f->import;

	m->out = out;
	return m->format->finish ? m->format->finish(m, err) : 0;
}

static void close_import(struct foreign *f)
{
	struct import *m = &f->import;

	if (m->own_free)
		m->own_free(m->own);
	arena_release(&m->arena);
	arena_release(&m->tasks);
	buf_release(&m->work);
	buf_release(&m->value);
	free(f);
}

/* Zip archives with entries, or an empty one. */
static bool is_archive(struct str begin)
{
	return parquet_is(begin) || str_starts(begin, STR("PK\x03\x04")) ||
	       str_starts(begin, STR("PK\x05\x06"));
}

static int unpack(int fd, FILE *out, struct error *err)
{
	char begin[16];
	ssize_t n = pread(fd, begin, sizeof(begin), 0);

	if (n > 0 && parquet_is((struct str){begin, (size_t)n}))
		return parquet_unpack(fd, out, err);
	return inspect_unpack(fd, UNPACKED_MAX, out, err);
}

const struct foreign_formats foreign_formats = {
	.recognize = recognize,
	.open = open_import,
	.take = take_value,
	.finish = finish,
	.close = close_import,
	.describe = looks_describe,
	.is_archive = is_archive,
	.unpack = unpack,
};

struct str import_rollout_id(struct import *m, struct str task, int64_t *sample)
{
	struct task_samples *t =
		map_find_or_add(&m->samples, map_hash(task), &m->tasks, sizeof(*t));
	AUTO_BUF id = BUF(BUF_MAX_SMALL);

	*sample = t->count++;
	buf_str(&id, task);
	buf_printf(&id, ".%lld", (long long)*sample);
	return arena_str(&m->arena, buf_view(&id));
}

struct str import_task(struct import *m, struct str id)
{
	enum json_type type = json_type(id);

	buf_clear(&m->value);
	if (type == JSON_NUMBER || (type == JSON_STRING && json_inner(id).n))
		json_text_or_json(id, &m->value);
	else
		buf_printf(&m->value, "row-%llu", (unsigned long long)m->values);
	return arena_str(&m->arena, buf_view(&m->value));
}

struct str import_text(struct import *m, struct str value)
{
	return json_text(&m->arena, value);
}

struct str import_either(struct str a, struct str b)
{
	return json_is_null(a) ? b : a;
}

bool import_exit_failed(int64_t code)
{
	return code == -1 || code == 124 || code == 126 || code == 127 || code == 137;
}

int8_t import_flag(struct str value)
{
	bool flag;

	return json_bool(value, &flag) ? (int8_t)flag : (int8_t)-1;
}

struct buf *import_value(struct import *m)
{
	buf_clear(&m->value);
	return &m->value;
}

struct str import_kept(struct import *m)
{
	return arena_str(&m->arena, buf_view(&m->value));
}

bool import_own_id(struct import *m, struct str id, struct str extra, struct import_header *h)
{
	struct str task = JSON_GET(extra, "task"), text = import_text(m, id);
	int64_t sample;

	if (!text.n || json_type(task) != JSON_STRING ||
	    !json_i64(JSON_GET(extra, "sample"), &sample) || sample < 0) {
		return false;
	}
	h->id = text;
	h->task = import_text(m, task);
	h->sample = sample;
	return true;
}

/* ---- recorded answers ---- */

/* truncation of an error's message; the observation is complete */
#define MESSAGE_MAX ((size_t)4096)

/* ---- the observation ---- */

/* Returns the text of [{"type":"text","text":".."}]. */
static struct str only_text(struct str content)
{
	bool one = json_type(content) == JSON_ARRAY && json_count(content) == 1;
	struct str text = one ? JSON_GET(json_first(content), "text") : STR_NONE;

	return json_type(text) == JSON_STRING ? text : content;
}

struct str outcome_observation(struct import *m, struct str content)
{
	struct str text = only_text(content), found = text;
	struct json_fault fault;
	size_t used;

	if (json_type(text) != JSON_STRING)
		return text;
	buf_clear(&m->value);
	if (!json_decode(text, &m->value))
		return text;
	struct str decoded = buf_view(&m->value);
	if (decoded.n && json_validate(decoded, &fault) == 0)
		return arena_str(&m->arena, decoded);
	buf_clear(&m->work);
	if (decoded.n && strchr("{[(", decoded.p[0]) && python_literal(decoded, &used, &m->work) &&
	    used == decoded.n) {
		found = arena_str(&m->arena, buf_view(&m->work));
	}
	return found;
}

/* ---- the outcome ---- */

static struct str text_of(struct import *m, struct str value)
{
	buf_clear(&m->value);
	json_text_or_json(value, &m->value);
	return arena_str(&m->arena, text_utf8_cut(buf_view(&m->value), MESSAGE_MAX));
}

static void set_failure(struct import *m, enum error_layer layer, struct str message,
                        struct str code, struct import_reply *reply)
{
	enum json_type type = json_type(code);

	reply->error_message = text_of(m, message);
	reply->layer = layer;
	reply->class = error_text_class(reply->error_message, layer, CLASS_TOOL);
	reply->outcome = error_class_outcome(reply->class, OUTCOME_TOOL_ERROR);
	reply->error_code = type == JSON_NUMBER || type == JSON_STRING ? code : STR_NONE;
}

/* Sets the error recorded by the source: a string, or an object with message and type. */
static void set_stated(struct import *m, struct str error, struct str observation,
                       struct import_reply *reply)
{
	struct str message = JSON_GET(error, "message"), code = JSON_GET(error, "code");

	if (json_type(error) == JSON_OBJECT) {
		code = code.p ? code : JSON_GET(error, "type");
		set_failure(m, LAYER_FRAMEWORK, message.p ? message : error, code, reply);
		if (json_is(code, STR("timeout")))
			reply->class = CLASS_TIMEOUT;
		return;
	}
	bool text = json_type(error) == JSON_STRING && json_inner(error).n;
	set_failure(m, LAYER_FRAMEWORK, text ? error : observation, STR_NONE, reply);
}

static bool is_stated(struct outcome_hint hint)
{
	enum json_type type = json_type(hint.error);

	return hint.failed > 0 || (type == JSON_STRING && json_inner(hint.error).n) ||
	       (type == JSON_OBJECT && json_count(hint.error)) || type == JSON_TRUE;
}

static struct hidden_error hidden_in(struct str observation, struct str last)
{
	if (json_type(observation) == JSON_OBJECT) {
		return hidden_error_in_body(observation,
		                            (struct hidden_error_context){.last = last});
	}
	return hidden_error_in_text(observation);
}

/* Some proxies use a short error name and put its text in the observation. */
static struct str fuller_message(struct str observation, struct str message)
{
	struct str text = JSON_GET(observation, "observation");

	return hidden_error_in_text(text).strength ? text : message;
}

void outcome_set(struct import *m, struct outcome_hint hint, struct str last,
                 struct import_reply *reply)
{
	struct hidden_error hidden;

	if (is_stated(hint)) {
		set_stated(m, hint.error, reply->observation, reply);
		return;
	}
	hidden = hidden_in(reply->observation, last);
	if (!hidden_error_holds(&hidden, hint.failed == 0 ? 1 : -1)) {
		reply->outcome = OUTCOME_OK;
		return;
	}
	set_failure(m, hidden.layer, fuller_message(reply->observation, hidden.message),
	            hidden.code, reply);
}

/* ---- chat messages ---- */

bool messages_may_be(struct str value)
{
	return json_type(value) == JSON_ARRAY &&
	       (!json_count(value) ||
	        json_type(JSON_GET(json_first(value), "role")) == JSON_STRING);
}

struct str message_answer(struct import *m, struct str call_id, struct str content)
{
	return IMPORT_PACK(m, "{role:'tool',tool_call_id:%r,content:%r}", call_id, content);
}

struct str message_new(struct import *m, const char *role, struct str content)
{
	return IMPORT_PACK(m, "{role:%t,content:%r}", role, content);
}
