#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reports that scripts/benchmark_gpu.sh leaves in a folder, as one Markdown page.

    benchmarks/gpu_summary.py summary FOLDER                    the page on standard output
    benchmarks/gpu_summary.py pair FOLDER MODEL RIDGELINE       writes MODEL.pair.yaml and MODEL.pair_space.yaml, for an
                                                                interleaved comparison of the exhaustive best with what adaptive
                                                                recommends; exit code 1 when they are the same or one is missing
    benchmarks/gpu_summary.py landscape FOLDER MODEL            MODEL's exhaustive search in the form of tests/data/landscapes
    benchmarks/gpu_summary.py slots FOLDER N                    how long the jobs of jobs.txt take on N GPUs, by the seconds of steps.tsv
"""
import json
import math
import pathlib
import re
import subprocess
import sys

FIRST_FOUR = ["resnet50", "rtdetr_r50", "vitpose_b", "mobilenetv3_large"]
LABELS = ["classic", "quick", "adaptive", "device", "runtimes", "batch64", "exhaustive", "pair"]


def read(folder, model, label):
    """The report, or None when that step did not run to its end."""
    try:
        found = json.loads((folder / f"{model}.{label}.json").read_text())
    except (OSError, ValueError):
        return None
    return found if found.get("schema") == "ridgeline.tune" else None


def models_of(folder, label):
    names = [path.name[:-len(f".{label}.json")] for path in folder.glob(f"*.{label}.json")]
    order = {name: at for at, name in enumerate(FIRST_FOUR)}
    return sorted((name for name in names if read(folder, name, label)), key=lambda name: (order.get(name, 99), name))


def ranked(report, trial_id):
    return next((entry for entry in report["ranking"] if entry["trial_id"] == trial_id), None)


def defaults(report):
    """The ranking entry of the settings without any change."""
    return ranked(report, report["current"]["trial_id"])


def best(report):
    """The fastest entry of the ranking that keeps all constraints."""
    return next((entry for entry in report["ranking"] if entry["meets_constraints"]), None)


def gain(report):
    """(ratio, low, high) of the recommended settings against the current ones; 1 when nothing beats them."""
    verdict = report.get("verdict")
    if not verdict or verdict["decision"] == "none":
        return None
    found = verdict.get("gain")
    if verdict["decision"] == "keep" or not found:
        return 1.0, 1.0, 1.0
    return found["ratio"], *found["interval"]


def trial_seconds(report):
    return sum(trial["duration_s"] or 0 for trial in report["trials"] if not trial["cached"])


def settings(report):
    verdict = report.get("verdict") or {}
    if verdict.get("decision") != "change":
        return "defaults"
    return ", ".join(f"{key}={json.dumps(value['to']).strip(chr(34))}" for key, value in verdict["changed"].items()
                     if value["to"] is not None)


def milliseconds(entry):
    return f"{entry['median_ns'] / 1e6:.3f}" if entry else "-"


def ratio_text(found):
    if found is None:
        return "-"
    return "1 (kept)" if found == (1.0, 1.0, 1.0) else f"{found[0]:.3f} [{found[1]:.3f}, {found[2]:.3f}]"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(cell) for cell in row) + " |" for row in rows]) + "\n"


def goal(text, value, met):
    return f"- {text}: **{value}**, {'met' if met else 'missed'}"


def latency_section(folder):
    models = sorted({name for label in ("classic", "quick", "adaptive") for name in models_of(folder, label)},
                    key=lambda name: (FIRST_FOUR.index(name) if name in FIRST_FOUR else 99, name))
    if not models:
        return ""
    rows, gains, seconds = [], {}, {"quick": [], "adaptive": []}
    for name in models:
        runs = {label: read(folder, name, label) for label in ("classic", "quick", "adaptive")}
        first = next(run for run in (runs["adaptive"], runs["quick"], runs["classic"]) if run)
        row = [name, milliseconds(defaults(first))]
        for label in ("classic", "quick", "adaptive"):
            run = runs[label]
            row.append(f"{ratio_text(gain(run))}, {len(run['trials'])} trials, {run['run']['duration_s']:.1f} s" if run else "-")
            if run and label in seconds:
                seconds[label].append(run["run"]["duration_s"])
        row.append(settings(first))
        rows.append(row)
        if runs["adaptive"] and gain(runs["adaptive"]):
            gains[name] = gain(runs["adaptive"])[0]
    text = ("## Batch 1, `--io host`\nInputs start in host memory and outputs end there; every copy is inside the timing. Gains: times "
            "as fast as ONNX Runtime's defaults (plain Run), 95 % interval, from interleaved blocks.\n\n")
    text += table(["model", "defaults, ms", "classic grid", "quick", "adaptive", "adaptive's settings"], rows) + "\n"
    text += gain_goals(gains)
    for label, limit in (("quick", 10), ("adaptive", 30)):
        if seconds[label]:
            text += goal(f"longest {label} run, at most {limit} s", f"{max(seconds[label]):.1f} s", max(seconds[label]) <= limit) + "\n"
    return text + "\n"


def gain_goals(gains):
    text = ""
    four = [gains[name] for name in FIRST_FOUR if name in gains]
    if len(four) == len(FIRST_FOUR):
        mean = math.exp(sum(map(math.log, four)) / len(four))
        text += goal("geometric mean of the first four, at least 1.4", f"{mean:.3f}", mean >= 1.4) + "\n"
    if gains:
        text += goal("lowest, at least 1", f"{min(gains.values()):.3f}", min(gains.values()) >= 1) + "\n"
    return text


def device_section(folder):
    rows, gains = [], {}
    for name in models_of(folder, "device"):
        run = read(folder, name, "device")
        rows.append([name, milliseconds(defaults(run)), ratio_text(gain(run)), len(run["trials"]), settings(run)])
        if gain(run):
            gains[name] = gain(run)[0]
    if not rows:
        return ""
    return ("## Batch 1, `--io device`\nThe application keeps its data on the GPU: both sides are bound to GPU memory and no copy is "
            "timed.\n\n" + table(["model", "defaults, ms", "adaptive", "trials", "settings"], rows) + "\n" + gain_goals(gains) + "\n")


def runtimes_section(folder):
    """Each candidate of `--provider auto` at its defaults against the first, and what was recommended."""
    rows = []
    for name in models_of(folder, "runtimes"):
        run = read(folder, name, "runtimes")
        for candidate in run["candidates"]:
            found = candidate["against_current"]
            rows.append([name if not rows or rows[-1][-1] != name else "", f"{candidate['provider']} {candidate['version']}",
                         milliseconds(ranked(run, candidate["trial_id"])),
                         f"{found['ratio']:.3f} [{found['interval'][0]:.3f}, {found['interval'][1]:.3f}]" if found else "1",
                         candidate["left"] or f"{candidate['trials']} trials", name])
        chosen = (run.get("verdict") or {}).get("candidate") or {}
        rows.append(["", f"recommended: {chosen.get('provider', '-')} {chosen.get('version', '')}", "", ratio_text(gain(run)),
                     settings(run), name])
    if not rows:
        return ""
    return ("## Runtimes, batch 1, `--io device`\n`--provider auto`: every candidate at its defaults against the first, in two processes "
            "that take turns, then the recommendation against the first's defaults.\n\n"
            + table(["model", "candidate", "defaults, ms", "times as fast", "what became of it"], [row[:-1] for row in rows]) + "\n")


def batch_section(folder):
    rows, low = [], None
    for name in models_of(folder, "batch64"):
        run = read(folder, name, "batch64")
        before, found = defaults(run), gain(run)
        after = ranked(run, run["verdict"]["trial_id"]) if found else best(run)
        rows.append([name, f"{before['throughput_per_s']:.0f}" if before else "-", f"{after['throughput_per_s']:.0f}" if after else "-",
                     ratio_text(found), settings(run)])
        if found:
            low = min(found[0], low or found[0])
    if not rows:
        return ""
    text = "## Batch 64, throughput, `--io host`\n" + table(
        ["model", "defaults, items/s", "recommended, items/s", "gain", "settings"], rows) + "\n"
    return text + (goal("lowest, at least 1.5", f"{low:.3f}", low >= 1.5) + "\n\n" if low else "\n")


def exhaustive_section(folder):
    rows, shares, qualities = [], [], []
    for name in models_of(folder, "exhaustive"):
        whole, adaptive, pair = (read(folder, name, label) for label in ("exhaustive", "adaptive", "pair"))
        share = trial_seconds(adaptive) / trial_seconds(whole) if adaptive and trial_seconds(whole) else None
        compared = next((one for one in (pair or {}).get("comparisons", []) if one["purpose"] == "finalist" and one["ratio"]), None)
        same = adaptive and best(adaptive) and best(whole) and recommended(adaptive) == configuration(whole)
        quality = 1.0 if same else compared["ratio"] if compared else None
        tried = len(whole["trials"])
        rows.append([name, f"{tried} of {whole['run']['space_size']:.0f}", f"{trial_seconds(whole):.0f} s", milliseconds(best(whole)),
                     f"{share:.1%}" if share is not None else "-",
                     f"{adaptive['run']['duration_s'] / whole['run']['duration_s']:.0%}" if adaptive else "-",
                     "-" if quality is None else "the same settings" if same else
                     f"{quality:.3f} [{compared['interval'][0]:.3f}, {compared['interval'][1]:.3f}]"])
        if share is not None:
            shares.append(share)
        if quality is not None:
            qualities.append(quality)
    if not rows:
        return ""
    text = ("## The exhaustive search\nWhat adaptive recommends against the exhaustive best, from interleaved blocks (1 is as fast), and its share "
            "of the time in trials. The whole run of adaptive also proves and explains what it found, which the exhaustive one leaves "
            "out.\n\n" + table(["model", "trials", "time", "best, ms", "adaptive's share of time in trials", "of the whole run",
                                "adaptive's recommendation"], rows) + "\n")
    if qualities:
        text += goal("lowest quality, at least 0.99", f"{min(qualities):.3f}", min(qualities) >= 0.99) + "\n"
    if shares:
        text += goal("largest share of time in trials, at most 15 %", f"{max(shares):.1%}", max(shares) <= 0.15) + "\n"
    return text + "\n"


def configuration(report):
    entry = best(report)
    return next(trial["configuration"] for trial in report["trials"] if trial["id"] == entry["trial_id"])


def recommended(report):
    """The verdict's settings, which may be a simpler tie of the fastest trial's; those where nothing was decided."""
    verdict = report.get("verdict") or {}
    return verdict["configuration"] if verdict.get("decision") in ("change", "keep") else configuration(report)


def outcome_section(folder):
    counts = {}
    for label in LABELS:
        for name in models_of(folder, label):
            for trial in read(folder, name, label)["trials"]:
                counts[trial["status"]] = counts.get(trial["status"], 0) + 1
    text = "## Trials by outcome\n" + table(["outcome", "trials"], sorted((str(key), value) for key, value in counts.items())) if counts else ""
    troubled = []
    for line in (folder / "steps.tsv").read_text().splitlines() if (folder / "steps.tsv").exists() else []:
        model, label, seconds, code = line.split("\t")
        if code != "0":
            troubled.append([model, label, seconds, code])
    if troubled:
        text += "\n## Steps that did not end well\n" + table(["model", "step", "seconds", "exit code"], troubled)
    return text


def host_section(folder):
    lines = (folder / "host.txt").read_text().splitlines() if (folder / "host.txt").exists() else []
    steps = {}  # what was loaded -> the steps that loaded it
    for label in LABELS:
        for report in (read(folder, name, label) for name in models_of(folder, label)[:1]):
            runtime = report["runtime"]
            libraries = [line for line in runtime.get("loaded_libraries", []) if re.search(r"lib(cudart|cudnn|cublas|cuda)\.so", line)]
            key = (f"ONNX Runtime {runtime['version']}, provider {report['run']['provider']}", *libraries)
            steps.setdefault(key, []).append(label)
    for key, labels in steps.items():
        lines += [(", ".join(labels) + ": " if len(steps) > 1 else "") + key[0], *key[1:]]
    return "# Ridgeline on a GPU\n" + "".join(f"- {line}\n" for line in lines) + "\n"


def pairs_section(folder):
    """The goals are for all comparisons together: in the few of one model a single chance finding decides."""
    text, counts = "", {}
    for path in sorted(folder.glob("*.pairs*.txt")):
        tallies = [line for line in path.read_text().splitlines() if " comparisons: " in line]
        if tallies:
            text += f"- {path.name.split('.')[0]}\n" + "".join(f"  - {line}\n" for line in tallies)
        for line in tallies:
            what, compared, slower, faster = re.match(r"(.*?) +(\d+) comparisons: +(\d+) slower +(\d+) faster", line).groups()
            found = counts.setdefault(what, [0, 0, 0])
            for at, number in enumerate((compared, slower, faster)):
                found[at] += int(number)
    if not text:
        return ""
    text += "\n"
    for what, (compared, slower, faster) in counts.items():
        if what == "3 % slower":
            text += goal("3 % slower found, at least 90 %", f"{slower} of {compared}", slower >= 0.9 * compared) + "\n"
        else:
            text += goal(f"{what} called different, at most 5 %", f"{slower + faster} of {compared}",
                         slower + faster <= 0.05 * compared) + "\n"
    return "## How often comparisons are wrong\n" + text + "\n"


def faults_section(folder):
    path = folder / "all.faults.txt"
    rows = [line for line in path.read_text().splitlines() if line.startswith("|")] if path.exists() else []
    if len(rows) < 3:
        return ""
    good = sum(row.startswith("| yes ") for row in rows[2:])
    text = "## Faults\n" + table(["as expected", "fault", "class expected", "found"], [row.split(" | ", 4)[:4] for row in
                                                                                  (row[2:] for row in rows[2:])])
    return text + "\n" + goal("faults of every class, reported and survived as expected", f"{good} of {len(rows) - 2}", good == len(rows) - 2) + "\n\n"


def summary(folder):
    print(host_section(folder) + latency_section(folder) + device_section(folder) + runtimes_section(folder) + batch_section(folder)
          + exhaustive_section(folder) + pairs_section(folder) + faults_section(folder) + outcome_section(folder), end="")
    return 0


def pair(folder, model, binary):
    whole, adaptive = read(folder, model, "exhaustive"), read(folder, model, "adaptive")
    if not (whole and adaptive and best(whole) and best(adaptive)):
        return 1
    a, b = configuration(whole), recommended(adaptive)
    if a == b:
        return 1
    known = json.loads(subprocess.run([binary, "params", "--json"], check=True, stdout=subprocess.PIPE).stdout)
    usual = {row["key"]: row["default"] for row in known if row["default"] is not None}
    # The second side spells out what the first sets, as a key that it leaves out would keep the first side's value.
    keys = sorted({*a, *b})
    first = {key: a.get(key, usual.get(key)) for key in keys if a.get(key, usual.get(key)) is not None}
    second = {key: b.get(key, usual.get(key)) for key in keys}
    if None in second.values():
        return 1
    (folder / f"{model}.pair.yaml").write_text("onnxruntime: " + json.dumps(first) + "\n")   # JSON is YAML
    (folder / f"{model}.pair_space.yaml").write_text("fixed: " + json.dumps(second) + "\nonly_listed: true\n")
    return 0


def session_spread(report):
    """Standard deviation of the log cost from session to session of one configuration: under a CUDA graph no CPU thread
    computes, so that trials which differ in intra_op_num_threads alone are two sessions of the same. 0 where only one of
    them is in the space, as usual: --space FILE can ask for both."""
    cost, threads = {}, "intra_op_num_threads"
    for entry in report["ranking"]:
        cost[entry["trial_id"]] = entry["value"]
    by_settings = {}
    for trial in report["trials"]:
        settings = dict(trial["configuration"])
        if trial["id"] in cost and settings.get("enable_cuda_graph"):
            rest = json.dumps({key: value for key, value in settings.items() if key != threads}, sort_keys=True)
            by_settings.setdefault(rest, []).append(math.log(cost[trial["id"]]))
    squares = [(pair[0] - pair[1]) ** 2 / 2 for pair in by_settings.values() if len(pair) == 2]
    return math.sqrt(sum(squares) / len(squares)) if squares else 0


def landscape(folder, model):
    report = read(folder, model, "exhaustive")
    if not report:
        return 1
    dimensions = report["space"]
    cost = {entry["trial_id"]: entry["value"] for entry in report["ranking"]}
    widths, rows = [], []
    for trial in report["trials"]:
        if trial["status"] == "ok" and trial["id"] not in cost:
            continue
        levels = []
        for dimension in dimensions:
            value = trial["configuration"].get(dimension["key"])
            levels.append(0 if value is None else 1 + dimension["values"].index(value))
        setup = (trial["session_create_ns"] or 0) + (trial["first_run_ns"] or 0) if trial["status"] == "ok" else 0
        rows.append([*levels, cost.get(trial["id"], trial["status"]), round(trial["duration_s"], 3), round(setup / 1e9, 3)])
    for entry in report["ranking"]:
        low, high = entry["interval"]
        widths.append((high - low) / 2 / entry["value"] / 1.96)
    spread = session_spread(report)
    gpu, runtime = report["environment"]["gpus"][0]["name"], report["runtime"]["version"]
    head = {"name": f"h200-{model.replace('_', '-')}" if "H200" in gpu else model, "origin": "recorded",
            "source": f"{model} with random weights on an {gpu}; ONNX Runtime {runtime}, {report['run']['provider']}, latency, "
                      f"--io {report['run']['tensor_location']}", "noise": round(sorted(widths)[len(widths) // 2], 4),
            "session_spread": round(spread, 4)}
    print(json.dumps(head)[:-1] + ',\n "dimensions": [' + ",\n  ".join(map(json.dumps, dimensions)) + '],\n "rows": [\n'
          + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]}")
    return 0


# The steps of a job of benchmark_gpu.sh.
STEPS_OF = {"pairs": ["pairs"], "pairs_1": ["pairs"], "pairs_2": ["pairs_2"], "faults": ["faults"], "latency": ["classic", "quick", "adaptive", "device", "runtimes"], "exhaustive": ["exhaustive", "pair"],
            "batch": ["batch64"]}


def slots(folder, count):
    """The run's jobs (jobs.txt) in their order, each taken by the slot that is free first, over its measured seconds
    (steps.tsv). What an exhaustive search waits for adaptive is left out."""
    seconds = {}
    for line in (folder / "steps.tsv").read_text().splitlines():
        model, label, took, _ = line.split("\t")
        seconds[model, label] = seconds.get((model, label), 0) + float(took)
    free = [0.0] * count
    for line in (folder / "jobs.txt").read_text().splitlines():
        job, model = line.split()
        slot = free.index(min(free))
        free[slot] += sum(seconds.get((model, label), 0) for label in STEPS_OF[job])
    export = seconds.get(("all", "export"), 0)
    print(f"{sum(free):.0f} s of GPUs; on {count}: {export:.0f} s of export and {max(free):.0f} s, {export + max(free):.0f} s in all")
    return 0


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "summary":
        return summary(pathlib.Path(sys.argv[2]))
    if len(sys.argv) == 4 and sys.argv[1] == "landscape":
        return landscape(pathlib.Path(sys.argv[2]), sys.argv[3])
    if len(sys.argv) == 4 and sys.argv[1] == "slots":
        return slots(pathlib.Path(sys.argv[2]), int(sys.argv[3]))
    if len(sys.argv) == 5 and sys.argv[1] == "pair":
        return pair(pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
