/* tools/list and tools/call of the lake's server: see lake_move.h. Errors are worded as
   FastMCP words them. */
#include "serve/lake_move.h"

#include "json/scan.h"
#include "json/write.h"
#include "serve/fault.h"
#include "serve/python.h"

/* A FastMCP tool that returns a dict: the result is wrapped, and so is its schema. */
static const struct str listing = STR_INIT(
	"{\"tools\":[{\"name\":\"lake_move\",\"description\":\"Moves one field on the "
	"frozen lake. "
	"Actions: LEFT, DOWN, RIGHT, "
	"UP.\",\"inputSchema\":{\"properties\":{\"action\":{\"enum\":"
	"[\"LEFT\",\"DOWN\",\"RIGHT\",\"UP\"],\"title\":\"Action\",\"type\":\"string\"}},"
	"\"required\":[\"action\"],\"title\":\"lake_moveArguments\",\"type\":\"object\"},"
	"\"outputSchema\":{\"properties\":{\"result\":{\"additionalProperties\":true,"
	"\"title\":"
	"\"Result\",\"type\":\"object\"}},\"required\":[\"result\"],\"title\":\"lake_"
	"moveOutput\","
	"\"type\":\"object\"}}]}");

static bool no_tools(const struct gym *g)
{
	size_t cursor = 0;

	for (const struct fault_hooks *f; (f = fault_next(g, &cursor)) != NULL;) {
		if (f->no_tools) {
			return true;
		}
	}
	return false;
}

struct str lake_move_list(const struct gym *g)
{
	return no_tools(g) ? STR("{\"tools\":[]}") : listing;
}

uint64_t lake_move_wait_ms(const struct gym *g)
{
	uint64_t wait_ms = g->conf.delay_ms;
	size_t cursor = 0;

	for (const struct fault_hooks *f; (f = fault_next(g, &cursor)) != NULL;) {
		if (f->wait != NULL) {
			f->wait(&wait_ms);
		}
	}
	return wait_ms;
}

static void fail(struct call *c)
{
	c->is_error = true;
	c->done = true;
}

static void fail_unless_known(const struct gym *g, struct call *c)
{
	if (!json_is(c->tool, STR("lake_move")) || no_tools(g)) {
		buf_text(&c->text, "Unknown tool: ");
		json_decode(c->tool, &c->text);
		fail(c);
	}
}

/* The argument must be there and be a string, says the tool's signature. */
static bool read_action(struct call *c, struct buf *action)
{
	static const char head[] = "Error executing tool lake_move: 1 validation error "
				   "for lake_moveArguments\naction\n  ";
	struct str arguments = json_is_null(c->arguments) ? STR("{}") : c->arguments;
	struct str value = JSON_GET(arguments, "action");

	if (json_type(value) == JSON_STRING) {
		json_decode(value, action);
		return true;
	}
	buf_text(&c->text, head);
	if (value.p == NULL) {
		buf_text(&c->text, "Field required [type=missing, input_value=");
		value = arguments;
	} else {
		buf_text(
			&c->text,
			"Input should be a valid string [type=string_type, input_value=");
	}
	python_repr_cut(value, &c->text);
	buf_printf(&c->text, ", input_type=%s]", python_type(value));
	fail(c);
	return false;
}

static bool is_blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Trimmed and in capitals, as the tool's body has it. */
static struct str tidy(struct buf *action)
{
	struct str s = buf_view(action);

	while (s.n > 0 && is_blank(s.p[0])) {
		s = str_skip(s, 1);
	}
	while (s.n > 0 && is_blank(s.p[s.n - 1])) {
		s.n--;
	}
	for (size_t i = (size_t)(s.p - action->p), end = i + s.n; i < end; i++) {
		if (action->p[i] >= 'a' && action->p[i] <= 'z') {
			action->p[i] = (char)(action->p[i] - 'a' + 'A');
		}
	}
	return s;
}

static void act(struct gym *g, struct call *c, struct str action)
{
	for (int i = 0; i < LAKE_ACTIONS; i++) {
		if (str_is(action, lake_action_names[i])) {
			gym_env_step(g, c->env, i);
			gym_observe(c->env, lake_action_names[i], true, &c->text);
			gym_observe(c->env, lake_action_names[i], false, &c->structured);
			return;
		}
	}
	buf_printf(&c->text,
	           "Error executing tool lake_move: Invalid action '%.*s'. "
	           "Valid actions: ['LEFT', 'DOWN', 'RIGHT', 'UP']",
	           STR_ARG(action));
	fail(c);
}

static void execute(struct gym *g, struct call *c)
{
	struct buf action = BUF(BUF_MAX_MESSAGE);

	if (!c->env->born) {
		gym_env_reset(g, c->env, NULL);
	}
	if (read_action(c, &action)) {
		if (action.n == 0) {
			buf_text(&c->text, "Error executing tool lake_move: Invalid "
			                   "action parameter: ''. "
			                   "Must be a non-empty string. "
			                   "Valid actions: LEFT, DOWN, RIGHT, UP");
			fail(c);
		} else {
			act(g, c, tidy(&action));
		}
	}
	buf_release(&action);
}

static void write_result(const struct call *c, struct buf *result)
{
	buf_text(result, "{\"content\":[{\"type\":\"text\",\"text\":");
	json_quote(result, buf_view(&c->text));
	buf_text(result, "}]");
	if (c->structured.n > 0) {
		buf_text(result, ",\"structuredContent\":{\"result\":");
		buf_str(result, buf_view(&c->structured));
		buf_char(result, '}');
	}
	buf_printf(result, ",\"isError\":%s}", c->is_error ? "true" : "false");
}

bool lake_move_call(struct gym *g, struct transport *t, struct str tool,
                    struct str arguments, struct buf *result)
{
	struct call c = {
		.transport = t, .env = t->env, .tool = tool, .arguments = arguments};
	const struct fault_hooks *f;

	c.text = BUF(BUF_MAX_MESSAGE);
	c.structured = BUF(BUF_MAX_SMALL);
	fail_unless_known(g, &c);
	for (size_t cursor = 0; !c.done && (f = fault_next(g, &cursor)) != NULL;) {
		if (f->before_call != NULL) {
			f->before_call(g, &c);
		}
	}
	if (!c.done) {
		execute(g, &c);
	}
	t->calls++;
	for (size_t cursor = 0; (f = fault_next(g, &cursor)) != NULL;) {
		if (f->after_call != NULL) {
			f->after_call(g, &c);
		}
	}
	write_result(&c, result);
	buf_release(&c.text);
	buf_release(&c.structured);
	return !c.close;
}
