/* The lake's rules: maps, moves, slips, the rendering, and that a seed determines
   everything. */
#include "serve/world/lake.h"

#include "tap.h"

static const char *picture(const struct lake *l)
{
	static struct buf b;

	b.max = 4096;
	buf_clear(&b);
	lake_draw(l, &b);
	return buf_cstr(&b);
}

static void check_walk(void)
{
	static const int actions[] = {1, 1, 2, 1, 2, 2};
	static const unsigned positions[] = {4, 8, 9, 13, 14, 15};
	struct lake l;

	lake_init(&l, LAKE_4X4, false, 42);
	is_str(picture(&l), "\n\x1b[41mS\x1b[0mFFF\nFHFH\nFFFH\nHFFG\n", "the start, drawn");
	for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
		struct lake_step s = lake_move(&l, actions[i]);

		is_int(l.position, positions[i], "step %zu goes to the expected position", i);
		is_int(s.reward, i == 5, "step %zu pays at the goal only", i);
		is_int(s.terminated, i == 5, "step %zu ends at the goal only", i);
		ok(s.chance == 1.0, "step %zu was certain", i);
	}
	is_str(picture(&l), "  (Right)\nSFFF\nFHFH\nFFFH\nHFF\x1b[41mG\x1b[0m\n",
	       "the goal, drawn");
	struct lake_step past = lake_move(&l, 0);

	is_int(l.position, 15, "the goal cannot be left");
	ok(past.terminated && past.reward == 0, "and it pays once");
	ok(strncmp(picture(&l), "  (Left)\n", 9) == 0, "though the move is drawn");
}

static void check_edges_and_hole(void)
{
	struct lake l;

	lake_init(&l, LAKE_4X4, false, 0);
	lake_move(&l, 0);
	is_int(l.position, 0, "no way left of the first column");
	lake_move(&l, 3);
	is_int(l.position, 0, "nor above the first row");
	lake_move(&l, 2);
	struct lake_step s = lake_move(&l, 1);

	is_int(l.position, 5, "into the hole");
	ok(s.terminated && s.reward == 0, "which ends it unpaid");
	lake_move(&l, 1);
	is_int(l.position, 5, "and stays there");
	lake_init(&l, LAKE_8X8, false, 0);
	for (int i = 0; i < 9; i++)
		lake_move(&l, 2);
	is_int(l.position, 7, "the large lake is eight wide");
	for (int i = 0; i < 9; i++)
		s = lake_move(&l, 1);
	is_int(l.position, 63, "and eight high");
	is_int(s.terminated, 1, "with the goal in the corner");
}

static void check_seeds(enum lake_map map, unsigned side)
{
	struct lake a, b;
	int different = 0;

	for (uint64_t seed = 0; seed < 50; seed++) {
		lake_init(&a, map, false, seed);
		lake_init(&b, map, false, seed);
		if (memcmp(a.fields, b.fields, sizeof(a.fields)) != 0 || a.fields[0] != 'S' ||
		    a.fields[side * side - 1] != 'G') {
			ok(0, "seed %d draws one lake from start to goal", (int)seed);
		}
		lake_init(&b, map, false, seed + 1);
		different += memcmp(a.fields, b.fields, sizeof(a.fields)) != 0;
	}
	ok(different > 40, "seeds draw different lakes of side %u", side);
}

static void check_slips(void)
{
	struct lake a, b;
	int seen[16] = {0};

	for (uint64_t seed = 0; seed < 300; seed++) {
		lake_init(&a, LAKE_4X4, true, seed);
		lake_init(&b, LAKE_4X4, true, seed);
		a.position = b.position = 10;
		struct lake_step s = lake_move(&a, 3);

		lake_move(&b, 3);
		if (a.position != b.position || s.chance > 0.34 || s.chance < 0.33)
			ok(0, "seed %d slips one way, with a chance of a third", (int)seed);
		seen[a.position]++;
	}
	is_int(seen[14], 0, "no slips backwards");
	ok(seen[6] > 60 && seen[9] > 60 && seen[11] > 60,
	   "up, left and right about equally often: %d %d %d", seen[6], seen[9], seen[11]);
}

int main(void)
{
	check_walk();
	check_edges_and_hole();
	check_seeds(LAKE_RANDOM_4X4, 4);
	check_seeds(LAKE_RANDOM_8X8, 8);
	check_slips();
	return done();
}
