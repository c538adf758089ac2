/* Processing time is linear in the size of a peer's data: the work for 4n is at most five
   times that for n, for each kind of data. Work is the number of basic blocks executed,
   counted by the compiler's instrumentation (see the Makefile): no time is measured. */
#include "base/names.h"
#include "json/arguments.h"
#include "json/diff.h"
#include "policy/draw.h"
#include "protocol/jsonrpc.h"
#include "protocol/sse.h"
#include "protocol/tool_list.h"
#include "scaling.h"
#include "verdicts.h"

/* ---- schemas and arguments ---- */

static void check_arguments(const char *schema_row, const char *required, int n)
{
	struct buf schema = text(), arguments = text();
	struct arena arena = {0};
	struct error err;

	repeat(&schema, "{\"properties\":{", schema_row, "},", n, false);
	repeat(&schema, "\"required\":[", required, "]}", n, false);
	repeat(&arguments, "{", "\"k%d\":\"w\"", "}", n, true);
	const struct arguments_schema *s = arguments_read(&arena, buf_view(&schema));
	(void)!arguments_check(s, buf_view(&arguments), &err);
	arena_release(&arena);
	buf_release(&schema);
	buf_release(&arguments);
}

static void properties(int n)
{
	check_arguments("\"k%d\":{\"type\":\"string\"}", "\"k%d\"", n);
}

static void required_alone(int n)
{
	check_arguments("\"p%d\":{\"type\":\"string\"}", "\"k%d\"", n);
}

static void words(int n)
{
	struct buf schema = text();
	struct arena arena = {0};
	struct error err;

	repeat(&schema, "{\"properties\":{\"k\":{\"enum\":[", "\"word%d\"", "]}}}", n, false);
	const struct arguments_schema *s = arguments_read(&arena, buf_view(&schema));
	(void)!arguments_check(s, STR("{\"k\":\"ward7\"}"), &err);
	arena_release(&arena);
	buf_release(&schema);
}

static void draw(const char *property, const char *required, int n)
{
	struct named_values none = {.count = 0};
	struct buf schema = text(), out = text();
	struct rng r;

	rng_seed(&r, 1, 0);
	repeat(&schema, "{\"properties\":{", property, "},", n, false);
	repeat(&schema, "\"required\":[", required, "]}", n, true);
	draw_arguments(&r, buf_view(&schema), &none, &out);
	buf_release(&schema);
	buf_release(&out);
}

static void draw_properties(int n)
{
	draw("\"k%d\":{\"type\":\"boolean\"}", "\"k%d\"", n);
}

static void draw_unknown(int n)
{
	draw("\"p%d\":{\"type\":\"boolean\"}", "\"k%d\"", n);
}

/* ---- values that are compared ---- */

static void tools_changed(int n)
{
	static const char tool[] = "{\"name\":\"t%d\",\"inputSchema\":{\"type\":\"object\"}}";
	struct buf before = text(), now = text(), detail = text();

	repeat(&before, "[", tool, "]", n, false);
	repeat(&now, "[", tool, "]", n, true);
	(void)tools_differ(buf_view(&before), buf_view(&now), &detail);
	buf_release(&before);
	buf_release(&now);
	buf_release(&detail);
}

static bool take_difference(void *ctx, const struct json_difference *d)
{
	(void)ctx, (void)d;
	return true;
}

static void compare(const char *open, const char *row, const char *other, const char *close, int n)
{
	struct buf before = text(), now = text();

	repeat(&before, open, row, close, n, false);
	repeat(&now, open, other, close, n, true);
	(void)json_equal(buf_view(&before), buf_view(&now));
	json_diff(buf_view(&before), buf_view(&now), NULL, take_difference, NULL);
	buf_release(&before);
	buf_release(&now);
}

static void members(int n)
{
	compare("{", "\"k%d\":1", "\"k%d\":2", "}", n);
}

static void elements(int n)
{
	compare("[", "%d", "[%d]", "]", n);
}

/* Levels around elements: each level used to read all of them again. */
static struct buf nested(int levels, int n, int last)
{
	struct buf out = text();

	for (int i = 0; i < levels; i++)
		buf_text(&out, i % 2 ? "{\"k\":" : "[");
	repeat(&out, "[", "[]", ",", n, false);
	buf_printf(&out, "%d]", last);
	for (int i = levels; i-- > 0;)
		buf_text(&out, i % 2 ? "}" : "]");
	return out;
}

static void levels(int n)
{
	struct buf before = nested(n / 10, n, 1), now = nested(n / 10, n, 2);

	json_diff(buf_view(&before), buf_view(&now), NULL, take_difference, NULL);
	buf_release(&before);
	buf_release(&now);
}

/* ---- streams ---- */

static void events(int n)
{
	struct buf stream = text();
	struct sse_event event;
	struct sse sse;

	repeat(&stream, "", "id: %d\ndata: {}\ndata: x\n\n", "", n, false);
	sse_init(&sse, BUF_MAX_MESSAGE);
	for (size_t i = 0; i < stream.n; i += 7) { /* in small pieces */
		sse_feed(&sse, (struct str){stream.p + i, stream.n - i < 7 ? stream.n - i : 7});
		while (sse_next(&sse, &event)) {
		}
	}
	sse_release(&sse);
	buf_release(&stream);
}

static void long_event(int n)
{
	struct buf stream = text();
	struct sse_event event;
	struct sse sse;

	repeat(&stream, "", "data: line %d\n", "\n", n, false);
	sse_init(&sse, BUF_MAX_MESSAGE);
	for (size_t i = 0; i < stream.n; i += 7) {
		sse_feed(&sse, (struct str){stream.p + i, stream.n - i < 7 ? stream.n - i : 7});
		while (sse_next(&sse, &event)) {
		}
	}
	sse_release(&sse);
	buf_release(&stream);
}

/* ---- recordings ---- */

#define HEADER(id, rest)                                                                           \
	"{\"type\":\"header\",\"rollout\":\"" id "\",\"format\":\"rolldbg\",\"version\":1,"        \
	"\"state_source\":{\"kind\":\"control-plane\",\"ignore\":[]}," rest "}\n"
#define STEP(id, rest) "{\"type\":\"step\",\"rollout\":\"" id "\",\"outcome\":\"ok\"," rest "}\n"
#define CALL(name)     "\"tool_call\":{\"name\":\"" name "\",\"arguments\":{\"a%d\":1}}"

static void judge(struct buf *lines)
{
	struct verdicts v;
	struct error err;

	verdicts_begin(&v, NULL, NULL);
	if (verdicts_feed(&v, buf_view(lines), &err)) {
		fprintf(stderr, "# %s\n", err.text);
		abort();
	}
	verdicts_end(&v);
	buf_release(lines);
}

static void steps(int n)
{
	struct buf lines = text();

	repeat(&lines, HEADER("a", "\"task\":{\"id\":\"t\"}"),
	       STEP("a",
	            "\"turn\":%d,\"step\":%d,\"state\":{\"at\":%d},\"state_hash\":\"%d\"," CALL(
			    "act") ",\"observation\":\"at %d\",\"env_steps\":%d"),
	       "", n, false);
	judge(&lines);
}

static void failures(int n)
{
	struct buf lines = text();

	repeat(&lines, HEADER("a", "\"task\":{\"id\":\"t\"}"),
	       "{\"type\":\"step\",\"rollout\":\"a\",\"outcome\":\"tool-error\",\"turn\":%d,"
	       "\"step\":%d," CALL("act") ",\"error\":{\"message\":\"no %d\"}}\n",
	       "", n, false);
	judge(&lines);
}

static void rollouts(int n)
{
	struct buf lines = text();

	repeat(&lines, "",
	       HEADER("r%d",
	              "\"task\":{\"id\":\"t%d\"},\"tools\":[],\"meta\":{\"session\":\"session-%d\"}"),
	       "", n, false);
	judge(&lines);
}

static void tools(int n)
{
	struct buf lines = text();

	repeat(&lines, HEADER("a", "\"tools\":[], \"x\":0"), "", "", 0, false);
	buf_clear(&lines);
	buf_text(&lines,
	         "{\"type\":\"header\",\"rollout\":\"a\",\"format\":\"rolldbg\",\"version\":1,");
	repeat(&lines, "\"tools\":[",
	       "{\"name\":\"t%d\",\"inputSchema\":{\"properties\":{\"a%d\":{\"type\":\"integer\"}}}}",
	       "]}\n", n, false);
	repeat(&lines, "", STEP("a", "\"turn\":%d,\"step\":%d," CALL("t%d")), "", n, true);
	judge(&lines);
}

static void wide_states(int n)
{
	struct buf lines = text();

	buf_text(&lines, HEADER("a", "\"task\":{\"id\":\"t\"}"));
	for (int i = 0; i < 4; i++) {
		repeat(&lines,
		       i % 2 ? "{\"type\":\"step\",\"rollout\":\"a\",\"turn\":1,\"step\":1,"
		               "\"state_hash\":\"1\",\"outcome\":\"ok\",\"state\":{"
		             : "{\"type\":\"step\",\"rollout\":\"a\",\"turn\":1,\"step\":1,"
		               "\"state_hash\":\"2\",\"outcome\":\"ok\",\"state\":{",
		       i % 2 ? "\"k%d\":1" : "\"k%d\":2", "}}\n", n, i % 2);
	}
	judge(&lines);
}

static void prompt(int n)
{
	struct buf lines = text();

	buf_text(&lines,
	         "{\"type\":\"header\",\"rollout\":\"a\",\"format\":\"rolldbg\",\"version\":1,");
	repeat(&lines, "\"tools\":[", "{\"name\":\"tool_%d\",\"inputSchema\":{}}", "]}\n", n / 8,
	       false);
	repeat(&lines,
	       "{\"type\":\"reset\",\"rollout\":\"a\",\"outcome\":\"ok\",\"messages\":[{\"content\":\"",
	       "`name_%d` ", "\"}]}\n", n, false);
	judge(&lines);
}

static void events_of_a_rollout(int n)
{
	struct buf lines = text();

	repeat(&lines, HEADER("a", "\"task\":{\"id\":\"t\"}"),
	       "{\"type\":\"event\",\"rollout\":\"a\",\"turn\":%d,\"event\":\"tools-changed\","
	       "\"detail\":{\"removed\":[\"t%d\"],\"changed\":[\"u%d\"]}}\n",
	       "", n, false);
	judge(&lines);
}

static const struct scaling_case cases[] = {
	{"properties of a schema, all required, and their arguments", properties},
	{"required arguments that are not properties", required_alone},
	{"words of an enum, and a wrong one", words},
	{"required properties that are drawn", draw_properties},
	{"required names without a schema that are drawn", draw_unknown},
	{"tools of a list that changed", tools_changed},
	{"members of two objects", members},
	{"elements of two arrays", elements},
	{"levels around elements", levels},
	{"events of a stream", events},
	{"lines of one event", long_event},
	{"steps of a rollout", steps},
	{"failed steps", failures},
	{"rollouts that are open", rollouts},
	{"tools, and calls of them", tools},
	{"members of states", wide_states},
	{"names in a prompt", prompt},
	{"events of a rollout", events_of_a_rollout},
};

int main(void)
{
	scaling_run(cases, ARRAY_LEN(cases));
	return done();
}
