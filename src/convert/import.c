/* Imports one file, as called by the reader (trajectory/foreign.h). */
#include "convert/import.h"

#include "convert/inspect_archive.h"
#include "convert/looks.h"
#include "json/write.h"

#include <stdlib.h>

#define UNPACKED_MAX (UINT64_C(16) << 30) /* total bytes of an archive's entries */

struct task_samples {
	struct map_item item;
	int64_t count;
};

struct foreign {
	struct import import;
};

static const struct format *recognize(struct str value)
{
	for (size_t i = 0; i < formats_count; i++) {
		if (formats[i]->is(value)) {
			return formats[i];
		}
	}
	return NULL;
}

static struct foreign *open_import(const struct format *format)
{
	struct foreign *f = mem_new(sizeof(*f));

	f->import = (struct import){.format = format,
	                            .work = BUF(FOREIGN_BYTES_MAX),
	                            .value = BUF(FOREIGN_BYTES_MAX),
	                            .hasher = hasher_new()};
	return f;
}

static int import_value(struct foreign *f, struct str value, struct buf *out, struct error *err)
{
	struct import *m = &f->import;

	m->out = out;
	int failed = m->format->take(m, value, err);
	m->values++;
	arena_reset(&m->arena);
	return failed;
}

static int finish(struct foreign *f, struct buf *out, struct error *err)
{
	struct import *m = &f->import;

	m->out = out;
	return m->format->finish ? m->format->finish(m, err) : 0;
}

static void close_import(struct foreign *f)
{
	struct import *m = &f->import;

	if (m->own_free) {
		m->own_free(m->own);
	}
	arena_release(&m->arena);
	arena_release(&m->tasks);
	buf_release(&m->work);
	buf_release(&m->value);
	hasher_free(m->hasher);
	free(f);
}

static int unpack(int fd, FILE *out, struct error *err)
{
	return inspect_unpack(fd, UNPACKED_MAX, out, err);
}

const struct foreign_formats foreign_formats = {
	.recognize = recognize,
	.open = open_import,
	.take = import_value,
	.finish = finish,
	.close = close_import,
	.describe = looks_describe,
	.unpack = unpack,
};

struct str import_rollout_id(struct import *m, struct str task, int64_t *sample)
{
	uint64_t hash = map_hash(task);
	struct task_samples *t = map_find(&m->samples, hash, STR_NONE);
	struct buf id = BUF(BUF_MAX_SMALL);

	if (!t) {
		t = arena_new(&m->tasks, sizeof(*t));
		map_add(&m->samples, &t->item, hash);
	}
	*sample = t->count++;
	buf_str(&id, task);
	buf_printf(&id, ".%lld", (long long)*sample);
	struct str kept = arena_str(&m->arena, buf_view(&id));
	buf_release(&id);
	return kept;
}

struct str import_task(struct import *m, struct str id)
{
	enum json_type type = json_type(id);

	buf_clear(&m->value);
	if (type == JSON_NUMBER || (type == JSON_STRING && json_inner(id).n)) {
		json_text_or_json(id, &m->value);
	} else {
		buf_printf(&m->value, "row-%llu", (unsigned long long)m->values);
	}
	return arena_str(&m->arena, buf_view(&m->value));
}

struct str import_text(struct import *m, struct str value)
{
	return json_text(&m->arena, value);
}

struct str import_number(struct import *m, double number)
{
	struct json_writer j;

	buf_clear(&m->value);
	jw_init(&j, &m->value);
	jw_double(&j, number);
	return arena_str(&m->arena, buf_view(&m->value));
}

bool import_own_id(struct import *m, struct str id, struct str extra, struct import_header *h)
{
	struct str task = JSON_GET(extra, "task"), text = import_text(m, id);
	int64_t sample;

	if (!text.n || json_type(task) != JSON_STRING ||
	    !json_i64(JSON_GET(extra, "sample"), &sample) || sample < 0) {
		return false;
	}
	h->id = text;
	h->task = import_text(m, task);
	h->sample = sample;
	return true;
}
