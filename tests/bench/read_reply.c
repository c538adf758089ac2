/* What reading a reply of 100 KB costs, in all formats at once: prints the microseconds of the
   slowest of a few kinds of text, each of which is the best of its runs. */
#include "base/clock.h"
#include "policy/llm/calls.h"

#include <stdio.h>

#define BYTES 100000
#define RUNS  200
#define TOOLS "[{\"name\":\"f\",\"inputSchema\":{\"properties\":{\"a\":{\"type\":\"string\"}}}}]"

/* `begin`, then `piece` again and again, then `end`. */
static const struct {
	const char *begin, *piece, *end;
} kinds[] = {
	{"", "The tools to use are these: f[0] and f(x) < 3. ", ""},
	{"", "<p class=\"x\">text</p>\n", ""},
	{"<tool_call>{\"name\":\"f\",\"arguments\":{\"a\":\"", "<b>some</b> \\n",
         "\"}}</tool_call>"},
	{"<function=f><parameter=a>", "if (a < b) { c[1] = '</p>'; }\n", "</parameter></function>"},
	{"<think>", "I could <tool_call> it. ", "</think>I wait."},
	{"", "<|x|> [T] ]<] to= func ", ""},
};

static double read_once(const struct calls_conf *conf, const struct chat_reply *reply)
{
	struct clock clock = clock_real();
	struct arena arena = {0};
	struct tool_calls calls;
	uint64_t began_ns = clock.monotonic_ns(clock.ctx);

	calls_read(conf, reply, &arena, &calls);
	uint64_t ended_ns = clock.monotonic_ns(clock.ctx);
	arena_release(&arena);
	return (double)(ended_ns - began_ns) / 1e3;
}

int main(void)
{
	const struct calls_conf conf = {.tools = STR(TOOLS), .repair = true};
	double slowest = 0;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct buf text = BUF(BUF_MAX_MESSAGE);
		double best = 1e9;

		buf_text(&text, kinds[i].begin);
		while (text.n < BYTES)
			buf_text(&text, kinds[i].piece);
		buf_text(&text, kinds[i].end);
		const struct chat_reply reply = {.content = buf_view(&text),
		                                 .finish_reason = STR("stop")};
		for (int run = 0; run < RUNS; run++) {
			double took = read_once(&conf, &reply);

			best = took < best ? took : best;
		}
		fprintf(stderr, "%.0f us: %s%s\n", best, kinds[i].begin, kinds[i].piece);
		slowest = best > slowest ? best : slowest;
		buf_release(&text);
	}
	printf("%.1f\n", slowest);
	return 0;
}
