# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Files: players in order ("NAME GROUP"), then the cells of cells.awk. Prints a JSON object for jq: at most
# MOST blocks of players in each direction, and the worst value of each. us: more is worse. What was
# measured alone counts only where nothing else was.

function worse(a, b) { return a == "" || (us ? b > a : b < a) }

function quoted(s) { return "\"" s "\"" }

# How many blocks of SIZE there are, if none is in two groups.
function blocks(size,    g, n) {
	for (g = 1; g <= groups; g++)
		n += int((members[g] + size - 1) / size)
	return n
}

# Give each player a block, after the last one has been read.
function share(    size, i, g, within) {
	if (groups > most) { # too many: a block is of several
		for (i = 1; i <= players; i++)
			group[i] = 1
		groups = 1
		members[1] = players
	}
	for (size = int((players + most - 1) / most); blocks(size) > most; size++)
		;
	for (i = 1; i <= players; i++) {
		if (group[i] != group[i - 1] || ++within == size) {
			within = 0
			first[++count] = name[i]
			if (group[i] != group[i - 1] && i > 1)
				edges = edges (edges == "" ? "" : ",") count - 1
		}
		last[count] = name[i]
		block[name[i]] = count
	}
	per = size
}

FNR == NR {
	name[++players] = $1
	if (!($2 in number))
		number[$2] = ++groups
	group[players] = number[$2]
	members[number[$2]]++
	next
}

FNR == 1 { share() }

$3 != "=" {
	at = block[$1] " " block[$2]
	if ($3 == "-")
		failed[at] = 1
	else if ($4) {
		if (worse(alone[at], $3 + 0))
			alone[at] = $3 + 0
	} else if (worse(value[at], $3 + 0))
		value[at] = $3 + 0
}

END {
	printf "{\"players\":%d,\"block\":%d,\"best\":%s,\"us\":%s,\"edges\":[%s],\"labels\":[", players, per, best, (us ? "true" : "false"), edges
	for (i = 1; i <= count; i++) {
		label = first[i] (first[i] == last[i] ? "" : " - " last[i])
		longest = length(label) > longest ? length(label) : longest
		printf "%s%s", (i > 1 ? "," : ""), quoted(label)
	}
	printf "],\"longest\":%d,\"rows\":[", longest
	for (i = 1; i <= count; i++)
		for (k = 1; k <= count; k++) {
			at = i " " k
			v = value[at] != "" ? value[at] : (alone[at] != "" ? alone[at] : (failed[at] ? -1 : "null"))
			printf "%s%s%s", (k > 1 ? "," : (i > 1 ? "],[" : "[")), v, (i == count && k == count ? "]" : "")
		}
	print "]}"
}
