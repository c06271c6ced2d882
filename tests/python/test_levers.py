# SPDX-License-Identifier: Apache-2.0
"""Levers of `bench --python FILE:FUNC`: each takes effect, or its reason is given; trains the same where it has to. With the torch of this
host, on the CPU; exit code 77 without. Each trial is in a fork, because hooks stay in a process."""

import json
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

try:
    import torch
    from torch import nn
except ImportError:
    sys.exit(77)

from ridgeline_train import cached_data, device_data, levers, transforms  # noqa: E402
from ridgeline_train.input_resolution import smaller  # noqa: E402
from ridgeline_train.lever_set import MADE, REASONS, without_effect  # noqa: E402
from ridgeline_train.trial import Trial  # noqa: E402
from ridgeline_worker.failures import BadSettings  # noqa: E402

torch.set_num_threads(1)
HAS_COMPILE = hasattr(torch, "compile")


class Items(torch.utils.data.Dataset):
    def __init__(self, change=lambda x: x):
        self.change = change
        self.fetched = 0

    def __len__(self):
        return 96

    def __getitem__(self, index):
        self.fetched += 1
        return self.change(torch.sin(torch.arange(8.0) * (index + 1))), index % 2


class Images(torch.utils.data.Dataset):
    def __init__(self, side):
        self.side = side

    def __len__(self):
        return 96

    def __getitem__(self, index):
        return torch.ones(2, self.side, self.side), index % 2


class Sized(nn.Module):
    """Its loss is the side of the images that it gets."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, x):
        return x.shape[2] + self.weight * x.mean()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(8, 8)

    def forward(self, x):
        return torch.relu(self.inner(x)) + x


class Model(nn.Module):
    def __init__(self, dropout=0.0):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block(), Block())
        self.drop = nn.Dropout(dropout)
        self.out = nn.Linear(8, 2)

    def forward(self, x):
        return self.out(self.drop(self.blocks(x)))


def function(settings, **changes):
    model = changes.pop("model", Model)()
    out = dict(model=model, optimizer=torch.optim.Adam(model.parameters(), lr=0.01), loss=nn.CrossEntropyLoss(), dataset=Items())
    out.update({name: make(model) if name == "optimizer" else make for name, make in changes.items()})
    return out


def lost_at(step, stays=True):
    """A loss that is NaN in the step, and in those after it if it stays so."""
    calls = []

    def loss(output, target):
        calls.append(None)
        is_lost = len(calls) >= step if stays else len(calls) == step
        # Not through the parameters: these stay as they are.
        return nn.functional.cross_entropy(output, target) + (float("nan") if is_lost else 0.0)

    return loss


def trained(made=function, batch=8, workers=0, steps=20, passes=1, repeat=0, amp="off", data="loader", losses=None, **chosen):
    """What a trial reports, or {"error": text}; in a process of its own."""
    options = {levers.PREFIX + name: str(value) for name, value in chosen.items()}
    options[levers.LOSSES] = str(steps if losses is None else losses)
    spec = {"job": {"target": "x:y", "kind": "python", "seed": 3, "options": options}, "device": "cpu", "data": data, "repeat": repeat,
            "settings": {"batch": batch, "workers": workers, "amp": amp, "pin_memory": False}}
    reads, writes = os.pipe()
    child = os.fork()
    if not child:
        try:
            trial = Trial(made, spec)
            trial.run(steps)
            found = trial.resources()
        except BadSettings as error:
            found = {"error": str(error)}
        except BaseException as error:
            found = {"broken": repr(error)}
        with os.fdopen(writes, "w") as file:
            file.write(json.dumps(found, default=str))
        os._exit(0)
    os.close(writes)
    with os.fdopen(reads) as file:
        text = file.read()
    os.waitpid(child, 0)
    found = json.loads(text)
    if "broken" in found:
        raise AssertionError(found["broken"])
    return found


class Case(unittest.TestCase):
    def near(self, one, other, places=4):
        self.assertEqual(len(one), len(other))
        for a, b in zip(one, other):
            self.assertAlmostEqual(a, b, places=places)


class Losses(Case):
    def test_the_same_seed_gives_the_same_curve(self):
        one, other = trained()["losses"], trained()["losses"]
        self.assertEqual(one, other)
        self.assertEqual(len(one), 20)
        self.assertLess(one[-1], one[0] + 1)

    def test_repeats_differ_in_random_numbers_after_the_first_step(self):
        def noisy(settings):
            return function(settings, model=lambda: Model(0.5))

        one, other = trained(noisy)["losses"], trained(noisy, repeat=1)["losses"]
        self.assertEqual(one[0], other[0])
        self.assertNotEqual(one[1:], other[1:])
        self.assertEqual(trained(repeat=1)["losses"][:10], trained()["losses"][:10])  # of a model without

    def test_a_loss_that_is_lost_is_reported_with_its_step(self):
        def lost(settings):
            calls = []

            def loss(output, target):
                calls.append(None)
                return nn.functional.cross_entropy(output, target) * (float("nan") if len(calls) == 4 else 1)

            return function(settings, loss=loss)

        found = trained(lost)
        self.assertEqual((len(found["losses"]), found["lost_at_step"]), (3, 4))

    def test_a_loss_that_is_lost_later_is_reported_without_a_curve(self):
        found = trained(lambda settings: function(settings, loss=lost_at(7)), losses=0, steps=10)
        self.assertEqual((found["lost_at_step"], found["loss_not_finite"]), (7, True))
        self.assertNotIn("losses", found)

    def test_a_loss_that_comes_back_is_a_note(self):
        found = trained(lambda settings: function(settings, loss=lost_at(7, stays=False)), losses=0, steps=10)
        self.assertNotIn("lost_at_step", found)
        self.assertEqual(found["notes"]["loss_came_back"]["arguments"], {"lost": 1, "steps": 10})

    def test_no_losses_unless_they_are_wanted(self):
        options = {levers.LOSSES: "0"}
        self.assertEqual(levers.losses_wanted({"options": options}), 0)


class Names(unittest.TestCase):
    def test_options_of_the_user_are_left_to_the_function(self):
        seen = []

        def made(settings):
            seen.append(settings.options)
            return function(settings)

        spec = {"job": {"kind": "python", "options": {"depth": "3", "channels_last": "x", "ridgeline_losses": "2"}}, "device": "cpu",
                "settings": {"batch": 8}}
        Trial(made, spec)
        self.assertEqual(seen, [{"depth": "3", "channels_last": "x"}])

    def test_a_wrong_lever_is_refused(self):
        self.assertIn("no such lever", trained(no_such="1")["error"])
        self.assertIn("expected a positive number", trained(gradient_accumulation="x")["error"])
        self.assertIn("expected flash", trained(sdpa_backend="x")["error"])

    def test_every_lever_of_the_catalogue_can_be_made(self):
        path = os.path.join(ROOT, "src", "schema", "catalog", "training_levers.cpp")
        with open(path) as file:
            named = {line.split('"')[1] for line in file if ".name = " in line}
        self.assertEqual(named, set(levers.NAMES))
        self.assertEqual(set(MADE), set(levers.STEP))


class Checkpointing(Case):
    def test_blocks_are_computed_again_and_train_the_same(self):
        found = trained(gradient_checkpointing="auto")
        self.near(found["losses"], trained()["losses"])
        self.assertEqual(found["notes"]["lever_blocks"]["arguments"], {"blocks": 3, "kind": "Block"})

    def test_dropout_is_the_same_when_computed_again(self):
        class Dropping(Block):
            def forward(self, x):
                return nn.functional.dropout(super().forward(x), 0.5, self.training)

        class Whole(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks = nn.Sequential(Dropping(), Dropping())
                self.out = nn.Linear(8, 2)

            def forward(self, x):
                return self.out(self.blocks(x))

        def made(settings):
            return function(settings, model=Whole)

        self.near(trained(made, gradient_checkpointing="Dropping")["losses"], trained(made)["losses"])

    def test_by_class(self):
        self.assertIn("no module of class Other", trained(gradient_checkpointing="Other")["error"])
        self.assertEqual(trained(gradient_checkpointing="Linear")["notes"]["lever_blocks"]["arguments"]["blocks"], 4)

    def test_no_blocks(self):
        def plain(settings):
            return function(settings, model=lambda: nn.Linear(8, 2))

        self.assertIn(REASONS["no_blocks"], trained(plain, gradient_checkpointing="auto")["error"])


class Accumulation(Case):
    def test_the_effective_batch_trains_the_same(self):
        half = trained(batch=8, steps=40, gradient_accumulation=2)["losses"]
        pairs = [(a + b) / 2 for a, b in zip(half[::2], half[1::2])]
        # The sampler's order is the same, and 96 samples are whole batches of both.
        self.near(pairs[:6], trained(batch=16, steps=6)["losses"])

    def test_a_normalised_batch_trains_something_else(self):
        def made(settings):
            return function(settings, model=lambda: nn.Sequential(nn.BatchNorm1d(8), nn.Linear(8, 2)))

        half = trained(made, batch=8, steps=12, gradient_accumulation=2)["losses"]
        whole = trained(made, batch=16, steps=6)["losses"]
        self.assertGreater(max(abs((a + b) / 2 - c) for a, b, c in zip(half[::2], half[1::2], whole)), 1e-4)

    def test_an_optimizer_that_is_none_of_torchs(self):
        class Own:
            def __init__(self, model):
                self.inner = torch.optim.SGD(model.parameters(), lr=0.1)

            def step(self):
                self.inner.step()

            def zero_grad(self):
                for group in self.inner.param_groups:
                    for one in group["params"]:
                        one.grad = None

        def made(settings):
            return function(settings, optimizer=Own)

        self.assertIn(REASONS["no_step_skipped"], trained(made, gradient_accumulation=2)["error"])

    def test_a_training_that_accumulates_already(self):
        def made(settings):
            def forward(model, batch):
                nn.functional.cross_entropy(model(batch[0]), batch[1]).backward()
                return nn.functional.cross_entropy(model(batch[0]), batch[1])

            found = function(settings, forward=forward)
            del found["loss"]
            return found

        self.assertIn(REASONS["accumulates"], trained(made, gradient_accumulation=2)["error"])


class Optimizers(Case):
    def test_foreach(self):
        self.near(trained(fused_optimizer="foreach")["losses"], trained()["losses"], places=3)

    def test_an_optimizer_without(self):
        class Plain(torch.optim.Optimizer):
            def __init__(self, parameters):
                super().__init__(parameters, {"lr": 0.1})

            def step(self):
                for group in self.param_groups:
                    for one in group["params"]:
                        one.data.add_(one.grad, alpha=-group["lr"])

        def made(settings):
            return function(settings, optimizer=lambda model: Plain(model.parameters()))

        for form, reason in (("foreach", "no_foreach"), ("fused", "no_fused_here"), ("true", "no_fused")):
            self.assertIn(REASONS[reason], trained(made, fused_optimizer=form)["error"])

    def test_fused_says_what_it_did(self):
        found = trained(fused_optimizer="fused")
        if "error" in found:
            self.assertIn(REASONS["no_fused_here"], found["error"])
        else:
            self.near(found["losses"], trained()["losses"], places=3)


class Loader(Case):
    def test_arguments_of_the_loader(self):
        self.near(trained(workers=1, prefetch_factor=4)["losses"], trained(workers=1)["losses"])
        self.assertIn("already", trained(workers=1, prefetch_factor=2)["error"])
        self.assertIn("already", trained(workers=1, persistent_workers="true")["error"])
        self.assertIn("without workers", trained(prefetch_factor=4)["error"])

    def test_a_loader_of_ones_own_decides(self):
        def made(settings):
            found = function(settings)
            dataset = found.pop("dataset")
            found["loader"] = lambda now: torch.utils.data.DataLoader(dataset, batch_size=now.batch, drop_last=True)
            return found

        self.assertIn("a loader of its own", trained(made, workers=0, prefetch_factor=4)["error"])
        self.assertIn("a loader of its own", trained(made, cache_dataset="true")["error"])


class DeviceCache(Case):
    def test_it_trains_the_same_without_workers(self):
        for workers in (0, 2):
            found = trained(cache_dataset="device", workers=workers)
            # An epoch: of the next one, loaders with and without workers draw other orders.
            self.near(found["losses"][:12], trained(workers=workers)["losses"][:12])
            facts = found["notes"]["lever_device_cache"]["arguments"]
            self.assertEqual(facts["samples"], 96)
            self.assertAlmostEqual(facts["gb"] * 1e9, 96 * (8 * 4 + 8))
            self.assertNotIn("loader_wall_s" if workers else "none", found)  # no worker ran

    def test_samples_have_to_stack(self):
        def refused(change):
            return trained(lambda settings: function(settings, dataset=Items(change)), cache_dataset="device")["error"]

        self.assertIn("do not stack", refused(lambda x: x[:int(x[1] > 0) + 2]))
        self.assertIn("no tensors and no numbers", refused(lambda x: (x, "name")))

    def test_a_collate_fn_may_do_no_more_than_that(self):
        def made(settings, change):
            def collate(samples):
                x, y = torch.utils.data.dataloader.default_collate(samples)
                return [x * change, y]

            return dict(function(settings), collate_fn=collate)

        self.assertIn("something else of samples", trained(lambda settings: made(settings, 2), cache_dataset="device")["error"])
        self.near(trained(lambda settings: made(settings, 1), cache_dataset="device")["losses"], trained()["losses"])

    def test_others_see_samples(self):
        data = device_data.filled(Items(), torch.device("cpu"), None, 300, None, {})
        self.assertTrue(torch.equal(data[5][0], Items()[5][0]))
        self.assertEqual((len(data), data.fetched > 0), (96, True))
        x, y = data.batch([3, 4])
        self.assertTrue(torch.equal(x[1], Items()[4][0]))
        self.assertEqual(y.tolist(), [1, 0])

    def test_what_the_device_has_no_room_for_is_refused(self):
        before = device_data._free_gb
        device_data._free_gb = lambda device: 1e-6
        try:
            with self.assertRaises(BadSettings) as caught:
                device_data.filled(Items(), torch.device("cpu"), None, 300, None, {})
        finally:
            device_data._free_gb = before
        self.assertIn("free on the device", str(caught.exception))

    def test_a_value_that_is_none(self):
        self.assertIn("expected true, false or device", trained(cache_dataset="gpu0")["error"])


class Resolution(Case):
    def test_images_are_smaller(self):
        found = trained(lambda settings: dict(function(settings, model=Sized, dataset=Images(64)), loss=lambda output, _: output.mean()), input_resolution="0.5")
        self.assertEqual(found["notes"]["lever_resolution"]["arguments"], {"before": "64x64", "after": "32x32"})
        self.assertAlmostEqual(found["losses"][0], 32.0)
        self.assertAlmostEqual(trained(lambda settings: dict(function(settings, model=Sized, dataset=Images(64)), loss=lambda output, _: output.mean()))["losses"][0], 64.0)

    def test_sides(self):
        self.assertEqual([smaller(side, 0.75) for side in (224, 96, 50, 40)], [160, 64, 38, 32])

    def test_what_has_no_images_refuses(self):
        self.assertIn(REASONS["no_images"], trained(input_resolution="0.5")["error"])
        self.assertIn("expected a share", trained(input_resolution="2")["error"])


class Cache(Case):
    def test_samples_are_made_once(self):
        data = Items()
        cached = cached_data.filled(data, 0, 300, {})
        made = data.fetched
        self.assertEqual(len(cached), 96)
        for index in range(96):
            self.assertTrue(torch.equal(cached[index][0], Items()[index][0]))
        self.assertEqual(cached.__getitems__([3, 4])[1][1], 0)
        self.assertEqual(data.fetched, made)
        self.assertEqual(cached.fetched, made)  # attributes are the data set's

    def test_it_trains_the_same(self):
        found = trained(cache_dataset="true")
        self.near(found["losses"], trained()["losses"])
        self.assertEqual(found["notes"]["lever_cache"]["arguments"]["samples"], 96)
        self.near(trained(cache_dataset="true", workers=2)["losses"], trained(workers=2)["losses"])

    def refused(self, dataset, limit_s=300):
        with self.assertRaises(BadSettings) as caught:
            cached_data.filled(dataset, 0, limit_s, {})
        return str(caught.exception)

    def test_random_samples_are_not_kept(self):
        self.assertIn("draws random numbers", self.refused(Items(lambda x: x if torch.rand(()) > 0.001 else x + 1)))
        generator = torch.Generator()
        self.assertIn("another one each time", self.refused(Items(lambda x: x + torch.rand((), generator=generator))))

    def test_random_numbers_go_on_as_if_nothing_was_drawn(self):
        torch.manual_seed(5)
        expected = torch.rand(3)
        torch.manual_seed(5)
        self.refused(Items(lambda x: x + torch.rand(())))
        self.assertTrue(torch.equal(torch.rand(3), expected))

    def test_too_slow(self):
        self.assertIn("a trial has 0 s for it", self.refused(Items(lambda x: (time.sleep(0.01), x)[1]), limit_s=0.1))

    def test_too_large(self):
        before = cached_data.loader_cost.available_gb
        cached_data.loader_cost.available_gb = lambda: 1e-9
        try:
            self.assertIn("expected at most half of the", self.refused(Items()))
        finally:
            cached_data.loader_cost.available_gb = before

    def test_a_stream_has_no_samples_by_number(self):
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter([])

        self.assertIn("no samples by number", self.refused(Stream()))


def slow_change(x):
    time.sleep(0.004)
    return x


class Transformed(Items):
    def __init__(self):
        super().__init__()
        self.transform = slow_change

    def __getitem__(self, index):
        return self.transform(super().__getitem__(index)[0]), index % 2


class Transforms(unittest.TestCase):
    def test_with_the_line_and_in_workers(self):
        here = "%s:%d" % (os.path.relpath(os.path.abspath(__file__)), slow_change.__code__.co_firstlineno)
        for workers in (0, 2):
            found = transforms.costs(Transformed(), workers=workers)
            name, ms = found["transforms"][0]
            self.assertEqual((name, found["workers"]), ("slow_change at " + here, workers))
            self.assertGreaterEqual(ms, 4)
            self.assertGreaterEqual(found["sample_ms"], ms)


class Others(Case):
    def test_what_has_no_effect_says_why(self):
        self.assertIn(REASONS["no_convolution"], trained(channels_last="true")["error"])
        for name in ("allow_tf32", "cudnn_benchmark", "cuda_graph"):
            self.assertIn(REASONS["no_gpu"], trained(**{name: "true"})["error"])
        self.assertIn(REASONS["no_copy"], trained(non_blocking="true")["error"])
        found = without_effect(Model())
        self.assertEqual(found["cuda_graph"], REASONS["no_gpu"])
        self.assertEqual("torch_compile" in found, not HAS_COMPILE)

    def test_channels_last(self):
        def made(settings):
            def net():
                return nn.Sequential(nn.Unflatten(1, (2, 2, 2)), nn.Conv2d(2, 4, 1), nn.Flatten(), nn.Linear(16, 2))

            return function(settings, model=net)

        self.near(trained(made, channels_last="true")["losses"], trained(made)["losses"], places=3)

    @unittest.skipUnless(hasattr(nn.functional, "scaled_dot_product_attention"), "this torch has no scaled_dot_product_attention")
    def test_attention_backend(self):
        class Attends(nn.Module):
            def __init__(self):
                super().__init__()
                self.out = nn.Linear(8, 2)

            def forward(self, x):
                parts = x.view(-1, 1, 2, 4)
                return self.out(nn.functional.scaled_dot_product_attention(parts, parts, parts).reshape(-1, 8))

        def made(settings):
            return function(settings, model=Attends)

        self.near(trained(made, sdpa_backend="math")["losses"], trained(made)["losses"], places=3)
        self.assertIn(REASONS["no_attention"], trained(sdpa_backend="math")["error"])

    @unittest.skipIf(hasattr(nn.functional, "scaled_dot_product_attention"), "this torch has it")
    def test_attention_backend_of_an_old_torch(self):
        self.assertIn(REASONS["no_sdpa"], trained(sdpa_backend="math")["error"])

    @unittest.skipUnless(HAS_COMPILE, "this torch has no torch.compile")
    def test_compile(self):
        expected = trained()["losses"]
        for mode in ("default",):
            self.near(trained(torch_compile=mode)["losses"], expected, places=3)

    @unittest.skipIf(HAS_COMPILE, "this torch has torch.compile")
    def test_compile_of_an_old_torch(self):
        self.assertIn(REASONS["no_compile"], trained(torch_compile="default")["error"])


if __name__ == "__main__":
    unittest.main()
