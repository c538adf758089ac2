/* The environment's pings are answered while a model generates: a WebSocket whose pings
   must be answered within a fraction of the model's delay stays open. */
#include "env/environments.h"
#include "policy/llm/conf.h"
#include "rollout/rollout.h"
#include "serve/llm/llm.h"
#include "serve/serve.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define PING_MS     20
#define PATIENCE_MS 200 /* time for a Pong; a quarter of the model's delay */
#define MOVE                                                                                       \
	"{\"calls\":[{\"name\":\"step\",\"arguments\":{\"action\":\"DOWN\"}}],"                    \
	"\"delay\":\"800ms\"}"
#define SCRIPT "{\"replies\":[" MOVE "," MOVE ",{\"text\":\"done\"}]}"

struct setup {
	struct server *lake;
	struct llm_server *model;
	char lake_url[64], model_url[64], script[64], recording[64];
};

static void exit_with_error(const struct error *err)
{
	fprintf(stderr, "# %s\n", err->text);
	abort();
}

static void temporary(char path[64], const char *text)
{
	snprintf(path, 64, "/tmp/rolldbg-test-XXXXXX");
	int fd = mkstemp(path);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

static void begin(struct setup *w)
{
	struct serve_conf lake;
	struct llm_server_conf model = {.script = w->script, .clock = clock_real()};
	struct error err;

	temporary(w->script, SCRIPT);
	temporary(w->recording, "");
	serve_conf_init(&lake, clock_real());
	lake.ping_ms = PING_MS;
	lake.ping_timeout_ms = PATIENCE_MS;
	if (serve_conf_target(&lake, STR("frozen_lake?protocol=openenv"), &err) ||
	    server_start(&lake, &w->lake, &err) || llm_server_start(&model, &w->model, &err)) {
		exit_with_error(&err);
	}
	snprintf(w->lake_url, sizeof(w->lake_url), "ws://127.0.0.1:%u/ws",
	         (unsigned)server_port(w->lake));
	snprintf(w->model_url, sizeof(w->model_url), "http://127.0.0.1:%u",
	         (unsigned)llm_server_port(w->model));
}

static void end(struct setup *w)
{
	server_stop(w->lake);
	llm_server_stop(w->model);
	unlink(w->script);
	unlink(w->recording);
}

static const char *no_variable(const char *name)
{
	(void)name;
	return NULL;
}

static void drive(struct setup *w, struct rollout_result *result)
{
	struct llm_options options = {.base_url = w->model_url, .model = "any"};
	struct recorder_conf recorder = {.path = w->recording, .force = true};
	struct io_conf io = {.clock = clock_real(),
	                     .stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	struct rollout_conf conf = {.task = "t",
	                            .env = {.url = w->lake_url,
	                                    .timeout_ms = 60000,
	                                    .state_spec = STR("auto"),
	                                    .env_session = "session",
	                                    .version = "0"},
	                            .policy = {.spec = "llm"},
	                            .clock = clock_real()};
	struct llm_conf *llm = NULL;
	struct error err;

	if (io_global_init(&err) || llm_conf_new("llm", &options, no_variable, &llm, &err) ||
	    io_new(&io, &conf.io, &err) || recorder_new(&recorder, &conf.recorder, &err)) {
		exit_with_error(&err);
	}
	conf.policy.llm = llm;
	conf.env_ops = env_find(&conf.env, conf.io, &err);
	ok(conf.env_ops && rollout_run(&conf, result, &err) == 0, "a rollout runs");
	if (recorder_close(conf.recorder, &err))
		exit_with_error(&err);
	io_free(conf.io);
	llm_conf_free(llm);
	close(io.stop_fd);
	io_global_cleanup();
}

int main(void)
{
	struct setup w = {.lake = NULL};
	struct rollout_result result = {.status = END_FAILED};

	begin(&w);
	drive(&w, &result);
	is_int(result.status, END_FINISHED, "to its end: %s", result.peer.text);
	is_int((int64_t)server_steps(w.lake), 2, "both steps after a long decision arrived");
	end(&w);
	return done();
}
