/* A command that runs beside the tap: someone's training job, or a stdio server. */
#pragma once

#include "base/error.h"

#include <sys/types.h>

/* From now on *fd, which stays open, becomes readable when one of these arrives. Once in a process. */
MUST_USE int tap_signals_open(int *fd, struct error *err);
enum tap_signal { TAP_SIGNAL_NONE, TAP_SIGNAL_SUMMARY /* SIGUSR1 */, TAP_SIGNAL_CHILD };
/* The next one that has arrived. */
enum tap_signal tap_signals_next(void);

/* Starts it, with one variable more in its environment (NULL: none), and with these descriptors as its standard
   input and output (NULL: ours). FAIL_USAGE: it cannot be found or started. */
MUST_USE int tap_job_start(char *const *command, const char *variable, const char *value,
                           const int streams[2], pid_t *pid, struct error *err);
/* Has it ended? *code: its exit code, or 128 and its signal. */
bool tap_job_ended(pid_t pid, int *code);
