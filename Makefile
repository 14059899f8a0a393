# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make            build everything into build/bin
#   make help       this text
#   make deps       install what building and testing needs (apt-get or dnf, as root or with sudo);
#                   nothing else but `make demo` installs any
#   make demo       see the tests run: installs what is missing, finds or makes an RDMA device
#   make check      the tests that take eight minutes; installs nothing
#   make check-all  all tests that can run here: an hour on two CPUs
#   make unit       the unit tests; `make sim` the stand-ins, `make san` the programs with sanitizers
#   make bench      beside perftest, in one run
#   make gpu-check  GPU memory and copies on a real GPU; exit status 77 of gpu_check: none here
#   make fuzz       every fuzz target for FUZZ_SECONDS (600)
#   make coverage   lines of common/ that the unit, cli and standin tests run
#   make install    DESTDIR=, PREFIX=; `make install-compat` adds the ib_* names,
#                   `make install-server` the systemd units
#   make dist       the tarball; `make rpm` and `make deb` the packages; all into build/packages.
#                   CONTACT='Name <address>' HOMEPAGE=https://…: what these say (packaging/README.md)
#
# CUDA_HOME=/usr/local/cuda: where cuda.h (11.7 or newer) may be, unless the compiler finds one. With
# none, or with CUDA_HOME empty, GPUs are used all the same; see common/memory/cuda_abi.h.
# V=1 shows commands. WERROR=1, SAN=address,undefined, CC=clang, CFLAGS=… do what they say.
# HARDEN=, SMALL= and FILE_PREFIX_MAP= leave out the flags that these stand for; see below.

ifneq ($(words $(CURDIR)),1)
$(error The name of this folder has a blank, which make takes for the end of a name. Fix: build in another folder)
endif

VERSION := 2.0.0

# Who answers for the packages ("Name <address>"; else who builds them), and where the project is at home
# (else nothing says it). A release has both; see packaging/fill.
CONTACT	 ?=
HOMEPAGE ?=

PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
MANDIR	?= $(PREFIX)/share/man
DATADIR ?= $(PREFIX)/share/rdmark
LIBEXECDIR ?= $(PREFIX)/libexec/rdmark
DOCDIR	?= $(PREFIX)/share/doc/rdmark
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
CC	?= cc
AR	?= ar
INSTALL ?= install
UNITDIR	?= $(PREFIX)/lib/systemd/system
SYSUSERSDIR ?= $(PREFIX)/lib/sysusers.d
SYSCONFDIR ?= /etc
PKG_CONFIG ?= pkg-config
CFLAGS	?= -O2 -g
BUILD	?= build
CUDA_HOME ?= /usr/local/cuda

# A program is a folder with a file of its own name: a new test is a new folder, nothing else.
PROGRAMS := $(foreach d,$(sort $(wildcard *_lat *_bw)),$(if $(wildcard $(d)/$(d).c),$(d)))
mains	 := $(foreach p,$(PROGRAMS),$(p)/$(p).c)

comma	 := ,

PACKAGES := libibverbs librdmacm jansson hwloc numa
pkg_cflags := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
pkg_libs   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)
# Only their headers: the libraries are opened at run time.
HEADERS	 := libssl
pkg_cflags += $(shell $(PKG_CONFIG) --cflags $(HEADERS) 2>/dev/null)

# NVIDIA's driver is opened at run time. Its types are those of cuda.h, if that is found and declares
# the calls as common/memory/cuda_abi.h does, else our own. := so that the compiler is asked once.
cuda_cflags := $(if $(CUDA_HOME),$(if $(wildcard $(CUDA_HOME)/include/cuda.h),-isystem $(CUDA_HOME)/include))
cuda_probe  := \#define WITH_CUDA_H\n\#include "memory/cuda_abi.h"\nint p = CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED;\n
cuda_cflags := $(if $(CUDA_HOME),$(shell printf '$(cuda_probe)' | \
		 $(CC) $(cuda_cflags) -Icommon $(CPPFLAGS) -fsyntax-only -x c - 2>/dev/null && echo $(cuda_cflags) -DWITH_CUDA_H))
export CUDA_HOME

# As distributions harden programs: position independent, symbols bound at the start and then read
# only, stack and libc calls checked. CFLAGS and LDFLAGS come later, so what they say otherwise
# holds; the sanitizers check more and want none of it. Code without optimization cannot be fortified.
HARDEN	?= $(if $(SAN),,yes)
clash_probe := $(if $(HARDEN),$(shell $(CC) -Werror -fstack-clash-protection -fsyntax-only -x c /dev/null \
		  2>/dev/null && echo -fstack-clash-protection))
fortify	 := $(if $(findstring _FORTIFY_SOURCE,$(CFLAGS) $(CPPFLAGS)),,$(if $(filter -O1 -O2 -O3 -Os,$(CFLAGS)), \
	    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2))
harden_c := $(if $(HARDEN),-fPIE -fstack-protector-strong $(clash_probe) $(fortify))
harden_l := $(if $(HARDEN),-pie -Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now -Wl$(comma)-z$(comma)noexecstack)

# Small programs: without what nothing calls, without tables that only exceptions and debuggers read (-g
# makes their own), with relative relocations packed where the linker can. What does not run while
# something is measured is made for size: see cold below.
SMALL	?= $(if $(SAN),,yes)
relr_probe := $(if $(SMALL),$(shell $(CC) -Wl$(comma)--fatal-warnings -Wl$(comma)-z$(comma)pack-relative-relocs -shared -o /dev/null -x c /dev/null \
		 2>/dev/null && echo -Wl$(comma)-z$(comma)pack-relative-relocs))
small_c	 := $(if $(SMALL),-ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables)
small_l	 := $(if $(SMALL),-Wl$(comma)--gc-sections $(relr_probe))
# What runs between the first message and the last one, and what computes with thousands of figures.
hot_here := $(foreach m,clock hist pattern peak,common/base/$(m).c) common/loop/% common/stat/% pairs/judge/%
hot	 := $(hot_here) $(foreach d,$(wildcard *_lat *_bw),$(d)/%)
cold	 := $(if $(SMALL),$(if $(filter -O2 -O3,$(CFLAGS)),-Os))

# Where it was built is in no binary. rpm's debugedit looks for that itself and takes it out.
FILE_PREFIX_MAP ?= -ffile-prefix-map=$(CURDIR)=.

warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
	    -Wno-missing-field-initializers
cflags	 := -std=gnu11 $(warnings) $(if $(WERROR),-Werror) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) \
	    -Icommon -I. -D_GNU_SOURCE -DRDMARK_VERSION='"$(VERSION)"' \
	    $(pkg_cflags) $(cuda_cflags) -pthread $(FILE_PREFIX_MAP) $(harden_c) $(small_c) $(CFLAGS) $(CPPFLAGS)
ldflags	 := $(if $(SAN),-fsanitize=$(SAN)) -pthread $(harden_l) $(small_l) $(LDFLAGS)
libs	 := $(pkg_libs) -lm -ldl $(LDLIBS)

Q := $(if $(V),,@)
say = $(if $(V),@:,@printf '  %-7s %s\n' '$(1)' '$(2)')

common_srcs := $(sort $(wildcard common/*/*.c))
common_objs := $(patsubst %.c,$(BUILD)/obj/%.o,$(common_srcs)) $(BUILD)/obj/gen/names.o
# The command that starts them.
front	    := rdmark
# What programs consist of besides the file with main(): unit tests are linked with that, too.
modules	    := $(filter-out $(foreach d,$(wildcard *_lat *_bw),$(d)/$(d).c),$(wildcard *_lat/*.c *_bw/*.c)) \
	       $(filter-out $(front)/$(front).c pairs/pairs.c,$(wildcard $(front)/*.c pairs/*.c pairs/*/*.c))
unit_tests  := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
binaries    := $(addprefix $(BUILD)/bin/,$(PROGRAMS) $(front) rdmark-pairs)

# Where man looks for them: MANPATH=build/man man send_bw
sections    := 1 5 7
pages	    := $(foreach s,$(sections),$(patsubst man/%.in,$(BUILD)/man/man$(s)/%,$(wildcard man/*.$(s).in)))

completion  := $(BUILD)/completions/rdmark

schema	    := $(BUILD)/man/rdmark.schema.json

scripts	    := $(addprefix $(BUILD)/bin/,rdmark-plot rdmark-prom)

all: $(binaries) $(scripts) $(pages) $(schema) $(completion)

# Everything is rebuilt when the compiler, a flag or the version changes; not because a folder with its
# build was copied or moved: where it is makes no difference to what is built; nor for a new program.
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@$(PKG_CONFIG) --exists $(PACKAGES) $(HEADERS) || \
	  { echo "make: $(PACKAGES) $(HEADERS): development files are missing; run 'make deps'" >&2; exit 1; }
	@printf '%s\n' '$(subst ','\'',$(subst $(CURDIR),.,$(CC) $(cflags) $(cold) $(hot_here) -- $(ldflags) $(libs)))' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

# What follows from the list of programs: their names, and the tests that `rdmark server` links.
renew = @cmp -s $@.new $@ && rm $@.new || mv $@.new $@
$(BUILD)/gen/names.c: FORCE
	@mkdir -p $(@D)
	@printf '#include "base/process.h"\nconst char *process_programs(void)\n{\n\treturn "%s";\n}\n' '$(PROGRAMS)' >$@.new
	$(renew)
$(BUILD)/gen/tests.c: FORCE
	@mkdir -p $(@D)
	@{ printf '#include "rdmark/rdmark.h"\n'; printf 'extern const struct test %s;\n' $(PROGRAMS); \
	  printf 'static const struct test *const all[] = {'; printf '&%s, ' $(PROGRAMS); printf '};\n'; \
	  printf 'size_t rdmark_tests(const struct test *const **tests)\n{\n\t*tests = all;\n\treturn %s;\n}\n' \
	    $(words $(PROGRAMS)); } >$@.new
	$(renew)

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) -MMD -MP -c -o $@ $<

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(if $(filter $(hot),$<),,$(cold)) -MMD -MP -c -o $@ $<

$(BUILD)/libcommon.a: $(common_objs)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

define program_rule
$(BUILD)/bin/$(1): $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard $(2)/*.c $(2)/*/*.c))) $(BUILD)/libcommon.a
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(cflags) $$(ldflags) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $$(libs)
endef
$(foreach p,$(PROGRAMS) $(front),$(eval $(call program_rule,$(p),$(p))))
# `rdmark server` has the tests of all programs.
$(BUILD)/bin/$(front): $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard *_lat/*.c *_bw/*.c)) $(BUILD)/obj/gen/tests.o
$(eval $(call program_rule,rdmark-pairs,pairs))

$(BUILD)/libprograms.a: $(modules:%.c=$(BUILD)/obj/%.o)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libprograms.a $(BUILD)/libcommon.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(ldflags) -o $@ $^ -lcmocka $(libs)

unit: $(unit_tests) $(schema)

# What tests/standin/cuda runs on its stand-in.
probe_objs := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/standin/cuda/probe*.c) tests/standin/verbs/loop.c)
$(BUILD)/tests/gpu_probe: $(probe_objs) $(BUILD)/libcommon.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(ldflags) -o $@ $^ $(libs)

$(BUILD)/tests/gpu_check: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/gpu/*.c)) $(BUILD)/libcommon.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(ldflags) -o $@ $^ $(libs)

$(BUILD)/tests/bench/ideal: $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard tests/bench/ideal_*.c))
$(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(BUILD)/libcommon.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(ldflags) -o $@ $^ $(libs)

# The stand-ins for libibverbs and libcuda, and our programs under the sanitizers, for tests/check.
sim: $(addprefix $(BUILD)/tests/,gpu_probe gpu_check bench/ideal bench/cost bench/handshake)
	$(Q)$(MAKE) --no-print-directory -C tests/standin/verbs OUT=$(abspath $(BUILD))/tests all
	$(Q)$(MAKE) --no-print-directory -C tests/standin/cuda OUT=$(abspath $(BUILD))/tests CUDA_CFLAGS='$(cuda_cflags)' all
	$(Q)$(MAKE) --no-print-directory -C tests/standin/hip OUT=$(abspath $(BUILD))/tests CUDA_CFLAGS='$(cuda_cflags)' all
programs: $(binaries)
san:
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/asan SAN=address,undefined CFLAGS='-O1 -g' programs $(BUILD)/asan/bin/rdmark-prom
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SAN=thread CFLAGS='-O1 -g' programs

# One file, so that it works wherever it is put.
$(BUILD)/bin/rdmark-plot: $(wildcard contrib/plot/*)
$(BUILD)/bin/rdmark-prom: $(wildcard contrib/prom/*)
$(scripts): Makefile
	$(call say,SCRIPT,$@)
	@mkdir -p $(@D)
	$(Q)awk '$$1 == "@include" { while ((getline line <("$(dir $(filter %.in,$^))" $$2)) > 0) print line; next } \
		{ gsub(/@VERSION@/, "$(VERSION)"); print }' $(filter %.in,$^) >$@
	$(Q)chmod 755 $@

# What options a program has follows from its file with main(): see man/traits. The findings are the
# catalogue's: see man/findings. What is in JSON and in the CSV follows from the tables of fields: see
# man/json. The words of -c are those of transports.h.
define page_rule
$(BUILD)/man/$(1)%: man/%.in man/gen man/traits man/findings man/json man/rdmark-json.keys $(wildcard common/*/*.def) \
		common/report/csv.c common/cli/options_table.c common/plan/test.h common/verbs/transports.h man/rdmark.schema.json.in \
		$(wildcard man/*.mdoc) $(mains) $(BUILD)/flags
	$$(call say,MAN,$$@)
	@mkdir -p $$(@D)
	$$(Q)man/gen $$< $(VERSION) >$$@
endef
$(foreach d,$(sections:%=man%/),$(eval $(call page_rule,$(d))))
$(eval $(call page_rule))

$(completion): packaging/completion/rdmark.in packaging/completion/gen man/traits common/cli/options_table.c common/verbs/transports.h \
	       $(mains) $(BUILD)/flags
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) -E -P common/cli/options_table.c | packaging/completion/gen $< $(PROGRAMS) >$@

deps:
	$(Q)packaging/deps

help:
	@sed -n '3,/^$$/s/^# \{0,1\}//p' Makefile
	@echo '$(subst ','\'',Contact: $(or $(strip $(CONTACT) $(HOMEPAGE)),whoever gave you these sources))'

# The parts run in a second make: the first one was parsed before its dependencies were there.
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/demo

# Installs nothing: what is missing stops it, but for what a few tests are skipped without.
# Nothing is run under sanitizers, nor in machines that are emulated.
check: check_tiers = --quick unit cli standin bed
check: check_builds = all unit sim
check-all: check_builds = all unit sim san
check check-all:
	$(Q)packaging/deps -n || \
	  { echo "$@: without them, 'make all unit sim san' and 'tests/check TIER...' run parts (tests/check --help)" >&2; exit 1; }
	$(Q)$(MAKE) --no-print-directory $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc)) $(check_builds)
	$(Q)tests/check $(check_tiers)

bench:
	$(Q)$(MAKE) --no-print-directory all sim
	$(Q)tests/bench/run

gpu-check: $(BUILD)/tests/gpu_check
	$< $(GPU_CHECK_ARGS)

fuzz:
	$(Q)tests/fuzz/run $(or $(FUZZ_SECONDS),600)

coverage:
	$(Q)packaging/deps -n
	$(Q)tests/coverage

dist:
	$(Q)packaging/make-dist $(VERSION) $(BUILD)/packages

rpm deb: export CONTACT := $(CONTACT)
rpm deb: export HOMEPAGE := $(HOMEPAGE)
rpm deb: export RELEASE := $(RELEASE)
rpm deb:
	$(Q)packaging/make-$@ $(VERSION) $(BUILD)/packages

# What schedulers and monitoring run; documentation, where these have links, is left out of small images.
checks	    := check_rdmark gpu-check health-check rdmark.nhc slurm-check
install: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBEXECDIR) $(addprefix $(DESTDIR)$(MANDIR)/man,$(sections)) $(DESTDIR)$(DATADIR) $(DESTDIR)$(DOCDIR)/examples $(DESTDIR)$(DOCDIR)/kubernetes
	$(INSTALL) -m 755 $(binaries) $(scripts) $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 755 $(addprefix contrib/examples/,$(checks)) $(DESTDIR)$(LIBEXECDIR)
	$(INSTALL) -m 755 $(filter-out $(addprefix %/,$(checks)),$(wildcard contrib/examples/*)) $(DESTDIR)$(DOCDIR)/examples
	for c in $(checks); do ln -sfr $(DESTDIR)$(LIBEXECDIR)/$$c $(DESTDIR)$(DOCDIR)/examples/$$c || exit; done
	$(INSTALL) -m 644 $(wildcard contrib/kubernetes/*) $(DESTDIR)$(DOCDIR)/kubernetes
	$(foreach s,$(sections),$(INSTALL) -m 644 $(filter %.$(s),$(pages)) $(DESTDIR)$(MANDIR)/man$(s) &&) :
	$(INSTALL) -m 644 $(schema) $(DESTDIR)$(DATADIR)
	$(INSTALL) -d $(DESTDIR)$(COMPLETIONDIR)
	$(INSTALL) -m 644 $(completion) $(DESTDIR)$(COMPLETIONDIR)
	for p in $(PROGRAMS) rdmark-plot rdmark-prom rdmark-pairs; do ln -sf rdmark $(DESTDIR)$(COMPLETIONDIR)/$$p || exit; done

# The names that perftest's users have in their scripts; not beside an installed perftest.
compat := $(filter-out gdr_bw reg_lat connect_lat,$(PROGRAMS))
install-compat: install
	for p in $(compat); do \
	  ln -sf $$p $(DESTDIR)$(BINDIR)/ib_$$p && ln -sf rdmark $(DESTDIR)$(COMPLETIONDIR)/ib_$$p && \
	  printf '.so man1/%s.1\n' $$p >$(DESTDIR)$(MANDIR)/man1/ib_$$p.1 || exit; done

# rdmark-server.service: a server that stays; rdmark@PROGRAM.service: that program as one of its own;
# rdmark-check.timer, rdmark-check@PEER.timer: regular checks. All in one sandbox, as one user, which
# systemd-sysusers makes: a package runs that.
units	    := $(wildcard packaging/systemd/*.in packaging/systemd/*.timer)
install-units:
	$(INSTALL) -d $(DESTDIR)$(UNITDIR) $(DESTDIR)$(SYSUSERSDIR) $(DESTDIR)$(SYSCONFDIR)/rdmark
	$(INSTALL) -m 644 packaging/systemd/sysusers.conf $(DESTDIR)$(SYSUSERSDIR)/rdmark.conf
	for u in $(units); do \
	  sed -e '/^@SANDBOX@$$/{r packaging/systemd/sandbox' -e 'd}' $$u | \
	  sed '2,$${/^# SPDX/d}; s|@BINDIR@|$(BINDIR)|g; s|@SYSCONFDIR@|$(SYSCONFDIR)|g' >$(DESTDIR)$(UNITDIR)/$$(basename $$u .in) || exit; done
	sed 's| %i$$||; s|/%i\.conf|/server.conf|; s|$(BINDIR)/%i --persistent|$(BINDIR)/rdmark server|' \
	  $(DESTDIR)$(UNITDIR)/rdmark@.service >$(DESTDIR)$(UNITDIR)/rdmark-server.service
	chmod 644 $(patsubst packaging/systemd/%,$(DESTDIR)$(UNITDIR)/%,$(units:.in=)) $(DESTDIR)$(UNITDIR)/rdmark-server.service
install-server: install install-units

clean:
	rm -rf $(BUILD)

FORCE:
.PHONY: all programs help unit sim san deps demo check check-all bench gpu-check fuzz coverage dist rpm deb install install-compat \
	install-units install-server clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
