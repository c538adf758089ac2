/* protocol/jsonrpc against tests/vectors/jsonrpc.test, and the messages it writes. */
#include "protocol/jsonrpc.h"
#include "tap.h"
#include "vectors.h"

static const char *const kinds[] = {"not-json", "invalid", "request", "notification",
                                    "result",   "error",   "batch"};

struct vector {
	char name[128];
	struct buf input, expected;
	char *page;
	int count, of_kind[ARRAY_LEN(kinds)];
};

static void tell(struct buf *told, const struct jsonrpc_message *m)
{
	const struct {
		char letter;
		struct str value;
	} members[] = {
		{'i', m->id},
		{'m', m->method},
		{'p', m->params},
		{'r', m->result},
		{'e', m->error},
		{'c', m->error_code},
		{'t', m->error_message},
		{'d', m->error_data},
	};

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		if (!members[i].value.p)
			continue;
		buf_printf(told, "%c ", members[i].letter);
		buf_str(told, members[i].value);
		buf_char(told, '\n');
	}
	buf_printf(told, "= %s\n", kinds[m->kind]);
}

static void check(struct vector *v)
{
	struct buf told = BUF(1 << 20);
	struct jsonrpc_message m;
	struct str text = guarded_copy(&v->page, buf_view(&v->input));

	jsonrpc_read(text, &m);
	tell(&told, &m);
	is_str(buf_cstr(&told), buf_cstr(&v->expected), "%s", v->name);
	v->count++;
	v->of_kind[m.kind]++;
	if (m.kind == JSONRPC_NOT_JSON) {
		ok(m.fault.why && m.fault.at <= text.n, "%s: has a position", v->name);
	} else {
		while (text.n && strchr(" \t\r\n", text.p[0]))
			text = str_skip(text, 1);
		buf_clear(&told);
		jsonrpc_read_valid(text, &m);
		tell(&told, &m);
		is_str(buf_cstr(&told), buf_cstr(&v->expected), "%s: as a slice", v->name);
	}
	buf_release(&told);
}

static void on_line(void *arg, char letter, const char *text)
{
	struct vector *v = arg;

	if (letter == '#') {
		snprintf(v->name, sizeof(v->name), "%s", text);
		buf_clear(&v->input);
		buf_clear(&v->expected);
	} else if (letter == '<') {
		vectors_unescape(&v->input, text);
	} else {
		buf_printf(&v->expected, "%c ", letter);
		vectors_unescape(&v->expected, text);
		buf_char(&v->expected, '\n');
		if (letter == '=')
			check(v);
	}
}

static void test_batch(void)
{
	struct str batch = STR("[{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}, 5, []]"), element;
	static const enum jsonrpc_kind wanted[] = {JSONRPC_RESULT, JSONRPC_INVALID, JSONRPC_BATCH};
	struct jsonrpc_message m;
	size_t cursor = 0, n = 0;

	jsonrpc_read(batch, &m);
	is_int(m.kind, JSONRPC_BATCH, "a batch");
	for (; json_next(batch, &cursor, &element) && n < ARRAY_LEN(wanted); n++) {
		jsonrpc_read_valid(element, &m);
		is_int(m.kind, wanted[n], "its element %zu", n);
	}
	is_int(n, 3, "all of them");
}

static void test_ids(void)
{
	static const struct {
		struct str id;
		int64_t number;
		bool same;
	} rows[] = {
		{STR_INIT("7"), 7, true},
		{STR_INIT("7.0"), 7, true},
		{STR_INIT("70e-1"), 7, true},
		{STR_INIT("7.5"), 7, false},
		{STR_INIT("\"7\""), 7, false},
		{STR_INIT("null"), 0, false},
		{STR_INIT("8"), 7, false},
		{{NULL, 0}, 0, false},
		{STR_INIT("-1"), -1, true},
		{STR_INIT("9223372036854775807"), INT64_MAX, true},
		{STR_INIT("18446744073709551623"), 7, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		is_int(jsonrpc_id_is(rows[i].id, rows[i].number), rows[i].same, "id %.*s",
		       STR_ARG(rows[i].id));
	}
}

/* Compares the output, and clears it. */
static void wrote(struct buf *out, const char *expected)
{
	struct jsonrpc_message m;

	is_str(buf_cstr(out), expected, "written: %.60s", expected);
	jsonrpc_read(buf_view(out), &m);
	ok(m.kind > JSONRPC_INVALID, "  and is a message");
	buf_clear(out);
}

static void test_writing(void)
{
	struct buf out = BUF(1 << 16);
	struct str none = {NULL, 0};

	jsonrpc_write_request(&out, 1, "ping", none);
	wrote(&out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
	jsonrpc_write_request(&out, INT64_MIN, "a\"b\n", STR("{\"x\":1.0}"));
	wrote(&out, "{\"jsonrpc\":\"2.0\",\"id\":-9223372036854775808,\"method\":\"a\\\"b\\n\","
	            "\"params\":{\"x\":1.0}}");
	jsonrpc_write_notification(&out, "notifications/initialized", none);
	wrote(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	jsonrpc_write_notification(&out, "m", STR("[]"));
	wrote(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":[]}");
	jsonrpc_write_result(&out, STR("\"s\""), STR("{}"));
	wrote(&out, "{\"jsonrpc\":\"2.0\",\"id\":\"s\",\"result\":{}}");
	jsonrpc_write_error(&out, STR("9"), -32601, "no such method: \"x\"");
	wrote(&out, "{\"jsonrpc\":\"2.0\",\"id\":9,\"error\":{\"code\":-32601,\"message\":"
	            "\"no such method: \\\"x\\\"\"}}");
	jsonrpc_write_error(&out, none, -32700, "x");
	wrote(&out, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
	            "\"message\":\"x\"}}");
	buf_release(&out);
}

int main(void)
{
	struct vector v = {.input = BUF(1 << 20), .expected = BUF(1 << 20)};

	vectors_read("tests/vectors/jsonrpc.test", on_line, &v);
	ok(v.count > 40, "there are vectors");
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		ok(v.of_kind[i] > 0, "some are of the kind %s", kinds[i]);
	test_batch();
	test_ids();
	test_writing();
	buf_release(&v.input);
	buf_release(&v.expected);
	guarded_release(&v.page);
	return done();
}
