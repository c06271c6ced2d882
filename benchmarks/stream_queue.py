#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many frames are in time with the queue that an SLO gives, and with queues of fixed length.

  stream_queue.py --ridgeline BIN --model MODEL.onnx --ort-library DIR [--source synthetic:640x480] [--rounds 5] [--seconds 10]

One worker. Its service time is that of `stream bench` without a rate; frames then come at random (Poisson) at 0.8 of what that sustains,
with an SLO of five service times. Each round runs every queue once, with the same seed.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile

QUEUES = (0, 1, 2, 4, 6, 12)  # 0: by the SLO
LOAD, SLO = 0.8, 5


def bench(options, *more):
    command = [options.ridgeline, "stream", "bench", "--source", options.source, "--model", options.model, "--ort-library",
               options.ort_library, "--provider", "cpu", "--stream", "streams=1", "--stream", "batch_size=1", "--set",
               "intra_op_num_threads=1", "--time", f"{options.seconds}s", "--json", "--db", options.db, *more]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 1, 4):
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ridgeline", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--ort-library", required=True)
    parser.add_argument("--source", default="synthetic:640x480")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        options.db = f"{folder}/queue.db"
        measure(options)


def measure(options):
    status = bench(options)["status"]
    service_ms = 1000 * status["elapsed_s"] / status["delivered"]
    rate, slo_ms = LOAD * 1000 / service_ms, SLO * service_ms
    print(f"service {service_ms:.1f} ms; {rate:.1f} frames/s at random, SLO {slo_ms:.0f} ms")
    shares = {queue: [] for queue in QUEUES}
    for turn in range(options.rounds):
        for queue in QUEUES:
            run = bench(options, "--rate", f"{rate:.2f}", "--arrivals", "poisson", "--slo", f"{slo_ms:.1f}ms", "--seed", str(turn + 1),
                        "--stream", f"inference_queue_size={queue}")
            status = run["status"]
            shares[queue].append(100 * status["in_time"] / status["offered"])
    for queue, values in shares.items():
        print(f"queue {queue or 'by the SLO':<12} {statistics.median(values):5.1f} % in time ({min(values):.1f} to {max(values):.1f})")


if __name__ == "__main__":
    main()
