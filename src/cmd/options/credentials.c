/* Finds secrets in headers, URLs and commands: see credentials.h. */
#include "cmd/options/credentials.h"

#include "base/base64.h"
#include "base/text.h"
#include "recording/redact/redact.h"
#include "recording/words.h"

#include <strings.h>

#define COOKIE_MIN 8 /* shorter cookies are often settings, such as `dark` */

static bool same_letters(struct str a, size_t at, const char *word, size_t n)
{
	return at + n <= a.n && strncasecmp(a.p + at, word, n) == 0;
}

static bool contains(struct str name, const char *word)
{
	size_t n = strlen(word);

	for (size_t at = 0; at + n <= name.n; at++)
		if (same_letters(name, at, word, n))
			return true;
	return false;
}

bool credentials_named(struct str name)
{
	static const char *const parts[] = {"authorization", "cookie",  "token",      "secret",
	                                    "password",      "passwd",  "credential", "apikey",
	                                    "api-key",       "api_key", "signature"};
	static const char *const ends[] = {"key", "auth", "sig", "pass", "pwd", "jwt", "_pat"};

	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (contains(name, parts[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		size_t n = strlen(ends[i]);

		if (name.n >= n && same_letters(name, name.n - n, ends[i], n))
			return true;
	}
	return false;
}

/* The part before the first c; *rest is the part after it, absent if there is no c. */
static struct str cut_at(struct str s, char c, struct str *rest)
{
	const char *at = s.n ? memchr(s.p, c, s.n) : NULL;

	*rest = at ? str_skip(s, (size_t)(at - s.p) + 1) : STR_NONE;
	return at ? (struct str){s.p, (size_t)(at - s.p)} : s;
}

/* user:password */
static void add_user(struct secrets *s, struct str user)
{
	struct str password;

	cut_at(user, ':', &password);
	secrets_add(s, user);
	secrets_add(s, password);
}

static void add_basic(struct secrets *s, struct str digits)
{
	AUTO_BUF user = BUF(BUF_MAX_SMALL);

	if (base64_decode(&user, digits))
		add_user(s, buf_view(&user));
}

static void add_cookies(struct secrets *s, struct str pairs)
{
	while (pairs.n) {
		struct str value;

		cut_at(cut_at(pairs, ';', &pairs), '=', &value);
		value = text_trim(value);
		if (value.n >= COOKIE_MIN)
			secrets_add(s, value);
	}
}

static bool is_scheme(struct str word)
{
	static const char *const schemes[] = {"Basic", "Bearer", "Token", "ApiKey"};

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (word.n == strlen(schemes[i]) && same_letters(word, 0, schemes[i], word.n))
			return true;
	return false;
}

bool credentials_add_header(struct secrets *s, struct str header, bool whatever)
{
	struct str value, rest;
	struct str name = text_trim(cut_at(header, ':', &value));

	value = text_trim(value);
	if (!whatever && !credentials_named(name))
		return true;
	struct str scheme = cut_at(value, ' ', &rest);
	rest = text_trim(rest);
	if (rest.n && (is_scheme(scheme) || contains(name, "authorization")))
		value = rest;
	if (is_scheme(scheme) && same_letters(scheme, 0, "Basic", scheme.n))
		add_basic(s, rest);
	if (contains(name, "cookie"))
		add_cookies(s, value);
	return secrets_add(s, value);
}

static int hex_digit(char c)
{
	const char *digits = "0123456789abcdef",
		   *at = c ? strchr(digits, c | (c >= 'A' ? 32 : 0)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes percent escapes: the secret is the decoded value, and its escaped form is found as a
   spelling. */
static void unescape(struct str value, struct buf *out)
{
	for (size_t i = 0; i < value.n; i++) {
		bool escaped = value.p[i] == '%' && i + 2 < value.n &&
		               hex_digit(value.p[i + 1]) >= 0 && hex_digit(value.p[i + 2]) >= 0;

		buf_char(out, escaped ? (char)(hex_digit(value.p[i + 1]) * 16 +
		                               hex_digit(value.p[i + 2]))
		                      : value.p[i]);
		i += escaped ? 2 : 0;
	}
}

/* code: of an OAuth redirect. Some servers separate with semicolons. */
static void add_query(struct secrets *s, struct str query)
{
	while (query.n) {
		AUTO_BUF plain = BUF(BUF_MAX_SMALL);
		size_t end = 0;

		while (end < query.n && query.p[end] != '&' && query.p[end] != ';')
			end++;
		struct str value, name = cut_at((struct str){query.p, end}, '=', &value);

		if (credentials_named(name) || str_is(name, "code")) {
			unescape(value, &plain);
			secrets_add(s, buf_view(&plain));
		}
		query = str_skip(query, end + (end < query.n));
	}
}

/* USER:PASSWORD@HOST/.. */
static void add_place(struct secrets *s, const char *host)
{
	struct str place = {host, strcspn(host, "/?#")};
	AUTO_BUF user = BUF(BUF_MAX_SMALL);

	while (place.n && place.p[place.n - 1] != '@')
		place.n--;
	unescape((struct str){place.p, place.n ? place.n - 1 : 0}, &user);
	add_user(s, buf_view(&user));
}

void credentials_add_url(struct secrets *s, const char *url)
{
	const char *scheme = strstr(url, "://");
	struct str query, fragment;

	if (scheme)
		add_place(s, scheme + 3);
	cut_at(cut_at(str_from(url), '#', &fragment), '?', &query);
	add_query(s, query);
	add_query(s, fragment);
}

/* ---- commands ---- */

/* Reads one word as sh does, without its quotes. False: there are no more. */
static bool next_word(const char **at, struct buf *word)
{
	const char *p = *at + strspn(*at, " \t\r\n;&|()"), *begin = p;
	char quote = '\0';

	buf_clear(word);
	for (; *p && (quote || !strchr(" \t\r\n;&|()", *p)); p++) {
		if (quote ? *p == quote : *p == '\'' || *p == '"') {
			quote = (char)(quote ? '\0' : *p);
			continue;
		}
		p += *p == '\\' && quote != '\'' && p[1];
		buf_char(word, *p);
	}
	*at = p;
	return p > begin;
}

/* NAME=VALUE, with dashes before it or not, "Name: value", a URL; also in the value of another. */
static void add_word(struct secrets *s, const char *word)
{
	const char *value = word;

	while (value) {
		const char *url = strstr(value, "://"), *equals = strchr(value, '=');

		credentials_add_header(s, str_from(value), false);
		if (url && (!equals || url < equals)) {
			credentials_add_url(s, value);
			return;
		}
		if (equals && credentials_named((struct str){value, (size_t)(equals - value)}))
			secrets_add(s, str_from(equals + 1));
		value = equals ? equals + 1 : NULL;
	}
}

static void add_command(struct secrets *s, const char *command)
{
	AUTO_BUF word = BUF(BUF_MAX_MESSAGE);
	bool named = false; /* the word before is an option for a key */

	while (next_word(&command, &word)) {
		const char *text = buf_cstr(&word);

		if (named && text[0] != '-')
			secrets_add(s, buf_view(&word));
		named = text[0] == '-' && !strchr(text, '=') && credentials_named(buf_view(&word));
		add_word(s, text);
	}
}

void credentials_add_target(struct secrets *s, const char *target)
{
	if (target_command(target)) {
		add_command(s, target_command(target));
		return;
	}
	if (!strstr(target, "://"))
		add_place(s, target);
	credentials_add_url(s, target);
}
