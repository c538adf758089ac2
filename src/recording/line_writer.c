/* Writes the lines of a recording: see line_writer.h. Volatile facts are written under `meta`
   only. */
#include "recording/line_writer.h"

#include "base/base64.h"
#include "base/text.h"
#include "json/write.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- working memory ---- */

struct scratch {
	struct scratch *next; /* next in the pool */
	struct arena arena;
	struct buf text, value, part, hash;
};

struct scratch_pool {
	pthread_mutex_t lock; /* protects the members below */
	struct scratch *first;
};

struct scratch_pool *scratch_pool_new(void)
{
	struct scratch_pool *p = mem_new(sizeof(*p));

	pthread_mutex_init(&p->lock, NULL);
	return p;
}

static struct scratch *scratch_new(void)
{
	struct scratch *s = mem_new(sizeof(*s));

	s->text = s->value = s->part = s->hash = BUF(2 * BUF_MAX_MESSAGE);
	return s;
}

static void scratch_free(struct scratch *s)
{
	BUFS_RELEASE(&s->text, &s->value, &s->part, &s->hash);
	arena_release(&s->arena);
	free(s);
}

void scratch_pool_free(struct scratch_pool *p)
{
	if (!p)
		return;
	while (p->first) {
		struct scratch *s = p->first;

		p->first = s->next;
		scratch_free(s);
	}
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* The content of its buffers is undefined. If p is NULL, it is allocated and freed each time. */
static struct scratch *scratch_take(struct scratch_pool *p)
{
	if (!p)
		return scratch_new();
	pthread_mutex_lock(&p->lock);
	struct scratch *s = p->first;
	p->first = s ? s->next : NULL;
	pthread_mutex_unlock(&p->lock);
	return s ? s : scratch_new();
}

static void scratch_give(struct scratch_pool *p, struct scratch *s)
{
	if (!p) {
		scratch_free(s);
		return;
	}
	arena_reset(&s->arena);
	pthread_mutex_lock(&p->lock);
	s->next = p->first;
	p->first = s;
	pthread_mutex_unlock(&p->lock);
}

void line_writer_init(struct line_writer *w, struct recorder *recorder,
                      const struct line_sink *sinks, size_t sink_count, struct clock clock,
                      struct scratch_pool *pool)
{
	*w = (struct line_writer){.recorder = recorder,
	                          .sinks = sinks,
	                          .sink_count = sink_count,
	                          .clock = clock,
	                          .pool = pool,
	                          .rollout = ""};
}

/* Begins a line; put_line ends it. */
static struct line begin_line(struct line_writer *w, enum line_type type)
{
	w->s = scratch_take(w->pool);
	return (struct line){.type = type};
}

/* ---- values ---- */

/* A value is written to the scratch buffer and then copied to its arena. */
static struct json_writer begin_value(struct line_writer *w)
{
	struct json_writer j;

	buf_clear(&w->s->value);
	jw_init(&j, &w->s->value);
	return j;
}

static void keep_value(struct line_writer *w, struct line *l, enum key k)
{
	struct buf *value = &w->s->value;

	l->value[k] = value->full ? STR_NONE : arena_str(&w->s->arena, buf_view(value));
	w->overflown |= (uint64_t)value->full << k;
}

/* Sets a value from a template of jw_pack. */
static void set_pack(struct line_writer *w, struct line *l, enum key k, const char *form, ...)
{
	va_list args;

	buf_clear(&w->s->value);
	va_start(args, form);
	json_vpack(&w->s->value, form, args);
	va_end(args);
	keep_value(w, l, k);
}

/* Absent if it is empty. */
static struct str known(struct str s)
{
	return s.n ? s : STR_NONE;
}

static void set_state(struct line_writer *w, struct line *l, struct str state,
                      const struct json_paths *ignore)
{
	char hex[HASH_HEX + 1];

	l->value[KEY_STATE] = state;
	if (state.p) {
		json_hash(state, ignore, &w->s->hash, hex);
		set_pack(w, l, KEY_STATE_HASH, "%t", hex);
	}
}

static void set_outcome(struct line_writer *w, struct line *l, const struct env_reply *r)
{
	set_pack(w, l, KEY_OUTCOME, "%t", outcome_name(r->outcome));
	if (r->outcome != OUTCOME_OK) {
		set_pack(w, l, KEY_ERROR, "{class:%t,layer:%t,code:%r,message:%s,disagrees:%?t}",
		         error_class_name(r->error.class), error_layer_name(r->error.layer),
		         r->error.code, r->error.message, error_layer_name(r->error.disagrees));
	}
}

/* Keeps bytes that are not JSON as text, or as base64 if they are not UTF-8. */
static void set_raw_bytes(struct line_writer *w, struct line *l, struct str bytes)
{
	if (bytes.p && text_utf8_valid(bytes) == bytes.n) {
		set_pack(w, l, KEY_RAW, "%s", bytes);
	} else if (bytes.p) {
		buf_clear(&w->s->value);
		buf_char(&w->s->value, '"');
		base64_encode(&w->s->value, bytes);
		buf_char(&w->s->value, '"');
		keep_value(w, l, KEY_RAW_BASE64);
	}
}

static void set_content(struct line_writer *w, struct line *l, const struct env_reply *r)
{
	l->value[KEY_OBSERVATION] = r->observation;
	if (r->observation.n && memchr(r->observation.p, '\n', r->observation.n)) {
		buf_clear(&w->s->value);
		json_minify(r->observation, &w->s->value);
		keep_value(w, l, KEY_OBSERVATION);
	}
	l->value[KEY_STRUCTURED] = r->structured;
	set_raw_bytes(w, l, r->raw);
}

/* The model's messages, followed by those added with the result. */
static void set_messages(struct line_writer *w, struct line *l, struct str first, struct str then)
{
	set_pack(w, l, KEY_MESSAGES, "[%?r,%?r]", known(first), known(then));
}

#define TEXT_BYTES 32 /* of a time, and of a number with three decimals */

static const char *time_of(uint64_t unix_ms, char text[TEXT_BYTES])
{
	clock_format(unix_ms, text);
	return text;
}

static struct str thousandths(uint64_t n, char text[TEXT_BYTES])
{
	size_t at = TEXT_BYTES;

	for (int digits = 0; n || digits < 4; digits++, n /= 10) {
		if (digits == 3)
			text[--at] = '.';
		text[--at] = (char)('0' + n % 10);
	}
	return (struct str){text + at, TEXT_BYTES - at};
}

/* ---- lines that are too long ---- */

#define KEPT ((size_t)1 << 20) /* bytes: enough to identify the content */

/* The total size of all values. If it is small, no escaping or redaction can make the line too
   long. */
static size_t values_bytes(const struct line *l)
{
	size_t n = 0;

	for (size_t k = 0; k < KEY_COUNT; k++)
		n += l->value[k].n;
	return n;
}

static const struct line_key *longest(const struct line *l)
{
	size_t count;
	const struct line_key *rows = line_rows(l->type, &count), *found = NULL;

	for (size_t i = 0; i < count; i++) {
		size_t n = l->value[rows[i].key].n;

		if (rows[i].types & (T_NULL | T_OPTIONAL) && n > 2 * KEPT &&
		    (!found || n > l->value[found->key].n)) {
			found = &rows[i];
		}
	}
	return found;
}

/* The start of a string's text, or of another value's JSON, as a JSON string. */
static struct str beginning(struct str value, struct arena *a)
{
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE), string = BUF(BUF_MAX_MESSAGE);

	if (json_type(value) == JSON_STRING) {
		json_decode(value, &text);
		value = buf_view(&text);
	}
	json_quote(&string, text_utf8_cut(value, KEPT));
	return arena_str(a, buf_view(&string));
}

bool line_cut_longest(struct line *l, struct arena *a, char detail[128])
{
	const struct line_key *k = longest(l);

	if (!k)
		return false;
	struct str *value = &l->value[k->key];
	size_t before = value->n;
	bool string = k->types & T_STRING && k->key != KEY_STATE && k->key != KEY_RAW_BASE64;
	*value = string ? beginning(*value, a) : STR("null");
	snprintf(detail, 128, "{\"what\":\"%s\",\"kept\":%zu,\"of\":%zu}", k->name,
	         string ? value->n : 0, before);
	return true;
}

/* ---- writing ---- */

static int hand_out(struct line_writer *w, enum line_type type, const size_t sizes[KEY_COUNT],
                    struct error *err)
{
	struct str text = {w->s->text.p, w->s->text.n - 1};
	struct line seen;

	if (!w->sink_count)
		return 0;
	/* of the written text, so that live and offline checks see the same bytes */
	if (line_written(type, text, sizes, &w->s->part, &seen, err))
		return error_wrap(err, "a line this program wrote");
	seen.number = recorder_line(w->recorder);
	for (size_t i = 0; i < w->sink_count; i++)
		if (w->sinks[i].take(w->sinks[i].ctx, &seen, err))
			return -1;
	return 0;
}

static void name_line(struct line_writer *w, struct line *l)
{
	set_pack(w, l, KEY_TYPE, "%t", line_type_name(l->type));
	set_pack(w, l, KEY_ROLLOUT, "%t", w->rollout);
}

/* Writes a line that is within the size limit. */
static int write_line(struct line_writer *w, struct line *l, struct error *err)
{
	size_t sizes[KEY_COUNT];

	w->lines++;
	if (l->type == LINE_END)
		set_pack(w, l, KEY_LINES, "%i", w->lines);
	if (w->order)
		pthread_mutex_lock(w->order);
	int failed = recorder_write(w->recorder, l, &w->s->text, sizes, err);
	if (!failed)
		failed = hand_out(w, l->type, sizes, err);
	if (w->order)
		pthread_mutex_unlock(w->order);
	scratch_give(w->pool, w->s);
	w->s = NULL;
	return failed;
}

static struct line event_line(struct line_writer *w, int64_t turn, const struct event *e)
{
	struct line l = begin_line(w, LINE_EVENT);

	set_pack(w, &l, KEY_TURN, "%c", turn);
	set_pack(w, &l, KEY_EVENT, "%t", event_kind_name(e->kind));
	l.value[KEY_DETAIL] = e->detail;
	name_line(w, &l);
	return l;
}

/* Writes a truncated-bytes event before the current line. */
static int write_truncation(struct line_writer *w, struct line *l, const char *detail,
                            struct error *err)
{
	struct event cut = {.kind = EVENT_TRUNCATED_BYTES, .detail = str_from(detail)};
	struct scratch *s = w->s;
	struct line event = event_line(w, line_count(l->value[KEY_TURN]), &cut);
	int failed = write_line(w, &event, err);

	w->s = s;
	return failed;
}

static int cut_line(struct line_writer *w, struct line *l, struct error *err)
{
	char detail[128];
	size_t count, sizes[KEY_COUNT];
	const struct line_key *rows = line_rows(l->type, &count);
	int failed = 0;

	for (size_t i = 0; !failed && i < count; i++) {
		if (w->overflown >> rows[i].key & 1) {
			snprintf(detail, sizeof(detail), "{\"what\":\"%s\",\"kept\":0}",
			         rows[i].name);
			failed = write_truncation(w, l, detail, err);
		}
	}
	while (!failed && !recorder_fits(w->recorder, l, &w->s->text, sizes) &&
	       line_cut_longest(l, &w->s->arena, detail)) {
		failed = write_truncation(w, l, detail, err);
	}
	w->overflown = 0;
	return failed;
}

static int put_line(struct line_writer *w, struct line *l, struct error *err)
{
	name_line(w, l);
	if ((w->overflown || values_bytes(l) > RECORD_LINE_MAX / 4) && l->type != LINE_HEADER &&
	    cut_line(w, l, err)) {
		scratch_give(w->pool, w->s);
		w->s = NULL;
		return -1;
	}
	return write_line(w, l, err);
}

/* ---- header ---- */

static struct str target_of(const struct header_fields *f, enum state_kind kind)
{
	return f->state_kind == kind ? known(f->state_target) : STR_NONE;
}

static void set_env(struct line_writer *w, struct line *l, const struct header_fields *f)
{
	set_pack(w, l, KEY_ENV, "{protocol:%t,name:%s,version:%s}", f->protocol, f->env_name,
	         f->env_version);
	set_pack(w, l, KEY_STATE_SOURCE,
	         "{kind:%t,resource:%?s,tool:%?s,pointer:%?s,arguments:%?r,ignore:%r,volatile:%?r,"
	         "names:%?r}",
	         state_kind_name(f->state_kind == STATE_UNKNOWN ? STATE_NONE : f->state_kind),
	         target_of(f, STATE_RESOURCE), target_of(f, STATE_TOOL),
	         target_of(f, STATE_OBSERVATION),
	         json_count(f->state_arguments) ? f->state_arguments : STR_NONE,
	         f->state_ignore.p ? f->state_ignore : STR("[]"), known(f->volatile_numbers),
	         f->no_names ? STR("false") : STR_NONE);
	l->value[KEY_TOOLS] = f->tools;
}

static void set_policy_and_limits(struct line_writer *w, struct line *l,
                                  const struct header_fields *f)
{
	if (f->policy_kind) {
		set_pack(w, l, KEY_POLICY, "{kind:%t,name:%s,params:%?r}",
		         policy_kind_name(f->policy_kind), f->policy_name, known(f->policy_params));
	}
	if (f->max_turns >= 0) {
		set_pack(w, l, KEY_LIMITS, "{max_turns:%i,timeout_ms:%i,group_size:%?i}",
		         f->max_turns, (int64_t)f->timeout_ms, f->group_size);
	}
}

static void set_masks(struct line_writer *w, struct line *l, const struct header_fields *f)
{
	struct json_writer j = begin_value(w);

	jw_array(&j);
	for (size_t i = 0; i < f->mask_count; i++)
		jw_text(&j, f->masks[i]);
	jw_end(&j);
	keep_value(w, l, KEY_MASKS);
}

static void set_header_meta(struct line_writer *w, struct line *l, const struct header_fields *f)
{
	struct json_writer j = begin_value(w);
	char now[TEXT_BYTES];

	jw_pack(&j,
	        "{started:%t,rolldbg:%t,url:%?s,session:%?s,env_session:%?s,client_port:%?i,"
	        "parent:%?s",
	        time_of(w->clock.unix_ms(w->clock.ctx), now), f->version, known(f->url),
	        known(f->session), known(f->env_session), f->client_port, known(f->parent_file));
	if (f->revision) {
		jw_pack(&j, "mcp:{revision:%t,era:%t,transport:%t}", f->revision, f->era,
		        f->transport);
	}
	jw_end(&j);
	keep_value(w, l, KEY_META);
}

int line_writer_header(struct line_writer *w, const struct header_fields *f, struct error *err)
{
	struct line l = begin_line(w, LINE_HEADER);

	set_pack(w, &l, KEY_TASK, "{id:%t,vars:%?r,reset:%?r}", f->task, known(f->vars),
	         known(f->reset_args));
	set_pack(w, &l, KEY_FORMAT, "%t", RECORD_FORMAT);
	set_pack(w, &l, KEY_VERSION, "%d", RECORD_VERSION);
	set_pack(w, &l, KEY_SAMPLE, "%c", f->sample);
	if (f->has_seed)
		set_pack(w, &l, KEY_SEED, "%i", f->seed);
	set_env(w, &l, f);
	set_policy_and_limits(w, &l, f);
	if (f->parent.p) {
		set_pack(w, &l, KEY_PARENT, "{rollout:%?s,step:%i,seeded:%b}", known(f->parent),
		         f->parent_steps, f->seeded);
	}
	set_masks(w, &l, f);
	set_header_meta(w, &l, f);
	return put_line(w, &l, err);
}

/* ---- reset, step, event, end ---- */

int line_writer_reset(struct line_writer *w, const struct env_reply *r, struct str messages,
                      struct error *err)
{
	struct line l = begin_line(w, LINE_RESET);

	set_outcome(w, &l, r);
	set_content(w, &l, r);
	if (r->terminated > 0)
		l.value[KEY_TERMINATED] = json_flag(r->terminated);
	if (r->truncated > 0)
		l.value[KEY_TRUNCATED] = json_flag(r->truncated);
	set_messages(w, &l, messages, STR_NONE);
	return put_line(w, &l, err);
}

static void set_tool_call(struct line_writer *w, struct line *l, const struct step_fields *f)
{
	struct str id = f->call->id;

	if (!id.p) {
		buf_set(&w->s->part, STR("c"));
		json_pack(&w->s->part, "%i", f->step);
		id = buf_view(&w->s->part);
	}
	set_pack(w, l, KEY_TOOL_CALL, "{id:%s,name:%s,arguments:%r}", id, f->call->name,
	         f->call->arguments);
}

static void set_step_meta(struct line_writer *w, struct line *l, const struct step_fields *f)
{
	const struct env_reply *r = f->reply;
	char at[TEXT_BYTES], latency[TEXT_BYTES];
	struct json_writer j = begin_value(w);

	jw_pack(&j,
	        "{at:%t,latency_ms:%r,http_status:%?d,session:%?s,env_session:%?s,"
	        "reply_session:%?s",
	        time_of(f->at_ms, at), thousandths(f->latency_us, latency), r->http_status,
	        known(r->session), known(r->env_session), known(r->reply_session));
	if (r->control_reward || r->control_status)
		jw_pack(&j, "control:{reward:%t,status:%t}", r->control_reward, r->control_status);
	jw_pack(&j, "joined:%?t}", f->joined);
	keep_value(w, l, KEY_META);
}

int line_writer_step(struct line_writer *w, const struct step_fields *f, struct error *err)
{
	struct line l = begin_line(w, LINE_STEP);

	set_pack(w, &l, KEY_TURN, "%c", f->turn);
	set_pack(w, &l, KEY_STEP, "%c", f->step);
	set_state(w, &l, f->state, f->ignore);
	set_tool_call(w, &l, f);
	set_outcome(w, &l, f->reply);
	set_content(w, &l, f->reply);
	set_messages(w, &l, f->messages, f->more_messages);
	l.value[KEY_REWARD] = f->reply->reward;
	l.value[KEY_TERMINATED] = json_flag(f->reply->terminated);
	l.value[KEY_TRUNCATED] = json_flag(f->reply->truncated);
	set_pack(w, &l, KEY_ENV_STEPS, "%c", f->reply->env_steps);
	l.value[KEY_LLM] = f->llm;
	set_step_meta(w, &l, f);
	return put_line(w, &l, err);
}

int line_writer_turn(struct line_writer *w, const struct step_fields *f, struct error *err)
{
	struct line l = begin_line(w, LINE_STEP);
	char at[TEXT_BYTES];

	set_pack(w, &l, KEY_TURN, "%c", f->turn);
	set_state(w, &l, f->state, f->ignore);
	if (f->call) {
		set_tool_call(w, &l, f);
		set_outcome(w, &l, f->reply);
	}
	set_messages(w, &l, f->messages, f->more_messages);
	l.value[KEY_LLM] = f->llm;
	set_pack(w, &l, KEY_META, "{at:%t,joined:%?t}", time_of(f->at_ms, at), f->joined);
	return put_line(w, &l, err);
}

int line_writer_event(struct line_writer *w, int64_t turn, const struct event *e, struct error *err)
{
	struct line l = event_line(w, turn, e);

	return put_line(w, &l, err);
}

int line_writer_end(struct line_writer *w, const struct end_fields *f, struct error *err)
{
	struct line l = begin_line(w, LINE_END);
	char now[TEXT_BYTES], seconds[TEXT_BYTES];

	set_pack(w, &l, KEY_STATUS, "%t", end_status_name(f->status));
	set_pack(w, &l, KEY_REASON, "%t", f->reason);
	set_pack(w, &l, KEY_TURNS, "%c", f->turns);
	set_pack(w, &l, KEY_STEPS, "%c", f->steps);
	l.value[KEY_TOTAL_REWARD] = f->total_reward;
	l.value[KEY_REWARD_COMPONENTS] = f->reward_components;
	set_state(w, &l, f->state, f->ignore);
	set_pack(w, &l, KEY_META, "{ended:%t,seconds:%r}",
	         time_of(w->clock.unix_ms(w->clock.ctx), now), thousandths(f->took_ms, seconds));
	return put_line(w, &l, err);
}
