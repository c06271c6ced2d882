# SPDX-License-Identifier: Apache-2.0
"""Programs with one defect each, and healthy ones, that scripts/profile_gpu.sh --part findings records.

    planted_defects.py NAME... [--variant defect|fixed] [--steps 20]
    planted_defects.py --list
Prints the median time of a step in ms, behind the name if there are several: of five parts of the steps, with one wait for the GPU at the
end of each. --list prints one line per program: its name, the rules that may find the defect, and a part of the path of the module that it
is planted in; healthy programs have neither. On a CPU the sizes are small, so that a test can run each of them."""
import argparse
import contextlib
import gc
import itertools
import math
import statistics
import time

import torch
from torch import nn
from torch.nn import functional as F

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WARM_UP = 5
PARTS = 5
HALF = torch.bfloat16


def size(gpu, cpu):
    return gpu if DEVICE == "cuda" else cpu


def random(*shape, dtype=HALF):
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def on_device(model, *arguments, dtype=HALF, **options):
    with torch.device(DEVICE):  # which fills parameters faster than a CPU
        return model(*arguments, **options).to(dtype=dtype).eval()


# ---- parts of models, each with its defect as an option

class TanhGelu(nn.Module):
    def __init__(self, fused):
        super().__init__()
        self.fused = fused

    def forward(self, x):
        if self.fused:
            return F.gelu(x, approximate="tanh")
        return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


class RmsNorm(nn.Module):
    def __init__(self, width, fused):
        super().__init__()
        self.weight, self.fused = nn.Parameter(torch.ones(width)), fused

    def forward(self, x):
        if self.fused:
            return F.rms_norm(x, x.shape[-1:], self.weight, 1e-6)
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


class GlobalNorm(nn.Module):
    """Over all channels and times of a sample, as in Conv-TasNet."""

    def __init__(self, channels, split):
        super().__init__()
        self.norm, self.split = nn.GroupNorm(1, channels), split

    def forward(self, x):
        if not self.split:
            return self.norm(x)
        variance, mean = torch.var_mean(x, dim=2, correction=0)  # a block for each channel
        mean_of_all = mean.mean(1, keepdim=True)
        variance = (variance + (mean - mean_of_all).square()).mean(1, keepdim=True)
        scale = self.norm.weight * torch.rsqrt(variance + self.norm.eps)
        return torch.addcmul((self.norm.bias - mean_of_all * scale).unsqueeze(2), x, scale.unsqueeze(2))


class Attention(nn.Module):
    def __init__(self, width, heads, fused):
        super().__init__()
        self.heads, self.fused = heads, fused
        self.qkv, self.projection = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(x).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        if self.fused:
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
            mixed = scores.softmax(-1) @ v
        return self.projection(mixed.transpose(1, 2).reshape(batch, length, width))


class Block(nn.Module):
    def __init__(self, width, heads=16, attention=True, norm=nn.LayerNorm, act=nn.GELU):
        super().__init__()
        self.norm1, self.norm2 = norm(width), norm(width)
        self.attention = Attention(width, heads, attention)
        self.up, self.act, self.down = nn.Linear(width, 4 * width), act(), nn.Linear(4 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        return x + self.down(self.act(self.up(self.norm2(x))))


class Guarded(nn.Module):
    """A layer behind which values that are too large, or none, are an error."""

    def __init__(self, width, waits):
        super().__init__()
        self.linear, self.act, self.waits = nn.Linear(width, width), nn.GELU(), waits
        self.largest = None

    def forward(self, x):
        x = self.act(self.linear(x))
        self.largest = x.amax()
        if self.waits and not self.largest.item() < 1e6:  # the fixed program looks once per epoch
            raise ArithmeticError("not finite")
        return x


def guarded(width, layers, waits):
    return nn.Sequential(*[Guarded(width, waits) for _ in range(layers)])


class Mlp(nn.Module):
    def __init__(self, width, layers):
        super().__init__()
        self.layers = nn.Sequential(*itertools.chain.from_iterable(
            (nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width)) for _ in range(layers)))

    def forward(self, x):
        return self.layers(x)


class Cnn(nn.Module):
    def __init__(self, width, norm=False):
        super().__init__()
        layers, channels = [nn.Conv2d(3, width, 3, 2, 1, bias=False)], width
        for stage in range(3):
            for depth in range(3):
                wider = 2 * channels if stage and not depth else channels
                layers.append(nn.Conv2d(channels, wider, 3, 2 if wider > channels else 1, 1, bias=False))
                layers += [nn.BatchNorm2d(wider)] if norm else []
                layers.append(nn.ReLU(inplace=True))
                channels = wider
        self.layers, self.head = nn.Sequential(*layers), nn.Linear(channels, 1000)

    def forward(self, x):
        return self.head(self.layers(x).mean((2, 3)))


class Tcn(nn.Module):
    def __init__(self, channels, split):
        super().__init__()
        self.blocks = nn.ModuleList(nn.ModuleDict({"conv": nn.Conv1d(channels, channels, 1), "act": nn.PReLU(),
                                                   "norm": GlobalNorm(channels, split)}) for _ in range(4))

    def forward(self, x):
        for block in self.blocks:
            x = x + block["norm"](block["act"](block["conv"](x)))
        return x


# ---- steps

def inference(model, *inputs):
    def step():
        with torch.no_grad():
            model(*inputs)

    return step


def training(model, batches, optimizer):
    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = model(next(batches)).float().square().mean()
        loss.backward()
        optimizer.step()

    return step


def graph_of(step):
    """The step as a CUDA graph."""
    if DEVICE != "cuda":
        return step
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def compiled(model):
    return torch.compile(model) if DEVICE == "cuda" else model


def blocks(width, layers=4, inputs=None, **options):
    first = [nn.Linear(inputs, width)] if inputs else []
    return nn.Sequential(*first, *[Block(width, **options) for _ in range(layers)])


def linears(width, layers):
    return nn.Sequential(*[nn.Linear(width, width, bias=False) for _ in range(layers)])


def tokens(width, batch, length):
    return random(size(batch, 1), size(length, 8), width)


class SlowSamples(torch.utils.data.Dataset):
    """Each takes a while on the CPU, as decoding and augmenting do."""

    def __init__(self, length, width, seconds):
        self.length, self.width, self.seconds = length, width, seconds

    def __len__(self):
        return 1 << 30

    def __getitem__(self, index):
        end = time.perf_counter() + self.seconds
        sample = torch.empty(self.length, self.width, dtype=HALF).fill_(index % 7 / 7)
        while time.perf_counter() < end:
            pass
        return sample


def loader(dataset, batch, workers):
    options = {"persistent_workers": True, "prefetch_factor": 4} if workers else {}
    return iter(torch.utils.data.DataLoader(dataset, batch_size=batch, num_workers=workers, pin_memory=DEVICE == "cuda", **options))


def moved(batches):
    for batch in batches:
        yield batch.to(DEVICE, non_blocking=True)


# ---- defects: each returns its step

def elementwise_chain(fixed):
    width = size(2048, 32)
    return inference(on_device(blocks, width, act=lambda: TanhGelu(fixed)), tokens(width, 16, 1024))


def unfused_attention(fixed):
    width = size(1024, 32)
    return inference(on_device(blocks, width, attention=fixed), tokens(width, 8, 2048))


def layout(fixed):
    model, x = on_device(Cnn, size(64, 4)), random(size(128, 1), 3, size(112, 16), size(112, 16))
    if fixed:
        model, x = (one.to(memory_format=torch.channels_last) for one in (model, x))
    return inference(model, x)


def fp32_gemm(fixed):
    torch.set_float32_matmul_precision("high" if fixed else "highest")
    width = size(4096, 16)
    return inference(on_device(Mlp, width, 2, dtype=torch.float32), random(size(4096, 4), width, dtype=torch.float32))


def half_precision(fixed):
    torch.set_float32_matmul_precision("high")
    width, dtype = size(4096, 16), HALF if fixed else torch.float32
    return inference(on_device(Mlp, width, 2, dtype=dtype), random(size(8192, 4), width, dtype=dtype))


def launch_bound(fixed):
    step = inference(on_device(blocks, 256, size(24, 2), heads=4), random(1, 32, 256))
    return graph_of(step) if fixed else step


def sync_per_layer(fixed):
    width = size(2048, 32)
    return inference(on_device(guarded, width, size(16, 2), waits=not fixed), tokens(width, 4, 1024))


def pageable_copy(fixed):
    model = on_device(Cnn, size(64, 4)).to(memory_format=torch.channels_last)
    batch = torch.randn(size(256, 1), 3, size(224, 16), size(224, 16))
    if DEVICE != "cuda" or not fixed:
        def step():
            with torch.no_grad():
                model(batch.to(DEVICE).to(HALF, memory_format=torch.channels_last))

        return step
    batch = batch.pin_memory()
    copies = torch.cuda.Stream()
    ahead = []

    def fetch():
        copies.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(copies):
            ahead.append(batch.to(DEVICE, non_blocking=True))

    def prefetching():
        if not ahead:
            fetch()
        torch.cuda.current_stream().wait_stream(copies)
        x = ahead.pop()
        x.record_stream(torch.cuda.current_stream())
        fetch()
        with torch.no_grad():
            model(x.to(HALF, memory_format=torch.channels_last))

    return prefetching


def slow_loader(fixed):
    width = size(1024, 32)
    model = on_device(blocks, width).train()
    batches = moved(loader(SlowSamples(size(1024, 8), width, size(1e-3, 1e-5)), size(16, 2), 8 if fixed and DEVICE == "cuda" else 0))
    return training(model, batches, torch.optim.AdamW(model.parameters(), lr=1e-5, fused=DEVICE == "cuda"))


def tiny_optimizer(fixed):
    model = on_device(blocks, 128, size(16, 2), heads=4, dtype=torch.float32).train()
    how = {"fused": True} if fixed else {"foreach": False}
    return training(model, itertools.repeat(random(4, 32, 128, dtype=torch.float32)), torch.optim.AdamW(model.parameters(), lr=1e-5, **how))


def norm_by_hand(fixed):
    width = size(1024, 32)
    return inference(on_device(blocks, width, norm=lambda width: RmsNorm(width, fixed)), tokens(width, 32, 1024))


def few_blocks(fixed):
    channels = size(512, 8)
    return inference(on_device(Tcn, channels, split=fixed), random(4, channels, size(8000, 32)))


# ---- healthy programs

def replayed_graph(_):
    width = size(2048, 32)
    return graph_of(inference(compiled(on_device(blocks, width)), tokens(width, 16, 1024)))


def large_gemms(_):
    width = size(8192, 32)
    return inference(on_device(linears, width, size(8, 2)), random(size(8192, 4), width))


def sdpa_training(_):
    width = size(2048, 32)
    model = on_device(blocks, width).train()
    return training(model, itertools.repeat(tokens(width, 16, 1024)), torch.optim.AdamW(model.parameters(), lr=1e-5, fused=DEVICE == "cuda"))


def channels_last_cnn(_):
    model = compiled(on_device(Cnn, size(128, 4), norm=True).to(memory_format=torch.channels_last))
    return inference(model, random(size(128, 1), 3, size(224, 16), size(224, 16)).to(memory_format=torch.channels_last))


def fed_training(_):
    width = size(2048, 32)
    inputs = size(256, 16)
    model = on_device(blocks, width, 2, inputs).train()
    batches = moved(loader(SlowSamples(size(1024, 8), inputs, 1e-5), size(16, 2), 4 if DEVICE == "cuda" else 0))
    return training(model, batches, torch.optim.AdamW(model.parameters(), lr=1e-5, fused=DEVICE == "cuda"))


def compiled_norms(_):
    width = size(2048, 32)
    model = on_device(blocks, width, norm=lambda width: RmsNorm(width, False), act=lambda: TanhGelu(False))
    return inference(compiled(model), tokens(width, 16, 1024))


# Rules of one defect find parts of it that no other counts: their savings add up.
DEFECTS = {
    elementwise_chain: ("elementwise-chain", "act"),
    unfused_attention: ("unfused-attention", "attention"),
    layout: ("layout", "layers"),
    fp32_gemm: ("fp32-gemm", "layers"),
    half_precision: ("half-precision", "layers"),
    launch_bound: ("launch-bound", ""),
    sync_per_layer: ("sync", ""),
    pageable_copy: ("pageable-copy,pageable-wait", ""),
    slow_loader: ("loader-bound", "DataLoader"),
    tiny_optimizer: ("tiny-optimizer-kernels", "Optimizer.step#AdamW"),
    norm_by_hand: ("memory-bound", "norm"),
    few_blocks: ("few-blocks", "norm"),
}
CONTROLS = [replayed_graph, large_gemms, sdpa_training, channels_last_cnn, fed_training, compiled_norms]
PROGRAMS = {program.__name__: program for program in (*DEFECTS, *CONTROLS)}


def measured():
    """The range that holds the steps that count."""
    return torch.cuda.nvtx.range("measured") if DEVICE == "cuda" else contextlib.nullcontext()


def step_ms(step, steps):
    wait = torch.cuda.synchronize if DEVICE == "cuda" else lambda: None
    for _ in range(WARM_UP):
        step()
    wait()
    of_part = max(1, steps // PARTS)
    times = []
    with measured():
        for _ in range(PARTS):
            begin = time.perf_counter()
            for _ in range(of_part):
                step()
            wait()
            times.append((time.perf_counter() - begin) * 1e3 / of_part)
    return statistics.median(times)


def run(name, variant, steps):
    torch.manual_seed(0)
    torch.set_float32_matmul_precision("highest")
    took = step_ms(PROGRAMS[name](variant == "fixed"), steps)
    gc.collect()  # loaders' processes, graphs
    if DEVICE == "cuda":
        torch.cuda.empty_cache()
    return took


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", choices=[*PROGRAMS, []], metavar="NAME")
    parser.add_argument("--variant", choices=["defect", "fixed"], default="defect")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        for name, program in PROGRAMS.items():
            print("\t".join((name, *DEFECTS.get(program, ("", "")))))
        return
    if not options.names:
        parser.error("which program?")
    for name in options.names:
        took = "%.4f" % run(name, options.variant, options.steps)
        print(took if len(options.names) == 1 else "%s %s" % (name, took), flush=True)


if __name__ == "__main__":
    main()
