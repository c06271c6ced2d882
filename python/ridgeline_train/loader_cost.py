# SPDX-License-Identifier: Apache-2.0
"""CPU time and memory of this process and of the loader's workers, from /proc."""

import os
import time

from ridgeline_worker import forking, processes

try:
    _TICKS = os.sysconf("SC_CLK_TCK")
except (AttributeError, ValueError):
    _TICKS = 100


def worker_pids(iterator):
    """Of torch's own DataLoader; other loaders are not known."""
    return [worker.pid for worker in getattr(iterator, "_workers", []) or [] if getattr(worker, "pid", None)]


def _waited_seconds(pid):
    """Time that its threads were ready to run and no CPU was free. 0 where the kernel does not count it."""
    total = 0
    try:
        for thread in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/schedstat" % (pid, thread)) as file:
                total += int(file.read().split()[1])
    except (OSError, IndexError, ValueError):
        pass
    return total / 1e9


def own_waited_seconds():
    """The same, of the thread that asks."""
    try:
        with open("/proc/thread-self/schedstat") as file:
            return int(file.read().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


class StepWork:
    """CPU time of this thread and of the process's other threads from now on, and the time that this thread stood in line
    for a CPU: on a busy machine it would hide a wait."""

    def __init__(self):
        self.begin = self._now()

    @staticmethod
    def _now():
        return time.thread_time(), time.process_time(), own_waited_seconds()

    def since(self):
        thread, process, in_line = (now - then for now, then in zip(self._now(), self.begin))
        return thread, max(0.0, process - thread), in_line


def cpu_seconds(pids):
    """CPU time that they used, and that they would have used had others not been on the CPUs: both are work to do."""
    total = 0.0
    for pid in pids:
        total += _waited_seconds(pid)
        try:
            with open("/proc/%d/stat" % pid) as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        total += (int(fields[11]) + int(fields[12])) / _TICKS
    return total


def reset_peak():
    """The kernel may refuse: the peak then covers the process's whole life."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
    except OSError:
        pass


def peak_gb(pids):
    """High-water mark of this process and its workers, in 1e9 bytes; with the pages of libraries that were read before this process was
    forked, which it would have read itself as a new process."""
    unread = max(0, forking.read_before_kb - processes.status_kb("self", "RssFile:"))
    kilobytes = processes.status_kb("self", "VmHWM:") + unread + sum(processes.status_kb(pid, "VmHWM:") for pid in pids)
    return kilobytes * 1024 / 1e9


def _rollup_kb(pid, keys):
    with open("/proc/%s/smaps_rollup" % pid) as file:
        return sum(int(line.split()[1]) for line in file if line.startswith(keys))


def private_gb(pids):
    """Memory that each of them has to itself, together; None where the kernel does not tell."""
    try:
        return sum(_rollup_kb(pid, ("Private_Clean:", "Private_Dirty:")) for pid in pids) * 1024 / 1e9
    except (OSError, IndexError, ValueError):
        return None


def written_gb():
    """What a fork of this process may come to copy; None where the kernel does not report it."""
    try:
        return _rollup_kb("self", ("Private_Dirty:", "Shared_Dirty:")) * 1024 / 1e9
    except (OSError, IndexError, ValueError):
        return None


def available_gb():
    """What can still be taken: of the machine's memory, or of its control group's where that is less."""
    free = None
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    free = int(line.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        return None
    for folder, limit, used, cache in (("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
                                       ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")):
        try:
            with open(folder + "/" + limit) as most, open(folder + "/" + used) as now, open(folder + "/memory.stat") as stat:
                kept = [int(line.split()[1]) for line in stat if line.startswith(cache + " ")]
                left = int(most.read()) - int(now.read()) + sum(kept)  # pages of files give way
        except (OSError, IndexError, ValueError):  # "max": no limit
            continue
        free = left if free is None else min(free, left)
    return free / 1e9 if free is not None else None


def host_memory_gb():
    """What this process may use: the machine's memory, or its control group's when that is less."""
    total = 0
    try:
        with open("/proc/meminfo") as file:
            for line in file:
                if line.startswith("MemTotal:"):
                    total = int(line.split()[1]) * 1024
                    break
    except OSError:
        return None
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path) as file:
                text = file.read().strip()
        except OSError:
            continue
        if text.isdigit():
            total = min(total, int(text))
    return total / 1e9 if total else None
