/* What open OpenEnv sessions weigh: opens N on one server, each as a rollout opens its
   own (an io, an adapter, a reset), and says how much memory the process holds while all
   of them idle. ws_sessions URL N. Prints KiB a session and MiB in all. */
#include "base/mem.h"
#include "base/rng.h"
#include "env/environments.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

struct session {
	struct io *io;
	struct env *env;
	struct env_conf conf;
	char id[17];
};

static long resident_kib(void)
{
	char line[256];
	long kib = 0;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, "VmRSS:", 6))
			kib = strtol(line + 6, NULL, 10);
	if (f)
		fclose(f);
	return kib;
}

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "ws_sessions: %s: %s\n", what, why);
	exit(1);
}

static void session_open(struct session *s, const char *url)
{
	struct io_conf io_conf = {.clock = clock_real(), .stop_fd = -1};
	struct env_reply reply = {.outcome = OUTCOME_OK};
	struct error err = {0};

	if (rng_unique_hex(s->id, sizeof(s->id) - 1))
		fail("random bytes", "none");
	s->conf = (struct env_conf){.url = url,
	                            .timeout_ms = 60000,
	                            .state_spec = STR_INIT("auto"),
	                            .env_session = s->id,
	                            .version = "bench"};
	if (io_new(&io_conf, &s->io, &err))
		fail("io", err.text);
	const struct env_ops *ops = env_find(&s->conf, s->io, &err);
	if (!ops || env_open(ops, &s->conf, s->io, &s->env, &reply, &err) ||
	    reply.outcome != OUTCOME_OK || env_reset(s->env, &reply, &err) ||
	    reply.outcome != OUTCOME_OK) {
		fail("session", err.text[0] ? err.text : outcome_name(reply.outcome));
	}
}

int main(int argc, char **argv)
{
	long n = argc == 3 ? strtol(argv[2], NULL, 10) : 0;
	struct error err = {0};
	struct rlimit files;

	if (n <= 0)
		fail("usage", "ws_sessions URL N");
	if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &files);
	}
	if (io_global_init(&err))
		fail("libcurl", err.text);
	struct session *all = mem_array((size_t)n, sizeof(*all));
	session_open(&all[0], argv[1]); /* what is paid once is not counted */
	long before = resident_kib();
	for (long i = 1; i < n; i++)
		session_open(&all[i], argv[1]);
	long after = resident_kib();
	printf("%.1f KiB a session, %.1f MiB in all\n",
	       n > 1 ? (double)(after - before) / (double)(n - 1) : 0.0, (double)after / 1024);
	for (long i = 0; i < n; i++) {
		all[i].env->ops->close(all[i].env);
		io_free(all[i].io);
	}
	free(all);
	io_global_cleanup();
	return 0;
}
