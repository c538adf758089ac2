/* Suggested masks: see mask_hints.h. */
#include "cmd/mask_hints.h"

#include "compare/mask_hint.h"

#include <ctype.h>

static bool is_known(const struct mask_hints *h, struct str mask)
{
	for (size_t i = 0; i < h->count; i++) {
		if (str_eq(buf_view(&h->masks[i]), mask)) {
			return true;
		}
	}
	return false;
}

void mask_hints_add(struct mask_hints *h, const struct difference *d)
{
	struct buf mask = BUF(BUF_MAX_SMALL);

	if (h->count < MASK_HINTS_MAX && mask_hint(d, &mask) && !mask.full &&
	    !is_known(h, buf_view(&mask))) {
		h->masks[h->count++] = mask;
		return;
	}
	buf_release(&mask);
}

static bool is_plain(struct str word)
{
	for (size_t i = 0; i < word.n; i++) {
		if (!isalnum((unsigned char)word.p[i]) && !strchr("/_-.", word.p[i])) {
			return false;
		}
	}
	return true;
}

/* Single-quoted where a shell would split or expand it. */
static void put_word(struct buf *out, struct str word)
{
	if (is_plain(word)) {
		buf_str(out, word);
		return;
	}
	buf_char(out, '\'');
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] == '\'') {
			buf_text(out, "'\\''");
		} else {
			buf_char(out, word.p[i]);
		}
	}
	buf_char(out, '\'');
}

void mask_hints_say(const struct mask_hints *h, struct buf *out)
{
	for (size_t i = 0; i < h->count; i++) {
		buf_text(out, i ? " --mask " : "if that may differ from run to run: --mask ");
		put_word(out, buf_view(&h->masks[i]));
	}
}

void mask_hints_release(struct mask_hints *h)
{
	for (size_t i = 0; i < h->count; i++) {
		buf_release(&h->masks[i]);
	}
	h->count = 0;
}
