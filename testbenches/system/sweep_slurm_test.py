"""dllm-vp sweep on a Slurm cluster that the test starts itself: the same database as without, whatever happens on the way."""
import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import chip
import slurm_cluster
import sweep_test


class OnCluster(sweep_test.Scratch):
    PARAMETERS = {"npu.vector.lanes": [8, 16, 24, 32], "bus.latency_ns": [1, 10, 20]}

    @classmethod
    def setUpClass(cls):
        try:
            cls.cluster = slurm_cluster.Cluster()
        except slurm_cluster.Unavailable as why:
            print(f"slurm_cluster: {why}", file=sys.stderr)  # CTest looks for this
            raise unittest.SkipTest(str(why))
        cls.addClassCleanup(cls.cluster.stop)
        cls.scratch_of_class = chip.scratch_folder()
        cls.undisturbed = cls.scratch_of_class / "undisturbed.sqlite"

    def setUp(self):
        super().setUp()
        self.all = self.spec(parameters=self.PARAMETERS)
        if not self.undisturbed.exists():
            self.sweep(self.all, "--db", self.undisturbed)

    def command(self, *more):
        return [chip.PROGRAM, "sweep", str(self.all), "--launcher", "slurm", *more]

    def begin(self, *more):
        return subprocess.Popen(self.command(*more), cwd=self.scratch, env=self.cluster.environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)

    def finish(self, process, code=0):
        said = process.communicate(timeout=120)
        self.assertEqual(process.returncode, code, said)
        return said

    def wait_until(self, condition, process):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertIsNone(process.poll(), "it ended before the test could disturb it")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.02)

    def queue(self):
        """States of the tasks, by node."""
        return [tuple(line.split()) for line in self.cluster.ask("squeue", "--noheader", "--array", "--format=%T %N").splitlines()]

    def at_work(self):
        return any(task[0] == "RUNNING" for task in self.queue())

    def assert_as_undisturbed(self):
        self.assertEqual(self.rows(), self.rows(self.undisturbed))
        folder = self.scratch / "spec.sqlite.slurm"
        self.assertEqual(list(folder.iterdir()), [], "files of finished jobs are left")


class Slurm(OnCluster):
    def test_an_array_gives_the_same_database(self):
        # 12 points in tasks of one are more than the cluster's arrays have.
        said = self.finish(self.begin())
        self.assert_as_undisturbed()
        self.assertIn("total.latency_us", said[0])
        spread = self.begin("--db", str(self.scratch / "chunks.sqlite"), "--chunk", "5", "--sbatch=--cpus-per-task=1")
        self.finish(spread)
        self.assertEqual(self.rows(self.scratch / "chunks.sqlite"), self.rows(self.undisturbed))

    def test_points_whose_task_always_ends_early_fail_in_the_end(self):
        wrapper = self.scratch / "sbatch"
        # A task that does nothing, in the place of the sweep's own: the last argument.
        wrapper.write_text("#!/usr/bin/env python3\nimport os, sys\n"
                           f"os.execv({shutil.which('sbatch')!r}, ['sbatch', *sys.argv[1:-1], '--wrap=true'])\n")
        wrapper.chmod(0o755)
        environment = {**self.cluster.environment, "PATH": f"{self.scratch}:{os.environ['PATH']}"}
        process = subprocess.Popen(self.command("--chunk", "12"), cwd=self.scratch, env=environment, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        said = self.finish(process, 1)
        self.assertIn("failed: point 12: its Slurm task ended 3 times without a result; see the logs in", said[0])
        self.finish(self.begin("--retry"))
        self.assertEqual(self.states(), {"done": 12})


class Killed(OnCluster):
    def test_killed_jobs_are_submitted_again(self):
        process = self.begin("--chunk", "4")
        self.wait_until(lambda: self.at_work() and self.states().get("done", 0) > 0, process)
        self.cluster.ask("scancel", "--full", "--state=RUNNING")
        self.cluster.ask("scancel", "--state=PENDING")
        self.finish(process)
        self.assert_as_undisturbed()

    def test_a_drained_node_and_a_requeued_task_lose_nothing(self):
        process = self.begin("--chunk", "2")
        self.cluster.ask("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
        try:
            running = []
            self.wait_until(lambda: running.extend(self.cluster.ask("squeue", "--noheader", "--array", "--state=RUNNING",
                                                                    "--format=%i").split()) or running, process)
            self.cluster.ask("scontrol", "requeue", running[0])
            deadline = time.monotonic() + 60
            while process.poll() is None and time.monotonic() < deadline:
                for task in self.cluster.ask("squeue", "--noheader", "--array", "--format=%i %r").splitlines():
                    if task.endswith("BeginTime"):  # Slurm would wait two minutes with a requeued task
                        self.cluster.ask("scontrol", "update", f"JobId={task.split()[0]}", "StartTime=now")
                time.sleep(0.2)
            self.finish(process)
        finally:
            self.cluster.ask("scontrol", "update", "NodeName=n2", "State=RESUME")
        self.assert_as_undisturbed()

    def test_a_killed_sweep_finds_its_jobs_again(self):
        first = self.begin("--chunk", "2")
        self.wait_until(lambda: self.states().get("running", 0) > 0 and self.at_work(), first)
        first.kill()
        first.communicate()
        self.assertNotEqual(self.queue(), [], "the jobs ended with the program")
        refused = chip.call("sweep", self.all, timeout=60)
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("points are still in work by Slurm job dllm-vp-sweep-", refused.stderr)
        second = self.begin("--chunk", "2")
        self.wait_until(lambda: self.states().get("done", 0) > 0, second)
        jobs = self.cluster.ask("squeue", "--noheader", "--format=%j").split()
        self.assertLessEqual(len(set(jobs)), 1, "the points were submitted twice")
        self.finish(second)
        self.assert_as_undisturbed()

    def test_an_interrupted_wait_leaves_the_jobs(self):
        process = self.begin()
        self.wait_until(self.at_work, process)
        process.send_signal(signal.SIGINT)
        said = self.finish(process, 128 + signal.SIGINT)
        self.assertEqual(said[1], "dllm-vp: SIGINT ended the wait, the jobs go on; the same command takes their results over\n")
        self.finish(self.begin())
        self.assert_as_undisturbed()


class NoSlurm(sweep_test.Scratch):
    def test_without_slurm_it_takes_one_sentence(self):
        done = chip.call("sweep", self.spec(), "--launcher", "slurm", environment={"PATH": "/nowhere"})
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertEqual(done.stderr, "dllm-vp: --launcher slurm: there is no sbatch here; install Slurm's client programs "
                                      "(Debian: slurm-client) on a machine of the cluster\n")
        self.assertFalse(self.database.exists())

    def test_a_job_that_slurm_does_not_take(self):
        for name, code in (("sbatch", 1), ("scancel", 0), ("scontrol", 0), ("squeue", 0)):
            program = self.scratch / name
            program.write_text('#!/bin/sh\n[ "$1" = --version ] && exit 0\necho "first" >&2\n'
                               f'echo "sbatch: error: invalid partition specified: absent" >&2\nexit {code}\n')
            program.chmod(0o755)
        done = chip.call("sweep", self.spec(), "--launcher", "slurm", environment={"PATH": f"{self.scratch}:{os.environ['PATH']}"})
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertEqual(done.stderr, "dllm-vp: sbatch takes no job: sbatch: error: invalid partition specified: absent\n")
        self.assertEqual(self.ask("SELECT state, count(*) FROM point GROUP BY state"), [("waiting", 6)])

    def test_wrong_options(self):
        self.refuse(["--launcher slrum: takes local or slurm"], self.spec(), "--launcher", "slrum")
        self.refuse(["--chunk: has no effect without --launcher slurm"], self.spec(), "--chunk", "3")
        self.refuse(["--jobs: has no effect with --launcher slurm"], self.spec(), "--launcher", "slurm", "--jobs", "3")
        self.refuse(["is for the tasks of --launcher slurm"], "--task", self.scratch)


if __name__ == "__main__":
    unittest.main()
