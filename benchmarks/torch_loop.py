#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is the fastest way to call a PyTorch model? An independent check of `ridgeline tune --python`: torch, onnxruntime and a loop,
nothing of ours.

Each candidate is a process of its own that makes the model, compares its outputs with eager FP32's (TF32 off), applies the candidate's
settings, warms up, and times single calls, each with a wait for the device. After a first look at all of them, the fastest two, eager
with torch's defaults and the pick are timed again in at least 4 sets of fresh processes, in blocks that take turns (A B C C B A); the
compile cache is shared, so that a fresh process runs the code that the first one made. The scatter over the sets gives the 95 %
intervals.
    benchmarks/torch_loop.py benchmarks/models/torch_models.py:swin_tiny --json swin.json --pick RUN.json
    benchmarks/torch_loop.py --summary swin.json convnext.json      a table and the geometric means
`--pick RUN.json` is what `ridgeline tune --python ... --json` recommends, applied from its settings. `--precision auto` adds half
weights. `--onnxruntime FOLDER` is the site-packages folder of an onnxruntime that torch's Python does not have.
"""
import argparse
import contextlib
import ctypes
import json
import math
import os
import pathlib
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time

# 97.5 % quantiles of Student's t by degrees of freedom.
T = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
LEAST_COSINE, LARGEST_ERROR = 0.999, 1e-2  # of half weights; of FP32 with TF32, scaled
HOPELESS = 1.5  # times the fastest after the first look
TOO_SLOW = 0.97  # of the best's speed: the whole interval of a pick that is shown to be slower lies below
TUNED = {"grad_mode": "inference_mode", "allow_tf32": True, "cudnn_benchmark": True}
EAGER = {"grad_mode": "no_grad"}


class Failed(Exception):
    """A candidate that cannot be timed."""


# The parent: candidates, processes in turns, statistics.


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", metavar="FILE.py:FUNCTION")
    parser.add_argument("--pick", type=pathlib.Path, metavar="RUN.json")
    parser.add_argument("--precision", choices=["fp32", "auto"], default="fp32")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has torch")
    parser.add_argument("--onnxruntime", default="", metavar="FOLDER")
    parser.add_argument("--ridgeline", default="ridgeline", metavar="BIN", help="tells ONNX Runtime's names of a pick's settings")
    parser.add_argument("--budget", type=float, default=200, metavar="SECONDS", help="for all")
    parser.add_argument("--repetitions", type=int, default=4, help="sets of fresh processes (at least 4)")
    parser.add_argument("--rounds", type=int, default=4, help="A B C C B A in each")
    parser.add_argument("--block", type=float, default=0.25, metavar="SECONDS", help="of one block at least, and three calls")
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME", help="these candidates beside eager")
    parser.add_argument("--work", type=pathlib.Path, metavar="FOLDER", help="keeps the compile cache and the ONNX files there")
    parser.add_argument("--cache", type=pathlib.Path, metavar="FOLDER", help="the compile cache, in which others may have compiled already")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--summary", nargs="+", type=pathlib.Path, metavar="FILE.json")
    options = parser.parse_args()
    if options.summary:
        print(summary([json.loads(path.read_text()) for path in options.summary]))
        return 0
    if not options.target or options.repetitions < 4:
        parser.error("expected FILE.py:FUNCTION and at least 4 repetitions")
    with contextlib.ExitStack() as stack:
        if options.work:
            options.work.mkdir(parents=True, exist_ok=True)
        else:
            options.work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="torch-loop-")))
        result = compare(options)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    report(result)
    return 0


def candidate(name, settings, **more):
    return {"name": name, "settings": settings, "engine": "torch", "slow_start": False, "failed": None, "look_ms": None, "sets": [], **more}


def recipes(precision):
    """What guides recommend and what the fastest are made of. Those that need CUDA end as failed elsewhere."""
    graph, default, frozen = {"cuda_graph": True}, {"torch_compile": "default"}, {"torch_compile": "default", "compile_freezing": True}
    autotune = {"torch_compile": "max-autotune"}
    out = [candidate("eager", EAGER),
           candidate("eager tf32", TUNED),
           candidate("eager graph", {**TUNED, **graph}),
           candidate("channels_last graph", {**TUNED, **graph, "channels_last": True}),
           candidate("compile", {**TUNED, **default}),
           candidate("reduce-overhead", {**TUNED, "torch_compile": "reduce-overhead"}),
           candidate("compile graph", {**TUNED, **graph, **default}),
           candidate("freezing graph", {**TUNED, **graph, **frozen}),
           candidate("onnxruntime", {}, engine="onnxruntime")]
    if precision == "auto":
        half = {"torch_precision": "fp16"}
        out += [candidate("eager graph fp16", {**TUNED, **graph, **half}),
                candidate("channels_last graph fp16", {**TUNED, **graph, **half, "channels_last": True}),
                candidate("compile graph fp16", {**TUNED, **graph, **default, **half}),
                candidate("freezing graph fp16", {**TUNED, **graph, **frozen, **half}),
                candidate("compile graph bf16", {**TUNED, **graph, **default, "torch_precision": "bf16"}),
                candidate("onnxruntime fp16", {**half}, engine="onnxruntime"),
                candidate("max-autotune graph fp16", {**TUNED, **graph, **autotune, **half}, slow_start=True)]
    else:
        out.append(candidate("max-autotune graph", {**TUNED, **graph, **autotune}, slow_start=True))
    return out


def picked(run, binary):
    settings = {key: value for key, value in run["verdict"]["configuration"].items() if key != "candidate"}
    chosen = run["verdict"].get("candidate") or {}
    if chosen.get("engine", "torch") != "onnxruntime":
        return candidate("pick", settings)
    from provider_loop import picked as of_onnxruntime

    made = of_onnxruntime(run, binary)
    # A library without Python's package beside it: that of --onnxruntime or of torch's Python has to do.
    packages = made["packages"] if (pathlib.Path(made["packages"]) / "onnxruntime" / "__init__.py").is_file() else ""
    return candidate("pick", {"torch_precision": chosen["precision"]} if chosen.get("precision") in ("fp16", "bf16") else {},
                     engine="onnxruntime", packages=packages, provider=made["provider"], options=made["options"])


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Child:
    """A candidate's process. Between its blocks it waits on a pipe, its device idle."""

    def __init__(self, candidate, options):
        self.candidate, self.begun = candidate, time.perf_counter()
        job = {key: candidate[key] for key in ("name", "settings", "engine", "provider", "options") if key in candidate}
        job.update(target=options.target, work=str(options.work))
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TORCHINDUCTOR_")}
        cache = options.cache or options.work
        environment.update(TORCHINDUCTOR_CACHE_DIR=str(cache / "inductor"), TRITON_CACHE_DIR=str(cache / "triton"),
                           TORCHINDUCTOR_FX_GRAPH_CACHE="1", ORT_DISABLE_TELEMETRY="1", LOOP_JOB=json.dumps(job))
        packages = candidate.get("packages") or options.onnxruntime
        if candidate["engine"] == "onnxruntime" and packages:
            environment["PYTHONPATH"] = packages + (":" + os.environ["PYTHONPATH"] if os.environ.get("PYTHONPATH") else "")
        self.words = tempfile.TemporaryFile()
        self.process = subprocess.Popen([options.python, __file__, "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.words,
                                        env=environment, start_new_session=True, preexec_fn=end_with_parent)

    def answer(self, limit_s):
        if not select.select([self.process.stdout], [], [], max(limit_s, 0))[0]:
            self.end()
            raise Failed(f"no answer within {limit_s:.0f} s")
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.words.seek(0)
            words = self.words.read().decode(errors="replace").strip().splitlines()
            raise Failed(f"its process ended with {signal.Signals(-code).name if code < 0 else code}" + (f": {words[-1]}" if words else ""))
        reply = json.loads(line)
        if "failed" in reply:
            self.end()
            raise Failed(reply["failed"])
        return reply

    def block(self, seconds):
        with contextlib.suppress(BrokenPipeError):  # it has ended; answer says how
            self.process.stdin.write(f"{seconds}\n".encode())
            self.process.stdin.flush()
        return statistics.median(self.answer(60 + 20 * seconds)["ms"])

    def end(self):
        # Inductor's compile processes are of the same group.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@contextlib.contextmanager
def children(candidates, options, limit_s, at_once):
    """Their processes, ready to be timed; whatever fails is told in its candidate."""
    ready, every, end = [], [], time.perf_counter() + limit_s
    try:
        for start in range(0, len(candidates), at_once):
            group = [Child(each, options) for each in candidates[start:start + at_once]]
            every += group
            for child in group:
                try:
                    child.candidate.update(child.answer(end - time.perf_counter()))
                    ready.append(child)
                except Failed as failure:
                    child.candidate["failed"] = str(failure)
        yield ready
    finally:
        for child in every:
            child.end()


def in_turns(children, rounds, block_s):
    """{child: its median of each block}."""
    medians = {child: [] for child in children}
    for number in range(rounds):
        shift = number % len(children) if children else 0
        turns = children[shift:] + children[:shift]
        for child in turns + turns[::-1]:
            if child.candidate["failed"]:
                continue
            try:
                medians[child].append(child.block(block_s))
            except Failed as failure:
                child.candidate["failed"] = str(failure)
    return {child: blocks for child, blocks in medians.items() if not child.candidate["failed"]}


def look(candidates, options, limit_s, at_once):
    with children(candidates, options, limit_s, at_once) as ready:
        for child, blocks in in_turns(ready, 2, min(options.block, 0.15)).items():
            child.candidate["look_ms"] = statistics.median(blocks)
    for each in candidates:
        problem = each["failed"] or wrong(each)
        each["failed"] = problem or None
        print(f"{each['name']}: {problem or format(each['look_ms'], '.3f') + ' ms'}", file=sys.stderr)


def wrong(each):
    if each["settings"].get("torch_precision", "as_is") == "as_is":
        return "" if each["error"] <= LARGEST_ERROR else f"output error {each['error']:.2g}"
    return "" if each["cosine"] >= LEAST_COSINE else f"cosine {each['cosine']:.6f}"


def compare(options):
    begun = time.perf_counter()

    def left_s():
        return options.budget - (time.perf_counter() - begun)

    candidates = [each for each in recipes(options.precision) if not options.only or each["name"] in ["eager", *options.only]]
    pick = picked(json.loads(options.pick.read_text()), options.ridgeline) if options.pick else None
    cpus = len(os.sched_getaffinity(0))
    at_once = min(16, cpus)
    look([each for each in candidates if not each["slow_start"]] + ([pick] if pick else []), options, 0.45 * options.budget, at_once)
    if candidates[0]["failed"]:
        raise SystemExit(f"error: eager: {candidates[0]['failed']}")
    if pick and pick["failed"]:
        raise SystemExit(f"error: the pick: {pick['failed']}")
    # What times kernels while it compiles is alone on the device; fresh processes take what is left.
    finals_s = 0.4 * options.budget
    for each in candidates:
        if not each["slow_start"]:
            continue
        if left_s() - finals_s < 15:
            each["failed"] = "no time left"
        else:
            look([each], options, left_s() - finals_s, 1)
    looked_s = time.perf_counter() - begun
    timed = sorted((each for each in candidates[1:] if not each["failed"]), key=lambda each: each["look_ms"])
    best_ms = min(each["look_ms"] for each in (timed or candidates[:1]))
    finalists = [each for each in timed[:2] if each["look_ms"] <= HOPELESS * best_ms]
    again = [candidates[0], *finalists, *([pick] if pick else [])]
    for number in range(options.repetitions):
        order = again[number % len(again):] + again[:number % len(again)]
        with children(order, options, 120, len(order) if cpus >= 2 * len(order) else 1) as ready:
            for child, blocks in in_turns(ready, options.rounds, options.block).items():
                child.candidate["sets"].append(blocks)
    lost = [each["name"] for each in again if each["failed"] or len(each["sets"]) < options.repetitions]
    if lost:
        raise SystemExit(f"error: in a fresh process: {', '.join(name + ': ' + next(str(e['failed']) for e in again if e['name'] == name) for name in lost)}")
    for each in again:
        each["median_ms"] = statistics.median(statistics.median(blocks) for blocks in each["sets"])
    own = sorted([candidates[0], *finalists], key=lambda each: each["median_ms"])[0]
    result = {"target": options.target, "precision": options.precision, "facts": candidates[0].pop("facts", {}), "repetitions": options.repetitions,
              "rounds": options.rounds, "block_s": options.block, "looked_s": looked_s, "seconds": time.perf_counter() - begun, "best": own["name"],
              "best_against_eager": ratio(candidates[0], own)}
    if pick:
        result.update(pick_settings=pick["settings"], pick_engine=pick["engine"], pick_against_best=ratio(own, pick),
                      pick_against_eager=ratio(candidates[0], pick))
        result["tune_s"] = json.loads(options.pick.read_text())["run"].get("duration_s")
    for each in [*candidates, *([pick] if pick else [])]:
        each.pop("facts", None)
    result["candidates"] = candidates + ([pick] if pick else [])
    return result


def ratio(base, other):
    """How many times as fast `other` is, with its 95 % interval: a set's two blocks of a round have the same middle, so slow drift
    cancels; the scatter of the sets gives the interval."""
    logs = []
    for one, two in zip(base["sets"], other["sets"]):
        rounds = [math.log(one[at] * one[at + 1] / two[at] / two[at + 1]) / 2 for at in range(0, min(len(one), len(two)) - 1, 2)]
        logs.append(statistics.median(rounds))
    mean, count = statistics.fmean(logs), len(logs)
    half = T[min(count - 1, len(T) - 1)] * statistics.stdev(logs) / math.sqrt(count)
    return [math.exp(mean), math.exp(mean - half), math.exp(mean + half)]


def interval(values):
    return "{:.3f} [{:.3f}, {:.3f}]".format(*values)


def report(result):
    facts = result["facts"]
    print(f"{result['target']}, {facts.get('device')}, torch {facts.get('torch')}, {result['precision']}, {result['seconds']:.0f} s")
    for each in result["candidates"]:
        if each["failed"]:
            print(f"  {each['name']:<26} failed: {each['failed']}")
            continue
        final = f"  {each['median_ms']:.3f} ms in fresh processes" if "median_ms" in each else ""
        print(f"  {each['name']:<26} {each['look_ms']:9.3f} ms  error {each['error']:.1e}  cosine {each['cosine']:.6f}  ready {each['ready_s']:.1f} s{final}")
    print(f"best of these: {result['best']}, {interval(result['best_against_eager'])} times as fast as eager")
    if "pick_against_best" in result:
        print(f"pick: {interval(result['pick_against_best'])} of the best's speed, {interval(result['pick_against_eager'])} of eager's")


def summary(results):
    lines = ["| model | precision | eager, ms | best of the loop, ms | pick, ms | pick against best | pick against eager |", "|---|---|---|---|---|---|---|"]
    by_precision = {}
    for result in results:
        times = {each["name"]: each.get("median_ms") for each in result["candidates"]}
        pick = result.get("pick_against_eager")
        lines.append("| {} | {} | {:.3f} | {:.3f} ({}) | {} | {} | {} |".format(
            result["target"].rpartition(":")[2], result["precision"], times["eager"], times[result["best"]], result["best"],
            f"{times['pick']:.3f}" if pick else "", interval(result["pick_against_best"]) if pick else "", interval(pick) if pick else ""))
        if pick:
            by_precision.setdefault(result["precision"], []).append((pick[0], result["pick_against_best"][0]))
    slower = [f"{result['target'].rpartition(':')[2]} {result['precision']}" for result in results
              if result.get("pick_against_best", [1, 1, 1])[2] < TOO_SLOW]
    lines.append(f"\nshown to be more than 3 % slower than the best of the loop: {', '.join(slower) or 'none'}")
    for precision, ratios in sorted(by_precision.items()):
        eager, best = (math.exp(statistics.fmean(math.log(one) for one in column)) for column in zip(*ratios))
        lines.append(f"\n{precision}, {len(ratios)} models: {eager:.2f} times as fast as eager and {best:.3f} times as the best of the loop (geometric means)")
    return "\n".join(lines)


# The child: one model under fixed settings.


def child(job):
    # Libraries write on standard output; the answers go where they cannot.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(reply):
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

    begun = time.perf_counter()
    try:
        run, facts = prepare(job)
    except Exception as error:  # whatever torch raises is this candidate's reason
        import traceback

        traceback.print_exc()
        text = " ".join(str(error).split())[:400]
        say({"failed": text if isinstance(error, Failed) else f"{type(error).__name__}: {text}"})
        return
    warm_up(run)
    say({**facts, "ready_s": time.perf_counter() - begun})
    for line in sys.stdin:
        say({"ms": timed(run, float(line))})


def load(target):
    import importlib.util

    path, _, name = target.rpartition(":")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    spec = importlib.util.spec_from_file_location("timed_model", path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["timed_model"] = module
    spec.loader.exec_module(module)
    return getattr(module, name)


def prepare(job):
    import torch

    torch.manual_seed(0)
    model, inputs = load(job["target"])()[:2]
    args, kwargs = ((), dict(inputs)) if isinstance(inputs, dict) else (inputs if isinstance(inputs, tuple) else (inputs,), {})
    device = next(model.parameters()).device
    wait = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    reference = reference_of(torch, model, args, kwargs)
    wait()
    if job["engine"] == "onnxruntime":
        call, outputs = session_of(torch, job, model, args, kwargs, device)
    else:
        call, outputs = torch_call(torch, dict(job["settings"]), model, args, kwargs, device)

    def run():
        call()
        wait()

    run()
    error, cosine = difference(torch, reference, outputs())
    name = torch.cuda.get_device_name(device) if device.type == "cuda" else processor()
    return run, {"error": error, "cosine": cosine, "facts": {"torch": torch.__version__, "device": name}}


def processor():
    return next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "CPU")


def reference_of(torch, model, args, kwargs):
    matmul, convolution = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.allow_tf32 = False
    with torch.no_grad():
        kept = flat(torch, model(*args, **kwargs))
    torch.set_float32_matmul_precision(matmul)
    torch.backends.cudnn.allow_tf32 = convolution
    return kept


def flat(torch, value):
    """Copies, in double precision, of the floating-point tensors of an output."""
    from torch.utils._pytree import tree_flatten

    leaves, _ = tree_flatten(value)
    return [leaf.detach().double().cpu() for leaf in leaves if isinstance(leaf, torch.Tensor) and leaf.is_floating_point()]


def difference(torch, reference, outputs):
    """Largest scaled difference and least cosine over the outputs."""
    if len(reference) != len(outputs):
        raise Failed(f"{len(outputs)} outputs, expected {len(reference)}")
    error, cosine = 0.0, 1.0
    for one, two in zip(reference, outputs):
        if not bool(torch.isfinite(two).all()):
            raise Failed("an output is not finite")
        error = max(error, float((one - two).abs().max() / one.abs().max().clamp(min=1e-12)))
        cosine = min(cosine, float(torch.nn.functional.cosine_similarity(one.flatten(), two.flatten(), dim=0)))
    return error, cosine


def torch_call(torch, settings, model, args, kwargs, device):
    """(a call, its outputs' copies). Settings by the names of `ridgeline tune`, each applied here by torch's own calls."""
    precision, grad = settings.pop("torch_precision", "as_is"), settings.pop("grad_mode", "grad")
    compiled, graph = settings.pop("torch_compile", "off"), settings.pop("cuda_graph", False)
    if graph and device.type != "cuda" or compiled == "reduce-overhead" and device.type != "cuda":
        raise Failed("needs a CUDA device")
    tf32 = settings.pop("allow_tf32", None)
    if tf32 is not None:
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
        torch.backends.cudnn.allow_tf32 = tf32
    torch.backends.cudnn.benchmark = settings.pop("cudnn_benchmark", False)
    if "torch_threads" in settings:
        torch.set_num_threads(settings.pop("torch_threads"))
    change = lambda tensor: tensor
    if precision in ("fp16", "bf16"):
        dtype = torch.float16 if precision == "fp16" else torch.bfloat16
        model = model.to(dtype)
        change = lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor
    if settings.pop("channels_last", False):
        model, before = model.to(memory_format=torch.channels_last), change
        change = lambda tensor: (lambda one: one.contiguous(memory_format=torch.channels_last) if one.dim() == 4 else one)(before(tensor))
    args = tuple(change(one) if isinstance(one, torch.Tensor) else one for one in args)
    kwargs = {key: change(one) if isinstance(one, torch.Tensor) else one for key, one in kwargs.items()}
    call, compile_arguments = model, {}
    if settings.pop("compile_freezing", False):
        import torch._inductor.config

        torch._inductor.config.freezing = True
    for key in ("dynamic", "fullgraph"):
        if "compile_" + key in settings:
            compile_arguments[key] = settings.pop("compile_" + key)
    if compiled != "off":
        mode = "max-autotune-no-cudagraphs" if compiled == "max-autotune" and graph else compiled
        call = torch.compile(model, mode=mode, **compile_arguments)
    script, backend = settings.pop("torchscript", "off"), settings.pop("sdpa_backend", "auto")
    if settings:
        raise Failed(f"unknown settings: {', '.join(settings)}")
    stack = contextlib.ExitStack()
    if backend != "auto":
        from torch.nn.attention import SDPBackend, sdpa_kernel

        names = {"flash": "FLASH_ATTENTION", "efficient": "EFFICIENT_ATTENTION", "math": "MATH", "cudnn": "CUDNN_ATTENTION"}
        stack.enter_context(sdpa_kernel(getattr(SDPBackend, names[backend])))
    if grad != "grad":
        stack.enter_context({"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}[grad]())
    if script != "off":
        call = torch.jit.trace(model, args, strict=False)
        call = torch.jit.optimize_for_inference(torch.jit.freeze(call)) if script == "freeze" else call
    plain = lambda: call(*args, **kwargs)
    if precision.startswith("autocast"):
        inner, dtype = plain, torch.float16 if precision.endswith("fp16") else torch.bfloat16

        def plain():
            with torch.autocast(device.type, dtype=dtype, cache_enabled=not graph):
                return inner()
    if compiled != "off":
        from torch._dynamo.utils import counters
    for _ in range(3):
        plain()
    if compiled != "off" and not counters["frames"].get("ok"):
        raise Failed("ran eager: nothing was compiled")
    if not graph:
        return plain, lambda: flat(torch, plain())
    return captured(torch, plain)


def captured(torch, plain):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            plain()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        returned = plain()

    def outputs():
        graph.replay()
        torch.cuda.synchronize()
        return flat(torch, returned)

    return graph.replay, outputs


def exported(torch, job, model, args, kwargs, half):
    """The model's ONNX file, by the exporter that works; the processes of a set may come at the same time."""
    path = pathlib.Path(job["work"]) / ("half.onnx" if half else "full.onnx")
    if path.exists():
        return path
    problems = []
    for arguments in ({"dynamo": True}, {"dynamo": False}):
        with tempfile.TemporaryDirectory(dir=job["work"]) as folder:
            part = pathlib.Path(folder) / path.name
            try:
                with torch.no_grad():
                    if arguments["dynamo"]:
                        torch.onnx.export(model, args, str(part), kwargs=kwargs or None, dynamo=True, external_data=False)
                    else:
                        torch.onnx.export(model, args + ((kwargs,) if kwargs else ()), str(part), dynamo=False)
            except Exception as error:
                problems.append(f"{type(error).__name__}: {' '.join(str(error).split())[:120]}")
                continue
            part.rename(path)
            return path
    raise Failed("no exporter worked: " + "; ".join(problems))


def session_of(torch, job, model, args, kwargs, device):
    try:
        import onnxruntime
    except ImportError as error:
        raise Failed(str(error))
    cuda = device.type == "cuda"
    provider = job.get("provider") or ("CUDAExecutionProvider" if cuda else "CPUExecutionProvider")
    if provider not in onnxruntime.get_available_providers():
        raise Failed(f"onnxruntime {onnxruntime.__version__} has no {provider}")
    half = job["settings"].get("torch_precision") == "fp16"
    if half:
        model = model.half()
    change = lambda one: one.half() if half and one.is_floating_point() else one
    args, kwargs = tuple(change(one) for one in args), {key: change(one) for key, one in kwargs.items()}
    path = exported(torch, job, model, args, kwargs, half)
    settings, options = onnxruntime.SessionOptions(), {}
    settings.log_severity_level = 3
    chosen = job.get("options")
    if chosen is None:
        chosen = {"enable_cuda_graph": "1", "use_tf32": "1", "cudnn_conv_algo_search": "EXHAUSTIVE"} if cuda else {}
    for key, value in chosen.items():
        if "." in key:
            settings.add_session_config_entry(key, value)
        elif hasattr(settings, key):
            kind = type(getattr(settings, key))
            setattr(settings, key, value == "true" if kind is bool else int(value) if kind is int else getattr(kind, value))
        else:
            options[key] = value
    if cuda and hasattr(onnxruntime, "preload_dlls"):
        onnxruntime.preload_dlls()
    session = onnxruntime.InferenceSession(str(path), settings, providers=[(provider, options)])
    if session.get_providers()[0] != provider:
        raise Failed(f"{provider} was not taken; the session runs on {', '.join(session.get_providers())}")
    given = [*args, *kwargs.values()]
    binding, held = session.io_binding(), []
    for expected, tensor in zip(session.get_inputs(), given):
        tensor = tensor.contiguous()
        held.append(tensor)
        binding.bind_input(expected.name, device.type, device.index or 0, str(tensor.dtype).replace("torch.", ""), tuple(tensor.shape), tensor.data_ptr())
    with torch.no_grad():
        from torch.utils._pytree import tree_flatten

        leaves = [leaf for leaf in tree_flatten(model(*args, **kwargs))[0] if isinstance(leaf, torch.Tensor)]
    results = []
    for expected, leaf in zip(session.get_outputs(), leaves):
        tensor = torch.empty(leaf.shape, dtype=leaf.dtype, device=device)
        results.append(tensor)
        binding.bind_output(expected.name, device.type, device.index or 0, str(tensor.dtype).replace("torch.", ""), tuple(tensor.shape), tensor.data_ptr())
    for _ in range(3):
        if cuda:
            torch.cuda.synchronize()  # ONNX Runtime's stream does not wait for torch's
        session.run_with_iobinding(binding)

    def run(_=(held, results)):  # the session knows only their addresses
        session.run_with_iobinding(binding)

    def outputs():
        run()
        return flat(torch, results)

    return run, outputs


def warm_up(run):
    """Until a quarter second's median is within 2 % of the last one's, at most for 3 s."""
    last, begun = None, time.perf_counter()
    while time.perf_counter() - begun < 3:
        median = statistics.median(timed(run, 0.25))
        if last and abs(median / last - 1) < 0.02:
            return
        last = median


def timed(run, seconds):
    """Single calls in ms. The first ones find the caches and clocks of another process and do not count."""
    begun, clock = time.perf_counter(), time.perf_counter
    while True:
        run()
        if clock() - begun > 0.02:
            break
    times, begun = [], clock()
    while len(times) < 3 or clock() - begun < seconds:
        start = clock()
        run()
        times.append((clock() - start) * 1e3)
    return times


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        child(json.loads(os.environ["LOOP_JOB"]))
    else:
        sys.exit(main())
