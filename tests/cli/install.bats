#!/usr/bin/env bats
# make install puts everything under DESTDIR, it runs from there, and make uninstall leaves nothing behind.

@test "installs, runs and uninstalls in a staging folder" {
	stage=$BATS_TEST_TMPDIR/stage
	make install DESTDIR="$stage" PREFIX=/opt
	run "$stage/opt/bin/rolldbg" --help
	[ "$status" = 0 ]
	[[ $output == *run* ]]
	[ -f "$stage/opt/share/bash-completion/completions/rolldbg" ]
	if command -v scdoc; then
		[ -f "$stage/opt/share/man/man1/rolldbg.1" ]
		[ -f "$stage/opt/share/man/man5/rolldbg-recording.5" ]
	fi
	make uninstall DESTDIR="$stage" PREFIX=/opt
	run find "$stage" ! -type d
	[ -z "$output" ]
}
