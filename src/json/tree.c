/* Trees of cJSON: see tree.h. */
#include "json/tree.h"

#include "json/lex.h"

/* cJSON would end the string there. NULL: there is none. */
static const unsigned char *find_nul(struct str text)
{
	const unsigned char *p = lex_begin(text), *end = lex_end(text), *at;

	while ((at = memchr(p, '\\', (size_t)(end - p)))) { /* in strings only: it is valid */
		p = at;
		if (lex_unescape(&p, end) == 0)
			return at;
	}
	return NULL;
}

/* Sets valueint of all nodes, which cJSON sets for numbers only, to the offset of the value. */
static void locate(struct str text, cJSON *next)
{
	const unsigned char *begin = lex_begin(text), *end = lex_end(text), *p, *after;
	cJSON *open[JSON_DEPTH_MAX] = {NULL};
	size_t depth = 0;

	for (p = lex_blanks(begin, end); p < end; p = lex_blanks(p, end)) {
		after = *p == '"' ? lex_blanks(lex_string(p, end), end) : p;
		if (*p == ',') {
			p++;
		} else if (*p == ']' || *p == '}') {
			p++;
			next = depth ? open[--depth]->next : NULL;
		} else if (after != p && after < end && *after == ':') {
			p = after + 1;
		} else {
			next->valueint = (int)(p - begin);
			if (*p == '[' || *p == '{') {
				p++;
				open[depth++] = next;
				next = next->child;
			} else {
				p = lex_value(p, end);
				next = next->next;
			}
		}
	}
}

int tree_parse(struct keyed *k, cJSON **root)
{
	const char *nul, *stop = NULL;

	*root = NULL;
	if (keyed_parse(k))
		return -1;
	nul = (const char *)find_nul(k->text);
	*root = nul ? NULL : cJSON_ParseWithLengthOpts(k->text.p, k->text.n, &stop, false);
	if (!*root) {
		return keyed_fail_at(k, (size_t)((nul ? nul : stop) - k->text.p),
		                     "a NUL or lone surrogate, or a number of over 63 bytes");
	}
	locate(k->text, *root);
	return 0;
}

const cJSON *tree_get(const cJSON *object, const char *key)
{
	const cJSON *found = NULL;

	for (const cJSON *m = tree_first(object); m; m = m->next)
		found = strcmp(m->string, key) == 0 ? m : found;
	return found;
}

void tree_at(struct keyed *k, const cJSON *node)
{
	const unsigned char *p = lex_begin(k->text) + node->valueint;

	k->value = lex_slice(p, lex_value(p, lex_end(k->text)));
}

int tree_is_object(struct keyed *k, const cJSON *node)
{
	tree_at(k, node);
	return keyed_is_object(k, k->value);
}
