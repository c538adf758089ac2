/* What Pydantic says about data that does not fit a model, as a list of errors or as
   text. */
#ifndef ROLLDBG_SERVE_OPENENV_PYDANTIC_ERRORS_H
#define ROLLDBG_SERVE_OPENENV_PYDANTIC_ERRORS_H

#include "serve/world/world.h"

enum complaint {
	FITS,
	MISSING,
	EXTRA,
	NO_DICT,
	NO_STRING,
	NO_INT,
	NO_WHOLE_INT,
	NO_INT_TEXT,
	NO_NUMBER,
	NO_MOVE,
	NO_VERSION,
	NO_CALL,
	TOO_LONG,
	NEGATIVE,
	NOT_POSITIVE,
	NO_MODEL,
};

enum words {
	WORDS_LINKED, /* a list, with links: errors() as it is */
	WORDS_BODY,   /* a list about an HTTP body: without */
	WORDS_TEXT,   /* as an exception prints it */
};

struct complaints {
	enum words words;
	unsigned count;
	struct buf list; /* set its cap */
};

struct field_check {
	const char *name;
	enum complaint (*judge)(struct str value); /* NULL: anything */
	bool required;
};

/* Checks an object's members against a model: the fields in their order, then members
   that are none, unless they are welcome. True when all fits. */
bool openenv_fits(struct str object, const struct field_check *fields, size_t count,
                  bool extra_welcome, struct complaints *c);
/* About the field, NULL for the whole. */
void openenv_complain(struct complaints *c, enum complaint what, const char *field,
                      struct str input);

enum complaint judge_dict(struct str value);
enum complaint judge_string(struct str value);
enum complaint judge_move(struct str value);

/* The action of a step in that world, or what it should have been instead. */
bool openenv_action_fits(const struct world *w, struct str action, struct complaints *c);
#endif
