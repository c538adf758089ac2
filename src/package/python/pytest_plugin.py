"""pytest plugin of rolldbg: goldens are test items, and tests get environments.

Goldens: every *.jsonl below a directory named by the ini option rolldbg_goldens (default: goldens) is an item, replayed against
--rolldbg-env or the ini option rolldbg_env; without either only goldens of the built-in lake can be replayed. --rolldbg-accept
makes what was replayed the golden. What may differ is named in GOLDEN.masks, by --mask and so on in the ini option
rolldbg_replay_options, or by markers (add_marker in conftest.py for items, decorators for tests):

    rolldbg_mask(POINTER..)  rolldbg_tolerance("POINTER=EPS"..)  rolldbg_unordered("POINTER[=KEY]"..)

Fixtures: rolldbg_env is the URL of an environment: --rolldbg-env, else a server started for the test: the built-in lake, or what
the marker rolldbg_serve(ARGUMENT..) gives `rolldbg serve`. rolldbg_run(ARGUMENT..) runs the program and returns a CompletedProcess.
rolldbg_replay(GOLDEN, env=URL) fails the test if the golden differs, with the test's markers."""

import os
import pathlib
import queue
import shlex
import subprocess
import tempfile
import threading

import pytest

from . import program

COMPARED = {"rolldbg_mask": "--mask", "rolldbg_tolerance": "--tolerance", "rolldbg_unordered": "--unordered"}
DIFFERS = 1  # the exit code
START_SECONDS = 30


def pytest_addoption(parser):
    group = parser.getgroup("rolldbg", "goldens of agent environments")
    group.addoption("--rolldbg-env", metavar="TARGET", help="the environment that goldens are replayed against")
    group.addoption("--rolldbg-accept", action="store_true", help="make what was replayed the golden")
    parser.addini("rolldbg_env", "as --rolldbg-env")
    parser.addini("rolldbg_goldens", "names of the directories in which every *.jsonl is a golden", type="args", default=["goldens"])
    parser.addini("rolldbg_replay_options", "further options of rolldbg replay", type="args", default=[])


def pytest_configure(config):
    for name, option in COMPARED.items():
        config.addinivalue_line("markers", f"{name}(pattern, ...): {option} of rolldbg replay")
    config.addinivalue_line("markers", "rolldbg_serve(argument, ...): the server of rolldbg_env")


def pytest_collect_file(file_path, parent):
    wanted = set(parent.config.getini("rolldbg_goldens"))
    if file_path.suffix == ".jsonl" and wanted & {part.name for part in file_path.parents}:
        return GoldenFile.from_parent(parent, path=file_path)
    return None


class GoldenDiffers(Exception):
    """The environment does not do what the golden says."""


class CannotReplay(Exception):
    """The golden, the environment or the command line cannot be used."""


class GoldenFile(pytest.File):
    def collect(self):
        yield GoldenItem.from_parent(self, name="replay")


class GoldenItem(pytest.Item):
    def runtest(self):
        replay(self, self.path, None)

    def repr_failure(self, excinfo, style=None):
        if excinfo.errisinstance((GoldenDiffers, CannotReplay)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, f"golden {self.path.name}"


def configured_env(config):
    return config.getoption("--rolldbg-env") or config.getini("rolldbg_env") or None


def replay(item, golden, env):
    """Raises GoldenDiffers or CannotReplay."""
    config = item.config
    words = ["replay", *config.getini("rolldbg_replay_options")]
    for name, option in COMPARED.items():
        for marker in item.iter_markers(name):
            for pattern in marker.args:
                words += [option, str(pattern)]
    env = env or configured_env(config)
    if env:
        words += ["--env", env]
    words += ["--update", "all" if config.getoption("--rolldbg-accept") else "none"]
    with tempfile.TemporaryDirectory(prefix="rolldbg-") as directory:
        done = run([*words, "--out", os.path.join(directory, "replay.jsonl"), "--", str(golden)])
    if done.returncode == DIFFERS:
        raise GoldenDiffers(f"{done.stdout}{done.stderr}to accept: pytest --rolldbg-accept {shlex.quote(item.nodeid)}")
    if done.returncode:
        raise CannotReplay(f"rolldbg replay exited with {done.returncode}:\n{done.stdout}{done.stderr}")
    item.add_report_section("call", "rolldbg", done.stdout + done.stderr)


def run(words, **options):
    return subprocess.run([program(), *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, **options)


class Server:
    """A `rolldbg serve` on a free port; its address is the first line that it prints."""

    def __init__(self, arguments, directory):
        self.log = open(pathlib.Path(directory) / "serve.log", "w+", encoding="utf-8")
        words = [program(), "serve", *map(str, arguments), "--port", "0"]
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        lines = queue.Queue()
        threading.Thread(target=self._read, args=(lines,), daemon=True).start()
        try:
            line = lines.get(timeout=START_SECONDS)
        except queue.Empty:
            line = ""
        if "listening on" not in line:
            self.stop()
            raise CannotReplay(f"{shlex.join(words)} did not start: {line}{self.errors()}")
        self.url = "http://" + line.split()[-1]
        if "openenv" not in arguments:
            self.url += "/mcp"

    def _read(self, lines):
        for line in self.process.stdout:
            lines.put(line)
        lines.put("")

    def errors(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


@pytest.fixture
def rolldbg_env(request, tmp_path):
    """The URL of an environment: the given one, or a server of this test."""
    marker = request.node.get_closest_marker("rolldbg_serve")
    given = configured_env(request.config)
    if given and not marker:
        yield given
        return
    server = Server(marker.args if marker else (), tmp_path)
    yield server.url
    server.stop()
    server.log.close()


@pytest.fixture
def rolldbg_run():
    """rolldbg_run(ARGUMENT.., **options of subprocess.run): the ended program, with its output as text."""
    return lambda *words, **options: run([str(word) for word in words], **options)


@pytest.fixture
def rolldbg_replay(request):
    """rolldbg_replay(GOLDEN, env=None): fails if the golden differs."""

    def check(golden, env=None):
        __tracebackhide__ = True
        try:
            replay(request.node, golden, env)
            return
        except GoldenDiffers as differs:
            said = str(differs)
        pytest.fail(said, pytrace=False)

    return check
