// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "proto/snapshot.h"

#include <string.h>

#include "host/port_events.h"

#define SECONDS_MAX 1e8


/* The array REASON of UNKNOWN, made if it is not there. */
static json_t *reason_of(json_t *unknown, enum port_known known)
{
	const char *reason = port_known_row(known)->name;

	if (!json_object_get(unknown, reason))
		json_object_set_new(unknown, reason, json_array());
	return json_object_get(unknown, reason);
}

static json_t *change_to_json(const struct port_change *c)
{
	json_t *to = json_pack("{s:I}", "change", (json_int_t)c->change);

	if (c->own)
		json_object_set_new(to, "counter", json_string(c->own));
	if (c->known != PORT_EXACT)
		json_object_set_new(to, "caveat", json_string(port_known_row(c->known)->name));
	return to;
}

static json_t *port_to_json(const struct port_changes *p)
{
	json_t *changed = json_object(), *same = json_array(), *unknown = json_object();

	for (int i = 0; i < PORT_EVENTS; i++) {
		const struct port_change *c = &p->event[i];
		const char *name = port_event_row(i)->name;

		if (!port_change_is_known(c))
			json_array_append_new(reason_of(unknown, c->known), json_string(name));
		else if (c->change || c->known != PORT_EXACT)
			json_object_set_new(changed, name, change_to_json(c));
		else
			json_array_append_new(same, json_string(name));
	}
	return json_pack("{s:f, s:o, s:o, s:o}", "seconds", p->seconds, "changed", changed,
			 "unchanged", same, "unknown", unknown);
}

json_t *snapshot_to_json(const struct port_snapshot *s)
{
	json_t *to = json_array();

	for (unsigned i = 0; i < s->ports; i++)
		json_array_append_new(to, port_to_json(&s->port[i]));
	return to;
}

/* Read an event that changed. Returns false if it is none. */
static bool read_change(struct port_changes *p, const char *name, const json_t *from)
{
	const json_t *change = json_object_get(from, "change");
	const json_t *own = json_object_get(from, "counter");
	const json_t *caveat = json_object_get(from, "caveat");
	enum port_event event = port_event_find(name);

	if (!json_is_integer(change) || json_integer_value(change) < 0 ||
	    (own && !json_is_string(own)) || (caveat && !json_is_string(caveat)) ||
	    event == PORT_EVENTS)
		return false;
	p->event[event] = (struct port_change){
		.known = caveat ? PORT_AT_LEAST : PORT_EXACT,
		.change = json_integer_value(change),
		.own = own ? port_event_own(event, json_string_value(own)) : NULL,
	};
	return true;
}

/* Read the array FROM: events that are KNOWN so. Returns false if it is none. */
static bool read_names(struct port_changes *p, const json_t *from, enum port_known known)
{
	const json_t *v;
	size_t i;

	if (!json_is_array(from))
		return false;
	json_array_foreach (from, i, v) {
		const char *name = json_is_string(v) ? json_string_value(v) : "";
		enum port_event event = port_event_find(name);

		if (event == PORT_EVENTS)
			return false;
		p->event[event].known = known;
	}
	return true;
}

static bool read_port(struct port_changes *p, json_t *from)
{
	json_t *changed = json_object_get(from, "changed");
	json_t *unknown = json_object_get(from, "unknown"), *v;
	const char *key;

	p->seconds = json_number_value(json_object_get(from, "seconds"));
	if (!(p->seconds >= 0 && p->seconds <= SECONDS_MAX) || !json_is_object(changed) ||
	    !json_is_object(unknown))
		return false;
	json_object_foreach(changed, key, v) if (!read_change(p, key, v)) return false;
	json_object_foreach(unknown, key, v)
	{
		enum port_known known = port_known_find(key);

		if (known == PORT_KNOWN_KINDS || known == PORT_EXACT || known == PORT_AT_LEAST ||
		    !read_names(p, v, known))
			return false;
	}
	return read_names(p, json_object_get(from, "unchanged"), PORT_EXACT);
}

int snapshot_from_json(struct port_snapshot *s, const json_t *from, struct fault *f)
{
	bool good = json_is_array(from) && json_array_size(from) <= PORT_EVENTS_PORTS;

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; good && i < json_array_size(from); i++)
		good = read_port(&s->port[i], json_array_get(from, i));
	if (!good) {
		memset(s, 0, sizeof(*s));
		return fault_raise(f, FAULT_PEER, 0, "the peer's snapshot of its ports is invalid");
	}
	s->ports = (unsigned)json_array_size(from);
	return 0;
}
