#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does compiling in the background bend what is timed meanwhile? Drives python/ridgeline_infer/fork_server.py as a worker of
`ridgeline tune --python` does, on this host's GPU.

    benchmarks/ahead_disturbance.py benchmarks/models/torch_models.py:swin_tiny [--pairs 20] [--jobs 3] [--json OUT.json]

One trial (eager in a CUDA graph) is timed in pairs of windows of 0.4 s: one with nothing else in the machine, one after models have been
compiled from empty caches for 3 to 12 s; which of them comes first alternates. The trial goes on between the windows of both kinds, as a
run does not rest: a GPU and a CPU that wake up are slower for a while. Each window holds a lease, as a worker does. Prints the median
ratio of the pairs with its 95 % interval, and what the compiling processes did between the two ends of the windows: CPU time in ticks,
and how many of them were not stopped. With --no-lease nothing is stopped, which shows what the lease is for."""
import argparse
import json
import math
import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PACKAGES = pathlib.Path(__file__).resolve().parent.parent / "python"
CALLS = {"allow_tf32": True, "cudnn_benchmark": True, "grad_mode": "inference_mode"}
EAGER = dict(CALLS, cuda_graph=True)
COMPILED = [dict(EAGER, torch_compile="default", compile_freezing=True), dict(EAGER, torch_compile="default"),
            dict(CALLS, torch_compile="reduce-overhead"), dict(EAGER, torch_compile="default", channels_last=True)]
WARM_UP_S, WINDOW_S, ALONE_S, DRAIN_S = 0.4, 0.4, 1.5, 0.12  # the last as execute::StandStill has it
COMPILED_FOR_S = (3, 6, 9, 12)  # from starting processes to Triton's and Inductor's work


def asked(channel, **request):
    channel.sendall((json.dumps(request) + "\n").encode())
    data = b""
    while not data.endswith(b"\n"):
        piece = channel.recv(1 << 16)
        if not piece:
            raise SystemExit("no answer to %r" % request.get("op"))
        data += piece
    return json.loads(data)


class Server:
    def __init__(self, target, folder):
        self.target, self.folder = target, folder
        self.path = os.path.join(folder, "fork")
        self.environment = dict(os.environ, PYTHONPATH=str(PACKAGES), PYTHONUNBUFFERED="1", RIDGELINE_FORK_SERVER=self.path)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(self.path)
        listener.listen(8)
        self.process = subprocess.Popen([sys.executable, "-m", "ridgeline_infer.fork_server", target], pass_fds=[listener.fileno()],
                                        env=dict(self.environment, RIDGELINE_FORK_FD=str(listener.fileno())), stdin=subprocess.DEVNULL)
        listener.close()

    def say(self, **request):
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(self.path)
        return connection, asked(connection, **request)

    def prepare(self, settings):
        return {"op": "prepare", "target": self.target, "settings": settings, "io": "device", "seed": 1}

    def compile(self, several):
        jobs = []
        for at, settings in enumerate(several):
            cache = tempfile.mkdtemp(dir=self.folder)
            jobs.append({"key": str(at), "folder": os.getcwd(), "request": self.prepare(settings),
                         "environment": dict(self.environment, TORCHINDUCTOR_CACHE_DIR=cache, TRITON_CACHE_DIR=cache + "/triton")})
        return self.say(op="ahead", jobs=jobs, most=len(jobs))[1]

    def trial(self):
        ours, theirs = socket.socketpair()
        relay = str(PACKAGES / "ridgeline_infer" / "fork_relay.py")
        self.relay = subprocess.Popen([sys.executable, "-S", relay, sys.executable, "-m", "ridgeline_infer"], pass_fds=[theirs.fileno()],
                                      env=dict(self.environment, RIDGELINE_CHANNEL_FD=str(theirs.fileno())))
        theirs.close()
        answer = asked(ours, **self.prepare(EAGER))
        if "ok" not in answer:
            raise SystemExit("the trial failed: %s" % answer)
        self.trial_pid = answer["ok"]["pid"]
        return ours

    def compiling(self):
        """{process: (stopped, CPU ticks)} of what the server has made but the trial, with all that these started."""
        parents, facts = {}, {}
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/stat" % name) as file:
                    words = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            parents[int(name)] = int(words[1])
            facts[int(name)] = (words[0] in "tTZX", int(words[11]) + int(words[12]))
        known = {process for process, parent in parents.items() if parent == self.process.pid and process != self.trial_pid}
        grown = True
        while grown:
            found = {process for process, parent in parents.items() if parent in known} - known
            known |= found
            grown = bool(found)
        return {process: facts[process] for process in known}


def timed(channel, seconds):
    end, times = time.monotonic() + seconds, []
    while time.monotonic() < end:
        times += asked(channel, op="call", count=20)["ok"]["ns"]
    return times


def window(server, channel, leases):
    """(median of a call in ns, processes beside it, of these not stopped, CPU ticks of these)"""
    lease = None
    if leases:
        lease, answer = server.say(op="lease")
        if answer["was_busy"]:
            time.sleep(DRAIN_S)
    timed(channel, WARM_UP_S)  # as every trial does: clocks fall while a GPU waits
    before = server.compiling()
    times = timed(channel, WINDOW_S)
    after = server.compiling()
    if lease:
        lease.close()
    moving = sum(not stopped for stopped, _ in after.values())
    ticks = sum(facts[1] - before[process][1] for process, facts in after.items() if process in before)
    return statistics.median(times), len(after), moving, ticks


def interval(alone, beside):
    """The median ratio of the pairs and its distribution-free interval of at least 95 % (order statistics, binomial)."""
    ratios = sorted(second / first for first, second in zip(alone, beside))
    count, outside, at = len(ratios), 0.0, -1
    while True:
        outside += 2 * math.comb(count, at + 1) / 2 ** count
        if outside > 0.05:
            break
        at += 1
    if at < 0:
        raise SystemExit("error: %d pairs are too few for a 95 %% interval; six or more give one" % count)
    return statistics.median(ratios), ratios[at], ratios[count - 1 - at]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", metavar="FILE.py:FUNCTION")
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=3, choices=range(1, len(COMPILED) + 1))
    parser.add_argument("--no-lease", action="store_true")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(options.target, folder)
        try:
            channel = server.trial()
            seen, states = {"alone": [], "beside": []}, []
            window(server, channel, not options.no_lease)  # warms up

            def take(kind, at):
                if kind == "beside":
                    server.compile(COMPILED[:options.jobs])
                timed(channel, COMPILED_FOR_S[at % len(COMPILED_FOR_S)] if kind == "beside" else ALONE_S)
                seen[kind].append(window(server, channel, not options.no_lease))
                if kind == "beside":
                    states.append(server.say(op="states")[1])
                    server.compile([])

            for at in range(options.pairs):
                for kind in ("alone", "beside") if at % 2 == 0 else ("beside", "alone"):
                    take(kind, at)
        finally:
            server.process.kill()
    ratio, low, high = interval(*[[one[0] for one in seen[kind]] for kind in ("alone", "beside")])
    result = {"target": options.target, "lease": not options.no_lease, "pairs": options.pairs, "ratio": ratio, "low": low, "high": high,
              "median_alone_ns": statistics.median(one[0] for one in seen["alone"]), "alone_ns": [one[0] for one in seen["alone"]],
              "beside_ns": [one[0] for one in seen["beside"]], "compiled_before": sum("ready" in state.values() for state in states),
              "processes": max(one[1] for one in seen["beside"]), "left_over": max(one[1] for one in seen["alone"]),
              "not_stopped": sum(one[2] for one in seen["beside"]), "cpu_ticks_in_windows": sum(one[3] for one in seen["beside"])}
    print("%(target)s: median ratio of %(pairs)d pairs, beside compiling / alone: %(ratio).4f [%(low).4f, %(high).4f]; %(processes)d processes "
          "beside it at most, not stopped in %(not_stopped)d cases, %(cpu_ticks_in_windows)d CPU ticks of theirs in all windows; alone "
          "%(left_over)d processes at most; something was compiled before the window in %(compiled_before)d pairs" % result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
