#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What NVIDIA AITune makes of a PyTorch model, for benchmarks/torch_loop.py to time beside the pick of `ridgeline tune --python`.

    scripts/fetch_aitune.sh FOLDER
    benchmarks/torch_aitune.py benchmarks/models/torch_models.py:swin_tiny --aitune FOLDER --work WORK --json swin.aitune.json
    benchmarks/torch_loop.py benchmarks/models/torch_models.py:swin_tiny --pick RUN.json --aitune swin.aitune.json --json swin.json

AITune runs as its README has it, once, in a process of its own with cold caches: the model in `aitune.torch.Module` with
`MinLatencyStrategy`, `tune` with the model's own inputs and `batch_sizes=[1]`, which fixes the shapes, then `save`. It is offered its
default backends and ONNX Runtime, those of them that this machine can run; the file says which it had, what became of each, and how
long it took. `--thorough` adds what its user can list by hand: Inductor's other modes, ONNX Runtime's other exporter, and TorchAO
where half precision is allowed. AITune leaves TF32 to its user but turns it on in its TensorRT backend: it is on here too, unless
`--no-tf32`. `--precision auto` gives it the model with half weights, as the examples of its README do.

WORK keeps the tuned module and the compile caches, which the loop needs; it has to be empty. Exit code 1: AITune chose nothing.
"""
import argparse
import contextlib
import ctypes
import importlib
import importlib.machinery
import json
import logging
import os
import pathlib
import signal
import subprocess
import sys
import time
import types

from torch_candidate import caches_in, flat, load

# Packages that AITune imports at once, whichever backends are used, with the modules that it names.
AT_ONCE = {"tensorrt": (), "polygraphy": ("backend", "backend.trt", "logger"),
           "modelopt": ("onnx", "onnx.quantization", "onnx.autocast", "onnx.export", "torch", "torch.quantization"),
           "torchao": ("core", "core.config", "quantization"), "onnxruntime": (), "pandas": ()}
TOO_SLOW = 0.98  # of AITune's speed: the whole interval of a pick that is shown to be slower lies below


# The parent: a process with a time limit, and what became of it.


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", metavar="FILE.py:FUNCTION")
    parser.add_argument("--json", type=pathlib.Path, required=True, metavar="CHOICE.json")
    parser.add_argument("--work", type=pathlib.Path, required=True, metavar="FOLDER")
    parser.add_argument("--aitune", default="", metavar="FOLDER", help="site-packages of AITune, where torch's Python does not have it")
    parser.add_argument("--onnxruntime", default="", metavar="FOLDER", help="the same of an onnxruntime")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has torch")
    parser.add_argument("--precision", choices=["fp32", "auto"], default="fp32")
    parser.add_argument("--no-tf32", action="store_true")
    parser.add_argument("--thorough", action="store_true")
    parser.add_argument("--max-time", type=float, default=300, metavar="SECONDS", help="AITune is stopped then, without a choice")
    options = parser.parse_args()
    if options.aitune and not (pathlib.Path(options.aitune) / "aitune").is_dir():
        parser.error(f"{options.aitune} has no aitune; scripts/fetch_aitune.sh fetches it")
    options.work.mkdir(parents=True, exist_ok=True)
    if any(options.work.iterdir()):
        parser.error(f"{options.work} is not empty")
    options.work = options.work.resolve()
    choice = run(options)
    options.json.write_text(json.dumps(choice, indent=1) + "\n")
    print(told(choice))
    return 0 if choice["chosen"] else 1


def run(options):
    work, half = options.work, options.precision == "auto"
    packages = ":".join(str(pathlib.Path(folder).resolve()) for folder in (options.aitune, options.onnxruntime) if folder)
    job = {"target": options.target, "work": str(work), "half": half, "tf32": not options.no_tf32, "thorough": options.thorough}
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("TORCHINDUCTOR_", "AITUNE_"))}
    environment.update(caches_in(work), AITUNE_TUNING_DATA_PATH=str(work / "report.json"), AITUNE_JOB=json.dumps(job))
    if packages:
        environment["PYTHONPATH"] = packages + (":" + os.environ["PYTHONPATH"] if os.environ.get("PYTHONPATH") else "")
    problem, begun = None, time.monotonic()
    with open(work / "log.txt", "wb") as log:
        process = subprocess.Popen([options.python, __file__, "--child"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment,
                                   start_new_session=True, preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL))
        try:
            code = process.wait(options.max_time)
            if code:
                problem = f"its process ended with {signal.Signals(-code).name if code < 0 else code}"
        except subprocess.TimeoutExpired:
            problem = f"not done within {options.max_time:.0f} s"
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        seconds = time.monotonic() - begun
        with contextlib.suppress(ProcessLookupError):  # compilers are of the same group, and may outlive their parent
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    facts, report = (read(work / name) for name in ("facts.json", "report.json"))
    # Saving the result is not counted.
    if "ended" in facts:
        seconds = facts.pop("ended") - begun
    if problem and not facts.get("failed"):
        lines = [line for line in (work / "log.txt").read_text(errors="replace").splitlines() if line.strip()]
        problem += f": {lines[-1].strip()[:300]}" if lines and "within" not in problem else ""
    choice = {"target": options.target, "precision": options.precision, "seconds": seconds, "half": half, "tf32": not options.no_tf32,
              "thorough": options.thorough, "packages": packages, "work": str(work)}
    return {**choice, **outcome(facts, report, problem)}


def read(path):
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, ValueError):  # its process was killed before or while it wrote
        return {}


def outcome(facts, report, problem):
    """What AITune chose and what became of each backend: from what its process told, from AITune's own report, which is there even of a
    process that was killed, and from how that process ended."""
    graphs = [graph for module in report.get("modules", []) for graph in module["graphs"]]
    graph = graphs[0] if graphs else {}
    rows = []
    for build in graph.get("backend_builds", []):
        reason = None
        if build["exception"]:
            reason = f"{build['exception']['type']}: {' '.join(build['exception']['message'].split())[:300]}"
        elif build["success"] is None:
            reason = "being built when its process ended" if problem else "not built"
        rows.append({"backend": build["backend"], "seconds": build["duration_s"], "latency_ms": build["latency"], "failed": reason})
    # The first is the eager baseline, which AITune times before its candidates.
    if rows and graph.get("baseline_latency") and rows[0]["backend"].startswith("TorchEagerBackend"):
        rows[0]["latency_ms"] = graph["baseline_latency"]
    for row in rows:
        if not row["failed"] and row["latency_ms"] is None:
            kind = row["backend"].partition("(")[0]
            words = [text for text in facts.get("troubles", []) if kind in text]
            row["failed"] = words[-1] if words else "built, not timed"
    chosen = graph.get("selected_backend") if not problem else None
    if not problem and not chosen:
        raised = next((each["exception"] for each in [graph, *report.get("modules", []), report] if each and each.get("exception")), None)
        problem = f"{raised['type']}: {' '.join(raised['message'].split())[:300]}" if raised else "AITune chose nothing"
    elif problem and rows and rows[-1]["latency_ms"] is None:
        problem += f"; the last backend: {rows[-1]['backend']}"
    kept = {key: value for key, value in facts.items() if key != "troubles"}
    return {"chosen": chosen, "failed": None, **kept, **({"failed": facts.get("failed") or problem} if problem else {}), "backends": rows}


def told(choice):
    name = choice["target"].rpartition(":")[2]
    lines = [f"{name}, {choice['precision']}: AITune {choice.get('aitune', '')} "
             + (f"chose {choice['chosen']}" if choice["chosen"] else f"chose nothing ({choice['failed']})")
             + f" in {choice['seconds']:.0f} s; TF32 {'on' if choice['tf32'] else 'as torch has it'}"
             + (", half weights" if choice["half"] else "") + (f"; without {', '.join(choice['without'])}" if choice.get("without") else "")]
    for row in choice["backends"]:
        lines.append(f"  {row['backend']:<58} {row['seconds'] or 0:6.1f} s  "
                     + (f"failed: {row['failed']}" if row["failed"] else f"{row['latency_ms']:.3f} ms"))
    return "\n".join(lines + [f"  {name:<58} not offered: {reason}" for name, reason in choice.get("left_out", {}).items()])


# The loop's part: candidates, results, a table.


def candidates(choice):
    """Keys of the loop's candidates: the tuned module as its user calls it, and its backend alone, as AITune timed it, without what its
    wrapper checks at each call."""
    if not choice["chosen"]:
        return []
    settings = {"torch_precision": "fp16"} if choice["half"] else {}
    return [{"name": name, "settings": settings, "engine": "aitune", "packages": choice["packages"], "caches": choice["work"],
             "aitune": {"work": choice["work"], "half": choice["half"], "tf32": choice["tf32"], "direct": direct}}
            for name, direct in (("aitune", False), ("aitune backend", True))]


def result_of(choice, rivals, pick, eager, ratio, wrong):
    """Of the loop's result: how fast the pick is against AITune, each with its 95 % interval."""
    kept = {key: choice.get(key) for key in ("aitune", "chosen", "seconds", "failed", "half", "tf32", "thorough", "without", "left_out", "backends")}
    kept["wrong"] = None
    for each in rivals:
        words = each["name"].replace("aitune", "choice", 1).replace(" ", "_")
        if each["failed"]:
            kept["failed"] = f"{each['name']}: {each['failed']}"
            continue
        # AITune compares no values.
        kept["wrong"] = wrong(each) or None
        kept[words + "_against_eager"] = ratio(eager, each)
        if pick:
            kept[f"pick_against_{words}"] = ratio(each, pick)
    return kept


def reported(result, interval):
    kept = result["aitune"]
    if "pick_against_choice" not in kept:
        return f"AITune: {kept['failed'] or kept['chosen']}, {kept['seconds']:.0f} s"
    alone = f", {interval(kept['pick_against_choice_backend'])} of that backend's alone" if "pick_against_choice_backend" in kept else ""
    return (f"pick: {interval(kept['pick_against_choice'])} of the speed of AITune's choice, {kept['chosen']}{alone}"
            + (f"; AITune's outputs: {kept['wrong']}" if kept["wrong"] else "")
            + f"\ntime: ridgeline {format(result['tune_s'], '.0f') if result.get('tune_s') else '?'} s, AITune {kept['seconds']:.0f} s")


def table(results, interval):
    """A Markdown table of the results that have AITune, and the verdict."""
    results = [result for result in results if "aitune" in result]
    if not results:
        return ""
    lines = ["\n\n| model | precision | AITune's choice | ms | its backend alone, ms | pick, ms | pick against the choice | against its backend alone "
             "| ridgeline, s | AITune, s |", "|---|---|---|---|---|---|---|---|---|---|"]
    slower, sooner, timed = [], 0, 0
    for result in results:
        kept, name = result["aitune"], f"{result['target'].rpartition(':')[2]} {result['precision']}"
        times = {each["name"]: each.get("median_ms") for each in result["candidates"]}
        cells = [format(times[key], ".3f") if times.get(key) else "" for key in ("aitune", "aitune backend", "pick")]
        ratios = [kept.get("pick_against_" + key) for key in ("choice", "choice_backend")]
        seconds = result.get("tune_s")
        words = (kept["chosen"] or "none") + (f" ({kept['wrong'] or kept['failed']})" if kept["wrong"] or kept["failed"] else "")
        lines.append("| {} | {} | {} | {} | {} | {} | {} | {} | {} | {:.0f} |".format(
            *name.split(" "), words.replace("|", "\\|"), *cells, *(interval(each) if each else "" for each in ratios),
            format(seconds, ".0f") if seconds else "", kept["seconds"]))
        if ratios[0]:
            timed += 1
            sooner += bool(seconds and seconds < kept["seconds"])
            slower += [name] if any(each and each[2] < TOO_SLOW for each in ratios) else []
    missing = sorted({package for result in results for package in result["aitune"].get("without") or {}})
    lines.append(f"\nshown to be more than 2 % slower than AITune's choice, or than its backend alone: {', '.join(slower) or 'none'} of {timed}; "
                 f"in less time: {sooner} of {timed}; AITune {results[0]['aitune'].get('aitune')}"
                 + (f" without {', '.join(missing)}" if missing else ""))
    return "\n".join(lines)


# AITune's process, and the loop's processes that load what it saved.


class Anything(type):
    """Of stand-ins: any attribute of a class is a class, and making one takes any arguments."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(name)


def stand_in(name):
    return Anything(name, (), {"__init__": lambda self, *arguments, **keywords: None})


class MissingPackage(types.ModuleType):
    """Stands in, while AITune is imported, for a package that it imports at once but needs in some backends only, which are not offered
    then: TensorRT's wheels are not on PyPI, and ModelOpt quantizes for TensorRT."""

    __version__ = "1000"
    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return stand_in(name)


def import_aitune():
    """(aitune.torch, {package that is missing: why})."""
    # These look for packages, and must not find a stand-in.
    for name in ("torch._dynamo", "torch.onnx", "transformers.cache_utils"):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    missing, before = {}, {}
    for package, parts in AT_ONCE.items():
        names = [package, *(f"{package}.{part}" for part in parts)]
        try:
            for name in names:
                importlib.import_module(name)
        except Exception as error:  # a broken package raises anything
            missing[package] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
            for name in names:
                before[name] = sys.modules.get(name)
                sys.modules[name] = MissingPackage(name)
                sys.modules[name].__spec__ = importlib.machinery.ModuleSpec(name, None, is_package=True)
                parent, _, own = name.rpartition(".")
                if parent:
                    setattr(sys.modules[parent], own, sys.modules[name])
    try:
        if "tensorrt" in missing:  # it would take the stand-in
            raise ImportError("needs tensorrt")
        importlib.import_module("torch_tensorrt")
    except Exception as error:
        missing["torch_tensorrt"] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        before["torch_tensorrt"] = sys.modules.get("torch_tensorrt")
        sys.modules["torch_tensorrt"] = None
    try:
        import aitune.torch
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    return aitune.torch, missing


def offered(missing, job, device):
    """(the backends, in AITune's order, {name: why it is not among them})."""
    from aitune.torch import backend as of

    def inductor(mode):
        return of.TorchInductorJitBackend(config=of.TorchInductorJitBackendConfig(mode=mode))

    wanted = [
        ("TensorRTBackend", ("tensorrt", "polygraphy"), lambda: of.TensorRTBackend()),
        ("TensorRTBackend(use_dynamo=False)", ("tensorrt", "polygraphy"),
         lambda: of.TensorRTBackend(config=of.TensorRTBackendConfig(use_dynamo=False))),
        ("TorchInductorAotBackend", (), lambda: of.TorchInductorAotBackend()),
        ("TorchTensorRTAotBackend", ("torch_tensorrt",), lambda: of.TorchTensorRTAotBackend()),
        ("TorchInductorJitBackend", (), lambda: of.TorchInductorJitBackend()),
        ("ONNXRuntimeBackend", ("onnxruntime",), lambda: of.ONNXRuntimeBackend())]
    left_out = {"KernelSelectorBackend": "experimental: it chooses attention kernels, some of which it fetches"}
    if job["thorough"]:
        wanted += [("TorchInductorJitBackend(mode=reduce-overhead)", (), lambda: inductor("reduce-overhead")),
                   ("TorchInductorJitBackend(mode=max-autotune)", (), lambda: inductor("max-autotune")),
                   ("ONNXRuntimeBackend(use_dynamo=False)", ("onnxruntime",),
                    lambda: of.ONNXRuntimeBackend(config=of.ONNXRuntimeBackendConfig(use_dynamo=False)))]
    if job["thorough"] and job["half"]:
        wanted.append(("TorchAOBackend", ("torchao",), lambda: of.TorchAOBackend()))
    else:
        left_out["TorchAOBackend"] = "quantizes to FP8; with half weights and --thorough only"
    backends = []
    for name, packages, make in wanted:
        lacks = [package for package in packages if package in missing]
        if not lacks and "onnxruntime" in packages:
            import onnxruntime

            if "CUDAExecutionProvider" not in onnxruntime.get_available_providers() or device.type != "cuda":
                left_out[name] = f"onnxruntime {onnxruntime.__version__} without CUDAExecutionProvider"
                continue
        if lacks:
            left_out[name] = f"no {' and '.join(lacks)}"
            continue
        try:
            backends.append(make())
        except Exception as error:
            left_out[name] = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
    return backends, left_out


def show_cuda_runtime():
    """AITune's ONNX Runtime backend looks for libcudart in LD_LIBRARY_PATH and in /usr; that of torch's wheel lies elsewhere."""
    with open("/proc/self/maps") as maps:
        folders = [os.path.dirname(line.split()[-1]) for line in maps if "/libcudart.so" in line]
    if folders:
        os.environ["LD_LIBRARY_PATH"] = ":".join([folders[0], *filter(None, [os.environ.get("LD_LIBRARY_PATH")])])


def prepared(torch, job, model, args, kwargs):
    """The model and its inputs as they are given to AITune, and torch's settings, which it does not touch."""
    if job["tf32"]:
        torch.set_float32_matmul_precision("high")
        torch.backends.cudnn.allow_tf32 = True
    if job["half"]:
        model = model.half()
        change = lambda one: one.half() if isinstance(one, torch.Tensor) and one.is_floating_point() else one
        args, kwargs = tuple(change(one) for one in args), {key: change(one) for key, one in kwargs.items()}
    show_cuda_runtime()
    runtime = sys.modules.get("onnxruntime")
    if runtime and "CUDAExecutionProvider" in runtime.get_available_providers() and hasattr(runtime, "preload_dlls"):
        runtime.preload_dlls()
    return model, args, kwargs


def storage(aitune, work):
    # Packed, each process that loads it would unpack it into the same folder.
    return aitune.LocalTorchStorage(base_folder=pathlib.Path(work) / "checkpoint", compress_checkpoint=False)


class Troubles(logging.Handler):
    """Why a backend was turned down that had been built; AITune's report has no room for it."""

    def __init__(self):
        super().__init__(logging.WARNING)
        self.texts = []

    def emit(self, record):
        self.texts.append(" ".join(record.getMessage().split())[:300])


def child(job):
    facts, path = {}, pathlib.Path(job["work"]) / "facts.json"

    def tell(**more):
        facts.update(more)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(facts))
        part.rename(path)

    try:
        choose(job, tell)
    except Exception as error:
        import traceback

        traceback.print_exc()
        tell(failed=f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")
        return 1
    return 0


def choose(job, tell):
    import torch

    aitune, missing = import_aitune()
    from aitune.__version__ import __version__ as version

    torch.manual_seed(0)
    model, inputs = load(job["target"])()[:2]
    args, kwargs = ((), dict(inputs)) if isinstance(inputs, dict) else (inputs if isinstance(inputs, tuple) else (inputs,), {})
    model, args, kwargs = prepared(torch, job, model, args, kwargs)
    device = next(model.parameters()).device
    backends, left_out = offered(missing, job, device)
    tell(aitune=version, without=missing, left_out=left_out,
         facts={"torch": torch.__version__, "device": torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"})
    logging.basicConfig(level=logging.INFO, force=True)
    troubles = Troubles()
    logging.getLogger("aitune").addHandler(troubles)
    module = aitune.Module(model, "model", strategy=aitune.MinLatencyStrategy(backends=backends))
    # One sample that is passed on as it is: it has its batch axis.
    samples = aitune.DataLoaderFactory([(args, kwargs)], collate_fn=lambda batch: batch[0])
    aitune.tune(module, samples, batch_sizes=[1], device=str(device))
    if device.type == "cuda":
        torch.cuda.synchronize()
    tell(ended=time.monotonic(), troubles=troubles.texts)
    aitune.save(module, "model", storage=storage(aitune, job["work"]))


def tuned(torch, job, model, args, kwargs):
    """(a call, its outputs' copies) of what AITune saved, for a candidate's process of the loop."""
    aitune, _ = import_aitune()
    model, args, kwargs = prepared(torch, job, model, args, kwargs)
    torch.set_grad_enabled(False)
    module = aitune.load(model, "model", storage=storage(aitune, job["work"]))
    call = module
    if job["direct"] and type(module) is aitune.Module:
        (backend,) = module.module.backends.values()
        # The wrapper puts itself in place of the model's forward, which the backend calls, and takes itself out during each of its calls.
        module._restore_original_forward()
        call = backend.infer
    plain = lambda: call(*args, **kwargs)
    for _ in range(3):
        plain()
    return plain, lambda: flat(torch, plain())


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        sys.exit(child(json.loads(os.environ["AITUNE_JOB"])))
    sys.exit(main())
