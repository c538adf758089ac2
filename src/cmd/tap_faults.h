/* --fault NAME[@CONDITION] of the tap. */
#pragma once

#include "cmd/options/options.h"
#include "tap/fault.h"

/* FAIL_USAGE: an unknown fault, or a condition that cannot be decided when a call is sent. *out: NULL without
   faults; free it with faults_free, after the engine. */
struct faults;
MUST_USE int faults_new(const struct opt_list *texts, uint64_t delay_ms, uint64_t max_sessions,
                        struct faults **out, struct error *err);
struct tap_engine *faults_engine(const struct faults *f); /* NULL: none */
void faults_free(struct faults *f);                       /* NULL is fine */
