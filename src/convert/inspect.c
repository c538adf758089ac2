/* Inspect's .eval logs: zip archives with header.json (only _journal/start.json while the run is in
   progress or after a crash) and an entry samples/ID_epoch_N.json per sample. Converted to JSON
   logs of one sample each, as read below; events and attachments, which are most of
   the data, are dropped. If a sample was run again, the log has two entries of the same name, and
   the last one is used, as by Inspect itself.

   Inspect can also store a sample as a directory of entries. As of 0.3.285 only a hidden command
   does, and `inspect log dump` fails on the result: such a log is refused. */
#include "base/buf.h"
#include "base/error.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/text.h"
#include "convert/dialog.h"
#include "convert/import.h"
#include "json/canon.h"
#include "json/scan.h"
#include "json/write.h"

#include <archive.h>
#include <archive_entry.h>
#include <dlfcn.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- entries of a zip archive ---- */

#define BLOCK ((size_t)256 << 10)

#define ARCHIVE_FUNCTIONS(ROW)                                                                     \
	ROW(read_new)                                                                              \
	ROW(read_support_format_zip_seekable)                                                      \
	ROW(read_open_fd)                                                                          \
	ROW(read_next_header)                                                                      \
	ROW(read_data)                                                                             \
	ROW(read_free)                                                                             \
	ROW(error_string)                                                                          \
	ROW(entry_pathname_utf8)                                                                   \
	ROW(entry_is_encrypted)

struct archive_library {
	void *handle;
#define MEMBER_OF(name) __typeof__(archive_##name) *(name);
	ARCHIVE_FUNCTIONS(MEMBER_OF)
};

#define SONAME "libarchive.so.13"

#ifdef __ELF__
/* Metadata in the format of https://systemd.io/ELF_DLOPEN_METADATA/ */
#define NOTE_JSON                                                                                  \
	"[{\"feature\":\"zip\",\"description\":\"Reading zip archives\","                          \
	"\"priority\":\"suggested\",\"soname\":[\"" SONAME "\"]}]"

static const struct {
	uint32_t owner_bytes, text_bytes, type;
	char owner[4];
	char text[sizeof(NOTE_JSON)];
} note __attribute__((used, section(".note.dlopen"), aligned(4))) = {
	4, sizeof(NOTE_JSON), 0x407c0c0a, "FDO", NOTE_JSON,
};
#endif

static const struct {
	size_t member;
	const char *name;
} functions[] = {
#define SYMBOL_OF(name) {offsetof(struct archive_library, name), "archive_" #name},
	ARCHIVE_FUNCTIONS(SYMBOL_OF)};

struct archive_file {
	struct archive_library library;
	struct archive *archive;
	struct archive_entry *entry;
	struct buf name; /* of the entry, in UTF-8; empty if it has no readable one */
	/* names are converted to the thread's locale; 0: no UTF-8 locale available */
	locale_t utf8;
};

static int load(struct archive_library *l, struct error *err)
{
	/* RTLD_NOW would take a tenth longer, as it binds what the library never calls. */
	l->handle = dlopen(SONAME, RTLD_LAZY | RTLD_LOCAL);
	bool loaded = l->handle != NULL;

	for (size_t i = 0; i < ARRAY_LEN(functions) && loaded; i++) {
		void *function = dlsym(l->handle, functions[i].name);

		loaded = function != NULL;
		memcpy((char *)l + functions[i].member, &function, sizeof(function));
	}
	return loaded ? 0
	              : error_set(err, FAIL_SYSTEM, SONAME " is needed to read zip archives: %s",
	                          dlerror());
}

static void archive_file_close(struct archive_file *a)
{
	if (a->archive)
		a->library.read_free(a->archive);
	if (a->library.handle)
		dlclose(a->library.handle);
	if (a->utf8)
		freelocale(a->utf8);
	buf_release(&a->name);
}

/* Opens the archive in a seekable file; the caller closes both, also on failure. FAIL_INPUT if the
   central directory is missing, as in a truncated file; FAIL_SYSTEM if libarchive cannot be loaded. */
static int archive_file_open(int fd, struct archive_file *a, struct error *err)
{
	const struct archive_library *l = &a->library;

	*a = (struct archive_file){.name = BUF(BUF_MAX_SMALL)};
	if (load(&a->library, err))
		return -1;
	/* load() has set it; NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage) */
	a->archive = l->read_new();
	a->utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	if (!a->archive || lseek(fd, 0, SEEK_SET) != 0 ||
	    l->read_support_format_zip_seekable(a->archive) != ARCHIVE_OK ||
	    l->read_open_fd(a->archive, fd, BLOCK) != ARCHIVE_OK) {
		return error_set(err, FAIL_INPUT,
		                 "the zip archive is truncated or damaged: the list of entries at "
		                 "its end is missing");
	}
	return 0;
}

/* libarchive's reason, which does not name the entry. */
static const char *reason(const struct archive_file *a)
{
	const char *text = a->library.error_string(a->archive);

	return text ? text : "damaged";
}

/* Returns 1 with the next entry; 0 at the end; -1 with FAIL_INPUT. */
static int archive_file_next(struct archive_file *a, struct error *err)
{
	locale_t before = a->utf8 ? uselocale(a->utf8) : (locale_t)0;
	int got = a->library.read_next_header(a->archive, &a->entry);
	/* a warning means that the name is not valid text */
	bool good = got == ARCHIVE_OK || got == ARCHIVE_WARN;
	const char *name = good ? a->library.entry_pathname_utf8(a->entry) : NULL;

	buf_set(&a->name, str_from(name ? name : ""));
	if (a->utf8)
		uselocale(before);
	if (!good && got != ARCHIVE_EOF)
		return error_set(err, FAIL_INPUT, "the zip archive is damaged: %s", reason(a));
	return good;
}

static int bad_entry(struct str entry, struct error *err, const char *fmt, ...) PRINTF_LIKE(3, 4);
static int bad_entry(struct str entry, struct error *err, const char *fmt, ...)
{
	AUTO_BUF text = BUF(BUF_MAX_SMALL);
	va_list args;

	text_escape(&text, entry);
	buf_text(&text, " in the zip archive ");
	va_start(args, fmt);
	buf_vprintf(&text, fmt, args);
	va_end(args);
	return error_set(err, FAIL_INPUT, "%s", buf_cstr(&text));
}

/* Replaces out with the entry's content. FAIL_INPUT if it is damaged, encrypted, compressed with an
   unknown method, or larger than out may grow. */
static int archive_file_read(struct archive_file *a, struct buf *out, struct error *err)
{
	struct str name = buf_view(&a->name);
	char *block = mem_array(BLOCK, 1);
	la_ssize_t n = 1;
	int failed = 0;

	buf_clear(out);
	if (a->library.entry_is_encrypted(a->entry))
		failed = bad_entry(name, err, "is encrypted");
	while (!failed && n > 0) {
		n = a->library.read_data(a->archive, block, BLOCK);
		if (n < 0)
			failed = bad_entry(name, err, "cannot be read: %s", reason(a));
		else
			buf_add(out, block, (size_t)n);
		if (out->full)
			failed = bad_entry(name, err, "is longer than %zu MiB", out->max >> 20);
	}
	free(block);
	return failed;
}

#define ENTRIES_MAX      ((size_t)1 << 20)
#define ENTRY_BYTES_MAX  (4 * BUF_MAX_MESSAGE)
#define HEADER_BYTES_MAX BUF_MAX_MESSAGE

struct entry_name {
	struct map_item item;
	size_t last; /* index of the last entry with that name */
};

struct unpacking {
	struct archive_file archive;
	FILE *to;
	uint64_t left;                   /* remaining bytes that may be unpacked */
	struct buf header, start;        /* contents of these entries */
	struct buf content, value, line; /* of the current sample */
	struct map names;                /* struct entry_name */
	struct arena arena;              /* memory of the map's items */
	size_t entries;
};

/* True for samples/ID_epoch_N with that end. An ID may contain anything, slashes too. */
static bool is_sample(struct str name, struct str end)
{
	size_t digits = name.n - (str_ends(name, end) ? end.n : name.n), at = digits;

	while (at > 0 && name.p[at - 1] >= '0' && name.p[at - 1] <= '9')
		at--;
	return str_starts(name, STR("samples/")) && at < digits &&
	       str_ends((struct str){name.p, at}, STR("_epoch_"));
}

static int read_entry(struct unpacking *u, struct buf *out, struct error *err)
{
	if (archive_file_read(&u->archive, out, err))
		return -1;
	if (out->n > u->left)
		return error_set(err, FAIL_INPUT, "the zip archive unpacks to too many bytes");
	u->left -= out->n;
	return 0;
}

/* ---- first pass: the header, and which entries count ---- */

static void note_name(struct unpacking *u, struct str name)
{
	struct entry_name *known =
		map_find_or_add(&u->names, map_hash(name), &u->arena, sizeof(*known));

	known->last = u->entries;
}

static int note_entry(struct unpacking *u, struct str entry, struct error *err)
{
	if (++u->entries > ENTRIES_MAX) {
		return error_set(err, FAIL_INPUT, "the zip archive has more than %zu entries",
		                 ENTRIES_MAX);
	}
	if (str_is(entry, "header.json"))
		return read_entry(u, &u->header, err);
	if (str_is(entry, "_journal/start.json"))
		return read_entry(u, &u->start, err);
	if (is_sample(entry, STR("/sample.json"))) {
		return error_set(err, FAIL_INPUT,
		                 "the log stores samples in parts, which are not read");
	}
	if (is_sample(entry, STR(".json")))
		note_name(u, entry);
	return 0;
}

/* ---- second pass: the samples ---- */

static int validate(struct str entry, struct str text, struct error *err)
{
	struct json_fault fault;

	return json_validate(text, &fault)
	               ? bad_entry(entry, err, "is not valid JSON: %s, at byte %zu", fault.why,
	                           fault.at + 1)
	               : 0;
}

static void put_log(struct unpacking *u, struct str sample, struct str messages)
{
	struct str header = buf_view(&u->header), eval = JSON_GET(header, "eval");
	struct str status = JSON_GET(header, "status");

	buf_clear(&u->value);
	struct json_writer j =
		jw_form(&u->value, "{version:%r,status:%r,eval:{task:%?r,model:%?r}",
	                JSON_GET(header, "version"), status.p ? status : STR("\"started\""),
	                JSON_GET(eval, "task"), JSON_GET(eval, "model"));
	jw_pack(&j, "samples:[{id:%?r,epoch:%?r,scores:%?r,error:%?r,limit:%?r,messages:%?r}]}",
	        JSON_GET(sample, "id"), JSON_GET(sample, "epoch"), JSON_GET(sample, "scores"),
	        JSON_GET(sample, "error"), JSON_GET(sample, "limit"), messages);
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
	if (fwrite(u->line.p, 1, u->line.n, u->to) != u->line.n)
		return error_errno(err, "cannot unpack into a temporary file");
	return 0;
}

static int take_entry(struct unpacking *u, struct str entry, struct error *err)
{
	struct entry_name *known = map_find(&u->names, map_hash(entry), STR_NONE);

	u->entries++;
	if (!known || known->last != u->entries)
		return 0;
	if (read_entry(u, &u->content, err) || validate(entry, buf_view(&u->content), err))
		return -1;
	return write_log(u, buf_view(&u->content), JSON_GET(buf_view(&u->content), "messages"),
	                 err);
}

/* ---- both ---- */

static int each_entry(struct unpacking *u, int fd,
                      int (*take)(struct unpacking *u, struct str name, struct error *err),
                      struct error *err)
{
	int more = archive_file_open(fd, &u->archive, err) ? -1 : 1;

	u->entries = 0;
	while (more > 0) {
		more = archive_file_next(&u->archive, err);
		if (more > 0 && take(u, buf_view(&u->archive.name), err))
			more = -1;
	}
	archive_file_close(&u->archive);
	return more;
}

static int check_log(struct unpacking *u, struct error *err)
{
	const char *entry = u->header.n ? "header.json" : "_journal/start.json";

	if (!u->header.n)
		buf_str(&u->header, buf_view(&u->start));
	if (!u->header.n) {
		return error_set(err, FAIL_INPUT,
		                 "a zip archive, but not an Inspect log: it has no header.json");
	}
	if (validate(str_from(entry), buf_view(&u->header), err))
		return -1;
	if (json_type(JSON_GET(buf_view(&u->header), "eval")) != JSON_OBJECT) {
		return error_set(err, FAIL_INPUT,
		                 "a zip archive, but not an Inspect log: its %s has no eval",
		                 entry);
	}
	return u->names.count ? 0 : error_set(err, FAIL_INPUT, "the evaluation log has no samples");
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

	BUFS_RELEASE(&u.header, &u.start, &u.content, &u.value, &u.line);
	arena_release(&u.arena);
	return failed ? -1 : 0;
}

/* ---- JSON logs (version 2): a document with samples, each with its messages ---- */

static bool is_inspect(struct str value)
{
	return json_type(JSON_GET(value, "eval")) == JSON_OBJECT && JSON_GET(value, "status").p &&
	       JSON_GET(value, "version").p;
}

/* The first numeric score; C and I stand for correct and incorrect. */
static struct str score_of(struct str scores)
{
	struct json_member one;
	size_t cursor = 0;

	while (json_next_member(scores, &cursor, &one)) {
		struct str value = JSON_GET(one.value, "value");

		if (json_type(value) == JSON_NUMBER)
			return value;
		if (json_is(value, STR("C")))
			return STR("1");
		if (json_is(value, STR("I")))
			return STR("0");
	}
	return STR_NONE;
}

static struct import_end end_of(struct import *m, struct str sample)
{
	struct str error = JSON_GET(sample, "error"), limit = JSON_GET(sample, "limit");
	struct import_end e = {.total_reward = score_of(JSON_GET(sample, "scores"))};

	if (!json_is_null(error)) {
		e.status = END_FAILED;
		e.reason = import_text(m, JSON_GET(error, "message"));
	} else if (!json_is_null(limit)) {
		e.status = END_TRUNCATED;
		e.reason = import_text(m, JSON_GET(limit, "type"));
	}
	return e;
}

/* Each epoch of a sample is a rollout, numbered by its epoch regardless of the order in which they
   ended; epoch absent: counted. */
static struct str rollout_id(struct import *m, struct str task, struct str epoch, int64_t *sample)
{
	AUTO_BUF id = BUF(BUF_MAX_SMALL);
	int64_t n;

	if (!json_i64(epoch, &n) || n < 1)
		return STR_NONE;
	*sample = n - 1;
	buf_str(&id, task);
	buf_printf(&id, ".%" PRId64, *sample);
	return arena_str(&m->arena, buf_view(&id));
}

static int import_inspect(struct import *m, struct str value, struct error *err)
{
	struct str eval = JSON_GET(value, "eval"), samples = JSON_GET(value, "samples"), sample;
	size_t cursor = 0;

	if (!json_count(samples))
		return error_set(err, FAIL_INPUT, "the evaluation log has no samples");
	while (json_next(samples, &cursor, &sample)) {
		struct import_header h = {
			.task = import_task(m, JSON_GET(sample, "id")),
			.env_name = import_text(m, JSON_GET(eval, "task")),
			.policy_name = import_text(m, JSON_GET(eval, "model")),
		};
		struct import_end e = end_of(m, sample);
		struct dialog d;

		h.id = rollout_id(m, h.task, JSON_GET(sample, "epoch"), &h.sample);
		dialog_open(m, &d, &h);
		dialog_messages(m, &d, JSON_GET(sample, "messages"));
		dialog_end(m, &d, &e);
	}
	return 0;
}

const struct format format_inspect = {
	.name = "inspect",
	.what = "Inspect's evaluation logs (.eval, or JSON: version, status, eval, samples)",
	.facts = FACT(MESSAGES) | FACT(OBSERVATION) | FACT(OUTCOME) | FACT(TOTAL_REWARD),
	.is = is_inspect,
	.take = import_inspect,
};
