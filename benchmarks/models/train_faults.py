# SPDX-License-Identifier: Apache-2.0
"""Training set-ups that have one known fault each, for benchmarks/training_faults.py. Real tensors, loaders and steps of
PyTorch; what is wrong is said by options (--option NAME=VALUE), all of them 0 or off unless given:

data    shape=3x224x224   a sample's form                      source=items    a DataLoader over single samples (default)
        read_us           wait for a storage that serves                ram     batches that lie ready in memory
                          one reader at a time, a sample       wait_us         wait of each reader for itself, a sample
        decode_kb         zlib data to unpack, a sample        burners         threads beside each worker that never rest
        transform_ms      a transform that takes so long
model   model=mlp layers hidden | conv blocks width | wave rounds | streams layers spread
        tf32=on           TensorFloat-32 in products           optimizer=sgd, or loop: one tensor after another
        host_kb           zlib data to unpack in the training process, a sample
        fixed_ms, wait_sample_us   waits in forward, a step and a sample
        limit_gb          of the GPU's memory that this process may use
        fail=NAME         something goes wrong, see Failures
"""
import math
import multiprocessing
import os
import signal
import threading
import time
import zlib

import torch
from torch import nn
from torch.utils.data import Dataset, get_worker_info

SAMPLES = 1 << 20  # an epoch is never over in a trial


class Numbers:
    def __init__(self, options):
        self.options = options

    def __call__(self, name, default=0.0):
        return float(self.options.get(name, default))

    def whole(self, name, default=0):
        return int(self.options.get(name, default))


def packed(kilobytes):
    """Data that unpack to so many KiB, about as hard as pictures of real measurements."""
    pattern = bytes((i * i * 7919 + i // 3) % 251 % 61 for i in range(32768))
    return zlib.compress((pattern * (int(kilobytes * 1024) // len(pattern) + 1))[:int(kilobytes * 1024)], 6)


def burn():
    data = bytes(1 << 20)
    while True:
        zlib.crc32(data)  # without the interpreter's lock


class SlowStep:
    """A transform that takes its time."""

    def __init__(self, milliseconds):
        self.milliseconds = milliseconds

    def __call__(self, sample):
        time.sleep(self.milliseconds / 1e3)
        return sample


def quick_step(sample):
    return sample


class Chain:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, sample):
        for transform in self.transforms:
            sample = transform(sample)
        return sample


class Samples(Dataset):
    def __init__(self, settings):
        number = Numbers(settings.options)
        self.shape = [int(one) for one in str(settings.options.get("shape", "64")).split("x")]
        self.stock = torch.rand([16] + self.shape)
        self.read_s = number("read_us") / 1e6
        self.wait_s = number("wait_us") / 1e6
        self.storage = multiprocessing.Lock()
        self.packed = packed(number("decode_kb")) if number("decode_kb") else None
        self.burners = number.whole("burners")
        self.transform = Chain([quick_step, SlowStep(number("transform_ms"))]) if number("transform_ms") else None

    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        if self.burners and get_worker_info() is not None:
            for _ in range(self.burners):
                threading.Thread(target=burn, daemon=True).start()
            self.burners = 0
        if self.read_s:
            with self.storage:
                time.sleep(self.read_s)
        if self.wait_s:
            time.sleep(self.wait_s)
        if self.packed:
            zlib.decompress(self.packed)
        sample = self.stock[index % len(self.stock)]
        if self.transform:
            sample = self.transform(sample)
        return sample, index % 10


class Ready:
    """Two batches in memory, in turn, without end."""

    def __init__(self, samples, settings):
        count = settings.batch
        whole = samples.stock[torch.arange(count) % len(samples.stock)]
        self.batches = [(whole.clone(), torch.arange(count) % 10) for _ in range(2)]
        if settings.pin_memory:
            self.batches = [(data.pin_memory(), target.pin_memory()) for data, target in self.batches]

    def __iter__(self):
        while True:
            yield from self.batches


class Mlp(nn.Sequential):
    def __init__(self, inputs, layers, hidden, device):
        parts = [nn.Flatten(), nn.Linear(inputs, hidden, device=device)]
        for _ in range(layers):
            parts += [nn.ReLU(), nn.Linear(hidden, hidden, device=device)]
        super().__init__(*parts, nn.Linear(hidden, 10, device=device))


class Conv(nn.Sequential):
    def __init__(self, channels, blocks, width, device):
        parts = [nn.Conv2d(channels, width, 3, padding=1, device=device)]
        for _ in range(blocks):
            parts += [nn.ReLU(), nn.Conv2d(width, width, 3, padding=1, device=device)]
        super().__init__(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(width, 10, device=device))


class Wave(nn.Module):
    """Element by element over the whole sample, again and again: no product that mixed precision would speed up."""

    def __init__(self, rounds, device):
        super().__init__()
        self.rounds = rounds
        self.head = nn.Linear(1, 10, device=device)

    def forward(self, data):
        with torch.no_grad():
            data = data.clone()
            for _ in range(self.rounds):
                data.sin_()
        return self.head(data.flatten(1).mean(1, keepdim=True))


class Streams(nn.Module):
    """Every other step on another stream: what one stream's steps leave in the allocator is of no use to the other's."""

    def __init__(self, inputs, layers, spread, device):
        super().__init__()
        self.layers, self.spread = layers, spread
        self.streams = [torch.cuda.Stream(device) for _ in range(2)]
        self.turn = 0
        self.head = nn.Linear(inputs, 10, device=device)

    def forward(self, data):
        ours = torch.cuda.current_stream()
        stream = self.streams[self.turn % 2]
        self.turn += 1
        stream.wait_stream(ours)
        with torch.cuda.stream(stream):
            data = data[:, None, :].repeat(1, self.spread, 1).requires_grad_()
            for _ in range(self.layers):
                data = torch.sin(data)
            out = self.head(data.mean(1))
        ours.wait_stream(stream)
        return out


def make_model(settings, samples):
    number = Numbers(settings.options)
    kind = settings.options.get("model", "mlp")
    device = settings.device
    inputs = math.prod(samples.shape)
    if kind == "mlp":
        return Mlp(inputs, number.whole("layers", 1), number.whole("hidden", 64), device)
    if kind == "conv":
        return Conv(samples.shape[0], number.whole("blocks", 2), number.whole("width", 64), device)
    if kind == "wave":
        return Wave(number.whole("rounds", 10), device)
    if kind == "streams":
        return Streams(inputs, number.whole("layers", 12), number.whole("spread", 1024), device)
    raise ValueError("model=%s: expected mlp, conv, wave or streams" % kind)


def make_optimizer(settings, model):
    if settings.options.get("optimizer") == "loop":
        return torch.optim.Adam(model.parameters(), lr=1e-4, foreach=False)
    return torch.optim.SGD(model.parameters(), lr=1e-4)


def bench(settings):
    number = Numbers(settings.options)
    cuda = settings.device.startswith("cuda")
    if cuda:
        tf32 = settings.options.get("tf32") == "on"
        torch.backends.cuda.matmul.allow_tf32 = tf32
        torch.backends.cudnn.allow_tf32 = tf32
        if number("limit_gb"):
            total = torch.cuda.get_device_properties(settings.device).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, number("limit_gb") * 1e9 / total), settings.device)
    samples = Samples(settings)
    model = make_model(settings, samples)
    lossy = nn.CrossEntropyLoss()
    host = packed(number("host_kb")) if number("host_kb") else None
    fixed_s, sample_s = number("fixed_ms") / 1e3, number("wait_sample_us") / 1e6

    def forward(model, batch):
        data, target = batch
        if host:
            for _ in range(len(data)):
                zlib.decompress(host)
        if fixed_s or sample_s:
            time.sleep(fixed_s + sample_s * len(data))
        return lossy(model(data), target)

    made = dict(model=model, optimizer=make_optimizer(settings, model), forward=forward)
    if settings.options.get("source", "items") == "ram":
        made["loader"] = lambda now: Ready(samples, now)
    else:
        made["dataset"] = samples
    return failing(settings, forward, made) if "fail" in settings.options else made


class Backward(torch.autograd.Function):
    """Does something in the backward pass."""

    @staticmethod
    def forward(ctx, data, act):
        ctx.act = act
        return data.clone()

    @staticmethod
    def backward(ctx, gradient):
        ctx.act()
        return gradient, None


class ActingOptimizer:
    def __init__(self, act):
        self.act = act

    def step(self):
        self.act()

    def zero_grad(self, set_to_none=True):
        pass


class GreedySamples(Dataset):
    def __len__(self):
        return SAMPLES

    def __getitem__(self, index):
        return bytearray(1 << 60)


class Failures:
    """What goes wrong in `fail=NAME`, by names; the first list are shortages of memory, the second are not."""

    MEMORY = {"cpu": ("host_tensor", "host_bytes", "worker_bytes", "host_in_script", "address_space", "wrapped", "in_handler",
                      "bad_alloc"),
              "cuda": ("forward", "backward", "optimizer", "graph", "limit", "pinned", "script", "cublas", "cudnn", "wrapped_device")}
    OTHER = {"cpu": ("value_text", "key_text", "index", "shape", "disk_full", "killed", "segv", "exit", "file_name", "handled_host",
                     "worker_killed"),
             "cuda": ("device_assert", "cuda_range", "handled_device")}

    def __init__(self, settings):
        self.device = settings.device
        self.settings = settings

    def take(self):
        """More than any device has."""
        # A host may promise what it does not have, but no more than can be addressed.
        return torch.empty(1 << (44 if self.device.startswith("cuda") else 60), dtype=torch.uint8, device=self.device)

    def fill(self):
        """All of the device, down to what the driver keeps."""
        held, size = [], 1 << 36
        while size >= 1 << 21:
            try:
                held.append(torch.empty(size, dtype=torch.uint8, device=self.device))
            except RuntimeError:
                size //= 2
        return held

    # Shortages
    forward = take
    host_tensor = take

    def host_bytes(self):
        bytearray(1 << 60)

    def host_in_script(self):
        @torch.jit.script
        def take(size: int):
            return torch.empty([size, 1 << 40])

        take(1 << 20)

    def address_space(self):
        import resource

        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), resource.RLIM_INFINITY))
        try:
            torch.ones(256 << 20)
        finally:
            resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def bad_alloc(self):
        torch.zeros(1).expand(1 << 60).tolist()

    def wrapped(self):
        try:
            self.host_bytes()
        except MemoryError as error:
            raise ValueError("the step failed") from error

    def in_handler(self):
        try:
            self.host_bytes()
        except MemoryError:
            torch.no_such_function()

    def wrapped_device(self):
        try:
            self.take()
        except RuntimeError as error:
            raise ValueError("the step failed") from error

    def graph(self):
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            self.take()

    def limit(self):
        torch.cuda.set_per_process_memory_fraction(0.01, self.device)
        held = []
        while True:
            held.append(torch.empty(1 << 30, dtype=torch.uint8, device=self.device))

    def pinned(self):
        torch.empty(1 << 44, dtype=torch.uint8, pin_memory=True)

    def script(self):
        @torch.jit.script
        def take(size: int, device: str):
            return torch.empty([size], device=torch.device(device))

        take(1 << 44, self.device)

    def cublas(self):
        data = torch.ones(64, 64, device=self.device)
        held = self.fill()
        with torch.cuda.stream(torch.cuda.Stream(self.device)):
            (data @ data).sum().item()
        del held

    def cudnn(self):
        data, weight = torch.ones(64, 64, 64, 64, device=self.device), torch.ones(64, 64, 3, 3, device=self.device)
        held = self.fill()
        torch.nn.functional.conv2d(data, weight).sum().item()
        del held

    # No shortages
    def value_text(self):
        raise ValueError("out of memory is what this batch would run; CUDA out of memory. Tried to allocate 2.00 GiB")

    def key_text(self):
        return {}["out of memory"]

    def index(self):
        return torch.arange(3)[torch.tensor([7])]

    def shape(self):
        return torch.ones(3, 4) @ torch.ones(3, 4)

    def disk_full(self):
        with open("/dev/full", "w") as file:
            file.write("x")

    def file_name(self):
        open("/nowhere/CUDA out of memory. Tried to allocate/MemoryError")

    def killed(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def segv(self):
        os.kill(os.getpid(), signal.SIGSEGV)

    def exit(self):
        os._exit(3)

    def handled_host(self):
        try:
            self.host_bytes()
        except MemoryError:
            pass
        raise ValueError("the loss is not finite")

    def handled_device(self):
        try:
            self.take()
        except RuntimeError:
            pass
        raise ValueError("the loss is not finite")

    def device_assert(self):
        table = torch.zeros(4, 4, device=self.device)
        table[torch.tensor([1 << 20], device=self.device)].sum().item()

    def cuda_range(self):
        torch.zeros(1, device="cuda:99")


def failing(settings, forward, made):
    """The same with what `fail` names."""
    name = settings.options["fail"]
    failures = Failures(settings)
    made = dict(made)
    if name == "worker_bytes":
        made["dataset"] = GreedySamples()
    elif name == "worker_killed":
        made["dataset"] = KilledSamples()
    elif name == "optimizer":
        made["optimizer"] = ActingOptimizer(failures.take)
    elif name == "backward":
        made["forward"] = lambda model, batch: Backward.apply(forward(model, batch), failures.take)
    else:
        made["forward"] = lambda model, batch: getattr(failures, name)()
    return made


class KilledSamples(GreedySamples):
    def __getitem__(self, index):
        os.kill(os.getpid(), signal.SIGKILL)
