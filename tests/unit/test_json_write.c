/* The writer: commas and nesting, and quoting of arbitrary bytes. */
#include "json/scan.h"
#include "json/write.h"
#include "tap.h"

static void structure(void)
{
	struct buf b = BUF(BUF_MAX_SMALL);
	struct json_writer w;

	jw_init(&w, &b);
	jw_object(&w);
	jw_put_text(&w, "type", "step");
	jw_key_str(&w, STR("k\"\n"));
	jw_array(&w);
	jw_array(&w);
	jw_end(&w);
	jw_object(&w);
	jw_end(&w);
	jw_i64(&w, INT64_MIN);
	jw_i64(&w, -1);
	jw_u64(&w, UINT64_MAX);
	jw_u64(&w, 0);
	jw_double(&w, 0.5);
	jw_bool(&w, true);
	jw_bool(&w, false);
	jw_null(&w);
	jw_end(&w);
	jw_put_raw(&w, "raw", STR("{\"x\": 1.0}"));
	jw_put_raw(&w, "absent", STR_NONE);
	jw_put_text(&w, "text", NULL);
	jw_put_str(&w, "str", STR_NONE);
	jw_put_str(&w, "empty", STR(""));
	jw_end(&w);
	is_str(buf_cstr(&b),
	       "{\"type\":\"step\",\"k\\\"\\n\":[[],{},-9223372036854775808,-1,"
	       "18446744073709551615,0,"
	       "0.5,true,false,null],\"raw\":{\"x\": "
	       "1.0},\"absent\":null,\"text\":null,\"str\":null,"
	       "\"empty\":\"\"}",
	       "all there is to write");
	buf_release(&b);
}

static void templates(void)
{
	struct buf b = BUF(BUF_MAX_SMALL);
	struct json_writer w;

	json_pack(&b, "{type:'a b',n:%d,m:%i,list:[1,null,'{x'],no:%?s,yes:%?t,in:{raw:%r,off:%b}}",
	          -1, INT64_MAX, STR_NONE, "t\"", STR("[ 1 ]"), false);
	is_str(buf_cstr(&b),
	       "{\"type\":\"a b\",\"n\":-1,\"m\":9223372036854775807,\"list\":[1,null,\"{x\"],"
	       "\"yes\":\"t\\\"\",\"in\":{\"raw\":[ 1 ],\"off\":false}}",
	       "a template");
	buf_clear(&b);
	jw_init(&w, &b);
	jw_pack(&w, "{open:[{k-1:%s", STR_NONE);
	jw_pack(&w, "more:%s}]}", STR_NONE);
	is_str(buf_cstr(&b), "{\"open\":[{\"k-1\":null,\"more\":null}]}", "a template in two");
	buf_release(&b);
}

static void deepest(void)
{
	struct buf b = BUF(BUF_MAX_SMALL);
	struct json_writer w;
	struct json_fault fault;

	jw_init(&w, &b);
	for (int i = 0; i < JSON_WRITE_DEPTH; i++) {
		if (i % 2) {
			jw_array(&w);
		} else {
			jw_object(&w);
			jw_key(&w, "a");
		}
	}
	for (int i = 0; i < JSON_WRITE_DEPTH; i++)
		jw_end(&w);
	is_int(json_validate(buf_view(&b), &fault), 0, "%d levels", JSON_WRITE_DEPTH);
	buf_release(&b);
}

static void quotes(void)
{
	static const struct {
		struct str text;
		const char *want;
	} rows[] = {
		{STR_INIT(""), "\"\""},
		{STR_INIT("plain / text"), "\"plain / text\""},
		{STR_INIT("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\""},
		{STR_INIT("\0\x01\x1f\x7f"), "\"\\u0000\\u0001\\u001f\x7f\""},
		{STR_INIT("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"),
	         "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{STR_INIT("a\xff"
	                  "b"),
	         "\"a\xef\xbf\xbd"
	         "b\""},
		{STR_INIT("\xc3"), "\"\xef\xbf\xbd\""},
		{STR_INIT("\xed\xa0\x80"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{STR_INIT("\xf0\x9f\x98"), "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
	};
	struct buf b = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&b);
		json_quote(&b, rows[i].text);
		is_str(buf_cstr(&b), rows[i].want, "quoted: %s", rows[i].want);
	}
	buf_release(&b);
}

/* Any two bytes in sequence become a valid string, and ASCII is preserved. */
static void every_pair(void)
{
	struct buf b = BUF(BUF_MAX_SMALL);
	struct json_fault fault;
	int bad = 0;

	for (int i = 0; i < 256 * 256; i++) {
		char two[2] = {(char)(i >> 8), (char)i};
		struct str s = {two, 2};

		buf_clear(&b);
		json_quote(&b, s);
		bad += json_validate(buf_view(&b), &fault) != 0;
		bad += !((two[0] | two[1]) & 0x80) && !json_is(buf_view(&b), s);
	}
	is_int(bad, 0, "every pair of bytes");
	buf_release(&b);
}

/* A byte that needs an escape is found in strings of every length, wherever it is. */
static void every_place(void)
{
	static const char odd[] = {'"', '\\', '\n', '\x1f', '\0'};
	struct buf b = BUF(BUF_MAX_SMALL);
	struct json_fault fault;
	char text[80];
	int bad = 0, plain = 0;

	for (size_t n = 0; n <= sizeof(text); n++) {
		struct str s = {text, n};

		memset(text, 'a', sizeof(text));
		buf_clear(&b);
		json_quote(&b, s);
		plain += b.n == n + 2 && json_is(buf_view(&b), s);
		for (size_t i = 0; i < n * sizeof(odd); i++) {
			text[i / sizeof(odd)] = odd[i % sizeof(odd)];
			buf_clear(&b);
			json_quote(&b, s);
			bad += json_validate(buf_view(&b), &fault) != 0 ||
			       !json_is(buf_view(&b), s);
			text[i / sizeof(odd)] = 'a';
		}
	}
	is_int(plain, (int)sizeof(text) + 1, "plain strings of every length");
	is_int(bad, 0, "an odd byte in every place");
	buf_release(&b);
}

int main(void)
{
	structure();
	templates();
	deepest();
	quotes();
	every_pair();
	every_place();
	return done();
}
