/* State sources: see state_source.h. */
#include "env/state_source.h"

#include "base/names.h"
#include "json/scan.h"

/* The last one is only used in recordings: import is not an option. */
static const char *const names[] = {
	[STATE_AUTO] = "auto",
#define STATE_WORD(id, word, asks_server, target) [STATE_##id] = (word),
#include "recording/keys.def"
};
#define NAMES_COUNT STATE_IMPORT

static int unknown_kind(struct str kind, struct error *err)
{
	error_set(err, FAIL_USAGE, "\1state\2: unknown source '%.*s'", STR_ARG(kind));
	return names_suggest(err, kind, names, NAMES_COUNT);
}

static int check_target(struct state_source *s, struct error *err)
{
	struct json_fault fault;

	if (state_kind_needs_target(s->kind) && !s->target.n) {
		return error_set(err, FAIL_USAGE, "\1state\2 %s needs a target: %s:%s",
		                 names[s->kind], names[s->kind], state_kind_target(s->kind));
	}
	if (s->kind == STATE_OBSERVATION && s->target.n && s->target.p[0] != '/') {
		return error_set(err, FAIL_USAGE,
		                 "\1state\2 observation needs a JSON Pointer: /a/b");
	}
	if (!state_kind_target(s->kind) && s->target.p)
		return error_set(err, FAIL_USAGE, "\1state\2 %s takes no target", names[s->kind]);
	if (s->kind == STATE_TOOL && json_validate(s->arguments, &fault)) {
		return error_set(err, FAIL_USAGE,
		                 "\1state\2 tool: the arguments are not JSON: %s at byte %zu",
		                 fault.why, fault.at);
	}
	if (s->kind == STATE_TOOL && json_type(s->arguments) != JSON_OBJECT) {
		return error_set(err, FAIL_USAGE,
		                 "\1state\2 tool: the arguments are not a JSON object");
	}
	return 0;
}

int state_source_parse(struct str spec, struct state_source *out, struct error *err)
{
	struct str rest = spec, kind = str_cut(&rest, ':');

	*out = (struct state_source){.value = BUF(BUF_MAX_MESSAGE),
	                             .scratch = BUF(BUF_MAX_MESSAGE),
	                             .why = BUF(BUF_MAX_MESSAGE)};
	for (size_t i = 0; i < NAMES_COUNT; i++) {
		if (!str_is(kind, names[i]))
			continue;
		out->kind = (enum state_kind)i;
		out->target = kind.n < spec.n ? rest : STR_NONE;
		if (out->kind == STATE_TOOL) {
			out->arguments = out->target;
			out->target = str_cut(&out->arguments, ':');
			out->arguments = out->arguments.n ? out->arguments : STR("{}");
		}
		return check_target(out, err);
	}
	return unknown_kind(kind, err);
}

/* What auto chooses is left to auto: a control plane may be found at another place. */
void state_source_spell(struct str recorded, struct buf *out)
{
	static const struct {
		enum state_kind kind;
		const char *key;
	} targets[] = {{STATE_RESOURCE, "resource"},
	               {STATE_TOOL, "tool"},
	               {STATE_OBSERVATION, "pointer"},
	               {STATE_NONE, ""}};
	AUTO_ARENA arena = {0};
	struct str arguments = JSON_GET(recorded, "arguments");
	struct str word = json_text(&arena, JSON_GET(recorded, "kind"));
	enum state_kind kind = state_kind_parse(word);

	for (size_t i = 0; i < ARRAY_LEN(targets); i++) {
		struct str target = json_text(&arena, json_get(recorded, str_from(targets[i].key)));

		if (kind == targets[i].kind && (target.n || !state_kind_needs_target(kind))) {
			buf_printf(out, "%s%s%.*s", names[kind], target.n ? ":" : "",
			           STR_ARG(target));
			buf_printf(out, "%s%.*s", arguments.n ? ":" : "", STR_ARG(arguments));
		}
	}
}

void state_source_release(struct state_source *s)
{
	BUFS_RELEASE(&s->value, &s->scratch, &s->why);
}

struct str state_source_observed(struct state_source *s, struct str last)
{
	struct str found;

	buf_clear(&s->value);
	buf_clear(&s->scratch);
	found = s->target.n ? json_point(last, s->target, &s->scratch) : last;
	buf_str(&s->value, found);
	return buf_given(&s->value);
}
