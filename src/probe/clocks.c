/* Finds clocks and ids in a text: see clocks.h. */
#include "probe/clocks.h"

#define EPOCH_DIGITS 10 /* of a Unix time in seconds, until 2286 */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static size_t digits_at(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_digit(s.p[n])) {
		n++;
	}
	return n;
}

/* Does s begin as the pattern says: d a digit, x a hex digit, anything else itself? */
static bool fits(struct str s, const char *pattern)
{
	size_t i = 0;

	for (; pattern[i]; i++) {
		char c = i < s.n ? s.p[i] : '\0';

		if (pattern[i] == 'd'   ? !is_digit(c)
		    : pattern[i] == 'x' ? !is_hex(c)
		                        : c != pattern[i]) {
			return false;
		}
	}
	return true;
}

/* Until 2020 is history, and after 2039 is not yet: years for recordings of today. */
static bool is_epoch(struct str digits)
{
	uint64_t seconds = 0;

	for (size_t i = 0; i < EPOCH_DIGITS; i++) {
		seconds = 10 * seconds + (uint64_t)(digits.p[i] - '0');
	}
	return seconds >= 1577836800 && seconds < 2208988800;
}

static size_t epoch_at(struct str s)
{
	size_t n = digits_at(s);

	if ((n != 10 && n != 13 && n != 16 && n != 19) || !is_epoch(s)) {
		return 0;
	}
	if (n == EPOCH_DIGITS && n + 1 < s.n && s.p[n] == '.') {
		n += 1 + digits_at(str_skip(s, n + 1));
	}
	return n;
}

/* Seconds, their fraction and the zone are taken as far as they go. */
static size_t date_at(struct str s)
{
	size_t n = sizeof("dddd-dd-ddTdd:dd") - 1;

	if (!fits(s, "dddd-dd-ddTdd:dd") && !fits(s, "dddd-dd-dd dd:dd")) {
		return 0;
	}
	while (n < s.n && (is_digit(s.p[n]) || s.p[n] == ':' || s.p[n] == '.')) {
		n++;
	}
	return n;
}

static size_t id_at(struct str s)
{
	static const char uuid[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	static const char plain[] = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx";

	if (fits(s, uuid)) {
		return sizeof(uuid) - 1;
	}
	bool longer = s.n >= sizeof(plain) && is_hex(s.p[sizeof(plain) - 1]);
	return !longer && fits(s, plain) ? sizeof(plain) - 1 : 0;
}

static size_t volatile_at(struct str s)
{
	size_t n = date_at(s);

	n = n ? n : id_at(s);
	return n ? n : epoch_at(s);
}

void clocks_mask(struct str text, struct buf *out)
{
	size_t i = 0;

	while (i < text.n) {
		bool inside = i && (is_hex(text.p[i - 1]) || text.p[i - 1] == '.');
		size_t n = inside ? 0 : volatile_at(str_skip(text, i));

		if (n) {
			buf_char(out, '#');
		} else {
			buf_char(out, text.p[i]);
		}
		i += n ? n : 1;
	}
}
