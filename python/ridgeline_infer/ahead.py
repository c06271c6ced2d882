# SPDX-License-Identifier: Apache-2.0
"""Trials that are prepared before their turn: forks that make and compile the model while another trial is prepared or timed, and
then wait for a relay to take them over. Whoever times has them stand still (Lease)."""

import array
import json
import os
import select
import signal
import socket
import tempfile
import time

from ridgeline_worker import cuda_in_forks
from ridgeline_worker.processes import parents

STILL_S = 1.0  # for processes to stand still; longer, and the kernel holds them
TICK_S = 0.0005
NICE = 10
MOST_PRINTED = 1 << 20  # bytes that are kept of what one printed
IS_KEPT = "RIDGELINE_IS_KEPT"  # of the environment of who takes one over
KEPT = b"k"  # sent by a process that has ended what it was taken over for, and waits for the next who takes it over


def with_descendants(roots):
    every, known = parents(), set(roots)
    grown = True
    while grown:
        found = {process for process, parent in every.items() if parent in known} - known
        known |= found
        grown = bool(found)
    return known


def _stands(process):
    try:
        with open("/proc/%d/stat" % process) as file:
            return file.read().rpartition(")")[2].split()[0] in "tTZXx"
    except OSError:
        return True


def stop(roots):
    """Stops them and all that they started; what starts meanwhile as well. The processes that were stopped."""
    stopped, end = set(), time.monotonic() + STILL_S
    while time.monotonic() < end:
        fresh = with_descendants(roots) - stopped
        for process in fresh:
            try:
                os.kill(process, signal.SIGSTOP)
            except OSError:
                pass
        stopped |= fresh
        if not fresh and all(_stands(process) for process in stopped):
            break
        time.sleep(TICK_S)
    return stopped


def go_on(processes):
    for process in processes:
        try:
            os.kill(process, signal.SIGCONT)
        except OSError:
            pass


def _group_priority(value):
    os.setpriority(os.PRIO_PGRP, 0, value)  # of all threads


def can_be_nice():
    """Whether a process that has made itself nice may be as it was again: without the right to it, it would be timed so."""
    process = os.fork()
    if process == 0:
        code = 1
        try:
            os.setsid()
            before = os.getpriority(os.PRIO_PGRP, 0)
            _group_priority(before + NICE)
            _group_priority(before)
            code = 0
        finally:
            os._exit(code)
    return os.waitpid(process, 0)[1] == 0


class Nice:
    """Lowers the priority of this process group until end() restores it, so that what a trial waits for gets the CPUs first."""

    def __init__(self):
        self.before = os.getpriority(os.PRIO_PROCESS, 0)
        _group_priority(min(self.before + NICE, 19))

    def end(self):
        _group_priority(self.before)


class Job:
    """One that is wanted: its process, once it has begun, and how far that is."""

    def __init__(self, wish):
        self.wish = wish  # {"key", "folder", "environment", "request"}, of a program (program_ahead.py) "program" in place of "request"
        self.process = 0
        self.control = None  # a socket: the process reports its state on it and receives the descriptors of the relay that takes it over
        self.state = "waiting"  # then "preparing", then "ready" or "failed"
        self.used = False  # it has been taken over before, and waits for the next

    @property
    def key(self):
        return self.wish["key"]


class Ahead:
    """The server's side. `fork(job)` makes a process that calls serve_ahead and returns its number and the socket to it."""

    def __init__(self, fork):
        self.fork = fork
        self.jobs = []
        self.taken = []  # jobs whose processes come back (KEPT)
        self.kept = set()  # keys of those
        self.ending = []  # processes that were killed
        self.most = 0
        self.leases = []
        self.stopped = set()

    # --- what is wanted ---

    def want(self, wishes, most, kept=()):
        """In this order, at most `most` in preparation at a time; what is not wanted any more ends. A process whose key is one of
        `kept` is not used up by whoever takes it over: it waits for the next one, as it is."""
        self.most, self.kept = most, set(kept)
        left, jobs = list(self.jobs), []
        for wish in wishes:
            known = next((job for job in left if job.key == wish["key"]), None)
            if known:
                left.remove(known)
            jobs.append(known or Job(wish))
        for job in left:
            if job.used and job.key in self.kept:
                jobs.append(job)
            else:
                self._end(job)
        self.jobs = jobs
        self.begin_waiting()

    def begin_waiting(self):
        if self.leases:  # whoever times now is not to be disturbed
            return
        for job in self.jobs:
            if sum(one.state == "preparing" for one in self.jobs) >= self.most:
                return
            if job.state == "waiting":
                job.process, job.control = self.fork(job)
                job.state = "preparing"

    def _end(self, job):
        if not job.process:
            return
        for process in with_descendants([job.process]):
            try:
                os.kill(process, signal.SIGKILL)
            except OSError:
                pass
        job.control.close()
        self.ending.append(job.process)

    def processes(self):
        """All that the server has to wait for."""
        return [job.process for job in self.jobs if job.process] + self.ending

    def ended(self, process):
        """The server has reaped this process. If it died while preparing, its job is dropped: the trial starts a new process, and
        its failure is then reported as usual."""
        self.ending = [one for one in self.ending if one != process]
        for job in [one for one in self.jobs if one.process == process]:
            job.control.close()
            self.jobs.remove(job)
        self.begin_waiting()

    def come_back(self, ready):
        """The processes that have served their trial and wait for the next one."""
        out = []
        for job in [one for one in self.taken if one.control in ready]:
            self.taken.remove(job)
            if job.control.recv(1) != KEPT:
                job.control.close()
                continue
            out.append(job.process)
            if job.key not in self.kept:
                self._end(job)
                continue
            job.state, job.used = "ready", True
            self.jobs.append(job)
            if self.leases:
                self.stopped |= stop([job.process])
        return out

    def forget(self, process):
        """It has ended, and so does not come back."""
        for job in [one for one in self.taken if one.process == process]:
            job.control.close()
            self.taken.remove(job)

    def listen(self, ready):
        for job in self.jobs:
            if job.state == "preparing" and job.control in ready:
                said = job.control.recv(1)
                if said:
                    job.state = "ready" if said == b"r" else "failed"
        self.begin_waiting()

    def sockets(self):
        return [job.control for job in self.jobs if job.state == "preparing"] + [job.control for job in self.taken] + list(self.leases)

    def states(self):
        return {job.key: job.state for job in self.jobs}

    def take(self, key):
        """A process for that trial, which is no longer looked after here; None where there is none."""
        found = [job for job in self.jobs if job.key == key and job.process]
        if not found:
            return None
        job = min(found, key=lambda one: one.state == "preparing")
        self.jobs.remove(job)
        if key in self.kept:
            self.taken.append(job)
        go_on(self.stopped & with_descendants([job.process]))
        return job

    def hand_over(self, job, numbers, environment):
        """Gives its process the output, the channel and the environment of the one that takes it over, and whether it is to come back."""
        fds = array.array("i", numbers)
        job.control.sendmsg([b"t"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])
        job.control.sendall((json.dumps(dict(environment, **{IS_KEPT: str(job in self.taken)})) + "\n").encode())
        if job not in self.taken:
            job.control.close()

    # --- standing still ---

    def lease(self, connection):
        """Until the connection ends all that is prepared stands still."""
        self.leases.append(connection)
        busy = any(job.state == "preparing" for job in self.jobs)
        self.stopped |= stop([job.process for job in self.jobs if job.process])
        there = sum(cuda_in_forks.started(job.process) for job in self.jobs if job.process)
        try:
            connection.sendall((json.dumps({"on_gpu": there, "was_busy": busy}) + "\n").encode())
        except OSError:
            pass

    def look_after_leases(self, ready):
        for connection in [one for one in self.leases if one in ready]:  # says nothing more: it has gone
            connection.close()
            self.leases.remove(connection)
        if not self.leases and self.stopped:
            go_on(self.stopped)
            self.stopped = set()
            self.begin_waiting()


class Output:
    """What the process prints until it is taken over: in a file, as nobody reads a pipe."""

    def __init__(self):
        self.file = tempfile.TemporaryFile()
        for number in (1, 2):
            os.dup2(self.file.fileno(), number)

    def give_to(self, number):
        self.file.seek(0)
        kept = self.file.read(MOST_PRINTED)
        while kept:
            kept = kept[os.write(number, kept):]
        self.file.close()


def wait_for_taker(control):
    """(standard output, standard error and, of a trial, the channel), the environment; None when the server has gone."""
    select.select([control], [], [])
    data, ancillary, _, _ = control.recvmsg(1, socket.CMSG_SPACE(3 * 4))
    if not data:
        return None
    numbers = array.array("i")
    for _, _, content in ancillary:
        numbers.frombytes(content[:len(content) - len(content) % numbers.itemsize])
    with control.makefile("rb") as rest:
        return list(numbers), json.loads(rest.readline())


def is_kept(control):
    """Called in a process that has served its trial: reports that to the server, and returns whether the server keeps the process."""
    try:
        control.sendall(KEPT)
    except OSError:  # it has closed its end
        return False
    return True
