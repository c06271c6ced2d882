#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Computes the answers of `ridgeline bench --json` again from its trials alone, by the formulas of docs/bench.md, and compares.

    derive_bench_answers.py RUN.json...   (exit code 1: some answer differs; each difference is a line)
"""
import json
import math
import sys

AMP = ["off", "bf16", "fp16"]


def key(settings):
    return settings["batch"], settings["workers"], settings["amp"], settings["pin_memory"]


def loses(measured):
    return any(flag["code"] == "loss_not_finite" for flag in measured["flags"])


def points_of(trials):
    """A point for each setting, in the order in which the settings first went well."""
    points = {}
    for trial in trials:
        measured = trial["outcome"]["measurement"]
        if trial["data"] != "loader" or trial["stage"] in ("stability_run", "experiment"):
            continue
        if trial["outcome"]["status"] != "ok" or not measured or measured["samples_per_s"]["value"] <= 0:
            continue
        point = points.setdefault(key(trial["settings"]), {"settings": key(trial["settings"]), "trials": [], "sum": 0.0, "steps": 0.0, "spread": 0.0,
                                                           "memory": None, "capacity": None, "passed_stability_run": False, "stability_steps": 0, "failed_stability_run": False, "lost_loss": False})
        rate, steps = measured["samples_per_s"], max(1, measured["steps"])
        point["trials"].append(trial["id"])
        point["lost_loss"] = point["lost_loss"] or loses(measured)
        point["sum"] += rate["value"] * steps
        point["steps"] += steps
        point["spread"] = max(point["spread"], (rate["high"] - rate["low"]) / 2 / rate["value"])
        resources = measured["resources"]
        if resources["peak_reserved_gb"] is not None:
            point["memory"] = max(point["memory"] or 0, resources["peak_reserved_gb"])
        if resources["device_capacity_gb"] is not None:
            point["capacity"] = resources["device_capacity_gb"]
    for point in points.values():
        point["rate"] = point["sum"] / point["steps"]
        point["low"], point["high"] = point["rate"] * (1 - point["spread"]), point["rate"] * (1 + point["spread"])
    for trial in trials:
        point = points.get(key(trial["settings"]))
        if trial["stage"] != "stability_run" or point is None:
            continue
        measured = trial["outcome"]["measurement"]
        point["lost_loss"] = point["lost_loss"] or bool(measured and loses(measured))
        if trial["outcome"]["status"] == "ok" and measured and not measured["resources"]["alloc_retries"]:
            point["passed_stability_run"] = True
            point["stability_steps"] = max(point["stability_steps"], measured["steps"] + measured["discarded_steps"])
        else:
            point["failed_stability_run"] = True
    return list(points.values())


def simplicity(point):
    batch, workers, amp, pin = point["settings"]
    memory = point["memory"]
    step = math.floor(100 * math.log(memory) + 0.5) if memory else 0
    return step, workers, pin, AMP.index(amp), -point["rate"]


def beats(a, b):
    """Whether a is as good as b in samples/s, memory (where both are known) and workers, and better in one."""
    known = a["memory"] is not None and b["memory"] is not None
    ours = (a["rate"], -a["memory"] if known else 0, -a["settings"][1])
    theirs = (b["rate"], -b["memory"] if known else 0, -b["settings"][1])
    return all(x >= y for x, y in zip(ours, theirs)) and ours != theirs


def derive(run):
    all_points = points_of(run["trials"])
    if not all_points:
        return None
    points = [point for point in all_points if not point["lost_loss"]] or all_points
    asked = run["answers"]
    fastest = max(points, key=lambda point: point["rate"])  # the first of equal ones
    with_memory = [point for point in points if point["memory"]]
    efficient = max(with_memory, key=lambda point: point["rate"] / point["memory"], default=None)
    eligible = [point for point in points if not point["failed_stability_run"] and not point["lost_loss"] and
                (point["memory"] is None or point["capacity"] is None or point["memory"] <= (1 - asked["headroom"]) * point["capacity"])]
    best = max((point["rate"] for point in eligible), default=0)
    floor = (1 - asked["tolerance"]) * fastest["rate"]
    fallback = best < floor
    if fallback:
        floor = (1 - asked["tolerance"]) * best
    recommended = min((point for point in eligible if point["rate"] >= floor), key=simplicity, default=None)
    pareto = [point for point in points if not any(beats(other, point) for other in points)]
    ties = [point for point in points if point is not fastest and point["high"] >= fastest["low"]]
    return all_points, fastest, efficient, recommended, floor, fallback, pareto, ties


def differences(run):
    if run["answers"] is None:
        return [] if derive(dict(run, answers={"tolerance": 0.03, "headroom": 0.1})) is None else ["there is no answer"]
    answers = run["answers"]
    found = []

    def expect(what, stated, derived):
        same = stated == derived
        if isinstance(stated, float) and isinstance(derived, float):
            same = math.isclose(stated, derived, rel_tol=1e-12)
        if not same:
            found.append("%s: the JSON says %r, its trials %r" % (what, stated, derived))

    points, fastest, efficient, recommended, floor, fallback, pareto, ties = derive(run)
    for name, point in (("fastest", fastest), ("efficient", efficient), ("recommended", recommended)):
        stated = answers[name]
        expect(name + " exists", stated is not None, point is not None)
        if stated is None or point is None:
            continue
        expect(name + " settings", key(stated["settings"]), point["settings"])
        expect(name + " trials", stated["trials"], point["trials"])
        for field, value in (("samples_per_s", "rate"), ("low", "low"), ("high", "high"), ("memory_gb", "memory")):
            expect(name + " " + field, stated[field], point[value])
        expect(name + " is off the front only with a reason", stated["off_front"] is not None, point not in pareto)
    expect("why nothing is recommended", answers["no_recommendation"] is not None, recommended is None)
    expect("floor", float(answers["floor"]), float(floor))
    expect("fallback", answers["fallback"], fallback)
    expect("pareto", [key(settings) for settings in answers["pareto"]], [point["settings"] for point in pareto])
    expect("ties", [key(settings) for settings in answers["ties"]], [point["settings"] for point in ties])
    expect("number of points", len(run["points"]), len(points))
    for stated, point in zip(run["points"], points):
        expect("point settings", key(stated["settings"]), point["settings"])
        for field, value in (("trials", "trials"), ("samples_per_s", "rate"), ("low", "low"), ("high", "high"), ("memory_gb", "memory"),
                             ("capacity_gb", "capacity"), ("passed_stability_run", "passed_stability_run"), ("stability_steps", "stability_steps"), ("failed_stability_run", "failed_stability_run"), ("lost_loss", "lost_loss")):
            expect("point %s %s" % (point["settings"], field), stated[field], point[value])
        expect("point eligible", stated["eligible"], not point["failed_stability_run"] and not point["lost_loss"] and (
            point["memory"] is None or point["capacity"] is None or point["memory"] <= (1 - answers["headroom"]) * point["capacity"]))
        expect("point pareto", stated["pareto"], point in pareto)
        expect("point tie", stated["tie"], point in ties)
    return found


def main():
    failed = False
    for path in sys.argv[1:]:
        with open(path) as file:
            for line in differences(json.load(file)):
                failed = True
                print("%s: %s" % (path, line))
    return 1 if failed or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
