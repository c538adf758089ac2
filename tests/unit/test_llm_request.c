/* Requests to a model: fixtures/llm/requests.jsonl, one case per line. A case with
   `messages` has the beginning of a conversation, one with `want` the other members of a
   request. */
#include "tap.h"

#include "json/canon.h"
#include "net/io.h"
#include "policy/llm/request.h"

#include <stdlib.h>
#include <unistd.h>

#define TOOLS                                                                                      \
	"[{\"name\":\"f\",\"description\":\"F.\",\"inputSchema\":{\"type\":\"object\","            \
	"\"properties\":{\"a\":{\"type\":\"string\"}}}}]"
#define MESSAGES "{\"role\":\"user\",\"content\":\"go\"}"

static char path[] = "/tmp/rolldbg-request-XXXXXX";

static const char *variable(const char *name)
{
	(void)name;
	return "sk-not-a-key";
}

/* The case's policy, with the members that every policy needs. */
static struct llm_conf *read_conf(struct str policy, struct error *err)
{
	const struct llm_options none = {.base_url = NULL};
	struct llm_conf *conf = NULL;
	FILE *f = fopen(path, "w");

	if (f) {
		fprintf(f,
		        "{\"kind\":\"llm\",\"model\":\"m\",\"base_url\":\"http://"
		        "127.0.0.1\"%s%.*s",
		        json_count(policy) ? "," : "", (int)policy.n - 1, policy.p + 1);
		fclose(f);
	}
	ok(f && llm_conf_new(path, &none, variable, &conf, err) == 0 && conf, "an llm policy %s",
	   err->text);
	return conf;
}

static void same(struct str got, struct str want, const char *name)
{
	struct buf a = BUF(BUF_MAX_MESSAGE), b = BUF(BUF_MAX_MESSAGE);

	json_canon(got, NULL, JSON_EDIT_DROP, &a);
	json_canon(want, NULL, JSON_EDIT_DROP, &b);
	is_str(buf_cstr(&a), buf_cstr(&b), "%s", name);
	buf_release(&a);
	buf_release(&b);
}

/* The body; its messages must be an array and the last member. */
static void check_body(struct chat_request *r, struct str want, const char *name)
{
	static const char end[] = ",\"messages\":[" MESSAGES "]}";
	struct buf body = BUF(BUF_MAX_MESSAGE);

	chat_request_write(r, STR(MESSAGES), &body);
	if (ok(str_ends(buf_view(&body), str_from(end)), "%s: messages last", name)) {
		buf_cut(&body, body.n - strlen(end));
		buf_char(&body, '}');
		same(buf_view(&body), want, name);
	}
	buf_release(&body);
}

static void request_case(struct str line, const struct llm_conf *conf, const char *name)
{
	struct str tools = JSON_GET(line, "tools");
	int64_t sample = 0, turn = 0, limit = 0;
	struct chat_request r;

	json_i64(JSON_GET(line, "sample"), &sample);
	json_i64(JSON_GET(line, "turn"), &turn);
	chat_request_init(&r, conf, tools.p ? tools : STR(TOOLS), sample);
	chat_request_turn(&r, turn);
	if (json_i64(JSON_GET(line, "limit"), &limit))
		chat_request_limit(&r, (uint64_t)limit);
	check_body(&r, JSON_GET(line, "want"), name);
	chat_request_release(&r);
}

static void prompt_case(struct str line, const struct llm_conf *conf, const char *name)
{
	struct str values = JSON_GET(line, "values");
	struct buf task = BUF(BUF_MAX_SMALL), got = BUF(BUF_MAX_MESSAGE);
	struct prompt_values v = {.observation = JSON_GET(values, "observation"),
	                          .state = JSON_GET(values, "state"),
	                          .vars = JSON_GET(values, "vars")};
	struct conversation talk;

	json_decode(JSON_GET(values, "task"), &task);
	v.task = buf_cstr(&task);
	conversation_init(&talk);
	chat_prompts(conf, STR(TOOLS), &v, &talk);
	buf_char(&got, '[');
	buf_str(&got, conversation_added(&talk));
	buf_char(&got, ']');
	same(buf_view(&got), JSON_GET(line, "messages"), name);
	conversation_release(&talk);
	buf_release(&task);
	buf_release(&got);
}

/* The case's profile is one that is tested. */
static void one_case(struct str line, bool *tested)
{
	struct buf name = BUF(BUF_MAX_SMALL);
	struct error err = {0};
	struct llm_conf *conf = read_conf(JSON_GET(line, "policy"), &err);

	json_decode(JSON_GET(line, "case"), &name);
	if (conf) {
		tested[conf->profile - profiles] = true;
		(JSON_GET(line, "messages").p ? prompt_case : request_case)(line, conf,
		                                                            buf_cstr(&name));
	}
	llm_conf_free(conf);
	buf_release(&name);
}

int main(void)
{
	bool *tested = mem_new(profiles_count * sizeof(*tested));
	FILE *f = fopen("fixtures/llm/requests.jsonl", "r");
	int fd = mkstemp(path);
	char *line = NULL;
	size_t room = 0;
	ssize_t n;
	struct error err;

	ok(io_global_init(&err) == 0, "libcurl");
	ok(f != NULL && fd >= 0, "the cases are there");
	while (f && (n = getline(&line, &room, f)) > 0) {
		struct json_fault fault;
		struct str text = {line, (size_t)n - (line[n - 1] == '\n')};

		if (ok(json_validate(text, &fault) == 0, "a case is JSON"))
			one_case(text, tested);
	}
	for (size_t i = 0; i < profiles_count; i++)
		ok(tested[i], "the profile %s has a case", profiles[i].name);
	free(line);
	free(tested);
	if (f)
		fclose(f);
	close(fd);
	unlink(path);
	io_global_cleanup();
	return done();
}
