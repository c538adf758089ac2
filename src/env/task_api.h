/* The task API that ORS and OpenEnv (0.10) share: a server names its environments, and each has
   splits of numbered tasks, which a reset selects by {"split","index"}. */
#pragma once

#include "env/http_json.h"

/* GET /list_environments, beside the URL if that ends in the name of an environment (the base then
   loses it, and `name` gets it), else at the URL. *a: the last answer. -1: interrupted, or a local
   failure. */
MUST_USE int task_api_ask_names(struct http_json *h, struct buf *name, struct http_json_answer *a,
                                struct error *err);
/* Is it a list of names, as the reply must be? */
bool task_api_are_names(const struct http_json_answer *a);
/* Checks the name in the URL, or sets it to the only one. FAIL_USAGE. */
MUST_USE int task_api_choose_name(const struct http_json *h, struct str names, struct buf *name,
                                  struct error *err);

/* Appends a task file (see rollout/tasks.h) for "SPLIT" or "SPLIT:A-B", the tasks A to B of a
   split. FAIL_USAGE: no such tasks; FAIL_TRANSPORT, FAIL_PROTOCOL: of the server. */
MUST_USE int task_api_list(const struct env_conf *conf, struct io *io, struct str spec,
                           struct buf *out, struct error *err);
