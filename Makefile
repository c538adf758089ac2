# rolldbg. One prerequisite: make. `make` builds ./rolldbg, `make help` lists the rest.
# Every variant (BUILD=release|debug|asan|ubsan|tsan|coverage|valgrind|fuzz) has its own directory under build/.

BUILD ?= release
PREFIX ?= /usr/local
bindir ?= $(PREFIX)/bin
mandir ?= $(PREFIX)/share/man
datadir ?= $(PREFIX)/share/rolldbg
bashcompdir ?= $(PREFIX)/share/bash-completion/completions
zshcompdir ?= $(PREFIX)/share/zsh/site-functions
fishcompdir ?= $(PREFIX)/share/fish/vendor_completions.d
STRIP ?= strip
FUZZ_SECONDS ?= 60
.DEFAULT_GOAL := all
Q := $(if $(V),,@)

SRC := $(wildcard src/*.c src/*/*.c src/*/*/*.c)
UNIT_SRC := $(wildcard tests/unit/test_*.c)
FUZZ_SRC := $(wildcard tests/fuzz/fuzz_*.c)
# Programs that tests and benchmarks start: misbehaving servers, reference clients.
TOOL_SRC := $(wildcard tests/tools/*.c tests/bench/*.c)

OBJ := build/$(BUILD)
LIB_OBJ := $(patsubst %.c,$(OBJ)/%.o,$(filter-out src/main.c,$(SRC))) $(patsubst %,$(OBJ)/src/%.o,report/html/parts serve/served convert/parquet_script)
LIB := $(OBJ)/librolldbg.a
PROGRAM := $(if $(filter release,$(BUILD)),rolldbg,$(OBJ)/rolldbg)
UNITS := $(UNIT_SRC:%.c=$(OBJ)/%)
FUZZERS := $(FUZZ_SRC:%.c=$(OBJ)/%)
TOOLS := $(TOOL_SRC:%.c=$(OBJ)/%)

# Callbacks of one type differ in the arguments they need: an unused one is not marked.
WARNINGS := -Wall -Wextra -Wno-unused-parameter -Wpedantic -Wshadow -Wconversion -Wsign-conversion \
	-Wvla -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wwrite-strings -Wcast-qual -Wcast-align -Wpointer-arith \
	-Wformat=2 -Wundef -Wdouble-promotion -Wimplicit-fallthrough -Wnull-dereference -Wredundant-decls -Wdate-time
GCC_WARNINGS := -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wjump-misses-init
HARDENING := -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter x86_64,$(shell uname -m)),-fcf-protection)
IS_CLANG := $(findstring clang,$(shell $(CC) --version 2>/dev/null))

VARIANT_release := -O2 $(HARDENING)
VARIANT_debug := -O0
VARIANT_valgrind := -O1
# Tracking where variables are takes a quarter of the time of compiling with the checks of these.
VARIANT_asan := -O1 -fno-var-tracking -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
VARIANT_ubsan := -O1 -fno-var-tracking -fno-omit-frame-pointer -fsanitize=undefined -fno-sanitize-recover=all
VARIANT_tsan := -O1 -fno-omit-frame-pointer -fsanitize=thread
VARIANT_coverage := -O0 --coverage
VARIANT_fuzz := -O1 -fno-omit-frame-pointer -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
VARIANT := $(or $(VARIANT_$(BUILD)),$(error BUILD=$(BUILD) is no variant; see the top of the Makefile))

# PKG_CFLAGS and PKG_LIBS, unless they are given (src/package/wheel). Updated on every run; make restarts when the file changes, so that missing packages are
# installed first and everything below uses them.
NEEDS_NOTHING := clean help deps uninstall install-shared dist
NEEDS_TESTS := test check-one asan ubsan tsan valgrind interop interop-llm interop-slurm interop-package coverage fuzz-regress bench
NEEDS_ALL := lint fmt fmt-check fuzz valgrind coverage
GOALS := $(or $(MAKECMDGOALS),all)
ifneq ($(and $(filter-out $(NEEDS_NOTHING),$(GOALS)),$(filter undefined,$(origin PKG_LIBS))),)
DEP_GROUPS := build $(if $(filter $(NEEDS_TESTS),$(GOALS)),test) $(if $(filter $(NEEDS_ALL),$(GOALS)),check) $(if $(filter interop bench,$(GOALS)),interop) $(if $(filter wheel deb interop-package,$(GOALS)),package) $(filter interop-llm interop-package,$(GOALS))
include build/config.mk
build/config.mk: FORCE
	@.ci/deps missing $(DEP_GROUPS) >/dev/null || $(MAKE) --no-print-directory deps DEP_GROUPS='$(DEP_GROUPS)'
	@mkdir -p $(@D)
	@.ci/deps flags >$@.new && { cmp -s $@.new $@ || cp $@.new $@; }
endif

ALL_CPPFLAGS := -D_POSIX_C_SOURCE=200809L -Isrc -Itests $(PKG_CFLAGS) $(CPPFLAGS)
ALL_CFLAGS := -std=c11 -g $(WARNINGS) $(if $(IS_CLANG),,$(GCC_WARNINGS)) $(if $(CI),-Werror) $(VARIANT) -fno-common \
	-fPIE -pthread -ffile-prefix-map=$(CURDIR)=. $(CFLAGS)
ALL_LDFLAGS := $(filter -fsanitize=% --coverage,$(VARIANT)) -pie -pthread -Wl,-z,relro,-z,now,-z,noexecstack,--as-needed $(LDFLAGS)
COMPILE = $(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS)
LINK = $(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS)

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:
FORCE:
.PHONY: FORCE all demo test check-one faults interop interop-llm interop-slurm interop-package asan ubsan tsan valgrind fuzz fuzz-run fuzz-regress lint fmt fmt-check coverage bench \
	man completions install install-shared uninstall wheel deb dist portable clean deps help

all: $(PROGRAM) ## build ./rolldbg (BUILD=debug: build/debug/rolldbg)

# Rewritten only when the text differs: dependent files are rebuilt when flags or the list of files change.
$(OBJ)/flags: TEXT = $(COMPILE)
$(OBJ)/members: TEXT = $(LIB_OBJ)
$(OBJ)/flags $(OBJ)/members: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(TEXT)' | cmp -s - $@ || printf '%s\n' '$(TEXT)' >$@

$(OBJ)/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(if $(Q),@echo '  CC    $<')
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# The page of --html is embedded in the program. The scripts are concatenated in alphabetical order: they contain only
# declarations, except start.js at the end.
HTML := src/report/html
HTML_SCRIPTS := $(sort $(filter-out $(HTML)/start.js,$(wildcard $(HTML)/*.js))) $(HTML)/start.js
$(OBJ)/$(HTML)/parts.c: $(HTML)/embed $(HTML)/page.html $(HTML)/page.css $(HTML_SCRIPTS) Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#include "report/html/parts.h"'; $< page $(HTML)/page.html; $< style $(HTML)/page.css; $< script $(HTML_SCRIPTS); } >$@
# The JSON that our servers send is embedded, too: served_NAME is src/serve/*/NAME.json on one line.
SERVED := $(sort $(wildcard src/serve/*/*.json))
$(OBJ)/src/serve/served.c: $(SERVED) Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#include "serve/served.h"'; for file in $(SERVED); do echo "const struct str served_$$(basename $$file .json) = STR_INIT("; sed 's/^[[:blank:]]*//; s/["\\]/\\&/g; s/.*/"&"/' $$file; echo ');'; done; } >$@
# So is the script that reads and writes Parquet.
$(OBJ)/src/convert/parquet_script.c: src/convert/parquet.py Makefile
	@mkdir -p $(@D)
	$(Q){ echo '#include "convert/parquet.h"'; echo 'const char parquet_script[] ='; sed 's/["\\]/\\&/g; s/.*/"&\\n"/' $<; echo ';'; } >$@
$(OBJ)/$(HTML)/parts.o $(OBJ)/src/serve/served.o $(OBJ)/src/convert/parquet_script.o: %.o: %.c $(OBJ)/flags
	$(if $(Q),@echo '  CC    $<')
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# The code that processes every byte or line of a recording: -O3 is a few percent faster.
$(OBJ)/src/json/%.o $(OBJ)/src/recording/%.o $(OBJ)/src/evidence/%.o $(OBJ)/src/check/%.o: private ALL_CFLAGS := $(ALL_CFLAGS:-O2=-O3)

$(LIB): $(LIB_OBJ) $(OBJ)/members
	@rm -f $@
	$(Q)$(AR) rcs $@ $(LIB_OBJ)

$(OBJ)/rolldbg: $(OBJ)/src/main.o $(LIB)
	$(if $(Q),@echo '  LINK  $@')
	$(Q)$(LINK) -o $@ $^ $(PKG_LIBS) $(LDLIBS)

rolldbg: $(OBJ)/rolldbg
	@cp $< $@.new && mv $@.new $@

# A fuzz target is a libFuzzer program in the fuzz variant; elsewhere it replays the inputs in fixtures/fuzz/.
FUZZ_DRIVER := $(if $(filter fuzz,$(BUILD)),-fsanitize=fuzzer,$(OBJ)/tests/fuzz/replay.o)
$(FUZZERS): EXTRA := $(FUZZ_DRIVER)
$(FUZZERS): $(filter %.o,$(FUZZ_DRIVER))
$(OBJ)/tests/unit/test_websocket_tls: EXTRA := -lssl
# Tests of scaling count work instead of time: the code that reads peers' bytes reports each basic block executed.
TRACED := $(patsubst %.c,$(OBJ)/traced/%.o,$(wildcard $(addsuffix /*.c,$(addprefix src/,json evidence check check/rules compare \
	protocol env env/mcp env/openenv policy policy/llm policy/toolformats serve/gym serve/openenv serve/llm serve/world))) \
	src/base/map.c src/base/names.c src/base/text.c src/net/handshake.c src/net/frames.c)
$(filter $(OBJ)/tests/unit/test_scaling%,$(UNITS)): EXTRA := $(TRACED)
$(filter $(OBJ)/tests/unit/test_scaling%,$(UNITS)): $(TRACED)
$(OBJ)/traced/%.o: %.c $(OBJ)/flags
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -w -fsanitize-coverage=trace-pc -MMD -MP -c -o $@ $<
$(UNITS) $(FUZZERS) $(TOOLS): %: %.o $(LIB)
	$(if $(Q),@echo '  LINK  $@')
	$(Q)$(LINK) -o $@ $< $(EXTRA) $(LIB) $(PKG_LIBS) $(LDLIBS)

# They start the program.
$(OBJ)/tests/unit/test_scenario $(OBJ)/tests/tools/fault_matrix: | $(PROGRAM)

-include $(TRACED:.o=.d) $(patsubst %.c,$(OBJ)/%.d,$(SRC) $(UNIT_SRC) $(FUZZ_SRC) $(TOOL_SRC) tests/fuzz/replay.c)

demo: all ## drive the built-in lake twice: healthy, and with the fault of a broken proxy
	@tests/demo

# The longest first.
LONGEST := $(patsubst %,tests/cli/%.bats,probe llm convert crash) $(patsubst %,$(OBJ)/tests/unit/test_%,scenario scaling_peers scaling_rules) \
	$(patsubst %,tests/cli/%.bats,misbehaving_openenv docs preflight playback tap peers writers stdio debug)
ALL_TESTS := $(sort $(wildcard tests/cli/*.bats tests/lint/*.bats)) $(UNITS) $(FUZZERS)
# Under asan and ubsan: not what runs no C code of its own (make lint, make install, packages, completions in shells) and not the tests
# of scaling, which count the work of the same code.
TESTS_asan := $(filter-out tests/lint/% $(patsubst %,tests/cli/%.bats,install package completions) $(OBJ)/tests/unit/test_scaling%,$(ALL_TESTS))
TESTS_ubsan := $(TESTS_asan)
# Under tsan: the tests in which the program runs threads at the same time: sessions, files (--jobs), a server and its clients.
TESTS_tsan := $(patsubst %,tests/cli/%.bats,batch crash debug faults jobs llm misbehaving_openenv playback probe replay signals) \
	$(patsubst %,$(OBJ)/tests/unit/test_%,batch http in_order openenv pages playback probe trajectory_recorder websocket) \
	$(filter $(OBJ)/tests/unit/test_serve_%,$(UNITS))
TESTS := $(or $(TESTS_$(BUILD)),$(ALL_TESTS))
TESTS := $(foreach t,$(LONGEST),$(filter $(t),$(TESTS))) $(filter-out $(LONGEST),$(TESTS))
test: all $(filter $(OBJ)/%,$(TESTS)) $(TOOLS) ## unit tests, command tests and the replay of fuzz inputs
	@tests/prove $(OBJ) $(TESTS)

fuzz-regress: $(FUZZERS) ## replay only fixtures/fuzz/* (part of test)
	@tests/prove $(OBJ) $(FUZZERS)

# T: a file of tests/cli, with :PATTERN only its tests of which the name matches; a unit test, by file or name; a scenario.
ONE := $(firstword $(subst :, ,$(T)))
ONE_UNIT := $(OBJ)/tests/unit/$(if $(filter %.scenario,$(T)),test_scenario,$(basename $(notdir $(ONE))))
check-one: all $(if $(filter %.bats,$(ONE)),$(filter $(OBJ)/tests/tools/% %/gen_recording,$(TOOLS)),$(ONE_UNIT)) ## one test: T=tests/cli/diff.bats:'more than' or T=test_compare or T=healthy.scenario
	@tests/check-one $(OBJ) '$(T)'

asan ubsan tsan: ## the tests that can differ under a sanitizer (asan: under both AddressSanitizer and UBSan)
	@$(MAKE) --no-print-directory BUILD=$@ test

faults: all $(TOOLS) ## every fault of tests/faults at every point, one run each (BUILD=asan; SHARE=0/3: one third of them)
	@ROLLDBG=$(OBJ)/rolldbg tests/prove $(OBJ)/faults $(OBJ)/tests/tools/fault_matrix

valgrind: ## the same tests under valgrind
	@VALGRIND=1 JOBS=$${JOBS:-2} $(MAKE) --no-print-directory BUILD=valgrind test

coverage: ## line coverage by directory; fails below 85 %
	@$(MAKE) --no-print-directory BUILD=coverage test
	@tests/coverage build/coverage

INTEROP_LONGEST := $(addprefix tests/interop/,worlds zoo verifiers.bats probe.bats tap.bats zoo-shared)
interop: all $(TOOLS) ## against real third-party servers (installs them under .deps/)
	@tests/interop/setup
	@tests/interop/worlds --install
	@JOBS=$${JOBS:-3} TEST_TIMEOUT=1800 tests/prove $(OBJ)/interop $(INTEROP_LONGEST) $(filter-out $(INTEROP_LONGEST),$(sort $(wildcard tests/interop/*.bats))); \
		code=$$?; tail -q -n 1 $(OBJ)/interop/tap/tests.interop.worlds $(OBJ)/interop/tap/tests.interop.zoo; exit $$code

interop-slurm: all ## fixtures/cluster on one node of Debian's slurm-wlm (to be installed, as root; half a minute)
	@tests/prove $(OBJ)/interop-slurm $(sort $(wildcard tests/interop-slurm/*.bats))

interop-package: wheel ## the wheel in bare systems of Debian 12 and 13, the steps of the Containerfile (as root; ten minutes)
	@tests/prove $(OBJ)/interop-package $(sort $(wildcard tests/interop-package/*.bats))

interop-llm: all ## against a real inference engine (compiles it under .deps/, once: 4 to 7 minutes, 180 MB; the tests take a minute)
	@tests/interop-llm/setup
	@tests/prove $(OBJ)/interop-llm $(sort $(wildcard tests/interop-llm/*.bats))

fuzz: ## libFuzzer over every target, FUZZ_SECONDS (60) each
	@$(MAKE) --no-print-directory BUILD=fuzz CC=clang fuzz-run

fuzz-run: $(FUZZERS)
	@tests/fuzz/run $(FUZZ_SECONDS) $(FUZZERS)

bench: all $(TOOLS) ## ratios to reference clients, without absolute times
	@tests/bench/run $(OBJ)

C_FILES = $(sort $(shell find src tests -name '*.[ch]'))
fmt: ## format every C file
	@tests/clang-format -i $(C_FILES)

fmt-check: ## fail if a C file is not formatted
	@tests/clang-format --dry-run --Werror $(C_FILES) || { echo 'run: make fmt' >&2; exit 1; }

lint: all ## layers, sizes, clang-tidy, cppcheck, shellcheck, ... on what changed since origin/main; ALL=1: on every file
	@ALL='$(ALL)' CFLAGS_FOR_LINT='$(ALL_CPPFLAGS) -std=c11 $(WARNINGS)' tests/lint/run ./$(PROGRAM)

portable: ## compile and link for musl and macOS with Zig of PyPI, without running anything (part of lint with ALL=1)
	@tests/lint/portable

man completions: all ## regenerate the generated parts of man/ and completions/ from the program's tables
	@$@/generate ./$(PROGRAM)

MAN_PAGES := $(wildcard man/*.scd)
install: all install-shared ## to $(DESTDIR)$(PREFIX); bindir, mandir, datadir, the completions' directories and STRIP (:) can be set
	install -Dm755 $(PROGRAM) $(DESTDIR)$(bindir)/rolldbg
	$(STRIP) $(DESTDIR)$(bindir)/rolldbg

install-shared:
	for f in $(wildcard policies/*.json); do install -Dm644 $$f $(DESTDIR)$(datadir)/$$f || exit; done
	install -Dm644 completions/rolldbg.bash $(DESTDIR)$(bashcompdir)/rolldbg
	install -Dm644 completions/_rolldbg $(DESTDIR)$(zshcompdir)/_rolldbg
	install -Dm644 completions/rolldbg.fish $(DESTDIR)$(fishcompdir)/rolldbg.fish
	man/install $(DESTDIR)$(mandir) $(MAN_PAGES)

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(bindir)/rolldbg $(DESTDIR)$(bashcompdir)/rolldbg $(DESTDIR)$(zshcompdir)/_rolldbg \
		$(DESTDIR)$(fishcompdir)/rolldbg.fish $(foreach p,$(MAN_PAGES),$(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(p:.scd=)))/$(notdir $(p:.scd=)))
	rm -rf $(DESTDIR)$(datadir)

wheel: ## a wheel for pip, with all libraries, under build/package (on Debian 12; ARCH=aarch64: cross-compiled)
	@src/package/wheel $(if $(ARCH),--arch $(ARCH))

deb: all ## a package for this Debian or Ubuntu, under build/package
	@src/package/deb "$(BUILD)"

dist: ## the committed source as a reproducible archive under build/package, with checksums of all packages there
	@src/package/dist

deps: ## install the packages (as root or in CI), otherwise print the command
	@.ci/deps install $(or $(DEP_GROUPS),build test check)

clean: ## remove everything that was built (fetched third-party servers stay in .deps/)
	rm -rf build rolldbg

help: ## this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { n = split($$1, t, " "); for (i = 1; i <= n; i++) printf "%-14s %s\n", t[i], $$2 }' Makefile
