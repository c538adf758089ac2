/* The task API of ORS and OpenEnv: see task_api.h. */
#include "env/task_api.h"

#include "base/text.h"
#include "json/write.h"

#include <inttypes.h>

#define TASKS_LISTED_MAX 1000000

/* ---- environments ---- */

bool task_api_are_names(const struct http_json_answer *a)
{
	struct str name;
	size_t cursor = 0, count = 0;

	while (json_next(a->data, &cursor, &name)) {
		if (json_type(name) != JSON_STRING)
			return false;
		count++;
	}
	return a->status == 200 && count > 0;
}

static bool is_listed(struct str names, struct str name)
{
	struct str one;
	size_t cursor = 0;

	while (json_next(names, &cursor, &one))
		if (json_is(one, name))
			return true;
	return false;
}

/* The last part of the base's path; absent if it has none. */
static struct str last_part(const struct buf *base)
{
	const char *host = strstr(buf_cstr(base), "://") + 3;
	const char *slash = strrchr(host, '/');

	return slash ? str_from(slash + 1) : STR_NONE;
}

int task_api_ask_names(struct http_json *h, struct buf *name, struct http_json_answer *a,
                       struct error *err)
{
	struct str part = last_part(&h->base);

	if (part.p) {
		buf_str(name, part);
		buf_cut(&h->base, h->base.n - name->n - 1);
		if (http_json_ask(h, "/list_environments", STR_NONE, a, err))
			return -1;
		if (task_api_are_names(a))
			return 0;
		buf_char(&h->base, '/');
		buf_str(&h->base, buf_view(name));
		buf_clear(name);
	}
	return http_json_ask(h, "/list_environments", STR_NONE, a, err);
}

int task_api_choose_name(const struct http_json *h, struct str names, struct buf *name,
                         struct error *err)
{
	AUTO_BUF list = BUF(BUF_MAX_SMALL);
	struct str one;
	size_t cursor = 0;
	int failed = 0;

	while (json_next(names, &cursor, &one)) {
		buf_text(&list, list.n ? ", " : "");
		json_decode(one, &list);
	}
	if (name->n && !is_listed(names, buf_view(name))) {
		failed = error_set(err, FAIL_USAGE,
		                   "the server has no environment '%s'; available: %s",
		                   buf_cstr(name), buf_cstr(&list));
	} else if (!name->n && json_count(names) > 1) {
		failed = error_set(err, FAIL_USAGE,
		                   "the server has several environments (%s): add the name of one "
		                   "to the URL, %s/NAME",
		                   buf_cstr(&list), buf_cstr(&h->base));
	} else if (!name->n) {
		buf_str(name, buf_view(&list));
	}
	return failed;
}

/* ---- tasks ---- */

struct task_range {
	struct str split;
	uint64_t first, last; /* both included; last UINT64_MAX: to the end */
};

/* "train", "train:5", "train:0-9" */
static int parse_range(struct str spec, struct task_range *out, struct error *err)
{
	struct str last = spec;

	*out = (struct task_range){.split = str_cut(&last, ':'), .last = UINT64_MAX};
	bool whole = out->split.n == spec.n;
	bool range = last.n && memchr(last.p, '-', last.n);
	struct str first = range ? str_cut(&last, '-') : last;
	bool right = whole || (text_u64(first, &out->first) && text_u64(last, &out->last) &&
	                       out->first <= out->last);
	return right && out->split.n
	               ? 0
	               : error_set(err, FAIL_USAGE,
	                           "\1tasks\2 env:%.*s: expected env:SPLIT or env:SPLIT:A-B, such "
	                           "as env:train:0-9",
	                           STR_ARG(spec));
}

static void write_tasks(const struct task_range *r, uint64_t count, struct buf *out)
{
	AUTO_BUF split = BUF(BUF_MAX_SMALL);

	json_quote(&split, r->split);
	for (uint64_t i = r->first; i < count && i <= r->last; i++) {
		buf_printf(out,
		           "{\"id\":\"%.*s.%" PRIu64 "\",\"reset\":{\"split\":%s,\"index\":%" PRIu64
		           "}}\n",
		           STR_ARG(json_inner(buf_view(&split))), i, buf_cstr(&split), i);
	}
}

static int refused(const struct http_json_answer *a, const char *what, struct error *err)
{
	struct reply_reading reading;
	struct env_reply reply = {0};

	reading_init(&reading);
	http_json_read_failure(a, NULL, &reading, &reply);
	error_set(err, a->status == 400 || a->status == 422 ? FAIL_USAGE : FAIL_PROTOCOL,
	          "\1tasks\2 env: %s: %.*s", what, STR_ARG(reply.error.message));
	err->kind = a->status ? err->kind : FAIL_TRANSPORT;
	reading_release(&reading);
	return -1;
}

static int count_tasks(struct http_json *h, const struct buf *name, struct str split, uint64_t *out,
                       struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL), body = BUF(BUF_MAX_SMALL);
	struct http_json_answer a;
	int64_t count = -1;

	buf_printf(&path, "/%s/num_tasks", buf_cstr(name));
	json_pack(&body, "{split:%s}", split);
	int failed = http_json_ask(h, buf_cstr(&path), buf_view(&body), &a, err);
	if (!failed &&
	    (a.status != 200 || !json_i64(JSON_GET(a.data, "num_tasks"), &count) || count < 0)) {
		failed = refused(&a, buf_cstr(&path), err);
	}
	*out = (uint64_t)count;
	return failed;
}

static int list(struct http_json *h, struct buf *name, const struct task_range *r, struct buf *out,
                struct error *err)
{
	struct http_json_answer a;
	uint64_t count;

	if (task_api_ask_names(h, name, &a, err))
		return -1;
	if (!task_api_are_names(&a))
		return refused(&a, "/list_environments", err);
	if (task_api_choose_name(h, a.data, name, err) ||
	    count_tasks(h, name, r->split, &count, err)) {
		return -1;
	}
	if (r->first >= count || (r->last != UINT64_MAX && r->last >= count) ||
	    count > TASKS_LISTED_MAX) {
		return error_set(err, FAIL_USAGE,
		                 "\1tasks\2 env:%.*s: the split has %" PRIu64 " tasks, from 0",
		                 STR_ARG(r->split), count);
	}
	write_tasks(r, count, out);
	return 0;
}

int task_api_list(const struct env_conf *conf, struct io *io, struct str spec, struct buf *out,
                  struct error *err)
{
	struct http_json h;
	struct event_queue unread = {0};
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	struct task_range range;

	if (parse_range(spec, &range, err))
		return -1;
	if (!strstr(conf->url, "://")) {
		return error_set(err, FAIL_USAGE,
		                 "\1tasks\2 env: '%s' is not an ORS or OpenEnv server", conf->url);
	}
	http_json_init(&h, conf, io, &unread);
	int failed = list(&h, &name, &range, out, err);
	http_json_release(&h);
	events_release(&unread);
	return failed;
}
