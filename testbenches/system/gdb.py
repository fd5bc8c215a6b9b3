"""gdb-multiarch as a program drives it: commands in, records of its machine interface out. Every wait is bounded."""
import queue
import re
import shutil
import signal
import subprocess
import threading
import time

PROGRAM = shutil.which("gdb-multiarch")
PATIENCE = 20  # seconds for one answer


class Gdb:
    def __init__(self, image):
        self.process = subprocess.Popen([PROGRAM, "-nx", "-q", "--interpreter=mi2", str(image)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.lines = queue.Queue()
        self.stops = []  # "*stopped" records not yet asked for
        self.seen = []
        self.token = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        for setting in ("confirm off", "pagination off", "breakpoint pending off", "width 0"):
            self.do(f"-gdb-set {setting}")

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def _next(self, until):
        try:
            line = self.lines.get(timeout=max(0.01, until - time.monotonic()))
        except queue.Empty:
            line = None
        if line is None:
            raise AssertionError("gdb said nothing more after:\n" + "\n".join(self.seen[-60:]))
        self.seen.append(line)
        if line.startswith("*stopped"):
            self.stops.append(line)
        return line

    def do(self, command):
        """Runs one command; the console text it printed and its result record."""
        self.token += 1
        self.process.stdin.write(f"{self.token}{command}\n")
        self.process.stdin.flush()
        until = time.monotonic() + PATIENCE
        text = []
        while True:
            line = self._next(until)
            if line.startswith(("~", "@")):  # gdb's own words, the target's
                text.append(line[2:-1].encode().decode("unicode_escape"))
            if line.startswith(f"{self.token}^"):
                if line.startswith(f"{self.token}^error"):
                    raise AssertionError(f"{command}: {line}")
                return "".join(text) + line

    def say(self, command):
        """A command of the command line, for a person's eyes."""
        quoted = command.replace("\\", "\\\\").replace('"', '\\"')
        return self.do(f'-interpreter-exec console "{quoted}"')

    def stop(self):
        """The record of the next stop."""
        until = time.monotonic() + PATIENCE
        while not self.stops:
            self._next(until)
        return self.stops.pop(0)

    def go(self, command="-exec-continue"):
        """Lets the target run; the record of where it stops."""
        self.stops.clear()
        self.do(command)
        return self.stop()

    def value(self, expression):
        """As a whole number."""
        quoted = expression.replace('"', '\\"')
        found = re.search(r'value="(-?\w+)', self.do(f'-data-evaluate-expression "{quoted}"'))
        return int(found.group(1), 0)

    def memory(self, address, count):
        return bytes.fromhex(re.search(r'contents="(\w+)"', self.do(f"-data-read-memory-bytes {address} {count}")).group(1))

    def write_memory(self, address, data):
        self.do(f"-data-write-memory-bytes {address} {data.hex()}")

    def press_control_c(self):
        self.process.send_signal(signal.SIGINT)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join()
        self.process.stdin.close()
        self.process.stdout.close()
