/* Long strings, read in blocks where the processor can: the same result and offset as byte
   by byte, for every error at every position of a block. */
#include "guard.h"
#include "json_portable.h"
#include "tap.h"

#define LENGTH 210 /* three blocks and more */

static const struct str pieces[] = {
	STR_INIT("\\n"),
	STR_INIT("\\\""),
	STR_INIT("\\\\"),
	STR_INIT("\\/\\b\\f\\r\\t"),
	STR_INIT("\\\\\\\""),
	STR_INIT("\\\\\\\\\\\\\\\\\\"),
	STR_INIT("\\u00e9"),
	STR_INIT("\\uD83D\\uDE00\\u0000"),
	STR_INIT("\\uABCd\\\\"),
	STR_INIT("\\u12"),
	STR_INIT("\\u12g4"),
	STR_INIT("\\u123:"),
	STR_INIT("\\u123`"),
	STR_INIT("\\\\u12"),
	STR_INIT("\\x"),
	STR_INIT("\\U0041"),
	STR_INIT("\\B"),
	STR_INIT("\\\x02"),
	STR_INIT("\\\xc3\xa9"),
	STR_INIT("\\u\xc3\xa9"),
	STR_INIT("\\'"),
	STR_INIT("\""),
	STR_INIT("\"\xc3"),
	STR_INIT("\","),
	STR_INIT("\\\\\","),
	STR_INIT("\n"),
	STR_INIT("\0"),
	STR_INIT("\x1f"),
	STR_INIT("\x7f"),
	STR_INIT("\xc2\x80"),
	STR_INIT("\xdf\xbf"),
	STR_INIT("\xe0\xa0\x80"),
	STR_INIT("\xe2\x82\xac\\n"),
	STR_INIT("\xed\x9f\xbf"),
	STR_INIT("\xef\xbf\xbf"),
	STR_INIT("\xf0\x90\x80\x80"),
	STR_INIT("\xf4\x8f\xbf\xbf"),
	STR_INIT("\xf0\x9f\x98\x80\xf0\x9f\x98\x80"),
	STR_INIT("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa"
                 "\x9e"),
	STR_INIT("\x80"),
	STR_INIT("\xc3"),
	STR_INIT("\xe2\x82"),
	STR_INIT("\xf0\x9f\x98"),
	STR_INIT("\xf0\x9f\x98\""),
	STR_INIT("\xc3\xa9\xa9"),
	STR_INIT("\xe2\x82\xac\xac"),
	STR_INIT("\xf0\x9f\x98\x80\x80"),
	STR_INIT("\xc3\\n"),
	STR_INIT("\xff"),
};

/* A string of LENGTH letters with the piece at `at`. */
static struct str text_with(struct str piece, size_t at, char room[LENGTH + 16])
{
	memset(room, 'a', LENGTH + 16);
	room[0] = '"';
	memcpy(room + 1 + at, piece.p, piece.n);
	room[LENGTH + 15] = '"';
	return (struct str){room, LENGTH + 16};
}

/* The complete string, and the string that ends with the piece. */
static size_t disagreements(const struct guard *g, struct str piece)
{
	char room[LENGTH + 16];
	size_t count = 0;

	for (size_t at = 0; at + piece.n < LENGTH; at++) {
		struct str text = text_with(piece, at, room);

		count += !portable_agrees(guard_put(g, text));
		text.n = 1 + at + piece.n;
		count += !portable_agrees(guard_put(g, text));
	}
	return count;
}

static void piece_by_piece(const struct guard *g)
{
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++)
		is_int(disagreements(g, pieces[i]), 0, "piece %zu at every place", i);
}

static void two_pieces(const struct guard *g)
{
	size_t count = 0;
	char both[64];

	for (size_t i = 0; i < ARRAY_LEN(pieces) * ARRAY_LEN(pieces); i++) {
		struct str a = pieces[i / ARRAY_LEN(pieces)], b = pieces[i % ARRAY_LEN(pieces)];

		memcpy(both, a.p, a.n);
		memcpy(both + a.n, b.p, b.n);
		for (size_t at = 60 - a.n; at < 68; at++) {
			char room[LENGTH + 16];
			struct str text = text_with((struct str){both, a.n + b.n}, at, room);

			count += !portable_agrees(guard_put(g, text));
		}
	}
	is_int(count, 0, "two pieces where blocks meet");
}

/* Every byte after a backslash, and every pair and triple of bytes that UTF-8 may or may
   not contain. */
static void all_bytes(const struct guard *g)
{
	static const unsigned char edges[] = {0x00, 0x22, 0x7f, 0x80, 0x8f, 0x90, 0x9f,
	                                      0xa0, 0xbf, 0xc0, 0xe1, 0xf0, 0xff};
	static const size_t places[] = {20, 61, 62, 63, 64, 95};
	size_t wrong = 0;
	char room[LENGTH + 16];

	for (unsigned pair = 0; pair < 1 << 16; pair++) {
		char piece[5] = {(char)(pair >> 8), (char)(pair & 0xff)};

		for (size_t i = 0; i < ARRAY_LEN(places); i++) {
			struct str text = text_with((struct str){piece, 2}, places[i], room);

			wrong += !portable_agrees(guard_put(g, text));
		}
		for (size_t i = 0; pair >= 0xe000 && i < ARRAY_LEN(edges) * 2; i++) {
			piece[2] = (char)edges[i / 2];
			piece[3] = (char)0x80;
			struct str text =
				text_with((struct str){piece, 3 + i % 2}, places[pair % 6], room);
			wrong += !portable_agrees(guard_put(g, text));
		}
	}
	is_int(wrong, 0, "all pairs of bytes, and more after those that start longer sequences");
}

int main(void)
{
	struct guard g = guard_new(LENGTH + 16);

	piece_by_piece(&g);
	two_pieces(&g);
	all_bytes(&g);
	guard_free(&g);
	return done();
}
