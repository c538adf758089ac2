/* Secrets in text, in JSON with any escapes, and in complete lines. */
#include "tap.h"

#include "cmd/options/credentials.h"
#include "recording/line.h"
#include "recording/redact/redact.h"

/* Is anything in the text replaced? */
static bool hides(const struct secrets *s, const char *text)
{
	struct buf out = BUF(256);

	secrets_redact(s, str_from(text), &out);
	bool same = strcmp(buf_cstr(&out), text) == 0;
	buf_release(&out);
	return !same;
}

static void headers(void)
{
	static const struct {
		const char *header, *secret, *innocent;
	} rows[] = {
		{"Authorization: Bearer abcd1234", "abcd1234", "Bearer"},
		{"authorization:tok-without-scheme", "tok-without-scheme", "scheme"},
		{"Proxy-Authorization: Basic dXNlcjpwYXNz", "dXNlcjpwYXNz", "Basic"},
		{"Authorization: Basic dXNlcjpwYXNz", "user:pass", "user"},
		{"Authorization: Basic dXNlcjpwYXNz", "pass", "user"},
		{"Cookie: sid=0123456789; theme=dark", "0123456789", "dark"},
		{"Set-Cookie: sid=0123456789; Path=/", "0123456789", "Path"},
		{"X-API-Key:  key-1 \t", "key-1", "key-2"},
		{"My-Access-Token: t0k3n", "t0k3n", "token"},
		{"X-Client-Secret: s3cr3t", "s3cr3t", "secret"},
		{"Accept: text/event-stream", NULL, "text/event-stream"},
		{"Authorization: abc", NULL, "abc"},
		{"no header", NULL, "no header"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct secrets *s = secrets_new();

		credentials_add_header(s, str_from(rows[i].header), false);
		if (rows[i].secret)
			ok(hides(s, rows[i].secret), "%s: the value is secret", rows[i].header);
		ok(!hides(s, rows[i].innocent), "%s: %s is not", rows[i].header, rows[i].innocent);
		secrets_free(s);
	}
	struct secrets *s = secrets_new();
	ok(credentials_add_header(s, STR("X-Tenant: blue-42"), true) && hides(s, "blue-42"),
	   "any header that the user declares secret");
	ok(!credentials_add_header(s, STR("X-Tenant: b"), true) && !hides(s, "b"),
	   "a value that is too short is reported");
	secrets_free(s);
}

static void targets(void)
{
	static const struct {
		const char *target, *secret, *innocent;
	} rows[] = {
		{"http://host/mcp?api_key=abcd1234&lang=english", "abcd1234", "english"},
		{"http://host/mcp?lang=english&access_token=abcd%2F1234#top", "abcd/1234",
	         "english"},
		{"http://host/mcp?access_token=abcd%2F1234", "abcd%2f1234", "access"},
		{"https://user:pa%40ss@host:8000/mcp", "pa@ss", "user"},
		{"https://user:pa%40ss@host:8000/mcp", "dXNlcjpwYUBzcw==", "host"},
		{"http://host/mcp?code=abcd1234", "abcd1234", "code"},
		{"http://host/mcp?jwt=abcd1234", "abcd1234", "host"},
		{"http://host/mcp#access_token=abcd1234&type=bearer", "abcd1234", "bearer"},
		{"http://host/mcp?a=b#jwt=abcd1234", "abcd1234", "host"},
		{"me:hunter2@host:8000/mcp", "hunter2", "host:8000"},
		{"ws://host/p@th/ws?map=8x8", NULL, "host/p"},
		{"builtin:frozen_lake?fault=frozen", NULL, "frozen"},
		{"stdio:srv --api-key abcd1234 --port 8000", "abcd1234", "8000"},
		{"stdio:srv --token=abcd1234 --mode=fast", "abcd1234", "fast"},
		{"stdio:API_KEY=abcd1234 srv there", "abcd1234", "there"},
		{"stdio:docker run -e API_KEY=abcd1234 image", "abcd1234", "image"},
		{"stdio:API_KEY='ab cd'\\''12' srv", "ab cd'12", "ab cd12"},
		{"stdio:cd /srv/here && exec srv \"--password=ab \\\"cd\"", "ab \"cd", "/srv/here"},
		{"stdio:srv --token --verbose", NULL, "--verbose"},
		{"stdio:npx remote https://h/mcp --header 'Authorization: Bearer abcd1234'",
	         "abcd1234", "Bearer"},
		{"stdio:srv --url=https://me:hunter2@h/x?token=abcd1234&y=long", "hunter2", "long"},
		{"stdio:srv postgres://me:hunter2@h/base", "hunter2", "base"},
		{"stdio:npx npm:package@latest", NULL, "package"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct secrets *s = secrets_new();

		credentials_add_target(s, rows[i].target);
		ok(!rows[i].secret || hides(s, rows[i].secret), "%s: a value is secret",
		   rows[i].target);
		ok(!hides(s, rows[i].innocent), "%s: %s is not", rows[i].target, rows[i].innocent);
		secrets_free(s);
	}
}

struct spelling {
	const char *secret, *text, *want;
};

static void redact_each(const struct spelling *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct secrets *s = secrets_new();
		struct buf out = BUF(4096);

		ok(secrets_add(s, str_from(rows[i].secret)), "%s is a secret", rows[i].secret);
		secrets_redact(s, str_from(rows[i].text), &out);
		is_str(buf_cstr(&out), rows[i].want, "and disappears from %s", rows[i].text);
		buf_release(&out);
		secrets_free(s);
	}
}

/* Every spelling that a peer may use. */
static void spellings(void)
{
	static const struct spelling rows[] = {
		{"p\"w/1\\n", "it is p\"w/1\\n.", "it is <redacted>."},
		{"p\"w/1\\n", "it is p\\\"w\\/1\\\\n.", "it is <redacted>."},
		{"p\"w/1\\n", "it is p\\\\\\\"w/1\\\\\\\\n.", "it is <redacted>."},
		{"p\"w/1\\n", "it is p%22w%2F1%5cn.", "it is <redacted>."},
		{"p\"w/1\\n", "it is p%2522w%252F1%255Cn.", "it is <redacted>."},
		{"p\"w/1\\n", "it is p&quot;w/1\\n.", "it is <redacted>."},
		{"p\"w/1\\n", "it is p&amp;#34;w&#x2f;1\\n.", "it is <redacted>."},
		{"p\"w/1\\n", "it is \\x70\\x22w/1\\x5cn.", "it is <redacted>."},
		{"p\"w/1\\n", "p\"w/1 n", "p\"w/1 n"},
		{"one two%three", "one+two%25three", "<redacted>"},
		{"one two%three", "one%20two%three", "<redacted>"},
		{"s\xc3\xa9"
	         "cret\xf0\x9f\x94\x91",
	         "s\\u00e9cret\\ud83d\\udd11!", "<redacted>!"},
		{"s\xc3\xa9"
	         "cret\xf0\x9f\x94\x91",
	         "s\\\\u00E9cret\\\\ud83d\\\\udd11!", "<redacted>!"},
		{"s\xc3\xa9"
	         "cret\xf0\x9f\x94\x91",
	         "s&#233;cret&#x1f511;!", "<redacted>!"},
		{"s\xc3\xa9"
	         "cret\xf0\x9f\x94\x91",
	         "s%C3%A9cret%F0%9F%94%91!", "<redacted>!"},
		{"hunter2hunter2", "aHVudGVyMmh1bnRlcjI=", "<redacted>I="},
		{"hunter2hunter2", "eDpodW50ZXIyaHVudGVyMg==", "eDp<redacted>g=="},
		{"hunter2hunter2", "eHg6aHVudGVyMmh1bnRlcjI=", "eHg6<redacted>I="},
		{"hunter2", "(68756E74657232)68756e74657232", "(<redacted>)<redacted>"},
		{"\xff\xfe\xfd\xfc??"
	         ">>",
	         "__79_D8_Pj4", "<redacted>4"},
		{"line one is long\nshort\nline two is long", "1 line two is long", "1 <redacted>"},
		{"{\"user\":\"someone\",\"pass\":\"hunter2hunter2\"}", "someone has hunter2hunter2",
	         "someone has <redacted>"},
		{"  hunter2\n", "(hunter2)", "(<redacted>)"},
		/* escapes of what is no character */
		{"hunter2hunter2", "hunter2hu\\u{110000}, hunter2hunter2",
	         "<redacted>\\u{110000}, <redacted>"},
		{"hunter\\u{110000}2", "it is hunter\\u{110000}2.", "it is <redacted>."},
		{"hunter\\ud800\\u00412", "it is hunter\\\\ud800\\\\u00412.", "it is <redacted>."},
	};

	redact_each(rows, ARRAY_LEN(rows));
}

/* Truncated, wrapped or escaped in part. */
static void parts(void)
{
	static const struct spelling rows[] = {
		{"hunter2hunter2", "(hunter2h", "(<redacted>"},
		{"hunter2hunter2", "(hunter2h...)", "(<redacted>...)"},
		{"hunter2hunter2hunter2", "(hunter2h...)", "(hunter2h...)"},
		{"hunter2hunter2", "(hunter2", "(hunter2"},
		{"0123456789abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOP",
	         "it begins 0123456789abcdefghijklmn..", "it begins <redacted>.."},
		/* wrapped */
		{"hunter2hunter2", "(hunter2\nhunter2)", "(<redacted>)"},
		{"hunter2hunter2", "(hunter2\r\n    hunter2)", "(<redacted>)"},
		{"hunter2hunter2", "(hunter2\\nhunter2)", "(<redacted>)"},
		{"hunter2hunter2", "(h\nunter2hunter2\n)", "(<redacted>\n)"},
		{"hunter2hunter2", "(aHVudGVyMmh1\r\nbnRlcjI=)", "(<redacted>I=)"},
		{"hunter2hunter2", "(hunter2 hunter2)", "(hunter2 hunter2)"},
		{"hunter2hunter2", "68 75 6e 74 65 72 32 68  75 6e 74 65 72 32 ", "<redacted> "},
		{"hunter2hunter2", "68:75:6E:74:65:72:32:68:75:6E:74:65:72:32", "<redacted>"},
		{"hunter2hunter2", "6875 6e74 6572 3268 756e 7465 7232", "<redacted>"},
		{"1234", "[31, 32, 33, 34]", "[31, 32, 33, 34]"},
		/* an escape that is cut short, and ends that look like one */
		{"hunter2%41", "(hunter2%41)(hunter2A)(hunter2%2541)",
	         "(<redacted>)(<redacted>)(<redacted>)"},
		{"hunter2hunter2%4", "(hunter2hunter2%41)", "(<redacted>1)"},
		{"hunter2\\", "{\"key\":\"hunter2\\\\\"}", "{\"key\":\"<redacted>\\\"}"},
		{"ab\"c%22d", "ab%255C%2522c%25255c%252522d", "<redacted>"},
	};

	redact_each(rows, ARRAY_LEN(rows));
}

static void overlaps(void)
{
	struct secrets *s = secrets_new();
	struct buf out = BUF(256);

	secrets_add(s, STR("abcdef"));
	secrets_add(s, STR("defghi"));
	secrets_add(s, STR("efgh"));
	secrets_redact(s, STR("<abcdefghi>abcdefgh<efgh"), &out);
	is_str(buf_cstr(&out), "<<redacted>><redacted><<redacted>",
	       "secrets that overlap go as one");
	buf_release(&out);
	secrets_free(s);
}

static void texts(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", ""},
		{"nothing here", "nothing here"},
		{"hunter2hunter22", "<redacted><redacted>"}, /* the longest secret first */
		{"xhunter2", "x<redacted>"},
		{"hunter", "hunter"},
		{"a \"q\"/uote here", "a <redacted> here"},
		{"a \\\"q\\\"/uote here", "a <redacted> here"},
		{"a \\\"q\\\"\\/uote here", "a <redacted> here"},
	};
	struct secrets *s = secrets_new();

	ok(!secrets_add(s, STR("abc")), "3 bytes are too few for a secret");
	ok(!secrets_add(s, STR("\\\\\\\\")),
	   "a run of backslashes, which escapes may add, counts as one");
	ok(secrets_add(s, STR("hunter2")) && secrets_add(s, STR("hunter22")), "4 are not");
	ok(secrets_add(s, STR("\"q\"/uote")) && secrets_add(s, STR("\xff\xfe\xfd\xfc")),
	   "any bytes");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF(256);

		secrets_redact(s, str_from(rows[i].text), &out);
		is_str(buf_cstr(&out), rows[i].want, "%s", rows[i].text);
		buf_release(&out);
	}
	struct buf out = BUF(256);
	secrets_redact(NULL, STR("hunter2"), &out);
	is_str(buf_cstr(&out), "hunter2", "without secrets the text is unchanged");
	buf_release(&out);
	secrets_free(s);
	secrets_free(NULL);
}

static void lines(void)
{
	static const struct {
		const char *observation, *want;
	} rows[] = {
		{"\"the key is hunter2.\"", "\"the key is <redacted>.\""},
		{"\"the key is h\\u0075nter2.\\n\"", "\"the key is <redacted>.\\n\""},
		{"{\"hunter2\":[1,\"hunter22\"]}", "{\"<redacted>\":[1,\"<redacted>\"]}"},
		{"{\"pin\":-12345678.5}", "{\"pin\":\"<redacted>\"}"},
		{"[null,true,\"null\"]", "[null,true,\"<redacted>\"]"},
		{"\"{\\\"p\\\":\\\"\\\\\\\"q\\\\\\\"/uote\\\"}\"",
	         "\"{\\\"p\\\":\\\"<redacted>\\\"}\""},
		{"\"\\ud800 hunter2\"", "\"<redacted>\""},
		{"\"\\ud800 other\"", "\"\\ud800 other\""},
		{"\"a\\\\hunter2\\\\b\"", "\"a\\\\<redacted>\\\\b\""},
		{"\"\\nhunter\"", "\"\\nhunter\""},
	};
	struct secrets *s = secrets_new();

	secrets_add(s, STR("hunter2"));
	secrets_add(s, STR("hunter22"));
	secrets_add(s, STR("12345678"));
	secrets_add(s, STR("null"));
	secrets_add(s, STR("step"));
	secrets_add(s, STR("nhunter"));
	secrets_add(s, STR("\"q\"/uote"));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF(4096), want = BUF(4096), scratch = BUF(4096);
		struct line l = {.type = LINE_STEP}, back;
		struct error err = {0};
		size_t used, sizes[KEY_COUNT];

		l.value[KEY_ROLLOUT] = STR("\"r.0\"");
		l.value[KEY_OUTCOME] = STR("\"ok\"");
		l.value[KEY_OBSERVATION] = str_from(rows[i].observation);
		secrets_redact_line(s, &l, &out, sizes);
		is_int(line_parse(buf_view(&out), &scratch, &back, &used, &err), 0,
		       "%s: still a valid line %s", rows[i].observation, err.text);
		buf_str(&want, back.value[KEY_OBSERVATION]);
		is_str(buf_cstr(&want), rows[i].want, "with the secret replaced");
		is_int(back.type, LINE_STEP, "words of the format are unchanged");
		buf_release(&out);
		buf_release(&want);
		buf_release(&scratch);
	}
	secrets_free(s);
}

/* A value grows when short secrets in it are replaced: one that then has no room is not cut. */
static void no_room(void)
{
	struct secrets *s = secrets_new();
	struct buf value = BUF(4096), out = BUF(2048);
	struct line l = {.type = LINE_STEP};
	size_t sizes[KEY_COUNT];

	secrets_add(s, STR("abcd"));
	buf_char(&value, '"');
	for (int i = 0; i < 1600; i += 4)
		buf_text(&value, i < 400 ? "abcd" : "----");
	buf_char(&value, '"');
	l.value[KEY_ROLLOUT] = STR("\"r.0\"");
	l.value[KEY_STATE] = buf_view(&value);
	l.value[KEY_OBSERVATION] = STR("\"abcd\"");
	secrets_redact_line(s, &l, &out, sizes);
	ok(out.full, "a line that became too long has no room, whatever follows in it");
	buf_release(&value);
	buf_release(&out);
	secrets_free(s);
}

int main(void)
{
	headers();
	targets();
	spellings();
	parts();
	overlaps();
	texts();
	lines();
	no_room();
	return done();
}
