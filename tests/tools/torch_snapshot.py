#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots of PyTorch's CUDA allocator, made up, with the fields that torch 2.11 has (torch.cuda.memory._dump_snapshot).

As torch does, frames and lists of frames are one object wherever they occur: a pickle has them once.
    torch_snapshot.py FOLDER     writes the inputs of rl_trace_fuzz that are in tests/fuzz/corpus
"""
import pathlib
import pickle
import sys

MIB, GIB = 2**20, 2**30
CPP = {"filename": "??", "line": 0, "name": "at::native::empty_cuda(c10::ArrayRef<long>)"}
BACKWARD = {"filename": "??", "line": 0, "name": "torch::autograd::generated::MmBackward0::apply(std::vector<at::Tensor>&&)"}
ENGINE = {"filename": "", "line": 0, "name": "torch::autograd::Engine::thread_main(std::shared_ptr<torch::autograd::GraphTask> const&)"}
INNER = {"filename": "/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py", "line": 134, "name": "forward"}
STEP = [CPP, INNER, {"filename": "/home/me/train.py", "line": 41, "name": "step"}]
WEIGHTS = [CPP, INNER, {"filename": "/home/me/train.py", "line": 7, "name": "<module>"}]
GRADIENTS = [CPP, BACKWARD, ENGINE]
SETTINGS = {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0, "expandable_segments": False,
            "pinned_num_register_threads": 1, "roundup_power2_divisions": {"1": 0, "2": 0, "32768": 0}}


def happened(action, address, size, time_us, frames):
    """An entry of a device's trace; of "oom" the address is what the device had free."""
    return {"action": action, "device_free" if action == "oom" else "addr": address, "size": size, "stream": 0, "time_us": 1700000000000000 + time_us,
            "compile_context": "N/A", "user_metadata": "", "pool_id": (0, 0), "frames": frames}


def block(address, size, requested, state, frames):
    return {"address": address, "size": size, "requested_size": requested, "state": state, "frames": frames}


def segment(device, address, blocks, frames):
    total = sum(one["size"] for one in blocks)
    allocated = sum(one["size"] for one in blocks if one["state"] == "active_allocated")
    return {"device": device, "address": address, "total_size": total, "allocated_size": allocated, "active_size": allocated,
            "requested_size": sum(one["requested_size"] for one in blocks), "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0),
            "is_expandable": False, "frames": frames, "blocks": blocks}


def snapshot(segments, traces):
    return {"segments": segments, "device_traces": traces, "allocator_settings": SETTINGS,
            "external_annotations": [{"device": 0, "time_us": 1700000000000003, "stage": "START", "name": "forward"}]}


def training(steps, gradients=0):
    """64 MiB of weights, 32 MiB in every step, `gradients` bytes that a backward pass leaves, and an allocation that fails."""
    trace = [happened("segment_alloc", GIB, 2 * GIB, 0, WEIGHTS)]
    room = GIB + 64 * MIB
    at = 1
    for _ in range(steps):
        trace += [happened("alloc", room, 32 * MIB, at, STEP), happened("free_requested", room, 32 * MIB, at + 5, STEP),
                  happened("free_completed", room, 32 * MIB, at + 5, STEP)]
        at += 10
    blocks = [block(GIB, 64 * MIB, 64 * MIB, "active_allocated", WEIGHTS)]
    if gradients:
        trace.append(happened("alloc", room, gradients, at, GRADIENTS))
        blocks.append(block(room, gradients, gradients, "active_allocated", GRADIENTS))
    trace.append(happened("oom", 5 * MIB, 3 * GIB, at, STEP))
    blocks.append(block(room + gradients, 2 * GIB - 64 * MIB - gradients, 0, "inactive", []))
    return snapshot([segment(0, GIB, blocks, WEIGHTS)], [trace, []])


def several_gpus():
    """Without a history of the first GPU; of the second an expandable segment, frees that another stream holds up, and no frames."""
    state = segment(0, GIB, [block(GIB, 512, 500, "active_allocated", STEP), block(GIB + 512, 1536, 0, "inactive", [])], [])
    grown = segment(1, 2 * GIB, [block(2 * GIB, 4096, 4000, "active_allocated", []), block(2 * GIB + 4096, 4096, 4096, "active_pending_free", [])], [])
    trace = [happened(action, 2 * GIB + offset, size, time, []) for time, (action, offset, size) in enumerate((
        ("free_completed", 8192, 100), ("segment_map", 0, 8192), ("alloc", 0, 4000), ("alloc", 4096, 4096), ("free_requested", 4096, 4096), ("snapshot", 0, 0),
        ("segment_unmap", 8192, 4096), ("segment_free", 8192, 4096)))]
    return snapshot([state, grown], [[], trace])


def main():
    folder = pathlib.Path(sys.argv[1])
    for protocol in 2, 4:
        folder.joinpath(f"snapshot_training{protocol}.pickle").write_bytes(pickle.dumps(training(2, 3 * MIB), protocol))
    folder.joinpath("snapshot_several_gpus.pickle").write_bytes(pickle.dumps(several_gpus(), 4))


if __name__ == "__main__":
    main()
