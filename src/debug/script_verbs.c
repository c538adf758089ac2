/* Verbs for command files, and running commands: see debugger.h. */
#include "base/file.h"
#include "base/new_file.h"
#include "base/text.h"
#include "debug/debugger.h"
#include "json/write.h"

#define FILE_BEGINS "# rolldbg debug: commands\n"
#define FILES_DEEP  8
#define FILE_MAX    ((size_t)1 << 20)

/* ---- save, source ---- */

/* Only a file written by save is replaced: a typo must not destroy a recording. */
static const struct file_kind saved_kind = {"a file written by save",
                                            (const char *const[]){FILE_BEGINS, NULL}};

int verb_save(struct debugger *d, int how, struct str arguments, struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL), text = BUF(BUF_MAX_MESSAGE);

	buf_str(&path, text_trim(arguments));
	buf_text(&text, FILE_BEGINS);
	points_save(&d->points, &text);
	struct new_file_conf conf = {buf_cstr(&path), .kind = &saved_kind};
	if (!path.n)
		return error_set(err, FAIL_USAGE, "which file? save FILE");
	if (new_file_put(&conf, buf_view(&text), err))
		return -1;
	text_put_path(&d->out, "saved", buf_cstr(&path));
	return 0;
}

/* Runs the commands in a file, up to the first failure. */
static int run_command_file(struct debugger *d, const char *path, struct error *err)
{
	AUTO_BUF text = BUF(FILE_MAX);
	struct str rest;
	int failed = 0;

	if (d->depth == FILES_DEEP)
		return error_set(err, FAIL_USAGE, "%s: command files are nested too deeply", path);
	if (file_read("command file", path, &text, err))
		return -1;
	d->depth++;
	rest = buf_view(&text);
	for (size_t number = 1; rest.n && !failed && !d->quit && !d->stopped; number++) {
		failed = run_command(d, str_cut(&rest, '\n'), err);
		if (failed) {
			error_wrap(err, "%s:%zu", path, number);
			d->column = SIZE_MAX; /* the error is in a file: no caret */
		}
	}
	d->depth--;
	return failed;
}

int verb_source(struct debugger *d, int how, struct str arguments, struct error *err)
{
	AUTO_BUF path = BUF(BUF_MAX_SMALL);

	buf_str(&path, text_trim(arguments));
	return path.n ? run_command_file(d, buf_cstr(&path), err)
	              : error_set(err, FAIL_USAGE, "which file? source FILE");
}

int verb_quit(struct debugger *d, int how, struct str arguments, struct error *err)
{
	d->quit = true;
	return 0;
}

/* ---- one command ---- */

int run_command(struct debugger *d, struct str line, struct error *err)
{
	struct str rest = line, word = argument_word(&rest);
	const struct verb *v;

	d->column = SIZE_MAX;
	if (d->starting) {
		d->starting = false;
		d->moved = true;
		stop_print(d);
		return d->live && live_is_over(d->live) ? live_session_report(d, err) : 0;
	}
	if (!word.n || word.p[0] == '#')
		return 0;
	if (verb_find(word, &v, err) || (!*v->arguments && argument_none(rest, err)))
		return -1;
	if (v->run(d, v->how, rest, err)) {
		/* columns count from the start of the typed line */
		d->column += d->column == SIZE_MAX ? 0 : (size_t)(rest.p - line.p);
		return -1;
	}
	return 0;
}

/* Prints "error: ...", with a caret below the column of the error. */
static void put_error(const struct debugger *d, struct str line, const struct error *err,
                      struct buf *out)
{
	if (d->column != SIZE_MAX && d->column <= line.n) {
		buf_text(out, "  ");
		text_escape(out, line);
		buf_printf(out, "\n  %*s^\n", (int)text_cells((struct str){line.p, d->column}), "");
	}
	buf_text(out, "error: ");
	text_escape_line(out, str_from(err->text));
}

static void put_reply(struct debugger *d, struct str line, const struct error *err, struct buf *out)
{
	struct json_writer w = jw_begin(out);

	jw_pack(&w, "type:'reply',command:%s,ok:%b,mode:%t,output:%s,value:%r", line, !err,
	        debug_mode_name(debugger_mode(d)), buf_view(&d->out), buf_given(&d->value));
	jw_key(&w, "stop");
	if (d->moved)
		stop_json(d, &w);
	else
		jw_null(&w);
	if (err) {
		jw_pack(&w, "error:{message:%t,column:%c}", err->text,
		        d->column == SIZE_MAX ? -1 : (int64_t)d->column);
	}
	jw_end(&w);
	buf_char(out, '\n');
}

int run_and_print(struct debugger *d, struct str line, bool *failed, struct error *err)
{
	AUTO_BUF reply = BUF(SIZE_MAX / 2);
	struct error why = {0};

	buf_clear(&d->out);
	buf_clear(&d->value);
	d->moved = false;
	*failed = run_command(d, line, &why) != 0;
	/* the exit message covers it */
	bool reported = why.kind == FAIL_INTERRUPTED && !debugger_goes_on(d);
	d->conf->spell(d->out.p, d->out.n);
	d->conf->spell(why.text, strlen(why.text));
	if (d->conf->json) {
		put_reply(d, line, *failed ? &why : NULL, &reply);
		buf_set(&d->out, buf_view(&reply));
	} else if (*failed && !reported) {
		put_error(d, line, &why, &reply);
	}
	int broken = d->conf->print(d->conf->ctx, false, buf_view(&d->out), err);
	if (!broken && *failed && !d->conf->json)
		broken = d->conf->print(d->conf->ctx, true, buf_view(&reply), err);
	return broken;
}
