# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make            build everything into build/bin
#   make demo       see the tests run: installs what is missing, finds or makes an RDMA device
#   make check      all tests that can run here
#   make bench      beside perftest, in one run
#   make fuzz       every fuzz target for FUZZ_SECONDS (600)
#   make coverage   lines of common/ that the unit, cli and sim tests run
#   make install    DESTDIR=, PREFIX=; `make install-compat` adds the ib_* names
#   make deps       install what building and testing needs (apt-get or dnf)
#
# V=1 shows commands. WERROR=1, SAN=address,undefined, CC=clang, CFLAGS=… do what they say.

VERSION := 0.1.0

PREFIX	?= /usr/local
BINDIR	?= $(PREFIX)/bin
MANDIR	?= $(PREFIX)/share/man
CC	?= cc
AR	?= ar
INSTALL ?= install
PKG_CONFIG ?= pkg-config
CFLAGS	?= -O2 -g
BUILD	?= build

# A program is a folder with a file of its own name: a new test is a new folder, nothing else.
PROGRAMS := $(foreach d,$(sort $(wildcard *_lat *_bw)),$(if $(wildcard $(d)/$(d).c),$(d)))

PACKAGES := libibverbs jansson hwloc numa
pkg_cflags := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
pkg_libs   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)

warnings := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wformat=2 \
	    -Wno-missing-field-initializers
cflags	 := -std=gnu11 $(warnings) $(if $(WERROR),-Werror) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer) \
	    -Icommon -D_GNU_SOURCE -DRDMARK_VERSION='"$(VERSION)"' $(pkg_cflags) -pthread $(CFLAGS) $(CPPFLAGS)
ldflags	 := $(if $(SAN),-fsanitize=$(SAN)) -pthread $(LDFLAGS)
libs	 := $(pkg_libs) -lm $(LDLIBS)

Q := $(if $(V),,@)
say = $(if $(V),@:,@printf '  %-7s %s\n' '$(1)' '$(2)')

common_objs := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard common/*/*.c))
unit_tests  := $(patsubst tests/unit/%.c,$(BUILD)/tests/unit/%,$(wildcard tests/unit/test_*.c))
binaries    := $(addprefix $(BUILD)/bin/,$(PROGRAMS))

pages	    := $(patsubst man/%.in,$(BUILD)/man/%,$(wildcard man/*.in))

all: $(binaries) $(pages)

# Everything is rebuilt when the compiler, a flag or the version changes.
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@$(PKG_CONFIG) --exists $(PACKAGES) || \
	  { echo "make: $(PACKAGES): development files are missing; run 'make deps'" >&2; exit 1; }
	@printf '%s\n' '$(subst ','\'',$(CC) $(cflags) -- $(ldflags) $(libs))' >$@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) -MMD -MP -c -o $@ $<

$(BUILD)/libcommon.a: $(common_objs)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcsD $@ $^

define program_rule
$(BUILD)/bin/$(1): $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(1)/*.c)) $(BUILD)/libcommon.a
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)$$(CC) $$(cflags) $$(ldflags) -o $$@ $$^ $$(libs)
endef
$(foreach p,$(PROGRAMS),$(eval $(call program_rule,$(p))))

$(BUILD)/tests/unit/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libcommon.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(cflags) $(ldflags) -o $@ $^ -lcmocka $(libs)

unit: $(unit_tests)

# The stand-in for libibverbs, and our programs under the sanitizers, for tests/check.
sim:
	$(Q)$(MAKE) --no-print-directory -C tests/verbs OUT=$(abspath $(BUILD))/tests all
san:
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/asan SAN=address,undefined
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SAN=thread

$(BUILD)/man/%: man/%.in man/gen $(wildcard man/*.mdoc)
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)man/gen $< >$@

deps:
	$(Q)packaging/deps

# The parts run in a second make: the first one was parsed before its dependencies were there.
demo: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/demo

check: deps
	$(Q)$(MAKE) --no-print-directory all unit sim san
	$(Q)tests/check

bench: deps
	$(Q)$(MAKE) --no-print-directory all
	$(Q)tests/bench/run

fuzz: deps
	$(Q)tests/fuzz/run $(or $(FUZZ_SECONDS),600)

coverage: deps
	$(Q)tests/coverage

install: all
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(MANDIR)/man1 $(DESTDIR)$(MANDIR)/man7
	$(INSTALL) -m 755 $(binaries) $(DESTDIR)$(BINDIR)
	$(INSTALL) -m 644 $(filter %.1,$(pages)) $(DESTDIR)$(MANDIR)/man1
	$(INSTALL) -m 644 $(filter %.7,$(pages)) $(DESTDIR)$(MANDIR)/man7

# The names that perftest's users have in their scripts; not beside an installed perftest.
install-compat: install
	for p in $(PROGRAMS); do ln -sf $$p $(DESTDIR)$(BINDIR)/ib_$$p; done

clean:
	rm -rf $(BUILD)

FORCE:
.PHONY: all unit sim san deps demo check bench fuzz coverage install install-compat clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
