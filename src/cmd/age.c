/* Points in time as users write them: see age.h. */
#include "cmd/age.h"

#include "base/clock.h"
#include "base/text.h"

#include <stdio.h>

bool age_parse_ago(const char *text, uint64_t now_unix_ms, char out[AGE_TEXT])
{
	static const struct {
		char unit;
		uint64_t seconds;
	} units[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800}};
	size_t n = strlen(text);
	uint64_t number;

	if (n < 2 || !text_u64((struct str){text, n - 1}, &number)) {
		return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (text[n - 1] != units[i].unit) {
			continue;
		}
		uint64_t most = now_unix_ms / 1000 / units[i].seconds;
		uint64_t ago = (number < most ? number : most) * units[i].seconds * 1000;
		char stamp[32];

		clock_format(now_unix_ms - ago, stamp);
		snprintf(out, AGE_TEXT, "%.19s", stamp);
		return true;
	}
	return false;
}

/* True if text has a digit for each 0 in the pattern, and the same characters otherwise. */
static bool fits(const char *text, const char *pattern)
{
	for (; *text && *pattern; text++, pattern++) {
		if (*pattern == '0' ? *text < '0' || *text > '9' : *text != *pattern) {
			return false;
		}
	}
	return !*text && !*pattern;
}

/* Are the parts of YYYY-MM-DDTHH:MM:SS in range? */
static bool is_time(const char *text)
{
	static const struct {
		size_t at;
		const char *low, *high;
	} parts[] = {{5, "01", "12"},
	             {8, "01", "31"},
	             {11, "00", "23"},
	             {14, "00", "59"},
	             {17, "00", "60"}};
	bool good = true;

	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const char *part = text + parts[i].at;

		good = good && memcmp(part, parts[i].low, 2) >= 0 &&
		       memcmp(part, parts[i].high, 2) <= 0;
	}
	return good;
}

bool age_parse(const char *text, uint64_t now_unix_ms, char out[AGE_TEXT])
{
	static const struct {
		const char *pattern, *rest;
	} forms[] = {{"0000-00-00", "T00:00:00"},
	             {"0000-00-00T00:00", ":00"},
	             {"0000-00-00T00:00:00", ""},
	             {"0000-00-00T00:00:00Z", ""}};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if (fits(text, forms[i].pattern)) {
			snprintf(out, AGE_TEXT, "%.19s%s", text, forms[i].rest);
			return is_time(out);
		}
	}
	return age_parse_ago(text, now_unix_ms, out);
}
