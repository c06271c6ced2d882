# SPDX-License-Identifier: Apache-2.0
"""What people's training functions return, and what is noted of trainings that do not learn, against a pretended torch."""

import functools
import types
import unittest

from train_jobs import Samples, made, pair, spec

import torch  # noqa: E402  the pretended one
from torch.utils.data import DataLoader, IterableDataset  # noqa: E402

from ridgeline_train import placing, transforms  # noqa: E402
from ridgeline_worker.failures import NoGradient, UserError  # noqa: E402
from ridgeline_train.trial import Trial  # noqa: E402


class Stream(IterableDataset):
    def __iter__(self):
        for index in range(20):
            yield torch.Tensor(shape=(4,)), index % 2


class Lit(torch.Module):
    """As of Lightning; its optimizer comes in any of the forms that are allowed there."""

    def __init__(self, optimizer=None):
        self.optimizer = optimizer or torch.Optimizer()
        self.steps = 0

    def parameters(self):
        return []

    def training_step(self, batch, index):
        self.steps += 1
        return {"loss": torch.Tensor()}

    def configure_optimizers(self):
        return self.optimizer

    def train_dataloader(self):
        return DataLoader(Samples(), batch_size=32)


class FormTest(unittest.TestCase):
    """What people's functions return."""

    def notes(self, function, **settings):
        trial = Trial(function, spec(**settings))
        trial.run(2)
        trial.reset()
        return trial.resources().get("notes", {})

    def made(self, **changes):
        return dict(made(None, loader=None, dataset=Samples()), **changes)

    def refusal(self, function, kind=UserError):
        with self.assertRaises(kind) as raised:
            Trial(function, spec()).run(2)
        return str(raised.exception)

    def test_an_iterable_data_set_is_not_shuffled(self):
        for workers in (0, 2):
            trial = Trial(lambda now: self.made(dataset=Stream()), spec(workers=workers))
            self.assertEqual(trial.run(5)["samples"], 40)
        self.assertEqual(transforms.costs(Stream())["transforms"], [])
        self.assertEqual(self.notes(lambda now: self.made(dataset=Stream(), shuffle=True))["iterable"]["arguments"], {"options": ["shuffle"]})

    def test_how_a_data_set_loads_is_taken(self):
        loading = dict(prefetch_factor=4, persistent_workers=False, collate_fn=lambda samples: (torch.Tensor(shape=(8,)), torch.Tensor(shape=(8,))))
        trial = Trial(lambda now: self.made(**loading), spec(workers=2))
        trial.run(2)
        loader = trial.source.loader
        self.assertEqual((loader.prefetch_factor, loader.persistent_workers, loader.collate_fn), (4, False, loading["collate_fn"]))
        Trial(lambda now: self.made(**loading), spec()).run(2)  # nobody prefetches

    def test_a_loader_in_place_of_a_data_set_and_the_other_way_round(self):
        collate = lambda samples: (torch.Tensor(shape=(8,)), torch.Tensor(shape=(8,)))  # noqa: E731
        loader = DataLoader(Samples(), batch_size=32, shuffle=True, collate_fn=collate)
        trial = Trial(lambda now: self.made(dataset=loader), spec(workers=2))
        self.assertEqual(trial.run(2)["samples"], 16)
        self.assertIs(trial.source.loader.collate_fn, collate)
        self.assertEqual(self.notes(lambda now: self.made(dataset=loader))["taken_apart"]["arguments"]["dataset"], "Samples")
        self.assertIn("loader_is_dataset", self.notes(lambda now: self.made(dataset=None, loader=Samples())))
        self.assertIn("batch_size None", self.refusal(lambda now: self.made(dataset=DataLoader(Samples(), batch_size=None))))
        self.assertIn("beside_loader", self.notes(lambda now: self.made(loader=lambda again: DataLoader(Samples(), 8))))
        Trial(lambda now: self.made(dataset=None, loader=lambda: DataLoader(Samples(), 8)), spec()).run(1)

    def test_tuples_and_functions_of_another_form(self):
        parts = (torch.Module(), torch.Optimizer(), lambda output, target: torch.Tensor(), Samples())
        with self.assertRaisesRegex(UserError, "a tuple of Module, Optimizer, function, Samples; expected \\(model, optimizer, loss, dataset"):
            Trial(lambda now: parts, spec())  # no parameters: no model
        lit = Lit()
        self.assertEqual(Trial(lambda now: (lit,) + parts[1:], spec()).run(2)["samples"], 16)
        self.assertEqual(Trial(lambda: self.made(), spec()).run(2)["samples"], 16)
        self.assertIn("cannot be called with the settings alone", self.refusal(lambda now, then: self.made()))

    def test_a_lightning_module_brings_everything(self):
        lit = Lit()
        notes = self.notes(lambda now: lit)
        self.assertEqual(lit.steps, 2)
        self.assertEqual(notes["lightning"]["arguments"]["methods"], ["training_step", "configure_optimizers", "train_dataloader"])
        self.assertIn("taken_apart", notes)
        scheduled = Lit({"optimizer": torch.Optimizer(), "lr_scheduler": 3})
        self.assertEqual(self.notes(lambda now: scheduled)["scheduler"]["arguments"]["others"], ["int"])
        self.assertIn("scheduler", self.notes(lambda now: Lit(([torch.Optimizer()], [3]))))
        self.assertIn("returned 2 optimizers", self.refusal(lambda now: Lit([torch.Optimizer(), torch.Optimizer()])))
        manual = Lit()
        manual.automatic_optimization = False
        self.assertIn("automatic_optimization = False", self.refusal(lambda now: manual))

    def test_optimizers_of_other_forms(self):
        class Needs(torch.Optimizer):
            def __init__(self, parameters, lr):
                pass

        class Plain:
            def step(self):
                pass

            def zero_grad(self):
                pass

        class Closure(torch.Optimizer):
            def step(self, closure):
                pass

        for form in (functools.partial(Needs, lr=1), lambda model: torch.Optimizer(), lambda parameters: Needs(list(parameters), 1), Plain()):
            Trial(lambda now: self.made(model=Lit(), loss=None, optimizer=form), spec()).run(1)
        for form, text in (("adam", r"optimizer = 'adam' \(str\); expected a torch.optim.Optimizer"), (Needs, "class Needs, which cannot be made"),
                           (Closure(), "the optimizer Closure, whose step needs a closure")):
            with self.assertRaisesRegex(UserError, text):
                Trial(lambda now: self.made(model=Lit(), loss=None, optimizer=form), spec())

    def test_losses_of_other_forms(self):
        def returning(value):
            return lambda now: self.made(loss=None, forward=lambda model, batch: value)

        for value in ((torch.Tensor(), 3), {"loss": torch.Tensor(), "logits": 3}, types.SimpleNamespace(loss=torch.Tensor())):
            self.assertIn("loss_within", self.notes(returning(value)))
        for value, text in ((None, "forward returned None; expected the loss"), (2.5, "without .item()"),
                            ({"a": 1, "b": 2}, "a dict with a, b; expected the loss"), ((), "expected the loss")):
            self.assertIn(text, self.refusal(returning(value)))
        several = torch.Tensor(shape=(8,))
        several.numel = lambda: 8
        self.assertIn("a loss of shape [8]; expected one number", self.refusal(returning(several)))
        detached = torch.Tensor()
        detached.requires_grad = False
        self.assertIn("does not require a gradient", self.refusal(returning(detached), NoGradient))

    def test_values_that_are_none_of_it_are_named(self):
        for changes, text in ((dict(loss="ce"), "loss = 'ce' (str); expected a function loss(output, target)"), (dict(loss=Lit), "the class Lit; expected an instance"),
                              (dict(model=Lit), "model = the class Lit; expected an instance: Lit()"), (dict(model=lambda x: x), "expected one torch.nn.Module"),
                              (dict(dataset=(i for i in ())), "of type generator; expected items and a length"), (dict(dataset="/data"), "dataset = '/data' (str)"),
                              (dict(dataset=Samples), "the class Samples; expected an instance"), (dict(dataset=lambda: 1), "expected a data set, not a function"),
                              (dict(dataset=[]), "without samples"), (dict(dataset=pair(8)), "TensorDataset"),
                              (dict(dataset=Samples(lambda index: (torch.Tensor(shape=(5 + index % 2,)), 1))), "do not make one batch of 8 (shapes ["),
                              (dict(dataset=Samples(lambda index: (torch.Tensor(), None))), "found <class 'NoneType'>); return collate_fn"),
                              (dict(dataset=Samples(lambda index: {"a": 1, "b": 2})), "not (input, target) pairs but a dict with a, b"),
                              (dict(loss=None, criterion=len), "unknown key 'criterion', did you mean 'loss'"),
                              (dict(loss=None), "forward=lambda model, batch: model(**batch).loss")):
            self.assertIn(text, self.refusal(lambda now: self.made(**changes)))

    def test_what_is_not_taken_is_noted(self):
        notes = self.notes(lambda now: self.made(scheduler=1, epochs=3, batch_size=32))
        self.assertEqual(notes["not_taken"], {"code": "ridgeline_train.not_taken", "severity": "note",
                                              "arguments": {"target": "x:y", "options": ["scheduler", "epochs"]}})
        self.assertEqual(notes["decided"]["arguments"]["options"], ["batch_size"])

    def test_batches_of_other_forms_go_to_the_device(self):
        class Own:
            def to(self, device):
                return "moved"

        self.assertEqual(placing.to_device(Own(), "cuda:0", True), "moved")
        moved = placing.to_device({"a": [torch.Tensor()], "b": "text"}, "cuda:0", False)
        self.assertEqual((moved["a"][0].where, moved["b"]), ("cuda:0", "text"))


class Truth:
    def __init__(self, value):
        self.value = value

    def all(self):
        return self.value


class Parameter:
    """One number that an optimizer may change."""

    def __init__(self, value=1.0, requires_grad=True):
        self.value, self.requires_grad, self.grad = value, requires_grad, None

    def detach(self):
        return self

    def is_contiguous(self):
        return True

    def view(self, _):
        return self

    def __getitem__(self, _):
        return self

    def to(self, where, copy):
        return Parameter(self.value)

    def __eq__(self, other):
        return Truth(self.value == other.value)

    __hash__ = object.__hash__


class Learner(torch.Module):
    def __init__(self, *parameters):
        self.all = list(parameters)

    def parameters(self):
        return self.all


class Steps(torch.Optimizer):
    def __init__(self, parameters, rate=1.0):
        self.param_groups = [{"params": list(parameters)}]
        self.rate = rate

    def step(self):
        for one in self.param_groups[0]["params"]:
            one.value += self.rate


class LearningTest(unittest.TestCase):
    def notes(self, model, optimizer, gradient=True):
        def forward(_, batch):
            for one in model.all if gradient else []:
                one.grad = 1.0
            return torch.Tensor()

        trial = Trial(lambda now: made(now, model=model, optimizer=optimizer, loss=None, forward=forward), spec())
        trial.run(3)
        trial.reset()
        notes = trial.resources()["notes"]
        notes.pop("batch_unseen")
        return notes

    def test_what_trains_needs_no_word(self):
        model = Learner(Parameter(), Parameter(requires_grad=False))
        self.assertEqual(self.notes(model, Steps(model.all[:1])), {})

    def test_what_trains_nothing_is_noted(self):
        one, other, unused = Parameter(), Parameter(), Parameter()
        self.assertEqual(self.notes(Learner(one, other), Steps([Parameter()]))["optimizer_elsewhere"]["arguments"], {"parameters": 2})
        self.assertEqual(self.notes(Learner(one, other), Steps([one]))["optimizer_partial"]["arguments"], {"held": 1, "parameters": 2})
        self.assertIn("nothing_changed", self.notes(Learner(one), Steps([one], 0.0)))
        self.assertIn("loss_without_model", self.notes(Learner(unused), Steps([unused], 0.0), gradient=False))
        self.assertIn("nothing_to_train", self.notes(Learner(Parameter(requires_grad=False)), Steps([])))


if __name__ == "__main__":
    unittest.main()
