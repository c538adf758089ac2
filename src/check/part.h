/* A file's verdicts and what later files need of them, as one JSON object: the judge of a part
   (judge_part_new), written on one machine and read on another, where it is absorbed as if the file
   had been judged there. Read only by the same version of the program. */
#pragma once

#include "base/mem.h"
#include "check/judge.h"
#include "json/write.h"

/* Writes a verdict as an object. */
void part_put_verdict(struct json_writer *w, const struct rollout_verdict *v);
/* Reads one; what it points to is in the arena. places: with line numbers, as struct judge_conf. False:
   it is none. */
bool part_get_verdict(struct str object, bool places, struct arena *arena,
                      struct rollout_verdict *out);

/* Writes what is left of a part (judge_part_new) that is finished, as an object. */
void part_put(struct json_writer *w, struct judge *part);
/* Fills a new part. False: the object is none. */
bool part_get(struct str object, struct arena *arena, struct judge *part);
