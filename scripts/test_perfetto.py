#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks exported traces against what a plain reading of the recordings gives, event by event.

The Perfetto file is decoded with the classes of PyPI's package "perfetto", by the rules of its format: per sequence
incremental state, interned texts, defaults and an incremental clock; slices of a track nest; arrows lead from calls to
what they launched. Chrome's JSON is read back and compared as well. scripts/test_perfetto.sh runs it.
  test_perfetto.py --program rl_trace_export [--trace-processor FILE] [RECORDING]...
RECORDINGs are JSON of the PyTorch profiler or ONNX Runtime (.json, .json.gz) or SQLite of Nsight Systems (.sqlite). Made-up ones with
what is rare in recordings are checked first.
"""
import argparse
import collections
import gzip
import json
import pathlib
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
from decimal import ROUND_HALF_UP, Decimal

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import CounterDescriptor, Trace, TracePacket, TrackDescriptor, TrackEvent

CATEGORIES = {"kernel", "Kernel", "gpu_memcpy", "gpu_memset", "cuda_sync", "cuda_runtime", "cuda_driver", "cpu_op", "user_annotation",
              "python_function", "overhead"}
GPU_CATEGORIES = {"kernel", "gpu_memcpy", "gpu_memset", "cuda_sync"}
WORK = {"kernel", "gpu_memcpy", "gpu_memset"}
CALLS = {"cuda_runtime", "cuda_driver"}
DEEPEST = 512  # Perfetto's SliceTracker drops what lies deeper
BOOT_TIME = 6

# where: (pid, tid) of a thread, (process, device, context, stream) of a GPU. arguments: sorted pairs.
Event = collections.namedtuple("Event", "category name start duration where arguments")


class Recording:
    """What a recording has: events, and of work of a GPU the call that launched it."""

    def __init__(self):
        self.events = []
        self.calls = {}  # (process or None, correlation) -> the first call
        self.work = []  # (process or None, correlation, event)
        self.memory = []  # (process, device or -1, ns, bytes, address, allocated bytes, reserved bytes)

    def add(self, event, process, correlation):
        self.events.append(event)
        if correlation == 0:
            return
        if event.category in CALLS:
            for key in (process, correlation), (None, correlation):
                known = self.calls.get(key)
                if known is None or event.start < known.start:
                    self.calls[key] = event
        elif event.category in WORK:
            self.work.append((process, correlation, event))

    def counted(self):
        """What the counters of each GPU's memory change to: (process, name) -> [(ns, value)]."""
        found = collections.defaultdict(list)
        for process, device, at, _, _, *totals in sorted(self.memory, key=lambda one: one[2]):
            for kind, value in zip(("allocated", "reserved"), totals):
                points = found[process, f"GPU {device} {kind} memory"]
                if device >= 0 and (not points or points[-1][1] != value):
                    points.append((at, value))
        return {key: points for key, points in found.items() if points}

    def begin(self):
        """Before zero there is no time in a Perfetto file, whose zero is then the first event."""
        return min([0] + [event.start for event in self.events] + [one[2] for one in self.memory])

    def arrows(self):
        found = collections.Counter()
        for process, correlation, event in self.work:
            call = self.calls.get((process, correlation))
            if call and call.start <= event.start:
                found[call, event] += 1
        return found


def nanoseconds(value):
    return int((Decimal(value) * 1000).to_integral_value(ROUND_HALF_UP))


def number(value, otherwise=0):
    return value if isinstance(value, int) and not isinstance(value, bool) else otherwise


def read_json(path):
    opened = gzip.open(path, "rt") if path.name.endswith(".gz") else open(path)
    with opened as file:
        content = json.load(file, parse_float=Decimal, strict=False)
    events = content["traceEvents"] if isinstance(content, dict) else content
    is_onnxruntime = any(one.get("cat") == "Session" for one in events)
    return read_onnxruntime(events) if is_onnxruntime else read_kineto(events)


def read_onnxruntime(events):
    out = Recording()
    for one in events:
        where, arguments, name = (one["pid"], one["tid"]), {}, one["name"]
        if one.get("cat") == "Node" and name.endswith("_kernel_time"):
            args = one["args"]
            arguments = {"operation": args.get("op_name", ""), "provider": args.get("provider", "")}
            for key in "activation", "parameter", "output":
                if f"{key}_size" in args:
                    arguments[f"{key}_bytes"] = int(args[f"{key}_size"])
            name = name.removesuffix("_kernel_time")
        elif one.get("cat") != "Session":
            continue
        category = {"Session": "user_annotation"}.get(one["cat"], "Node")
        out.add(Event(category, name, nanoseconds(one["ts"]), nanoseconds(one["dur"]), where, tuple(sorted(arguments.items()))), None, 0)
    return out


def read_kineto(events):
    out = Recording()
    for one in events:
        if one.get("name") == "[memory]" and one.get("cat") == "cpu_instant_event":
            args = one["args"]
            device = args["Device Id"] if args["Device Type"] == 1 else -1
            out.memory.append((one["pid"], device, nanoseconds(one["ts"]), args["Bytes"], args["Addr"], args["Total Allocated"], args["Total Reserved"]))
        category = {"Kernel": "kernel"}.get(one.get("cat"), one.get("cat"))
        if category not in CATEGORIES or one.get("ph") != "X" or not isinstance(one.get("ts"), (int, Decimal)):
            continue
        args = one.get("args", {})
        pid, tid = number(one.get("pid")), number(one.get("tid"))
        process = None
        if category in GPU_CATEGORIES:
            process = number(args.get("process")) or None
            where = (process or 0, number(args.get("device"), pid), number(args.get("context")), number(args.get("stream"), tid))
        else:
            where = (pid, tid)
            process = pid
        arguments = {}
        if category == "kernel":
            for key in "grid", "block":
                if any(args.get(key, ())):
                    arguments[key] = "x".join(map(str, args[key]))
            if number(args.get("registers per thread")) > 0:
                arguments["registers_per_thread"] = args["registers per thread"]
                arguments["shared_bytes"] = number(args.get("shared memory"))
            if number(args.get("graph node id")):
                arguments["graph_node"] = args["graph node id"]
        elif category in WORK and number(args.get("bytes"), -1) >= 0:
            arguments["bytes"] = args["bytes"]
        event = Event(category, one.get("name") or "(unnamed)", nanoseconds(one["ts"]), max(0, nanoseconds(one.get("dur", 0))), where,
                      tuple(sorted(arguments.items())))
        out.add(event, process, number(args.get("correlation")))
    return out


def read_nsys(path):
    base = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    base.row_factory = sqlite3.Row
    tables = {row[0] for row in base.execute("SELECT name FROM sqlite_master")}
    texts = dict(base.execute("SELECT id, value FROM StringIds").fetchall()) if "StringIds" in tables else {}
    out = Recording()

    def rows(table):
        for row in base.execute(f"SELECT * FROM {table}") if table in tables else ():
            row = dict(row)
            if row.get("start") is not None and row.get("end") is not None:
                yield row, lambda key, otherwise=0: otherwise if row.get(key) is None else row[key]

    def process(value):
        return value >> 24 & 0xFFFFFF

    def add(get, category, name, thread, arguments=()):
        if thread:
            where = (process(get("globalTid")), get("globalTid") & 0xFFFFFF)
        else:
            where = (process(get("globalPid")), get("deviceId"), get("contextId"), get("streamId"))
        event = Event(category, name, get("start"), max(0, get("end") - get("start")), where, tuple(sorted(arguments)))
        out.add(event, where[0] or None, get("correlationId"))

    for row, get in rows("CUPTI_ACTIVITY_KIND_KERNEL"):
        name = next((texts[row[key]] for key in ("demangledName", "shortName", "mangledName") if texts.get(row.get(key))), "")
        arguments = [(key, "x".join(str(get(key + axis)) for axis in "XYZ")) for key in ("grid", "block") if any(get(key + axis) for axis in "XYZ")]
        if get("registersPerThread") > 0:
            arguments += [("registers_per_thread", get("registersPerThread")),
                          ("shared_bytes", get("staticSharedMemory") + get("dynamicSharedMemory"))]
        if get("graphNodeId"):
            arguments.append(("graph_node", get("graphNodeId")))
        add(get, "kernel", name, False, arguments)
    copies = {1: "Memcpy HtoD", 2: "Memcpy DtoH", 3: "Memcpy HtoA", 4: "Memcpy AtoH", 8: "Memcpy DtoD", 9: "Memcpy HtoH", 10: "Memcpy PtoP"}
    memories = ("Pageable", "Pinned", "Device", "Array", "Managed")
    syncs = {1: "Event Sync", 2: "Stream Wait Event", 3: "Stream Sync", 4: "Context Sync"}
    for row, get in rows("CUPTI_ACTIVITY_KIND_MEMCPY"):
        name = copies.get(get("copyKind"), "Memcpy")
        ends = row.get("srcKind"), row.get("dstKind")
        if all(end in range(len(memories)) for end in ends):
            name += f" ({memories[ends[0]]} -> {memories[ends[1]]})"
        add(get, "gpu_memcpy", name, False, [("bytes", get("bytes"))])
    for row, get in rows("CUPTI_ACTIVITY_KIND_MEMSET"):
        add(get, "gpu_memset", "Memset", False, [("bytes", get("bytes"))])
    for row, get in rows("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION"):
        add(get, "cuda_sync", syncs.get(get("syncType"), "Sync"), False)
    for row, get in rows("CUPTI_ACTIVITY_KIND_RUNTIME"):
        name = texts.get(row["nameId"], "")
        add(get, "cuda_driver" if re.match("cu[A-Z]", name) else "cuda_runtime", name, True)
    for row, get in rows("NVTX_EVENTS"):
        if get("eventType", 59) in (59, 60):
            text = get("text", "") or texts.get(row.get("textId"), "")
            # Operations of PyTorch's emit_nvtx: "aten::mul, seq = 45328, op_id = 990726".
            operation = re.match("(.*?), (seq|op_id|sizes) = ", text)
            add(get, "cpu_op" if operation else "user_annotation", operation[1] if operation else text, True)
    for table in "PROFILER_OVERHEAD", "CUPTI_ACTIVITY_KIND_OVERHEAD":
        for row, get in rows(table):
            add(get, "overhead", texts.get(row.get("nameId"), ""), True)
    return out


class Sequence:
    """State of a packet sequence since it was cleared."""

    def __init__(self):
        self.track = 0
        self.clock = BOOT_TIME
        self.now = {}  # clock -> ns, of the incremental ones
        self.texts = {}  # (kind, iid) -> text


class Decoder:
    """Reads a Perfetto file; a broken rule is a ValueError."""

    def __init__(self, data):
        self.tracks = {}
        self.open = collections.defaultdict(list)  # track -> slices [Event fields ..., children's end]
        self.last = {}  # track -> ns
        self.events = []
        self.counted = collections.defaultdict(list)  # (process, name) -> [(ns, value)]
        self.arrows = collections.Counter()
        self.began = {}  # flow -> slice
        self.ended = []  # (flow, slice)
        self.sequences = {}
        self.deepest = 0
        self.boot = -1
        trace = Trace()
        trace.ParseFromString(data)
        for packet in trace.packet:
            self.read(packet)
        for track, left in self.open.items():
            self.need(not left, f"track {track} has {len(left)} slices without an end")
        # By time; of one moment the file's order counts.
        for flow, work in self.ended:
            self.need(flow in self.began, f"flow {flow} has no beginning")
            call, at = self.began.pop(flow)
            self.need(call["start"] < work[0]["start"] or (call["start"] == work[0]["start"] and at < work[1]), f"flow {flow} leads back")
            self.arrows[self.event(call), self.event(work[0])] += 1
        self.need(not self.began, f"{len(self.began)} flows have no end")

    @staticmethod
    def need(holds, text):
        if not holds:
            raise ValueError(text)

    def event(self, one):
        return Event(one["category"], one["name"], one["start"], one["end"] - one["start"], self.where(one["track"]), one["arguments"])

    def where(self, uuid):
        """Of a slice's track: its thread, or its stream."""
        track = self.tracks[uuid]
        while not track.HasField("thread") and not re.match(r"(context -?\d+ )?(stream -?\d+|syncs)|thread ", track.name):
            self.need(track.parent_uuid in self.tracks, f"track {uuid} has neither a thread nor a stream")
            track = self.tracks[track.parent_uuid]
        if track.HasField("thread"):
            return track.thread.pid, track.thread.tid
        # Extra lanes are below their thread, and threads with numbers that the system has not are named.
        parent = self.tracks[track.parent_uuid]
        if track.name.startswith("thread "):
            if parent.HasField("thread"):
                return parent.thread.pid, parent.thread.tid
            if parent.name.startswith("thread "):
                track, parent = parent, self.tracks[parent.parent_uuid]
            return self.process(parent), int(track.name.split()[1])
        gpu = re.match(r"GPU (-?\d+)", parent.name)
        self.need(gpu, f"stream {track.name} is not of a GPU")
        process = self.process(self.tracks[parent.parent_uuid]) if parent.parent_uuid else 0
        return process, int(gpu[1]), track.name

    def process(self, track):
        return track.process.pid if track.HasField("process") else int(track.name.split()[1])

    def read(self, packet):
        self.need(packet.trusted_packet_sequence_id > 0, "a packet without a sequence")
        if packet.sequence_flags & TracePacket.SEQ_INCREMENTAL_STATE_CLEARED:
            self.sequences[packet.trusted_packet_sequence_id] = Sequence()
        state = self.sequences.get(packet.trusted_packet_sequence_id)
        self.need(state or not packet.sequence_flags & TracePacket.SEQ_NEEDS_INCREMENTAL_STATE, "no state")
        if packet.HasField("trace_packet_defaults"):
            state.track = packet.trace_packet_defaults.track_event_defaults.track_uuid
            state.clock = packet.trace_packet_defaults.timestamp_clock_id
        for kind in "event_categories", "event_names", "debug_annotation_names", "debug_annotation_string_values":
            for one in getattr(packet.interned_data, kind):
                key = kind, one.iid
                self.need(one.iid > 0 and key not in state.texts, f"{key} again")
                state.texts[key] = one.str.decode() if kind == "debug_annotation_string_values" else one.name
        if packet.HasField("clock_snapshot"):
            clocks = {one.clock_id: one for one in packet.clock_snapshot.clocks}
            boot = clocks.pop(BOOT_TIME).timestamp
            self.need(boot >= self.boot, "the clock goes back")
            self.boot = boot
            for one in clocks.values():
                self.need(one.is_incremental and one.timestamp == boot, "a clock that is not incremental from the start")
                state.now[one.clock_id] = boot
        if packet.HasField("track_descriptor"):
            self.add_track(packet.track_descriptor)
        if packet.HasField("track_event"):
            self.need(packet.sequence_flags & TracePacket.SEQ_NEEDS_INCREMENTAL_STATE, "an event that does not ask for its state")
            state.now[state.clock] += packet.timestamp
            self.add_event(packet.track_event, state, state.now[state.clock])

    def add_track(self, track):
        self.need(track.uuid and track.uuid not in self.tracks, f"track {track.uuid} again")
        self.need(not track.parent_uuid or track.parent_uuid in self.tracks, f"track {track.uuid} comes before its parent")
        self.need(track.name or track.HasField("process") or track.HasField("thread"), f"track {track.uuid} has no name")
        self.tracks[track.uuid] = track

    def add_event(self, event, state, at):
        track = event.track_uuid or state.track
        self.need(track in self.tracks, f"track {track} is not there")
        self.need(at >= self.last.get(track, 0), f"track {track} goes back in time")
        self.last[track] = at
        if event.type == TrackEvent.TYPE_COUNTER:
            counter = self.tracks[track]
            self.need(counter.counter.unit == CounterDescriptor.UNIT_SIZE_BYTES, f"counter {track} is not of bytes")
            process = self.process(self.tracks[counter.parent_uuid]) if counter.parent_uuid else 0
            self.counted[process, counter.name].append((at, event.counter_value))
            return
        self.need(not self.tracks[track].HasField("counter"), f"counter {track} has a slice")
        stack = self.open[track]
        if event.type == TrackEvent.TYPE_SLICE_END:
            self.need(stack, f"track {track} has an end without a beginning")
            one = stack.pop()
            one["end"] = at
            self.events.append(one)
            return
        self.need(event.type == TrackEvent.TYPE_SLICE_BEGIN, f"type {event.type}")
        self.need(len(event.category_iids) == 1 and event.name_iid and not event.HasField("name"), "a text that is not interned")
        arguments = []
        for one in event.debug_annotations:
            value = state.texts["debug_annotation_string_values", one.string_value_iid] if one.string_value_iid else one.int_value
            arguments.append((state.texts["debug_annotation_names", one.name_iid], value))
        one = {"category": state.texts["event_categories", event.category_iids[0]], "name": state.texts["event_names", event.name_iid],
               "start": at, "track": track, "arguments": tuple(sorted(arguments))}
        order = len(self.events) + sum(map(len, self.open.values())) if event.flow_ids or event.terminating_flow_ids else 0
        for flow in event.flow_ids:
            self.need(flow not in self.began, f"flow {flow} begins again")
            self.began[flow] = one, order
        for flow in event.terminating_flow_ids:
            self.ended.append((flow, (one, order)))
        stack.append(one)
        self.deepest = max(self.deepest, len(stack))
        self.need(len(stack) <= DEEPEST, f"track {track} is {len(stack)} deep")


def track_of(event, has_contexts):
    """As Decoder.where has it: without a number of a further lane."""
    if event.category not in GPU_CATEGORIES:
        return event
    process, device, context, stream = event.where
    name = f"context {context} " if has_contexts[process, device] else ""
    name += ("syncs" if stream < 0 else f"stream {stream} syncs") if event.category == "cuda_sync" else f"stream {stream}"
    return event._replace(where=(process, device, name))


def without_lane(event):
    return event._replace(where=event.where[:-1] + (re.sub(r" \(\d+\)$", "", event.where[-1]),)) if len(event.where) == 3 else event


def differences(kind, expected, got):
    lines = []
    for text, left in ("missing", expected - got), ("not expected", got - expected):
        if left:
            lines.append(f"{kind}: {sum(left.values())} {text}, such as {next(iter(left))}")
    return lines


def compare_perfetto(recording, data):
    contexts = collections.defaultdict(set)
    for event in recording.events:
        if event.category in GPU_CATEGORIES:
            contexts[event.where[:2]].add(event.where[2])
    has_contexts = {place: len(found) > 1 for place, found in contexts.items()}
    zero = recording.begin()

    def expected(event):
        return track_of(event._replace(start=event.start - zero), has_contexts)

    decoder = Decoder(data)
    problems = differences("events", collections.Counter(map(expected, recording.events)),
                           collections.Counter(without_lane(decoder.event(one)) for one in decoder.events))
    arrows = collections.Counter()
    for (call, work), count in recording.arrows().items():
        arrows[expected(call), expected(work)] += count
    got = collections.Counter()
    for (call, work), count in decoder.arrows.items():
        got[call, without_lane(work)] += count
    problems += differences("arrows", arrows, got)
    counted = {key: [(at - zero, value) for at, value in points] for key, points in recording.counted().items()}
    problems += [f"counter {key}: {len(decoder.counted.get(key, []))} values, expected {len(points)}" for key, points in counted.items()
                 if decoder.counted.get(key) != points]
    problems += [f"counter {key} is not expected" for key in decoder.counted if key not in counted]
    return decoder, problems


def compare_json(recording, path):
    again = read_json(path)
    problems = differences("events of the JSON", collections.Counter(recording.events), collections.Counter(again.events))
    problems += differences("memory of the JSON", collections.Counter(recording.memory), collections.Counter(again.memory))
    return problems + differences("arrows of the JSON", recording.arrows(), again.arrows())


def processed(program, path, events, arrows, work):
    """What trace_processor makes of the file."""
    query = work / "query.sql"
    query.write_text("SELECT (SELECT COUNT(*) FROM slice) AS slices, (SELECT COUNT(*) FROM slice WHERE dur < 0) AS unfinished, (SELECT COUNT(*) FROM flow) AS flows, "
                     "(SELECT IFNULL(SUM(value), 0) FROM stats WHERE severity IN ('error', 'data_loss')) AS errors;\n")
    done = subprocess.run([program, "-q", query, path], capture_output=True, text=True)
    if done.returncode != 0:
        return [f"trace_processor: {done.stderr.strip().splitlines()[-1:] or done.returncode}"]
    got = done.stdout.strip().splitlines()[-1]
    expected = f"{events},0,{arrows},0"
    return [] if got == expected else [f"trace_processor has slices,unfinished,flows,errors = {got}, expected {expected}"]


def made_up(seed):
    """Events that overlap, nest deeply, last no time, begin before zero, and have numbers and names out of the common."""
    chance = random.Random(seed)
    events = []

    def add(category, name, start, duration, pid, tid, **args):
        events.append({"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": Decimal(start) / 1000, "dur": Decimal(duration) / 1000, "args": args})

    def gpu(category, start, duration, stream, **args):
        add(category, f"{category} \"{stream}\" \\ \t µ 核", start, duration, args.get("device", 0), stream, stream=stream, **args)

    threads = [(70, 70), (70, 71), (71, 72), (-1, 0), (0, 0), (70, 2**40 + 1)]
    span = 2000
    first = chance.choice((-500, 0, 1752839462723407123))
    for correlation in range(1, 400):
        pid, tid = chance.choice(threads)
        start = first + chance.randrange(span)
        add(*chance.choice((("cuda_runtime", "cudaLaunchKernel"), ("cuda_driver", "cuLaunchKernelEx"))), start, chance.randrange(30), pid, tid,
            correlation=correlation)
        for _ in range(chance.choice((0, 1, 1, 1, 3))):
            place = {"device": chance.randrange(2), "context": chance.randrange(2)}
            gpu(chance.choice(("kernel", "gpu_memcpy", "gpu_memset", "cuda_sync")), start + chance.randrange(-3, 40), chance.randrange(50),
                chance.choice((-1, 7, 7, 20)), correlation=correlation, bytes=chance.randrange(1000), grid=[chance.randrange(4), 1, 1],
                block=[chance.randrange(3) * 32, 0, 0], **{"registers per thread": chance.randrange(40), "shared memory": chance.randrange(9),
                                                          "graph node id": chance.randrange(3)}, **place)
    for _ in range(600):
        pid, tid = chance.choice(threads)
        add(chance.choice(("cpu_op", "user_annotation", "python_function", "overhead")), chance.choice(("", "aten::mm", "nn.Module: Linear_0")),
            first + chance.randrange(span), chance.randrange(200), pid, tid)
    for depth in range(700):
        add("python_function", f"f{depth}", first + depth, 2 * (700 - depth), 70, 75)
        add("cuda_runtime", "cudaMalloc", first + depth, 2 * (700 - depth) - chance.randrange(3), 70, 75)
    for address in range(300):
        pid, tid = chance.choice(threads)
        device = chance.choice((-1, 0, 1))
        events.append({"ph": "i", "s": "t", "cat": "cpu_instant_event", "name": "[memory]", "pid": pid, "tid": tid,
                       "ts": Decimal(first + chance.randrange(-9, span)) / 1000,
                       "args": {"Bytes": chance.randrange(-2000, 2000), "Addr": address, "Total Allocated": chance.randrange(3) * 2**40,
                                "Total Reserved": chance.randrange(2) * 2**41, "Device Id": device, "Device Type": int(device >= 0)}})
    chance.shuffle(events)
    return {"traceEvents": events}


def made_up_model(seed):
    """What ONNX Runtime writes: runs, and nodes on several threads."""
    chance = random.Random(seed)
    events = [{"cat": "Session", "pid": 5, "tid": 5, "dur": 900, "ts": run * 1000, "ph": "X", "name": "model_run", "args": {}} for run in range(9)]
    for node in range(500):
        sizes = {f"{key}_size": str(chance.randrange(2**40)) for key in ("activation", "parameter", "output") if chance.randrange(3)}
        events.append({"cat": "Node", "pid": 5, "tid": chance.choice((5, 6)), "dur": chance.randrange(90), "ts": chance.randrange(9000), "ph": "X",
                       "name": f"{chance.choice(('conv', ''))}{node}_kernel_time",
                       "args": {"op_name": chance.choice(("Conv", "Gelu", "")), "provider": "CPUExecutionProvider", **sizes}})
        events.append({**events[-1], "name": f"{node}_fence_before"})
    return events


def write_json(content, path):
    # Decimals as they are: a double has too few digits for today's clocks.
    marked = json.dumps(content, default=lambda value: f"decimal {value:f}")
    path.write_text(re.sub(r'"decimal ([-\d.]+)"', r"\1", marked))


def check(program, path, work, processor):
    recording = read_nsys(path) if path.name.endswith(".sqlite") else read_json(path)
    made, chrome = work / "made.perfetto-trace", work / "made.json.gz"
    for target in made, chrome:
        done = subprocess.run([program, path, target], capture_output=True, text=True)
        if done.returncode != 0:
            refused = done.stderr.strip()
            # A recording without kernels cannot be read, which is another test's matter.
            has_kernels = any(event.category == "kernel" for event in recording.events)
            return refused, ["not read"] if has_kernels and "only traces of NVIDIA" not in refused else []
        if target == made:
            seconds = re.search(r"written in ([\d.]+) s", done.stdout)[1]
    data = made.read_bytes()
    try:
        decoder, problems = compare_perfetto(recording, data)
    except ValueError as error:
        return "", [str(error)]
    problems += compare_json(recording, chrome)
    if processor:
        problems += processed(processor, made, len(recording.events), sum(recording.arrows().values()), work)
    counts = collections.Counter(event.category for event in recording.events)
    kernel_ns = sum(event.duration for event in recording.events if event.category == "kernel")
    size = max(1, len(recording.events))
    return (f"{len(recording.events)} events ({counts['kernel']} kernels of {kernel_ns} ns, {counts['gpu_memcpy'] + counts['gpu_memset']} copies and sets, "
            f"{counts['cuda_runtime'] + counts['cuda_driver']} calls), {sum(decoder.arrows.values())} arrows, {len(decoder.tracks)} tracks, depth {decoder.deepest}; "
            f"{seconds} s, bytes an event: {len(data) / size:.1f}, by gzip {len(gzip.compress(data, 6)) / size:.1f}, "
            f"Chrome's JSON by gzip {chrome.stat().st_size / size:.1f}"), problems


def absolute(path):
    return pathlib.Path(path).absolute()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, type=absolute, help="rl_trace_export")
    parser.add_argument("--trace-processor", type=absolute, help="Perfetto's trace_processor_shell, to ask it as well")
    parser.add_argument("recordings", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        made = []
        for seed in range(6):
            made.append(work / f"made_up_{seed}.json")
            write_json(made_up(seed), made[-1])
        made.append(work / "made_up_model.json")
        write_json(made_up_model(1), made[-1])
        for path in made + options.recordings:
            text, problems = check(options.program, path, work, options.trace_processor)
            print(f"{path.name}: {'FAILED ' if problems else ''}{text}", flush=True)
            for problem in problems:
                print(f"  {problem}")
            failed += bool(problems)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
