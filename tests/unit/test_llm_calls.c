/* Tool calls in replies: fixtures/llm/calls.jsonl and formats.jsonl, one case per line. A
   reply is a `body`, the verbatim `text` of a body, the `chunks` of a stream, or `content`,
   the text of a reply that ended normally. Each text format has a case for each of its
   forms. */
#include "tap.h"

#include "json/canon.h"
#include "json/write.h"
#include "policy/llm/calls.h"
#include "policy/llm/completion.h"
#include "policy/toolformats/reader.h"

#include <stdlib.h>

#define TOOLS                                                                                      \
	"[{\"name\":\"lake_move\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"           \
	"\"action\":{\"type\":\"string\"}},\"required\":[\"action\"]}},"                           \
	"{\"name\":\"look\",\"inputSchema\":{\"type\":\"object\",\"properties\":{}}},"             \
	"{\"name\":\"say\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"                  \
	"\"text\":{\"type\":\"string\"},\"times\":{\"type\":\"integer\"},"                         \
	"\"loud\":{\"type\":\"boolean\"},\"to\":{\"type\":[\"string\",\"null\"]},"                 \
	"\"tags\":{\"type\":\"array\"},\"extra\":{\"type\":\"object\"}}}}]"

static void put_words(struct json_writer *w, const char *key, const struct call_notes *n)
{
	if (!n->count)
		return;
	jw_put_array(w, key);
	for (size_t i = 0; i < n->count; i++)
		jw_text(w, n->words[i]);
	jw_end(w);
}

static void put_call(struct json_writer *w, const struct tool_call *c, struct str want)
{
	jw_object(w);
	jw_put_str(w, "name", c->name);
	if (JSON_GET(want, "arguments_raw").p)
		jw_put_str(w, "arguments_raw", c->arguments);
	else
		jw_put_raw(w, "arguments", c->arguments);
	if (c->outcome != OUTCOME_NONE)
		jw_put_text(w, "outcome", outcome_name(c->outcome));
	if (JSON_GET(want, "id").p)
		jw_put_str(w, "id", c->id);
	jw_end(w);
}

/* The parsed calls, with the members that the case expects or forbids. */
static void describe(const struct tool_calls *got, const struct chat_reply *reply, struct str want,
                     struct buf *out)
{
	struct json_writer w;
	struct str each = {NULL, 0};
	size_t cursor = 0;

	jw_init(&w, out);
	jw_object(&w);
	jw_put_text(&w, "source", got->source);
	if (got->format)
		jw_put_text(&w, "format", got->format);
	if (got->cause)
		jw_put_text(&w, "cause", got->cause);
	put_words(&w, "notes", &got->notes);
	put_words(&w, "repairs", &got->repairs);
	if (JSON_GET(want, "content").p)
		jw_put_str(&w, "content", got->content);
	if (got->reasoning.n)
		jw_put_str(&w, "reasoning", got->reasoning);
	if (JSON_GET(want, "logprobs").p)
		jw_put_raw(&w, "logprobs", reply->logprobs);
	jw_put_array(&w, "calls");
	for (size_t i = 0; i < got->count; i++) {
		json_next(JSON_GET(want, "calls"), &cursor, &each);
		put_call(&w, &got->items[i], each);
	}
	jw_end(&w);
	jw_end(&w);
}

static int read_chunks(struct str chunks, struct chat_reply *reply, struct error *err)
{
	struct chat_stream s;
	struct str chunk;
	int bad = 0;

	chat_stream_init(&s);
	for (size_t cursor = 0; !bad && json_next(chunks, &cursor, &chunk);)
		bad = chat_stream_add(&s, chunk, err);
	if (!bad && chat_stream_failure(&s).p)
		bad = error_set(err, FAIL_PROTOCOL, "%.*s", STR_ARG(chat_stream_failure(&s)));
	if (!bad)
		chat_stream_reply(&s, true, reply);
	chat_stream_release(&s);
	return bad;
}

static int read_reply(struct str line, struct chat_reply *reply, struct error *err)
{
	struct str chunks = JSON_GET(line, "chunks"), text = JSON_GET(line, "text");
	struct buf body = BUF(BUF_MAX_MESSAGE);
	int bad;

	if (chunks.p)
		return read_chunks(chunks, reply, err);
	if (JSON_GET(line, "content").p) {
		reply->content = json_text(&reply->arena, JSON_GET(line, "content"));
		reply->finish_reason = STR("stop");
		return 0;
	}
	json_decode(text, &body);
	bad = chat_reply_read(text.p ? buf_view(&body) : JSON_GET(line, "body"), reply, err);
	buf_release(&body);
	return bad;
}

/* Replies that are not chat completions, by error message. */
static void refused_case(struct str line, const char *name)
{
	struct buf want = BUF(BUF_MAX_SMALL);
	struct chat_reply reply = {.calls = NULL};
	struct error err = {0};

	json_decode(JSON_GET(line, "refused"), &want);
	if (ok(read_reply(line, &reply, &err) != 0, "%s: no reply", name))
		ok(strstr(err.text, buf_cstr(&want)) != NULL, "%s: %s", name, err.text);
	chat_reply_release(&reply);
	buf_release(&want);
}

static size_t sendable(const struct tool_calls *calls)
{
	size_t n = 0;

	for (size_t i = 0; i < calls->count; i++)
		n += calls->items[i].outcome == OUTCOME_NONE;
	return n;
}

/* Repaired calls are not sent if repairs are not allowed. */
static void unrepaired(struct calls_conf conf, const struct chat_reply *reply,
                       const struct tool_calls *repaired, const char *name)
{
	struct tool_calls calls;
	struct arena arena = {0};

	conf.repair = false;
	calls_read(&conf, reply, &arena, &calls);
	ok(calls.repairs.count == 0 && sendable(&calls) < sendable(repaired),
	   "%s: not without repairs", name);
	arena_release(&arena);
}

static void one_case(struct str line)
{
	struct str want = JSON_GET(line, "want");
	struct buf name = BUF(BUF_MAX_SMALL), got = BUF(BUF_MAX_MESSAGE);
	struct buf a = BUF(BUF_MAX_MESSAGE), b = BUF(BUF_MAX_MESSAGE);
	struct calls_conf conf = {.tools = STR(TOOLS), .repair = true};
	struct chat_reply reply = {.calls = NULL};
	struct tool_calls calls;
	struct arena arena = {0};
	struct error err = {0};

	json_decode(JSON_GET(line, "case"), &name);
	json_bool(JSON_GET(line, "repair"), &conf.repair);
	conf.format = json_text(&arena, JSON_GET(line, "format")).p;
	for (int i = 0; tool_mode_names[i]; i++)
		if (json_is(JSON_GET(line, "mode"), str_from(tool_mode_names[i])))
			conf.mode = (enum tool_mode)i;
	if (JSON_GET(line, "refused").p) {
		refused_case(line, buf_cstr(&name));
	} else if (ok(read_reply(line, &reply, &err) == 0, "%s: a reply %s", buf_cstr(&name),
	              err.text)) {
		calls_read(&conf, &reply, &arena, &calls);
		describe(&calls, &reply, want, &got);
		json_canon(buf_view(&got), NULL, JSON_EDIT_DROP, &a);
		json_canon(want, NULL, JSON_EDIT_DROP, &b);
		is_str(buf_cstr(&a), buf_cstr(&b), "%s", buf_cstr(&name));
		if (calls.repairs.count)
			unrepaired(conf, &reply, &calls, buf_cstr(&name));
	}
	chat_reply_release(&reply);
	arena_release(&arena);
	buf_release(&name);
	buf_release(&got);
	buf_release(&a);
	buf_release(&b);
}

/* ---- replies that the limit cut off ---- */

static bool is_wanted(struct str calls, const struct tool_call *c)
{
	struct str each;

	for (size_t cursor = 0; json_next(calls, &cursor, &each);) {
		if (json_is(JSON_GET(each, "name"), c->name) &&
		    json_equal(JSON_GET(each, "arguments"), c->arguments)) {
			return true;
		}
	}
	return false;
}

/* A reply truncated at any position: only calls of the complete reply are executed. */
static bool safe_when_truncated(struct str line, struct str content)
{
	struct str want = JSON_GET(JSON_GET(line, "want"), "calls");
	struct calls_conf conf = {.tools = STR(TOOLS), .mode = TOOLS_TEXT, .repair = true};
	struct arena kept = {0};
	bool holds = true;

	conf.format = json_text(&kept, JSON_GET(line, "format")).p;
	for (size_t n = 0; holds && n < content.n; n++) {
		const struct chat_reply reply = {.content = {content.p, n},
		                                 .finish_reason = STR("length")};
		struct tool_calls got;
		struct arena arena = {0};

		calls_read(&conf, &reply, &arena, &got);
		for (size_t i = 0; i < got.count; i++) {
			holds &= got.items[i].outcome != OUTCOME_NONE ||
			         is_wanted(want, &got.items[i]);
		}
		arena_release(&arena);
	}
	arena_release(&kept);
	return holds;
}

static void cut_case(struct str line)
{
	struct arena arena = {0};
	struct str name = json_text(&arena, JSON_GET(line, "case"));
	struct str content = json_text(&arena, JSON_GET(line, "content"));

	if (str_ends(name, STR(": parallel")) || str_ends(name, STR(": typed")))
		ok(safe_when_truncated(line, content), "%.*s: cut off anywhere", STR_ARG(name));
	arena_release(&arena);
}

/* ---- the forms of each format ---- */

static const char *const forms[] = {"healthy", "parallel", "typed", "truncated", "prose"};

/* The names of all cases, one per line. */
static void each_format_has_all_forms(struct buf *names)
{
	for (size_t i = 1; tool_format_names[i]; i++) {
		for (size_t k = 0; k < ARRAY_LEN(forms); k++) {
			struct buf want = BUF(BUF_MAX_SMALL);

			buf_printf(&want, "\n%s: %s\n", tool_format_names[i], forms[k]);
			ok(strstr(buf_cstr(names), buf_cstr(&want)) != NULL, "%s has a case: %s",
			   tool_format_names[i], forms[k]);
			buf_release(&want);
		}
	}
}

static void all_cases(const char *path, struct buf *names)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	ok(f != NULL, "the cases are there");
	while (f && (n = getline(&line, &room, f)) > 0) {
		struct json_fault fault;
		struct str text = {line, (size_t)n - (line[n - 1] == '\n')};

		if (ok(json_validate(text, &fault) == 0, "a case is JSON")) {
			one_case(text);
			cut_case(text);
			buf_char(names, '\n');
			json_decode(JSON_GET(text, "case"), names);
			buf_char(names, '\n');
		}
	}
	free(line);
	if (f)
		fclose(f);
}

static bool is_true(const void *answer)
{
	return *(const bool *)answer;
}

static void a_long_reply_can_be_stopped(void)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);
	struct arena arena = {0};
	struct tool_calls calls;

	buf_text(&text, "<tool_call>{\"name\":\"look\",\"arguments\":{}}</tool_call>");
	for (int i = 0; i < 100000; i++)
		buf_text(&text, "<tool_call>");
	struct chat_reply reply = {.content = buf_view(&text)};
	for (int i = 0; i < 2; i++) {
		bool stop = i;
		struct calls_conf conf = {.tools = STR(TOOLS), .stopped = is_true, .ctx = &stop};

		calls_read(&conf, &reply, &arena, &calls);
		ok(calls.stopped == stop && calls.count == !stop, "%s while it is read",
		   stop ? "stopped" : "not stopped");
	}
	arena_release(&arena);
	buf_release(&text);
}

static void long_names_are_kept(void)
{
	struct buf body = BUF(BUF_MAX_MESSAGE);
	struct chat_reply reply = {.calls = NULL};
	struct error err = {0};
	const int length = 100000;

	buf_printf(&body,
	           "{\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"%0*d\",\"function\":{"
	           "\"name\":\"%0*d\"}}]}}]}",
	           length, 0, length, 0);
	ok(chat_reply_read(buf_view(&body), &reply, &err) == 0 && reply.call_count == 1 &&
	           reply.calls[0].id.n == (size_t)length && reply.calls[0].name.n == (size_t)length,
	   "a call's long id and name");
	chat_reply_release(&reply);
	buf_release(&body);
}

int main(void)
{
	struct buf names = BUF(BUF_MAX_MESSAGE);

	all_cases("fixtures/llm/calls.jsonl", &names);
	all_cases("fixtures/llm/formats.jsonl", &names);
	each_format_has_all_forms(&names);
	a_long_reply_can_be_stopped();
	long_names_are_kept();
	buf_release(&names);
	return done();
}
