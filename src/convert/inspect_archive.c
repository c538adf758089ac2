/* Inspect's .eval logs: zip archives with header.json (only _journal/start.json while the run is in
   progress or after a crash) and an entry samples/ID_epoch_N.json per sample. Converted to JSON
   logs of one sample each, as read by convert/inspect.c; events and attachments, which are most of
   the data, are dropped. If a sample was run again, the log has two entries of the same name, and
   the last one is used, as by Inspect itself.

   Inspect can also store a sample as a directory of entries. As of 0.3.285 only a hidden command
   does, and `inspect log dump` fails on the result: such a log is refused. */
#include "convert/inspect_archive.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "convert/archive.h"
#include "json/canon.h"
#include "json/scan.h"
#include "json/write.h"

#include <stdlib.h>

#define ENTRIES_MAX      ((size_t)1 << 20)
#define ENTRY_BYTES_MAX  (4 * BUF_MAX_MESSAGE)
#define HEADER_BYTES_MAX BUF_MAX_MESSAGE

struct entry_name {
	struct map_item item;
	size_t last; /* index of the last entry with that name */
};

struct unpacking {
	struct archive_file *archive;
	FILE *to;
	uint64_t left;                   /* remaining bytes that may be unpacked */
	struct buf header, start;        /* contents of these entries */
	struct buf content, value, line; /* of the current sample */
	struct map names;                /* struct entry_name */
	struct arena arena;              /* memory of the map\'s items */
	size_t entries;
};

/* ---- names of entries: an ID may contain anything, slashes too ---- */

enum entry_kind {
	ENTRY_OTHER,
	ENTRY_HEADER,
	ENTRY_START,
	ENTRY_SAMPLE, /* samples/ID_epoch_N.json */
	ENTRY_PART    /* samples/ID_epoch_N/sample.json: the other parts are beside it */
};

/* True for samples/ID_epoch_N. */
static bool is_sample(struct str name)
{
	size_t at = name.n;

	while (at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') {
		at--;
	}
	return str_starts(name, STR("samples/")) && at < name.n &&
	       str_ends((struct str){name.p, at}, STR("_epoch_"));
}

static bool is_sample_with(struct str name, struct str end)
{
	return str_ends(name, end) && is_sample((struct str){name.p, name.n - end.n});
}

static enum entry_kind entry_kind(struct str name)
{
	if (str_is(name, "header.json")) {
		return ENTRY_HEADER;
	}
	if (str_is(name, "_journal/start.json")) {
		return ENTRY_START;
	}
	return is_sample_with(name, STR("/sample.json")) ? ENTRY_PART
	       : is_sample_with(name, STR(".json"))      ? ENTRY_SAMPLE
	                                                 : ENTRY_OTHER;
}

static int read_entry(struct unpacking *u, struct buf *out, struct error *err)
{
	if (archive_file_read(u->archive, out, err)) {
		return -1;
	}
	if (out->n > u->left) {
		return error_set(err, FAIL_INPUT, "the zip archive unpacks to too many bytes");
	}
	u->left -= out->n;
	return 0;
}

/* ---- first pass: the header, and which entries count ---- */

static void note_name(struct unpacking *u, struct str name)
{
	uint64_t hash = map_hash(name);
	struct entry_name *known = map_find(&u->names, hash, STR_NONE);

	if (!known) {
		known = arena_new(&u->arena, sizeof(*known));
		map_add(&u->names, &known->item, hash);
	}
	known->last = u->entries;
}

static int note_entry(struct unpacking *u, struct str entry, struct error *err)
{
	if (++u->entries > ENTRIES_MAX) {
		return error_set(err, FAIL_INPUT, "the zip archive has more than %zu entries",
		                 ENTRIES_MAX);
	}
	switch (entry_kind(entry)) {
	case ENTRY_HEADER:
		return read_entry(u, &u->header, err);
	case ENTRY_START:
		return read_entry(u, &u->start, err);
	case ENTRY_SAMPLE:
		note_name(u, entry);
		return 0;
	case ENTRY_PART:
		return error_set(err, FAIL_INPUT,
		                 "the log stores samples in parts, which are not read");
	case ENTRY_OTHER:
		break;
	}
	return 0;
}

/* ---- second pass: the samples ---- */

static int bad_json(const char *entry, const struct json_fault *fault, struct error *err)
{
	struct buf name = BUF(BUF_MAX_SMALL);

	text_escape(&name, str_from(entry));
	error_set(err, FAIL_INPUT, "%s in the zip archive is not valid JSON: %s, at byte %zu",
	          buf_cstr(&name), fault->why, fault->at + 1);
	buf_release(&name);
	return -1;
}

static void put_members(struct json_writer *j, struct str object, const char *const *names,
                        size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct str value = json_get(object, str_from(names[i]));

		if (value.p) {
			jw_put_raw(j, names[i], value);
		}
	}
}

static void put_log(struct unpacking *u, struct str sample, struct str messages)
{
	static const char *const of_eval[] = {"task", "model"};
	static const char *const of_sample[] = {"id", "epoch", "scores", "error", "limit"};
	struct str header = buf_view(&u->header);
	struct str status = JSON_GET(header, "status");
	struct json_writer j;

	buf_clear(&u->value);
	jw_init(&j, &u->value);
	jw_object(&j);
	jw_put_raw(&j, "version", JSON_GET(header, "version"));
	jw_put_raw(&j, "status", status.p ? status : STR("\"started\""));
	jw_put_object(&j, "eval");
	put_members(&j, JSON_GET(header, "eval"), of_eval, ARRAY_LEN(of_eval));
	jw_end(&j);
	jw_put_array(&j, "samples");
	jw_object(&j);
	put_members(&j, sample, of_sample, ARRAY_LEN(of_sample));
	if (messages.p) {
		jw_put_raw(&j, "messages", messages);
	}
	jw_end(&j);
	jw_end(&j);
	jw_end(&j);
	buf_clear(&u->line);
	json_minify(buf_view(&u->value), &u->line);
	buf_char(&u->line, '\n');
}

static int write_log(struct unpacking *u, struct str sample, struct str messages, struct error *err)
{
	put_log(u, sample, messages);
	if (u->value.full || u->line.full) {
		return error_set(err, FAIL_INPUT,
		                 "a sample in the zip archive is longer than %zu MiB",
		                 u->line.max >> 20);
	}
	if (fwrite(u->line.p, 1, u->line.n, u->to) != u->line.n) {
		return error_errno(err, "cannot unpack into a temporary file");
	}
	return 0;
}

static int read_json(struct unpacking *u, struct str entry, struct error *err)
{
	struct json_fault fault;

	if (read_entry(u, &u->content, err)) {
		return -1;
	}
	return json_validate(buf_view(&u->content), &fault) ? bad_json(entry.p, &fault, err) : 0;
}

static int take_entry(struct unpacking *u, struct str entry, struct error *err)
{
	struct entry_name *known = map_find(&u->names, map_hash(entry), STR_NONE);

	u->entries++;
	if (!known || known->last != u->entries) {
		return 0;
	}
	return read_json(u, entry, err)
	               ? -1
	               : write_log(u, buf_view(&u->content),
	                           JSON_GET(buf_view(&u->content), "messages"), err);
}

/* ---- both ---- */

static int each_entry(struct unpacking *u, int fd,
                      int (*take)(struct unpacking *u, struct str name, struct error *err),
                      struct error *err)
{
	struct str name;
	int more;

	u->entries = 0;
	if (archive_file_open(fd, &u->archive, err)) {
		return -1;
	}
	while ((more = archive_file_next(u->archive, &name, err)) > 0) {
		if (take(u, name, err)) {
			more = -1;
			break;
		}
	}
	archive_file_close(u->archive);
	return more;
}

static int check_log(struct unpacking *u, struct error *err)
{
	const char *entry = u->header.n ? "header.json" : "_journal/start.json";
	struct json_fault fault;

	if (!u->header.n) {
		buf_str(&u->header, buf_view(&u->start));
	}
	if (!u->header.n) {
		return error_set(err, FAIL_INPUT,
		                 "a zip archive, but not an Inspect log: it has no header.json");
	}
	if (json_validate(buf_view(&u->header), &fault)) {
		return bad_json(entry, &fault, err);
	}
	if (json_type(JSON_GET(buf_view(&u->header), "eval")) != JSON_OBJECT) {
		return error_set(err, FAIL_INPUT,
		                 "a zip archive, but not an Inspect log: its %s has no eval",
		                 entry);
	}
	return u->names.count ? 0 : error_set(err, FAIL_INPUT, "the evaluation log has no samples");
}

static void release(struct unpacking *u)
{
	struct buf *bufs[] = {&u->header, &u->start, &u->content, &u->value, &u->line};

	for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
		buf_release(bufs[i]);
	}
	arena_release(&u->arena);
}

int inspect_unpack(int fd, uint64_t unpacked, FILE *out, struct error *err)
{
	struct unpacking u = {.to = out,
	                      .left = unpacked,
	                      .header = BUF(HEADER_BYTES_MAX),
	                      .start = BUF(HEADER_BYTES_MAX),
	                      .content = BUF(ENTRY_BYTES_MAX),
	                      .value = BUF(ENTRY_BYTES_MAX),
	                      .line = BUF(BUF_MAX_MESSAGE)};
	int failed = each_entry(&u, fd, note_entry, err) || check_log(&u, err) ||
	             each_entry(&u, fd, take_entry, err);

	release(&u);
	return failed ? -1 : 0;
}
