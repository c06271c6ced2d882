# SPDX-License-Identifier: Apache-2.0
"""Programs that tests of ridgeline_profile run with and without the hooks: profile_jobs.py NAME. What a program prints is compared."""
import copy
import gc
import io
import pickle
import sys
import warnings
import weakref

import torch
from torch import nn

torch.set_num_threads(1)
torch.manual_seed(0)
warnings.filterwarnings("ignore")


class Block(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.first = nn.Linear(width, width)
        self.second = nn.Linear(width, width)

    def forward(self, x):
        return self.second(torch.relu(self.first(x))) + x


class Net(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width), Block(width)])
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


class Broken(nn.Module):
    """Has a graph break."""

    def __init__(self):
        super().__init__()
        self.net = Net()
        self.last = nn.Linear(2, 2)

    def forward(self, x):
        x = self.net(x)
        torch._dynamo.graph_break()
        return self.last(x).relu()


class Nested(nn.Module):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, x):
        return x if self.inner is None else self.inner(x)


def recurses():
    """Close to the limit."""
    print(sys.getrecursionlimit())
    for limit, depth in ((1000, 320), (1600, 520)):
        sys.setrecursionlimit(limit)
        print(sys.getrecursionlimit())
        net = None
        for _ in range(depth):
            net = Nested(net)
        print(net(torch.ones(2)))


def alike():
    """A generator and a discriminator of one class, and modules that live for one step."""
    generator, discriminator = Net(), Net()
    for _ in range(2):
        nn.ReLU()(discriminator(generator(torch.ones(1, 4)).repeat(1, 2)))


def waits():
    """On tensors that pretend to be of a GPU."""

    class Pretended(torch.Tensor):
        is_cuda = True
        __torch_function__ = torch._C._disabled_torch_function_impl

    value = torch.ones(1).as_subclass(Pretended)
    print(value.item(), value.tolist(), float(value), int(value), bool(value), torch.Tensor.item(value), torch.ones(1).item())
    print(pickle.loads(pickle.dumps(torch.Tensor.item)) is torch.Tensor.item)
    try:
        torch.ones(2).as_subclass(Pretended).item()
    except (RuntimeError, ValueError) as error:
        print(str(error).splitlines()[0])


def profiler_api():
    """Where torch has no CUDA, a module with its functions takes the place of its own."""
    import types

    if not hasattr(torch._C, "_cudart"):
        sys.exit(78)
    runtime = torch._C._cudart
    print(callable(runtime.cudaProfilerStart), isinstance(runtime, types.ModuleType))
    try:
        runtime.cudaProfilerStart()
        runtime.cudaProfilerStop()
    except RuntimeError:
        pass  # without a driver


def marked_net():
    from profile_truth import MarkedLeaf

    class Branch(nn.Module):
        def __init__(self, path):
            super().__init__()
            self.left, self.right = MarkedLeaf(path + ".left"), MarkedLeaf(path + ".right")
            self.both = MarkedLeaf(path + ".both")

        def forward(self, x):
            return {"sum": self.both(self.left(x) + self.right(x) * 3), "rest": (x, None)}

    class Tree(nn.Module):
        def __init__(self):
            super().__init__()
            self.stem = MarkedLeaf("stem")
            self.branches = nn.Sequential()
            self.trunk = nn.ModuleDict({"a": Branch("trunk.a"), "b": Branch("trunk.b")})
            self.shared = MarkedLeaf("shared")

        def forward(self, x):
            x = self.stem(x)
            for branch in self.trunk.values():
                x = self.shared(branch(x)["sum"].tanh())
            return x

    return Tree()


def leaves():
    model = marked_net()
    for _ in range(3):
        model(torch.ones(2, requires_grad=True)).sum().backward()
    model.eval()
    with torch.no_grad():
        model(torch.ones(2))


def checkpoints():
    from torch.utils.checkpoint import checkpoint

    class Held(nn.Module):
        def __init__(self, reentrant):
            super().__init__()
            self.tree = marked_net()
            self.reentrant = reentrant

        def forward(self, x):
            more = {} if torch.__version__.startswith("1.") and not self.reentrant else {"use_reentrant": self.reentrant}
            for leaf in (self.tree.stem, self.tree.trunk["a"].left, self.tree.shared):
                x = checkpoint(leaf, x, **more)
            return checkpoint(lambda x: self.tree.trunk["b"](x)["sum"], x, **more)

    for reentrant in (True, False):
        Held(reentrant)(torch.ones(2, requires_grad=True)).sum().backward()


def deep():
    """Nested backward passes, deep enough for autograd to continue on its own threads."""
    from profile_truth import MarkedLeaf

    class Deep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, model, depth):
            ctx.model, ctx.depth = model, depth
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            x = torch.ones(1, requires_grad=True)
            with torch.enable_grad():
                out = ctx.model(x)
                out = Deep.apply(out, ctx.model, ctx.depth - 1) if ctx.depth else out
                out.sum().backward()
            return x.grad, None, None

    model = nn.Sequential(MarkedLeaf("0"), MarkedLeaf("1"))
    for _ in range(2):
        Deep.apply(torch.ones(1, requires_grad=True), model, 150).sum().backward()


def true_pass(model, inputs, loss):
    from profile_truth import Calls

    calls = Calls(model)
    for training in (True, False):
        model.train(training)
        for _ in range(2):
            result = loss(model(*inputs))
            calls.mark_graph(result)
            result.backward()


def resnet():
    import torchvision
    true_pass(torchvision.models.resnet50(num_classes=10), [torch.randn(2, 3, 64, 64)], lambda out: out.square().mean())


def vit():
    import torchvision
    model = torchvision.models.vit_b_16(num_classes=10, image_size=32)
    true_pass(model, [torch.randn(2, 3, 32, 32)], lambda out: out.square().mean())


def gpt2():
    import transformers
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(n_layer=3, n_head=2, n_embd=32, vocab_size=100, n_positions=32,
                                                                 bos_token_id=0, eos_token_id=0))
    true_pass(model, [torch.randint(0, 100, (2, 16))], lambda out: out.logits.square().mean())


def training():
    model = Net()
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)

    class Own(torch.optim.SGD):
        def step(self, closure=None):
            return super().step(closure)

    other = Own(model.parameters(), lr=0.1)
    data = torch.utils.data.DataLoader([torch.ones(4)] * 8, batch_size=2)
    for batch in data:
        loss = model(batch).sum()
        loss.backward()
        optimizer.step()
        schedule.step()
        other.step()
    torch.optim.SGD(model.parameters(), lr=0.1)  # whose step the other's calls
    other.step()
    model.eval()
    with torch.no_grad():
        print(model(torch.ones(1, 4)).sum().item() < 1e9, loss.item())


def inference():
    model = Net().eval()
    with torch.inference_mode():
        for _ in range(5):
            nn.functional.softmax(model(torch.ones(1, 4)), -1)
            nn.Softmax(-1)(torch.ones(1))
    try:
        model(torch.ones(1, 5))
    except RuntimeError:
        print("refused")
    model(torch.ones(1, 4))


def capture():
    graph = torch.cuda.graph.__new__(torch.cuda.graph)
    try:
        graph.__enter__()
    except Exception as error:  # without a GPU
        print(type(error).__name__, error)


def double_backward():
    model = Net()
    x = torch.ones(2, 4, requires_grad=True)
    gradient, = torch.autograd.grad(model(x).tanh().sum(), x, create_graph=True)
    gradient.square().sum().backward()
    print([round(float(p.grad.abs().sum()), 5) for p in model.parameters() if p.grad is not None])
    y = model(x).sum()
    y.backward(retain_graph=True)
    y.backward()
    try:
        y.backward()
    except RuntimeError:
        print("freed")


def leaks():
    gc.collect()
    gc.disable()
    model = Net()
    x = torch.ones(2, 4, requires_grad=True)
    out = model(x)
    refs = [weakref.ref(model), weakref.ref(model.blocks[0].first), weakref.ref(out), weakref.ref(x)]
    out.sum().backward()
    graph = model(x)  # never taken back
    refs.append(weakref.ref(graph))
    alive = []

    class Held(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.held = Block()
            alive.append(weakref.ref(ctx.held))
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    class Uses(nn.Module):
        def forward(self, x):
            return Held.apply(x)

    Uses()(x)
    result = Uses()(x)
    result.sum().backward()
    del model, out, x, graph, result
    print([ref() is None for ref in refs + alive])


def unaffected():
    model = Net()
    before = model(torch.ones(1, 4))
    print(sorted(model.__dict__), sorted(model.state_dict()), list(vars(before)) if hasattr(before, "__dict__") else [])
    for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        print(torch.equal(other(torch.ones(1, 4)), before))
    saved = io.BytesIO()
    torch.save(model.state_dict(), saved)
    print(pickle.loads(pickle.dumps(model.head.__call__))(torch.ones(1, 4)).shape)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    print(type(pickle.loads(pickle.dumps(optimizer))).__name__, optimizer.step.__name__, type(copy.deepcopy(optimizer)).__name__)


def script():
    model = Net().eval()
    x = torch.ones(1, 4)
    traced = torch.jit.trace(model, x)
    scripted = torch.jit.script(Block())
    print(traced.code, traced.graph, torch.equal(traced(x), model(x)), scripted.code, scripted(x).shape)
    print(torch.fx.symbolic_trace(model).code)


def export():
    program = torch.export.export(Net().eval(), (torch.ones(1, 4),))
    print(program.graph, [sorted(map(str, node.meta.get("nn_module_stack", {}).values())) for node in program.graph.nodes])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(torch.export.export(Net().eval(), (torch.ones(1, 4),), strict=True).graph)


def onnx():
    saved = io.BytesIO()
    more = {"dynamo": False} if hasattr(torch, "compile") else {}
    try:
        torch.onnx.export(Net().eval(), (torch.ones(1, 4),), saved, **more)
    except Exception as error:  # torch without the package onnx
        print(type(error).__name__)
    print(len(saved.getvalue()))


def compiled():
    import logging

    import torch._dynamo as dynamo
    logging.disable(logging.WARNING)
    graphs = []

    def backend(graph, inputs):
        graphs.append(str(graph.code))
        return graph.forward

    def counted(what, make, *inputs):
        dynamo.reset()
        graphs.clear()
        dynamo.utils.counters.clear()
        model = make()
        for _ in range(3):
            result = model(*inputs)
            if isinstance(result, torch.Tensor) and result.requires_grad:
                result.sum().backward()
        counters = dynamo.utils.counters
        print(what, len(graphs), dict(counters["graph_break"]), dict(counters["stats"]), dict(counters["frames"]))
        print("\n".join(graphs))

    def compile(module):
        return torch.compile(module, backend=backend)

    def in_place():
        model = Net()
        model.compile(backend=backend)
        return model

    def in_part():
        model = Net()
        model.blocks[1] = compile(model.blocks[1])
        return model

    def with_hooks():
        model = Net()
        model.blocks[0].register_forward_hook(lambda module, args, result: result * 2)
        return compile(model)

    def train():
        model = Net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            loss = model(x).sum()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        return compile(step)

    x = torch.ones(2, 4)
    counted("whole", lambda: compile(Net()), x)
    counted("fullgraph", lambda: torch.compile(Net(), backend=backend, fullgraph=True), x)
    counted("broken", lambda: compile(Broken()), x)
    counted("in place", in_place, x)
    counted("part", in_part, x)
    counted("hooks", with_hooks, x)
    counted("linear", lambda: compile(nn.Linear(4, 4)), x)
    counted("sequential", lambda: compile(nn.Sequential(nn.Linear(4, 4), nn.ReLU())), x)
    counted("train", train, x)
    net = Net()
    counted("gradient", lambda: compile(lambda x: torch.autograd.grad(net(x).sum(), x)[0]), torch.ones(2, 4, requires_grad=True))
    counted("aot", lambda: torch.compile(Net(), backend="aot_eager"), x)
    for _ in range(12):  # more models of a kind than a function's cache has entries
        model = compile(copy.deepcopy(net))
        model(x)
    print(dict(dynamo.utils.counters["stats"]), len(graphs))


def compiled_models():
    import torch._dynamo as dynamo
    import torchvision
    import transformers
    small = transformers.GPT2Config(n_layer=2, n_head=2, n_embd=32, vocab_size=100, n_positions=32, bos_token_id=0, eos_token_id=0)
    for model, x in ((torchvision.models.resnet18(num_classes=10), torch.ones(2, 3, 32, 32)),
                     (transformers.GPT2LMHeadModel(small), torch.ones(2, 16, dtype=torch.long))):
        for training in (True, False):
            dynamo.reset()
            dynamo.utils.counters.clear()
            torch.compile(model.train(training), backend="eager")(x)
            counters = dynamo.utils.counters
            print(type(model).__name__, dict(counters["graph_break"]), dict(counters["stats"]), dict(counters["frames"]))


def child(number):
    torch.manual_seed(number)
    print(Net()(torch.ones(1, 4)).shape, flush=True)


def processes():
    import multiprocessing
    Net()(torch.ones(1, 4))
    for way in ("fork", "spawn"):
        process = multiprocessing.get_context(way).Process(target=child, args=(1,))
        process.start()
        process.join()
        print(way, process.exitcode)
    data = torch.utils.data.DataLoader([torch.ones(4)] * 8, batch_size=2, num_workers=2)
    print(sum(int(batch.sum()) for batch in data))


def threads():
    import threading
    model = marked_net()
    every = [threading.Thread(target=lambda: [model(torch.ones(2)).sum().backward() for _ in range(20)]) for _ in range(4)]
    for one in every:
        one.start()
    for one in every:
        one.join()


def fails():
    class Bad(nn.Module):
        def forward(self, x):
            raise KeyError("bad")

    nn.Sequential(nn.Linear(2, 2), Bad())(torch.ones(1, 2))


def fails_backward():
    class Bad(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            raise KeyError("bad")

    class Module(nn.Module):
        def forward(self, x):
            return Bad.apply(x)

    Module()(torch.ones(1, requires_grad=True)).sum().backward()


def fails_step():
    weight = nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    optimizer.step(lambda: 1 / 0)


def warns():
    class Warner(nn.Module):
        def forward(self, x):
            for level in range(1, 6):
                warnings.warn("level %d" % level, stacklevel=level)
            return x

    warnings.resetwarnings()
    warnings.simplefilter("always")
    nn.Sequential(Warner())(torch.ones(1))
    float(torch.ones(1, requires_grad=True) * 2)  # torch warns of it once


def leaves_with_code():
    Net()(torch.ones(1, 4))
    sys.exit(7)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
