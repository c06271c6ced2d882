#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which ONNX Runtime and which execution provider runs a model fastest? An independent check of `ridgeline tune --provider auto`:
onnxruntime's Python package and a loop, nothing of ours.

A candidate is the folder of a wheel (scripts/fetch_wheels.sh), a provider and its options. Each gets a Python process of its
own; they take blocks in turns, A B C C B A, and those that wait are stopped (SIGSTOP; their CPU time is read). This is repeated
in fresh processes, whose means give the 95 % intervals. The first candidate is the baseline and the reference of the outputs.
    benchmarks/provider_loop.py MODEL --shape x:1x3x640x640 --json det.json \\
      --candidate '~/.cache/ridgeline/wheels/onnxruntime-1.32.0 CPUExecutionProvider' \\
      --candidate '~/.cache/ridgeline/wheels/onnxruntime-openvino-1.24.1 OpenVINOExecutionProvider device_type=CPU'
    benchmarks/provider_loop.py --markdown det.json rec.json cls.json        the table of docs/runtimes.md
Options: attributes of SessionOptions (intra_op_num_threads=2, graph_optimization_level=ORT_ENABLE_BASIC), session config
entries (a dot in the key), `ep_library=FILE` to register a plug-in, `name=TEXT`; any other is the provider's.
`--defaults FOLDER...`: every provider of these wheels that works on a CPU. `--pick RUN.json`: what `ridgeline tune --json`
recommends, its settings by ONNX Runtime's names (`--ridgeline BIN` tells them).
"""
import argparse
import contextlib
import ctypes
import hashlib
import json
import math
import os
import pathlib
import resource
import select
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time

from timed_calls import timed, warm_up

# 97.5 % quantiles of Student's t by degrees of freedom.
T = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131]
READY_S = 180  # for a session and its warm-up; the first run of a software GPU takes half a minute


class Failed(Exception):
    """A candidate that cannot be timed."""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, nargs="?")
    parser.add_argument("--candidate", action="append", default=[])
    parser.add_argument("--defaults", nargs="+", default=[], metavar="FOLDER")
    parser.add_argument("--pick", type=pathlib.Path, metavar="RUN.json")
    parser.add_argument("--ridgeline", default="ridgeline", metavar="BIN")
    parser.add_argument("--title", help="of the model in the table (default: its file's name)")
    parser.add_argument("--shape", action="extend", nargs="+", default=[], metavar="INPUT:AxBxC")
    parser.add_argument("--input", action="extend", nargs="+", default=[], metavar="INPUT:FILE.npy")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=5, help="sets of fresh processes (at least 4)")
    parser.add_argument("--rounds", type=int, default=8, help="A B C C B A in each")
    parser.add_argument("--block", type=float, default=0.15, metavar="SECONDS", help="of one block at least, and three runs")
    parser.add_argument("--numpy", type=pathlib.Path, default=pathlib.Path("~/.cache/ridgeline/wheels/numpy-1.26.4"))
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", nargs="+", type=pathlib.Path, metavar="FILE.json")
    options = parser.parse_args()
    if options.markdown:
        print(markdown([json.loads(path.read_text()) for path in options.markdown]))
        return 0
    candidates = [parsed(text) for text in options.candidate] + [each for folder in options.defaults for each in defaults(folder)]
    if options.pick:
        candidates.append(picked(json.loads(options.pick.read_text()), options.ridgeline))
    if not options.model or len(candidates) < 2 or options.repetitions < 4:
        parser.error("expected a model, two candidates and at least 4 repetitions")
    result = compare(options, candidates)
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")
    report(result)
    return 0


def parsed(text):
    folder, provider, *settings = shlex.split(text)
    settings = dict(setting.split("=", 1) for setting in settings)
    folder = pathlib.Path(folder).expanduser().resolve()
    return {"name": settings.pop("name", f"{folder.name} {provider.removesuffix('ExecutionProvider')}"), "packages": str(packages_of(folder)),
            "provider": provider, "options": settings}


def defaults(folder):
    known = {"onnxruntime": ["CPU"], "onnxruntime-openvino": ["OpenVINO", "CPU"], "onnxruntime-gpu": ["CPU"]}
    name = pathlib.Path(folder).name.rsplit("-", 1)[0]
    return [parsed(f"{shlex.quote(str(folder))} {provider}ExecutionProvider") for provider in known.get(name, [])]


def picked(run, binary):
    names = {"cpu": "CPU", "openvino": "OpenVINO", "cuda": "CUDA", "tensorrt": "Tensorrt"}
    candidate, settings, properties = run["verdict"]["candidate"], {}, {}
    if candidate["provider"] not in names:
        raise SystemExit(f"error: the pick's provider is {candidate['provider']}; expected one of {', '.join(names)}. Name a plug-in by --candidate")
    params = {param["key"]: param for param in json.loads(subprocess.run([binary, "params", "--json"], stdout=subprocess.PIPE, check=True).stdout)}
    for key, value in run["verdict"]["configuration"].items():
        if key == "candidate":
            continue
        param = params[key]
        target, scope = param["target"], param["scope"]
        text = str(int(value)) if isinstance(value, bool) else str(value)
        if scope == "session option":
            target = target.removeprefix("session.")
            if param["type"] == "choice":
                text = ("ORT_" if text == "disable_all" or target != "graph_optimization_level" else "ORT_ENABLE_") + text
                text = text.upper()
            settings[target] = str(value).lower() if isinstance(value, bool) else text
        elif scope == "session config" or (scope == "provider option" and "." not in target):
            settings[target] = text
        elif scope == "provider option":
            option, name = target.split(".", 1)
            properties.setdefault(option, {})[name] = text
        elif value != param["default"]:
            raise SystemExit(f"error: the pick has {key}={text}, which no session of ONNX Runtime takes; tune with --set {key}={param['default']}")
    # Properties of OpenVINO's device, in one option.
    settings.update({option: json.dumps({"CPU": values}) for option, values in properties.items()})
    return {"name": f"pick: {candidate['version']} {candidate['provider']}", "packages": str(pathlib.Path(candidate["path"]).parents[2]),
            "provider": names[candidate["provider"]] + "ExecutionProvider", "options": settings}


def packages_of(folder):
    found = sorted(folder.glob("lib/python3*/site-packages"))
    if not found and not (folder / "onnxruntime").is_dir():
        raise SystemExit(f"error: {folder} holds no Python packages; expected a folder of scripts/fetch_wheels.sh or a site-packages folder")
    return found[0] if found else folder


# The parent: processes in turns, statistics.


def end_with_parent():
    """A stopped process would outlive a killed parent."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Child:
    """A candidate's process; stopped except while it answers."""

    def __init__(self, candidate, options, outputs):
        self.candidate, self.waited = candidate, 0.0
        job = {**candidate, "model": str(options.model), "shape": options.shape, "input": options.input, "seed": options.seed,
               "outputs": str(outputs)}
        numpy = packages_of(options.numpy.expanduser())
        environment = {key: value for key, value in os.environ.items() if not key.startswith(("ORT_", "OV_", "OMP_", "KMP_", "PYTHON"))}
        environment.update(PYTHONPATH=f"{candidate['packages']}:{numpy}", ORT_DISABLE_TELEMETRY="1")
        self.words = tempfile.TemporaryFile()
        self.process = subprocess.Popen([sys.executable, "-s", __file__, "--child", json.dumps(job)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.words, env=environment, start_new_session=True, preexec_fn=end_with_parent)

    def tasks(self, file):
        texts = []
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            with contextlib.suppress(OSError):  # a thread that has just ended
                texts.append((task / file).read_text())
        return texts

    def cpu_s(self):
        return sum(int(text.split()[0]) for text in self.tasks("schedstat")) / 1e9

    def answer(self, limit_s):
        if not select.select([self.process.stdout], [], [], limit_s)[0]:
            self.end()
            raise Failed(f"no answer within {limit_s} s")
        line = self.process.stdout.readline()
        if not line:
            code = self.process.wait()
            self.words.seek(0)
            words = self.words.read().decode(errors="replace").strip().splitlines()
            raise Failed(f"its process ended with {signal.Signals(-code).name if code < 0 else code}" + (f": {words[-1]}" if words else ""))
        reply = json.loads(line)
        if "failed" in reply:
            raise Failed(reply["failed"])
        self.stop()
        return reply

    def stop(self):
        os.killpg(self.process.pid, signal.SIGSTOP)
        while any(text.rsplit(")", 1)[1].split()[0] not in "TZX" for text in self.tasks("stat")):
            time.sleep(0.0002)
        self.stopped_at = self.cpu_s()

    def block(self, seconds):
        self.waited = max(self.waited, self.cpu_s() - self.stopped_at)
        os.killpg(self.process.pid, signal.SIGCONT)
        with contextlib.suppress(BrokenPipeError):  # it has ended; answer says how
            self.process.stdin.write(f"{seconds}\n".encode())
            self.process.stdin.flush()
        return self.answer(60 + 20 * seconds)

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def compare(options, candidates):
    digest = hashlib.sha256(options.model.read_bytes()).hexdigest()
    for number, candidate in enumerate(candidates):
        candidate.update(number=number, failed=None, medians=[], rounds=[], waited_cpu_s=0.0)
    with tempfile.TemporaryDirectory(prefix="provider-loop-") as folder:
        for repetition in range(options.repetitions):
            # Sessions are made in another order each time.
            order = [candidate for candidate in candidates if not candidate["failed"]]
            shift = repetition % len(order)
            repeat(options, order[shift:] + order[:shift], pathlib.Path(folder))
            if candidates[0]["failed"]:
                raise SystemExit(f"error: the baseline {candidates[0]['name']}: {candidates[0]['failed']}")
            print(f"repetition {repetition + 1} of {options.repetitions}: "
                  + ", ".join(f"{each['name']} {each['medians'][-1]:.3f} ms" for each in candidates if not each["failed"]), file=sys.stderr)
    timed = [candidate for candidate in candidates if not candidate["failed"]]
    fastest = max(timed, key=lambda each: ratio(timed[0]["rounds"], each["rounds"])[0])
    for candidate in timed:
        candidate["median_ms"] = statistics.median(candidate.pop("medians"))
        candidate["as_fast_as_baseline"] = ratio(timed[0]["rounds"], candidate["rounds"])
        candidate["as_fast_as_fastest"] = ratio(fastest["rounds"], candidate["rounds"])
    for candidate in candidates:
        candidate.pop("number")
        packages = pathlib.Path(candidate["packages"])
        candidate["packages"] = packages.parents[2].name if packages.name == "site-packages" else str(packages)
        candidate.pop("medians", None)
        candidate.pop("rounds")
    cpu = next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "")
    return {"model": options.title or options.model.stem, "model_sha256": digest, "shapes": options.shape, "seed": options.seed, "cpu": cpu,
            "cpus": len(os.sched_getaffinity(0)), "repetitions": options.repetitions, "rounds": options.rounds, "block_s": options.block,
            "candidates": candidates}


def repeat(options, order, folder):
    """One set of fresh processes: adds to each candidate its median, and its mean log time in each round."""
    children = []
    try:
        for candidate in order:
            child = Child(candidate, options, folder / f"{candidate['number']}.npz")
            try:
                candidate.update(child.answer(READY_S))
                children.append(child)
            except Failed as failure:
                child.end()
                candidate["failed"] = str(failure)
        latencies = {child: [] for child in children}
        logs = {child: [] for child in children}
        for number in range(options.rounds):
            shift = number % len(children) if children else 0
            turns = children[shift:] + children[:shift]
            for child in turns + turns[::-1]:
                if child.candidate["failed"]:
                    continue
                try:
                    block = child.block(options.block)["ms"]
                except Failed as failure:
                    child.candidate["failed"] = str(failure)
                    continue
                latencies[child] += block
                logs[child].append(math.log(statistics.median(block)))
        for child in children:
            if not child.candidate["failed"]:
                child.candidate["medians"].append(statistics.median(latencies[child]))
                child.candidate["rounds"].append([statistics.fmean(pair) for pair in zip(logs[child][::2], logs[child][1::2])])
                child.candidate["waited_cpu_s"] = max(child.candidate["waited_cpu_s"], child.waited)
    finally:
        for child in children:
            child.end()


def ratio(base, other):
    """How many times as fast `other` is, with its 95 % interval. A round's two blocks of each have the same middle, so slow drift
    cancels; the median over a repetition's rounds leaves out disturbed ones, and the repetitions' scatter gives the interval."""
    differences = [statistics.median(one - two for one, two in zip(*rounds)) for rounds in zip(base, other)]
    mean, count = statistics.fmean(differences), len(differences)
    half = T[min(count - 1, len(T) - 1)] * statistics.stdev(differences) / math.sqrt(count)
    return [math.exp(mean), math.exp(mean - half), math.exp(mean + half)]


def report(result):
    print(f"{result['model']} {' '.join(result['shapes'])}, {result['cpu']}, {result['cpus']} CPUs")
    for each in result["candidates"]:
        if each["failed"]:
            print(f"{each['name']:<44} failed: {each['failed']}")
            continue
        speed, low, high = each["as_fast_as_baseline"]
        behind = "" if each["as_fast_as_fastest"][2] == 1 else "  {:.3f} [{:.3f}, {:.3f}] of the fastest".format(*each["as_fast_as_fastest"])
        print(f"{each['name']:<44} {each['version']:<8} {each['median_ms']:9.3f} ms  {speed:.3f} [{low:.3f}, {high:.3f}]{behind}  "
              f"output error {each['output_error']:.1e}  load {each['create_ms']:.0f} ms  {each['peak_rss_mb']:.0f} MB  nodes {each['nodes']}")
        if each["waited_cpu_s"] > 0.002:
            print(f"  used {each['waited_cpu_s']:.3f} s of CPU time while it waited: its times disturb the others'")


def markdown(results):
    names = list(dict.fromkeys(each["name"] for result in results for each in result["candidates"]))
    titles = [" ".join([result["model"], *dict.fromkeys(shape.rsplit(":", 1)[1] for shape in result["shapes"])]) for result in results]
    lines = ["| candidate | " + " | ".join(titles) + " |", "|---|" + "---|" * len(results)]
    for name in names:
        cells = []
        for result in results:
            each = next((each for each in result["candidates"] if each["name"] == name), None)
            cells.append("" if not each else "fails" if each["failed"] else "{:.2f} ms, {:.2f} [{:.2f}, {:.2f}]".format(
                each["median_ms"], *each["as_fast_as_baseline"]))
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


# The child: one runtime, one session.


def child(job):
    # Libraries write on standard output; the answers go where they cannot.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(reply):
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

    try:
        run, facts = prepare(job)
    except Exception as error:  # whatever a runtime raises is this candidate's reason
        say({"failed": " ".join(str(error).split())[:400]})
        return
    warm_up(run, 0.5, 5)
    say({**facts, "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024})
    for line in sys.stdin:
        say({"ms": timed(run, float(line))})


def prepare(job):
    import numpy
    import onnxruntime

    if not onnxruntime.__file__.startswith(job["packages"]):
        raise Failed(f"Python took {onnxruntime.__file__}")
    settings, provider_options, library = onnxruntime.SessionOptions(), {}, None
    settings.log_severity_level = 3
    version = tuple(int(part) for part in onnxruntime.__version__.split(".")[:2])
    if version >= (1, 24):
        settings.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
    for key, value in job["options"].items():
        if key == "ep_library":
            library = value
        elif "." in key:
            settings.add_session_config_entry(key, value)
        elif hasattr(settings, key):
            kind = type(getattr(settings, key))
            setattr(settings, key, value == "true" if kind is bool else int(value) if kind is int else getattr(kind, value))
        else:
            provider_options[key] = value
    begun = time.perf_counter()
    if library:
        onnxruntime.register_execution_provider_library("plug-in", os.path.abspath(os.path.expanduser(library)))
        devices = [device for device in onnxruntime.get_ep_devices() if device.ep_name == job["provider"]]
        if not devices:
            raise Failed("registers and offers no device here")
        settings.add_provider_for_devices(devices[:1], provider_options)
        session = onnxruntime.InferenceSession(job["model"], settings)
    else:
        session = onnxruntime.InferenceSession(job["model"], settings, providers=[(job["provider"], provider_options)])
    created = time.perf_counter() - begun
    if session.get_providers()[0] != job["provider"]:
        raise Failed(f"{job['provider']} was not taken; the session runs on {', '.join(session.get_providers())}")
    nodes = assigned(session) if version >= (1, 24) else None
    if nodes is not None and not nodes.get(job["provider"]):
        raise Failed(f"{job['provider']} took no node: {nodes}")
    feeds = inputs(session, job, numpy)
    outputs = session.run(None, feeds)
    error = output_error(outputs, pathlib.Path(job["outputs"]).with_name("0.npz"), job["number"] == 0, numpy)
    facts = {"version": onnxruntime.__version__, "create_ms": created * 1e3, "nodes": nodes, "output_error": error}
    return lambda: session.run(None, feeds), facts


def assigned(session):
    nodes = {}
    for subgraph in session.get_provider_graph_assignment_info():
        nodes[subgraph.ep_name] = nodes.get(subgraph.ep_name, 0) + len(subgraph.get_nodes())
    return nodes


def inputs(session, job, numpy):
    """Uniform from 0 to 1; of integers 0 or 1: legal indices, masks and token types."""
    shapes = {name: [int(size) for size in dims.split("x")] for name, dims in (text.rsplit(":", 1) for text in job["shape"])}
    files = dict(text.split(":", 1) for text in job["input"])
    types = {f"tensor({kind})": numpy_kind for kind, numpy_kind in (("float", "float32"), ("float16", "float16"), ("double", "float64"),
                                                                    ("int64", "int64"), ("int32", "int32"), ("bool", "bool"))}
    feeds = {}
    for each in session.get_inputs():
        if each.name in files:
            feeds[each.name] = numpy.load(files[each.name])
            continue
        shape = shapes.get(each.name, each.shape)
        if not all(isinstance(size, int) for size in shape):
            raise Failed(f"input {each.name} has shape {each.shape}; give --shape {each.name}:AxBxC")
        kind = types.get(each.type)
        if kind is None:
            raise Failed(f"input {each.name} is {each.type}; expected one of {', '.join(types)}, or give --input {each.name}:FILE.npy")
        random = numpy.random.default_rng([job["seed"], *each.name.encode()])
        feeds[each.name] = random.random(shape).astype(kind) if kind.startswith("float") else random.integers(0, 2, shape).astype(kind)
    return feeds


def output_error(outputs, reference, is_reference, numpy):
    """Largest difference from the baseline's outputs, as a share of an output's largest magnitude (of 1e-3 at least)."""
    if is_reference and not reference.exists():
        numpy.savez(reference, *outputs)
    if not reference.exists():
        return None
    with numpy.load(reference) as expected:
        return max(float(numpy.abs(numpy.subtract(one, two, dtype="float64")).max() / max(float(numpy.abs(two).max()), 1e-3))
                   for one, two in zip(outputs, expected.values()))


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--child":
        child(json.loads(sys.argv[2]))
    else:
        sys.exit(main())
