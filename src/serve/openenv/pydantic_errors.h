/* Pydantic's validation errors, as a list or as text. */
#ifndef ROLLDBG_SERVE_OPENENV_PYDANTIC_ERRORS_H
#define ROLLDBG_SERVE_OPENENV_PYDANTIC_ERRORS_H

#include "serve/world/world.h"

enum validation_error {
	VALID,
	MISSING,
	EXTRA,
	NOT_DICT,
	NOT_STRING,
	NOT_INT,
	NOT_WHOLE_INT,
	NOT_INT_TEXT,
	NOT_NUMBER,
	NOT_MOVE,
	NOT_VERSION,
	NOT_CALL,
	TOO_LONG,
	NEGATIVE,
	NOT_POSITIVE,
	NOT_MODEL,
};

enum error_format {
	FORMAT_LINKED, /* errors(): a list with links */
	FORMAT_BODY,   /* FastAPI's list about a body: without links */
	FORMAT_TEXT,   /* str(exception) */
};

struct validation_errors {
	enum error_format format;
	unsigned count;
	struct buf list; /* set its cap */
};

struct field_check {
	const char *name;
	enum validation_error (*check)(struct str value); /* NULL: anything */
	bool required;
};

/* Validates an object's members: the fields in their order, then members that are not fields,
   unless extra members are allowed. True if all are valid. */
bool openenv_validate(struct str object, const struct field_check *fields, size_t count,
                      bool allow_extra, struct validation_errors *c);
/* Adds an error about the field; NULL: about the whole value. */
void openenv_add_error(struct validation_errors *c, enum validation_error what, const char *field,
                       struct str input);

enum validation_error check_dict(struct str value);
enum validation_error check_string(struct str value);
enum validation_error check_move(struct str value);

/* Validates the action of a step in that world. */
bool openenv_validate_action(const struct world *w, struct str action, struct validation_errors *c);
#endif
