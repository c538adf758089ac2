/* Error messages of real servers and the class each stands for: see error_text.h. */
#include "env/error_text.h"

#include <ctype.h>

/* Words in this order, anywhere in the message, upper or lower case: '*' between two
   parts is any text. A leading '^' ties the first part to the start. The first row that
   fits wins. */
struct pattern {
	const char *parts;
	enum error_class class;
};

static const struct pattern patterns[] = {
	/* no room: MCP-Gym's proxy, OpenEnv, the MCP SDK's max_sessions, gRPC */
	{"maximum*concurrent", CLASS_CAPACITY},
	{"maximum*environments", CLASS_CAPACITY},
	{"maximum*sessions", CLASS_CAPACITY},
	{"max*concurrent*reached", CLASS_CAPACITY},
	{"too many open sessions", CLASS_CAPACITY},
	{"at capacity", CLASS_CAPACITY},
	{"capacity_reached", CLASS_CAPACITY},
	{"resource_exhausted", CLASS_CAPACITY},
	/* the session or its environment is not known: MCP SDKs, MCP-Gym, session proxies
         */
	{"^session not found", CLASS_SESSION},
	{"^session * not found", CLASS_SESSION},
	{"^unknown session", CLASS_SESSION},
	{"^not found: session", CLASS_SESSION},
	{"no valid session id", CLASS_SESSION},
	{"missing session id", CLASS_SESSION},
	{"^server not initialized", CLASS_SESSION},
	{"expect initialize request", CLASS_SESSION},
	{"^no server assigned to session", CLASS_SESSION},
	{"^failed to create backend for session", CLASS_SESSION},
	{"stable mcp session id", CLASS_SESSION},
	{"^error executing tool *: 'gym_", CLASS_SESSION},
	{"^error executing tool *: 'sim_", CLASS_SESSION},
	/* the name */
	{"^unknown tool", CLASS_UNKNOWN_TOOL},
	{"^tool * not found", CLASS_UNKNOWN_TOOL},
	{"-32602: tool * not found", CLASS_UNKNOWN_TOOL},
	/* the arguments: FastMCP (pydantic), TypeScript SDK (zod) */
	{"validation error", CLASS_ARGUMENTS},
	{"invalid arguments", CLASS_ARGUMENTS},
	{"invalid action", CLASS_ARGUMENTS},
	{"invalid params", CLASS_ARGUMENTS},
	{"invalid request parameters", CLASS_ARGUMENTS},
	{"timed out", CLASS_TIMEOUT},
	{"unauthorized", CLASS_AUTH},
};

static bool starts_folded(struct str s, const char *part, size_t n)
{
	if (s.n < n) {
		return false;
	}
	for (size_t i = 0; i < n; i++) {
		if (tolower((unsigned char)s.p[i]) != part[i]) {
			return false;
		}
	}
	return true;
}

/* Finds the part; what stands behind it, or absent. */
static struct str after_part(struct str s, const char *part, size_t n, bool at_start)
{
	do {
		if (starts_folded(s, part, n)) {
			return str_skip(s, n);
		}
		s = str_skip(s, 1);
	} while (s.n >= n && s.n > 0 && !at_start);
	return (struct str){NULL, 0};
}

static bool fits(struct str message, const char *parts)
{
	bool at_start = *parts == '^';

	for (parts += at_start; message.p; at_start = false) {
		size_t n = strcspn(parts, "*");

		message = after_part(message, parts, n, at_start);
		if (!parts[n]) {
			return message.p != NULL;
		}
		parts += n + 1;
	}
	return false;
}

enum error_class error_text_class(struct str message, enum error_class otherwise)
{
	/* what matters stands at the beginning; a page of a stack trace is not searched
	 */
	struct str head = {message.p, message.n < 512 ? message.n : 512};

	if (!head.n) {
		return otherwise;
	}
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		if (fits(head, patterns[i].parts)) {
			return patterns[i].class;
		}
	}
	return otherwise;
}

bool error_text_suspected(struct str text)
{
	static const char *const starts[] = {
		"Error executing tool ", "Error:",    "Error ", "Traceback",
		"Unknown action",        "MCP error "};

	for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
		if (str_starts(text, str_from(starts[i]))) {
			return true;
		}
	}
	return false;
}

enum outcome error_class_outcome(enum error_class c, enum outcome otherwise)
{
	switch (c) {
	case CLASS_CAPACITY:
		return OUTCOME_CAPACITY;
	case CLASS_SESSION:
		return OUTCOME_SESSION_LOST;
	case CLASS_TIMEOUT:
		return OUTCOME_TIMEOUT;
	case CLASS_NONE:
	case CLASS_UNKNOWN_TOOL:
	case CLASS_ARGUMENTS:
	case CLASS_TOOL:
	case CLASS_ENVIRONMENT:
	case CLASS_TRANSPORT:
	case CLASS_PROTOCOL:
	case CLASS_AUTH:
	case CLASS_OTHER:
		break;
	}
	return otherwise;
}
