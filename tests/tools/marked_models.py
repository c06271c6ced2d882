# SPDX-License-Identifier: Apache-2.0
"""Models that scripts/profile_gpu.sh records: steps of one model in one mode, on a GPU where there is one.

    marked_models.py MODEL MODE[,MODE...] [--steps 20] [--leaves OUT.json] [--profiler cuda|full]
        MODEL: vit_b16, resnet50, gpt_block, rtdetr, llama; MODE: eager, training, graph, compiled, small (one sample, so
        that launching takes longest), busy (a batch that keeps the GPU busy), generate (transformers' loop, of llama)
Prints a line per mode: its name, the median time of a step, and the time that a tenth of the steps stays below, in ms. --seconds S:
as many steps as fit. With --leaves each leaf module says on the GPU who it is: behind its forward kernels it launches a
kernel whose grid.x is the module's number (grid.y 1), and by autograd one before its backward kernels (grid.y 2); OUT.json has the
modules' paths by number. --profiler runs the steps under torch.profiler, for comparison."""
import argparse
import contextlib
import json
import statistics
import time

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
WARM_UP = 5
FEWEST = 5
MODES = ("eager", "training", "graph", "compiled", "small", "busy", "generate")
BUSY = 16  # times the batch
TOKENS = 16  # that a generation adds


def launch_marker(number, phase):
    if DEVICE == "cuda":
        marker()[(number, phase, 1)]()


def marker(made=[]):
    if not made:
        import triton

        @triton.jit
        def marker():
            pass

        made.append(marker)
    return made[0]


class Mark(torch.autograd.Function):
    @staticmethod
    def forward(context, x, number):
        context.number = number
        launch_marker(number, 1)
        return x.clone()  # a view could not be changed in place, as residual networks do

    @staticmethod
    def backward(context, gradient):
        launch_marker(context.number, 2)
        return gradient, None


def mark_leaves(model):
    """{number: path}. Those whose output is no tensor have no marker."""
    leaves = {}
    for path, module in model.named_modules():
        if next(module.children(), None) is not None:
            continue
        if hasattr(module, "inplace"):
            module.inplace = False  # autograd does not bear it behind a marker
        number = len(leaves) + 1
        leaves[number] = path

        def hook(module, arguments, output, number=number):
            return Mark.apply(output, number) if isinstance(output, torch.Tensor) else None

        module.register_forward_hook(hook)
    return leaves


class GptBlock(torch.nn.Module):
    def __init__(self, width=1024, heads=16):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.qkv, self.projection = torch.nn.Linear(width, 3 * width), torch.nn.Linear(width, width)
        self.up, self.act, self.down = torch.nn.Linear(width, 4 * width), torch.nn.GELU(), torch.nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.projection(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(self.act(self.up(self.norm2(x))))


def rtdetr():
    from transformers import RTDetrConfig, RTDetrForObjectDetection

    class Logits(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.detector = RTDetrForObjectDetection(RTDetrConfig(num_labels=80))  # its defaults are R50

        def forward(self, pixels):
            return self.detector(pixel_values=pixels).logits

    return Logits(), torch.randn(1, 3, 640, 640)


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    size = dict(hidden_size=1024, intermediate_size=2816, num_hidden_layers=8, num_attention_heads=16) if DEVICE == "cuda" else \
        dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2)
    model = LlamaForCausalLM(LlamaConfig(vocab_size=4096, pad_token_id=0, eos_token_id=None, **size)).eval()
    return model, torch.randint(1, 4096, (2, 64))


def made(name):
    if name == "llama":
        return llama()
    if name == "gpt_block":
        return torch.nn.Sequential(*[GptBlock() for _ in range(4)]), torch.randn(1, 512, 1024)
    if name == "rtdetr":
        return rtdetr()
    import torchvision

    build = {"vit_b16": torchvision.models.vit_b_16, "resnet50": torchvision.models.resnet50}[name]
    return build(weights=None), torch.randn(8, 3, 224, 224)


class Filled(torch.overrides.TorchFunctionMode):
    """`tensor[place] = number` copies the number from the host, which no graph captures; RT-DETR does so. Here it is filled in."""

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.Tensor.__setitem__ and isinstance(args[2], (int, float)):
            args[0][args[1]].fill_(args[2])
            return None
        return function(*args, **(kwargs or {}))


def step_of(model, inputs, mode):
    if mode == "training":
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)

        def step():
            optimizer.zero_grad(set_to_none=True)
            with torch.autocast(DEVICE, dtype=torch.bfloat16):
                loss = model(inputs).float().square().mean()
            loss.backward()
            optimizer.step()

        return step
    if mode == "generate":
        return lambda: model.generate(inputs, max_new_tokens=TOKENS, do_sample=False, attention_mask=torch.ones_like(inputs))
    call = torch.compile(model) if mode == "compiled" else model

    def forward():
        with torch.no_grad(), Filled() if mode == "graph" else contextlib.nullcontext():
            call(inputs)

    if mode != "graph" or DEVICE != "cuda":
        return forward
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            forward()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        forward()
    return graph.replay


def profiler(kind):
    if not kind:
        return contextlib.nullcontext()
    activities = [torch.profiler.ProfilerActivity.CUDA] + ([torch.profiler.ProfilerActivity.CPU] if kind == "full" else [])
    return torch.profiler.profile(activities=activities)


def step_ms(model, inputs, mode, options):
    """(the median step, what the fastest tenth stays below), in ms."""
    wait = torch.cuda.synchronize if DEVICE == "cuda" else lambda: None
    if mode == "busy":
        inputs = inputs.repeat(BUSY, *[1] * (inputs.dim() - 1))
    if mode == "small":
        inputs = inputs[:1]
    step = step_of(model, inputs, mode)
    for _ in range(WARM_UP):
        step()
    wait()
    times = []
    with profiler(options.profiler):
        end = time.perf_counter() + options.seconds
        while len(times) < (FEWEST if options.seconds else options.steps) or time.perf_counter() < end:
            begin = time.perf_counter()
            step()
            wait()
            times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times), statistics.quantiles(times, n=10)[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["vit_b16", "resnet50", "gpt_block", "rtdetr", "llama"])
    parser.add_argument("modes", metavar="MODE", type=lambda text: text.split(","))
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--leaves", metavar="OUT.json")
    parser.add_argument("--profiler", choices=["cuda", "full"])
    options = parser.parse_args()
    if unknown := set(options.modes) - set(MODES):
        parser.error("MODE: %s, expected %s" % (", ".join(sorted(unknown)), ", ".join(MODES)))
    torch.manual_seed(0)
    model, inputs = made(options.model)
    model, inputs = model.to(DEVICE), inputs.to(DEVICE)
    if options.leaves:
        leaves = mark_leaves(model)
        with open(options.leaves, "w") as file:
            json.dump(leaves, file)
    for mode in options.modes:
        print("%s %.4f %.4f" % (mode, *step_ms(model.train(mode == "training"), inputs, mode, options)), flush=True)


if __name__ == "__main__":
    main()
