# SPDX-License-Identifier: Apache-2.0
"""One run of the script: finds its training loader, its steps and their phases, and serves the parent at the begin of steps. What runs in each
step looks up little: with the rest of the hooks it costs a step about 23 us (benchmarks/training_hooks.py)."""
import functools
import hashlib
import os
import resource
import sys
from _thread import get_ident

import torch
import torch.utils.data.dataloader

from ridgeline_infer import compiling
from ridgeline_profile import optimizer_steps
from ridgeline_profile.verify import model_calls
from ridgeline_script.ending import Ending
from ridgeline_script.fetches import Fetches
from ridgeline_script.loader_settings import LoaderSettings, batch_of
from ridgeline_script.precision import Precision
from ridgeline_script.step_recorder import BACKWARD, FORWARD, H2D, OPTIMIZER, REST, StepRecorder
from ridgeline_script.timed_script import TimedScript
from ridgeline_train import host_reads, lever_set, levers, transforms, worker_waits
from ridgeline_train.learning import Learning
from ridgeline_train.loss_curve import FiniteLosses, LossCurve, seed_all
from ridgeline_worker import phase
from ridgeline_worker.failures import BadSettings, UserError

STEPS_WITHOUT_LOADER = 3
BUSY_CHILDREN_S = 1  # of processes that the script started, which may have been the training
BEFORE_FORWARD = (H2D, OPTIMIZER, REST)


class Session:
    def __init__(self, connection, request):
        self._connection = connection
        self._spec = request.get("spec") or {}
        self._describes = request.get("op") == "describe"
        job = self._spec.get("job", {})
        options = dict(job.get("options", {}))
        settings = self._spec.get("settings", {})
        wanted = {}
        if not self._describes:
            wanted = {"batch_size": int(settings.get("batch", 1)), "num_workers": int(settings.get("workers", 0)),
                      "pin_memory": bool(settings.get("pin_memory", False)) and torch.cuda.is_available()}
        chosen = levers.chosen(dict(job, kind="script"))
        wanted.update(levers.loader_arguments(chosen))
        fixed = options.get("ridgeline_fixed", "").split(",")
        wanted = {name: value for name, value in wanted.items() if name not in fixed}
        numbers = [int(one) for one in options.get("ridgeline_loaders", "").split(",") if one]
        prepare_s = float(self._spec.get("plan", {}).get("prepare_limit_s", 300))
        place = levers.caches(chosen)
        self.loaders = LoaderSettings(numbers, wanted, prepare_s if place else None,
                                      torch.device(self._spec.get("device", "cpu")) if place == "device" else None, levers.memory_limit_gb(job))
        self.precision = Precision(None if self._describes else settings.get("amp", "off"))
        self.levers = lever_set.LeverSet({name: value for name, value in chosen.items() if name in levers.STEP}, settings.get("amp", "off"))
        self.losses = LossCurve(levers.losses_wanted(job))
        self.finite_losses = FiniteLosses()
        self.fetches = Fetches(self)
        self.ending = Ending(connection, self._why_ended, self._time_nothing)
        self.trial = None       # once the first step is over
        self.device = None      # of the model
        self._device_kind = ""  # its
        self.loss = None
        self._model = None      # of the first run
        self._modules = {}      # outermost ones that train, by id
        self._optimizers = {}
        self._memory_limit_gb = None
        self._learning = None   # of the first model and optimizer
        self.passes = 0         # backward passes
        self._steps = 0         # of optimizers, without a loader
        self._in_backward = False
        self.thread = get_ident()  # that trains; None: nothing is timed
        self._record(None)

    def install(self):
        if levers.losses_wanted(self._spec.get("job", {})):
            seed_all(torch, self._seed())
        self.ending.install()
        self.loaders.install()
        self.precision.install()
        self.levers.install(hooks_calls=False)
        self.fetches.install()
        self._around_backward()
        self._around_zero_grad()
        _around_schedule()
        optimizer_steps.install(lambda: None, self._before_step, self._after_step,
                                self._skips_step if self.levers.accumulates() else None)
        self._model_calls = model_calls.install(self._called)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._time_nothing)

    def _seed(self):
        return int(self._spec.get("job", {}).get("seed", 1))

    def _time_nothing(self):
        """In a loader's worker or another process of the script, and once the trial is over."""
        self.thread = None

    def is_here(self):
        """Hooks act in the thread that trains."""
        return get_ident() == self.thread

    def _record(self, recorder):
        """enter(phase): the phase begins, for this recorder."""
        self.recorder = recorder
        self.enter = _ignore if recorder is None else recorder.enter

    def now(self):
        return self.recorder.phases[-1] if self.recorder is not None else REST

    # Hooks of the model, the backward pass and the optimizer

    def _called(self, call, module, args, kwargs):
        if get_ident() != self.thread:
            return call(*args, **kwargs)
        if module.training and torch.is_grad_enabled():
            if self.trial is None:
                self._see_model(module)
            if self.recorder is not None and self.recorder.phases[-1] in BEFORE_FORWARD:
                self.enter(FORWARD)
            self.precision.before_call(self._device_kind)
        return self.levers.target(call, module)(*args, **kwargs)

    def _see_model(self, module):
        """Within the first step."""
        if self.device is None:
            self._set_device(next(module.parameters()).device)
            self._memory_limit_gb = levers.limit_memory(torch, self.device, self._spec.get("job", {}))
            self._model = module if self._describes else None
        self._modules.setdefault(id(module), module)

    def _set_device(self, device):
        self.device = device
        self._device_kind = device.type

    def _around_backward(self):
        original = torch.autograd.backward

        def backward(*args, **kwargs):
            # One within another, as of a checkpoint, is part of that.
            if self._in_backward or get_ident() != self.thread:
                return original(*args, **kwargs)
            self._in_backward = True
            if self.precision.own is not None:
                self.precision.leave()
            self.enter(BACKWARD)
            self._see_loss(args[0] if args else kwargs.get("tensors"))
            try:
                return original(*args, **kwargs)
            finally:
                self._in_backward = False
                self.passes += 1
                self.enter(OPTIMIZER)

        torch.autograd.backward = backward

    def _see_loss(self, tensors):
        one = tensors[0] if isinstance(tensors, (tuple, list)) and tensors else tensors
        if isinstance(one, torch.Tensor):
            self.loss = one.detach()
            self.losses.add(self.loss)
            if not self._describes:
                self.finite_losses.add(self.loss)

    def _around_zero_grad(self):
        kind = torch.optim.Optimizer
        original = kind.zero_grad

        def zero_grad(optimizer, *args, **kwargs):
            if self.recorder is None or get_ident() != self.thread:
                return original(optimizer, *args, **kwargs)
            before = self.recorder.phases[-1]
            if before == OPTIMIZER:
                return original(optimizer, *args, **kwargs)
            self.enter(OPTIMIZER)
            try:
                return original(optimizer, *args, **kwargs)
            finally:
                self.enter(before)

        kind.zero_grad = zero_grad

    def _before_step(self, optimizer):
        if get_ident() != self.thread:
            return
        if self.levers:
            self.levers.before_step(optimizer)
        if self.trial is None and self.passes:
            self._see_optimizer(optimizer)
        if self.recorder is not None and self.recorder.phases[-1] == REST:
            self.enter(OPTIMIZER)

    def _see_optimizer(self, optimizer):
        """Within the first step."""
        if not self._describes and not self._optimizers and len(self._modules) == 1:
            self._learning = Learning(next(iter(self._modules.values())), optimizer)
            self._learning.after_backward()
        self._optimizers.setdefault(id(optimizer), optimizer)

    def _skips_step(self, optimizer, has_closure):
        return get_ident() == self.thread and self.levers.skips_step(optimizer, has_closure)

    def _after_step(self, optimizer, is_outermost):
        if not is_outermost or get_ident() != self.thread:
            return
        if self.precision.own is not None:
            self.precision.leave()
        self.enter(REST)
        self._steps += 1
        if self._steps >= STEPS_WITHOUT_LOADER and not self.fetches.count:
            self.ending.fail(UserError("the script fetched no batch from a torch DataLoader in its first %d steps" % self._steps,
                                       "return its model and data from a function, and name it with --python FILE.py:FUNCTION"))

    # The parent's requests

    def step_begins(self):
        """Before the training loader's next batch is fetched; a step has been made before."""
        if self.precision.own is not None:
            self.precision.leave()
        if self.recorder is not None:
            if not self.recorder.is_complete():
                return
            self._answer(lambda: self.trial.window(self._taken()))
        elif self._describes:
            self._find_device()
            self._answer(self._description)
            self.ending.finish()
        elif self.trial is None:
            self._find_device()
            self._answer(self._begin)
        self._serve()

    def _find_device(self):
        """Without a module that has parameters, takes the device of the loss."""
        if self.device is None:
            self._set_device(torch.device("cpu") if self.loss is None else self.loss.device)

    def _taken(self):
        recorder = self.recorder
        self._record(None)
        return recorder

    def _answer(self, made):
        """Sends what made() returns. A failure ends the script."""
        risen = None
        try:
            answer = made()
        except Exception as error:
            if self.trial is not None:
                risen = self.trial.risen_ooms()
            self.ending.fail(error, risen)
        self.ending.is_waited_for = False
        self._connection.send({"ok": answer})

    def _serve(self):
        """Until the parent asks for steps, which the script makes."""
        while True:
            request = self._connection.receive()
            op = request.get("op") if request else None
            self.ending.is_waited_for = True
            if op == "run":
                steps = int(request["steps"])
                phase.now = "a step"
                self.trial.begin_window()
                self._record(StepRecorder(torch, self.device, steps))
                if self.trial.reads_are_due():
                    self.trial.reads.begin()
                if not self.trial.loads_only:
                    return
                self._answer(lambda: self._loaded(steps))
            elif op == "reset":
                self._answer(self.trial.reset)
            elif op == "resources":
                self._answer(self._resources)
            elif op == "worker_waits":
                limit_s, workers = float(request.get("limit_s", worker_waits.LIMIT_S)), int(request["workers"])
                self._answer(lambda: self._untimed(lambda: worker_waits.compared(self.fetches.loader.dataset, workers, limit_s)))
            elif op == "transforms":
                limit_s, workers = float(request.get("limit_s", transforms.LIMIT_S)), int(request.get("workers", 0))
                self._answer(lambda: self._untimed(lambda: transforms.costs(self.fetches.loader.dataset, limit_s, workers)))
            else:
                phase.enter("ending")
                if op == "close":
                    self._connection.send({"ok": {}})
                self.ending.finish()

    def _untimed(self, work):
        """Its loaders are not the script's."""
        with self.fetches.left_alone():
            return work()

    def _loaded(self, steps):
        """Batches are fetched and dropped; the script waits for its next one."""
        while not self.recorder.is_complete():
            self.fetches.load_one()
        return self.trial.window(self._taken())

    def _check(self):
        for problem in (self.precision.problem(), self.fetches.problem(self.loaders), self.loaders.problem(), self.levers.problem()):
            if problem:
                raise BadSettings(problem)

    def _begin(self):
        self._check()
        self.trial = TimedScript(self._spec, self.device, self.fetches)
        self.trial.memory_limit_gb = self._memory_limit_gb
        self.trial.finite_losses = self.finite_losses
        compiles = levers.compiles(dict(self._spec.get("job", {}), kind="script"))
        self.trial.reads = host_reads.of_trial(torch, self.device, compiles)
        self.fetches.begin(self.trial)
        # What is compiled would be compiled again.
        if not compiles and not compiling.Counts().frames:
            self._model_calls.narrow({type(one) for one in self._modules.values()})
        # Which of several optimizers trains what is not known.
        if len(self._modules) == 1 and len(self._optimizers) == 1:
            self.trial.learning = self._learning
        if self.losses.is_wanted():
            torch.manual_seed(self._seed() + int(self._spec.get("repeat", 0)))  # two trials differ in what is drawn from here on
        return {}

    def _resources(self):
        self._check()
        self.trial.loss_value = self.loss
        self.trial.notes.update(self.loaders.notes)
        self.trial.notes.update(self.levers.notes())
        return dict(self.trial.resources(), **self.losses.facts())

    def _description(self):
        loader = self.fetches.loader
        facts = self.loaders.facts(loader)
        batch = batch_of(loader) or self.fetches.last_samples()
        if batch is None:
            raise UserError("the script's batches show no number of samples", "return its data from a function: --python FILE.py:FUNCTION")
        cuda = getattr(torch.version, "cuda", None)
        try:
            samples = len(loader.dataset)
        except (TypeError, NotImplementedError, AttributeError):
            samples = None
        runtime = (torch.__version__, " (cuda %s)" % cuda if cuda else "") + tuple(sys.version_info[:3])
        return {
            "runtime": "torch %s%s, Python %d.%d.%d" % runtime,
            "cuda": bool(cuda),
            "source_sha256": _sha256_of_script(),
            "device": str(self.device),
            "batch": batch, "workers": loader.num_workers, "pin_memory": bool(loader.pin_memory), "amp": self.precision.seen or "off",
            "has_scaler": self.precision.has_scaler, "samples": samples,
            "learning_rate": self._learning_rate(),
            "refused": lever_set.without_effect(self._model),
            "loaders": ",".join(str(one) for one in facts["numbers"]), "fixed": facts["fixed"],
        }

    def _learning_rate(self):
        """The learning rate, if all optimizers together have one parameter group; else None."""
        groups = [group for optimizer in self._optimizers.values() for group in getattr(optimizer, "param_groups", ())]
        rate = groups[0].get("lr") if len(groups) == 1 else None
        return float(rate) if isinstance(rate, (int, float)) else None

    def _why_ended(self):
        if self.trial is None:
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            if not self.fetches.count and used.ru_utime + used.ru_stime > BUSY_CHILDREN_S:
                return ("the script trained nothing itself, and processes that it started used %.0f s of CPU time, which is not timed; start one "
                        "process of the training" % (used.ru_utime + used.ru_stime))
            return "the script ended without a training step: expected batches of a torch DataLoader, and backward()"
        return "the script ended before it had trained enough steps; let it run for more epochs, or ask for fewer with --steps"


def _ignore(_phase):
    """Nothing is recorded."""


def _around_schedule():
    """This schedule refuses more steps than it was made for, and epochs go on until a trial has its steps."""
    kind = torch.optim.lr_scheduler.OneCycleLR
    original = kind.step

    @functools.wraps(original)
    def step(schedule, *args, **kwargs):
        if schedule.last_epoch + 1 < schedule.total_steps:
            original(schedule, *args, **kwargs)

    kind.step = step


def _sha256_of_script():
    try:
        with open(sys.argv[0], "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except (OSError, IndexError):  # a module or a command in the line
        return ""
