/* Detects points in time and ids: see clocks.h. */
#include "evidence/clocks.h"

#include "base/text.h"
#include "json/scan.h"

/* 2020 to 2039, in seconds: plausible years of recordings */
#define PLAUSIBLE_FROM  INT64_C(1577836800)
#define PLAUSIBLE_UNTIL INT64_C(2208988800)

#define EPOCH_DIGITS 10   /* digits of a Unix time in seconds, until 2286 */
#define LATENCY_MAX  1e12 /* ms; longer ones are no measurement */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
	return is_digit(c) || (unsigned char)((c | 0x20) - 'a') < 6;
}

static size_t digits_at(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_digit(s.p[n]))
		n++;
	return n;
}

/* Does s begin with the pattern? d is a digit, x a hex digit, any other character itself. */
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

static bool is_epoch(struct str digits)
{
	int64_t seconds = 0;

	for (size_t i = 0; i < EPOCH_DIGITS; i++)
		seconds = 10 * seconds + (digits.p[i] - '0');
	return seconds >= PLAUSIBLE_FROM && seconds < PLAUSIBLE_UNTIL;
}

static size_t epoch_at(struct str s)
{
	size_t n = digits_at(s);

	if ((n != 10 && n != 13 && n != 16 && n != 19) || !is_epoch(s))
		return 0;
	if (n == EPOCH_DIGITS && n + 1 < s.n && s.p[n] == '.')
		n += 1 + digits_at(str_skip(s, n + 1));
	return n;
}

static bool is_fraction(struct str s)
{
	return fits(s, ".d") || fits(s, ",d");
}

/* The length of a date with a time, whose seconds, fraction and zone are optional; else 0. */
static size_t date_at(struct str s)
{
	size_t n = sizeof("dddd-dd-ddTdd:dd") - 1;

	if (!fits(s, "dddd-dd-ddTdd:dd") && !fits(s, "dddd-dd-dd dd:dd"))
		return 0;
	while (n < s.n && (is_digit(s.p[n]) || s.p[n] == ':' || is_fraction(str_skip(s, n))))
		n++;
	return n;
}

/* The length of a time of day with thousandths, as in logs, or beside a year from 2000 to 2099, as
   in HTTP and asctime; else 0. Games show their time of day in minutes, which is not matched. */
static size_t log_time_at(struct str s)
{
	size_t n = sizeof("dd:dd:dd.ddd") - 1;

	if (fits(s, "20dd dd:dd:dd") || fits(s, "20dd:dd:dd:dd") || fits(s, "dd:dd:dd 20dd"))
		return sizeof("20dd dd:dd:dd") - 1;
	if (!fits(s, "dd:dd:dd.ddd") && !fits(s, "dd:dd:dd,ddd"))
		return 0;
	return n + digits_at(str_skip(s, n));
}

/* A run of hex digits may be a digest of the state; a UUID is not. */
static size_t id_at(struct str s)
{
	static const char uuid[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	return fits(s, uuid) ? sizeof(uuid) - 1 : 0;
}

static size_t volatile_at(struct str s)
{
	size_t n = date_at(s);

	n = n ? n : log_time_at(s);
	n = n ? n : id_at(s);
	return n ? n : epoch_at(s);
}

/* All of the above begin with a run of 2, 4, 8, or 10 and more hex digits. */
static bool may_begin(struct str s, size_t run)
{
	const char next = run < s.n ? s.p[run] : '\0';

	return run >= EPOCH_DIGITS || (run == 2 && next == ':') ||
	       ((run == 4 || run == 8) && next == '-') || (run == 4 && fits(s, "20"));
}

bool clocks_may_be_in(struct str text)
{
	return text_has_digit(text) || (text.n && memchr(text.p, '-', text.n));
}

/* The offset, from `at` on, of the next of them, outside of escapes; *n is its length, 0: there is none. */
static size_t next_volatile(struct str text, size_t at, size_t *n)
{
	const char *p = text.p;
	size_t escaped = 0; /* where the last escape ends */

	*n = 0;
	while (at < text.n) {
		if (p[at] == '\\') {
			at += at + 1 < text.n && p[at + 1] == 'u' ? strlen("\\u0000")
			                                          : strlen("\\n");
			escaped = at;
			continue;
		}
		size_t begin = at;

		while (at < text.n && is_hex(p[at]))
			at++;
		char before = begin > escaped ? p[begin - 1] : '\0';
		if (!is_hex(before) && before != '.' &&
		    may_begin(str_skip(text, begin), at - begin))
			*n = volatile_at(str_skip(text, begin));
		if (*n)
			return begin;
		while (at < text.n && !is_hex(p[at]) && p[at] != '\\')
			at++;
	}
	return text.n;
}

void clocks_mask(struct str text, struct buf *out)
{
	for (size_t from = 0, n; from < text.n; from += n) {
		size_t at = next_volatile(text, from, &n);

		buf_add(out, text.p + from, at - from);
		buf_text(out, n ? "#" : "");
		from = at;
	}
}

void clocks_mask_both(struct str *a, struct str *b, struct buf *scratch)
{
	size_t in_a, in_b;

	next_volatile(*a, 0, &in_a);
	next_volatile(*b, 0, &in_b);
	if (!in_a && !in_b)
		return; /* most texts */
	buf_clear(scratch);
	clocks_mask(*a, scratch);
	size_t n = scratch->n;
	clocks_mask(*b, scratch);
	struct str all = buf_view(scratch);
	if (!scratch->full) {
		*a = (struct str){all.p, n};
		*b = str_skip(all, n);
	}
}

/* ---- points in time ---- */

#define DAY_MS  ((int64_t)24 * 60 * 60 * 1000)
#define NEAR_MS (DAY_MS + DAY_MS / 12) /* zones range from -12 to +14 hours */

/* Converts a Gregorian date to days since 1970-01-01; years start in March, so that a leap day
   is the last day of its year. */
static int64_t days_from(int64_t year, int64_t month, int64_t day)
{
	int64_t y = month <= 2 ? year - 1 : year;
	int64_t era = y / 400, of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int64_t number_at(struct str s, size_t at, size_t digits)
{
	int64_t n = 0;

	for (size_t i = at; s.p && i < at + digits; i++)
		n = 10 * n + (s.p[i] - '0');
	return n;
}

/* ".5" or ",5" as milliseconds; *used is the length. */
static int64_t fraction_at(struct str s, size_t *used)
{
	int64_t ms = 0, unit = 100;

	*used = 0;
	if (!s.n || (s.p[0] != '.' && s.p[0] != ','))
		return 0;
	for (*used = 1; *used < s.n && is_digit(s.p[*used]); ++*used) {
		ms += unit * (s.p[*used] - '0');
		unit /= 10;
	}
	return ms;
}

/* Parses "Z", "+02:00", "+0200", "+02" or nothing to minutes east of UTC; false for anything
   else. */
static bool zone_of(struct str s, int64_t *minutes)
{
	static const char *const forms[] = {"dd:dd", "dddd", "dd"};
	struct str rest = str_skip(s, 1);

	*minutes = 0;
	if (s.n == 0 || str_is(s, "Z") || str_is(s, "z"))
		return true;
	for (size_t i = 0; (s.p[0] == '+' || s.p[0] == '-') && i < ARRAY_LEN(forms); i++) {
		if (rest.n == strlen(forms[i]) && fits(rest, forms[i])) {
			*minutes = 60 * number_at(rest, 0, 2) +
			           (rest.n > 2 ? number_at(rest, rest.n - 2, 2) : 0);
			*minutes *= s.p[0] == '-' ? -1 : 1;
			return true;
		}
	}
	return false;
}

bool clocks_date(struct str s, int64_t *unix_ms)
{
	int64_t seconds = 0, zone;
	size_t at = sizeof("dddd-dd-ddTdd:dd") - 1, used;

	if (!fits(s, "dddd-dd-ddTdd:dd") && !fits(s, "dddd-dd-dd dd:dd"))
		return false;
	if (fits(str_skip(s, at), ":dd")) {
		seconds = number_at(s, at + 1, 2);
		at += 3;
	}
	int64_t ms = fraction_at(str_skip(s, at), &used);
	if (!zone_of(str_skip(s, at + used), &zone))
		return false;
	int64_t days = days_from(number_at(s, 0, 4), number_at(s, 5, 2), number_at(s, 8, 2));
	int64_t minutes = 60 * number_at(s, 11, 2) + number_at(s, 14, 2) - zone;
	*unix_ms = days * DAY_MS + (60 * minutes + seconds) * 1000 + ms;
	return true;
}

/* Of a JSON string that is a date; negative: it is none, or before 1970. */
static int64_t date_ms(struct str value)
{
	int64_t ms;

	return json_type(value) == JSON_STRING && clocks_date(json_inner(value), &ms) ? ms : -1;
}

void clocks_of_call(struct str at, struct str latency_ms, int64_t *sent_ms, int64_t *answered_ms)
{
	double latency = 0;

	*sent_ms = date_ms(at);
	if (!json_double(latency_ms, &latency) || latency < 0 || latency > LATENCY_MAX)
		latency = 0;
	*answered_ms = *sent_ms < 0 ? -1 : *sent_ms + (int64_t)latency;
}

static bool is_near(int64_t unix_ms, int64_t now_ms)
{
	if (now_ms < 0)
		return unix_ms >= PLAUSIBLE_FROM * 1000 && unix_ms < PLAUSIBLE_UNTIL * 1000;
	return unix_ms - now_ms < NEAR_MS && now_ms - unix_ms < NEAR_MS;
}

/* A Unix time is recognized by its magnitude: no other number is close to the current time in
   any of the units. */
static bool is_unix_now(struct str number, int64_t now_ms)
{
	static const double ms_per_unit[] = {1e3, 1, 1e-3, 1e-6};
	double value;
	bool found = false;

	if (!json_double(number, &value))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(ms_per_unit) && !found; i++) {
		double ms = value * ms_per_unit[i];

		found = ms >= 1 && ms < 1e14 && is_near((int64_t)ms, now_ms);
	}
	return found;
}

/* "04:36:27.5": on some day it is close to now. */
static bool is_time_of_day(struct str s)
{
	size_t n = sizeof("dd:dd:dd") - 1, used;

	if (!fits(s, "dd:dd:dd"))
		return false;
	(void)fraction_at(str_skip(s, n), &used);
	return s.n == n + used;
}

bool clocks_is_now(struct str value, int64_t now_ms)
{
	struct str text = json_type(value) == JSON_STRING ? json_inner(value) : STR_NONE;
	int64_t ms;

	if (json_type(value) == JSON_NUMBER)
		return is_unix_now(value, now_ms);
	if (text.n >= EPOCH_DIGITS && is_digit(text.p[0]) && epoch_at(text) == text.n)
		return is_unix_now(text, now_ms);
	return (clocks_date(text, &ms) && is_near(ms, now_ms)) ||
	       (now_ms >= 0 && is_time_of_day(text));
}

bool clocks_is_uuid(struct str text)
{
	return text.n > 0 && id_at(text) == text.n;
}
