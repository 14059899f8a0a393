# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Instead of what cells.awk, whose text follows, prints of the lines of tests and controls: "PART RUN SLOT CLIENT FROM TO
# VALUE".

{
	part = text("part")
	value = figure("value")
	client = player(text("client"), text("from_rail"))
	from = player(text("from"), text("from_rail"))
	to = player(text("to"), text("to_rail"))
	if ((part == "test" || part == "control") && value > 0 && client != "" && from != "" && to != "" && !lacked("from") && !lacked("to"))
		print part, text("run"), figure("slot"), client, from, to, value
	next
}
