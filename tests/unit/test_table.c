/* The table output: color marks, changes within a line, and rows that keep to the width for
   any content. */
#include "base/text.h"
#include "report/brief.h"
#include "report/changes.h"
#include "report/report.h"
#include "tap.h"

#include <stdlib.h>

/* ---- marks ---- */

static void test_marks(void)
{
	static const struct {
		const char *text, *marked;
	} rows[] = {
		{"plain", "plain"},
		{"\x1b[41mS\x1b[0mFFF", "[S]FFF"},
		{"\\u001b[41mS\\u001b[0mFFF", "[S]FFF"},
		{"\\u001B[41mS\\u001B[0m", "[S]"},
		{"\x1b[34;1mR\x1b[0m|\x1b[43m \x1b[0m|\x1b[35mB\x1b[0m", "<R>|[ ]|<B>"},
		{"\x1b[0m\x1b[01;34mdir\x1b[0m file", "<dir> file"},
		{"\x1b[7mx\x1b[27my", "[x]y"},
		{"\x1b[1mbold\x1b[22m", "bold"},
		{"\x1b[48;5;196mA\x1b[49mB", "[A]B"},
		{"\x1b[38;2;255;0;7mA\x1b[39mB", "<A>B"},
		{"\x1b[31;44mA\x1b[49mB\x1b[39mC", "[A]<B>C"},
		{"\x1b[41mto the end", "[to the end]"},
		{"\x1b[mx", "x"},
		{"\x1b[2J\x1b]0;title\x07", "\x1b[2J\x1b]0;title\x07"},
		{"\x1b[41", "\x1b[41"},
		{"\x1b[41\x1b[0m", "\x1b[41"},
		{"", ""},
	};
	struct buf out = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&out);
		marks_add(&out, str_from(rows[i].text));
		is_str(buf_cstr(&out), rows[i].marked, "marks: %s", rows[i].marked);
	}
	buf_release(&out);
}

/* ---- values ---- */

static void test_brief(void)
{
	static const struct {
		const char *json, *brief;
	} rows[] = {
		{"\"DOWN\"", "DOWN"},
		{"\"two words\"", "\"two words\""},
		{"\"\"", "\"\""},
		{"\"1\"", "\"1\""},
		{"\"-1.5\"", "\"-1.5\""},
		{"\"true\"", "\"true\""},
		{"\"null\"", "\"null\""},
		{"\"caf\u00e9\"", "caf\u00e9"},
		{"\"/tmp/a.txt\"", "/tmp/a.txt"},
		{"1.0", "1.0"},
		{"{ \"a\": [1, \"b c\", \"d\\\" e\"] }", "{\"a\":[1,\"b c\",\"d\\\" e\"]}"},
	};
	struct buf out = BUF(BUF_MAX_SMALL);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&out);
		brief_value(&out, str_from(rows[i].json));
		is_str(buf_cstr(&out), rows[i].brief, "brief: %s", rows[i].json);
	}
	buf_clear(&out);
	brief_text(&out, STR("\"two words\\n\""));
	is_str(buf_cstr(&out), "two words\n", "text without other values has no quotes");
	static const char *const objects[][2] = {
		{"{\"metadata\":{},\"message\":\"\", \"b\":[], \"board\":\"x o\",\"n\":null}",
	         "{..,\"board\":\"x o\",\"n\":null}"},
		{"{\"a\":1,\"b\":null}", "{\"a\":1,\"b\":null}"},
		{"{\"a\":{},\"b\":null}", "{\"a\":{},\"b\":null}"},
		{"{}", "{}"},
	};
	for (size_t i = 0; i < ARRAY_LEN(objects); i++) {
		buf_clear(&out);
		brief_text(&out, str_from(objects[i][0]));
		is_str(buf_cstr(&out), objects[i][1], "cell: %s", objects[i][0]);
	}
	buf_release(&out);
}

/* ---- what changed ---- */

static void test_changes(void)
{
	static const struct {
		const char *before, *after;
		size_t columns;
		const char *said;
	} rows[] = {
		{"{\"position\":4}", "{\"position\":8}", 20, "position 4 -> 8"},
		{"{\"position\":4}", "{\"position\":8}", 14, "changed"},
		{"{\"a\":{\"x\":1}}", "{\"a\":{\"x\":2}}", 20, "a/x 1 -> 2"},
		{"{\"agent\":{\"x\":1}}", "{\"agent\":{\"x\":2}}", 13, "\u2026x 1 -> 2"},
		{"{\"door\":\"locked\"}", "{\"door\":\"open\"}", 30, "door locked -> open"},
		{"{\"a\":1,\"b\":1}", "{\"a\":2,\"b\":2}", 30, "a 1 -> 2, b 1 -> 2"},
		{"{\"a\":1,\"b\":1,\"c\":1}", "{\"a\":2,\"b\":2,\"c\":2}", 20, "a 1 -> 2, +2 more"},
		{"{\"a\":1,\"b\":1,\"c\":1}", "{\"a\":2,\"b\":2,\"c\":2}", 12, "a 1 -> 2 +2"},
		{"{\"clock\":1,\"position\":4}", "{\"clock\":2,\"position\":8}", 24,
	         "position 4 -> 8, +1 more"},
		{"{\"done\":false,\"x\":1}", "{\"done\":true,\"x\":2}", 17, "x 1 -> 2, +1 more"},
		{"{\"items\":[1]}", "{\"items\":[1,{\"id\":7}]}", 30, "+items/1 {\"id\":7}"},
		{"{\"items\":[1,2]}", "{\"items\":[1]}", 30, "-items/1 2"},
		{"{\"items\":{}}", "{\"items\":{\"key\":\"a long value\"}}", 12, "+items/key"},
		{"{\"h\":\"0123456789abcdef0\"}", "{\"h\":\"f123456789abcdef0\"}", 60, "h changed"},
		{"{\"a\":1}", "{\"a\":[1,2]}", 30, "a changed"},
		{"5", "6", 20, "5 -> 6"},
		{"\"x\"", "null", 20, "changed"},
		{"null", "{}", 20, "changed"},
		{"{\"\u51b0\":1}", "{\"\u51b0\":2}", 9, "\u51b0 1 -> 2"},
		{"{\"\u51b0\":1}", "{\"\u51b0\":2}", 8, "changed"},
		{"{\"a\":\"\\u001b[2J\"}", "{\"a\":\"x\"}", 30, "a \"\\u001b[2J\" -> x"},
		{"{\"hidden\":1,\"x\":1}", "{\"hidden\":2,\"x\":2}", 30, "x 1 -> 2"},
	};
	struct json_paths *ignored = json_paths_new(false);
	struct changes changes = {.count = 0};
	struct buf out = BUF(BUF_MAX_SMALL);
	struct error err;

	ok(!json_paths_add(ignored, STR("/hidden"), &err), "a pointer");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&out);
		changes_find(&changes, str_from(rows[i].before), str_from(rows[i].after), ignored);
		size_t cells = changes_add(&out, &changes, rows[i].columns);
		is_str(buf_cstr(&out), rows[i].said, "in %zu cells", rows[i].columns);
		is_int(cells, text_cells(buf_view(&out)), "and the reported width is right");
	}
	json_paths_free(ignored);
	changes_release(&changes);
	buf_release(&out);
}

/* ---- rows ---- */

#define HEADER                                                                                      \
	"{\"type\":\"header\",\"rollout\":\"\u51b0\u6e56.0\",\"format\":\"rolldbg\",\"version\":1," \
	"\"env\":{\"protocol\":\"mcp-gym\",\"name\":\"lake\"},"                                     \
	"\"policy\":{\"name\":\"a name of several words that goes on for long\"}}"
#define STEP(rest) "{\"type\":\"step\",\"rollout\":\"\u51b0\u6e56.0\"," rest "}"

static const char *const hostile[] = {
	HEADER,
	STEP("\"turn\":0,\"step\":0,\"state\":{\"position\":0},\"state_hash\":\"a\","
             "\"tool_call\":{\"name\":\"lake_move\",\"arguments\":{\"action\":\"DOWN\"}},"
             "\"observation\":\"\U0001f468\u200d\U0001f469\u200d\U0001f467 \u51b0\u6e56 \\n\\t "
             "\\u001b[41mS\\u001b[0mFFF \\u001b[2J\",\"outcome\":\"ok\",\"reward\":0.25"),
	STEP("\"turn\":1,\"step\":1,\"state\":{\"position\":4,\"\u6c34\":1},\"state_hash\":\"b\","
             "\"tool_call\":{\"name\":\"\u79fb\u52d5\","
             "\"arguments\":{\"\u65b9\u5411\":\"\u4e0b \u4e0b\"}},"
             "\"observation\":null,\"outcome\":\"transport-error\","
             "\"error\":{\"message\":\"connection \\u001b]0;x\\u0007 refused\"},"
             "\"reward\":0.1234567890123456"),
	STEP("\"turn\":123456,\"step\":2,\"state\":{\"position\":8},\"state_hash\":\"c\","
             "\"tool_call\":{\"name\":\"a_tool_with_quite_a_long_name_and_then_some\","
             "\"arguments\":null},\"observation\":{\"a\": 1},\"outcome\":\"ok\","
             "\"reward\":-12345678901234567890"),
	"{\"type\":\"event\",\"rollout\":\"\u51b0\u6e56.0\",\"turn\":2,\"event\":\"retry\","
	"\"detail\":{\"why\":\"\u51b0\u6e56 a long sentence that says why there was one more try\"}}",
	STEP("\"turn\":3,\"step\":null,\"state\":{\"position\":8},\"state_hash\":\"c\","
             "\"messages\":[{\"role\":\"assistant\",\"content\":\"\u6211\u4e0d\u77e5\u9053\"}],"
             "\"tool_call\":null,\"outcome\":null,\"reward\":null"),
	"{\"type\":\"end\",\"rollout\":\"\u51b0\u6e56.0\",\"status\":\"terminated\","
	"\"reason\":\"the environment said so and went on to say more about it than fits\"}",
};

static void show(size_t columns, bool live, bool color, struct buf *out)
{
	struct table *t = table_new(
		(struct style){.columns = columns, .terminal = true, .color = color}, live);
	const struct evidence_conf conf = {.lenient = true};
	struct evidence *facts = evidence_new(&conf);
	struct buf scratch = BUF(BUF_MAX_SMALL);
	struct evidence_update u;

	for (size_t i = 0; i < ARRAY_LEN(hostile); i++) {
		struct error err = {0};
		struct line l;
		size_t used;

		if (line_parse(str_from(hostile[i]), &scratch, &l, &used, &err) ||
		    evidence_line(facts, &l, NULL, &u, &err)) {
			ok(false, "line %zu is one: %s", i, err.text);
			continue;
		}
		table_line(t, &u, out);
	}
	table_free(t);
	evidence_free(facts);
	buf_release(&scratch);
}

/* The width of the widest line in cells, and the number of lines. */
static size_t widest(struct str text, size_t *lines)
{
	size_t most = 0;

	for (*lines = 0; text.n; ++*lines) {
		const char *end = memchr(text.p, '\n', text.n);
		size_t n = end ? (size_t)(end - text.p) : text.n;
		size_t cells = text_cells((struct str){text.p, n});

		most = cells > most ? cells : most;
		text = str_skip(text, n + 1);
	}
	return most;
}

static void test_widths(bool live)
{
	size_t bad = 0, lines;

	for (size_t columns = 20; columns <= 220 && !bad; columns++) {
		struct buf out = BUF(BUF_MAX_MESSAGE);

		show(columns, live, false, &out);
		bool well = widest(buf_view(&out), &lines) <= columns &&
		            !memchr(out.p, '\x1b', out.n) &&
		            (columns < 40 || strstr(buf_cstr(&out), "observation"));
		bad = well ? 0 : columns;
		if (bad)
			tap_note("table", buf_cstr(&out));
		buf_release(&out);
	}
	is_int(bad, 0, "no line is wider than the terminal, and the observation is there: %s",
	       live ? "live" : "at leisure");
}

static void test_rows(void)
{
	struct buf plain = BUF(BUF_MAX_MESSAGE), color = BUF(BUF_MAX_MESSAGE);
	size_t lines;

	show(120, false, false, &plain);
	show(120, false, true, &color);
	widest(buf_view(&plain), &lines);
	is_int(lines, 8, "a title, a heading, four rows, an event, an end");
	ok(strstr(buf_cstr(&plain), "position 0 -> 4"), "a changed member");
	ok(strstr(buf_cstr(&plain), "[S]FFF"), "a colored cell");
	ok(strstr(buf_cstr(&plain), "\\x1b[2J"), "an escape sequence is escaped");
	ok(strstr(buf_cstr(&plain), "unchanged"), "an unchanged state");
	ok(strstr(buf_cstr(&plain), "said: \u6211\u4e0d\u77e5\u9053"), "a model's message");
	ok(strstr(buf_cstr(&color), "\x1b[31mtransport-error\x1b[0m"), "a failure is red");
	buf_release(&plain);
	buf_release(&color);
}

int main(void)
{
	test_marks();
	test_brief();
	test_changes();
	test_widths(false);
	test_widths(true);
	test_rows();
	return done();
}
