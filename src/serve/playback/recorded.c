/* Reading recordings for playback: see recorded.h. */
#include "serve/playback/playback.h"

#include "base/base64.h"
#include "json/canon.h"
#include "json/write.h"
#include "recording/reader.h"

#include <stdlib.h>

uint64_t recorded_key(struct str name, struct str arguments)
{
	return map_hash_with(map_hash(arguments), map_hash(name));
}

/* ---- lines ---- */

static struct str copy(struct recorded *r, struct str value)
{
	return json_is_null(value) ? STR_NONE : arena_str(&r->arena, value);
}

static struct str copy_text(struct recorded *r, struct str object, const char *key)
{
	return json_text(&r->arena, json_get(object, str_from(key)));
}

static struct str copy_bytes(struct recorded *r, const struct line *l)
{
	AUTO_BUF bytes = BUF(BUF_MAX_MESSAGE);
	struct str kept = STR_NONE;

	if (line_has(l, KEY_RAW)) {
		kept = json_text(&r->arena, l->value[KEY_RAW]);
	} else if (line_has(l, KEY_RAW_BASE64) &&
	           base64_decode(&bytes, json_inner(l->value[KEY_RAW_BASE64]))) {
		kept = arena_str(&r->arena, buf_view(&bytes));
	}
	return kept;
}

static struct recorded_reply reply_of(struct recorded *r, const struct line *l)
{
	struct str error = l->value[KEY_ERROR], disagrees = JSON_GET(error, "disagrees");

	return (struct recorded_reply){
		.outcome = l->outcome,
		.layer = line_error_layer(l),
		.disagrees = json_is_null(disagrees) ? LAYER_NONE
	                                             : error_layer_parse(json_inner(disagrees)),
		.code = copy(r, JSON_GET(error, "code")),
		.message = copy_text(r, error, "message"),
		.observation = copy(r, l->value[KEY_OBSERVATION]),
		.structured = copy(r, l->value[KEY_STRUCTURED]),
		.bytes = copy_bytes(r, l),
		.reward = copy(r, l->value[KEY_REWARD]),
		.terminated = l->terminated,
		.truncated = l->truncated,
		.env_steps = line_count(l->value[KEY_ENV_STEPS])};
}

static void read_header(struct recorded *r, struct recorded_rollout *one, const struct line *l)
{
	struct str env = l->value[KEY_ENV];
	struct str reset = JSON_GET(l->value[KEY_TASK], "reset");

	one->protocol = copy_text(r, env, "protocol");
	one->name = copy_text(r, env, "name");
	one->version = copy_text(r, env, "version");
	one->tools = copy(r, l->value[KEY_TOOLS]);
	r->has_tools = r->has_tools || one->tools.p;
	one->reset_args = json_type(reset) == JSON_OBJECT ? copy(r, reset) : STR_NONE;
	one->has_seed = json_i64(l->value[KEY_SEED], &one->seed);
	one->state_kind = line_state_kind(l);
}

/* The state after a call is that of the next line, of any type. */
static void read_state(struct recorded *r, struct recorded_rollout *one, const struct line *l)
{
	struct str state = copy(r, l->value[KEY_STATE]);
	struct recorded_call *last = one->count ? &one->calls[one->count - 1] : NULL;

	if (last && !last->after.p)
		last->after = state;
	else if (!last && !one->first_state.p)
		one->first_state = state;
}

/* Removes the words or tags around a result that a model got as text. */
static struct str without_wrapping(struct str text)
{
	size_t from = 0, to = text.n;

	while (from < to && !strchr("{[", text.p[from]))
		from++;
	while (to > from && !strchr("}]", text.p[to - 1]))
		to--;
	return from < to ? (struct str){text.p + from, to - from} : STR("");
}

/* Line breaks: observations are recorded without them, conversations with them. */
static struct str text_of(struct recorded *r, const struct line *l)
{
	struct str message, kept = STR_NONE, observation = l->value[KEY_OBSERVATION];
	AUTO_BUF decoded = BUF(BUF_MAX_MESSAGE), quoted = BUF(2 * BUF_MAX_MESSAGE);

	for (size_t cursor = 0; json_next(l->value[KEY_MESSAGES], &cursor, &message);) {
		struct str content = JSON_GET(message, "content");

		buf_clear(&decoded);
		if (json_type(content) != JSON_STRING || !json_decode(content, &decoded))
			continue;
		struct str text = without_wrapping(buf_view(&decoded));

		if (json_is_valid(text) && json_equal(text, observation)) {
			buf_clear(&quoted);
			json_quote(&quoted, text);
			kept = copy(r, buf_view(&quoted));
		}
	}
	return kept;
}

static void read_call(struct recorded *r, struct recorded_rollout *one, const struct line *l)
{
	struct str call = l->value[KEY_TOOL_CALL], arguments = JSON_GET(call, "arguments");
	AUTO_BUF canon = BUF(BUF_MAX_MESSAGE);

	json_canon(json_is_null(arguments) ? STR("{}") : arguments, NULL, JSON_EDIT_DROP, &canon);
	one->calls = mem_grow(one->calls, one->count, sizeof(*one->calls));
	struct recorded_call *c = &one->calls[one->count++];
	struct str text = text_of(r, l);

	*c = (struct recorded_call){.name = copy_text(r, call, "name"),
	                            .arguments = arena_str(&r->arena, buf_view(&canon)),
	                            .reply = reply_of(r, l)};
	c->name = c->name.p ? c->name : STR("");
	c->reply.text = text;
	c->key = recorded_key(c->name, c->arguments);
}

/* ---- rollouts ---- */

static struct recorded_rollout *find(const struct recorded *r, struct str id)
{
	return map_find(&r->ids, map_hash(id), id);
}

/* A header after the end of that rollout starts another rollout with the same id. */
static struct recorded_rollout *begin(struct recorded *r, struct str id)
{
	struct recorded_rollout *old = find(r, id), *one = mem_new(sizeof(*one));

	if (old)
		map_remove(&r->ids, &old->item);
	r->rollouts = mem_grow(r->rollouts, r->count, sizeof(struct recorded_rollout *));
	r->rollouts[r->count++] = one;
	one->id = arena_str(&r->arena, id);
	one->reset.outcome = OUTCOME_NONE;
	map_add(&r->ids, &one->item, map_hash(one->id));
	return one;
}

static int read_line(void *ctx, const struct line *l, const struct reader_note *note,
                     struct error *err)
{
	struct recorded *r = ctx;
	struct recorded_rollout *one =
		l->type == LINE_HEADER ? begin(r, l->rollout) : find(r, l->rollout);

	if (r->arena.bytes > RECORDED_MAX) {
		return error_set(err, FAIL_INPUT,
		                 "cannot play back more than 1 GiB, because it is kept in memory: "
		                 "split the recording by rollout");
	}
	if (!one) {
		bool known = l->type != LINE_UNKNOWN && !note->torn;

		return known ? error_set(err, FAIL_INPUT, "rollout %.*s has no header line",
		                         STR_ARG(l->rollout))
		             : 0;
	}
	switch (l->type) {
	case LINE_HEADER:
		read_header(r, one, l);
		break;
	case LINE_RESET:
		one->reset = reply_of(r, l);
		one->was_reset = true;
		break;
	case LINE_STEP:
		read_state(r, one, l);
		if (line_was_sent(l))
			read_call(r, one, l);
		break;
	case LINE_END:
		read_state(r, one, l);
		one->total_reward = copy(r, l->value[KEY_TOTAL_REWARD]);
		break;
	case LINE_EVENT:
		if (l->event == EVENT_SESSION_ID_CHANGED && one->count > 0)
			one->calls[one->count - 1].changes_session = true;
		break;
	case LINE_TYPES:
	case LINE_UNKNOWN:
		break;
	}
	return 0;
}

static int check(struct recorded *r, const char *path, struct error *err)
{
	for (size_t i = 0; i < r->count; i++) {
		struct recorded_rollout *one = r->rollouts[i];

		if (!one->was_reset && one->count == 0) {
			return error_set(
				err, FAIL_INPUT,
				"%s: rollout %.*s has neither a reset nor a call: nothing to "
				"play back",
				path, STR_ARG(one->id));
		}
		one->reset.outcome =
			one->reset.outcome == OUTCOME_NONE ? OUTCOME_OK : one->reset.outcome;
	}
	return r->count ? 0 : error_set(err, FAIL_INPUT, "%s: contains no recording", path);
}

/* ---- tools ---- */

static void offer_called(struct recorded *r)
{
	struct buf tools = BUF(BUF_MAX_MESSAGE);
	AUTO_ARENA arena = {0};
	struct map seen = {.root = NULL};
	struct json_writer w = jw_form(&tools, "[");

	for (size_t i = 0; i < r->count; i++) {
		struct recorded_rollout *one = r->rollouts[i];

		for (size_t k = 0; k < one->count; k++) {
			size_t known = seen.count;

			map_find_or_add(&seen, map_hash(one->calls[k].name), &arena,
			                sizeof(struct map_item));
			if (seen.count > known)
				jw_pack(&w, "{name:%s,inputSchema:{type:'object'}}",
				        one->calls[k].name);
		}
	}
	jw_end(&w);
	struct str kept = buf_keep(&tools, &r->arena);

	for (size_t i = 0; i < r->count; i++)
		if (r->rollouts[i]->count > 0)
			r->rollouts[i]->tools = kept;
}

int recorded_read(const char *path, struct recorded *out, struct error *err)
{
	*out = (struct recorded){.ids = {.key = offsetof(struct recorded_rollout, id)}};
	if (reader_file(path, read_line, out, err) || check(out, path, err))
		return -1;
	if (!out->has_tools)
		offer_called(out);
	return 0;
}

void recorded_release(struct recorded *r)
{
	for (size_t i = 0; i < r->count; i++) {
		free(r->rollouts[i]->calls);
		free(r->rollouts[i]);
	}
	free(r->rollouts);
	arena_release(&r->arena);
	*r = (struct recorded){.count = 0};
}
