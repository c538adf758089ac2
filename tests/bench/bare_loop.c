/* The baseline for `run`: the requests of one rollout on an MCP-Gym lake, with libcurl only.
   Replies are received and dropped. bare_loop ORIGIN STEPS PATH.. Before each step the first PATH
   is read, after it the others (/control/...). The walk goes back and forth, so that the episode
   never ends. If a PATH is a complete URL, it is that of a model, which is called before each step
   with the whole conversation; no other PATH may be given then. */
#include <curl/curl.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define URL_SIZE 512

struct loop {
	CURL *curl;
	char origin[256], transport[128];
	struct curl_slist *mcp, *control;
	char body[1024];
	char *talk; /* the body for the model, without its end */
	size_t talk_n, talk_room;
};

static size_t drop(char *bytes, size_t size, size_t n, void *arg)
{
	(void)bytes;
	(void)arg;
	return size * n;
}

static size_t keep_transport(char *line, size_t size, size_t n, void *arg)
{
	static const char name[] = "mcp-session-id: ";
	struct loop *l = arg;
	size_t length = size * n, skip = sizeof name - 1;

	if (length > skip + 2 && strncasecmp(line, name, skip) == 0) {
		snprintf(l->transport, sizeof l->transport, "%.*s", (int)(length - skip - 2),
		         line + skip);
	}
	return length;
}

static void tell(struct loop *l, const char *text)
{
	size_t n = strlen(text);

	if (l->talk_n + n + 1 > l->talk_room) {
		l->talk_room = 2 * (l->talk_n + n + 1);
		l->talk = realloc(l->talk, l->talk_room);
		if (!l->talk)
			exit(1);
	}
	memcpy(l->talk + l->talk_n, text, n + 1);
	l->talk_n += n;
}

static void request(struct loop *l, const char *verb, const char *path, struct curl_slist *headers,
                    const char *body)
{
	char url[URL_SIZE];
	long status = 0;

	snprintf(url, sizeof url, "%s%s", *path == '/' ? l->origin : "", path);
	curl_easy_setopt(l->curl, CURLOPT_URL, url);
	curl_easy_setopt(l->curl, CURLOPT_HTTPHEADER, headers);
	if (body) {
		curl_easy_setopt(l->curl, CURLOPT_POST, 1L);
		curl_easy_setopt(l->curl, CURLOPT_POSTFIELDS, body);
		curl_easy_setopt(l->curl, CURLOPT_POSTFIELDSIZE, (long)strlen(body));
	} else {
		curl_easy_setopt(l->curl, CURLOPT_HTTPGET, 1L);
	}
	curl_easy_setopt(l->curl, CURLOPT_CUSTOMREQUEST, verb);
	CURLcode code = curl_easy_perform(l->curl);
	curl_easy_getinfo(l->curl, CURLINFO_RESPONSE_CODE, &status);
	if (code != CURLE_OK || status >= 300) {
		fprintf(stderr, "bare_loop: %s %s: %s, status %ld\n", verb, url,
		        curl_easy_strerror(code), status);
		exit(1);
	}
}

static void session_begin(struct loop *l)
{
	char header[192];

	l->mcp = curl_slist_append(NULL, "Content-Type: application/json");
	l->mcp = curl_slist_append(l->mcp, "Accept: application/json, text/event-stream");
	snprintf(l->body, sizeof l->body,
	         "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
	         "\"protocolVersion\":"
	         "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bare\","
	         "\"version\":\"1\","
	         "\"_extra\":{\"session_id\":\"bare-%ld\"}}}}",
	         (long)getpid());
	curl_easy_setopt(l->curl, CURLOPT_HEADERFUNCTION, keep_transport);
	curl_easy_setopt(l->curl, CURLOPT_HEADERDATA, l);
	request(l, "POST", "/mcp", l->mcp, l->body);
	curl_easy_setopt(l->curl, CURLOPT_HEADERFUNCTION, drop);
	snprintf(header, sizeof header, "mcp-session-id: %s", l->transport);
	l->mcp = curl_slist_append(l->mcp, header);
	snprintf(header, sizeof header, "mcp-session-id: bare-%ld", (long)getpid());
	l->control = curl_slist_append(NULL, header);
	request(l, "POST", "/mcp", l->mcp,
	        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	request(l, "POST", "/mcp", l->mcp,
	        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
}

/* What `run --policy llm` sends on the built-in lake, to the byte but for the ids. */
#define TALK                                                                                       \
	"{\"model\":\"any\",\"tools\":[{\"type\":\"function\",\"function\":{\"name\":"             \
	"\"lake_move\",\"description\":\"Moves one field on the frozen lake. Actions: LEFT, "      \
	"DOWN, RIGHT, UP.\",\"parameters\":{\"properties\":{\"action\":{\"enum\":[\"LEFT\","       \
	"\"DOWN\",\"RIGHT\",\"UP\"],\"title\":\"Action\",\"type\":\"string\"}},\"required\":"      \
	"[\"action\"],\"title\":\"lake_moveArguments\",\"type\":\"object\"}}}],"                   \
	"\"tool_choice\":\"auto\",\"messages\":[{\"role\":\"system\",\"content\":\"You act in "    \
	"an environment through the tools you are given. Call a tool in every turn until the "     \
	"task is done.\"},{\"role\":\"user\",\"content\":\"Begin.\"}"
#define SAID(id, way, position, grid)                                                              \
	",{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"id\":\"" id "\","            \
	"\"type\":\"function\",\"function\":{\"name\":\"lake_move\",\"arguments\":"                \
	"\"{\\\"action\\\":\\\"" way "\\\"}\"}}]},{\"role\":\"tool\",\"tool_call_id\":\"" id       \
	"\",\"name\":\"lake_move\",\"content\":\"{\\n  \\\"position\\\": " position ",\\n  "       \
	"\\\"grid\\\": \\\"" grid "\\\\nFHFH\\\\nFFFH\\\\nHFFG\\\\n\\\",\\n  "                     \
	"\\\"action\\\": \\\"" way "\\\"\\n}\"}"

static const char *const said[] = {
	SAID("call_100_0", "RIGHT", "1", "  (Right)\\\\nS\\\\u001b[41mF\\\\u001b[0mFF"),
	SAID("call_101_0", "LEFT", "0", "  (Left)\\\\n\\\\u001b[41mS\\\\u001b[0mFFF"),
};

/* The end of the body follows what is kept of it. */
static void ask(struct loop *l, const char *url, long number)
{
	size_t n = l->talk_n;

	tell(l, "]}");
	request(l, "POST", url, l->mcp, l->talk);
	l->talk_n = n;
	tell(l, said[number % 2]);
}

static void step(struct loop *l, long number, char **paths)
{
	if (*paths[0] == '/')
		request(l, "GET", paths[0], l->control, NULL);
	else
		ask(l, paths[0], number);
	snprintf(l->body, sizeof l->body,
	         "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/"
	         "call\",\"params\":{\"name\":"
	         "\"lake_move\",\"arguments\":{\"action\":\"%s\"}}}",
	         number + 2, number % 2 ? "LEFT" : "RIGHT");
	request(l, "POST", "/mcp", l->mcp, l->body);
	for (char **path = paths + 1; *path; path++)
		request(l, "GET", *path, l->control, NULL);
}

int main(int argc, char **argv)
{
	long steps = argc > 3 ? strtol(argv[2], NULL, 10) : 0;

	if (steps <= 0) {
		fputs("usage: bare_loop ORIGIN STEPS PATH..\n", stderr);
		return 2;
	}
	struct loop l = {.curl = NULL};
	curl_global_init(CURL_GLOBAL_DEFAULT);
	l.curl = curl_easy_init();
	snprintf(l.origin, sizeof l.origin, "%s", argv[1]);
	curl_easy_setopt(l.curl, CURLOPT_WRITEFUNCTION, drop);
	curl_easy_setopt(l.curl, CURLOPT_NOPROXY, "*");
	tell(&l, TALK);
	session_begin(&l);
	for (long i = 0; i < steps; i++)
		step(&l, i, argv + 3);
	request(&l, "DELETE", "/mcp", l.mcp, NULL);
	curl_slist_free_all(l.mcp);
	curl_slist_free_all(l.control);
	free(l.talk);
	curl_easy_cleanup(l.curl);
	curl_global_cleanup();
	return 0;
}
