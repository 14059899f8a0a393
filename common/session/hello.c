// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "session/hello.h"

#include <string.h>

#include "session/limits.h"
#include "session/plan.h"
#include "session/state.h"
#include "session/transport.h"

static int check_versions(const json_t *m, struct fault *f)
{
	uint64_t protocol;
	char version[32];

	if (message_u64(m, "protocol", UINT32_MAX, &protocol, f) ||
	    message_text(m, "version", version, sizeof(version), f))
		return -1;
	if (protocol == MESSAGE_PROTOCOL)
		return 0;
	fault_raise(
		f, FAULT_USAGE, 0,
		"the two ends have different versions: server rdmark %s (protocol %d), client rdmark %s (protocol %u)",
		RDMARK_VERSION, MESSAGE_PROTOCOL, version, (unsigned)protocol);
	return fault_fix(f, "upgrade rdmark on the %s",
			 protocol > MESSAGE_PROTOCOL ? "server" : "client");
}

static int check_test(const struct session *s, const json_t *m, struct fault *f)
{
	char test[32];

	if (message_text(m, "test", test, sizeof(test), f))
		return -1;
	if (strcmp(test, s->test->name) == 0)
		return 0;
	fault_raise(f, FAULT_USAGE, 0, "the two ends run different tests: server %s, client %s",
		    s->test->name, test);
	return fault_fix(f, "run the same program on both ends");
}

static bool are_kinds(const json_t *kinds)
{
	const json_t *v;
	size_t i;

	json_array_foreach (kinds, i, v)
		if (!json_is_integer(v) || json_integer_value(v) < 0 ||
		    json_integer_value(v) >= GID_KINDS)
			return false;
	return json_is_array(kinds);
}

/* What each rail's offer must have for the server to choose from it. */
static bool can_choose(const json_t *rails)
{
	struct fault ignored = {0};
	const json_t *offer;
	uint64_t mtu, pkey;
	size_t i;

	json_array_foreach (rails, i, offer)
		if (!json_is_boolean(json_object_get(offer, "ethernet")) ||
		    !are_kinds(json_object_get(offer, "gid_kinds")) ||
		    message_u64(offer, "mtu_bytes", 4096, &mtu, &ignored) ||
		    message_u64_if(offer, "pkey", UINT16_MAX, &pkey, &ignored))
			return false;
	return json_array_size(rails) > 0 && json_array_size(rails) <= SESSION_RAILS_MAX;
}

int hello_check(const struct session *s, const json_t *m, struct experiment *e, struct fault *f)
{
	const json_t *rails = json_object_get(m, "rails");
	bool gpu_memory;

	*e = s->test->defaults;
	if (!message_is(m, "hello"))
		return fault_raise(f, FAULT_PEER, 0, "the first message is no hello");
	if (check_versions(m, f) || check_test(s, m, f) ||
	    message_has(m, "experiment", json_is_object(json_object_get(m, "experiment")), f) ||
	    message_flag(m, "gpu_memory", &gpu_memory, f) ||
	    message_has(m, "rails", can_choose(rails), f) ||
	    experiment_from_json(e, json_object_get(m, "experiment"), f) ||
	    experiment_check(&s->asked, e, f) || plan_check(e, s->test->latency, f) ||
	    transport_check(e, s->test, f))
		return -1;
	return limits_check(&s->options.local, e, s->test->latency, json_array_size(rails), f);
}
