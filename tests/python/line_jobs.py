# SPDX-License-Identifier: Apache-2.0
"""Programs that compare the line that the recording library reads with the one that runs: line_jobs.py NAME. As CUDA's libraries do, the
library is called by C code that has given up Python's lock."""
import asyncio
import concurrent.futures
import contextlib
import ctypes
import functools
import os
import sys
import tempfile
import threading

import torch
from torch import nn

torch.set_num_threads(1)
SIZE = 4096
_line = None
if "RIDGELINE_TRACE_LIBRARY" in os.environ:
    _line = ctypes.CDLL(os.environ["RIDGELINE_TRACE_LIBRARY"]).ridgeline_trace_line
FILE = os.path.basename(__file__)
texts = {}  # by thread
results = []


def buffer():
    return texts.setdefault(threading.get_ident(), ctypes.create_string_buffer(SIZE))


def seen(found, text, expected=None):
    """To be called on the line that launched."""
    if expected is None:
        frame = sys._getframe(1)
        expected = "%s(%d): %s" % (FILE, frame.f_lineno, frame.f_code.co_name)
    got = text.value.decode() if found else ""
    results.append("right" if got == expected else "wrong: %s, not %s" % (got, expected))


class Launching(nn.Module):
    def forward(self, x):
        text = buffer()
        seen(_line(text, SIZE), text)
        return self.helper(x + 1)

    def helper(self, x):
        text = buffer()
        y = 5

        seen(_line(text, SIZE),
             text)
        return x * y


def functions():
    text = buffer()
    seen(_line(text, SIZE), text)
    for _ in range(3):
        seen(_line(text, SIZE), text); seen(_line(text, SIZE), text)
    (lambda: seen(_line(text, SIZE), text))()
    [seen(_line(text, SIZE), text) for _ in range(2)]
    sorted([2, 1], key=lambda one: seen(_line(text, SIZE), text) or one)
    functools.partial(lambda: seen(_line(text, SIZE), text))()


def modules():
    model = nn.Sequential(Launching(), nn.Linear(3, 3), nn.Sequential(Launching()))
    model(torch.ones(2, 3))
    model[0].register_forward_hook(lambda *_: seen(_line(buffer(), SIZE), buffer()))
    model(torch.ones(2, 3)).sum().backward()


def generators():
    def some():
        text = buffer()
        seen(_line(text, SIZE), text)
        yield 1
        seen(_line(text, SIZE), text)
        yield from (seen(_line(text, SIZE), text) for _ in range(2))

    text = buffer()
    for _ in some():
        seen(_line(text, SIZE), text)
    left = some()
    next(left)
    del left
    seen(_line(text, SIZE), text)

    async def waits(number):
        seen(_line(text, SIZE), text)
        await asyncio.sleep(0)
        seen(_line(text, SIZE), text)
        return number

    async def all_of_them():
        await asyncio.gather(*(waits(i) for i in range(3)))
        seen(_line(text, SIZE), text)

    asyncio.run(all_of_them())


def exceptions():
    text = buffer()

    def fails(depth):
        if depth == 0:
            seen(_line(text, SIZE), text)
            raise ValueError
        try:
            fails(depth - 1)
        finally:
            seen(_line(text, SIZE), text)

    for _ in range(3):
        with contextlib.suppress(ValueError):
            fails(5)
        try:
            raise KeyError
        except KeyError:
            seen(_line(text, SIZE), text)
        seen(_line(text, SIZE), text)

    def recurses(depth):
        if depth == 0:
            seen(_line(text, SIZE), text)
        return depth and recurses(depth - 1)

    recurses(800)
    with contextlib.suppress(RecursionError):
        recurses(10**9)
    seen(_line(text, SIZE), text)


def threads():
    def run():
        text = buffer()
        for _ in range(200):
            seen(_line(text, SIZE), text)

    all_threads = [threading.Thread(target=run) for _ in range(8)]
    for one in all_threads:
        one.start()
    for one in all_threads:
        one.join()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda _: seen(_line(buffer(), SIZE), buffer()), range(4)))


def made_code():
    """Code objects that come and go, at the same addresses."""
    for i in range(3000):
        lines = {}
        source = "\n" * (i % 7) + "def made():\n    seen(_line(buffer(), SIZE), buffer(), '/made%d.py(%d): made')\n" % (i % 5, i % 7 + 2)
        exec(compile(source, "/made%d.py" % (i % 5), "exec"), {**globals()}, lines)
        lines["made"]()
        del lines
    # That of no file is part of who calls it.
    line = sys._getframe().f_lineno + 1
    exec("seen(_line(buffer(), SIZE), buffer(), '%s(%d): made_code')" % (FILE, line))
    # Not written in ASCII: nothing is better than something wrong.
    exec(compile("seen(_line(buffer(), SIZE), buffer(), '')", "/caf\xe9.py", "exec"))


def libraries():
    """Installed ones count, Python's own and torch do not."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "site-packages", "some")
        os.makedirs(path)
        with open(os.path.join(path, "library.py"), "w") as file:
            file.write("def calls(function):\n    return function()\n\n\ndef launches(line, text, size, seen):\n"
                       "    seen(line(text, size), text, 'some/library.py(6): launches')\n")
        sys.path.insert(0, os.path.dirname(path))
        from some import library
        full = os.path.join(os.path.dirname(path), "some", "library.py")
        library.launches(_line, buffer(), SIZE, lambda found, text, expected: seen(found, text, full + "(6): launches"))
        library.calls(lambda: seen(_line(buffer(), SIZE), buffer()))


def backward():
    class Own(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen(_line(buffer(), SIZE), buffer())
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            seen(_line(buffer(), SIZE), buffer())
            return gradient * 2

    x = torch.ones(3, requires_grad=True)
    Own.apply(x).sum().backward()


def compiled():
    """The line of compiled code is the one that calls it."""
    text = buffer()

    @torch.compiler.disable
    def outside(x):
        seen(_line(text, SIZE), text)
        return x

    class Compiled(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x):
            x = torch.relu(self.linear(x))
            x = outside(x)
            return x.sin() + 1

    def backend(graph, _):
        def run(*arguments):
            print("graph")
            return graph(*arguments)

        return run

    net = Compiled()
    print(torch._dynamo.explain(net)(torch.ones(2, 3)).graph_break_count)
    model = torch.compile(net, backend=backend)
    for _ in range(3):
        print(model(torch.ones(2, 3)).shape)
        seen(_line(text, SIZE), text)


def forks():
    text = buffer()
    seen(_line(text, SIZE), text)
    child = os.fork()
    if child == 0:
        seen(_line(text, SIZE), text)
        os.write(1, (results[-1] + "\n").encode())
        os._exit(0)
    os.waitpid(child, 0)


def traced():
    """With a debugger's and a profiler's functions."""
    text = buffer()
    calls = []

    def trace(frame, event, argument):
        calls.append((frame.f_code.co_name, event))
        return trace

    def run():
        seen(_line(text, SIZE), text)
        seen(_line(text, SIZE), text)

    sys.settrace(trace)
    run()
    sys.settrace(None)
    sys.setprofile(lambda *_: None)
    run()
    sys.setprofile(None)
    print([event for name, event in calls if name == "run"])


if __name__ == "__main__":
    if _line is None:  # without hooks there is nothing to be right about
        def _line(text, size):
            return 0

        def seen(*_):
            results.append("right")
    globals()[sys.argv[1]]()
    print("\n".join(results))
