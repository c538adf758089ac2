#!/usr/bin/env bats
# Every file that a command writes: never through a link, never over a file of another kind, never in part.

# shellcheck disable=SC2012,SC2154 # the names are ours; variables of lib.bash and of bats
load lib

# writers: a row for each way to write a file: its path, its exit code, whether it replaces what it wrote, and the command.
writers() {
	local kind
	printf '%s\t%s\t%s\t%s\n' \
		out 0 no 'run --quiet --actions DOWN --out out' \
		out 0 no 'convert a.jsonl --to openai --out out' \
		out 0 no 'convert a.jsonl --out out' \
		to/env.0.jsonl 0 no 'convert a.jsonl --to openai --out to/' \
		to/env.0.jsonl 0 no 'run --quiet --actions DOWN --out to/' \
		out 0 yes 'show a.jsonl --html out' \
		out 0 yes 'check a.jsonl --html out' \
		out 0 yes 'stats a.jsonl --html out' \
		out 0 yes 'diff a.jsonl a.jsonl --html out' \
		out 0 yes 'debug --batch a.jsonl -ex "break step == 1" -ex "save out"' \
		golden.jsonl.new 1 yes 'replay golden.jsonl --env builtin:frozen_lake?map=8x8'
	for kind in junit tap sarif github markdown json; do
		printf '%s\t%s\t%s\t%s\n' out 0 yes "check a.jsonl --report $kind:out" \
			out 1 yes "check sick.jsonl --report $kind:out" \
			out 0 yes "run --quiet --actions DOWN --report $kind:out" \
			out 1 yes "replay golden.jsonl --update none --env builtin:frozen_lake?map=8x8 --report $kind:out"
	done
}

prepare() {
	rolldbg run --quiet --seed 42 --actions DOWN,DOWN --task env --out a.jsonl
	rolldbg strip a.jsonl >golden.jsonl
	rolldbg run --quiet --env 'builtin:frozen_lake?fault=no-tools' --actions UP --out sick.jsonl --fail-on never 2>/dev/null
	mkdir to outside
	echo precious >outside/file
	mkfifo outside/pipe
}

# expect_row CODE: runs the command of the row.
expect_row() {
	local words
	eval "words=($command)"
	expect "$1" rolldbg "${words[@]}"
}

@test "a link, and a file of another kind, is refused and stays as it is" {
	prepare
	while IFS=$'\t' read -r path code again command; do
		for target in file missing pipe; do
			ln -s "$PWD/outside/$target" "$path"
			expect_row 2
			has "$stderr$output" "$path is a symbolic link: "
			[ -L "$path" ]
			rm "$path"
		done
		echo precious >"$path"
		expect_row 2
		has "$stderr$output" "$path exists"
		[ "$(cat outside/file)$(cat "$path")" = preciousprecious ]
		rm "$path"
		expect_row "$code"
		case $command in *github*) ;; *) [ -s "$path" ] ;; esac
		case $again in
		yes) expect_row "$code" ;;
		no) expect_row 2 ;;
		esac
		rm "$path"
	done < <(writers)
	[ "$(ls outside)" = $'file\npipe' ]
	[ -z "$(find . -name '*.partial')" ]
}

@test "--force replaces a link, and not what it names" {
	prepare
	for command in 'run --quiet --actions DOWN --out out --force' 'convert a.jsonl --out out --force'; do
		for target in file missing; do
			ln -s "outside/$target" out
			expect_row 0
			[ ! -L out ] && [ -s out ]
			rm out
		done
	done
	[ "$(cat outside/file)" = precious ]
	[ ! -e outside/missing ]
}

@test "--append continues recordings only, and not through a link" {
	prepare
	ln -s a.jsonl link
	cp a.jsonl before
	expect 2 rolldbg run --quiet --actions DOWN --append --out link
	has "$stderr" 'link is a symbolic link: name its target'
	cmp a.jsonl before
	expect 2 rolldbg run --quiet --actions DOWN --append --out outside/file
	has "$stderr" 'outside/file is not a recording: nothing is appended'
	[ "$(cat outside/file)" = precious ]
	expect 0 rolldbg run --quiet --actions DOWN --append --out a.jsonl
}

@test "--accept does not write through a link, and what is no recording stays beside a golden" {
	prepare
	mv golden.jsonl outside/golden.jsonl
	cp outside/golden.jsonl before
	ln -s outside/golden.jsonl golden.jsonl
	expect 2 rolldbg replay golden.jsonl --env 'builtin:frozen_lake?map=8x8' --accept
	has "$stderr" 'golden.jsonl is a symbolic link: name another file, or remove it'
	cmp outside/golden.jsonl before
	ln -s outside/file golden.jsonl.new
	expect 0 rolldbg replay golden.jsonl
	[ -L golden.jsonl.new ]
	rm golden.jsonl.new
	echo notes >golden.jsonl.new
	expect 0 rolldbg replay golden.jsonl
	[ "$(cat golden.jsonl.new)" = notes ]
}

@test "kill -9 leaves a part of a file under its temporary name only" {
	prepare
	ls >before
	mkfifo in
	page=$(printf '%s\n' '<!doctype html>' '<html lang="en">' '<head>' '<meta charset="utf-8">' '<meta name="generator" content="rolldbg">')
	for command in 'convert in --out out' 'check in --report junit:out' 'show in --html out'; do
		for old in '' "$page"; do
			[ -z "$old" ] || echo "$old" >out
			case $old$command in '<'*convert* | '<'*check*) rm out && continue ;; esac
			# shellcheck disable=SC2086 # several words
			"$ROLLDBG" $command >/dev/null 2>&1 3>&- &
			echo $! >writer.pid
			exec 9>in
			head -n 2 a.jsonl >&9
			kill -9 "$(cat writer.pid)"
			wait "$(cat writer.pid)" || true
			exec 9>&-
			mv writer.pid pid
			[ -z "$old" ] || { [ "$(cat out)" = "$old" ] && rm out; }
			rm in
			rm -f out."$(cat pid)".partial pid
			ls | diff before - || return 1
			mkfifo in
		done
	done
}

@test "two outputs of one command in one file: the first is whole, and the second is refused" {
	prepare
	expect 2 rolldbg check a.jsonl --html out --report junit:./out
	has "$stderr" 'out exists and is not a '
	grep -q '^</html>$' out
	rm out
	# left by a killed process that had the same id
	# shellcheck disable=SC2016 # of the inner shell
	expect 0 bash -c 'echo left >out.$$.partial; exec "$ROLLDBG" check a.jsonl --report junit:out'
	grep -q '^</testsuites>$' out
	[ "$(cat out.*.partial)" = left ]
}

@test "a long rollout id is shortened with a hash" {
	prepare
	local long id
	long=$(printf 'é/%.0s' {1..1500})
	for id in "$long" "${long}x"; do
		jq -c --arg id "$id" '.rollout = $id' a.jsonl
	done >long.jsonl
	expect 0 rolldbg convert long.jsonl --to openai --out to/
	[ "$(ls to | wc -l)" = 2 ]
	[[ $(ls to | head -n 1) =~ ^(é%2F)+(é)?~[0-9a-f]{16}\.jsonl$ ]]
	expect 2 rolldbg convert long.jsonl --to openai --out to/
	expect 0 rolldbg convert long.jsonl --to openai --out to/ --force
	[ "$(ls to | wc -l)" = 2 ]
}
