#!/usr/bin/env bats
# The pytest plugin of the wheel, under pytest of PyPI: goldens as items, fixtures, markers, --rolldbg-accept.
# shellcheck disable=SC2154 # variables set by lib.bash

load lib
bats_require_minimum_version 1.5.0

setup_file() {
	cd "$BATS_TEST_DIRNAME/../.." || return
	strip -o "$BATS_FILE_TMPDIR/rolldbg" "${ROLLDBG:-rolldbg}"
	wheel=$(src/package/wheel --program "$BATS_FILE_TMPDIR/rolldbg" --out "$BATS_FILE_TMPDIR/wheels" 2>/dev/null)
	.deps/interop/gym/bin/python -m pip install --quiet --no-index --no-deps --target "$BATS_FILE_TMPDIR/site" "$wheel"
	export PYTHONPATH=$BATS_FILE_TMPDIR/site PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 PYTHONDONTWRITEBYTECODE=1
	"$BATS_FILE_TMPDIR/rolldbg" run --quiet --seed 42 --task goal --out "$BATS_FILE_TMPDIR/goal.jsonl"
	"$BATS_FILE_TMPDIR/rolldbg" strip "$BATS_FILE_TMPDIR/goal.jsonl" >"$BATS_FILE_TMPDIR/golden.jsonl"
}

setup() {
	cd "$BATS_TEST_TMPDIR" || return
	mkdir -p suite/goldens
	cp "$BATS_FILE_TMPDIR/golden.jsonl" suite/goldens/goal.jsonl
	echo '[pytest]' >suite/pytest.ini
}

# pytest CODE OPTION..: in suite/; sets $output. In CI its summary repeats messages.
pytest() {
	local wanted=$1
	shift
	run env -u CI -u BUILD_NUMBER "$installed/gym/bin/pytest" -p rolldbg.pytest_plugin --strict-markers -p no:cacheprovider --rootdir suite suite "$@"
	[ "$status" = "$wanted" ] || {
		echo "exit code $status, not $wanted"
		echo "$output"
		return 1
	}
}

@test "a golden is an item; what differs is told, accepted only when asked, and in JUnit" {
	pytest 0 -v
	[[ $output == *'goal.jsonl::replay PASSED'* ]]
	pytest 1 --rolldbg-env 'builtin:frozen_lake?map=8x8' --junit-xml report.xml
	[[ $output == *'accept: pytest --rolldbg-accept'* && $output == *'/observation/position  4 -> 8'* ]]
	[ "$(grep -c '/observation/position  4 -> 8' <<<"$output")" = 1 ]
	cmp suite/goldens/goal.jsonl "$BATS_FILE_TMPDIR/golden.jsonl"
	[ ! -e suite/goldens/goal.jsonl.new ]
	grep -q '<testcase.*goal.*<failure' report.xml
	pytest 0 --rolldbg-env 'builtin:frozen_lake?map=8x8' --rolldbg-accept
	run ! cmp -s suite/goldens/goal.jsonl "$BATS_FILE_TMPDIR/golden.jsonl"
	pytest 0 --rolldbg-env 'builtin:frozen_lake?map=8x8'
}

@test "an environment that is not there, and a golden that is none, are told apart from differences" {
	pytest 1 --rolldbg-env http://127.0.0.1:1/mcp
	[[ $output == *'rolldbg replay exited with 4'* ]]
	echo nonsense >suite/goldens/goal.jsonl
	pytest 1
	[[ $output == *'rolldbg replay exited with 3'* ]]
}

@test "markers for masks, added by conftest.py to items" {
	sed -i 's/"reward":1[.0]*/"reward":7.0/g; s/"total_reward":1[.0]*/"total_reward":7.0/' suite/goldens/goal.jsonl
	pytest 1
	cat >suite/conftest.py <<-'END'
		import pytest

		def pytest_collection_modifyitems(items):
		    for item in items:
		        item.add_marker(pytest.mark.rolldbg_mask("/reward", "/total_reward"))
	END
	pytest 0
}

@test "fixtures: a server for the test, the program, a replay with the test's markers" {
	cat >suite/test_env.py <<-'END'
		import pytest

		GOLDEN = "suite/goldens/goal.jsonl"

		def test_healthy(rolldbg_env, rolldbg_run):
		    done = rolldbg_run("run", "--env", rolldbg_env, "--seed", 42, "--actions", "DOWN,DOWN", "--out", "run.jsonl", "--force")
		    assert done.returncode == 0, done.stderr
		    assert "2 of 2 steps changed the state" in done.stdout

		def test_replay(rolldbg_env, rolldbg_replay):
		    rolldbg_replay(GOLDEN, env=rolldbg_env)

		@pytest.mark.rolldbg_serve("--protocol", "openenv")
		def test_openenv(rolldbg_env, rolldbg_run):
		    done = rolldbg_run("run", "--env", rolldbg_env, "--actions", "DOWN", "--out", "run.jsonl", "--force")
		    assert "openenv" in done.stdout, done.stderr

		@pytest.mark.rolldbg_mask("/reward", "/total_reward")
		def test_masked(rolldbg_env, rolldbg_replay, tmp_path):
		    other = tmp_path / "other.jsonl"
		    with open(GOLDEN) as file:
		        other.write_text(file.read().replace('reward":1', 'reward":7'))
		    rolldbg_replay(other, env=rolldbg_env)

		@pytest.mark.rolldbg_serve("--fault", "drop-iserror")
		def test_faulty(rolldbg_env, rolldbg_replay):
		    with pytest.raises(pytest.fail.Exception, match="first divergence: step 1"):
		        rolldbg_replay(GOLDEN, env=rolldbg_env)

		@pytest.mark.rolldbg_serve("--fault", "nosuch")
		@pytest.mark.xfail(strict=True)
		def test_no_server(rolldbg_env):
		    pass
	END
	pytest 0 -rA
	[[ $output == *'6 passed, 1 xfailed'* ]]
	run ! pgrep -f "$BATS_FILE_TMPDIR/site/bin/rolldbg serve"
}
