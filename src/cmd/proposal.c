/* Masks for values that differ: see proposal.h. */
#include "cmd/proposal.h"

#include "base/text.h"

#define PLAIN        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-"
#define POINTERS_MAX 3 /* more are no flaky member, but another environment */

/* Only what peers say of the world may be masked. */
static bool is_maskable(const struct difference *d)
{
	static const struct str keys[] = {STR_INIT("/state/"), STR_INIT("/observation"),
	                                  STR_INIT("/structured")};
	bool found = false;

	for (size_t i = 0; i < ARRAY_LEN(keys) && !found; i++) {
		found = str_starts(d->pointer, keys[i]);
	}
	return found && d->kind == DIFFERENCE_CHANGED && !memchr(d->pointer.p, '*', d->pointer.n) &&
	       !memchr(d->pointer.p, '\'', d->pointer.n);
}

void mask_proposal_see(struct mask_proposal *p, const struct difference *d)
{
	if (p->withdrawn || !is_maskable(d)) {
		p->withdrawn = true;
		return;
	}
	for (size_t i = 0; i < p->pointers.count; i++) {
		if (str_is(d->pointer, p->pointers.text[i])) {
			return;
		}
	}
	p->withdrawn = p->pointers.count == POINTERS_MAX;
	names_add(&p->pointers, d->pointer);
}

void mask_proposal_put(struct mask_proposal *p, const char *golden, struct buf *out)
{
	if (p->pointers.count && !p->withdrawn) {
		buf_text(out, "if that may differ: printf '%s\\n'");
		for (size_t i = 0; i < p->pointers.count; i++) {
			buf_text(out, " '");
			text_escape(out, str_from(p->pointers.text[i]));
			buf_char(out, '\'');
		}
		bool plain = strspn(golden, PLAIN) == strlen(golden);
		buf_text(out, plain ? " >>" : " >>'");
		text_escape(out, str_from(golden));
		buf_text(out, plain ? ".masks\n" : ".masks'\n");
	}
	names_release(&p->pointers);
	*p = (struct mask_proposal){.withdrawn = false};
}
