/* Which rollout reads the state twice, and which wait for it: one rollout of a run, another
   one if the server refused it, none if the server does not reply. */
#include "rollout/volatile_members.h"

#include "base/clock.h"
#include "base/log.h"
#include "tap.h"

static struct io *io;

static bool is_mine(struct volatile_members *v)
{
	struct error err = {0};
	bool ours = false;

	ok(volatile_members_wait(v, io, &ours, &err) == 0, "no wait: %s", err.text);
	return ours;
}

/* The pointers, including `ignored`, as in the header. */
static void ignores(struct volatile_members *v, const char *ignored, const char *want)
{
	struct buf json = BUF(BUF_MAX_SMALL);
	struct json_paths *paths = NULL;
	struct error err = {0};

	ok(volatile_members_add(v, str_from(ignored), &json, &paths, &err) == 0, "%s", ignored);
	is_str(buf_cstr(&json), want, "and the members that change without a call");
	json_paths_free(paths);
	buf_release(&json);
}

static int compare(struct volatile_members *v, const char *first, const char *second,
                   const char *ignored)
{
	return volatile_members_compare(
		v, &(struct reading_pair){.first = str_from(first), .second = str_from(second)},
		str_from(ignored));
}

static void test_refused_then_read(void)
{
	struct volatile_members *v = volatile_members_new();

	ok(is_mine(v), "the first rollout reads");
	volatile_members_skip(v, true);
	ok(is_mine(v), "it was refused: the next one reads");
	compare(v, "{\"x\":1,\"now\":5,\"step_count\":0}", "{\"x\":1,\"now\":6,\"step_count\":1}",
	        "[\"/step_count\"]");
	volatile_members_finish(v);
	ok(!is_mine(v), "no third one");
	ignores(v, "[\"/step_count\"]", "[\"/step_count\",\"/now\"]");
	volatile_members_free(v);
}

static void finds(const char *first, const char *second, const char *want)
{
	struct volatile_members *v = volatile_members_new();

	ok(is_mine(v), "the first rollout reads");
	compare(v, first, second, "[]");
	volatile_members_finish(v);
	ignores(v, "[]", want);
	volatile_members_free(v);
}

/* The same with a third state, which is read if words changed. */
static void finds_more(const char *first, const char *second, const char *third, const char *want)
{
	struct volatile_members *v = volatile_members_new();

	ok(is_mine(v), "the first rollout reads");
	ok(compare(v, first, second, "[\"/n\"]") > 2, "a word changed: more reads");
	compare(v, second, third, "[\"/n\"]");
	volatile_members_finish(v);
	ignores(v, "[\"/n\"]", want);
	volatile_members_free(v);
}

/* Members that are only in one of both. */
static void test_keys(void)
{
	finds("{\"x\":1,\"connections\":{\"a1\":\"open\"}}",
	      "{\"x\":1,\"connections\":{\"b2\":\"open\"}}",
	      "[\"/connections/a1\",\"/connections/b2\"]");
}

/* A clock or an id within a text is a word of it, in the state as a whole or in a member. */
static void test_words(void)
{
	finds("\"12:03:44.1 floor 3\"", "\"12:03:44.2 floor 3\"", "[\"/0\"]");
	finds("{\"log\":\"floor 3\\nat 7.25, up\"}", "{\"log\":\"floor 3\\nat 7.31, up\"}",
	      "[\"/log/3\"]");
	finds("\"<a id=\\\"c0ffee12\\\">x</a>\"", "\"<a id=\\\"0badf00d\\\">x</a>\"", "[\"/2\"]");
	/* a text some of whose words are generated: its prose is, too */
	finds("{\"said\":\"Haste favours the 12th\"}", "{\"said\":\"Love favours the 71st\"}",
	      "[\"/said/0\",\"/said/3\"]");
	finds("{\"log\":\"1 day\"}", "{\"log\":\"1 day 2 s\"}", "[\"/log\"]");
	/* JSON in a string is no text */
	finds("\"{\\\"at\\\": 7.25}\"", "\"{\\\"at\\\": 7.31}\"", "[\"/at\"]");
	finds("{\"a\":\"{\\\"at\\\": 7.25, \\\"x\\\": 1}\"}",
	      "{\"a\":\"{\\\"at\\\": 7.31, \\\"x\\\": 1}\"}", "[\"/a/at\"]");
	finds("\"[7.25 s] open\"", "\"[7.31 s] open\"", "[\"/0\"]");
	/* words of prose that were equal by chance at first */
	finds_more("{\"n\":1,\"said\":\"Haste, for the 12th time\"}",
	           "{\"n\":2,\"said\":\"Haste, for the 71st time\"}",
	           "{\"n\":3,\"said\":\"Peace, for the 50th time\"}",
	           "[\"/n\",\"/said/3\",\"/said/0\"]");
	finds_more("\"at 7.25 on floor 3\"", "\"at 7.31 on floor 3\"", "\"at 7.38 on floor 3\"",
	           "[\"/n\",\"/1\"]");
}

static void test_silent(void)
{
	struct volatile_members *v = volatile_members_new();

	ok(is_mine(v), "the first rollout reads");
	volatile_members_skip(v, false);
	ok(!is_mine(v) && !is_mine(v), "no reply: the others continue at once");
	ignores(v, "[]", "[]");
	volatile_members_free(v);
}

/* More members than are tracked at a time, beside one that keeps its value. */
static void test_many(void)
{
	struct volatile_members *v = volatile_members_new();
	struct buf first = BUF(BUF_MAX_MESSAGE), second = BUF(BUF_MAX_MESSAGE);
	struct buf want = BUF(BUF_MAX_MESSAGE);

	buf_text(&first, "{\"floor\":0");
	buf_text(&second, "{\"floor\":0");
	for (size_t i = 100; i < 200; i++) {
		buf_printf(&first, ",\"g%zu\":%zu", i, i);
		buf_printf(&second, ",\"g%zu\":%zu", i, i + 1);
		buf_printf(&want, "%s\"/g%zu\"", i > 100 ? "," : "[", i);
	}
	buf_char(&first, '}');
	buf_char(&second, '}');
	buf_char(&want, ']');
	ok(is_mine(v), "the first rollout reads");
	compare(v, buf_cstr(&first), buf_cstr(&second), "[]");
	volatile_members_finish(v);
	ignores(v, "[]", buf_cstr(&want));
	buf_release(&first);
	buf_release(&second);
	buf_release(&want);
	volatile_members_free(v);
}

int main(void)
{
	struct io_conf conf = {.clock = clock_real(), .stop_fd = -1};
	struct error err = {0};

	log_set_level(LOG_QUIET);
	ok(io_global_init(&err) == 0 && io_new(&conf, &io, &err) == 0, "io: %s", err.text);
	test_refused_then_read();
	test_keys();
	test_words();
	test_silent();
	test_many();
	io_free(io);
	io_global_cleanup();
	return done();
}
