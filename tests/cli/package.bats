#!/usr/bin/env bats
# What packages are made of, with the program at hand in place of a portable one (tests/interop/package.bats and `make wheel`
# compile that). A wheel: in a bare virtual environment, by pip, without an index.
# shellcheck disable=SC2154 # variables set by lib.bash and bats

load lib

setup_file() {
	export SOURCE_DATE_EPOCH=1700000000
	# from make's own place: the tests of a file run elsewhere
	cd "$BATS_TEST_DIRNAME/../.." || return
	program=${ROLLDBG_REAL:-${ROLLDBG:-rolldbg}}
	strip -o "$BATS_FILE_TMPDIR/rolldbg" "$program"
	wheel=$(src/package/wheel --program "$BATS_FILE_TMPDIR/rolldbg" --out "$BATS_FILE_TMPDIR/wheels" 2>"$BATS_FILE_TMPDIR/said")
	export wheel venv=$BATS_FILE_TMPDIR/venv
	# to install pip there takes longer than all the rest: where the system has one, that is used
	python3 -m venv --without-pip "$venv"
	pip=$(python3 -c 'import pip; print(*pip.__path__)' 2>/dev/null) || pip=
	ln -s "${pip:-nowhere}" "$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/pip"
	printf '#!/bin/sh\nexec "%s" -m pip "$@"\n' "$venv/bin/python" >"$venv/bin/pip"
	chmod +x "$venv/bin/pip"
	"$venv/bin/pip" --version >/dev/null 2>&1 || python3 -m venv --clear "$venv"
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-index "$wheel"
}

@test "a wheel of this system's program is tagged as such, and says which libraries it needs" {
	[[ $wheel == */rolldbg-*-py3-none-linux_*.whl ]]
	has "$(cat "$BATS_FILE_TMPDIR/said")" libcurl.so.4
}

@test "the installed program runs, by its name and as python -m rolldbg, with policies and manuals" {
	expect 0 "$venv/bin/rolldbg" run --seed 42 --out run.jsonl
	has "$output" 'no findings: 6 of 6 steps changed the state'
	expect 3 "$venv/bin/python" -m rolldbg check nosuch.jsonl
	expect 0 "$venv/bin/python" -m rolldbg --version
	has "$output" 'rolldbg '
	[ -f "$venv/share/man/man1/rolldbg-run.1" ]
	cmp "$venv/share/rolldbg/policies/lake-goal.json" "$root/policies/lake-goal.json"
}

@test "python -m rolldbg finds the program in pip's --target, too" {
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-index --target site "$wheel"
	mv "$venv/bin/rolldbg" aside
	PYTHONPATH=site expect 0 "$venv/bin/python" -m rolldbg --version
	rm site/bin/rolldbg
	PYTHONPATH=site expect 1 "$venv/bin/python" -m rolldbg --version
	has "$stderr" 'rolldbg is not where it was installed'
	mv aside "$venv/bin/rolldbg"
}

@test "pip removes everything" {
	find "$venv" -name '*rolldbg*' ! -type d | grep -q .
	"$venv/bin/pip" uninstall --quiet --disable-pip-version-check --yes rolldbg
	[ -z "$(find "$venv" -name '*rolldbg*' ! -type d)" ]
}

@test "the same program gives the same wheel; RECORD has every file with its hash" {
	again=$(cd "$root" && src/package/wheel --program "$BATS_FILE_TMPDIR/rolldbg" --out "$BATS_TEST_TMPDIR/again" 2>/dev/null)
	cmp "$wheel" "$again"
	python3 - "$wheel" <<-'END'
		import base64, csv, hashlib, io, sys, zipfile
		archive = zipfile.ZipFile(sys.argv[1])
		record = next(n for n in archive.namelist() if n.endswith("/RECORD"))
		rows = {name: digest for name, digest, _ in csv.reader(io.StringIO(archive.read(record).decode()))}
		assert sorted(rows) == sorted(archive.namelist())
		for name, digest in rows.items():
		    content = hashlib.sha256(archive.read(name)).digest()
		    assert name == record or digest == "sha256=" + base64.urlsafe_b64encode(content).rstrip(b"=").decode(), name
	END
}

@test "make deb: the program's libraries are its dependencies, and the same files give the same bytes" {
	cd "$root"
	export DPKG_DEB_COMPRESSOR_LEVEL=0 # to compress well takes seconds, twice
	for n in 1 2; do
		# with the flags that the program was compiled with: other tests are running it
		deb=$(make -s BUILD="${ROLLDBG_BUILD##*/}" CI="$(grep -om1 -e -Werror "$ROLLDBG_BUILD/flags")" deb)
		cp "$deb" "$BATS_TEST_TMPDIR/$n.deb"
	done
	cmp "$BATS_TEST_TMPDIR/1.deb" "$BATS_TEST_TMPDIR/2.deb"
	depends=$(dpkg-deb -f "$deb" Depends)
	for library in libc6 libcurl4 libmicrohttpd12 libedit2 libwslay1 libcjson1 libutf8proc libssl3; do
		has "$depends" "$library"
	done
	dpkg-deb -x "$deb" "$BATS_TEST_TMPDIR/root"
	expect 0 "$BATS_TEST_TMPDIR/root/usr/bin/rolldbg" run --seed 42 --out "$BATS_TEST_TMPDIR/run.jsonl"
	gzip -t "$BATS_TEST_TMPDIR/root/usr/share/man/man1/rolldbg.1.gz"
	run readelf -S "$BATS_TEST_TMPDIR/root/usr/bin/rolldbg"
	lacks "$output" .debug_info
}

@test "make dist: the committed files, with checksums of all packages" {
	cd "$root"
	make -s dist
	(cd build/package && sha256sum --quiet -c SHA256SUMS)
	tar tzf build/package/rolldbg-*.tar.gz | grep -qx 'rolldbg-[0-9.]*/src/main.c'
	sum=$(sha256sum <build/package/rolldbg-*.tar.gz)
	make -s dist
	[ "$sum" = "$(sha256sum <build/package/rolldbg-*.tar.gz)" ]
}

@test "every step of the Containerfile that builds is a target of make, and copies what it makes" {
	run sed -n 's/^RUN.*make \(-j \)\{0,1\}\([a-z]*\).*/\2/p' "$root/src/package/Containerfile"
	[ "$output" = $'deps\ndeb' ] || [ "$output" = $'make\ndeps\ndeb' ]
	grep -q '^COPY --from=build /src/build/package/\*.deb' "$root/src/package/Containerfile"
	for group in build package; do
		grep -q "^$group " "$root/.ci/packages"
	done
}

# step NAME: a step of action.yml, as a runner starts it.
step() {
	PATH=$venv/bin:$PATH GITHUB_ACTION_PATH=$root GITHUB_STEP_SUMMARY=$PWD/summary.md \
		expect "$2" bash -c "$(sed -n "s/^    - run: \(.*action\" $1\)$/\1/p" "$root/action.yml")"
}

@test "the GitHub action: installs, checks or replays, writes annotations, SARIF and the summary" {
	export ROLLDBG_PACKAGE=$wheel ROLLDBG_SARIF=out.sarif
	step install 0
	"$venv/bin/rolldbg" run --quiet --seed 42 --out 'good.jsonl'
	"$venv/bin/rolldbg" run --quiet --env 'builtin:frozen_lake?fault=no-tools' --actions UP --out bad.jsonl || true
	ROLLDBG_COMMAND=check ROLLDBG_FILES=good.jsonl step run 0
	ROLLDBG_COMMAND=check ROLLDBG_FILES='good.jsonl bad.jsonl' ROLLDBG_OPTIONS='--fail-on error' step run 1
	has "$output" '::error file=bad.jsonl'
	jq -e '.runs[0].results | length > 0' out.sarif
	grep -q no-tools summary.md
	"$venv/bin/rolldbg" strip good.jsonl >golden.jsonl
	ROLLDBG_COMMAND=replay ROLLDBG_FILES=golden.jsonl step run 0
	ROLLDBG_COMMAND=replay ROLLDBG_FILES=golden.jsonl ROLLDBG_ENV='builtin:frozen_lake?fault=drop-iserror' step run 1
	# shellcheck disable=SC2016 # must not be expanded
	ROLLDBG_COMMAND='check; touch injected' ROLLDBG_FILES='$(touch injected)' step run 2
	[ ! -e injected ]
}
