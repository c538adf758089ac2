/* Lines whose shape is known: the same as when they are parsed. */
#include "base/buf.h"
#include "guard.h"
#include "line_shapes.h"
#include "tap.h"

#define GUARDED ((size_t)64 << 10)

/* %s are scalars. */
#define STEP                                                                                       \
	"{\"type\":\"step\",\"rollout\":%s,\"turn\":%s,\"step\":0,\"state\":{\"page\":%s,"         \
	"\"visited\":[1,2]},\"state_hash\":null,\"messages\":[{\"role\":\"tool\",\"content\":%s}]" \
	",\"tool_call\":{\"id\":\"c0\",\"name\":\"go\",\"arguments\":{\"page\":1}},"               \
	"\"observation\":%s,\"outcome\":%s,\"error\":null,\"reward\":%s,\"terminated\":%s,"        \
	"\"truncated\":false,\"env_steps\":1,\"meta\":{}}"
#define PLACES 8

static const char *const usual[PLACES] = {"\"r1\"",   "7",      "\"p\"", "\"text\"",
                                          "\"seen\"", "\"ok\"", "0.5",   "false"};

struct comparison {
	struct guard guard;
	struct line_shapes *shapes;
	size_t lines, valid, wrong;
};

static void compare(struct comparison *c, struct str line)
{
	bool valid;
	struct str text = guard_put(&c->guard, line);

	c->lines++;
	if (!line_shapes_agree(c->shapes, text, &valid)) {
		tap_note("line", line.p);
		c->wrong++;
	}
	c->valid += valid;
}

static struct comparison begin(void)
{
	return (struct comparison){.guard = guard_new(GUARDED), .shapes = line_shapes_new()};
}

static void end(struct comparison *c, size_t valid, const char *what)
{
	ok(c->wrong == 0, "%s: %zu lines give the same", what, c->lines);
	ok(c->valid >= valid, "%s: %zu of them are valid", what, c->valid);
	line_shapes_free(c->shapes);
	guard_free(&c->guard);
}

static void put_step(struct buf *out, const char *scalar, size_t place)
{
	const char *s[PLACES];

	memcpy(s, usual, sizeof(s));
	s[place] = scalar;
	buf_clear(out);
	buf_printf(out, STEP, s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]);
}

static void scalars(void)
{
	static const char *const list[] = {
		"0",
		"-1",
		"1.0",
		"1e2",
		"12345",
		"01",
		"1.",
		"true",
		"false",
		"null",
		"nul",
		"[]",
		"[1,\"a\"]",
		"[1,]",
		"{}",
		"{\"a\":1}",
		" 1",
		"1 ",
		"",
		"\"\"",
		"\"ok\"",
		"\"o\\u006b\"",
		"\"capacity\"",
		"\"none\"",
		"\"a\\/b\"",
		"\"\\ud800\"",
		"\"\\x\"",
		"\"\xff\"",
		"\"a\tb\"",
		"\"open",
		"\"caf\xc3\xa9 in a text of more than 64 bytes, with \\\"escapes\\\" and \\n more\"",
	};
	struct comparison c = begin();
	struct buf line = BUF(GUARDED);

	for (size_t place = 0; place < PLACES; place++) {
		for (size_t i = 0; i < ARRAY_LEN(list); i++) {
			put_step(&line, list[i], place);
			compare(&c, buf_view(&line));
			put_step(&line, usual[place], place);
			compare(&c, buf_view(&line));
		}
	}
	buf_release(&line);
	end(&c, PLACES * ARRAY_LEN(list), "scalars of all kinds");
}

/* Every byte is replaced, and every beginning ends the text. */
static void changed_bytes(void)
{
	static const char bytes[] = " \n\r\"\\{}[],:x1\x80\x01";
	struct comparison c = begin();
	struct buf line = BUF(GUARDED);

	put_step(&line, usual[0], 0);
	const struct str whole = buf_view(&line);
	for (size_t i = 0; i < whole.n; i++) {
		const char was = line.p[i];

		for (size_t k = 0; k < sizeof(bytes); k++) {
			line.p[i] = bytes[k];
			compare(&c, whole);
			line.p[i] = was;
			compare(&c, whole);
		}
		compare(&c, (struct str){whole.p, i});
	}
	buf_release(&line);
	end(&c, 5000, "bytes replaced");
}

static void other_lines(void)
{
	static const char *const list[] = {
		"{\"type\":\"reset\",\"rollout\":\"a\",\"outcome\":\"ok\",\"observation\":1}",
		"{\"type\":\"end\",\"rollout\":\"a\",\"status\":\"completed\",\"state\":{\"a\":1}}",
		"{\"type\":\"end\",\"rollout\":\"a\",\"status\":\"nonsense\",\"state\":{\"a\":1}}",
		"{\"type\":\"event\",\"rollout\":\"a\",\"event\":\"retry\",\"detail\":{}}",
		"{\"type\":\"event\",\"rollout\":\"a\",\"event\":\"something\",\"detail\":{}}",
		"{\"type\":\"header\",\"rollout\":\"a\",\"format\":\"rolldbg\",\"version\":1}",
		"{\"type\":\"header\",\"rollout\":\"a\",\"format\":\"rolldbg\",\"version\":9}",
		"{\"type\":\"step\",\"turn\":1}",
		"{\"type\":\"step\",\"rollout\":\"a\",\"turn\":1,\"turn\":2}",
		"{\"type\":\"step\",\"rollout\":\"a\",\"type\":\"end\"}",
		"{\"type\":\"step\",\"turn\":1,\"rollout\":\"a\"}",
		"{\"type\":\"step\",\"rollout\":\"a\",\"ours\":1,\"turn\":1}",
		"{\"type\":\"step\",\"rollout\":\"a\\u0062\",\"turn\":1}",
		"{\"type\":\"other\",\"rollout\":\"a\",\"turn\":1}",
		"{\"rollout\":\"a\",\"type\":\"step\",\"turn\":1}",
		"{\"type\":\"step\",\"rollout\":\"a\",\"turn\":1} {\"type\":\"step\"}",
		" {\"type\":\"step\",\"rollout\":\"a\",\"turn\":1}\n",
		"[]",
		"",
	};
	struct comparison c = begin();

	for (size_t i = 0; i < 5 * ARRAY_LEN(list); i++) {
		compare(&c, str_from(list[i % ARRAY_LEN(list)]));
	}
	end(&c, 40, "lines of all types");
}

int main(void)
{
	scalars();
	changed_bytes();
	other_lines();
	return done();
}
