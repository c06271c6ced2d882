# SPDX-License-Identifier: Apache-2.0
"""One job of a built-in model or TorchScript file: what ridgeline_train gets of a user's function."""

import torch

from ridgeline_train.levers import CACHE, LOADER, own_options

from . import catalog, loss, optimizer
from .catalog import Request
from .data_form import DataForm
from .hdf5_data import Hdf5Data
from .options import Options, refuse
from .random_data import RandomData
from .torchscript import TorchScript

MOST_CLASSES = 1 << 24
OF_DATA = ("input_dataset", "label_dataset", "order", "cache_mb")
OF_RANDOM_DATA = ("input", "outputs")
LARGEST_BYTE = 255.0


OF_LOADERS = (CACHE,) + LOADER  # levers that these models' own loaders leave nothing to do


class BuiltIn:
    """Refuses models, options and data that do not fit together. `trains`: labels are needed."""

    def __init__(self, job, trains=True):
        self.name = job["target"]
        self.info = catalog.find(self.name)
        every = own_options(job.get("options", {}))
        self.options = Options({name: value for name, value in every.items() if name not in OF_DATA})
        own = list(self.info.options) if self.info else []
        self.options.check_names(sorted([*optimizer.OPTIONS, "loss", "input", "classes", "outputs", *own]), self.name)
        self.loss = self.options.choice("loss", loss.NAMES, "cross_entropy", "loss")
        path = job.get("data_path", "")
        self.data = Hdf5Data(path, Options(every)) if path else None
        self.form = self.data.form if path else self._random_form()
        for option in OF_RANDOM_DATA if path else ():
            if self.options.has(option):
                refuse("option %s describes random data; the data file has its own form" % option)
        if trains and self.form.label is None:
            refuse("the data set has no labels; name them with --option label_dataset=NAME")
        if not self.options.has("loss"):
            self.loss = "cross_entropy" if self.form.class_labels() else "mse"
        self.outputs = self._outputs() if self.form.label is not None else 0
        self.takes_tokens = False

    def _random_form(self):
        if self.info is None and not self.options.has("input"):
            refuse("a TorchScript model needs --option input=3x224x224, the axes of one sample, or --data-path data.h5")
        sample = self.options.shape("input", self.info.sample if self.info else "1")
        # A transformer over one axis reads tokens.
        kind = "int64" if self.name == "transformer" and len(sample) == 1 else "float32"
        if self.loss == "cross_entropy":
            return DataForm(sample, kind)
        return DataForm(sample, kind, [self.options.whole("outputs", 1, 1, MOST_CLASSES)], "float32")

    def _outputs(self):
        # Labels that are no integers are a probability for each class.
        if self.loss != "cross_entropy" or not self.form.integer_labels():
            return self.form.label_elements()
        if self.form.label and self.info:
            refuse("labels of %s integers a sample; expected one class number, or --option loss=mse" % "x".join(map(str, self.form.label)))
        return self.options.whole("classes", self.info.classes if self.info else 2, 2, MOST_CLASSES)

    def model(self):
        if self.info is None:
            model = TorchScript(self.name)
            if self.data is None:
                self._ask_torchscript(model)
        else:
            model = self.info.make(self.options, Request(self.form.sample, self.form.integer_samples(), self.outputs))
        self.takes_tokens = getattr(model, "takes_tokens", False)
        return model

    def _ask_torchscript(self, model):
        """Random labels for a model of unknown form: as its output is."""
        with torch.no_grad():
            output = model(torch.randn([2] + self.form.sample))
        if self.loss != "cross_entropy":
            self.form.label = list(output.shape[1:])
            return
        if output.dim() < 2:
            refuse("the model's output has %d axes; expected samples and classes for cross_entropy" % output.dim())
        self.form.label = list(output.shape[2:])
        if not self.options.has("classes"):
            self.outputs = output.shape[1]

    def optimizer(self, model, on_gpu):
        return optimizer.make(self.options, model, on_gpu)

    def _input(self, samples):
        if self.takes_tokens:
            return samples.long()
        if samples.dtype == torch.float32:
            return samples
        return samples.float().div_(LARGEST_BYTE) if samples.dtype == torch.uint8 else samples.float()

    def forward(self, model, batch):
        samples, labels = batch
        return loss.of(self.loss, model(self._input(samples)), labels)

    def made(self, settings, trains):
        """For ridgeline_train.Trial."""
        on_gpu = settings.device.startswith("cuda")
        made = {}
        if trains:
            made = {"model": self.model(), "optimizer": lambda model: self.optimizer(model, on_gpu), "forward": self.forward}
        data = self.data or RandomData(self.form, self.outputs)
        return dict(made, loader=lambda settings: data.loader(settings, on_gpu))
