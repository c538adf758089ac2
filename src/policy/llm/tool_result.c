/* Results as text: see tool_result.h. */
#include "policy/llm/tool_result.h"

#include "json/write.h"

#define BASE64_LEAST 1024 /* minimum run of characters: longer than tokens, hashes and keys */

/* MCP's content: an array of objects that each have a type. */
static bool is_parts(struct str value)
{
	struct str each;

	if (json_type(value) != JSON_ARRAY || !json_count(value))
		return false;
	for (size_t cursor = 0; json_next(value, &cursor, &each);) {
		if (json_type(each) != JSON_OBJECT ||
		    json_type(JSON_GET(each, "type")) != JSON_STRING) {
			return false;
		}
	}
	return true;
}

/* The contents of an embedded resource; otherwise the part itself. */
static struct str inner_of(struct str part)
{
	struct json_member m;

	for (size_t cursor = 0; json_next_member(part, &cursor, &m);) {
		if (m.type == JSON_OBJECT && !json_key_is(m.key, STR("annotations")) &&
		    !json_key_is(m.key, STR("image_url"))) {
			return m.value;
		}
	}
	return part;
}

static void put_result_words(struct str value, const char *before, struct buf *out)
{
	if (json_type(value) == JSON_STRING) {
		buf_text(out, before);
		json_decode(value, out);
	}
}

/* [image image/png, 1234 bytes] */
static void put_placeholder(struct str part, struct buf *out)
{
	struct str inner = inner_of(part), source = JSON_GET(part, "image_url");
	struct str data = JSON_GET(part, "data");

	data = data.p ? data : JSON_GET(inner, "blob");
	buf_char(out, '[');
	json_decode(JSON_GET(part, "type"), out);
	put_result_words(JSON_GET(inner, "uri"), " ", out);
	put_result_words(JSON_GET(inner, "mimeType"), " ", out);
	if (json_type(data) == JSON_STRING)
		buf_printf(out, ", %zu bytes", json_inner(data).n / 4 * 3);
	else if (json_type(source) == JSON_OBJECT)
		buf_printf(out, ", %zu bytes of URL", json_inner(JSON_GET(source, "url")).n);
	buf_char(out, ']');
}

static void put_part(struct str part, struct buf *out)
{
	struct str text = JSON_GET(part, "text");

	if (json_type(text) != JSON_STRING)
		text = JSON_GET(inner_of(part), "text");
	if (json_type(text) == JSON_STRING)
		json_decode(text, out);
	else
		put_placeholder(part, out);
}

/* The length of a run of base64 at the start of s. Encoded binary data uses all classes of
   characters; long words that use few, such as gene sequences, are text. */
static size_t base64_run(struct str s)
{
	bool small = false, large = false, digit = false;
	size_t n = 0;

	for (; n < s.n; n++) {
		char c = s.p[n];

		small |= c >= 'a' && c <= 'z';
		large |= c >= 'A' && c <= 'Z';
		digit |= c >= '0' && c <= '9';
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
		    !strchr("+/=-_", c)) {
			break;
		}
	}
	return n >= BASE64_LEAST && small && large && digit ? n : 0;
}

/* Base64 can only start at the beginning, or after a character that is not base64. */
static bool is_boundary(struct str s, size_t at)
{
	return at == 0 || !((s.p[at - 1] >= '0' && s.p[at - 1] <= '9') ||
	                    (s.p[at - 1] >= 'A' && s.p[at - 1] <= 'Z') ||
	                    (s.p[at - 1] >= 'a' && s.p[at - 1] <= 'z'));
}

static void replace_base64(struct buf *out, size_t begin)
{
	struct str s = str_skip(buf_view(out), begin);
	struct buf text = BUF(BUF_MAX_MESSAGE);
	size_t done = 0, run;

	if (s.n < BASE64_LEAST)
		return;
	for (size_t at = 0; at < s.n; at++) {
		run = is_boundary(s, at) ? base64_run(str_skip(s, at)) : 0;
		if (run) {
			buf_str(&text, (struct str){s.p + done, at - done});
			buf_printf(&text, "[base64, %zu bytes]", run / 4 * 3);
			at += run - 1;
			done = at + 1;
		}
	}
	if (done) {
		buf_str(&text, str_skip(s, done));
		buf_cut(out, begin);
		buf_str(out, buf_view(&text));
	}
	buf_release(&text);
}

void tool_result_text(struct str observation, struct buf *out)
{
	struct str each;
	size_t begin = out->n;

	if (json_is_null(observation))
		return;
	if (!is_parts(observation)) {
		json_text_or_json(observation, out);
		replace_base64(out, begin);
		return;
	}
	for (size_t cursor = 0; json_next(observation, &cursor, &each);) {
		buf_text(out, out->n > begin ? "\n" : "");
		put_part(each, out);
	}
	replace_base64(out, begin);
}
