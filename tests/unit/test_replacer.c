/* Replacing ids in JSON: any number of them gives what a plain loop over all of them gives, and the
   search that shows that none occurs never misses one. */
#include "base/rng.h"
#include "recording/redact/replacer.h"
#include "tap.h"

#include <stdio.h>

#define TEXT_MAX  400
#define TEXTS_MAX 300

static char texts[TEXTS_MAX][48];

/* Few different characters, so that parts of texts occur often. */
static size_t draw(struct rng *r, char *out, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (char)('a' + rng_below(r, 3));
	out[n] = '\0';
	return n;
}

static void draw_texts(struct rng *r, size_t count, size_t least, size_t range)
{
	for (size_t i = 0; i < count; i++)
		draw(r, texts[i], least + rng_below(r, (uint32_t)range));
}

/* The longest text at this place of a string, or NULL. */
static const char *text_at(size_t count, struct str s, size_t at)
{
	const char *best = NULL;

	for (size_t i = 0; i < count; i++) {
		struct str text = str_from(texts[i]);
		bool fits =
			text.n < 8 ? at == 0 && str_eq(s, text) : str_starts(str_skip(s, at), text);

		best = fits && (!best || text.n > strlen(best)) ? texts[i] : best;
	}
	return best;
}

/* A JSON string of these bytes, with texts replaced. Returns how many were. */
static size_t wanted(size_t count, struct str s, struct buf *out)
{
	size_t replaced = 0;

	buf_char(out, '"');
	for (size_t at = 0; at < s.n;) {
		const char *text = text_at(count, s, at);

		if (text) {
			buf_text(out, "<id>");
			at += strlen(text);
			replaced++;
		} else {
			buf_char(out, s.p[at++]);
		}
	}
	buf_char(out, '"');
	return replaced;
}

static struct replacer replacer_of(size_t count)
{
	struct replacer n = {.max = TEXTS_MAX};

	for (size_t i = 0; i < count; i++)
		replacer_add(&n, str_from(texts[i]), "<id>");
	return n;
}

/* A string of texts and of other characters; some are a text alone. */
static size_t compose(struct rng *r, size_t count, char *out)
{
	size_t n = 0, target = rng_below(r, 2) ? TEXT_MAX - 48 : 1;

	while (n < target) {
		if (count && rng_below(r, 3)) {
			const char *text = texts[rng_below(r, (uint32_t)count)];

			n += (size_t)snprintf(out + n, 48, "%s", text);
		} else {
			n += draw(r, out + n, 1 + rng_below(r, 8));
		}
	}
	return n;
}

/* Replaces in strings; returns the number of wrong results. */
static size_t wrong_strings(struct rng *r, size_t count, size_t *replaced)
{
	struct replacer n = replacer_of(count);
	struct buf want = BUF(1 << 16), got = BUF(1 << 16), scratch = BUF(1 << 16);
	size_t wrong = 0;

	for (int round = 0; round < 300; round++) {
		char s[TEXT_MAX + 1], json[TEXT_MAX + 3];
		size_t length = compose(r, count, s);

		snprintf(json, sizeof(json), "\"%s\"", s);
		buf_clear(&want);
		buf_clear(&got);
		size_t matches = wanted(count, (struct str){s, length}, &want);
		bool changed = replacer_replace_json(&n, str_from(json), &scratch, &got);
		wrong += !str_eq(buf_view(&want), buf_view(&got)) || changed != (matches > 0) ||
		         (matches > 0 && replacer_is_free_canonical(&n, str_from(json)));
		*replaced += matches;
	}
	replacer_release(&n);
	buf_release(&want);
	buf_release(&got);
	buf_release(&scratch);
	return wrong;
}

static void strings(void)
{
	static const size_t counts[] = {0, 1, 4, 5, 9, 64, 256, TEXTS_MAX};
	struct rng r;

	rng_seed(&r, 1, 1);
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		size_t replaced = 0, wrong = 0;

		draw_texts(&r, counts[i], 1, 14);
		wrong += wrong_strings(&r, counts[i], &replaced);
		draw_texts(&r, counts[i], 9, 30);
		wrong += wrong_strings(&r, counts[i], &replaced);
		is_int(wrong, 0, "%zu texts", counts[i]);
		ok(!counts[i] || replaced > 1000, "%zu were replaced", replaced);
	}
}

/* Only the last `max` of more texts count, also where short ones displace long ones. */
static void dropped(void)
{
	static const int lengths[] = {8, 1, 30};
	struct replacer n = {.max = 10};
	size_t wrong = 0;

	for (size_t i = 0; i < 900; i++) {
		for (size_t k = 0; k < 30 && k <= i; k++) {
			char json[64];
			size_t j = i - k;

			snprintf(json, sizeof(json), "%0*zu", lengths[j / 100 % 3], 1000000 + j);
			if (k == 0)
				replacer_add(&n, str_from(json), "<id>");
			memmove(json + 1, json, strlen(json) + 1);
			json[0] = '"';
			snprintf(json + strlen(json), 2, "\"");
			wrong += k < 10 && replacer_is_free_canonical(&n, str_from(json));
		}
		wrong += n.count > 10;
	}
	ok(replacer_is_free_canonical(&n, STR("\"01000000\"")), "the first was forgotten");
	is_int(wrong, 0, "the last ones are all found");
	replacer_release(&n);
}

int main(void)
{
	strings();
	dropped();
	return done();
}
