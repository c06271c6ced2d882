# SPDX-License-Identifier: Apache-2.0
"""One trial: the user's model under fixed settings, call by call."""

import contextlib
import functools
import gc
import math
import time

import torch

from ridgeline_worker.failures import BadSettings, UserError, type_name

from . import attention, batch, compiling, cpu_share, cuda_graph, fresh_inputs, host_io, modes, proof, settings, tensors, torchscript
from .attempt import OUT_OF_MEMORY, attempt
from .made import make

WARM_UPS = 3  # of compiled models: the first call compiles, the second records graphs, the third replays
# Settings that a model may not bear; one call without them tells its own failures apart.
RISKY = ("grad_mode", "channels_last", "torch_compile", "cuda_graph", "sdpa_backend", "torch_precision", "torchscript")
EAGER = ("grad_mode", "channels_last", "sdpa_backend", "torch_precision")  # of these, those of an eager call


def synchronizer(device):
    """The wait for a device; None where calls end by themselves."""
    if device.type != "cuda":
        return None
    if device.index is None or device.index == torch.cuda.current_device():
        return torch.cuda.synchronize
    return functools.partial(torch.cuda.synchronize, device)


class Trial:
    def __init__(self, function, target, chosen, seed, host_io=False):
        self.function = function
        self.target = target
        self.chosen = chosen
        self.seed = seed
        self.host_io = host_io  # inputs start and outputs end in host memory; else they stay where the user has put them
        self.notes = []
        self.turn = 0  # the input set of the next call
        self.graphs = []  # (graph, its outputs) for each input set
        self.attention = None  # names of attention kernels, where they were looked for
        self.frames_ready = 0

    # --- prepare ---

    def prepare(self, together=1):
        """`together`: so many processes make their models at the same time."""
        compiling.forget()
        torch.manual_seed(self.seed)
        begin = time.perf_counter()
        with cpu_share.taken(together):
            self.made = make(self.function, self.target)
        self.device = self._device()
        self.synchronize = synchronizer(self.device)
        self._wait()
        made_s = time.perf_counter() - begin
        self._check()
        settings.apply_global(self.chosen, torch, self.notes)
        self.own_rows = self.made.rows()
        if "batch_size" in self.chosen:
            with modes.grad(self.chosen.get("grad_mode")):
                batch.apply(self.made, self.chosen["batch_size"], output_tensors)
        self.model = self.made.model
        self._apply_eager()
        begin = time.perf_counter()
        builds = any(self.chosen.get(key) for key in ("torch_compile", "torchscript", "cuda_graph"))
        cold = "torch_compile" in self.chosen and compiling.cache_is_empty()
        self._build()
        self._wait()
        compiled_s = time.perf_counter() - begin if builds else 0.0
        if self.host_io and self.device.type == "cuda":
            self._feed_from_host()
        self._settle()
        hits = compiling.cache_hits()
        return {"make_s": made_s, "compile_s": compiled_s, "cold_cache": cold, "cache_hits": hits,
                "compiled_anew": "torch_compile" in self.chosen and not cold and hits == 0, "items": self.made.rows() or 1,
                "notes": self.notes}

    def _device(self):
        """Where calls have to be waited for."""
        cuda = [device for device in self.made.devices() if device.type == "cuda"]
        first = self.made.device()
        return first if first.type == "cuda" or not cuda else cuda[0]

    def _wait(self):
        if self.synchronize is not None:
            self.synchronize()

    def _check(self):
        settings.check_device(self.chosen, torch, self.device, self.made.devices())
        for key in ("torch_compile", "torchscript"):
            if key in self.chosen and compiling.is_compiled(self.made.model):
                raise BadSettings("%s: %s returns a model that is compiled already" % (key, self.target))

    def modes(self):
        """What is entered once around many calls."""
        stack = contextlib.ExitStack()
        stack.enter_context(modes.sdpa(self.chosen.get("sdpa_backend")))
        stack.enter_context(modes.grad(self.chosen.get("grad_mode")))
        return stack

    def eager_call(self, index=0):
        """One call of the model as Python runs it, under the settings of a call."""
        args, kwargs = self.made.sets[index]
        with self.modes():
            return self._with_autocast(self.made.model)(*args, **kwargs)

    def autocast_precision(self):
        precision = self.chosen.get("torch_precision", "")
        return precision if precision.startswith("autocast") else None

    def _with_autocast(self, model):
        """As users write it: entered in every call, so that its cache of converted weights ends with the call."""
        precision = self.autocast_precision()
        if precision is None:
            return model
        device = self.device
        cache = not (self.chosen.get("cuda_graph") or self.chosen.get("torchscript"))

        def run(*args, **kwargs):
            with modes.autocast(precision, device, cache):
                return model(*args, **kwargs)

        return run

    def _unchanged_call(self):
        """A failure here is the model's own, but for one of the grad mode only. Without gradients where the trial has none:
        they may need more memory than there is."""
        args, kwargs = self.made.sets[0]
        mode = self.chosen.get("grad_mode")
        try:
            with modes.grad(mode):
                self.made.model(*args, **kwargs)
        except Exception as error:
            if mode is None or isinstance(error, OUT_OF_MEMORY):
                raise
            self.made.model(*args, **kwargs)
            with attempt("grad_mode %s" % mode):
                raise

    def _apply_eager(self):
        if not any(self.chosen.get(key) for key in RISKY):
            return
        before = tensors.kept(self.made.sets[0]) if self.chosen.get("cuda_graph") else None
        self._unchanged_call()
        self._wait()
        if before is not None and tensors.difference(before, self.made.sets[0]) is not None:
            raise BadSettings("cuda_graph: the model changes its inputs, which a captured graph reads again")
        named = ["%s %s" % (key, self.chosen[key]) for key in EAGER if self.chosen.get(key)]
        if not named:
            return
        with attempt(" and ".join(named).replace("channels_last True", "channels_last")):
            self._convert()
            self._make_channels_last()
            self._check_autocast()
            if self.chosen.get("sdpa_backend"):
                self.attention = attention.kernels(self.eager_call)
            else:
                self.eager_call()
            self._wait()
        if self.chosen.get("sdpa_backend") and self.attention == []:
            raise BadSettings("sdpa_backend %s: no scaled_dot_product_attention was seen in a call of the model"
                              % self.chosen["sdpa_backend"])

    def _convert(self):
        precision = self.chosen.get("torch_precision", "")
        if precision not in ("fp16", "bf16"):
            return
        if self.made.module is None:
            raise BadSettings("torch_precision %s needs a torch.nn.Module, whose weights are converted" % precision)
        dtype = modes.DTYPES[precision]
        self.made.module.to(dtype)
        self.made.map_inputs(lambda tensor: tensor.to(dtype) if tensor.is_floating_point() else tensor)

    def _make_channels_last(self):
        if not self.chosen.get("channels_last"):
            return
        if not proof.four_dimensional(self.made):
            raise BadSettings("channels_last needs weights or inputs of four dimensions; the model has none")
        if self.made.module is not None:
            self.made.module.to(memory_format=torch.channels_last)
        self.made.map_inputs(lambda tensor: tensor.contiguous(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor)

    def _check_autocast(self):
        precision = self.autocast_precision()
        if precision is None:
            return
        with modes.autocast(precision, self.device, True):
            if not modes.autocast_enabled(self.device):
                raise BadSettings("torch %s has no %s on %s" % (torch.__version__, precision, self.device.type))

    def _build(self):
        sets = self.made.sets
        if "torch_compile" in self.chosen:
            self.model = compiling.compiled(self.made.model, self.chosen)
            run = self._with_autocast(self.model)
        elif "torchscript" in self.chosen:
            with self.modes():
                with self._autocast_of_trace():
                    self.model, sets = torchscript.traced(self.made, self.chosen["torchscript"] == "freeze", self.notes)
            run = self.model  # the trace holds autocast's conversions
        else:
            run = self._with_autocast(self.model)
        self.sets = list(sets)
        self.calls = [(run, args, kwargs) for args, kwargs in sets]
        with self.modes():
            for _ in range(WARM_UPS if run is not self.made.model else 1):
                for call in self.calls:
                    self._warm_up(*call)
            if self.chosen.get("cuda_graph"):
                functions = [functools.partial(call, *args, **kwargs) for call, args, kwargs in self.calls]
                self.graphs = cuda_graph.captured(functions, self.device)
                self.calls = [(graph.replay, (), {}) for graph, _ in self.graphs]

    def _autocast_of_trace(self):
        precision = self.autocast_precision()
        return modes.autocast(precision, self.device, False) if precision else contextlib.nullcontext()

    def _warm_up(self, run, args, kwargs):
        try:
            run(*args, **kwargs)
        except Exception as error:
            if self.chosen.get("compile_fullgraph") and isinstance(error, compiling.graph_break_kind()):
                with attempt("compile_fullgraph"):
                    raise
            if "torchscript" in self.chosen:  # a trace fits the first input set, and others only perhaps
                with attempt("torchscript %s" % self.chosen["torchscript"]):
                    raise
            raise
        self._wait()

    def _feed_from_host(self):
        for index, (call, args, kwargs) in enumerate(self.calls):
            outputs = self.graphs[index][1] if self.graphs else None
            run, self.sets[index] = host_io.from_host(functools.partial(call, *args, **kwargs), self.sets[index], outputs)
            self.calls[index] = (run, (), {})

    def _settle(self):
        """What making and compiling left behind is no part of the calls' memory, nor of the collector's work."""
        gc.collect()
        gc.freeze()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
            torch.cuda.reset_peak_memory_stats(self.device)
            with self.modes():
                for run, args, kwargs in self.calls:
                    run(*args, **kwargs)
            self._wait()
        self.frames_ready = compiling.Counts().frames

    # --- the other requests ---

    def call(self, count):
        """Nanoseconds of each call."""
        calls, sets, turn, wait = self.calls, len(self.calls), self.turn, self.synchronize
        clock = time.perf_counter_ns
        taken = []
        note = taken.append
        collecting = gc.isenabled()
        gc.disable()
        try:
            with self.modes():
                self._wait()
                if wait is None:
                    for _ in range(count):
                        run, args, kwargs = calls[turn]
                        begin = clock()
                        run(*args, **kwargs)
                        note(clock() - begin)
                        turn = (turn + 1) % sets
                else:
                    for _ in range(count):
                        run, args, kwargs = calls[turn]
                        begin = clock()
                        run(*args, **kwargs)
                        wait()
                        note(clock() - begin)
                        turn = (turn + 1) % sets
        finally:
            if collecting:
                gc.enable()
        self.turn = turn
        return taken

    def block(self, count):
        """Nanoseconds of each call where the device is waited for after the last only: from the end of the call before
        it on the device to its own, which in a program that keeps the device busy is what a call costs."""
        if self.synchronize is None:
            return self.call(count)
        calls, sets, turn = self.calls, len(self.calls), self.turn
        stream = torch.cuda.current_stream(self.device)
        events = [torch.cuda.Event(enable_timing=True) for _ in range(count + 1)]
        collecting = gc.isenabled()
        gc.disable()
        try:
            with self.modes():
                self._wait()
                begin = time.perf_counter_ns()
                events[0].record(stream)
                for index in range(count):
                    run, args, kwargs = calls[turn]
                    run(*args, **kwargs)
                    events[index + 1].record(stream)
                    turn = (turn + 1) % sets
                self._wait()
                whole = time.perf_counter_ns() - begin
        finally:
            if collecting:
                gc.enable()
        self.turn = turn
        taken = [before.elapsed_time(after) for before, after in zip(events, events[1:])]
        # Together they take what the clock says, the wait and work on other streams included.
        share = whole / sum(taken) if sum(taken) > 0 else 0
        return [max(1, int(one * share)) for one in taken] if share else [max(1, whole // count)] * count

    def _output(self, index):
        run, args, kwargs = self.calls[index]
        with self.modes():
            returned = run(*args, **kwargs)
        self._wait()
        return self.graphs[index][1] if self.graphs and not self.host_io else returned

    def outputs(self, path):
        torch.manual_seed(self.seed)
        sets, whole = [], []
        with open(path, "wb") as file:
            for index in range(len(self.calls)):
                returned = self._output(index)
                if self.made.metric is not None:
                    whole.append(self._for_metric(returned))
                facts = self._written(file, returned, "")
                del returned  # graphs of torch.compile look at what is still held
                with fresh_inputs.instead(self.sets[index], self.own_rows if "batch_size" in self.chosen else None):
                    facts += self._written(file, self._output(index), " (second inputs)")
                sets.append(facts)
        answer = {"sets": sets, "metric": None}
        if self.made.metric is not None:
            value = self._metric(whole if self.made.several else whole[0])
            if math.isfinite(value):
                answer["metric"] = value
            else:  # JSON has no NaN
                answer["metric_not_finite"] = True
        return answer

    def _for_metric(self, returned):
        """What the metric was written for: outputs of the user's own rows, in FP32 where a setting made them less."""
        kept = tensors.kept(returned)
        if "batch_size" in self.chosen:
            kept = batch.first_rows(kept, self.chosen["batch_size"], self.own_rows)
        if not self.chosen.get("torch_precision"):
            return kept
        return tensors.mapped(kept, lambda tensor: tensor.float() if tensor.dtype in modes.DTYPES.values() else tensor)

    @staticmethod
    def _written(file, returned, mark):
        facts = []
        for name, tensor in output_tensors(returned):
            tensor = tensors.plain(tensor)
            fact = tensors.facts([(name + mark, tensor)])[0]
            fact["bytes"] = tensors.write(file, tensor)
            facts.append(fact)
        return facts

    def _metric(self, outputs):
        value = self.made.metric(outputs)
        try:
            return float(value)
        except (TypeError, ValueError, RuntimeError):
            raise UserError("the metric of %s returned a %s; expected a number" % (self.target, type_name(type(value))))

    def proof(self):
        return proof.of(self)


def output_tensors(returned):
    """All tensors as (name, tensor). A place is no name, as an exported model could not have it."""
    named = tensors.leaves(returned)
    if not named:
        raise UserError("the model returned a %s without tensors; expected at least one" % type_name(type(returned)))
    if isinstance(returned, torch.Tensor):
        return [("output", returned)]
    return [("output_" + name if name[0].isdigit() else name, tensor) for name, tensor in named]
