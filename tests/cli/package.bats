#!/usr/bin/env bats
# What packages are made of, with the program at hand in place of a portable one (tests/interop/package.bats and `make wheel`
# compile that). A wheel: in a bare virtual environment, by pip, without an index.

load lib

setup_file() {
	export SOURCE_DATE_EPOCH=1700000000
	# from make's own place: the tests of a file run elsewhere
	cd "$BATS_TEST_DIRNAME/../.." || return
	program=${ROLLDBG_REAL:-${ROLLDBG:-rolldbg}}
	strip -o "$BATS_FILE_TMPDIR/rolldbg" "$program"
	wheel=$(src/package/wheel --program "$BATS_FILE_TMPDIR/rolldbg" --out "$BATS_FILE_TMPDIR/wheels" 2>"$BATS_FILE_TMPDIR/said")
	export wheel venv=$BATS_FILE_TMPDIR/venv
	python3 -m venv "$venv"
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
	rm "$venv/bin/rolldbg"
	PYTHONPATH=site expect 0 "$venv/bin/python" -m rolldbg --version
	rm site/bin/rolldbg
	PYTHONPATH=site expect 1 "$venv/bin/python" -m rolldbg --version
	has "$stderr" 'rolldbg is not where it was installed'
	"$venv/bin/pip" install --quiet --disable-pip-version-check --no-index --force-reinstall "$wheel"
}

@test "pip removes everything" {
	python3 -m venv --without-pip bare
	"$venv/bin/pip" --python bare/bin/python install --quiet --disable-pip-version-check --no-index "$wheel"
	"$venv/bin/pip" --python bare/bin/python uninstall --quiet --disable-pip-version-check --yes rolldbg
	[ -z "$(find bare -name '*rolldbg*' ! -type d)" ]
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
