# SPDX-License-Identifier: Apache-2.0
"""The settings of one trial, as the user's function sees them."""

from .levers import own_options


class Settings:
    """Read-only by convention: a changed setting is measured under a wrong name."""

    def __init__(self, spec):
        chosen = spec.get("settings", {})
        job = spec.get("job", {})
        self.batch = int(chosen.get("batch", 1))
        self.workers = int(chosen.get("workers", 0))
        self.amp = chosen.get("amp", "off")
        self.pin_memory = bool(chosen.get("pin_memory", False))
        self.device = spec.get("device", "cpu")
        self.data_path = job.get("data_path", "")
        self.seed = int(job.get("seed", 1))
        self.options = own_options(job.get("options", {}))

    def without_workers(self):
        """The same for taking a few batches in this process."""
        other = Settings({})
        other.__dict__.update(self.__dict__)
        other.workers = 0
        return other

    def __repr__(self):
        return "Settings(%s)" % ", ".join("%s=%r" % item for item in sorted(self.__dict__.items()))
