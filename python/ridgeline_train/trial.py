# SPDX-License-Identifier: Apache-2.0
"""One trial: the user's model, optimizer and data under fixed settings, step by step."""

import contextlib
import math
import time

from ridgeline_worker import phase
from ridgeline_worker.failures import BadSettings, UserError

from . import batches, host_reads, learning, levers, loader_cost, losses, optimizers, result
from .loaders import Loaders
from .loss_curve import FiniteLosses, LossCurve, seed_all
from .marks import ClockMarks, EventMarks
from .messages import message
from .placing import is_on, pinned, to_device
from .settings import Settings

KEPT_BATCHES = 2  # for data in memory and on the device
HOLD_CYCLES = 2e9   # of a GPU's clock in a second, about
HOLD_SHARE = 1.5    # of a step's time, for its launches
HOLD_MOST_S = 0.5
MARKS = 6         # a step: begin, batch here, batch on the device, forward done, backward done, optimizer done


def _nothing():
    pass


class Trial:
    def __init__(self, function, spec):
        import torch

        self.torch = torch
        self.settings = Settings(spec)
        self.job = spec.get("job", {})
        self.repeat = int(spec.get("repeat", 0))
        self.data = spec.get("data", "loader")
        self.target = spec.get("job", {}).get("target", "").partition(" -- ")[0] or "the function"
        self.device = torch.device(self.settings.device)
        self.cuda = self.device.type == "cuda"
        self._check_device()
        self.memory_limit_gb = levers.limit_memory(torch, self.device, self.job)
        torch.manual_seed(self.settings.seed)
        wanted = levers.losses_wanted(self.job)
        if wanted:
            seed_all(torch, self.settings.seed)
        self.losses = LossCurve(wanted)
        self.finite_losses = FiniteLosses()
        self.levers = levers.of_trial(self.job, self.settings.amp)
        self.levers.install()
        self.reads = host_reads.of_trial(torch, self.device, levers.compiles(self.job))
        self.prepare_limit_s = float(spec.get("plan", {}).get("prepare_limit_s", 300))
        self.source = None
        self.kept = None
        self.unseen = False
        self.pin_seen = False
        self.notes = {}  # what the loader did not take over, or may not have
        self.loader_seconds = 0.0
        self.loader_cpu = 0.0
        self.loss_value = None
        self.learning = None
        self.seen_gradients = False
        self.begun = False
        self.timed_wall = 0.0
        self.timed_steps = 0
        self.steps = 0
        self.scaler = self.scale_before = None
        self.cpu_before = 0.0
        self.step_wall = self.step_cpu = self.others_cpu = 0.0
        self._build(function)

    def _check_device(self):
        torch = self.torch
        if self.cuda:
            if not torch.cuda.is_available():
                raise UserError("torch %s sees no CUDA device; use --devices cpu" % torch.__version__)
            if (self.device.index or 0) >= torch.cuda.device_count():
                raise UserError("torch sees %d CUDA devices, %s is none of them" % (torch.cuda.device_count(), self.device))
            torch.cuda.set_device(self.device)
        elif self.settings.amp == "fp16":
            raise BadSettings("fp16 needs a GPU")

    def _build(self, function):
        made = result.made_by(function, self.settings, self.target, self.data != "loader_only")
        self.notes.update(made.notes)
        chosen = levers.chosen(self.job)
        self.loaders = Loaders(made, self.target, self.cuda, levers.loader_arguments(chosen))
        place = levers.caches(chosen)
        if place == "memory":
            self.loaders.keep_in_memory(self.settings, self.prepare_limit_s)
        elif place == "device":
            self.loaders.keep_on_device(self.device, self.prepare_limit_s, self.memory_limit_gb)
        self.samples_of = made.get("samples")
        if self.data == "loader_only":
            self.model = None
        else:
            phase.enter("moving the model to %s" % self.device)
            self.model = made["model"] if is_on(made["model"], self.device) else made["model"].to(self.device)
            self.model.train()
            if type(self.model).__name__ in ("DataParallel", "DistributedDataParallel"):
                self.notes["several_devices"] = message("several_devices", model=type(self.model).__name__)
            self.optimizer = optimizers.optimizer_of(made["optimizer"], self.model, self.target, self.notes)
            optimizers.check_step(self.optimizer, self.target)
            self.zero_gradients = optimizers.zeroing(self.optimizer)
            self._take_loss(made)
            self.scaler = self._scaler()
        if self.data in ("host", "device"):
            phase.enter("loading batches to keep")
            self._keep_batches()

    def _take_loss(self, made):
        loss, self.forward = made.get("loss"), made.get("forward")
        self.loss_by = "forward" if self.forward is not None else "loss"
        if self.forward is not None:
            return
        if hasattr(loss, "parameters") and hasattr(loss, "to"):
            loss = loss.to(self.device)  # weights of classes

        def forward(model, batch):
            losses.check_pair(batch)
            return loss(model(batch[0]), batch[1])

        self.forward = forward

    def _scaler(self):
        if self.settings.amp != "fp16":
            return None
        amp = getattr(self.torch, "amp", None)
        if amp is not None and hasattr(amp, "GradScaler"):
            return amp.GradScaler("cuda")
        return self.torch.cuda.amp.GradScaler()

    def _autocast(self):
        if self.settings.amp == "off":
            return contextlib.nullcontext()
        dtype = self.torch.bfloat16 if self.settings.amp == "bf16" else self.torch.float16
        return self.torch.autocast(device_type=self.device.type, dtype=dtype)

    def sample_source(self):
        """The data set behind the loader, item by item."""
        return self.loaders.items(self.settings.without_workers())

    def _batches(self, loader):
        return batches.Batches(loader, self.settings.batch, self.settings.workers, self.samples_of)

    def _iterator(self):
        return self.source.iterator if self.source is not None else None

    def _next_batch(self):
        if self.kept is not None:
            batch = self.kept[self.turn % len(self.kept)]
            self.turn += 1
            return batch
        if self.source is None:
            loader = self.loaders.make(self.settings)
            if not self.loaders.is_on_device:
                batches.check_workers(loader, self.settings.workers)
            self.source = self._batches(loader)
            self._note("workers_unseen", batches.workers_unseen(loader, self.settings.workers))
        begin, cpu = time.perf_counter(), time.thread_time()
        batch = self.source.next()
        self.unseen = self.unseen or self.source.unseen
        if self.cuda and not self.pin_seen:
            self.pin_seen = True
            self._note("pin_ignored", batches.pin_ignored(self.source.loader, batch, self.settings.pin_memory))
        self.loader_cpu += time.thread_time() - cpu
        self.loader_seconds += time.perf_counter() - begin
        return batch

    def _note(self, code, note):
        if note is not None:
            self.notes[code] = note

    def _keep_batches(self):
        source = self._batches(self.loaders.make(self.settings.without_workers()))
        kept = [source.next() for _ in range(KEPT_BATCHES)]
        self.unseen = source.unseen
        del source
        if self.data == "device":
            kept = [to_device(batch, self.device, False) for batch in kept]
        elif self.loaders.is_on_device:
            kept = [to_device(batch, self.torch.device("cpu"), False) for batch in kept]
        elif self.settings.pin_memory and self.cuda:
            kept = [pinned(batch) for batch in kept]
        self.kept = kept
        self.turn = 0

    def _step(self, marks):
        marks.mark()
        self._phase("loading a batch", "loading the first batch")
        self.reads.paused = True
        batch = self._next_batch()
        self.reads.paused = False
        self._phase("a step", "the first step")
        marks.mark()
        if self.data == "loader_only":
            for _ in range(MARKS - 2):
                marks.mark()
            return
        if self.data != "device":
            batch = to_device(batch, self.device, self.settings.pin_memory)
        marks.mark()
        with self._autocast():
            loss = losses.loss_of(self.forward(self.model, batch), self.loss_by, self.notes)
        losses.check_gradient(loss)
        marks.mark()
        if self.scaler is None:
            loss.backward()
            self._look_at_gradients()
            marks.mark()
            if not self.levers.skips_step(self.optimizer):
                self.levers.before_step(self.optimizer)
                self.optimizer.step()
        else:
            self.scaler.scale(loss).backward()
            self._look_at_gradients()
            marks.mark()
            self.levers.before_step(self.optimizer)
            self.scaler.step(self.optimizer)
            self.scaler.update()
        self.zero_gradients()
        marks.mark()
        self.loss_value = loss.detach()
        self.losses.add(self.loss_value)
        self.finite_losses.add(self.loss_value)

    def _look_at_gradients(self):
        if not self.seen_gradients:
            self.seen_gradients = True
            self.learning.after_backward()

    def _begin(self):
        """What is done before the first step alone."""
        if self.data != "loader_only":
            self.learning = learning.Learning(self.model, self.optimizer)

    def _phase(self, usual, first):
        if self.begun:
            phase.now = usual  # telling it would take time of a step
        else:
            phase.enter(first)

    @contextlib.contextmanager
    def _counted_reads(self):
        """Within the trial's first steps, which warm up. Gives what to call after each step."""
        if self.begun or self.data != "loader":
            yield _nothing
            return
        with self.reads.counted():
            yield self.reads.step_done

    def run(self, steps):
        if not self.begun:
            self._begin()
        else:
            phase.enter("a step")
        count = steps * MARKS + 1
        marks = EventMarks(self.torch, self.device, count) if self.cuda else ClockMarks(count)
        marks.wait()
        work = loader_cost.StepWork() if self.kept is not None else None
        begin = time.perf_counter()
        with self._counted_reads() as count_step:
            for _ in range(steps):
                self._step(marks)
                count_step()
                if not self.begun and self.losses.is_wanted():
                    self.torch.manual_seed(self.settings.seed + self.repeat)  # two trials differ in what is drawn from here on
                self.begun = True
        marks.mark()
        marks.wait()
        wall = (time.perf_counter() - begin) * 1e3
        self.finite_losses.look()
        if work is not None:
            thread, others, in_line = work.since()
            self.step_cpu += thread
            self.others_cpu += others
            self.step_wall += wall / 1e3 - in_line
        self.timed_wall += wall / 1e3
        self.timed_steps += steps
        self.steps += steps
        rows = []
        for step in range(steps):
            at = step * MARKS
            row = [marks.between(at + phase, at + phase + 1) for phase in range(MARKS)]
            row.append(marks.between(at, at + MARKS))
            rows.append(row)
        out = {"steps": rows, "wall_ms": wall}
        if not self.unseen:
            out["samples"] = steps * self.settings.batch  # every batch was seen to be a whole one
        return out

    def skipped_steps(self):
        """Steps whose gradients overflowed: each halves the scale. None where it is not known, as once the scale has grown again."""
        if self.scale_before is None or self.steps >= self.scaler.get_growth_interval():
            return None
        scale = self.scaler.get_scale()
        return round(math.log(scale / self.scale_before, self.scaler.get_backoff_factor())) if scale > 0 else None

    def reset(self):
        if self.scaler is not None:
            self.scale_before = self.scaler.get_scale()
        if self.cuda:
            self.torch.cuda.reset_peak_memory_stats(self.device)
            stats = self.torch.cuda.memory_stats(self.device)
            self.retries_before = stats.get("num_alloc_retries", 0)
            self.ooms_before = stats.get("num_ooms", 0)
        loader_cost.reset_peak()
        self.cpu_before = loader_cost.cpu_seconds(loader_cost.worker_pids(self._iterator()))
        self.timed_wall = 0.0
        self.timed_steps = 0
        self.loader_seconds = 0.0
        self.loader_cpu = 0.0
        self.step_wall = self.step_cpu = self.others_cpu = 0.0
        return {}

    def _kernel_ms(self):
        """GPU time of a step that is launched as a whole before the GPU begins with it, so that no kernel waits for the
        host; None where that cannot be done: the step waits for the GPU, or has more kernels than fit into its queue."""
        cuda = self.torch.cuda
        # Private, but the only kernel that does nothing for a given time; it is in every version.
        sleep = getattr(cuda, "_sleep", None)
        if sleep is None or not self.timed_steps:
            return None
        hold = HOLD_SHARE * self.timed_wall / self.timed_steps
        for _ in range(3):
            marks = EventMarks(self.torch, self.device, MARKS + 2)
            marks.wait()
            sleep(int(min(hold, HOLD_MOST_S) * HOLD_CYCLES))
            marks.mark()
            self._step(marks)
            marks.mark()
            ahead = not marks.passed(0)
            marks.wait()
            if ahead:
                return marks.between(0, MARKS + 1)
            hold *= 2
        return None

    def gpu_busy(self):
        """Share of the timed steps with a kernel running; None where it is not known. Trains a step or a few."""
        # With data that is waited for or copied, the rest of a step is no longer its kernels.
        if not self.cuda or self.data != "device" or self.scaler is not None:
            return None
        try:
            kernels = self._kernel_ms()
        except RuntimeError:  # memory that was just enough: the measurement stands without this
            return None
        if kernels is None or self.timed_wall <= 0:
            return None
        return min(1.0, kernels / 1e3 / (self.timed_wall / self.timed_steps))

    def num_ooms(self):
        return self.torch.cuda.memory_stats(self.device).get("num_ooms", 0) if self.cuda else None

    def resources(self):
        out = {}
        workers = loader_cost.worker_pids(self._iterator())
        if self.cuda:
            cuda = self.torch.cuda
            stats = cuda.memory_stats(self.device)
            out["peak_allocated_gb"] = cuda.max_memory_allocated(self.device) / 1e9
            out["peak_reserved_gb"] = cuda.max_memory_reserved(self.device) / 1e9
            out["device_capacity_gb"] = cuda.get_device_properties(self.device).total_memory / 1e9
            if self.memory_limit_gb is not None:
                out["device_capacity_gb"] = self.memory_limit_gb
            out["alloc_retries"] = stats.get("num_alloc_retries", 0) - self.retries_before
            out["num_ooms"] = stats.get("num_ooms", 0) - self.ooms_before
            busy = self.gpu_busy()
            if busy is not None:
                out["gpu_busy"] = busy
        else:
            out["peak_reserved_gb"] = loader_cost.peak_gb(workers)
            out["device_capacity_gb"] = loader_cost.host_memory_gb()
        if self.source is not None:
            if workers:
                out["loader_cpu_s"] = loader_cost.cpu_seconds(workers) - self.cpu_before
                out["loader_wall_s"] = self.timed_wall * len(workers)
                memory, free = loader_cost.private_gb(workers), loader_cost.available_gb()
                if memory is not None and free is not None:
                    out["loader_memory_gb"] = memory
                    out["host_available_gb"] = free
            elif self.settings.workers == 0:
                out["loader_cpu_s"] = self.loader_cpu
                out["loader_wall_s"] = self.loader_seconds
        if self.kept is not None:
            out["step_wall_s"] = self.step_wall
            out["step_cpu_s"] = self.step_cpu
            out["step_others_cpu_s"] = self.others_cpu
        skipped = self.skipped_steps()
        if skipped is not None:
            out["skipped_steps"] = skipped
        if self.unseen:
            self._note("batch_unseen", message("batch_unseen", batch=self.settings.batch))
        self.notes.update(self.loaders.notes)
        if self.learning is not None:
            self.notes.update(self.learning.notes())
        problem = self.levers.problem()
        if problem:
            raise BadSettings(problem)
        self.notes.update(self.levers.notes())
        self.notes.update(self.finite_losses.notes())
        if self.notes:
            out["notes"] = dict(self.notes)
        out.update(self.reads.facts())
        out.update(self.finite_losses.facts())
        out.update(self.losses.facts())
        if self.loss_value is not None:
            out.update(learning.loss_numbers(self.loss_value))
        return out
