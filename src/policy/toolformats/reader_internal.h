/* The description of a format of tool calls, for the reader and its grammars: a row in
   toolformats.def. A new format needs code only if its grammar is new. Private to toolformats/. */
#pragma once

#include "base/buf.h"
#include "base/map.h"
#include "json/scan.h"
#include "policy/toolformats/reader.h"
#include "policy/toolformats/repair.h"

#define FOUND_TEXT_MAX ((size_t)24 << 20) /* bytes of one reply and of the data derived from it */

#define MARK_SLOTS 1024 /* there are a few hundred marks */

/* A cached search: the mark does not occur between `from` and `at`, which is the text's end if
   it does not occur at all. */
struct mark_slot {
	const char *mark, *from, *at;
};

/* The state of the reader. */
struct finder {
	struct str text; /* the text searched */
	struct mark_slot slots[MARK_SLOTS];
	const struct reading_conf *conf;
	struct arena *arena;
	struct found_call *calls;
	size_t count;
	const char *format;    /* of the first call */
	struct str before;     /* the text between the previous position and the mark */
	struct buf rest;       /* text other than calls */
	struct buf *reasoning; /* the model's reasoning */
	bool bare;             /* no marks: only unambiguous calls count */
	struct call_notes *notes, *repairs;
};

/* What must follow a mark for it to start a call, if several formats share the mark or it occurs
   in prose. Whitespace in between is skipped. */
enum starts {
	STARTS_ANYTHING,
	STARTS_JSON,  /* an object or array, possibly in a code fence */
	STARTS_LIST,  /* [ */
	STARTS_FENCE, /* ``` */
	STARTS_WORD,  /* a name */
	STARTS_PAIRS, /* call:NAME, :NAME */
	STARTS_TAG,   /* < */
};

struct tool_format;

/* Reads the call or calls after a mark. *rest: the text after the mark, on return the text after the
   calls and their end marks. If nothing was added and *rest is unchanged, the mark was ordinary text. */
typedef void grammar_fn(struct finder *f, const struct tool_format *row, struct str *rest);

/* {"name":..,"arguments":{..}} and variants: one, an array, or one after the other. */
grammar_fn grammar_calls;
/* A name, then its arguments as a JSON object. */
grammar_fn grammar_named;
/* A name, then parameters between marks, typed by the schema. */
grammar_fn grammar_parameters;
/* NAME{key:value,key:value}, strings between marks. */
grammar_fn grammar_pairs;
/* NAME(key=value), with Python literals. */
grammar_fn grammar_keywords;
/* Parameters as nested elements: <key><item>value</item></key>. */
grammar_fn grammar_elements;
/* A message whose header names the recipient. */
grammar_fn grammar_messages;

#define MARKS_MAX 8

struct tool_format {
	const char *name, *help;
	grammar_fn *grammar;
	enum starts starts;
	/* The marks also occur in prose: only calls of offered tools count. */
	bool weak;
	const char *open[MARKS_MAX];  /* each starts a call or a list of calls */
	const char *close[MARKS_MAX]; /* each can end it; may be missing */
	/* Around a section of calls: removed from the text. */
	const char *around[MARKS_MAX], *section_end[MARKS_MAX];

	/* The form of a result: text before it, text after the tool's name (NULL: no name), text
	   after it. All NULL: <tool_response>. */
	struct {
		const char *open, *named, *close;
		bool by_id;  /* in place of its name, the call's id */
		bool quoted; /* the result as a JSON string */
		bool role;   /* not as text: in a message of role tool */
	} result;

	/* ---- the tool's name ---- */
	const char *name_attribute; /* name="..": in the tag opened by the mark; NULL: the name
	                               follows the mark */
	const char *name_end[MARKS_MAX];
	const char *before_json[MARKS_MAX]; /* text allowed between name and JSON */
	bool keyed;                         /* {"NAME":{..}} in place of name and arguments */

	/* ---- parameters ---- */
	const char *parameter[MARKS_MAX];
	const char *key_attribute, *key_end;
	const char *type_attribute; /* in the parameter's tag: type of the value */
	const char *value_open;     /* between key and value */
	const char *value_close[MARKS_MAX];
	const char *quote; /* of pairs: both ends of a string */
	bool entities;     /* attributes are escaped as in XML */
	bool declared_only; /* a parameter that the tool does not have is dropped, where none is missing */
	bool typed_json; /* values in JSON are typed by the schema, too */
	bool keep_feeds; /* a line feed on either side of a value belongs to it */
	/* Only where the first parameter directly follows the name's tag, and a line feed the
	   value's mark: then line feeds are not the layout. */
	bool keep_if_compact;
	bool json_values; /* a value whose type is not declared is JSON, if it can be */
};

extern const struct tool_format tool_formats[];
extern const size_t tool_formats_count;

/* ---- calls found ---- */

void found_add(struct finder *f, struct found_call call);
void found_bad(struct finder *f, struct str name, struct str text, const char *why);
void found_cut(struct finder *f, struct str name, struct str text);

/* The calls from `first` on are only valid after this repair: records it, or marks them as bad
   if repairs are not allowed. */
void found_repaired(struct finder *f, size_t first, const char *word, const char *why);

bool is_offered(const struct finder *f, struct str name);

/* ---- marks ---- */

struct str skip_whitespace(struct str s);
/* Offset of the mark; s.n: none. f: caches searches, so that a missing mark is not searched for
   again; NULL: not cached, for short texts. */
size_t mark_at(struct finder *f, struct str s, const char *mark);
/* The nearest of several marks, and its length. */
size_t nearest_mark(struct finder *f, struct str s, const char *const marks[MARKS_MAX],
                    size_t *bytes);
/* Splits at the first mark: *before and *rest. Without the mark, everything is in *before, *rest
   is empty, and false is returned. */
bool cut_at(struct finder *f, struct str s, const char *mark, struct str *before, struct str *rest);
/* The length of the mark at the start of s; 0: none. */
size_t mark_here(struct str s, const char *const marks[MARKS_MAX]);
bool has_mark(struct finder *f, struct str s, const char *const marks[MARKS_MAX]);
/* Is s the beginning of a mark that the end of the text cut off? */
bool mark_cut(struct str s, const char *const marks[MARKS_MAX]);
/* A tool's name at the start: letters, digits, _ - . and colons. */
struct str leading_name(struct str s);
/* The latest end of the call at the start of s: an end mark or the next call. */
size_t call_end(struct finder *f, const struct tool_format *row, struct str s);
/* Skips end marks, and unexpected text before them; they end the calls from `first` on. */
void leave_call(struct finder *f, const struct tool_format *row, size_t first, struct str *rest);

/* ---- values ---- */

/* Reads the JSON value at the start of s, up to the call's end mark. FOUND_WHOLE: *value and
   *used are set; the value may be a repaired copy in the arena. */
enum found_how json_at(struct finder *f, const struct tool_format *row, struct str s,
                       struct str *value, size_t *used);
/* Reads the arguments of a call at the start of s, a JSON object, and sets how, arguments and why of the call. Returns
   the bytes read. */
size_t json_arguments(struct finder *f, const struct tool_format *row, struct str s,
                      struct found_call *call);
/* Does s begin with an object or an array? */
bool begins_json(struct str s);
/* Skips ```json; true: there was a fence. */
bool skip_fence(struct str *s);

/* The tool named by {"name":..}, under any known key; absent: none. */
struct str call_name(struct finder *f, struct str object);
/* Adds an object, or an array of objects, as calls. False: none is a call. */
bool found_objects(struct finder *f, const struct tool_format *row, struct str value);

/* An argument object under construction. */
struct typed {
	struct finder *f;
	struct str root; /* schema of the tool; absent: unknown */
	struct buf object;
	struct map keys;                 /* of the object, in the finder's arena */
	struct str only_key, only_value; /* while there is only one */
	size_t count;
	bool declared_only, undeclared;  /* see struct tool_format; a key was not declared */
	bool unclosed;                   /* a value had no end mark */
	const char *repair, *repair_why; /* of the last repair of its marks; NULL: none */
	bool compact;                    /* the first parameter directly follows the name's tag */
	const char *why;                 /* NULL, or why it is invalid */
	const char *searched; /* no mark before it starts another parameter; NULL: none read yet */
};

/* The type of a value as indicated by the text. */
enum hint { HINT_NONE, HINT_TEXT, HINT_JSON };

/* The schema of the called tool; absent: unknown. */
struct str call_schema(const struct finder *f, struct str tool_name);
void typed_begin(struct finder *f, struct str tool_name, struct typed *t);
void typed_add(struct typed *t, struct str key, struct str text, enum hint hint);
/* Can a parameter of that name follow? */
bool typed_expects(const struct typed *t, struct str key);
/* The call is only valid after this repair. */
void typed_repaired(struct typed *t, const char *word, const char *why);
/* Was every parameter given that the tool has? */
bool typed_full(const struct typed *t);
/* Was every parameter given that the tool requires? */
bool typed_required(const struct typed *t);
/* Adds the call with that object, or the reason why it is invalid. */
void typed_end(struct typed *t, struct str name, struct str source);
/* The name in a tag: in the attribute `by`, or the tag itself (NULL). */
struct str tag_name(struct finder *f, const struct tool_format *row, const char *by,
                    struct str tag);
/* Reads the parameter whose mark was just skipped, with its value and end mark. False: the text
   ends inside it. */
bool read_parameter(struct finder *f, const struct tool_format *row, struct typed *t,
                    struct str *s);
/* Reads all parameters and adds the call. *s: at the first of them, on return at the end of the call. source: the
   text of the call, up to the text's end. False: it is no call. */
bool read_parameters(struct finder *f, const struct tool_format *row, struct str name,
                     struct str source, struct str *s);
/* Appends one value as JSON of the type in its schema. */
void typed_value(struct finder *f, struct str root, struct str schema, struct str text,
                 enum hint hint, struct buf *out);
struct str typed_property(struct str root, struct str schema, struct str key);

/* The types a schema allows, as bits; 0: not specified. */
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

/* Is the format to be read? Llama also writes plain JSON, without its mark. */
bool is_wanted(const struct reading_conf *conf, const char *format);
/* Reads a reply that is calls of offered tools without marks, and perhaps text around them: see bare.c. whole: it is
   nothing but calls, and none is cut off; their strings may contain marks. False: it is not, and nothing is changed but
   `rest`, which is empty. */
bool read_bare(struct finder *f, struct str text, bool whole);
