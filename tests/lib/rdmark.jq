# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# What the filters of json and json_lines (rdmark.bash) may use.

# Of a result: what each end measured; what that one did, nothing if it did not; that and what each thread and device did.
def ends: if .by_end then .by_end[] else . end;
def of($who): ends | select(.measured_by == $who);
def all_parts: ., ends, .by_thread[]?, .by_device[]?;

# Of the lines of --interval, as an array: what each tells of its interval, of those that are whole; the document.
def intervals: .[:-1] | map(.interval);
def whole_intervals: intervals | map(select(.partial | not));
def document: .[-1];

# Whether a number is $x, give or take $by.
def near($x; $by): . - $x | fabs <= $by;

# Of the lines of rdmark-pairs: those of pairs.
def pairs: map(select(.kind == "pair"));

# Of an array of numbers.
def mean: add / length;
def median: sort | (.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2;
def cv_percent: mean as $mean | (map(. - $mean | . * .) | add / (length - 1) | sqrt) / $mean * 100;
