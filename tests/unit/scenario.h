/* Scenario files: the requests that a scripted MCP server expects, its replies, and what
   the recording must contain. fixtures/scenario/README.md describes the keywords. One
   translation unit per program includes this. */
#pragma once

#include "base/mem.h"
#include "base/text.h"
#include "vectors.h"

#define SCENARIO_MAX 64

/* A keyword and the rest of its line. */
struct saying {
	struct str word, rest;
};

struct sayings {
	struct saying item[SCENARIO_MAX];
	size_t count;
};

/* An expected request and the reply to it. */
struct expected {
	struct str name;
	struct str label; /* "on NAME as LABEL", for `wait`; otherwise the name */
	bool always;      /* accepted at any time, any number of times */
	struct sayings conditions, ops;
	int times; /* guarded by the server's lock: number of requests */
};

struct scenario {
	struct arena arena;
	struct str title, path;
	struct str env; /* the target; absent: the scripted server itself, at `path` */
	struct sayings options, wants;
	struct expected expected[SCENARIO_MAX];
	size_t expected_count;
};

static inline void scenario_broken(const char *file, struct str line, const char *why)
{
	fprintf(stderr, "%s: %s: %.*s\n", file, why, STR_ARG(line));
	exit(1);
}

static inline struct saying scenario_split(struct str line)
{
	size_t n = 0;

	while (n < line.n && line.p[n] != ' ')
		n++;
	return (struct saying){{line.p, n}, str_skip(line, n + 1)};
}

static inline bool scenario_is_one_of(struct str word, const char *const *words)
{
	while (*words && !str_is(word, *words))
		words++;
	return *words != NULL;
}

static inline void scenario_say(struct sayings *s, struct saying what)
{
	if (s->count == SCENARIO_MAX)
		abort();
	s->item[s->count++] = what;
}

/* Indented lines belong to the request above them. */
static inline void scenario_inside(struct scenario *s, const char *file, struct str line)
{
	static const char *const conditions[] = {"has", "lacks", "asks", NULL};
	static const char *const ops[] = {"status", "header",    "json",  "body",  "empty",
	                                  "sse",    "event",     "chunk", "bytes", "wait",
	                                  "cut",    "reset",     "hang",  "raw",   "endless",
	                                  "fill",   "interrupt", "flood", "tools", NULL};
	struct saying what = scenario_split(line);

	if (!s->expected_count)
		scenario_broken(file, line, "belongs to no request");
	struct expected *e = &s->expected[s->expected_count - 1];
	if (scenario_is_one_of(what.word, conditions))
		scenario_say(&e->conditions, what);
	else if (scenario_is_one_of(what.word, ops))
		scenario_say(&e->ops, what);
	else
		scenario_broken(file, line, "unknown word");
}

static inline void scenario_expect(struct scenario *s, struct saying what)
{
	if (s->expected_count == SCENARIO_MAX)
		abort();
	struct expected *e = &s->expected[s->expected_count++];
	*e = (struct expected){
		.name = what.rest, .label = what.rest, .always = str_is(what.word, "always")};
	for (size_t i = 0; i + 4 < what.rest.n; i++) {
		if (str_starts(str_skip(what.rest, i), STR(" as "))) {
			e->name.n = i;
			e->label = str_skip(what.rest, i + 4);
		}
	}
}

static inline void scenario_line(struct scenario *s, const char *file, struct str line)
{
	static const char *const wants[] = {"exit",  "count",  "want",   "calls", "finding",
	                                    "clean", "stderr", "before", NULL};
	struct saying what = scenario_split(line);

	if (str_is(what.word, "#"))
		s->title = s->title.p ? s->title : what.rest;
	else if (line.p[0] == '\t')
		scenario_inside(s, file, str_skip(line, 1));
	else if (str_is(what.word, "on") || str_is(what.word, "always"))
		scenario_expect(s, what);
	else if (str_is(what.word, "at"))
		s->path = what.rest;
	else if (str_is(what.word, "env"))
		s->env = what.rest;
	else if (str_is(what.word, "run"))
		scenario_say(&s->options, what);
	else if (scenario_is_one_of(what.word, wants))
		scenario_say(&s->wants, what);
	else
		scenario_broken(file, line, "unknown word");
}

struct scenario_file {
	FILE *f;
	char *line;
	size_t cap;
};

static inline struct scenario_file scenario_open(const char *path)
{
	struct scenario_file file = {.f = fopen(path, "r")};

	if (!file.f) {
		perror(path);
		exit(1);
	}
	return file;
}

/* The next non-empty line, stored in the scenario; false at the end, where the file is
   closed. */
static inline bool scenario_next(struct scenario *s, struct scenario_file *file, struct str *line)
{
	ssize_t n;

	do {
		n = getline(&file->line, &file->cap, file->f);
		n -= n > 0 && file->line[n - 1] == '\n';
	} while (n == 0);
	if (n < 0) {
		free(file->line);
		fclose(file->f);
		return false;
	}
	*line = arena_str(&s->arena, (struct str){file->line, (size_t)n});
	return true;
}

static inline void scenario_part(struct scenario *s, const char *file, struct str name)
{
	char path[512];
	const char *slash = strrchr(file, '/');
	struct str line;

	snprintf(path, sizeof(path), "%.*s/%.*s.part", (int)(slash - file), file, STR_ARG(name));
	struct scenario_file part = scenario_open(path);
	while (scenario_next(s, &part, &line))
		scenario_line(s, path, line);
}

static inline void scenario_read(struct scenario *s, const char *path)
{
	struct scenario_file file = scenario_open(path);
	struct str line;

	*s = (struct scenario){.path = STR("/mcp")};
	while (scenario_next(s, &file, &line))
		if (str_starts(line, STR("use ")))
			scenario_part(s, path, str_skip(line, 4));
		else
			scenario_line(s, path, line);
}
