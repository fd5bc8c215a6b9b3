"""Runs the dllm-vp program for the system tests and reads what it leaves."""
import atexit
import json
import os
import pathlib
import shutil
import socket
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["DLLM_VP"]  # set by CTest
TASKS = ("arith", "math", "code", "struct", "follow")


def task_file(task):
    return ROOT / "testbenches" / "vectors" / "tasks" / f"{task}.jsonl"


CONFIGS = ROOT / "tlm/platform/configs"


def configuration(name):
    """The complete document that a shipped configuration comes to, put together from its files; `why` is the base's."""
    path = (CONFIGS / f"{name}.json").resolve()
    document = json.loads(path.read_text())
    if "base" not in document:
        return document
    beside = (path.parent / f"{document['base']}.json").resolve()
    result = configuration(beside.relative_to(CONFIGS).with_suffix("") if beside.exists() else document["base"])
    result.update(name=document["name"], description=document["description"])
    for key, value in document["set"].items():
        *places, last = key.split(".")
        place = result
        for name in places:
            place = place[name]
        place[last] = value
    return result


def call(*arguments, timeout=600, environment=None):
    """The finished process; output as text."""
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=timeout, cwd=ROOT,
                          env={**os.environ, **(environment or {})})


def free_port():
    """A port of loopback that nobody listened on a moment ago."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def scratch_folder():
    """A new folder that is gone when the test ends."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="dllm-vp-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


class Run:
    """One `dllm-vp run` into a scratch folder."""

    def __init__(self, *arguments, timeout=600):
        self.folder = scratch_folder()
        self.process = call("run", "--out", self.folder, *arguments, timeout=timeout)

    @property
    def code(self):
        return self.process.returncode

    def text(self, name):
        return (self.folder / name).read_text()

    def json(self, name):
        return json.loads(self.text(name))

    def describe(self):
        return f"exit {self.code}\n{self.process.stdout}\n{self.process.stderr}"


def write_lines(path, items):
    path.write_text("".join(json.dumps(item) + "\n" for item in items))


def read_lines(path, limit=None):
    with open(path) as lines:
        items = [json.loads(line) for line in lines]
    return items[:limit]
