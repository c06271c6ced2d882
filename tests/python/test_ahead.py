# SPDX-License-Identifier: Apache-2.0
"""ridgeline_infer.ahead: trials that the fork server prepares before their turn; exit code 77 without torch."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
import unittest

from test_fork_server import HEAD, LOADED, RELAY, ForkServerTest
from ridgeline_infer.ahead import can_be_nice
from ridgeline_infer.program_ahead import MARK

REQUEST = {"op": "prepare", "target": "infer.py:make", "settings": {"grad_mode": "no_grad"}}
SLOW = LOADED.replace("    print(", "    import time\n    end = time.time() + 1.5\n    while time.time() < end: pass\n    print(")


class AheadTest(ForkServerTest):
    def say(self, **request):
        """The connection and what the server answers."""
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.environment["RIDGELINE_FORK_SERVER"])
        self.addCleanup(connection.close)
        return connection, self.ask(connection, **request)

    def want(self, *keys, most=2, request=None, kept=()):
        jobs = [{"key": key, "folder": self.folder.name, "environment": self.environment, "request": request or REQUEST} for key in keys]
        return self.say(op="ahead", jobs=jobs, most=most, kept=list(kept))[1]

    def wait_for(self, key, state):
        for _ in range(1000):
            states = self.say(op="states")[1]
            if states.get(key) == state:
                return states
            time.sleep(0.02)
        self.fail("%s is %s, not %s" % (key, states.get(key), state))

    def take(self, key):
        self.environment["RIDGELINE_AHEAD_KEY"] = key
        process, channel = self.relay()
        del self.environment["RIDGELINE_AHEAD_KEY"]
        return process, channel

    def children(self):
        with open("/proc/%d/task/%d/children" % (self.server.pid, self.server.pid)) as file:
            return [int(word) for word in file.read().split()]

    def state_of(self, pid):
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0]

    def test_a_trial_gets_what_was_prepared(self):
        self.write(LOADED)
        self.start()
        self.want("a")
        self.wait_for("a", "ready")
        pid, = self.children()
        process, channel = self.take("a")
        answer = self.ask(channel, **REQUEST)["ok"]
        self.assertEqual(answer["pid"], pid)
        self.assertTrue(answer["beside"])
        self.assertFalse(answer["kept"])
        self.assertEqual(len(self.ask(channel, op="call", count=3)["ok"]["ns"]), 3)
        self.assertEqual(self.ask(channel, op="close"), {"ok": {}})
        self.assertEqual(process.wait(timeout=20), 0)
        self.assertIn("made by %d" % pid, process.stdout.read().decode())

    def niceness(self, pid):
        return {os.getpriority(os.PRIO_PROCESS, int(thread)) for thread in os.listdir("/proc/%d/task" % pid)}

    @unittest.skipUnless(can_be_nice(), "this user may not raise priorities")
    def test_what_is_prepared_is_nice_until_it_is_taken(self):
        self.write(LOADED)
        self.start()
        self.want("a")
        self.wait_for("a", "ready")
        pid, = self.children()
        before = os.getpriority(os.PRIO_PROCESS, 0)
        self.assertEqual(self.niceness(pid), {min(before + 10, 19)})
        _, channel = self.take("a")
        self.ask(channel, **REQUEST)
        self.assertEqual(self.niceness(pid), {before})

    def test_who_comes_early_waits_for_it(self):
        self.write(SLOW)
        self.start()
        self.want("a")
        self.wait_for("a", "preparing")
        process, channel = self.take("a")
        pid, = self.children()
        self.assertEqual(self.ask(channel, **REQUEST)["ok"]["pid"], pid)
        process.kill()
        self.assertTrue(self.gone(pid))

    def test_what_is_compiled_has_the_threads_of_its_calls(self):
        # Dynamo compiles again where their number changes.
        self.write(HEAD + ("class Printing(nn.Module):\n"
                           "    def forward(self, x):\n"
                           "        print('call', torch.get_num_threads(), flush=True)\n"
                           "        return x + 1\n"
                           "def make():\n"
                           "    print('make', torch.get_num_threads(), flush=True)\n"
                           "    return Printing().eval(), torch.ones(1, 2)\n"))
        self.environment["OMP_NUM_THREADS"] = "8"  # also where there are fewer CPUs
        self.start()
        self.want("a")
        self.wait_for("a", "ready")
        process, channel = self.take("a")
        self.ask(channel, **REQUEST)
        self.ask(channel, op="call", count=3)
        self.ask(channel, op="close")
        process.wait(timeout=20)
        printed = [line.split() for line in process.stdout.read().decode().splitlines()]
        self.assertLess(int(printed[0][1]), 8)
        self.assertEqual({threads for _, threads in printed[1:]}, {"8"})

    def test_a_failure_is_told_to_who_takes_it(self):
        self.write(LOADED.replace("    return", "    raise ValueError('boom')\n    return"))
        self.start()
        self.want("a")
        self.wait_for("a", "failed")
        _, channel = self.take("a")
        self.assertIn("boom", self.ask(channel, **REQUEST)["error"]["message"])

    def test_what_dies_is_prepared_again_by_the_trial(self):
        self.write(LOADED.replace("    return", "    if os.environ.get('DIES'): os._exit(3)\n    return"))
        self.start()
        self.environment["DIES"] = "yes"
        self.want("a")
        for _ in range(1000):
            if not self.say(op="states")[1]:
                break
            time.sleep(0.02)
        del self.environment["DIES"]
        _, channel = self.take("a")
        self.assertIn("ok", self.ask(channel, **REQUEST))

    def test_no_more_than_asked_for_at_a_time_and_in_order(self):
        self.write(SLOW)
        self.start()
        self.assertEqual(self.want("a", "b", "c", most=1), {"a": "preparing", "b": "waiting", "c": "waiting"})
        self.assertEqual(self.wait_for("a", "ready"), {"a": "ready", "b": "preparing", "c": "waiting"})

    def test_what_is_not_wanted_any_more_ends(self):
        self.write(SLOW)
        self.start()
        self.want("a", "b")
        first = self.children()
        self.assertEqual(self.want("b"), {"b": "preparing"})
        self.assertTrue(self.gone(first[0]))
        self.assertTrue(os.path.exists("/proc/%d" % first[1]))

    def test_one_key_twice_is_two_processes(self):
        self.write(LOADED)
        self.start()
        self.want("a", "a")
        self.wait_for("a", "ready")
        pids = set()
        for _ in range(2):
            _, channel = self.take("a")
            pids.add(self.ask(channel, **REQUEST)["ok"]["pid"])
        self.assertEqual(len(pids), 2)

    def test_all_stands_still_under_a_lease(self):
        self.write(SLOW)
        self.start()
        self.want("a", "b", "c", most=2)
        pids = self.children()
        connection, answer = self.say(op="lease")
        self.assertEqual(answer, {"on_gpu": 0, "was_busy": True})
        self.assertEqual([self.state_of(pid) for pid in pids], ["T", "T"])
        second, _ = self.say(op="lease")
        connection.close()
        time.sleep(0.1)
        self.assertEqual([self.state_of(pid) for pid in pids], ["T", "T"])
        _, channel = self.take("a")  # which the holder of the lease may want
        self.assertEqual(self.ask(channel, **REQUEST)["ok"]["pid"], pids[0])
        self.assertEqual(self.state_of(pids[1]), "T")
        self.assertEqual(len(self.children()), 2)  # nothing new begins
        second.close()
        self.wait_for("c", "ready")

    def test_what_stands_still_ends_with_the_server(self):
        self.write(SLOW)
        self.start()
        self.want("a", "b")
        self.say(op="lease")
        pids = self.children()
        self.end()
        self.assertTrue(all(self.gone(pid) for pid in pids))

    def test_another_trials_process_is_not_taken(self):
        self.write(LOADED)
        self.start()
        self.want("a")
        self.wait_for("a", "ready")
        process, channel = self.take("b")
        self.assertNotIn("beside", self.ask(channel, **REQUEST)["ok"])
        self.assertEqual(len(self.children()), 2)
        process.send_signal(signal.SIGKILL)

    def begun(self):
        """A trial whose process is kept: its relay, the channel and the process."""
        self.write(LOADED)
        self.start()
        self.want("a", kept=["a"])
        self.wait_for("a", "ready")
        process, channel = self.take("a")
        return process, channel, self.ask(channel, **REQUEST)["ok"]["pid"]

    def use(self, key):
        """The number of the process that serves a trial of that key, and what was printed."""
        process, channel = self.take(key)
        answer = self.ask(channel, **REQUEST)["ok"]
        pid = answer["pid"]
        self.assertIs(answer.get("kept", False), key == "a")
        self.assertEqual(len(self.ask(channel, op="call", count=2)["ok"]["ns"]), 2)
        self.assertEqual(self.ask(channel, op="close"), {"ok": {}})
        channel.close()
        self.assertEqual(process.wait(timeout=20), 0)
        return pid, process.stdout.read().decode()

    def test_a_process_that_is_kept_is_taken_over_again(self):
        self.write(LOADED)
        self.start()
        self.want("a", kept=["a"])
        self.wait_for("a", "ready")
        pid, printed = self.use("a")
        self.assertIn("made by %d" % pid, printed)
        for _ in range(2):
            self.assertEqual(self.wait_for("a", "ready"), {"a": "ready"})
            self.assertEqual(self.use("a"), (pid, ""))
        self.want("b", kept=["a"])
        time.sleep(0.2)
        self.assertTrue(os.path.exists("/proc/%d" % pid))
        lease, _ = self.say(op="lease")
        self.assertEqual(self.state_of(pid), "T")
        lease.close()
        self.want("b")
        self.assertTrue(self.gone(pid))

    def test_what_is_not_kept_any_more_ends_with_its_trial(self):
        process, channel, pid = self.begun()
        self.want()
        self.ask(channel, op="close")
        self.assertEqual(process.wait(timeout=20), 0)
        self.assertTrue(self.gone(pid))

    def test_what_is_kept_ends_with_who_took_it_over(self):
        process, channel, pid = self.begun()
        process.kill()
        self.assertTrue(self.gone(pid))
        self.assertEqual(self.say(op="states")[1], {})
        self.assertNotEqual(self.use("b")[0], pid)

    def program(self, first, rest):
        """The path of a program in two parts."""
        path = os.path.join(self.folder.name, "program.py")
        with open(path, "w") as file:
            file.write("import os, sys\nprint('first part by', os.getpid(), flush=True)\n%s\n%s%s\n" % (first, MARK, rest))
        return path

    def want_program(self, path):
        self.say(op="ahead", jobs=[{"key": path, "folder": self.folder.name, "environment": self.environment, "program": path}], most=2)

    def run_program(self, path, **environment):
        """(its exit code, what it printed)"""
        done = subprocess.run([sys.executable, "-S", RELAY, sys.executable, path], cwd=self.folder.name, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env=dict(self.environment, RIDGELINE_AHEAD_KEY=path, **environment))
        return done.returncode, done.stdout.decode()

    def test_the_timed_part_of_a_program_runs_when_it_is_taken_over(self):
        self.write(LOADED)
        self.start()
        path = self.program("value = 3", "print('rest by', os.getpid(), value + 1, os.environ['WHERE'], __name__, sys.argv)")
        self.want_program(path)
        self.wait_for(path, "ready")
        pid, = self.children()
        code, said = self.run_program(path, WHERE="there")
        self.assertEqual(code, 0)
        self.assertEqual(said, "first part by %d\nrest by %d 4 there __main__ ['%s']\n" % (pid, pid, path))

    def test_a_program_fails_as_it_would_by_itself(self):
        self.write(LOADED)
        self.start()
        for first, rest, state in (("raise ValueError('boom')", "", "failed"), ("", "raise ValueError('boom')", "ready")):
            path = self.program(first, rest)
            self.want_program(path)
            self.wait_for(path, state)
            code, said = self.run_program(path)
            self.assertEqual(code, 1)
            self.assertRegex(said, r'(?s)^first part[^\n]*\nTraceback[^\n]*\n  File "%s", line [35], in <module>\n[^\n]*\nValueError: boom\n$' % path)

    def test_a_program_that_gives_up_says_why(self):
        self.write(LOADED)
        self.start()
        path = self.program("raise SystemExit('nothing was compiled')", "print('never')")
        self.want_program(path)
        self.wait_for(path, "failed")
        code, said = self.run_program(path)
        self.assertEqual(code, 1)
        self.assertTrue(said.endswith("nothing was compiled\n"), said)

    def test_a_program_that_is_not_prepared_runs_by_itself(self):
        self.write(LOADED)
        self.start()
        code, said = self.run_program(self.program("", "print('ppid', os.getppid())"))
        self.assertEqual(code, 0)
        self.assertNotIn("ppid %d\n" % self.server.pid, said)


for name in [name for name in vars(ForkServerTest) if name.startswith("test_")]:
    setattr(AheadTest, name, None)  # they are of the other file

if __name__ == "__main__":
    unittest.main(argv=["test_ahead", "AheadTest"])
