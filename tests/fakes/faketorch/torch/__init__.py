# SPDX-License-Identifier: Apache-2.0
"""As much of torch's interface as ridgeline_train touches, with a pretended GPU whose stream advances a clock of its own:
copies take 1 ms, forward 2 ms, backward 4 ms, the optimizer 1 ms. Tests only; it proves the calls, not PyTorch."""

import contextlib

__version__ = "9.9.fake"
float16, bfloat16, float32 = "float16", "bfloat16", "float32"

now_ms = 0.0        # of the pretended stream
asleep = False      # nothing that was launched runs yet
needed_cycles = 0   # of sleep, for a step's launches to be done in
calls = []          # what was asked for, in order
stats = {"num_alloc_retries": 0, "num_ooms": 0}


def advance(milliseconds):
    global now_ms
    now_ms += milliseconds


class version:
    cuda = "13.0"


class OutOfMemoryError(RuntimeError):
    pass


class AcceleratorError(RuntimeError):
    """With CUDA's number of the error."""

    def __init__(self, text, error_code):
        super().__init__(text)
        self.error_code = error_code


class device:
    def __init__(self, text):
        self.text = str(text)
        self.type, _, index = self.text.partition(":")
        self.index = int(index) if index else None

    def __str__(self):
        return self.text


class Tensor:
    def __init__(self, where="cpu", pinned=False, value=1.0, shape=()):
        self.where, self.pinned, self.value, self.shape = where, pinned, value, shape

    def to(self, where, non_blocking=False):
        calls.append(("to", str(where), non_blocking))
        advance(1)
        return Tensor(str(where), value=self.value, shape=self.shape)

    def pin_memory(self):
        return Tensor(self.where, True, self.value, self.shape)

    def is_pinned(self):
        return self.pinned

    def backward(self):
        advance(4)

    def detach(self):
        return self

    def float(self):
        return self

    def mean(self):
        return self

    def __float__(self):
        return self.value


class Module:
    def to(self, where):
        return self

    def train(self):
        return self

    def __call__(self, batch):
        advance(2)
        return batch


class Optimizer:
    def step(self):
        advance(1)

    def zero_grad(self, set_to_none=False):
        calls.append(("zero_grad", set_to_none))


def manual_seed(seed):
    calls.append(("seed", seed))


@contextlib.contextmanager
def autocast(device_type, dtype):
    calls.append(("autocast", device_type, dtype))
    yield


class amp:
    class GradScaler:
        def __init__(self, where):
            calls.append(("scaler", where))

        def scale(self, loss):
            return loss

        def step(self, optimizer):
            optimizer.step()

        def update(self):
            calls.append(("update",))


class cuda:
    class Event:
        def __init__(self, enable_timing=False):
            assert enable_timing
            self.at = None

        def record(self):
            self.at = now_ms

        def query(self):
            return not asleep or self.at is None

        def elapsed_time(self, other):
            assert ("synchronize",) == calls[-1], "events were read before the device was done"
            return other.at - self.at

    @staticmethod
    def is_available():
        return True

    @staticmethod
    def device_count():
        return 1

    @staticmethod
    def set_device(where):
        pass

    @staticmethod
    def synchronize(where=None):
        global asleep
        asleep = False
        calls.append(("synchronize",))

    @staticmethod
    def _sleep(cycles):
        global asleep
        asleep = cycles >= needed_cycles
        calls.append(("sleep", cycles))

    @staticmethod
    def memory_stats(where=None):
        return dict(stats)

    @staticmethod
    def reset_peak_memory_stats(where=None):
        pass

    @staticmethod
    def max_memory_allocated(where=None):
        return 3_000_000_000

    @staticmethod
    def max_memory_reserved(where=None):
        return 4_000_000_000

    @staticmethod
    def get_device_properties(where=None):
        class Properties:
            total_memory = 80_000_000_000

        return Properties()
