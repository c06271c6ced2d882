#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's DataLoader with h5py against Ridgeline's loader: one run, the same files, the same order, equal workers.

    benchmarks/loader_race.py build/bench/bin/loader_throughput [--folder DIR] [--workers 0 4 8 16] [--output FILE.md]

Needs torch, h5py and numpy. Both sides read the samples of one shuffled epoch (a list of numbers written to a file for our
side), 256 a batch, and copy each into a batch tensor. The Python side is the usual one: a Dataset that opens the file in
each worker and returns x[i] and y[i], default collation, prefetch_factor 2, persistent workers, one warm-up epoch for the
workers' start. Rates are of whole epochs, sides taken in turn; the median of --repeats epochs counts. Our side is shown
with an empty cache of decoded chunks (first epoch), with a filled one, and with none at all. The CRC-32 over all delivered
bytes of both sides is compared first: a race between different batches is no race.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time
import zlib

GOAL = 5.0


class H5Dataset:
    """A map-style dataset; h5py is opened where it is used, as its documentation asks of worker processes."""

    def __init__(self, path, samples):
        self.path, self.samples, self.file = path, samples, None

    def __len__(self):
        return self.samples

    def __getitem__(self, index):
        import h5py
        if self.file is None:
            self.file = h5py.File(self.path, "r")
            self.x, self.y = self.file["x"], self.file["y"]
        return self.x[index], self.y[index]


class FixedOrder:
    def __init__(self, order):
        self.order = order

    def __iter__(self):
        return iter(self.order)

    def __len__(self):
        return len(self.order)


def python_loader(path, samples, order, workers, batch):
    import torch.utils.data
    options = {"prefetch_factor": 2, "persistent_workers": True} if workers else {}
    return torch.utils.data.DataLoader(H5Dataset(path, samples), batch_size=batch, sampler=FixedOrder(order),
                                       num_workers=workers, **options)


def python_epoch(loader):
    begin = time.perf_counter()
    count = 0
    for x, _ in loader:
        count += len(x)
    return count / (time.perf_counter() - begin)


def python_digest(path, samples, order, batch, workers):
    crc = 0
    for x, y in python_loader(path, samples, order, workers, batch):
        crc = zlib.crc32(x.numpy().tobytes(), crc)
        crc = zlib.crc32(y.numpy().tobytes(), crc)
    return crc


def ours(program, path, order_file, workers, batch, cache_mb, epochs, digest=False):
    command = [program, "run", path, "--workers", str(workers), "--batch", str(batch), "--epochs", str(epochs),
               "--order", order_file, "--cache-mb", str(cache_mb)] + (["--digest"] if digest else [])
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout.splitlines()[-1])


def race(args, kind, samples, lines):
    import numpy
    path = str(args.folder / f"{kind}.h5")
    if not os.path.exists(path):
        subprocess.run([args.program, "make", path, "--kind", kind, "--samples", str(samples)], check=True)
    order = numpy.random.default_rng(1).permutation(samples)
    order_file = str(args.folder / f"{kind}.order")
    order.astype("<u8").tofile(order_file)
    order = order.tolist()
    most = max(args.workers)
    theirs = python_digest(path, samples, order, args.batch, min(most, os.cpu_count() or 1))
    mine = ours(args.program, path, order_file, most, args.batch, args.cache_mb, 1, digest=True)["crc32"]
    same = theirs == mine
    lines += ["", f"## {kind}: {samples} samples, batch {args.batch}, {os.path.getsize(path) / 1e6:.0f} MB", "",
              f"CRC-32 over all delivered bytes: {theirs:08x} and {mine:08x}: " + ("the same." if same else "DIFFERENT."), "",
              "| workers | DataLoader + h5py | ours, first epoch | ours, later epochs | ours, no cache | times (first) | times (later) | times (no cache) |",
              "|---|---|---|---|---|---|---|---|"]
    result = {"kind": kind, "same": same, "rows": []}
    states = {"first": set(), "later": set(), "none": set()}
    for workers in args.workers:
        loader = python_loader(path, samples, order, workers, args.batch)
        if workers:
            python_epoch(loader)  # starts the processes
        rates = {"python": [], "first": [], "later": [], "none": []}
        for _ in range(args.repeats):
            rates["python"].append(python_epoch(loader))
            line = ours(args.program, path, order_file, workers, args.batch, args.cache_mb, 3)
            kept, came_from = line["samples_per_second"], line["page_cache"]
            rates["first"].append(kept[0])
            rates["later"].append(statistics.median(kept[1:]))
            states["first"].add(came_from[0])
            states["later"].update(came_from[1:])
            line = ours(args.program, path, order_file, workers, args.batch, 0, 1)
            rates["none"] += line["samples_per_second"]
            states["none"].update(line["page_cache"])
        del loader
        median = {name: statistics.median(values) for name, values in rates.items()}
        times = {name: median[name] / median["python"] for name in ("first", "later", "none")}
        result["rows"].append({"workers": workers, **median, "times": times})
        lines.append(f"| {workers} | {median['python']:,.0f} | {median['first']:,.0f} | {median['later']:,.0f} | {median['none']:,.0f} | "
                     f"{times['first']:.1f} | {times['later']:.1f} | {times['none']:.1f} |")
        print(lines[-1], file=sys.stderr, flush=True)
    result["page_cache"] = {name: sorted(found) for name, found in states.items()}
    lines += ["", "Our bytes came from: " + "; ".join(
        f"{label}: {', '.join(result['page_cache'][name])}"
        for name, label in (("first", "first epoch"), ("later", "later epochs"), ("none", "no cache"))) + "."]
    worst = min(row["times"]["first"] for row in result["rows"])
    lines += ["", f"Goal, {GOAL:.0f} times at equal workers, first epoch: {'met' if worst >= GOAL and same else 'MISSED'} "
                  f"(least {worst:.1f} times)."]
    largest, smallest = result["rows"][-1], next((r for r in result["rows"] if r["workers"] >= 1), None)
    if smallest and smallest is not largest:
        ratio = largest["workers"] / smallest["workers"]
        for name, label in (("first", "first epoch"), ("later", "later epochs"), ("none", "no cache")):
            lines.append(f"Scaling from {smallest['workers']} to {largest['workers']} workers, {label}: "
                         f"{100 * largest[name] / smallest[name] / ratio:.0f} %.")
    result["met"] = worst >= GOAL and same
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", help="build/bench/bin/loader_throughput")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("/tmp/ridgeline-loader-race"))
    parser.add_argument("--workers", type=int, nargs="+", default=[0, 4, 8, 16])
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--cache-mb", type=int, default=1024)
    parser.add_argument("--float32-samples", type=int, default=40000)
    parser.add_argument("--gzip-samples", type=int, default=20000)
    parser.add_argument("--output", type=pathlib.Path, help="write the Markdown here as well")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures here")
    args = parser.parse_args()
    for module in ("numpy", "h5py", "torch"):
        try:
            __import__(module)
        except ImportError as error:
            sys.exit(f"{module} is needed for the Python side of the race: {error}")
    import h5py
    import torch
    args.folder.mkdir(parents=True, exist_ok=True)
    lines = ["# Loader race", "", f"PyTorch {torch.__version__}, h5py {h5py.__version__} (HDF5 {h5py.version.hdf5_version}), "
             f"{os.cpu_count()} CPUs, files in the page cache. Samples a second, medians of {args.repeats} epochs."]
    results = [race(args, "float32", args.float32_samples, lines), race(args, "gzip", args.gzip_samples, lines)]
    text = "\n".join(lines) + "\n"
    print(text)
    if args.output:
        args.output.write_text(text)
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if all(result["met"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
