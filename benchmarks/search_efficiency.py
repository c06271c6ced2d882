#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How much of the exhaustive best does `--search adaptive` find, in what share of the exhaustive time?

For each PP-OCRv4 model: a grid over one space, then an adaptive search over the same space with a results file of its
own. Quality is the speed of adaptive's best trial against the grid's best, from interleaved blocks in one process: the
lowest of many noisy medians is too good to be true. Share of time: of the seconds spent in trials; of whole runs:
with the final comparisons, which both make alike.
Goal: at least 98 % of the best in at most 25 % of the time.
    benchmarks/search_efficiency.py BINARY MODEL_FOLDER [--threads 1,2] [--trial-time 1s]
"""
import argparse
import json
import pathlib
import subprocess
import tempfile

DEFAULTS = {"intra_op_num_threads": 0, "graph_optimization_level": "all", "intra_op_allow_spinning": True,
            "enable_cpu_mem_arena": True, "dynamic_block_base": 0}
MODELS = [("ch_PP-OCRv4_det_infer.onnx", "x:1x3x320x320"), ("ch_PP-OCRv4_rec_infer.onnx", "x:1x3x48x320"),
          ("ch_ppocr_mobile_v2.0_cls_infer.onnx", "x:1x3x48x192")]


def key(configuration):
    return json.dumps(configuration, sort_keys=True)


def command(binary, model, shape, options):
    done = subprocess.run([binary, "tune", str(model), "--shape", shape, "--accuracy-tolerance", "off", "--provider", "cpu", "--json"]
                          + options, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 4):
        raise SystemExit(f"{model}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    run = json.loads(done.stdout)
    return run, sum(trial["duration_s"] for trial in run["trials"])


def tune(binary, model, shape, search, space, folder, trial_time):
    """Median by configuration, number of trials, seconds spent in them, seconds of the whole run."""
    run, seconds = command(binary, model, shape, ["--search", search, "--space", space, "--db", f"{folder}/{search}.db",
                                                  "--time", trial_time])
    configurations = {t["id"]: t["configuration"] for t in run["trials"] if t["stop_reason"] not in ("stopped_early", "abandoned")}
    costs = {key(configurations[r["trial_id"]]): r["median_ns"] for r in run["ranking"] if r["trial_id"] in configurations}
    return costs, len(run["trials"]), seconds, run["run"]["duration_s"]


def speed(binary, model, shape, candidate, best, folder):
    """Of candidate against best: 1 is as fast."""
    if candidate == best:
        return 1.0
    config, space = (pathlib.Path(folder) / name for name in ("config.yaml", "pair.yaml"))
    settings = [json.dumps({**DEFAULTS, **json.loads(text)}) for text in (candidate, best)]
    config.write_text("onnxruntime: " + settings[0] + "\n")   # JSON is YAML
    space.write_text("fixed: " + settings[1] + "\nonly_listed: true\n")
    run, _ = command(binary, model, shape, ["--search", "grid", "--space", str(space), "--config", str(config), "--no-apply",
                                            "--time", "1s", "--db", f"{folder}/pair.db"])
    pairs = [pair for pair in run["comparisons"] if pair["purpose"] == "finalist"]
    return 1 / pairs[0]["ratio"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--trial-time", default="1s")
    options = parser.parse_args()
    space = f"""parameters:
  intra_op_num_threads: [{options.threads}]
  graph_optimization_level: [disable_all, basic, extended, all]
  intra_op_allow_spinning: [true, false]
  enable_cpu_mem_arena: [true, false]
  dynamic_block_base: [0, 4]
only_listed: true
"""
    print(f"{'model':<40} {'grid':>5} {'adaptive':>8} {'share of time':>14} {'of whole runs':>14} {'share of best':>14}")
    met = True
    for name, shape in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/space.yaml"
            pathlib.Path(path).write_text(space)
            model = options.models / name
            grid, grid_trials, grid_s, grid_run_s = tune(options.binary, model, shape, "grid", path, folder, options.trial_time)
            adaptive, trials, adaptive_s, run_s = tune(options.binary, model, shape, "adaptive", path, folder, options.trial_time)
            quality = speed(options.binary, model, shape, min(adaptive, key=adaptive.get), min(grid, key=grid.get), folder)
        share = adaptive_s / grid_s
        fine = quality >= 0.98 and share <= 0.25
        met &= fine
        print(f"{name:<40} {grid_trials:>5} {trials:>8} {share:>13.1%} {run_s / grid_run_s:>13.1%} {quality:>13.1%}  "
              f"goal 25 %, 98 %: {'met' if fine else 'missed'}", flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
