#!/usr/bin/env bats
# make install puts everything under DESTDIR, it runs from there, and make uninstall removes everything.

@test "installs, runs and uninstalls in a staging directory" {
	stage=$BATS_TEST_TMPDIR/stage
	make install DESTDIR="$stage" PREFIX=/opt
	run "$stage/opt/bin/rolldbg" --help
	[ "$status" = 0 ]
	[[ $output == *run* ]]
	[ -f "$stage/opt/share/bash-completion/completions/rolldbg" ]
	for page in man1/rolldbg.1 man1/rolldbg-run.1 man5/rolldbg-recording.5 man7/rolldbg-tutorial.7; do
		grep -q '^\.SH NAME' "$stage/opt/share/man/$page"
	done
	make uninstall DESTDIR="$stage" PREFIX=/opt
	run find "$stage" ! -type d
	[ -z "$output" ]
}

# The content of the pages is checked by tests/lint/manuals.
@test "manual pages are built without scdoc, with the given date" {
	mkdir "$BATS_TEST_TMPDIR/bin"
	printf '#!/bin/sh\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/scdoc"
	chmod +x "$BATS_TEST_TMPDIR/bin/scdoc"
	PATH=$BATS_TEST_TMPDIR/bin:$PATH SOURCE_DATE_EPOCH=86400 man/install "$BATS_TEST_TMPDIR/man" man/*.scd
	run head -n 1 "$BATS_TEST_TMPDIR/man/man1/rolldbg.1"
	[ "$output" = '.TH "rolldbg" "1" "1970-01-02"' ]
	run cat "$BATS_TEST_TMPDIR"/man/man1/rolldbg.1
	[[ $output == *$'\n\\fB\\-\\-color\\fR \\fIWHEN\\fR\n.RS 4\nWhen to use colors;'* ]]
}

@test "a page with unclosed markup is refused" {
	printf 'page(1)\n\n# NAME\n\npage - a *page\n' >"$BATS_TEST_TMPDIR/page.1.scd"
	run man/install "$BATS_TEST_TMPDIR/man" "$BATS_TEST_TMPDIR/page.1.scd"
	[ "$status" = 1 ]
	[[ $output == *'page.1.scd:5: bold or underlined text is not closed above this line' ]]
	[ ! -e "$BATS_TEST_TMPDIR/man/man1/page.1" ]
}

@test "ldd shows the libraries, and a note the one that is loaded on demand" {
	run readelf -d "$ROLLDBG"
	for library in curl crypto microhttpd edit utf8proc wslay; do
		[[ $output == *"NEEDED"*"[lib$library.so"* ]]
	done
	[[ $output != *libarchive* ]]
	objcopy -O binary --only-section=.note.dlopen "$ROLLDBG" "$BATS_TEST_TMPDIR/note"
	# 16 bytes: sizes, type, owner
	package=$(tail -c +17 "$BATS_TEST_TMPDIR/note" | tr -d "\0" | jq -r ".[0].soname[0]")
	[ "$package" = libarchive.so.13 ]
}

@test "missing packages are named as on the system: ID, else ID_LIKE, else as in Debian" {
	cd "$BATS_TEST_TMPDIR"
	printf 'build\tgcc\tcmd:nosuch\tgcc-f\tgcc-a\tgcc-r\ntest\tbats\tcmd:nosuch\ntest\tsh\tcmd:sh\n' >packages
	while IFS='|' read -r id like wanted; do
		printf 'NAME=x\nID=%s\nID_LIKE="%s"\n' "$id" "$like" >os-release
		run env OS_RELEASE=os-release PACKAGES=packages "$OLDPWD/.ci/deps" command build test
		[ "$output" = "$wanted " ]
	done <<-'END'
		fedora||dnf install -y gcc-f bats
		rocky|rhel centos fedora|dnf install -y gcc-f bats
		alpine||apk add gcc-a bats
		manjaro|arch|pacman -S --needed --noconfirm gcc-r bats
		linuxmint|ubuntu debian|apt-get install -y --no-install-recommends gcc bats
		nixos||apt-get install -y --no-install-recommends gcc bats
	END
}
