#!/usr/bin/env bats
# The wheel in bare systems of Debian 12 and 13, without a compiler, and the steps of the Containerfile in one of Debian 12. Needs
# root, mmdebstrap, and the packages of Debian and PyPI.
# shellcheck disable=SC2154 # variables set by bats
bats_require_minimum_version 1.5.0

setup_file() {
	[ "$(id -u)" = 0 ] || skip 'a chroot needs root'
	command -v mmdebstrap >/dev/null || skip 'mmdebstrap is not installed'
	export root=$BATS_TEST_DIRNAME/../..
	python3 -m pip download --quiet --disable-pip-version-check --dest "$BATS_FILE_TMPDIR/wheels" pytest
	cp "$root"/build/package/*-manylinux_*_"$(uname -m)".whl "$BATS_FILE_TMPDIR/wheels"
	openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost \
		-keyout "$BATS_FILE_TMPDIR/key" -out "$BATS_FILE_TMPDIR/cert" 2>/dev/null
}

# bare RELEASE NAME PACKAGES: a new system in $BATS_FILE_TMPDIR/NAME.
bare() {
	mmdebstrap --quiet --variant=minbase ${3:+--include="$3"} "$1" "$BATS_FILE_TMPDIR/$2"
	cp /etc/resolv.conf "$BATS_FILE_TMPDIR/$2/etc/"
}

# within NAME COMMAND..: in that system, without our variables.
within() {
	local system=$BATS_FILE_TMPDIR/$1
	shift
	# a program finds its libraries through /proc
	unshare --mount --pid --fork --mount-proc="$system/proc" chroot "$system" /usr/bin/env -i HOME=/root PATH=/root/venv/bin:/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive CI=1 "$@"
}

wheel_in() {
	bare "$1" "$1" python3-venv
	cp -R "$BATS_FILE_TMPDIR"/{wheels,key,cert} "$BATS_FILE_TMPDIR/$1/root"
	cp "$BATS_TEST_DIRNAME/inside" "$BATS_FILE_TMPDIR/$1/root"
	within "$1" sh /root/inside
}

@test "the wheel in a bare Debian 12" {
	wheel_in bookworm
}

@test "the wheel in a bare Debian 13" {
	wheel_in trixie
}

@test "the Containerfile, step by step: its program runs" {
	local stages=0 stage line words
	while read -r line; do
		read -r -a words <<<"$line"
		case ${words[0]-} in
		FROM)
			stage=stage$((stages++))
			bare bookworm "$stage" ''
			;;
		COPY)
			case $line in
			'COPY . /src') mkdir "$BATS_FILE_TMPDIR/$stage/src" && git -C "$root" archive HEAD | tar x -C "$BATS_FILE_TMPDIR/$stage/src" ;;
			'COPY --from=build /src/build/package/*.deb /tmp/') cp "$BATS_FILE_TMPDIR"/stage0/src/build/package/*.deb "$BATS_FILE_TMPDIR/$stage/tmp/" ;;
			*) false ;;
			esac
			;;
		WORKDIR) [ "$line" = 'WORKDIR /src' ] ;;
		RUN) within "$stage" sh -c "cd /src 2>/dev/null; ${line#RUN }" ;;
		ENTRYPOINT) [ "$line" = 'ENTRYPOINT ["rolldbg"]' ] ;;
		esac
	done <"$root/src/package/Containerfile"
	within "$stage" rolldbg run --seed 42 --out /tmp/run.jsonl
	within "$stage" sh -c 'dpkg -s rolldbg && ! ldd /usr/bin/rolldbg | grep "not found"'
}
