/* The decoders of the tap on conversations of fixtures/fuzz/tap_decoders: what they record. */
#define tap_note tap_note_of_tests /* tap/episode.h has one, too */
#include "tap.h"
#undef tap_note
#include "tap_peers.h"

static const struct {
	const char *file, *recorded;
} rows[] = {
	{"openenv", "\"step\" ok 0.0\n"
                    "\"step\" tool-error null\n"
                    "\"step\" ok 1.0\n"
                    "end \"terminated\"\n"},
	{"mcp", "\"move\" ok 0.5\n"
                "\"move\" session-lost null\n"
                "end \"finished\"\n"},
	{"modern", "\"move\" ok null\n"
                   "\"move\" tool-error null\n"
                   "end \"finished\"\n"},
	{"ors", "\"move\" ok 0.5\n"
                "\"move\" tool-error null\n"
                "end \"stopped\"\n"},
	{"nemo_gym", "\"increment\" ok null\n"
                     "\"increment\" ok null\n"
                     "! \"notification\"\n"
                     "end \"finished\"\n"},
	{"nemo_gym-lost-cookie", "\"dig\" tool-error null\n"
                                 "! \"session-replaced\"\n"
                                 "\"look\" ok null\n"
                                 "\"look\" ok null\n"
                                 "! \"notification\"\n"
                                 "end \"finished\"\n"
                                 "! \"notification\"\n"
                                 "end \"finished\"\n"
                                 "end \"refused\"\n"
                                 "end \"stopped\"\n"},
	{"mcp-error", "! \"fault-injected\"\n"
                      "\"move\" tool-error 0.5\n"
                      "! \"fault-injected\"\n"
                      "\"move\" session-lost null\n"
                      "end \"finished\"\n"},
	{"openenv-stale", "! \"fault-injected\"\n"
                          "\"step\" ok null\n"
                          "! \"fault-injected\"\n"
                          "\"step\" ok 0.0\n"
                          "! \"fault-injected\"\n"
                          "\"step\" tool-error null\n"
                          "end \"stopped\"\n"},
};

static void read_file(const char *name, struct buf *out)
{
	char path[256];

	snprintf(path, sizeof(path), "fixtures/fuzz/tap_decoders/%s", name);
	FILE *f = fopen(path, "rb");
	ok(f != NULL, "%s is there", path);
	for (int c; f && (c = getc(f)) != EOF;)
		buf_char(out, (char)c);
	if (f)
		fclose(f);
}

int main(void)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf input = BUF(BUF_MAX_MESSAGE), recorded = BUF(BUF_MAX_MESSAGE);

		read_file(rows[i].file, &input);
		tap_converse(buf_view(&input), &recorded);
		is_str(buf_cstr(&recorded), rows[i].recorded, "%s", rows[i].file);
		buf_release(&input);
		buf_release(&recorded);
	}
	return done();
}
