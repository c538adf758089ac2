/* Writes lines from imported facts: see import.h. */
#include "convert/import.h"

#include "json/canon.h"
#include "json/write.h"
#include "recording/line_writer.h"
#include "recording/words.h"

#define NONE STR("null")

/* ---- values ---- */

static struct str text_value(struct import *m, struct str text)
{
	return IMPORT_PACK(m, "%s", text);
}

static struct str count_value(struct import *m, int64_t n)
{
	return IMPORT_PACK(m, "%c", n);
}

static struct str raw_value(struct str raw)
{
	return raw.p ? raw : NONE;
}

static struct str number_value(struct str raw)
{
	return json_type(raw) == JSON_NUMBER ? raw : NONE;
}

/* ---- writing ---- */

static void write_line(struct import *m, struct import_rollout *r, struct line *l)
{
	size_t sizes[KEY_COUNT];

	l->value[KEY_ROLLOUT] = text_value(m, r->id);
	if (l->type == LINE_END)
		l->value[KEY_LINES] = count_value(m, r->lines + 1);
	line_write(l, m->out, sizes);
	r->lines++;
}

/* Writes a line. Values too long for the reader are truncated, which an event records. */
static void put_line(struct import *m, struct import_rollout *r, struct line *l)
{
	size_t before = m->out->n;
	char detail[128];

	write_line(m, r, l);
	while (m->out->n - before > RECORD_LINE_MAX && line_cut_longest(l, &m->arena, detail)) {
		struct line event = {.type = LINE_EVENT};

		buf_cut(m->out, before);
		r->lines--;
		event.value[KEY_TURN] = l->value[KEY_TURN].p ? l->value[KEY_TURN] : NONE;
		event.value[KEY_EVENT] =
			text_value(m, str_from(event_kind_name(EVENT_TRUNCATED_BYTES)));
		event.value[KEY_DETAIL] = str_from(detail);
		write_line(m, r, &event);
		before = m->out->n;
		write_line(m, r, l);
	}
}

static void set_state(struct import *m, const struct import_rollout *r, struct line *l,
                      struct str state)
{
	char hex[HASH_HEX + 1];

	l->value[KEY_STATE] = raw_value(state);
	l->value[KEY_STATE_HASH] = NONE;
	if (!json_is_null(state)) {
		json_hash(state, r->ignore, &m->work, hex);
		l->value[KEY_STATE_HASH] = text_value(m, str_from(hex));
	}
}

static void set_reply(struct import *m, struct line *l, const struct import_reply *r)
{
	l->value[KEY_OUTCOME] = text_value(m, str_from(outcome_name(r->outcome)));
	l->value[KEY_OBSERVATION] = raw_value(r->observation);
	l->value[KEY_ERROR] = NONE;
	if (r->outcome == OUTCOME_OK || r->outcome == OUTCOME_NONE)
		return;
	l->value[KEY_ERROR] =
		IMPORT_PACK(m, "{class:%t,layer:%t,code:%r,message:%s}", error_class_name(r->class),
	                    error_layer_name(r->layer), r->error_code, r->error_message);
}

static struct str list_value(struct import *m, struct str values)
{
	buf_clear(&m->value);
	buf_char(&m->value, '[');
	buf_str(&m->value, values);
	buf_char(&m->value, ']');
	return import_kept(m);
}

/* ---- header ---- */

static struct str env_value(struct import *m, const struct import_header *h)
{
	uint64_t facts = m->format->facts | (m->options->tools.p ? FACT(TOOLS) : 0);

	struct json_writer j = jw_form(import_value(m), "{protocol:%t,name:%s,version:%s,facts:[",
	                               m->format->name, h->env_name, h->env_version);
	for (unsigned k = 0; k < KEY_COUNT; k++)
		if (facts >> k & 1)
			jw_text(&j, line_key_name(k));
	jw_pack(&j, "]}");
	return import_kept(m);
}

/* True if all are pointers. */
static bool ignored_paths(struct import *m, struct import_rollout *r, struct str list)
{
	struct error ignored;
	struct str one;
	size_t cursor = 0;

	if (json_type(list) != JSON_ARRAY || !json_count(list))
		return false;
	r->ignore = json_paths_new(false);
	while (json_next(list, &cursor, &one)) {
		struct str pointer = json_text(&m->arena, one);

		if (!pointer.p || json_paths_add(r->ignore, pointer, &ignored)) {
			json_paths_free(r->ignore);
			r->ignore = NULL;
			return false;
		}
	}
	return true;
}

static void put_tool(struct json_writer *j, struct str tool)
{
	struct str function = JSON_GET(tool, "function");
	struct str inner = json_type(function) == JSON_OBJECT ? function : tool;
	struct str schema = JSON_GET(inner, "parameters");

	schema = schema.p ? schema : JSON_GET(inner, "inputSchema");
	schema = schema.p ? schema : JSON_GET(inner, "input_schema");
	jw_pack(j, "{name:%r,description:%r,inputSchema:%?r}", JSON_GET(inner, "name"),
	        JSON_GET(inner, "description"), import_either(schema, STR_NONE));
}

/* Converts a list of tools to the record format: name, description, inputSchema. */
static struct str tools_value(struct import *m, struct str tools)
{
	struct str one;

	if (json_type(tools) != JSON_ARRAY || !json_count(tools))
		return STR_NONE;
	struct json_writer j = jw_form(import_value(m), "[");
	for (size_t cursor = 0; json_next(tools, &cursor, &one);)
		if (json_type(one) == JSON_OBJECT)
			put_tool(&j, one);
	jw_end(&j);
	return import_kept(m);
}

void import_header(struct import *m, struct import_rollout *r, const struct import_header *h)
{
	struct line l = {.type = LINE_HEADER};
	int64_t seed;

	l.value[KEY_TASK] = IMPORT_PACK(m, "{id:%s}", h->task);
	l.value[KEY_FORMAT] = text_value(m, STR(RECORD_FORMAT));
	l.value[KEY_VERSION] = count_value(m, RECORD_VERSION);
	l.value[KEY_SAMPLE] = count_value(m, h->sample);
	l.value[KEY_SEED] = json_i64(h->seed, &seed) ? h->seed : NONE;
	l.value[KEY_ENV] = env_value(m, h);
	l.value[KEY_STATE_SOURCE] = IMPORT_PACK(
		m, "{kind:%t,ignore:%r}", state_kind_name(h->has_state ? STATE_IMPORT : STATE_NONE),
		ignored_paths(m, r, h->ignore) ? h->ignore : STR("[]"));
	l.value[KEY_POLICY] = IMPORT_PACK(m, "{kind:%t,name:%s,params:null}",
	                                  policy_kind_name(POLICY_IMPORT), h->policy_name);
	struct str tools = tools_value(m, h->tools);
	l.value[KEY_TOOLS] = raw_value(tools.p ? tools : tools_value(m, m->options->tools));
	l.value[KEY_LIMITS] = NONE;
	l.value[KEY_MASKS] = STR("[]");
	put_line(m, r, &l);
}

/* ---- reset, step, end ---- */

void import_reset(struct import *m, struct import_rollout *r, const struct import_reply *reply,
                  struct str messages)
{
	struct line l = {.type = LINE_RESET};

	set_reply(m, &l, reply);
	l.value[KEY_MESSAGES] = list_value(m, messages);
	put_line(m, r, &l);
}

static struct str string_or_none(struct str value)
{
	return json_type(value) == JSON_STRING ? value : STR_NONE;
}

static void add_reward(struct import_rollout *r, const struct import_reply *reply)
{
	double reward;

	if (reply->outcome == OUTCOME_OK && json_double(reply->reward, &reward)) {
		r->reward += reward;
		r->rewarded = true;
	}
}

void import_step(struct import *m, struct import_rollout *r, const struct import_step *s)
{
	struct line l = {.type = LINE_STEP};

	r->turns += s->new_turn || r->turns == 0;
	l.value[KEY_TURN] = count_value(m, r->turns - 1);
	l.value[KEY_STEP] = count_value(m, s->sent ? r->steps++ : -1);
	set_state(m, r, &l, s->state);
	l.value[KEY_MESSAGES] = list_value(m, s->messages);
	l.value[KEY_TOOL_CALL] = NONE;
	if (s->call_name.p || s->arguments.p) {
		l.value[KEY_TOOL_CALL] =
			IMPORT_PACK(m, "{id:%r,name:%r,arguments:%r}", string_or_none(s->call_id),
		                    string_or_none(s->call_name), s->arguments);
	}
	set_reply(m, &l, &s->reply);
	l.value[KEY_REWARD] = number_value(s->reply.reward);
	l.value[KEY_TERMINATED] = raw_value(json_flag(s->reply.terminated));
	l.value[KEY_TRUNCATED] = raw_value(json_flag(s->reply.truncated));
	l.value[KEY_ENV_STEPS] = count_value(m, s->reply.env_steps);
	l.value[KEY_LLM] = s->llm;
	if (s->sent)
		add_reward(r, &s->reply);
	put_line(m, r, &l);
}

void import_event(struct import *m, struct import_rollout *r, enum event_kind kind,
                  struct str detail)
{
	struct line l = {.type = LINE_EVENT};

	l.value[KEY_TURN] = r->turns ? count_value(m, r->turns - 1) : NONE;
	l.value[KEY_EVENT] = text_value(m, str_from(event_kind_name(kind)));
	l.value[KEY_DETAIL] = raw_value(detail);
	put_line(m, r, &l);
}

void import_end(struct import *m, struct import_rollout *r, const struct import_end *e)
{
	struct line l = {.type = LINE_END};

	l.value[KEY_STATUS] = text_value(m, str_from(end_status_name(e->status)));
	l.value[KEY_REASON] = text_value(m, e->reason);
	l.value[KEY_TURNS] = count_value(m, r->turns);
	l.value[KEY_STEPS] = count_value(m, r->steps);
	l.value[KEY_TOTAL_REWARD] =
		number_value(r->rewarded || e->total_reward.p ? e->total_reward : e->score);
	if (json_type(e->total_reward) != JSON_NUMBER && r->rewarded) {

		json_pack(import_value(m), "%f", r->reward);
		l.value[KEY_TOTAL_REWARD] = import_kept(m);
	}
	set_state(m, r, &l, e->state);
	put_line(m, r, &l);
	json_paths_free(r->ignore);
	r->ignore = NULL;
}
