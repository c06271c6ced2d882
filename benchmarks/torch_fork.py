# SPDX-License-Identifier: Apache-2.0
"""Processes of benchmarks/torch_loop.py that need not import torch and the model's file again: forks of the loop itself, which starts
no CUDA."""
import os
import sys

import torch_candidate


def gpus():
    """How many GPUs this process may use, without asking CUDA."""
    found = sum(name[:6] == "nvidia" and name[6:].isdigit() for name in os.listdir("/dev"))
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    return found if shown is None else min(found, sum(1 for each in shown.split(",") if each.strip()))


def preload(target, environment):
    """Imports as much of what forks need as leaves CUDA alone; `target`: FILE.py:FUNCTION. Whether forks of this process can use
    CUDA. Threads do not count: those of numpy, scipy and Arrow, which files with models import, bear forks."""
    # Read when torch and its compiler are imported; the second, so that asking for a GPU does not start CUDA.
    os.environ.update(environment, PYTORCH_NVML_BASED_CUDA_CHECK="1")
    for parts in (("torch", "file", "compiler"), ("torch", "file"), ("torch",)):
        process = os.fork()  # what is imported stays, so another process tries it
        if process == 0:
            try:
                import_parts(parts, target)
                os._exit(0 if is_clean() else 1)
            finally:
                os._exit(1)
        if os.waitpid(process, 0)[1] == 0:
            import_parts(parts, target)
            return is_clean()
    return False


def import_parts(parts, target):
    import torch

    asked = getattr(torch._C, "_cuda_getDeviceCount", None)
    if asked:  # some imports ask past NVML, and the question starts CUDA
        torch._C._cuda_getDeviceCount = gpus
    if "file" in parts:
        torch_candidate.load(target)
    if "compiler" in parts:
        for name in ("torch._dynamo", "torch._inductor.compile_fx", "torch._functorch.aot_autograd"):
            __import__(name)
    if asked:
        torch._C._cuda_getDeviceCount = asked


def is_clean():
    """Whether nothing has started CUDA in this process."""
    import torch

    opened = [os.readlink(f"/proc/self/fd/{name}") for name in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{name}")]
    return not torch.cuda.is_initialized() and not any(path.startswith("/dev/nvidia-uvm") for path in opened)


class Forked:
    """What torch_loop.Child needs of subprocess.Popen."""

    def __init__(self, job, environment, packages, words, prepare):
        read_jobs, write_jobs = os.pipe()
        read_answers, write_answers = os.pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid, self.status = os.fork(), None
        if self.pid == 0:
            try:
                os.setsid()
                prepare()
                for number, place in ((read_jobs, 0), (write_answers, 1), (words.fileno(), 2)):
                    os.dup2(number, place)
                os.environ.update(environment)
                if packages:
                    sys.path.insert(0, packages)
                torch_candidate.child(job)
            finally:
                os._exit(0)
        os.close(read_jobs)
        os.close(write_answers)
        self.stdin, self.stdout = os.fdopen(write_jobs, "wb"), os.fdopen(read_answers, "rb")

    def wait(self):
        """As Popen's: the exit code, or minus the signal's number."""
        if self.status is None:
            status = os.waitpid(self.pid, 0)[1]
            self.status = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return self.status
