#!/usr/bin/env python3
"""A Slurm cluster of its own on this machine, for as long as it is needed: controller, two nodes and their munge.

    slurm_cluster.py COMMAND...     runs the command with such a cluster, and ends it

Nothing outside its folder is touched, and a cluster that runs on this machine already is not disturbed: every daemon has
its own port, socket and files.
"""
import os
import pathlib
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time

DAEMONS = ("munged", "slurmctld", "slurmd", "sbatch")
CONF = """\
ClusterName=testbench
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ports[0]}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1
MpiDefault=none
ReturnToService=2
MaxArraySize=9
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[{ports[1]}-{ports[2]}] CPUs=1
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


class Unavailable(Exception):
    """Why there can be no cluster here, one sentence."""


def consecutive_free_ports(number):
    """The first of so many ports of loopback that nobody listens on."""
    for _ in range(100):
        first = secrets.randbelow(20000) + 20000
        try:
            for port in range(first, first + number):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", port))
            return first
        except OSError:
            continue
    raise Unavailable("no free ports were found on 127.0.0.1")


class Cluster:
    def __init__(self):
        os.environ["PATH"] += ":/usr/sbin:/sbin"
        for program in DAEMONS:
            if shutil.which(program) is None:
                raise Unavailable(f"{program} is not installed; scripts/packages installs Slurm")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="slurm-"))  # short: it holds a socket
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        self.daemons = []
        try:
            self.configure()
            self.start()
        except Unavailable:
            self.stop()
            raise

    def configure(self):
        first = consecutive_free_ports(3)
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        (self.folder / "slurm.conf").write_text(CONF.format(
            host=socket.gethostname().split(".")[0], ports=range(first, first + 3), folder=self.folder,
            user=pwd.getpwuid(os.geteuid()).pw_name))

    def start(self):
        f = self.folder
        self.daemon("munged", "--foreground", "--force", f"--key-file={f}/munge.key", f"--socket={f}/munge.socket",
                    f"--pid-file={f}/munged.pid", f"--log-file={f}/munge.log", f"--seed-file={f}/munge.seed")
        self.wait_for("munge", lambda: (f / "munge.socket").exists())
        self.daemon("slurmctld", "-D")
        for node in ("n1", "n2"):
            self.daemon("slurmd", "-D", "-N", node)
        self.wait_for("Slurm", lambda: self.ask("sinfo", "--noheader", "--format=%D %t").strip() == "2 idle")

    def daemon(self, name, *arguments):
        with open(self.folder / f"{name}-{len(self.daemons)}.out", "w") as out:
            self.daemons.append(subprocess.Popen([name, *arguments], stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                                 env=self.environment, start_new_session=True))

    def wait_for(self, what, ready, seconds=30):
        deadline = time.monotonic() + seconds
        while not ready():
            ended = next((d for d in self.daemons if d.poll() is not None), None)
            if ended or time.monotonic() > deadline:
                raise Unavailable(f"{what} does not start here: {self.last_words()}")
            time.sleep(0.05)

    def last_words(self):
        lines = [line for path in sorted(self.folder.glob("*.out")) for line in path.read_text(errors="replace").splitlines()
                 if "error" in line.lower() or "fatal" in line.lower()]
        return lines[-1] if lines else "its daemons say nothing"

    def ask(self, *command):
        return subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60).stdout

    def stop(self):
        if len(self.daemons) > 1:
            self.ask("scancel", "--state=RUNNING")
            self.ask("scancel", "--state=PENDING")
            deadline = time.monotonic() + 10
            while self.ask("squeue", "--noheader").strip() and time.monotonic() < deadline:
                time.sleep(0.1)
        for daemon in reversed(self.daemons):
            daemon.terminate()
        for daemon in self.daemons:
            try:
                daemon.wait(10)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def main(command):
    if not command:
        sys.exit(__doc__.strip())
    try:
        cluster = Cluster()
    except Unavailable as why:
        sys.exit(f"slurm_cluster: {why}")
    try:
        return subprocess.run(command, env=cluster.environment).returncode
    finally:
        cluster.stop()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
