/* Converts between the words of keys.def and their enums: see words.h. */
#include "recording/words.h"

static const struct str outcomes[] = {
#define OUTCOME_WORD(id, word, meaning) [OUTCOME_##id] = STR_INIT(word),
#include "recording/keys.def"
};

static const struct str error_classes[] = {
#define CLASS_WORD(id, word, meaning) [CLASS_##id] = STR_INIT(word),
#include "recording/keys.def"
};

static const struct str error_layers[] = {
#define LAYER_WORD(id, word) [LAYER_##id] = STR_INIT(word),
#include "recording/keys.def"
};

/* The last one is for reports only; it never occurs in a line. */
static const struct str end_statuses[] = {
#define STATUS_WORD(id, word) [END_##id] = STR_INIT(word),
#include "recording/keys.def"
	[END_INCOMPLETE] = STR_INIT("incomplete"),
};

static const struct str event_kinds[] = {
#define EVENT_WORD(id, word) [EVENT_##id] = STR_INIT(word),
#include "recording/keys.def"
};

static const struct str state_kinds[] = {
#define STATE_WORD(id, word, asks_server, target) [STATE_##id] = STR_INIT(word),
#include "recording/keys.def"
};

static const struct {
	const char *target;
	bool asks_server;
} state_facts[] = {
#define STATE_WORD(id, word, asks_server, target) [STATE_##id] = {target, asks_server},
#include "recording/keys.def"
};

static const struct str policy_kinds[] = {
#define POLICY_WORD(id, word) [POLICY_##id] = STR_INIT(word),
#include "recording/keys.def"
};

static const struct str protocols[] = {
#define PROTOCOL_WORD(id, word, family, traits, meaning) [PROTOCOL_##id] = STR_INIT(word),
#include "recording/keys.def"
};

static const struct {
	const char *family;
	unsigned traits;
} protocol_facts[] = {
	[PROTOCOL_UNKNOWN] = {NULL, HAS_SESSIONS | TAKES_SEEDS},
#define PROTOCOL_WORD(id, word, family, traits, meaning) [PROTOCOL_##id] = {family, traits},
#include "recording/keys.def"
};

const char *const outcome_meanings[] = {
#define OUTCOME_WORD(id, word, meaning) [OUTCOME_##id] = (meaning),
#include "recording/keys.def"
};
const size_t outcome_count = ARRAY_LEN(outcome_meanings);

const char *const error_class_meanings[] = {
#define CLASS_WORD(id, word, meaning) [CLASS_##id] = (meaning),
#include "recording/keys.def"
};
const size_t error_class_count = ARRAY_LEN(error_class_meanings);

/* Lists are short, and most of their words differ in length. Returns 0 if the word is not in the
   list. */
static size_t find(const struct str *words, size_t count, struct str word)
{
	for (size_t i = 1; i < count; i++)
		if (words[i].n == word.n && memcmp(words[i].p, word.p, word.n) == 0)
			return i;
	return 0;
}

/* NULL for 0, which has no word. */
static const char *name_in(const struct str *words, size_t count, size_t value)
{
	return value < count ? words[value].p : NULL;
}

/* E_name and E_parse of one enum, of whose words the first `parsed` are in lines.
   NOLINTBEGIN(bugprone-macro-parentheses): e is the name of a type */
#define NAME_AND_PARSE(e, words, parsed)                                                           \
	const char *e##_name(enum e value)                                                         \
	{                                                                                          \
		return name_in(words, ARRAY_LEN(words), (size_t)value);                            \
	}                                                                                          \
	enum e e##_parse(struct str word)                                                          \
	{                                                                                          \
		return (enum e)find(words, parsed, word);                                          \
	}
NAME_AND_PARSE(outcome, outcomes, ARRAY_LEN(outcomes))
NAME_AND_PARSE(error_class, error_classes, ARRAY_LEN(error_classes))
NAME_AND_PARSE(error_layer, error_layers, ARRAY_LEN(error_layers))
NAME_AND_PARSE(end_status, end_statuses, END_INCOMPLETE)
NAME_AND_PARSE(event_kind, event_kinds, ARRAY_LEN(event_kinds))
NAME_AND_PARSE(state_kind, state_kinds, ARRAY_LEN(state_kinds))
NAME_AND_PARSE(policy_kind, policy_kinds, ARRAY_LEN(policy_kinds))
NAME_AND_PARSE(protocol, protocols, ARRAY_LEN(protocols))
/* NOLINTEND(bugprone-macro-parentheses) */

bool state_kind_asks_server(enum state_kind s)
{
	return state_facts[s].asks_server;
}

const char *state_kind_target(enum state_kind s)
{
	return state_facts[s].target;
}

bool state_kind_needs_target(enum state_kind s)
{
	return state_facts[s].target && state_facts[s].target[0] != '[';
}

bool protocol_has(enum protocol p, enum protocol_trait trait)
{
	return (protocol_facts[p].traits & trait) != 0;
}

const char *protocol_family(enum protocol p)
{
	return protocol_facts[p].family;
}

const char *target_command(const char *target)
{
	static const char *const schemes[] = {STDIO_SCHEME, VERIFIERS_SCHEME};

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (str_starts(str_from(target), str_from(schemes[i])))
			return target + strlen(schemes[i]);
	return NULL;
}

bool end_status_is_reached(enum end_status s)
{
	return s == END_UNKNOWN || s == END_TERMINATED || s == END_TRUNCATED || s == END_FINISHED ||
	       s == END_MAX_TURNS || s == END_STOPPED;
}
