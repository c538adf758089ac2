/* A stdio server behind the tap: its lines pass unchanged, and a copy goes to the decoder. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "tap/message.h"

struct tap_stdio_conf {
	struct clock clock;
	char *const *command;   /* NULL-terminated */
	int stop_fd;            /* readable when a signal asks us to stop */
	int child_fd;           /* of tap_signals_open() */
	int (*take_stop)(void); /* returns that signal and clears stop_fd */
	struct tap_recording *recording;
};

/* Starts the command and relays standard input and output until it has exited. *code: its exit
   code, or 128 and its signal. -1: it could not be started (FAIL_SYSTEM, FAIL_USAGE). */
MUST_USE int tap_stdio(const struct tap_stdio_conf *conf, int *code, struct error *err);
