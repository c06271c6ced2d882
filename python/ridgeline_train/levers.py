# SPDX-License-Identifier: Apache-2.0
"""Which levers a trial sets. A lever is a setting of the training that is on or off for a whole trial; the names and the conditions are
rows of src/schema/catalog/training_levers.cpp. Needs no torch."""

from ridgeline_worker.failures import BadSettings

PREFIX = "lever:"         # of a job's options, which are the user's own otherwise
HIDDEN = (PREFIX, "ridgeline_")
LOSSES = "ridgeline_losses"  # number of losses that the trial reports
MEMORY = "ridgeline_memory_gb"  # that the allocator may take from the GPU
LOADER = ("prefetch_factor", "persistent_workers")  # arguments of DataLoader
CACHE = "cache_dataset"
STEP = ("gradient_checkpointing", "torch_compile", "channels_last", "fused_optimizer", "allow_tf32", "cudnn_benchmark", "sdpa_backend",
        "input_resolution", "gradient_accumulation", "non_blocking", "cuda_graph")
NAMES = STEP + LOADER + (CACHE,)
COMPILERS = ("torch_compile", "cuda_graph")
ON = ("true", "1", "on", "yes")
OFF = ("false", "0", "off", "no")


def own_options(options):
    """The user's, of a job's options."""
    return {name: value for name, value in options.items() if not name.startswith(HIDDEN)}


def chosen(job):
    """{name: value} of the levers that a trial's job sets. A script has no options of its own, so there they need no prefix."""
    options = job.get("options", {})
    found = {name: value for name, value in options.items() if name in NAMES} if job.get("kind") == "script" else {}
    found.update((name[len(PREFIX):], value) for name, value in options.items() if name.startswith(PREFIX))
    for name in found:
        if name not in NAMES:
            raise BadSettings("lever %s: no such lever; known are %s" % (name, ", ".join(NAMES)))
    return found


def flag(name, value):
    if value.lower() in ON:
        return True
    if value.lower() in OFF:
        return False
    raise BadSettings("%s=%s: expected true or false" % (name, value))


def positive(name, value):
    if value.isdigit() and int(value) > 0:
        return int(value)
    raise BadSettings("%s=%s: expected a positive number" % (name, value))


def loader_arguments(found):
    """What of the levers DataLoader takes."""
    kinds = {"prefetch_factor": positive, "persistent_workers": flag}
    return {name: kinds[name](name, found[name]) for name in LOADER if name in found}


def compiles(job):
    """Whether a lever compiles or captures the model."""
    return any(name in COMPILERS for name in chosen(job))


def caches(found):
    """"memory" or "device", where the data set is kept; "" if it is not."""
    value = found.get(CACHE, "false").lower()
    if value in ("memory", "device"):
        return value
    if value not in ON + OFF:
        raise BadSettings("%s=%s: expected true, false or device" % (CACHE, found[CACHE]))
    return "memory" if value in ON else ""


def memory_limit_gb(job):
    """None: no limit."""
    found = job.get("options", {}).get(MEMORY)
    return float(found) if found is not None else None


def losses_wanted(job):
    """How many losses from the first step on the trial reports; 0: none."""
    return int(job.get("options", {}).get(LOSSES, 0))


def limit_memory(torch, device, job):
    """Caps what torch takes from the GPU. Returns the cap in GB (1e9 bytes); None if there is none."""
    if MEMORY not in job.get("options", {}) or device.type != "cuda":
        return None
    limit = float(job["options"][MEMORY]) * 1e9
    total = torch.cuda.get_device_properties(device).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, limit / total), device)
    return min(limit, total) / 1e9


class NoLevers:
    """What a trial without levers has."""

    def install(self):
        pass

    def before_step(self, optimizer):
        pass

    def skips_step(self, optimizer):
        return False

    def problem(self):
        return None

    def notes(self):
        return {}


def of_trial(job, amp):
    found = {name: value for name, value in chosen(job).items() if name in STEP}
    if not found:
        return NoLevers()
    from .lever_set import LeverSet

    return LeverSet(found, amp)
