/* From a reply to tool calls: see calls.h. */
#include "policy/llm/calls.h"

#include "json/write.h"
#include "policy/toolformats/format.h"
#include "policy/tools.h"

#include <stdio.h>

#define UNWRAP_MAX 2 /* how often arguments may have been encoded once too often */

struct reading {
	const struct calls_conf *conf;
	const struct chat_reply *reply;
	struct arena *arena;
	struct tool_calls *out;
};

bool call_noted(const struct call_notes *n, const char *word)
{
	for (size_t i = 0; i < n->count; i++) {
		if (strcmp(n->words[i], word) == 0) {
			return true;
		}
	}
	return false;
}

void call_note(struct call_notes *n, const char *word)
{
	if (!call_noted(n, word) && n->count < CALL_NOTES_MAX) {
		n->words[n->count++] = word;
	}
}

/* ---- what cannot be sent ---- */

/* Arguments that are no object are kept as the text they were. */
static struct str quoted(struct arena *a, struct str text)
{
	struct buf b = BUF(2 * CHAT_REPLY_MAX);

	json_quote(&b, text);
	struct str kept = arena_str(a, buf_view(&b));
	buf_release(&b);
	return kept;
}

static void refuse(struct reading *r, struct tool_call *c, enum outcome outcome,
                   enum error_class class, const char *message)
{
	c->outcome = outcome;
	c->class = class;
	c->message = arena_str(r->arena, str_from(message));
}

static void refuse_text(struct reading *r, struct tool_call *c, enum outcome outcome,
                        struct str text, const char *message)
{
	c->arguments = text.p ? quoted(r->arena, text) : text;
	refuse(r, c, outcome, CLASS_ARGUMENTS, message);
}

static void refuse_cut(struct reading *r, struct tool_call *c, struct str text)
{
	call_note(&r->out->notes, "truncated-call");
	refuse_text(r, c, OUTCOME_NOT_SENT, text,
	            "the reply ended inside this call, so it was not executed");
}

/* ---- arguments ---- */

static struct str required_of(struct str tools, struct str name)
{
	return JSON_GET(tool_schema(tool_find(tools, name)), "required");
}

/* A string that holds an object, and perhaps once more. */
static struct str unwrapped(struct reading *r, struct str value)
{
	struct json_fault fault;

	for (int i = 0; i < UNWRAP_MAX && json_type(value) == JSON_STRING; i++) {
		struct buf text = BUF(CHAT_REPLY_MAX);

		json_decode(value, &text);
		struct str inner = arena_str(r->arena, buf_view(&text));
		buf_release(&text);
		if (json_validate(inner, &fault)) {
			return value;
		}
		value = trimmed(inner);
	}
	return value;
}

/* The first whole value, where another object was written right behind it. */
static bool is_concatenated(struct str text, struct str *first)
{
	struct json_fault fault;
	size_t used;

	if (json_validate_first(text, &used, &fault)) {
		return false;
	}
	*first = trimmed((struct str){text.p, used});
	return str_starts(trimmed(str_skip(text, used)), STR("{"));
}

/* Mends what may be mended; false: it stays as it is. */
static bool mend(struct reading *r, struct str text, struct str *object)
{
	struct call_notes *named = &r->out->repairs, mended = {.count = 0};
	struct buf out = BUF(CHAT_REPLY_MAX);
	size_t used = 0;
	bool good = false;

	if (is_concatenated(text, object)) {
		call_note(named, "concatenated");
		return true;
	}
	if (json_mend(text, &out, &used, &mended) && !trimmed(str_skip(text, used)).n &&
	    mended.count && !call_noted(&mended, "missing-end")) {
		*object = arena_str(r->arena, buf_view(&out));
		for (size_t i = 0; i < mended.count; i++) {
			call_note(named, mended.words[i]);
		}
		good = true;
	}
	buf_release(&out);
	return good;
}

/* Text that was to be a JSON object. */
static void read_arguments(struct reading *r, struct tool_call *c, struct str text,
                           bool last)
{
	bool limited = last && str_is(r->reply->finish_reason, "length");
	bool repair = r->conf->repair;
	struct str object = trimmed(text);
	struct json_fault fault = {0};
	struct error why = {0};

	if (limited && !object.n) {
		refuse_cut(r, c, text);
		return;
	}
	if (!object.n || json_is_null(object)) {
		call_note(&r->out->notes, "empty-arguments");
		if (json_count(required_of(r->conf->tools, c->name)) == 0) {
			c->arguments = STR("{}");
			return;
		}
		refuse_text(r, c, OUTCOME_UNPARSED, text, "the arguments are empty");
		return;
	}
	if (json_validate(object, &fault)) {
		if (limited && fault.at >= object.n) {
			refuse_cut(r, c, text);
			return;
		}
		if (!repair || !mend(r, object, &object)) {
			error_set(&why, FAIL_INPUT, "the arguments are not JSON: %s",
			          fault.why);
			refuse_text(r, c, OUTCOME_UNPARSED, text, why.text);
			return;
		}
	}
	if (json_type(object) == JSON_STRING && repair) {
		object = unwrapped(r, object);
		if (json_type(object) == JSON_OBJECT) {
			call_note(&r->out->repairs, "double-encoded");
		}
	}
	if (json_type(object) != JSON_OBJECT) {
		error_set(&why, FAIL_INPUT,
		          "the arguments are of type %s, and must be an object",
		          json_type_name(json_type(object)));
		refuse_text(r, c, OUTCOME_UNPARSED, text, why.text);
		return;
	}
	c->arguments = object;
}

/* ---- names ---- */

static bool is_offered(const struct reading *r, struct str name)
{
	return tool_find(r->conf->tools, name).p != NULL;
}

/* "functions.lake_move" is what some models were shown. */
static void settle_name(struct reading *r, struct tool_call *c)
{
	struct error why = {0};

	if (!is_offered(r, c->name) && str_starts(c->name, STR("functions.")) &&
	    is_offered(r, str_skip(c->name, strlen("functions."))) && r->conf->repair) {
		c->name = str_skip(c->name, strlen("functions."));
		call_note(&r->out->repairs, "functions-prefix");
	}
	if (c->outcome == OUTCOME_NONE && !c->name.n) {
		refuse(r, c, OUTCOME_UNPARSED, CLASS_ARGUMENTS, "the call names no tool");
	}
	if (c->outcome == OUTCOME_NONE && tool_require(r->conf->tools, c->name, &why)) {
		refuse(r, c, OUTCOME_NOT_SENT, CLASS_UNKNOWN_TOOL, why.text);
	}
}

/* Nine letters and digits, which every template takes. */
static struct str made_id(struct reading *r, size_t i)
{
	char id[32];

	snprintf(id, sizeof(id), "call%05lld",
	         (long long)((r->conf->first + (int64_t)i) % 100000));
	return arena_str(r->arena, str_from(id));
}

/* ---- native calls ---- */

static void read_native(struct reading *r)
{
	const struct chat_reply *reply = r->reply;
	struct tool_calls *out = r->out;

	out->source = "native";
	out->count = reply->call_count;
	out->items = arena_new(r->arena, (out->count + 1) * sizeof(*out->items));
	for (size_t i = 0; i < out->count; i++) {
		const struct chat_call *call = &reply->calls[i];
		struct tool_call *c = &out->items[i];

		c->name = call->name.p ? call->name : STR("");
		c->id = call->id.n ? call->id : made_id(r, i);
		if (call->not_text) {
			call_note(&out->notes, "arguments-not-a-string");
		}
		settle_name(r, c);
		struct tool_call arguments = {.name = c->name};
		read_arguments(r, &arguments, call->arguments, i + 1 == out->count);
		c->arguments = arguments.arguments;
		if (c->outcome == OUTCOME_NONE) {
			c->outcome = arguments.outcome;
			c->class = arguments.class;
			c->message = arguments.message;
		}
	}
	if (reply->calls_dropped) {
		call_note(&out->notes, "too-many-calls");
	}
	if (str_is(reply->finish_reason, "stop")) {
		call_note(&out->notes, "finish-reason-disagrees");
	}
}

/* ---- calls as text ---- */

static void add_thought(struct buf *thoughts, struct str thought)
{
	thought = trimmed(thought);
	buf_text(thoughts, thoughts->n && thought.n ? "\n\n" : "");
	buf_str(thoughts, thought);
}

/* Parts <think>..</think> from the rest. The template may have opened the first; the last
   may never end. */
static void part_thoughts(struct str text, struct buf *thoughts, struct buf *rest)
{
	struct str before, after, thought;

	if (cut_at(text, "</think>", &before, &after) &&
	    mark_at(before, "<think>") == before.n) {
		add_thought(thoughts, before);
		text = after;
	}
	while (cut_at(text, "<think>", &before, &after)) {
		buf_str(rest, before);
		cut_at(after, "</think>", &thought, &text);
		add_thought(thoughts, thought);
	}
	buf_str(rest, text);
}

static struct str without_reasoning(struct reading *r, struct str text)
{
	struct buf thoughts = BUF(CHAT_REPLY_MAX), rest = BUF(CHAT_REPLY_MAX);

	if (mark_at(text, "<think>") == text.n && mark_at(text, "</think>") == text.n) {
		return text;
	}
	part_thoughts(text, &thoughts, &rest);
	text = arena_str(r->arena, buf_view(&rest));
	if (!r->out->reasoning.n) {
		r->out->reasoning = arena_str(r->arena, buf_view(&thoughts));
	}
	buf_release(&thoughts);
	buf_release(&rest);
	return text;
}

static bool has_mark(const struct tool_format *format, struct str text)
{
	for (size_t i = 0; i < ARRAY_LEN(format->marks) && format->marks[i]; i++) {
		const char *mark = format->marks[i];
		size_t at = mark_at(text, mark);
		struct str after = str_skip(text, at + strlen(mark));

		bool shared = i == 0 && format->is_ours;

		if (at < text.n && (!shared || format->is_ours(trimmed(after)))) {
			return true;
		}
	}
	return false;
}

/* Without marks only calls of tools there are make text a call. */
static bool is_convincing(const struct reading *r, const struct tool_format *format,
                          const struct finder *f)
{
	if (format->marks[0]) {
		return f->count > 0;
	}
	for (size_t i = 0; i < f->count; i++) {
		bool cut_json = f->calls[i].how == FOUND_CUT && !f->calls[i].name.n &&
		                r->conf->mode == TOOLS_JSON;

		if (!is_offered(r, f->calls[i].name) && !cut_json) {
			return false;
		}
	}
	return f->count > 0;
}

static void settle_found(struct reading *r, const struct found_call *found, size_t i)
{
	struct tool_call *c = &r->out->items[i];
	struct error why = {0};

	c->name = found->name.p ? found->name : STR("");
	c->id = found->id.n ? found->id : made_id(r, i);
	switch (found->how) {
	case FOUND_WHOLE:
		read_arguments(r, c, found->arguments, false);
		break;
	case FOUND_CUT:
		refuse_cut(r, c, found->arguments);
		break;
	case FOUND_BAD:
		error_set(&why, FAIL_INPUT, "the call cannot be read: %s", found->why);
		refuse_text(r, c, OUTCOME_UNPARSED, found->arguments, why.text);
		break;
	}
	settle_name(r, c);
}

static void take_found(struct reading *r, const struct tool_format *format,
                       const struct finder *f)
{
	struct tool_calls *out = r->out;

	out->source = "text";
	out->format = format->name;
	out->count = f->count;
	out->content = arena_str(r->arena, trimmed(buf_view(&f->rest)));
	out->items = arena_new(r->arena, (out->count + 1) * sizeof(*out->items));
	for (size_t i = 0; i < f->count; i++) {
		settle_found(r, &f->calls[i], i);
	}
}

static bool try_format(struct reading *r, const struct tool_format *format,
                       struct str text)
{
	struct call_notes notes = {.count = 0}, repairs = {.count = 0};
	struct finder f = {.tools = r->conf->tools,
	                   .repair = r->conf->repair,
	                   .arena = r->arena,
	                   .rest = BUF(CHAT_REPLY_MAX),
	                   .notes = &notes,
	                   .repairs = &repairs};

	if (format->marks[0] && !has_mark(format, text)) {
		return false;
	}
	f.calls = arena_new(r->arena, CHAT_CALLS_MAX * sizeof(*f.calls));
	format->find(&f, text);
	bool good = is_convincing(r, format, &f);
	if (good) {
		for (size_t i = 0; i < notes.count; i++) {
			call_note(&r->out->notes, notes.words[i]);
		}
		for (size_t i = 0; i < repairs.count; i++) {
			call_note(&r->out->repairs, repairs.words[i]);
		}
		take_found(r, format, &f);
	}
	buf_release(&f.rest);
	return good;
}

static bool read_text(struct reading *r, struct str text)
{
	for (size_t i = 0; i < tool_formats_count; i++) {
		if (try_format(r, tool_formats[i], text)) {
			return true;
		}
	}
	return false;
}

/* ---- no call ---- */

static bool names_a_tool(const struct reading *r, struct str text)
{
	struct str tool;

	for (size_t cursor = 0; json_next(r->conf->tools, &cursor, &tool);) {
		struct str name = json_inner(JSON_GET(tool, "name"));
		struct buf copy = BUF(BUF_MAX_SMALL);

		buf_str(&copy, name);
		bool found = name.n && mark_at(text, buf_cstr(&copy)) < text.n;
		buf_release(&copy);
		if (found) {
			return true;
		}
	}
	return false;
}

static bool has_markup(struct str text)
{
	for (size_t i = 0; i < tool_formats_count; i++) {
		if (has_mark(tool_formats[i], text)) {
			return true;
		}
	}
	return false;
}

static const char *cause_of(const struct reading *r, struct str text)
{
	if (str_is(r->reply->finish_reason, "length")) {
		return "finish-length";
	}
	if (has_markup(text)) {
		return "markup";
	}
	if (r->reply->refusal.n) {
		return "refusal";
	}
	if (!trimmed(text).n) {
		return has_markup(r->out->reasoning) ? "in-reasoning" : "empty";
	}
	return names_a_tool(r, text) ? "names-a-tool" : "prose";
}

/* What a broken stream left of a call must not be acted upon. */
static void refuse_all(struct reading *r)
{
	call_note(&r->out->notes, "stream-incomplete");
	for (size_t i = 0; i < r->out->count; i++) {
		struct tool_call *c = &r->out->items[i];

		if (c->class != CLASS_UNKNOWN_TOOL) {
			refuse(r, c, OUTCOME_NOT_SENT, CLASS_TRANSPORT,
			       "the model's stream broke off, so this call was not "
			       "executed");
		}
	}
}

void calls_read(const struct calls_conf *conf, const struct chat_reply *reply,
                struct arena *arena, struct tool_calls *out)
{
	struct reading r = {.conf = conf, .reply = reply, .arena = arena, .out = out};

	*out = (struct tool_calls){.source = "none",
	                           .content = reply->content,
	                           .reasoning = reply->reasoning};
	if (reply->call_count) {
		read_native(&r);
	} else {
		struct str text = without_reasoning(&r, reply->content);

		out->content = trimmed(text);
		if (!read_text(&r, text)) {
			out->cause = cause_of(&r, text);
		} else if (conf->mode == TOOLS_NATIVE) {
			call_note(&out->notes, "server-without-parser");
		}
		if (str_is(reply->finish_reason, "tool_calls")) {
			call_note(&out->notes, "finish-reason-disagrees");
		}
	}
	if (reply->incomplete) {
		refuse_all(&r);
	}
}
