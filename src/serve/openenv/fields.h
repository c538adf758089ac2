/* Validation of members of messages and actions, with errors in the form that FastAPI's clients
   read: a list of {"type","loc","msg","input"}. */
#ifndef ROLLDBG_SERVE_OPENENV_FIELDS_H
#define ROLLDBG_SERVE_OPENENV_FIELDS_H

#include "serve/world/world.h"

struct field_errors {
	const char *root; /* before the field's name in "loc"; NULL: nothing */
	unsigned count;
	struct buf list; /* set its cap */
};

/* Returns what is wrong with a value; NULL: it is valid. */
typedef const char *field_check_fn(struct str value);

struct field {
	const char *name;
	field_check_fn *check; /* NULL: anything */
	bool required;
};

/* Validates an object's members: the fields in their order, then members that are not fields,
   unless extra members are allowed. True if all are valid. */
bool fields_validate(struct str object, const struct field *fields, size_t count, bool allow_extra,
                     struct field_errors *errors);
/* Adds an error about the field; NULL: about the whole value. */
void fields_add_error(struct field_errors *errors, const char *type, const char *field,
                      const char *message, struct str input);

field_check_fn field_check_dict, field_check_optional_string;

/* Validates the action of a step in that world. */
bool fields_validate_action(const struct world *w, struct str action, struct field_errors *errors);
#endif
