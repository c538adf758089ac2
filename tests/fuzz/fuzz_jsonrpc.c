/* Both readers agree with the validator and with each other, every slice is within the text
   and is JSON, and a request or reply written from the parsed one is parsed to the same. */
#include "protocol/jsonrpc.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_slices(struct str text, const struct jsonrpc_message *m)
{
	const struct str slices[] = {m->id,         m->params,        m->result,    m->error,
	                             m->error_code, m->error_message, m->error_data};
	struct json_fault fault;

	for (size_t i = 0; i < ARRAY_LEN(slices); i++) {
		if (!slices[i].p)
			continue;
		require(slices[i].p >= text.p && slices[i].p + slices[i].n <= text.p + text.n);
		require(json_validate(slices[i], &fault) == 0);
	}
	require(!m->method.p ||
	        (m->method.p >= text.p && m->method.p + m->method.n <= text.p + text.n));
}

static void check_same(const struct jsonrpc_message *a, const struct jsonrpc_message *b)
{
	require(a->kind == b->kind && str_eq(a->id, b->id) && str_eq(a->method, b->method) &&
	        str_eq(a->params, b->params) && str_eq(a->result, b->result) &&
	        str_eq(a->error, b->error) && str_eq(a->error_code, b->error_code));
}

static void check_written(const struct jsonrpc_message *m)
{
	struct buf out = BUF(BUF_MAX_MESSAGE);
	struct jsonrpc_message again;
	int64_t id;

	if (m->kind == JSONRPC_RESULT) {
		jsonrpc_write_result(&out, m->id, m->result);
		jsonrpc_read(buf_view(&out), &again);
		check_same(m, &again);
	} else if (m->kind == JSONRPC_REQUEST && json_i64(m->id, &id)) {
		jsonrpc_write_request(&out, id, "m", m->params);
		jsonrpc_read(buf_view(&out), &again);
		require(again.kind == JSONRPC_REQUEST && jsonrpc_id_is(again.id, id) &&
		        str_eq(again.params, m->params));
	}
	buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size}, element;
	struct jsonrpc_message m, same;
	struct json_fault fault;

	jsonrpc_read(text, &m);
	bool valid = json_validate(text, &fault) == 0;
	require((m.kind != JSONRPC_NOT_JSON) == valid);
	if (!valid) {
		require(m.fault.why && m.fault.at == fault.at && m.fault.at <= size);
		return 0;
	}
	check_slices(text, &m);
	check_written(&m);
	while (text.n && strchr(" \t\r\n", text.p[0]))
		text = str_skip(text, 1);
	jsonrpc_read_valid(text, &same);
	check_same(&m, &same);
	for (size_t cursor = 0; json_next(text, &cursor, &element);) {
		jsonrpc_read_valid(element, &m);
		check_slices(element, &m);
	}
	return 0;
}
