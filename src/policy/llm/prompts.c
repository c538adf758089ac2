/* The first messages of a conversation: see prompts.h. */
#include "policy/llm/prompts.h"

#include "policy/llm/request.h"

#define NOTHING_TO_SAY "Begin."

static const char *const how_to_call[] = {
	[TOOLS_NATIVE] = NULL,
	[TOOLS_JSON] = "\n"
		       "\n"
		       "Answer with one JSON object and nothing else: {\"name\": the tool's name, "
		       "\"arguments\": an object that fits its parameters}. The tools:\n",
	[TOOLS_TEXT] = "\n"
		       "\n"
		       "To call a tool write\n"
		       "<tool_call>\n"
		       "{\"name\": the tool's name, \"arguments\": an object that fits its "
		       "parameters}\n"
		       "</tool_call>\n"
		       "The result follows in <tool_response></tool_response>. The tools:\n",
};

/* Models without a tool template get the tools as text, and often accept no system message
   either. */
static void write_prompts(const struct llm_conf *c, struct str tools, const struct prompt_values *v,
                          struct buf *system, struct buf *user)
{
	if (c->system) {
		prompt_fill(c->system, v, system);
	}
	prompt_fill(c->user, v, user);
	if (!user->n) {
		buf_text(user, NOTHING_TO_SAY); /* some servers reject an empty message */
	}
	if (how_to_call[c->tool_mode]) {
		buf_text(system, how_to_call[c->tool_mode]);
		chat_tools_describe(tools, system);
	}
	if (c->tool_mode != TOOLS_NATIVE) {
		buf_text(system, "\n");
		buf_str(system, buf_view(user));
		buf_clear(user);
		buf_str(user, buf_view(system));
		buf_clear(system);
	}
}

void chat_prompts(const struct llm_conf *c, struct str tools, const struct prompt_values *v,
                  struct conversation *to)
{
	struct buf system = BUF(BUF_MAX_MESSAGE), user = BUF(BUF_MAX_MESSAGE);

	write_prompts(c, tools, v, &system, &user);
	if (system.n) {
		conversation_add_text(to, "system", buf_view(&system));
	}
	conversation_add_text(to, "user", buf_view(&user));
	buf_release(&system);
	buf_release(&user);
}
