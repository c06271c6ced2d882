#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is the fastest way to call a PyTorch model? An independent check of `ridgeline tune --python`: torch, onnxruntime and a loop,
nothing of ours.

Run it with the Python that has torch. Each candidate is a process of its own that makes the model, compares its outputs with eager FP32's (TF32 off), applies the candidate's
settings, warms up, and times single calls, each with a wait for the device. After a first look at all of them, the fastest two, eager
with torch's defaults and the pick are timed again in at least 4 sets of fresh processes, in blocks that take turns (A B C C B A); the
compile cache is shared, so that a fresh process runs the code that the first one made. The scatter over the sets gives the 95 %
intervals.
    benchmarks/torch_loop.py benchmarks/models/torch_models.py:swin_tiny --json swin.json --pick RUN.json
    benchmarks/torch_loop.py --summary swin.json convnext.json      a table and the geometric means
`--pick RUN.json` is what `ridgeline tune --python ... --json` recommends, applied from its settings; given several times, of runs with
other limits for example, the first is the pick, and the others are timed beside it. `--precision auto` adds half
weights. `--onnxruntime FOLDER` is the site-packages folder of an onnxruntime that torch's Python does not have. `--aitune CHOICE.json`, of
benchmarks/torch_aitune.py, puts what NVIDIA AITune chose beside the pick.
"""
import argparse
import contextlib
import ctypes
import faulthandler
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

import torch_aitune
from torch_candidate import Failed, caches_in
from torch_fork import Forked, preload

# 97.5 % quantiles of Student's t by degrees of freedom.
T = [math.nan, 12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228]
LEAST_COSINE, LARGEST_ERROR = 0.999, 1e-2  # of half weights; of FP32 with TF32, scaled
HOPELESS = 1.5  # times the fastest after the first look
TOO_SLOW = 0.97  # of the best's speed: the whole interval of a pick that is shown to be slower lies below
PICKED = ("settings", "engine", "provider", "options", "packages")  # what a pick is
TUNED = {"grad_mode": "inference_mode", "allow_tf32": True, "cudnn_benchmark": True}
EAGER = {"grad_mode": "no_grad"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", nargs="?", metavar="FILE.py:FUNCTION")
    parser.add_argument("--pick", type=pathlib.Path, metavar="RUN.json", action="append", default=[])
    parser.add_argument("--aitune", type=pathlib.Path, metavar="CHOICE.json")
    parser.add_argument("--precision", choices=["fp32", "auto"], default="fp32")
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
    faulthandler.dump_traceback_later(2 * options.budget + 200, exit=True)  # where it waits, instead of nothing
    with contextlib.ExitStack() as stack:
        if options.work:
            options.work.mkdir(parents=True, exist_ok=True)
        else:
            options.work = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="torch-loop-")))
        options.forks = preload(options.target, caches_in(options.cache or options.work))
        if not options.forks:
            print("what the target imports starts CUDA: every process imports it anew", file=sys.stderr)
        import torch

        options.on_gpu = torch.cuda.is_available()
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
    # "onnx:cuda@1.31.1+dynamo+fp16"
    half = run["verdict"]["configuration"]["candidate"].endswith("+fp16")
    return candidate("pick", {"torch_precision": "fp16"} if half else {}, engine="onnxruntime", packages=packages, provider=made["provider"], options=made["options"])


def end_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


class Child:
    """A candidate's process. Between its blocks it waits on a pipe, its device idle."""

    def __init__(self, candidate, options, at_once, number):
        self.candidate, self.number = candidate, number  # its place among those that start together
        job = {key: candidate[key] for key in ("name", "settings", "engine", "provider", "options", "aitune") if key in candidate}
        # Models are made on the CPU, where eight processes with all its threads take ten times as long as one.
        threads = max(1, len(os.sched_getaffinity(0)) // at_once) if options.on_gpu and at_once > 1 else 0
        job.update(target=options.target, work=str(options.work), threads=threads)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("TORCHINDUCTOR_")}
        environment.update(caches_in(pathlib.Path(candidate.get("caches") or options.cache or options.work)), LOOP_JOB=json.dumps(job))
        packages = candidate.get("packages") or (options.onnxruntime if candidate["engine"] == "onnxruntime" else "")
        self.words = tempfile.TemporaryFile()
        if options.forks and candidate["engine"] != "aitune":  # which may change torch when it is imported
            self.process = Forked(job, environment, packages, self.words, end_with_parent)
            return
        if packages:
            environment["PYTHONPATH"] = packages + (":" + os.environ["PYTHONPATH"] if os.environ.get("PYTHONPATH") else "")
        self.process = subprocess.Popen([sys.executable, __file__, "--child"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.words,
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
        return statistics.median(self.answer(15 + 20 * seconds)["ms"])

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
            group = [Child(each, options, at_once, start + place) for place, each in enumerate(candidates[start:start + at_once])]
            every += group
            for child in group:
                try:
                    child.candidate.update(child.answer(end - time.perf_counter()))
                    ready.append(child)
                except Failed as failure:
                    child.candidate["failed"] = str(failure)
                print(f"{time.perf_counter() - end + limit_s:.0f} s: {child.candidate['name']} {child.candidate['failed'] or 'ready'}", file=sys.stderr)
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
        # Nothing that AITune chose is turned down for its outputs: it compares none, and the result says how far off they are.
        problem = each["failed"] or ("" if each["engine"] == "aitune" else wrong(each))
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
    runs = [json.loads(file.read_text()) for file in options.pick]
    picks = []  # one for each run; the same for runs that recommend the same
    for run in runs:
        made = picked(run, options.ridgeline)
        same = next((each for each in picks if all(each.get(key) == made.get(key) for key in PICKED)), None)
        if not same and picks:
            made["name"] = f"pick {len(picks) + 1}"
        picks.append(same or made)
    pick = picks[0] if picks else None
    distinct = [each for at, each in enumerate(picks) if each not in picks[:at]]
    choice = json.loads(options.aitune.read_text()) if options.aitune else None
    rivals = [candidate(**each) for each in torch_aitune.candidates(choice)] if choice else []
    cpus = len(os.sched_getaffinity(0))
    at_once = min(16, cpus)
    look([each for each in candidates if not each["slow_start"]] + distinct, options, 0.45 * options.budget, at_once)
    if candidates[0]["failed"]:
        raise SystemExit(f"error: eager: {candidates[0]['failed']}")
    for each in distinct:
        if each["failed"]:
            raise SystemExit(f"error: the {each['name']}: {each['failed']}")
    # What times kernels while it compiles is alone on the device; fresh processes take what is left.
    finals_s = 0.4 * options.budget
    for each in candidates:
        if not each["slow_start"]:
            continue
        if left_s() - finals_s < 15:
            each["failed"] = "no time left"
        else:
            look([each], options, left_s() - finals_s, 1)
    if rivals:
        look(rivals, options, 120, at_once)
    looked_s = time.perf_counter() - begun
    timed = sorted((each for each in candidates[1:] if not each["failed"]), key=lambda each: each["look_ms"])
    best_ms = min(each["look_ms"] for each in (timed or candidates[:1]))
    finalists = [each for each in timed[:2] if each["look_ms"] <= HOPELESS * best_ms]
    again = [candidates[0], *finalists, *distinct, *(each for each in rivals if not each["failed"])]
    # Starting takes longer than timing, so the processes of all sets start together and wait, idle, for their set's turn.
    orders = [again[number % len(again):] + again[:number % len(again)] for number in range(options.repetitions)]
    with children([each for order in orders for each in order], options, 240, at_once if cpus >= 2 * len(again) else 1) as ready:
        for number in range(options.repetitions):
            own = [child for child in ready if child.number // len(again) == number]
            for child, blocks in in_turns(own, options.rounds, options.block).items():
                child.candidate["sets"].append(blocks)
    for each in rivals:
        if not each["failed"] and len(each["sets"]) < options.repetitions:
            each["failed"] = "lost in a fresh process"
    again = [each for each in again if each not in rivals or not each["failed"]]
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
        result["tune_s"] = runs[0]["run"].get("duration_s")
        result["picks"] = [{"limit": limit_of(run), "tune_s": run["run"].get("duration_s"), "time_spent": run["run"].get("time_spent"),
                            "trials": len(run["trials"]), "settings": each["settings"], "engine": each["engine"],
                            "against_best": ratio(own, each), "against_eager": ratio(candidates[0], each)} for run, each in zip(runs, picks)]
    if choice:
        result["aitune"] = torch_aitune.result_of(choice, rivals, pick, candidates[0], ratio, wrong)
    result["candidates"] = candidates + distinct + rivals
    for each in result["candidates"]:
        each.pop("facts", None)
    return result


def limit_of(run):
    """--max-time of a run as it was given; "" without."""
    words = run["run"]["command_line"].split()
    return words[words.index("--max-time") + 1] if "--max-time" in words else ""


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
    for each in result.get("picks", [])[1:]:
        print(f"pick with {each['limit'] or 'no limit'}: {interval(each['against_best'])} of the best's speed, "
              f"{interval(each['against_eager'])} of eager's")
    if "aitune" in result:
        print(torch_aitune.reported(result, interval))


def by_limit(results):
    """Lines of how near the picks of each limit come to the best of the loop."""
    picks = {}
    for result in results:
        for each in result.get("picks", []):
            picks.setdefault(each["limit"], []).append((each["against_best"][0], each["against_eager"][0], each["tune_s"] or 0))
    lines = []
    for limit, rows in picks.items():
        best, eager, took_s = zip(*rows)
        counts = ", ".join(f"at least {least:.2f} in {sum(one >= least for one in best)}" for least in (0.95, 0.85, 0.8))
        lines.append(f"\n--max-time {limit or 'none'}, {len(rows)} runs: of the speed of the loop's best {counts}; the lowest {min(best):.3f}; "
                     f"against eager at least {min(eager):.3f}; the longest took {max(took_s):.0f} s")
    return lines


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
    lines += by_limit(results)
    return "\n".join(lines) + torch_aitune.table(results, interval)


if __name__ == "__main__":
    if sys.argv[1:] == ["--child"]:
        import torch_candidate

        torch_candidate.child(json.loads(os.environ["LOOP_JOB"]))
    else:
        sys.exit(main())
