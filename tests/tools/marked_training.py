"""Two training steps of a small network whose leaf modules say on the GPU who they are.

Each leaf module ends with a marker: an empty kernel whose grid.x is the module's number, launched behind the module's
forward kernels (grid.y 1) and, by autograd, before its backward kernels (grid.y 2). Whoever attributes kernels to modules
can be checked against them, and so can a join of two recordings of this program.

    marked_training.py --trace OUT.json.gz     under torch.profiler, with stacks and shapes
    marked_training.py --plain                 the same kernels between cudaProfilerStart and cudaProfilerStop, for ncu
"""
import argparse

import torch
import triton
from torch import nn


@triton.jit
def marker():
    pass


class Mark(torch.autograd.Function):
    @staticmethod
    def forward(context, x, number):
        context.number = number
        marker[(number, 1, 1)]()
        return x.view_as(x)

    @staticmethod
    def backward(context, gradient):
        marker[(context.number, 2, 1)]()
        return gradient, None


class Marked(nn.Module):
    """A leaf module and its marker."""

    count = 0

    def __init__(self, inner):
        super().__init__()
        Marked.count += 1
        self.number = Marked.count
        self.inner = inner

    def forward(self, x):
        return Mark.apply(self.inner(x), self.number)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1 = Marked(nn.Conv2d(width, width, 3, padding=1, bias=False))
        self.bn1 = Marked(nn.BatchNorm2d(width))
        self.act1 = Marked(nn.GELU())
        self.conv2 = Marked(nn.Conv2d(width, width, 3, padding=1, bias=False))

    def forward(self, x):
        return x + self.conv2(self.act1(self.bn1(self.conv1(x))))


class Net(nn.Module):
    def __init__(self, width=64, blocks=3):
        super().__init__()
        self.stem = Marked(nn.Conv2d(3, width, 3, padding=1))
        self.blocks = nn.Sequential(*[Block(width) for _ in range(blocks)])
        self.norm = Marked(nn.LayerNorm(width))
        self.head = Marked(nn.Linear(width, 100))

    def forward(self, x):
        x = self.blocks(self.stem(x))
        return self.head(self.norm(x.mean((2, 3))))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace")
    parser.add_argument("--plain", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    model = Net().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x = torch.randn(16, 3, 32, 32, device="cuda")
    y = torch.randint(0, 100, (16,), device="cuda")

    def step():
        optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    for _ in range(3):  # algorithms are chosen and Triton compiles
        step()
    torch.cuda.synchronize()
    if arguments.plain:
        torch.cuda.cudart().cudaProfilerStart()
        for _ in range(2):
            step()
        torch.cuda.synchronize()
        torch.cuda.cudart().cudaProfilerStop()
        return
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with torch.profiler.profile(activities=activities, with_stack=True, record_shapes=True,
                                schedule=torch.profiler.schedule(wait=0, warmup=1, active=2, repeat=1),
                                on_trace_ready=lambda done: done.export_chrome_trace(arguments.trace)) as profiler:
        for _ in range(3):
            step()
            torch.cuda.synchronize()
            profiler.step()


if __name__ == "__main__":
    main()
