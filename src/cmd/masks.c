/* Masks from options: see masks.h. */
#include "cmd/masks.h"

int masks_strip(const struct opt_list *masks, struct strip **out, struct error *err)
{
	struct str pointers[OPT_LIST_MAX];

	for (size_t i = 0; i < masks->count; i++) {
		pointers[i] = str_from(masks->item[i]);
	}
	return strip_new(pointers, masks->count, out, err) ? error_wrap(err, "--mask") : 0;
}
