/* One line of a recording: facts as slices into the text they were read from (or are
   written from). What a line may hold, in which order and with which types is the table
   keys.def; everything that reads, writes, strips or documents lines derives from it. */
#ifndef ROLLDBG_TRAJECTORY_LINE_H
#define ROLLDBG_TRAJECTORY_LINE_H

#include "base/buf.h"
#include "base/error.h"
#include "json/scan.h"
#include "trajectory/outcome.h"

#define RECORD_FORMAT  "rolldbg"
#define RECORD_VERSION 1

enum line_type {
	LINE_HEADER,
	LINE_RESET,
	LINE_STEP,
	LINE_EVENT,
	LINE_END,
	LINE_TYPES,
	LINE_UNKNOWN
};

/* One id a distinct key name: `state` of a step and of an end are the same id. */
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
	KEY_LINES,
	KEY_LLM,
	KEY_META,
	KEY_COUNT
};

/* What a value may be: bits of line_key.types. */
enum {
	T_NULL = 1 << JSON_NULL,
	T_BOOL = 1 << JSON_FALSE | 1 << JSON_TRUE,
	T_NUMBER = 1 << JSON_NUMBER,
	T_STRING = 1 << JSON_STRING,
	T_ARRAY = 1 << JSON_ARRAY,
	T_OBJECT = 1 << JSON_OBJECT,
	T_ANY = T_NULL | T_BOOL | T_NUMBER | T_STRING | T_ARRAY | T_OBJECT,
	T_INTEGRAL = 1 << 8, /* a number must be a whole one */
	T_NATURAL = 1 << 9,  /* and not negative */
	T_WHOLE = T_NUMBER | T_INTEGRAL,
	T_COUNT = T_NUMBER | T_INTEGRAL | T_NATURAL,
	T_OPTIONAL =
		1 << 10,  /* left out where there is nothing to say, instead of null */
	T_OPEN = 1 << 11, /* other words than those listed are no mistake */
};

struct line_key {
	enum line_type line;
	enum key key;
	const char *name;
	size_t name_n;       /* its bytes */
	struct str lead;     /* ,"name": */
	unsigned types;      /* T_* */
	bool from_peer;      /* strip puts the value in canonical form */
	const char *words;   /* allowed words, comma separated; NULL: any */
	const char *meaning; /* for the manual */
};

/* The table, in writing order, grouped by line type. */
extern const struct line_key line_keys[];
extern const size_t line_keys_count;

/* The members that objects of the table have, in writing order, grouped by key; `line` is
   LINE_UNKNOWN: the same in every line. Facts for the manual, the schema and strip; the
   reader does not look inside. */
extern const struct line_key line_parts[];
extern const size_t line_parts_count;

const char *line_type_name(enum line_type t); /* "header" ... */

/* The rows of one line type; NULL and 0 for LINE_UNKNOWN. */
const struct line_key *line_rows(enum line_type t, size_t *count);
/* May the value stand there (type and words)? Absent counts as null. */
bool line_key_allows(const struct line_key *k, struct str value);

/* value[k] is the raw JSON of key k, absent ({NULL,0}) when the key is missing; null when
   it is null. The decoded fields repeat what nearly every reader needs. */
struct line {
	enum line_type type;
	struct str text;    /* the whole line without its line feed */
	struct str rollout; /* decoded id, borrowed like the values */
	struct str value[KEY_COUNT];
	int64_t turn, step;           /* -1 when null or missing */
	enum outcome outcome;         /* of a step or reset; OUTCOME_NONE when null */
	int8_t terminated, truncated; /* 1, 0, or -1 when null or missing */
};

static inline bool line_has(const struct line *l, enum key k) /* there, and not null */
{
	return l->value[k].n > 0 && l->value[k].p[0] != 'n';
}

/* A value that the table wants whole and not negative; -1 for null and absent. Most are
   plain digits, and every line has some. */
static inline int64_t line_count(struct str value)
{
	int64_t n = 0;

	for (size_t i = 0; i < value.n && value.n < 18; i++) {
		if (value.p[i] < '0' || value.p[i] > '9') {
			break;
		}
		n = n * 10 + (value.p[i] - '0');
		if (i + 1 == value.n) {
			return n;
		}
	}
	return json_i64(value, &n) ? n : -1;
}

/* Values of the rows of l->type are built one behind the other in table order: sets their
   addresses from the first one's and their lengths. */
void line_point(struct line *l, const char *first);

/* state_hash without its quotes; absent when unknown. */
struct str line_state_hash(const struct line *l);
/* name and arguments of the tool call; absent without a call. The name is raw between its
 * quotes. */
struct str line_tool_name(const struct line *l);
struct str line_arguments(const struct line *l);

/* Reads one object of a recording. `scratch` owns what had to be decoded (an escaped
   rollout id); it is cleared only then. 0; or -1 with FAIL_INPUT: not an object, no
   `type` or `rollout`, a header without format or version, a known key of the wrong type
   or with a word it cannot have, a version above ours (both numbers are named). Unknown
   keys are ignored, an unknown type is LINE_UNKNOWN. The text of err ends with the byte,
   counted from 1; the caller adds file and line. *used: bytes taken, for fused lines; 0
   when the text is not JSON. */
MUST_USE int line_parse(struct str text, struct buf *scratch, struct line *out,
                        size_t *used, struct error *err);

/* Appends the line as JSON with its line feed: type first, keys in table order, values
   spliced raw (line breaks outside strings removed). A key of the table that is absent is
   left out for optional ones (structured, raw, raw_base64, llm, meta) and null for the
   others. l->type, value[] are used only; value[KEY_TYPE] is not needed. Nothing for
   LINE_UNKNOWN. */
void line_write(const struct line *l, struct buf *out);

#endif
