/* What a format of tool calls is, for the reader and its grammars: a row in toolformats.def.
   Code is only needed where a grammar is new. Private to toolformats/. */
#ifndef ROLLDBG_POLICY_TOOLFORMATS_READER_INTERNAL_H
#define ROLLDBG_POLICY_TOOLFORMATS_READER_INTERNAL_H

#include "base/buf.h"
#include "base/map.h"
#include "json/scan.h"
#include "policy/toolformats/mend.h"
#include "policy/toolformats/reader.h"

#define FOUND_TEXT_MAX ((size_t)24 << 20) /* of one reply, and of what is made of it */

#define MARK_SLOTS 1024 /* some hundred marks */

/* Where a mark was found: there is none from `from` to `at`, which is the text's end where there is
   none at all. */
struct mark_slot {
	const char *mark, *from, *at;
};

/* What is being read, and what was found. */
struct finder {
	struct str text; /* that marks are looked for in */
	struct mark_slot slots[MARK_SLOTS];
	const struct reading_conf *conf;
	struct arena *arena;
	struct found_call *calls;
	size_t count;
	const char *format;    /* of the first call */
	struct buf rest;       /* text beside the calls */
	struct buf *reasoning; /* the model's thoughts */
	bool bare;             /* no marks: only what certainly is a call counts */
	struct call_notes *notes, *repairs;
};

/* What must follow a mark for it to begin a call, where others have the same mark, or where
   prose has it. Blanks between are skipped. */
enum starts {
	STARTS_ANYTHING,
	STARTS_JSON,  /* an object, a list, a fence before it */
	STARTS_LIST,  /* [ */
	STARTS_FENCE, /* ``` */
	STARTS_WORD,  /* a name */
	STARTS_PAIRS, /* call:NAME, :NAME */
	STARTS_TAG,   /* < */
};

struct tool_format;

/* Reads the call, or the calls, behind a mark. before: the text between the mark and what
   was read before; *rest: what is behind the mark, on return what is behind the calls and
   their end marks. Nothing found and *rest unchanged: the mark was only text. */
typedef void grammar_fn(struct finder *f, const struct tool_format *row, struct str *before,
                        struct str *rest);

/* {"name":..,"arguments":{..}} and its variants, one or a list or one behind the other. */
grammar_fn grammar_calls;
/* A name, then its arguments as a JSON object. */
grammar_fn grammar_named;
/* A name, then parameters each between marks of their own, typed by the schema. */
grammar_fn grammar_parameters;
/* NAME{key:value,key:value}, strings between marks. */
grammar_fn grammar_pairs;
/* NAME(key=value), Python's literals. */
grammar_fn grammar_keywords;
/* Parameters as elements that nest: <key><item>value</item></key>. */
grammar_fn grammar_elements;
/* A message with a header that names whom it is for. */
grammar_fn grammar_messages;

#define MARKS_MAX 8

struct tool_format {
	const char *name, *help;
	grammar_fn *grammar;
	enum starts starts;
	/* Words of prose, too: only calls of tools that are offered count. */
	bool weak;
	const char *open[MARKS_MAX];  /* each begins a call or a list of calls */
	const char *close[MARKS_MAX]; /* each may end it; all may be missing */
	/* Around a section of calls: dropped from the text. */
	const char *around[MARKS_MAX], *section_end[MARKS_MAX];

	/* A result: what stands before it, after the tool's name (NULL: it has none), behind it.
	   All NULL: <tool_response>. */
	struct {
		const char *open, *named, *close;
		bool by_id;  /* in place of its name, the call's id */
		bool quoted; /* the result as a JSON string */
	} result;

	/* ---- where the name stands ---- */
	const char *name_attribute; /* name="..": in the tag that the mark opens; NULL: the name
	                               itself follows the mark */
	const char *name_end[MARKS_MAX];
	const char *before_json[MARKS_MAX]; /* what may stand between name and JSON */
	bool keyed;                         /* {"NAME":{..}} in place of name and arguments */

	/* ---- parameters ---- */
	const char *parameter[MARKS_MAX];
	const char *key_attribute, *key_end;
	const char *type_attribute;         /* in the parameter's tag: the type of its value */
	const char *type_open, *type_close; /* or between marks */
	const char *value_open;             /* between key and value */
	const char *value_close[MARKS_MAX];
	const char *quote; /* of pairs: both ends of a string */
	bool entities;     /* attributes are escaped as in XML */
	bool declared_only; /* a parameter that the tool does not have is dropped, where none is missing */
	bool typed_json; /* values in JSON are typed by the schema, too */
	bool keep_feeds; /* a line feed on either side of a value belongs to it */
};

extern const struct tool_format tool_formats[];
extern const size_t tool_formats_count;

/* ---- what was found ---- */

void found_add(struct finder *f, struct found_call call);
void found_bad(struct finder *f, struct str name, struct str text, const char *why);
void found_cut(struct finder *f, struct str name, struct str text);

/* The calls from `first` on are only right with this mended: a repair, or the reason why
   they cannot be read where nothing may be. */
void found_mended(struct finder *f, size_t first, const char *word, const char *why);

bool is_offered(const struct finder *f, struct str name);

/* ---- marks ---- */

struct str skip_blanks(struct str s);
/* Offset of the mark; s.n: it is not there. f: remembers where marks stand in the reply, so that
   one that is missing is not looked for again and again; NULL: s is short. */
size_t mark_at(struct finder *f, struct str s, const char *mark);
/* The nearest of several, and its bytes. */
size_t nearest_mark(struct finder *f, struct str s, const char *const marks[MARKS_MAX],
                    size_t *bytes);
/* Splits at the first mark: what is before it, and *rest behind it. Without the mark all
   is before it, *rest is empty, and false is returned. */
bool cut_at(struct finder *f, struct str s, const char *mark, struct str *before, struct str *rest);
/* Is one of the marks here? Its bytes, 0: no. */
size_t mark_here(struct str s, const char *const marks[MARKS_MAX]);
/* Is s the beginning of one of them, where the text ends? */
bool mark_cut(struct str s, const char *const marks[MARKS_MAX]);
/* A tool's name at the start: letters, digits, _ - . and colons. */
struct str leading_name(struct str s);
/* Where the call at the start of s ends at the latest: at an end mark or at the next call. */
size_t call_end(struct finder *f, const struct tool_format *row, struct str s);
/* Goes over end marks, and over what should not stand before them; the calls from `first` on
   are those that end here. */
void leave_call(struct finder *f, const struct tool_format *row, size_t first, struct str *rest);

/* ---- values ---- */

/* The JSON value at the start of s, which ends before the mark that ends the call.
   FOUND_WHOLE: *value and *used are set; it may have been mended into the arena. */
enum found_how json_at(struct finder *f, const struct tool_format *row, struct str s,
                       struct str *value, size_t *used);
/* Goes over ```json; true: there was a fence. */
bool skip_fence(struct str *s);

/* The tool that {"name":..} names, under whatever key; absent: none. */
struct str call_name(struct finder *f, struct str object);
/* An object, or an array of them, as calls. False: none of it is one. */
bool found_objects(struct finder *f, const struct tool_format *row, struct str value);

/* An argument object in the making. */
struct typed {
	struct finder *f;
	struct str root; /* schema of the tool; absent: unknown */
	struct buf object;
	struct map keys;                 /* of the object, in the finder's arena */
	struct str only_key, only_value; /* as long as there is but one */
	size_t count;
	bool declared_only, undeclared; /* see struct tool_format; the tool lacks a key */
	const char *why;                /* it cannot be told: the reason */
};

/* What the text itself says of a value's type. */
enum hint { HINT_NONE, HINT_TEXT, HINT_JSON };

void typed_begin(struct finder *f, struct str tool_name, struct typed *t);
void typed_add(struct typed *t, struct str key, struct str text, enum hint hint);
/* May a parameter of that name follow? */
bool typed_expects(const struct typed *t, struct str key);
/* The call with that object, or the reason why it cannot be told. */
void typed_end(struct typed *t, struct str name, struct str source);
/* Appends one value as JSON of the type in its schema. */
void typed_value(struct finder *f, struct str root, struct str schema, struct str text,
                 enum hint hint, struct buf *out);
struct str typed_property(struct str root, struct str schema, struct str key);

/* Which types a schema allows, as bits; 0: it does not say. */
enum {
	TYPE_NULL = 1,
	TYPE_BOOLEAN = 2,
	TYPE_INTEGER = 4,
	TYPE_NUMBER = 8,
	TYPE_STRING = 16,
	TYPE_ARRAY = 32,
	TYPE_OBJECT = 64,
};
unsigned schema_types(struct str root, struct str schema);

/* Whole replies without marks: see bare.c. False: it is prose. */
bool read_bare(struct finder *f, struct str text);

#endif
