/* Shards of a suite, and goldens matched with tasks: see suite.h. */
#include "cmd/golden/suite.h"

#include "base/log.h"
#include "base/map.h"
#include "base/text.h"
#include "cmd/options/shard.h"
#include "cmd/store/recordings.h"
#include "rollout/tasks.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROWS suite
#include "cmd/options/rows.h"
const struct option_group suite_group = {suite_opts, ARRAY_LEN(suite_opts), NULL};

struct expected_golden {
	struct map_item item;
	bool found;
};

struct task_list {
	struct tasks read;
	struct map by_id;
	struct expected_golden *goldens; /* one per task */
};

static int take_shard(const struct context *c, const char *text, struct file_list *files,
                      struct error *err)
{
	struct shard shard;
	size_t all = files->count, *numbers;

	if (shard_read(text, c, &shard, err))
		return -1;
	shard_files(&shard, files, &numbers);
	free(numbers);
	log_warn("shard %llu of %llu: %zu of %zu goldens", (unsigned long long)shard.index,
	         (unsigned long long)shard.count, files->count, all);
	return 0;
}

/* ---- tasks ---- */

static int read_tasks(struct suite *s, const char *path, struct error *err)
{
	struct task_list *t = mem_new(sizeof(*t));

	s->tasks = t;
	if (tasks_read(path, &t->read, err))
		return -1;
	t->goldens = mem_array(t->read.count + 1, sizeof(*t->goldens));
	for (size_t i = 0; i < t->read.count; i++)
		map_add(&t->by_id, &t->goldens[i].item, map_hash(str_from(t->read.items[i].id)));
	return 0;
}

static bool are_directories(char *const *operands, size_t count)
{
	struct stat st;

	for (size_t i = 0; i < count; i++)
		if (stat(operands[i], &st) != 0 || !S_ISDIR(st.st_mode))
			return false;
	return true;
}

int suite_open(struct suite *s, const struct context *c, const struct suite_options *o,
               char *const *operands, size_t count, struct file_list *files, struct error *err)
{
	*s = (struct suite){.options = o, .directories = are_directories(operands, count)};
	return (o->tasks && read_tasks(s, o->tasks, err)) ||
	                       (o->shard && take_shard(c, o->shard, files, err))
	               ? -1
	               : 0;
}

static void say(const struct report_case *c, struct reports *reports, struct buf *out)
{
	reports_case(reports, c);
	if (reports_have_table(reports)) {
		text_escape(out, str_from(c->file));
		if (c->line)
			buf_printf(out, ":%llu", (unsigned long long)c->line);
		buf_printf(out, ": %s: ", c->golden);
		text_escape_line(out, str_from(c->problem));
	}
}

static void say_obsolete(struct suite *s, const struct golden *g, struct reports *reports,
                         struct buf *out)
{
	AUTO_BUF problem = BUF(BUF_MAX_SMALL);

	s->obsolete++;
	buf_printf(&problem, "rollout %.*s belongs to no task in %s", STR_ARG(g->want.id),
	           s->options->tasks);
	say(&(struct report_case){.result = CASE_FAILED,
	                          .file = g->file,
	                          .rollout = g->want.id,
	                          .task = g->task,
	                          .problem = buf_cstr(&problem),
	                          .golden = "obsolete"},
	    reports, out);
}

static void say_missing(struct suite *s, const struct task *t, struct reports *reports,
                        struct buf *out)
{
	AUTO_BUF problem = BUF(BUF_MAX_SMALL);

	s->missing++;
	buf_printf(&problem, "task %s has no golden (record one with %s)", t->id,
	           t->actions || t->policy ? "--update new" : "run, then strip it");
	say(&(struct report_case){.result = CASE_FAILED,
	                          .file = s->options->tasks,
	                          .line = t->line,
	                          .task = str_from(t->id),
	                          .problem = buf_cstr(&problem),
	                          .golden = "missing"},
	    reports, out);
}

static bool mark_task(struct task_list *t, struct str id)
{
	struct expected_golden *e = map_find(&t->by_id, map_hash(id), STR_NONE);

	if (e)
		e->found = true;
	return e != NULL;
}

/* Names the file as `run --out DIRECTORY/` does. False: a file of that name exists with other
   rollouts. */
static bool add_file(struct file_list *files, const char *directory, const struct task *t)
{
	struct recordings names = {.path = BUF(BUF_MAX_SMALL)};
	AUTO_BUF id = BUF(BUF_MAX_SMALL), path = BUF(BUF_MAX_SMALL);

	buf_printf(&names.path, "%s%s", directory,
	           str_ends(str_from(directory), STR("/")) ? "" : "/");
	buf_printf(&id, "%s.0", t->id);
	recordings_path(&names, buf_view(&id), &path);
	bool is_new = access(buf_cstr(&path), F_OK) != 0;
	if (is_new) {
		files->paths = mem_resize(files->paths, files->count + 1, sizeof(*files->paths));
		files->paths[files->count++] = mem_text(buf_view(&path));
	}
	buf_release(&names.path);
	return is_new;
}

int suite_add_missing(struct suite *s, struct goldens *g, struct file_list *files,
                      const char *directory, const struct opt_list *masks, struct error *err)
{
	struct task_list *tasks = s->tasks;

	if (!tasks || !s->directories || s->options->shard)
		return 0;
	for (size_t i = 0; i < g->count; i++)
		mark_task(tasks, g->items[i].task);
	for (size_t i = 0; i < tasks->read.count; i++) {
		const struct task *t = &tasks->read.items[i];

		if (!tasks->goldens[i].found && (t->actions || t->policy) &&
		    add_file(files, directory, t) &&
		    goldens_add_task(g, t, files->paths[files->count - 1], masks, err)) {
			return -1;
		}
		tasks->goldens[i].found = false; /* suite_judge matches again */
	}
	return 0;
}

void suite_judge(struct suite *s, const struct goldens *g, bool whole, struct reports *reports,
                 struct buf *out)
{
	struct task_list *t = s->tasks;

	if (!t)
		return;
	if (!whole || !s->directories || s->options->shard) {
		log_warn("not checked: which goldens are obsolete or missing (this takes a run "
		         "that replays whole directories to the end)");
		return;
	}
	for (size_t i = 0; i < g->count; i++) {
		if (g->items[i].unrecorded && !g->items[i].accepted)
			continue;
		if (!g->items[i].task.p || !mark_task(t, g->items[i].task))
			say_obsolete(s, &g->items[i], reports, out);
	}
	for (size_t i = 0; i < t->read.count; i++)
		if (!t->goldens[i].found)
			say_missing(s, &t->read.items[i], reports, out);
}

void suite_release(struct suite *s)
{
	if (s->tasks) {
		tasks_release(&s->tasks->read);
		free(s->tasks->goldens);
		free(s->tasks);
		s->tasks = NULL;
	}
}
