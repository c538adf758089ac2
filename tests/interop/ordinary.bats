#!/usr/bin/env bats
# Ordinary healthy environments are not accused, and a verdict does not depend on the size of a list, a text or a tree. The
# environments are kept outside the project.

load lib

setup() {
	ordinary=${ROLLDBG_SHARED:-$root/../shared}/tools/ordinary
	[ -e "$ordinary" ] || skip "no ordinary worlds"
	cd "$BATS_TEST_TMPDIR" || return
	export PYTHONDONTWRITEBYTECODE=1
}

@test "environments that count what was added are not accused" {
	python3 "$ordinary/ordinary.py" "$ROLLDBG" recordings >said
	cat said
	[ "$(grep -c '^ok ' said)" = 20 ]
	grep -qx '0 of 20 accused' said
}

@test "two frozen environments that differ by one in a size have the same verdict, and none is clean" {
	python3 "$ordinary/flips.py" "$ROLLDBG" recordings >said
	cat said
	# A list that grows is a count by what it does, a counter by its name; one call repeated may be a wall.
	awk '/^  [AB] / && / effective \[[0-9]+\] \[\] *$/ { print "clean: " title; bad = 1 }
		/^  A / { sub(/^  A /, ""); a = $0; next }
		/^  B / {
			sub(/^  B /, "")
			pairs++
			if (title ~ /elements|bytes|counters|deep|by 2/ && $0 != a) { print "not alike: " title; bad = 1 }
			next
		}
		{ title = $0 }
		END { exit bad || pairs != 9 }' said
}

@test "a server that refuses every call is told, whatever it counts" {
	local form
	for form in "plain 0" "count 0" "count 0 content" "count 3 content"; do
		drive refusing 1 --force --env "stdio:python3 $ordinary/refusing_mcp.py $form" \
			--tool move --actions up,down,left,right,up,down --state tool:peek
		fires refusing "multi-step-illusion error"
	done
}
