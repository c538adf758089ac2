/* The directory recording/: the recording format: its keys and words (keys.def), conversion
   between lines and structs, recorder, reader, redaction. Facts derived from lines belong in
   evidence/. */

/* One line of a recording: facts as slices of the text they were read from (or are written
   from). The table keys.def defines the allowed content of a line, its order and its types;
   everything that reads, writes, strips or documents lines derives from it. */
#pragma once

#include "base/buf.h"
#include "base/error.h"
#include "json/scan.h"
#include "recording/words.h"

#define RECORD_FORMAT   "rolldbg"
#define RECORD_VERSION  1
#define RECORD_LINE_MAX BUF_MAX_MESSAGE /* the readers' limit for one line */

enum line_type {
	LINE_HEADER,
	LINE_RESET,
	LINE_STEP,
	LINE_EVENT,
	LINE_END,
	LINE_TYPES,
	LINE_UNKNOWN
};

/* One id per distinct key name: `state` of a step and of an end have the same id. */
enum key {
	KEY_TYPE,
	KEY_ROLLOUT,
	KEY_FORMAT,
	KEY_VERSION,
	KEY_TASK,
	KEY_SAMPLE,
	KEY_SEED,
	KEY_ENV,
	KEY_STATE_SOURCE,
	KEY_POLICY,
	KEY_PARENT,
	KEY_TOOLS,
	KEY_LIMITS,
	KEY_MASKS,
	KEY_OUTCOME,
	KEY_ERROR,
	KEY_OBSERVATION,
	KEY_STRUCTURED,
	KEY_RAW,
	KEY_RAW_BASE64,
	KEY_MESSAGES,
	KEY_TURN,
	KEY_STEP,
	KEY_STATE,
	KEY_STATE_HASH,
	KEY_TOOL_CALL,
	KEY_REWARD,
	KEY_TERMINATED,
	KEY_TRUNCATED,
	KEY_ENV_STEPS,
	KEY_EVENT,
	KEY_DETAIL,
	KEY_STATUS,
	KEY_REASON,
	KEY_TURNS,
	KEY_STEPS,
	KEY_TOTAL_REWARD,
	KEY_REWARD_COMPONENTS,
	KEY_LINES,
	KEY_LLM,
	KEY_META,
	KEY_COUNT
};

/* Allowed types of a value: bits of line_key.types. */
enum {
	T_NULL = 1 << JSON_NULL,
	T_BOOL = 1 << JSON_FALSE | 1 << JSON_TRUE,
	T_NUMBER = 1 << JSON_NUMBER,
	T_STRING = 1 << JSON_STRING,
	T_ARRAY = 1 << JSON_ARRAY,
	T_OBJECT = 1 << JSON_OBJECT,
	T_ANY = T_NULL | T_BOOL | T_NUMBER | T_STRING | T_ARRAY | T_OBJECT,
	T_INTEGRAL = 1 << 8, /* a number must be an integer */
	T_NATURAL = 1 << 9,  /* and not negative */
	T_WHOLE = T_NUMBER | T_INTEGRAL,
	T_COUNT = T_NUMBER | T_INTEGRAL | T_NATURAL,
	T_OPTIONAL = 1 << 10, /* omitted instead of null */
	T_OPEN = 1 << 11,     /* values other than those listed are allowed */
};

/* A key's bit in a set of facts: FACT(STATE) | FACT(REWARD). */
#define FACT(key) (UINT64_C(1) << KEY_##key)

struct line_key {
	enum line_type line;
	enum key key;
	const char *name;
	size_t name_n;       /* length in bytes */
	struct str lead;     /* ,"name": */
	unsigned types;      /* T_* */
	const char *words;   /* allowed words, comma-separated; NULL: any */
	const char *meaning; /* for the manual */
};

/* The table, in writing order, grouped by line type. */
extern const struct line_key line_keys[];
extern const size_t line_keys_count;
const char *line_key_name(enum key k); /* of one that occurs in a line of some type */

/* The members of objects in the table, in writing order, grouped by key; `line` is LINE_UNKNOWN
   because they are the same in every line. Used for the manual, the schema and strip; the reader
   ignores them. */
extern const struct line_key line_parts[];
extern const size_t line_parts_count;

const char *line_type_name(enum line_type t); /* "header" ... */

/* The rows of one line type; NULL and 0 for LINE_UNKNOWN. */
const struct line_key *line_rows(enum line_type t, size_t *count);
/* Does the row allow the value (type and words)? An absent value counts as null. */
bool line_key_allows(const struct line_key *k, struct str value);

/* value[k] is the raw JSON of key k: absent ({NULL,0}) if the key is missing, "null" if it is
   null. The decoded fields repeat the values that nearly every reader needs. */
struct line {
	enum line_type type;
	struct str text;    /* the whole line without its line feed */
	struct str rollout; /* decoded id, borrowed like the values */
	struct str value[KEY_COUNT];
	uint64_t number;              /* of the line in its file, from 1; 0: unknown */
	int64_t turn, step;           /* -1 if null or missing */
	enum outcome outcome;         /* of a step or reset; OUTCOME_NONE if null */
	enum end_status status;       /* of an end */
	enum event_kind event;        /* of an event */
	int8_t terminated, truncated; /* 1, 0, or -1 if null or missing */
};

static inline bool line_has(const struct line *l, enum key k) /* present and not null */
{
	return l->value[k].n > 0 && l->value[k].p[0] != 'n';
}

/* Was a call of it sent to the environment? */
static inline bool line_was_sent(const struct line *l)
{
	return line_has(l, KEY_TOOL_CALL) && l->outcome != OUTCOME_UNPARSED &&
	       l->outcome != OUTCOME_NOT_SENT;
}

/* A value that must be a non-negative integer; -1 for null and absent. Inline, because every
   line has some and most are plain digits. */
static inline int64_t line_count(struct str value)
{
	int64_t n = 0;

	for (size_t i = 0; i < value.n && value.n < 18; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			break;
		n = n * 10 + (value.p[i] - '0');
		if (i + 1 == value.n)
			return n;
	}
	return json_i64(value, &n) ? n : -1;
}

/* state_hash without its quotes; absent if unknown. */
struct str line_state_hash(const struct line *l);
/* Name and arguments of the tool call; absent without a call. The name is raw, without its
   quotes. */
struct str line_tool_name(const struct line *l);
struct str line_arguments(const struct line *l);

/* Words within `error` (step, reset), `state_source`, `policy` and `env` (header). */
enum error_class line_error_class(const struct line *l);
enum error_layer line_error_layer(const struct line *l);
enum state_kind line_state_kind(const struct line *l);
enum policy_kind line_policy_kind(const struct line *l);
enum protocol line_protocol(const struct line *l);

/* Parses one object of a recording. `scratch` holds an id that had to be decoded, and is cleared
   only in that case. Returns 0, or -1 with FAIL_INPUT: not an object, no `type` or `rollout`, a
   header without format or version, a known key with a wrong type or word, a version above ours
   (the message names both). Unknown keys are ignored; an unknown type gives LINE_UNKNOWN. The
   message ends with the byte, counted from 1; the caller adds file and line. *used: bytes read,
   as more objects may follow on the line; 0 if the text is not JSON; NULL: not asked. */
MUST_USE int line_parse(struct str text, struct buf *scratch, struct line *out, size_t *used,
                        struct error *err);

/* Sets FAIL_INPUT: why the text is not JSON, and the byte; returns -1. */
int line_fault(struct error *err, struct str text, const struct json_fault *fault);

/* Appends the line as JSON with a line feed: type first, keys in table order, values unchanged
   except that line breaks outside strings are removed. An absent key of the table is omitted if
   optional (structured, raw, raw_base64, llm, meta), else written as null. Only l->type and
   value[] are used; value[KEY_TYPE] is not needed. Appends nothing for LINE_UNKNOWN. sizes: of the
   values as written, for those of the type; 0: omitted. */
void line_write(const struct line *l, struct buf *out, size_t sizes[KEY_COUNT]);
/* The line that line_write wrote as `text`, as line_parse would read it, without a scan. */
MUST_USE int line_written(enum line_type type, struct str text, const size_t sizes[KEY_COUNT],
                          struct buf *scratch, struct line *out, struct error *err);
