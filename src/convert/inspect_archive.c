/* Inspect's .eval logs: zip archives with header.json (only _journal/start.json while the run is in
   progress or after a crash) and an entry samples/ID_epoch_N.json per sample. Converted to JSON
   logs of one sample each, as read by convert/inspect.c; events and attachments, which are most of
   the data, are dropped. If a sample was run again, the log has two entries of the same name, and
   the last one is used, as by Inspect itself.

   Chunked samples (a directory for each, with sample.json, messages/START.json,
   attachments/START.json) are refused. As of Inspect 0.3.285 only a hidden command writes them,
   from a log without them; its viewer shows them, but `inspect log dump` fails on them. The
   conversation in them is message_refs of sample.json, ranges of the message sequence, in which
   each text of more than 100 characters is a reference to an attachment, attachment://INDEX. */
#include "convert/inspect_archive.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "convert/archive.h"
#include "json/canon.h"
#include "json/scan.h"
#include "json/write.h"

#include <inttypes.h>

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
	struct arena arena;              /* memory of names */
	size_t entries, samples;
	bool chunked; /* some sample is split into several entries */
};

/* True for ID_epoch_N followed by `end`. */
static bool is_sample(struct str name, struct str end)
{
	static const struct str mark = STR_INIT("_epoch_");

	if (!str_starts(name, STR("samples/")) || !str_ends(name, end)) {
		return false;
	}
	size_t n = name.n - end.n, at = n;
	while (at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9') {
		at--;
	}
	return at < n && str_ends((struct str){name.p, at}, mark);
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
		u->samples++;
	}
	known->last = u->entries;
}

static int note_entry(struct unpacking *u, struct str name, struct error *err)
{
	if (++u->entries > ENTRIES_MAX) {
		return error_set(err, FAIL_INPUT, "the zip archive has more than %zu entries",
		                 ENTRIES_MAX);
	}
	if (str_is(name, "header.json")) {
		return read_entry(u, &u->header, err);
	}
	if (str_is(name, "_journal/start.json")) {
		return read_entry(u, &u->start, err);
	}
	if (is_sample(name, STR(".json"))) {
		note_name(u, name);
	}
	u->chunked = u->chunked || is_sample(name, STR("/sample.json"));
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
	jw_object(j);
	for (size_t i = 0; i < count; i++) {
		struct str value = json_get(object, str_from(names[i]));

		if (value.p) {
			jw_key(j, names[i]);
			jw_raw(j, value);
		}
	}
	jw_end(j);
}

static void put_log(struct unpacking *u, struct str header, struct str sample)
{
	static const char *const of_eval[] = {"task", "model"};
	static const char *const of_sample[] = {"id",     "epoch", "messages",
	                                        "scores", "error", "limit"};
	struct str status = JSON_GET(header, "status");
	struct json_writer j;

	buf_clear(&u->value);
	jw_init(&j, &u->value);
	jw_object(&j);
	jw_key(&j, "version");
	jw_raw(&j, JSON_GET(header, "version"));
	jw_key(&j, "status");
	jw_raw(&j, status.p ? status : STR("\"started\""));
	jw_key(&j, "eval");
	put_members(&j, JSON_GET(header, "eval"), of_eval, ARRAY_LEN(of_eval));
	jw_key(&j, "samples");
	jw_array(&j);
	put_members(&j, sample, of_sample, ARRAY_LEN(of_sample));
	jw_end(&j);
	jw_end(&j);
	buf_clear(&u->line);
	json_minify(buf_view(&u->value), &u->line);
	buf_char(&u->line, '\n');
}

static int take_sample(struct unpacking *u, struct str header, struct str name, struct error *err)
{
	struct json_fault fault;

	if (read_entry(u, &u->content, err)) {
		return -1;
	}
	if (json_validate(buf_view(&u->content), &fault)) {
		return bad_json(name.p, &fault, err);
	}
	put_log(u, header, buf_view(&u->content));
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

static int take_entry(struct unpacking *u, struct str name, struct error *err)
{
	struct entry_name *known = map_find(&u->names, map_hash(name), STR_NONE);

	u->entries++;
	return known && known->last == u->entries ? take_sample(u, buf_view(&u->header), name, err)
	                                          : 0;
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
	if (u->chunked) {
		return error_set(
			err, FAIL_INPUT,
			"an Inspect log with chunked samples, which cannot be read: read the "
			"log that 'inspect log convert-chunked' made it from");
	}
	return u->samples ? 0 : error_set(err, FAIL_INPUT, "the evaluation log has no samples");
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

	struct buf *bufs[] = {&u.header, &u.start, &u.content, &u.value, &u.line};
	for (size_t i = 0; i < ARRAY_LEN(bufs); i++) {
		buf_release(bufs[i]);
	}
	arena_release(&u.arena);
	return failed ? -1 : 0;
}
