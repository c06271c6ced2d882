#!/usr/bin/env python3
"""Writes the landscapes in tests/data/landscapes that were not recorded on a machine.

published-*: measured numbers of a published table (NVIDIA H200, ONNX Runtime 1.29.0), filled up by a model where the
             table does not vary a setting; each file says which.
generated-*: response surfaces with the effects and interactions that ONNX Runtime's CPU settings are known to have.
Everything is deterministic: a second run changes no byte.      scripts/make_landscapes.py [FOLDER]
"""
import hashlib
import itertools
import json
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def wobble(name, config, size):
    """A reproducible log-effect of this very configuration, within +-size: what no simple model predicts."""
    digest = hashlib.sha256((name + json.dumps(config, sort_keys=True)).encode()).digest()
    return size * (int.from_bytes(digest[:6], "big") / 2**47 - 1)


def amdahl(threads, cores, serial, sync, smt_gain=0.15, oversubscribed=1.6):
    """Time relative to one thread: serial part, synchronisation a thread, SMT siblings, more threads than CPUs."""
    physical = min(threads, cores)
    speed = physical + smt_gain * min(max(threads - cores, 0), cores)
    time = serial + (1 - serial) / speed + sync * math.log2(max(threads, 1))
    return time * oversubscribed if threads > 2 * cores else time


def write(folder, name, origin, source, noise, dimensions, cost_of):
    rows = []
    keys = [key for key, _ in dimensions]
    for levels in itertools.product(*(range(len(values) + 1) for _, values in dimensions)):
        config = {key: values[level - 1] for (key, values), level in zip(dimensions, levels) if level}
        if not relevant(config):
            continue
        cost = cost_of(config)
        if cost is None:
            continue
        rows.append(list(levels) + [cost if isinstance(cost, str) else round(cost)])
    text = json.dumps({"name": name, "origin": origin, "source": source, "noise": noise})[:-1]
    dims = ",\n  ".join(json.dumps({"key": key, "values": values}) for key, values in dimensions)
    body = ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows)
    (folder / f"{origin}-{name}.json").write_text(f'{text},\n "dimensions": [{dims}],\n "rows": [\n{body}\n]}}\n')
    print(f"{origin}-{name}: {len(rows)} of {math.prod(len(v) + 1 for _, v in dimensions)} over {', '.join(keys)}")


def relevant(config):
    """As src/search/relevance.cpp: settings that mean nothing beside the others are no configurations of their own."""
    parallel = config.get("execution_mode") == "parallel"
    workers = config.get("intra_op_num_threads") != 1
    spins = workers and config.get("intra_op_allow_spinning", True)
    return not (("inter_op_num_threads" in config and not parallel)
                or ("enable_mem_pattern" in config and parallel)
                or ("intra_op_allow_spinning" in config and not workers)
                or ("intra_op_spin_duration_us" in config and not spins)
                or ("dynamic_block_base" in config and not workers))


# Median ms on an NVIDIA H200, ONNX Runtime 1.29.0 CUDA 13, TF32 as by default, HEURISTIC conv search: NCHW plain, NCHW
# device binding + graph, NHWC plain, NHWC device binding + graph. None: not in the table.
H200 = {
    "resnet50": {("fp32", 1): (1.073, 0.896, 0.888, 0.703), ("fp32", 64): (12.62, 9.19, 10.17, 7.85),
                 ("fp16", 1): (1.012, 0.792, 0.835, 0.571), ("fp16", 64): (8.24, 6.78, 6.75, 5.41)},
    "mobilenetv3-l": {("fp32", 1): (0.978, 0.504, 1.006, 0.514), ("fp32", 64): (6.04, 3.80, 6.05, 3.70),
                      ("fp16", 1): (0.979, 0.470, 0.978, 0.516), ("fp16", 64): (4.05, 2.79, 4.49, 3.08)},
    "vit-b16": {("fp32", 1): (2.00, 1.366, 1.98, 1.434), ("fp32", 64): (22.3, 18.9, 22.9, 19.5),
                ("fp16", 1): (1.79, 1.237, 2.09, 1.223), ("fp16", 64): (15.3, 13.2, 15.3, 13.3)},
    "rtdetr-r50": {("fp32", 1): (6.42, None, None, 4.75)},
    "vitpose-b": {("fp32", 1): (1.865, 1.547, 1.75, None)},
}
# EXHAUSTIVE over HEURISTIC, measured without binding at batch 1 in fp32; 1.03 where it was not measured.
EXHAUSTIVE = {"resnet50": 1.0, "mobilenetv3-l": 0.99 / 0.914, "rtdetr-r50": 6.66 / 6.42, "vitpose-b": 1.98 / 1.865}
DYNAMIC = {"vit-b16"}  # exported with a dynamic batch: refuses a graph unless the dimension is fixed


GPU_BINDING = [("io_binding", ["pinned", "device", "stream"]), ("enable_cuda_graph", [True])]
GPU_CONV = [("prefer_nhwc", [True]), ("cudnn_conv_algo_search", ["HEURISTIC"]), ("fuse_conv_bias", [True])]
GPU_REST = [("graph_optimization_level", ["basic", "extended"]), ("intra_op_num_threads", [1])]


def h200_cell(table, nhwc, graph):
    """A cell of the table; a missing one is the product of what its row and column gain on the others."""
    plain, bound, nhwc_plain, nhwc_bound = table
    if bound is None and nhwc_plain is None:  # half of the log gain each
        bound = nhwc_plain = math.sqrt(plain * nhwc_bound)
    if nhwc_bound is None:
        nhwc_bound = bound * nhwc_plain / plain
    return (nhwc_bound if graph else nhwc_plain) if nhwc else (bound if graph else plain)


def h200_latency(model, precision, batch):
    """Cells of the table times factors for what it does not vary (a multiplicative model, with a small wobble)."""
    table = H200[model][precision, batch]

    def cost(config):
        io, graph = config.get("io_binding", "none"), config.get("enable_cuda_graph", False)
        fixed = config.get("override_free_dimensions", False)
        if graph and (io not in ("device", "stream") or (model in DYNAMIC and not fixed)):
            return None
        nhwc = config.get("prefer_nhwc", False)
        plain, replayed = h200_cell(table, nhwc, False), h200_cell(table, nhwc, True)
        # Bound memory without a graph: ResNet-50 1.108 -> 1.084 ms at batch 1; at batch 64 nearly all of the gain.
        share = 0.13 if batch == 1 else 0.85
        log = {"none": 0, "pinned": 0.6 * share, "device": share, "stream": share}[io] * math.log(replayed / plain)
        log = math.log(replayed / plain) if graph else log
        log -= 0.012 if io == "stream" else 0
        log -= 0.03 if fixed and not graph else 0
        log += 0 if config.get("cudnn_conv_algo_search") == "HEURISTIC" else math.log(EXHAUSTIVE.get(model, 1.03))
        # Fusions matter less once the launches are replayed.
        level = {"all": 0, "extended": 0.002, "basic": 0.06}[config.get("graph_optimization_level", "all")]
        log += level * (0.5 if graph else 1)
        log += 0.012 if config.get("fuse_conv_bias") else 0
        log -= 0.002 if config.get("intra_op_num_threads") == 1 else 0
        return plain * 1e6 * math.exp(log + wobble(model, config, 0.003))
    return cost


def h200_throughput(model):
    """Nanoseconds an item with host data: batches between the table's 1 and 64 on a straight line in time, sessions that
    overlap copies and launches, and less to gain from them once a graph or the batch fills the GPU."""
    small, large = h200_latency(model, "fp32", 1), h200_latency(model, "fp32", 64)

    def cost(config):
        batch, sessions = config.get("batch_size", 1), config.get("parallel_sessions", 1)
        rest = {key: value for key, value in config.items() if key not in ("batch_size", "parallel_sessions")}
        one, many = small(rest), large(rest)
        if one is None:
            return None
        if sessions * batch > 128:
            return "out_of_memory"
        time = one + (many - one) * (batch - 1) / 63
        idle = (0.35 if config.get("enable_cuda_graph") else 0.55) * (1 - 0.45 * math.log2(batch) / 6)
        gain = 1 + idle * (1 - 1 / sessions)
        return time / batch / gain * math.exp(wobble(model + "-throughput", config, 0.003))
    return cost


def published(folder):
    source = ("median, NVIDIA H200, ONNX Runtime 1.29.0 CUDA 13: plain with host copies and device binding + graph without, as "
              "measured; all other cells filled in by a multiplicative model (h200_latency in scripts/make_landscapes.py)")
    fixing = [("override_free_dimensions", [True])]
    for model, tables in H200.items():
        base = GPU_BINDING + (fixing if model in DYNAMIC else []) + GPU_CONV
        for precision, batch in tables:
            write(folder, f"h200-{model}-{precision}-b{batch}", "published", source, 0.003, base + GPU_REST,
                  h200_latency(model, precision, batch))
        if ("fp32", 64) in tables and model not in DYNAMIC:
            write(folder, f"h200-{model}-throughput", "published", source + " and h200_throughput", 0.003,
                  base[:-1] + [("batch_size", [2, 4, 8, 16, 32, 64]), ("parallel_sessions", [2, 4])],
                  h200_throughput(model))


LEVELS = {"all": 0.0, "layout": 0.004, "extended": 0.06, "basic": 0.09, "disable_all": 0.45}


def cnn_16_cores(config):
    threads = config.get("intra_op_num_threads", 16)
    log = math.log(amdahl(threads, 16, 0.04, 0.006)) + LEVELS[config.get("graph_optimization_level", "all")]
    if config.get("execution_mode") == "parallel":
        log += 0.22 + 0.02 * math.log2(config.get("inter_op_num_threads", 16))
    if config.get("intra_op_allow_spinning") is False:
        log += 0.03 * math.log2(threads)
    log += {None: 0, 2: 0.006, 4: -0.012, 8: -0.008}[config.get("dynamic_block_base")] * math.log2(threads)
    log += 0.05 if config.get("enable_cpu_mem_arena") is False else 0
    log += 0.04 if config.get("disable_prepacking") else 0
    return 42e6 * math.exp(log + wobble("cnn", config, 0.006))


def decaying_recurrent_net_4_cores(config):
    """Denormal activations: one flag is worth more than all others; and threads hurt a narrow recurrent net."""
    threads = config.get("intra_op_num_threads", 4)
    log = math.log(amdahl(threads, 4, 0.55, 0.06)) + 0.5 * LEVELS[config.get("graph_optimization_level", "all")]
    if config.get("intra_op_allow_spinning") is False and threads > 1:
        log += 0.09
    log += {None: 0, 500: 0.004, 1000: 0, 2000: -0.003}[config.get("intra_op_spin_duration_us")]
    log -= 0.9 if config.get("set_denormal_as_zero") else 0
    log += 0.02 if config.get("enable_mem_pattern") is False else 0
    log -= 0.025 if config.get("disable_prepacking") else 0
    log += {None: 0, 2: 0.02, 4: 0.01}[config.get("dynamic_block_base")]
    return 3.1e6 * math.exp(log + wobble("rnn", config, 0.005))


def branchy_net_32_cores(config):
    """The best lies off both axes: parallel mode pays only with few intra-op threads."""
    threads = config.get("intra_op_num_threads", 32)
    if config.get("execution_mode") == "parallel":
        lanes = min(config.get("inter_op_num_threads", 32), 4)
        over = max(0.0, math.log2(threads * config.get("inter_op_num_threads", 32) / 32))
        log = math.log(amdahl(threads, 32, 0.12, 0.03) / lanes ** 0.62) + 0.12 * over
    else:
        log = math.log(amdahl(threads, 32, 0.12, 0.03))
    log += LEVELS[config.get("graph_optimization_level", "all")]
    if config.get("intra_op_allow_spinning") is False and threads > 1:
        log += -0.03 if config.get("execution_mode") == "parallel" else 0.05
    log += 0.03 if config.get("enable_cpu_mem_arena") is False else 0
    log += {None: 0, 2: 0.01, 4: -0.01}[config.get("dynamic_block_base")]
    return 18e6 * math.exp(log + wobble("branchy", config, 0.006))


def throughput_16_cores(config):
    """Nanoseconds an item. Sessions and threads share the cores; large batches run out of memory with many sessions."""
    threads = config.get("intra_op_num_threads", 16)
    sessions = config.get("parallel_sessions", 1)
    batch = config.get("batch_size", 1)
    if sessions > 1 and sessions * threads > 16:
        return None
    if sessions * batch > 128:
        return "out_of_memory"
    time = amdahl(threads, 16, 0.10 / batch ** 0.5 + 0.02, 0.008) * batch * (1 + 0.25 / batch)
    contention = 1 + 0.015 * (sessions - 1) + 0.02 * max(0.0, math.log2(batch * sessions / 16))
    log = math.log(time * contention / (sessions * batch)) + LEVELS[config.get("graph_optimization_level", "all")]
    if config.get("intra_op_allow_spinning") is False and threads > 1:
        log += 0.04 - (0.07 if sessions > 2 else 0)
    return 25e6 * math.exp(log + wobble("throughput", config, 0.008))


def container_with_a_quota(config):
    """Four usable of 32 cores: the automatic thread count is several times too high, and some settings crash."""
    threads = config.get("intra_op_num_threads", 32)
    log = math.log(amdahl(min(threads, 4), 4, 0.08, 0.01)) + (0.5 * math.log2(threads / 4) if threads > 4 else 0)
    log += LEVELS[config.get("graph_optimization_level", "all")] * 1.3
    if config.get("graph_optimization_level") == "layout" and config.get("disable_prepacking"):
        return "crashed"
    if config.get("intra_op_allow_spinning") is False and threads > 1:
        log += -0.25 if threads > 4 else 0.05
    if config.get("execution_mode") == "parallel":
        log += 0.1 + 0.08 * math.log2(config.get("inter_op_num_threads", 32))
    log -= 0.03 if config.get("disable_prepacking") else 0
    log += {None: 0, 2: -0.02, 4: -0.03, 8: 0.01}[config.get("dynamic_block_base")] * (threads > 1)
    return 9e6 * math.exp(log + wobble("quota", config, 0.006))


def rugged(config):
    """Many settings of a few per cent with pair interactions as large as themselves."""
    threads = config.get("intra_op_num_threads", 8)
    log = math.log(amdahl(threads, 8, 0.1, 0.02))
    for key, value in config.items():
        if key != "intra_op_num_threads":
            log += 0.01 + wobble("rugged-main", {key: value}, 0.05)
    for pair in itertools.combinations(sorted(config.items()), 2):
        log += wobble("rugged-pair", list(pair), 0.015)
    return 7e6 * math.exp(log + wobble("rugged", config, 0.004))


def gpu_that_refuses_graphs(config):
    """A node on the CPU: every capture fails, and a fused kernel dies; layout and binding still gain."""
    if config.get("enable_cuda_graph"):
        return "crashed" if h200_latency("resnet50", "fp32", 1)(config) else None
    if config.get("fuse_conv_bias") and config.get("prefer_nhwc"):
        return "failed"
    return h200_latency("resnet50", "fp32", 1)(config)


THREADS = "intra_op_num_threads"
LEVEL = ("graph_optimization_level", ["disable_all", "basic", "extended", "layout"])
MODE = ("execution_mode", ["parallel"])
SPIN = ("intra_op_allow_spinning", [False])
ARENA = ("enable_cpu_mem_arena", [False])
PACK = ("disable_prepacking", [True])


def generated(folder):
    def surface(name, function, dimensions, noise=0.006):
        write(folder, name, "generated", "scripts/make_landscapes.py: " + function.__name__, noise, dimensions, function)
    surface("cnn-16-cores", cnn_16_cores,
            [(THREADS, [1, 2, 4, 8, 16, 32]), ("inter_op_num_threads", [2, 4]), MODE, LEVEL, ARENA, SPIN,
             ("dynamic_block_base", [2, 4, 8]), PACK])
    surface("rnn-4-cores", decaying_recurrent_net_4_cores,
            [(THREADS, [1, 2, 4]), LEVEL, ("enable_mem_pattern", [False]), SPIN,
             ("intra_op_spin_duration_us", [500, 1000, 2000]), ("dynamic_block_base", [2, 4]),
             ("set_denormal_as_zero", [True]), PACK])
    surface("branches-32-cores", branchy_net_32_cores,
            [(THREADS, [1, 2, 4, 8, 16, 32]), ("inter_op_num_threads", [2, 4, 8]), MODE,
             ("graph_optimization_level", ["basic", "extended"]), ARENA, SPIN, ("dynamic_block_base", [2, 4])])
    surface("throughput-16-cores", throughput_16_cores,
            [(THREADS, [1, 2, 4, 8, 16]), LEVEL, SPIN, ("parallel_sessions", [2, 4, 8, 16]),
             ("batch_size", [2, 4, 8, 16, 32])], 0.01)
    surface("container-quota", container_with_a_quota,
            [(THREADS, [1, 2, 4, 8, 32]), ("inter_op_num_threads", [2, 4]), MODE, LEVEL, SPIN,
             ("dynamic_block_base", [2, 4, 8]), PACK])
    surface("rugged", rugged,
            [(THREADS, [1, 2, 4, 8]), LEVEL, ARENA, SPIN, ("dynamic_block_base", [2, 4]),
             ("set_denormal_as_zero", [True]), PACK, ("enable_mem_pattern", [False])])
    surface("gpu-without-graphs", gpu_that_refuses_graphs, GPU_BINDING + GPU_CONV + GPU_REST, 0.003)


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "tests/data/landscapes"
    target.mkdir(parents=True, exist_ok=True)
    published(target)
    generated(target)
