/* Lines to text and back, the table of keys, and the words of outcomes. */
#include "tap.h"

#include "base/mem.h"
#include "recording/line.h"

#include <stdlib.h>

static struct buf scratch = {.max = 1 << 20};

static int parse(const char *text, struct line *l, struct error *err)
{
	size_t used;

	return line_parse(str_from(text), &scratch, l, &used, err);
}

/* Every row of the table in sequence under one line type, with the type of value it allows.
   */
static const char *value_for(const struct line_key *row)
{
	static const struct {
		unsigned type;
		const char *value;
	} values[] = {
		{T_OBJECT, "{\"b\": 1,\"a\":[true]}"},  {T_ARRAY, "[{\"x\":\"y\"}]"},
		{T_STRING, "\"text \\u00e9 \\ud800\""}, {T_NUMBER, "7"},
		{T_BOOL & (1u << JSON_TRUE), "true"},
	};
	static char word[32];

	if (row->key == KEY_VERSION)
		return "1";
	if (row->words) {
		snprintf(word, sizeof(word), "\"%.*s\"", (int)strcspn(row->words, ","), row->words);
		return word;
	}
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		if (row->types & values[i].type)
			return values[i].value;
	return "null";
}

/* Is what line_written makes of the text what line_parse has made of it? */
static void is_as_parsed(const struct line *l, const struct line *parsed, const struct buf *text,
                         const size_t sizes[KEY_COUNT])
{
	struct str line = {text->p, text->n - 1};
	struct line seen = {.type = LINE_UNKNOWN};
	struct error err = {0};

	is_int(line_written(l->type, line, sizes, &scratch, &seen, &err), 0, "%s: as written %s",
	       line_type_name(l->type), err.text);
	bool same = seen.text.p == parsed->text.p && str_eq(seen.text, parsed->text) &&
	            str_eq(seen.rollout, parsed->rollout) && seen.turn == parsed->turn &&
	            seen.step == parsed->step && seen.outcome == parsed->outcome &&
	            seen.status == parsed->status && seen.event == parsed->event &&
	            seen.terminated == parsed->terminated && seen.truncated == parsed->truncated;
	for (size_t k = 0; k < KEY_COUNT; k++)
		same = same && seen.value[k].p == parsed->value[k].p &&
		       seen.value[k].n == parsed->value[k].n;
	ok(same, "%s: and as parsed", line_type_name(l->type));
}

static void whole_line(enum line_type t)
{
	size_t count, used, sizes[KEY_COUNT];
	const struct line_key *rows = line_rows(t, &count);
	struct line l = {.type = t}, back;
	struct buf text = BUF(1 << 16), again = BUF(1 << 16);
	struct arena values = {0};
	struct error err = {0};

	for (size_t i = 0; i < count; i++)
		l.value[rows[i].key] = arena_str(&values, str_from(value_for(&rows[i])));
	line_write(&l, &text, sizes);
	is_int(line_parse(buf_view(&text), &scratch, &back, &used, &err), 0,
	       "%s: parse(write(x)) %s", line_type_name(t), err.text);
	bool same = back.type == t;
	for (size_t k = 0; k < KEY_COUNT; k++)
		same = same && str_eq(back.value[k], l.value[k]);
	ok(same, "%s: every value survives a round trip", line_type_name(t));
	is_as_parsed(&l, &back, &text, sizes);
	line_write(&back, &again, sizes);
	is_str(buf_cstr(&again), buf_cstr(&text), "%s: and is written as it was",
	       line_type_name(t));
	is_int(used, text.n - 1, "%s: the bytes used", line_type_name(t));
	buf_release(&text);
	buf_release(&again);
	arena_release(&values);
}

static void bare_line(enum line_type t)
{
	struct line l = {.type = t}, back;
	struct buf text = BUF(1 << 16);
	struct error err = {0};
	size_t count, used, sizes[KEY_COUNT];
	const struct line_key *rows = line_rows(t, &count);

	l.value[KEY_ROLLOUT] = STR("\"r.0\"");
	l.value[KEY_FORMAT] = STR("\"rolldbg\"");
	l.value[KEY_VERSION] = STR("1");
	line_write(&l, &text, sizes);
	is_int(line_parse(buf_view(&text), &scratch, &back, &used, &err), 0, "%s: bare %s",
	       line_type_name(t), err.text);
	bool right = true;
	for (size_t i = 0; i < count; i++) {
		bool there = back.value[rows[i].key].n > 0;

		right = right && there == !(rows[i].types & T_OPTIONAL);
	}
	ok(right, "%s: null for unknown values, optional keys are omitted", line_type_name(t));
	is_as_parsed(&l, &back, &text, sizes);
	buf_release(&text);
}

static void table(void)
{
	size_t rows = 0;

	for (int t = 0; t < LINE_TYPES; t++) {
		size_t count;
		const struct line_key *first = line_rows((enum line_type)t, &count);
		bool ours = count > 2 && first[0].key == KEY_TYPE && first[1].key == KEY_ROLLOUT &&
		            first[count - 1].key == KEY_META;

		for (size_t i = 0; i < count; i++)
			ours = ours && (int)first[i].line == t && first[i].meaning[0];
		ok(ours, "%s: type and rollout first, meta last",
		   line_type_name((enum line_type)t));
		is_str(first[0].words, line_type_name((enum line_type)t), "its name is its type");
		whole_line((enum line_type)t);
		bare_line((enum line_type)t);
		rows += count;
	}
	is_int(rows, line_keys_count, "each row has its line type");
}

static void same_ids_same_names(void)
{
	const char *names[KEY_COUNT] = {0};
	bool same = true;

	for (size_t i = 0; i < line_keys_count; i++) {
		const char **name = &names[line_keys[i].key];

		same = same && (!*name || strcmp(*name, line_keys[i].name) == 0);
		*name = line_keys[i].name;
	}
	for (size_t k = 0; k < KEY_COUNT; k++)
		same = same && names[k];
	ok(same, "each key has one name, and a row");
}

static const char *words_of(const struct line_key *rows, size_t count, enum key k, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (rows[i].key == k && strcmp(rows[i].name, name) == 0)
			return rows[i].words;
	return NULL;
}

/* Each enum has the words that the table allows, in order, and finds them. */
#define WORDS(type, rows, key, member)                                                             \
	do {                                                                                       \
		struct buf words = BUF(1024);                                                      \
		for (unsigned i = 1;                                                               \
		     type##_name(i) && type##_parse(str_from(type##_name(i))) == i; i++)           \
			buf_printf(&words, "%s%s", words.n ? "," : "", type##_name(i));            \
		is_str(buf_cstr(&words), words_of(rows, rows##_count, key, member),                \
		       "the table has the words of " #type);                                       \
		is_str(type##_name(0), NULL, "null is not a word");                                \
		is_int(type##_parse(STR("")), 0, "an empty word is not valid");                    \
		is_int(type##_parse(STR("okay")), 0, "an unknown word is not valid");              \
		buf_release(&words);                                                               \
	} while (0)

static void words(void)
{
	WORDS(outcome, line_keys, KEY_OUTCOME, "outcome");
	WORDS(error_class, line_parts, KEY_ERROR, "class");
	WORDS(error_layer, line_parts, KEY_ERROR, "layer");
	WORDS(end_status, line_keys, KEY_STATUS, "status");
	WORDS(event_kind, line_keys, KEY_EVENT, "event");
	WORDS(state_kind, line_parts, KEY_STATE_SOURCE, "kind");
	WORDS(policy_kind, line_parts, KEY_POLICY, "kind");
	WORDS(protocol, line_parts, KEY_ENV, "protocol");
	is_str(end_status_name(END_INCOMPLETE), "incomplete",
	       "the status that readers give to a missing end");
	is_int(end_status_parse(STR("incomplete")), END_UNKNOWN, "is not a status of a line");
}

/* Words in lines, spelled with escapes or without. */
static void decoded_words(void)
{
	struct line l;
	struct error err;

	parse("{\"type\":\"end\",\"rollout\":\"r\",\"status\":\"max\\u002dturns\"}", &l, &err);
	is_int(l.status, END_MAX_TURNS, "a status");
	is_int(parse("{\"type\":\"end\",\"rollout\":\"r\",\"status\":\"incomplete\"}", &l, &err),
	       -1, "incomplete is not recorded");
	parse("{\"type\":\"end\",\"rollout\":\"r\",\"status\":null}", &l, &err);
	is_int(l.status, END_UNKNOWN, "none");
	parse("{\"type\":\"event\",\"rollout\":\"r\",\"event\":\"late\\u002dreply\"}", &l, &err);
	is_int(l.event, EVENT_LATE_REPLY, "an event");
	is_int(parse("{\"type\":\"event\",\"rollout\":\"r\",\"event\":\"new\"}", &l, &err), 0,
	       "unknown events are accepted");
	is_int(l.event, EVENT_UNKNOWN, "and are unknown");
	parse("{\"type\":\"step\",\"rollout\":\"r\",\"error\":{\"class\":\"unknown\\u002dtool\","
	      "\"layer\":\"mcp\"}}",
	      &l, &err);
	is_int(line_error_class(&l), CLASS_UNKNOWN_TOOL, "an error's class");
	is_int(line_error_layer(&l), LAYER_MCP, "its layer");
	is_int(line_state_kind(&l), STATE_UNKNOWN, "no state source");
	parse("{\"type\":\"header\",\"rollout\":\"r\",\"format\":\"rolldbg\",\"version\":1,"
	      "\"state_source\":{\"kind\":\"tool\"},\"policy\":{\"kind\":7}}",
	      &l, &err);
	is_int(line_state_kind(&l), STATE_TOOL, "a state source");
	is_int(line_policy_kind(&l), POLICY_UNKNOWN, "a policy that is not a string");
}

static void decoded(void)
{
	struct line l;
	struct error err;

	is_int(parse("{\"type\":\"step\",\"rollout\":\"r\\u002e0\",\"turn\":3,\"step\":"
	             "null,"
	             "\"state\":{\"a\":1},\"state_hash\":\"00ff\",\"tool_call\":{"
	             "\"arguments\":{\"n\":1},"
	             "\"name\":\"go\"},\"outcome\":\"not-sent\",\"terminated\":true}",
	             &l, &err),
	       0, "a step");
	ok(str_is(l.rollout, "r.0"), "the rollout is decoded");
	is_int(l.turn, 3, "turn");
	is_int(l.step, -1, "no step");
	is_int(l.outcome, OUTCOME_NOT_SENT, "outcome");
	is_int(l.terminated, 1, "terminated");
	is_int(l.truncated, -1, "truncated is not known");
	ok(str_is(line_state_hash(&l), "00ff"), "hash");
	ok(str_is(line_tool_name(&l), "go"), "tool");
	ok(str_is(line_arguments(&l), "{\"n\":1}"), "arguments");
	ok(line_has(&l, KEY_STATE) && !line_has(&l, KEY_STEP) && !line_has(&l, KEY_REWARD),
	   "there, null and missing");
	is_int(parse("{\"type\":\"step\",\"rollout\":\"r\",\"outcome\":null}", &l, &err), 0,
	       "no call");
	is_int(l.outcome, OUTCOME_NONE, "no outcome");
	is_int(line_arguments(&l).n + line_tool_name(&l).n + line_state_hash(&l).n, 0,
	       "no call, no hash");
	is_int(parse("{\"type\":\"later\",\"rollout\":7,\"turn\":\"x\"}", &l, &err), 0,
	       "a type of later versions");
	is_int(l.type, LINE_UNKNOWN, "is unknown");
	is_int(l.rollout.n, 0, "whatever its type");
}

static void errors(void)
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"", "unexpected end of input at byte 1"},
		{"{\"type\":\"end\"", "unexpected end of input at byte 14"},
		{"{\"type\":7}", "an object without \"type\" at byte 1"},
		{"{\"type\":\"end\"}", "a line without \"rollout\" at byte 1"},
		{"{\"type\":\"end\",\"rollout\":null}",
	         "\"rollout\" is null, not a string, at byte 25"},
		{"{\"type\":\"end\",\"rollout\":\"r\",\"lines\":1.5}",
	         "\"lines\" is 1.5, not an integer >= 0, at byte 37"},
		{"{\"type\":\"end\",\"rollout\":\"r\",\"status\":\"won\"}",
	         "\"status\" is \"won\", not one of "
	         "terminated,truncated,finished,max-turns,stopped,"
	         "refused,unreachable,interrupted,failed, at byte 38"},
		{"{\"type\":\"step\",\"rollout\":\"r\",\"tool_call\":[]}",
	         "\"tool_call\" is of type array, not an object or null, at byte 42"},
		{"{\"type\":\"header\",\"rollout\":\"r\",\"format\":\"rolldbg\","
	         "\"version\":0}",
	         "unknown version 0 at byte 61"},
		{"{\"type\":\"header\",\"rollout\":\"r\",\"format\":\"rolldbg\","
	         "\"version\":12}",
	         "the recording has version 12, but this rolldbg reads versions up to 1, at "
	         "byte 61"},
		{"{\"type\":\"header\",\"rollout\":\"r\",\"seed\":1.5}",
	         "\"seed\" is 1.5, not an integer, at byte 39"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct line l;
		struct error err = {0};

		is_int(parse(rows[i].text, &l, &err), -1, "%s", rows[i].text);
		is_int(err.kind, FAIL_INPUT, "is bad input");
		is_str(err.text, rows[i].want, "with the reason");
	}
}

static void line_breaks(void)
{
	struct line l = {.type = LINE_RESET}, back;
	struct buf text = BUF(1024);
	size_t sizes[KEY_COUNT];
	struct error err = {0};

	l.value[KEY_ROLLOUT] = STR("\"r.0\"");
	l.value[KEY_OBSERVATION] = STR("{\n \"a\": 1,\r\n \"b\":\"\\n\"\n}");
	line_write(&l, &text, sizes);
	is_str(buf_cstr(&text),
	       "{\"type\":\"reset\",\"rollout\":\"r.0\",\"outcome\":null,\"error\":null,"
	       "\"observation\":{ \"a\": 1, \"b\":\"\\n\"},\"messages\":null}\n",
	       "line breaks between tokens go, everything else stays");
	l.value[KEY_OBSERVATION] = STR(" [1]\t");
	buf_clear(&text);
	line_write(&l, &text, sizes);
	is_int(line_parse(buf_view(&text), &scratch, &back, NULL, &err), 0,
	       "blanks around a value");
	is_as_parsed(&l, &back, &text, sizes);
	buf_clear(&text);
	l.type = LINE_UNKNOWN;
	line_write(&l, &text, sizes);
	is_int(text.n, 0, "a line of unknown type is not written");
	buf_release(&text);
}

int main(void)
{
	table();
	same_ids_same_names();
	words();
	decoded_words();
	decoded();
	errors();
	line_breaks();
	buf_release(&scratch);
	return done();
}
