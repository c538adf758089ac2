/* Settings written as options: see setting_options.h. */
#include "cmd/options/setting_options.h"

#include "base/settings.h"

/* The end of the name that begins at `at`; n if its end mark was truncated. */
static size_t name_end(const char *text, size_t at, size_t n)
{
	const char *end = memchr(text + at, SETTING_END, n - at);

	return end ? (size_t)(end - text) : n;
}

void settings_as_options(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (text[i] != SETTING_BEGIN)
			continue;
		size_t end = name_end(text, i + 1, n);

		text[i++] = '-';
		for (char before = '-'; i < n && i <= end; i++) {
			char now = text[i];

			text[i] = before;
			before = (char)(now == '_' ? '-' : now);
		}
		i--;
	}
}

void settings_filter(void *ctx, struct str text, struct buf *out)
{
	buf_str(out, text);
	settings_as_options(out->p, out->n);
}

void settings_put(struct buf *out, const char *text)
{
	size_t at = out->n;

	buf_text(out, text);
	if (out->n > at)
		settings_as_options(out->p + at, out->n - at);
}
