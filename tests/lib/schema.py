#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""schema.py FILE...: compare the JSON documents in the FILEs with build/man/rdmark.schema.json.

A FILE holds one document after another, in lines or not. Says of each that does not fit what is
wrong and where, and of all how many there were; what occurs several times counts once. Exit status
1 if one does not fit, or if there is none; 77 if python's jsonschema is not here.
"""
import json
import os
import sys

try:
    import jsonschema
except ImportError:
    # Another python comes first in PATH than the one that has the distribution's modules.
    system = "/usr/bin/python3"
    if os.path.exists(system) and not os.environ.get("RDMARK_SYSTEM_PYTHON"):
        os.environ["RDMARK_SYSTEM_PYTHON"] = "1"
        os.execv(system, [system] + sys.argv)
    print("python3-jsonschema is not here (make deps)")
    sys.exit(77)


def documents(path):
    """The documents in a file, as text and parsed."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    decoder, at = json.JSONDecoder(), 0
    while True:
        while at < len(text) and text[at].isspace():
            at += 1
        if at == len(text):
            return
        value, end = decoder.raw_decode(text, at)
        yield text[at:end], value
        at = end


def contradictions(value):
    """What in a document's results cannot be at the same time."""
    for at, result in enumerate(value.get("results") or []):
        parts = list((result.get("by_end") or {}).values())
        for r in [result] + parts + result.get("by_thread", []) + result.get("by_device", []):
            if r.get("bandwidth_gbps") and "timed_messages" in r:
                gbps = r["timed_messages"] * r["message_bytes"] * 8 / r.get("seconds", 1e30) / r.get("copies", 1) / 1e9
                if abs(gbps / r["bandwidth_gbps"] - 1) > 1e-6:
                    yield "results/%d: bandwidth_gbps is not timed_messages in seconds" % at


def complaints(error):
    """What a validator's error comes down to: the innermost ones, with where they are."""
    if error.context:
        for inner in error.context:
            yield from complaints(inner)
    else:
        yield "%s: %s" % ("/".join(map(str, error.absolute_path)) or "document", error.message[:200])


def main():
    top = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
    with open(os.path.join(top, "build/man/rdmark.schema.json"), encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    seen, wrong = set(), 0
    for path in sys.argv[1:]:
        try:
            for text, value in documents(path):
                if text in seen:
                    continue
                seen.add(text)
                errors = [c for e in validator.iter_errors(value) for c in complaints(e)]
                errors += contradictions(value)
                wrong += bool(errors)
                for complaint in errors:
                    print("%s: %s" % (path, complaint))
        except (OSError, ValueError) as problem:
            print("%s: %s" % (path, problem))
            wrong += 1
    print("%d different documents, %d do not fit the schema" % (len(seen), wrong))
    sys.exit(1 if wrong or not seen else 0)


main()
