# SPDX-License-Identifier: Apache-2.0
"""ridgeline_infer.fork_server: trials in processes forked from one that has imported torch; exit code 77 without torch."""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from test_ridgeline_infer import HEAD, ROOT  # starts again with an interpreter that has torch

import torch  # noqa: E402

PACKAGES = os.path.join(ROOT, "python")
RELAY = os.path.join(PACKAGES, "ridgeline_infer", "fork_relay.py")
LOADED = HEAD + ("import os\n"
                 "first = os.getpid()\n"
                 "def make():\n"
                 "    print('loaded by', first, 'made by', os.getpid(), flush=True)\n"
                 "    return nn.Linear(2, 2).eval(), torch.ones(1, 2)\n")


class ForkServerTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.environment = dict(os.environ, PYTHONPATH=PACKAGES, PYTHONUNBUFFERED="1")

    def write(self, code):
        with open(os.path.join(self.folder.name, "infer.py"), "w") as file:
            file.write(code)

    def start(self):
        listener = socket.socket(socket.AF_UNIX)
        self.environment["RIDGELINE_FORK_SERVER"] = os.path.join(self.folder.name, "fork")
        listener.bind(self.environment["RIDGELINE_FORK_SERVER"])
        listener.listen(4)
        self.server = subprocess.Popen([sys.executable, "-m", "ridgeline_infer.fork_server", "infer.py:make"], cwd=self.folder.name,
                                       env=dict(self.environment, RIDGELINE_FORK_FD=str(listener.fileno())),
                                       pass_fds=[listener.fileno()], stdin=subprocess.DEVNULL)
        listener.close()
        self.addCleanup(self.end)

    def end(self):
        self.server.kill()
        self.server.wait(timeout=20)

    def relay(self):
        """A process and the channel to it."""
        ours, theirs = socket.socketpair()
        process = subprocess.Popen([sys.executable, "-S", RELAY, sys.executable, "-m", "ridgeline_infer"], cwd=self.folder.name,
                                   env=dict(self.environment, RIDGELINE_CHANNEL_FD=str(theirs.fileno())),
                                   pass_fds=[theirs.fileno()], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        theirs.close()
        self.addCleanup(process.stdout.close)
        self.addCleanup(ours.close)
        return process, ours

    def ask(self, channel, **request):
        channel.sendall((json.dumps(request) + "\n").encode())
        data = b""
        while not data.endswith(b"\n"):
            piece = channel.recv(1 << 16)
            if not piece:
                return None
            data += piece
        return json.loads(data)

    def prepared(self):
        process, channel = self.relay()
        answer = self.ask(channel, op="prepare", target="infer.py:make", settings={"grad_mode": "no_grad"})
        self.assertIn("ok", answer)
        return process, channel, answer["ok"]["pid"]

    def test_each_trial_is_a_process_and_the_file_is_loaded_once(self):
        self.write(LOADED)
        self.start()
        seen = set()
        for _ in range(2):
            process, channel, pid = self.prepared()
            self.assertEqual(len(self.ask(channel, op="call", count=3)["ok"]["ns"]), 3)
            self.assertEqual(self.ask(channel, op="close"), {"ok": {}})
            self.assertEqual(process.wait(timeout=20), 0)
            self.assertEqual(process.stdout.read().decode().split(), ["loaded", "by", str(self.server.pid), "made", "by", str(pid)])
            seen.add(pid)
        self.assertEqual(len(seen), 2)

    def test_a_file_sees_no_arguments_of_the_server(self):
        self.write("import sys\nif len(sys.argv) > 1:\n    raise ValueError('arguments: %s' % sys.argv)\n" + LOADED)
        self.start()
        process, channel, _ = self.prepared()
        self.ask(channel, op="close")
        process.wait(timeout=20)
        self.assertIn("loaded by %d " % self.server.pid, process.stdout.read().decode())

    def test_a_relay_ends_as_its_process_does(self):
        self.write(LOADED)
        self.start()
        for number in (signal.SIGKILL, signal.SIGABRT):
            process, _, pid = self.prepared()
            os.kill(pid, number)
            self.assertEqual(process.wait(timeout=20), -number)

    def gone(self, pid):
        for _ in range(500):
            if not os.path.exists("/proc/%d" % pid):
                return True
            time.sleep(0.02)
        return False

    def test_what_ends_the_relay_or_the_server_ends_the_process(self):
        self.write(LOADED)
        self.start()
        process, _, pid = self.prepared()
        process.kill()
        process.wait()
        self.assertTrue(self.gone(pid))
        process, _, pid = self.prepared()
        self.server.kill()
        self.server.wait()
        self.assertEqual(process.wait(timeout=20), -signal.SIGKILL)
        self.assertTrue(self.gone(pid))

    def test_a_file_that_leaves_threads_behind_is_loaded_by_each_trial(self):
        self.write(LOADED.replace("def make", "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\ndef make"))
        self.start()
        process, channel, pid = self.prepared()
        self.ask(channel, op="close")
        process.wait(timeout=20)
        self.assertEqual(process.stdout.read().decode().split()[2], str(pid))

    def test_threads_of_fork_safe_libraries_do_not_count(self):
        with open(os.path.join(self.folder.name, "pandas.py"), "w") as file:
            file.write("import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n")
        self.write(LOADED.replace("def make", "import pandas\ndef make"))
        self.start()
        process, channel, _ = self.prepared()
        self.ask(channel, op="close")
        process.wait(timeout=20)
        self.assertEqual(process.stdout.read().decode().split()[2], str(self.server.pid))

    @unittest.skipUnless(hasattr(torch._C, "_cuda_getDeviceCount"), "torch is built without CUDA")
    def test_what_asks_for_gpus_while_it_is_imported_does_not_start_cuda(self):
        code = ("import os, sys, torch\nfrom ridgeline_worker import cuda_in_forks\n"
                "with cuda_in_forks.not_started():\n    import torch._inductor.compile_fx\n    torch.cuda.is_available()\n"
                "child = os.fork()\nif child == 0: os._exit(int(torch.cuda._is_in_bad_fork()))\n"
                "sys.exit(os.waitpid(child, 0)[1])\n")
        self.assertEqual(subprocess.call([sys.executable, "-c", code], env=self.environment), 0)

    def test_variables_that_the_file_sets_are_there_in_each_trial(self):
        self.write("import os\nos.environ['OF_THE_FILE'] = 'set'\nos.environ.pop('OF_THE_USER')\n" +
                   LOADED.replace("    print(", "    print(os.environ.get('OF_THE_FILE'), os.environ.get('OF_THE_USER'), "))
        self.environment["OF_THE_USER"] = "set"
        self.start()
        process, channel, _ = self.prepared()
        self.ask(channel, op="close")
        process.wait(timeout=20)
        self.assertEqual(process.stdout.read().decode().split()[:2], ["set", "None"])

    def test_a_file_that_fails_is_the_trials_failure(self):
        self.write("raise ValueError('boom')\n")
        self.start()
        process, channel = self.relay()
        answer = self.ask(channel, op="prepare", target="infer.py:make", settings={})
        self.assertIn("boom", answer["error"]["message"])
        self.ask(channel, op="close")
        process.wait(timeout=20)

    def test_without_a_server_the_relay_becomes_the_command(self):
        self.write(LOADED)
        self.environment["RIDGELINE_FORK_SERVER"] = os.path.join(self.folder.name, "none")
        process, channel, pid = self.prepared()
        self.assertEqual(pid, process.pid)
        self.ask(channel, op="close")
        self.assertEqual(process.wait(timeout=20), 0)


if __name__ == "__main__":
    unittest.main()
