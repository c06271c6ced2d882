# SPDX-License-Identifier: Apache-2.0
"""Waits of a training: calls that read tensors on the host, with their lines, and loader workers that wait for one another. With the torch
of this host, on the CPU; exit code 77 without."""

import multiprocessing
import os
import sys
import time
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "python"))

try:
    import torch
except ImportError:
    sys.exit(77)

from ridgeline_train import host_reads, worker_waits  # noqa: E402
from ridgeline_worker.failures import BadSettings  # noqa: E402

torch.set_num_threads(1)


def line_of(text):
    """Number of the only line of this file that ends with the text."""
    with open(__file__) as file:
        found = [number for number, line in enumerate(file, 1) if line.rstrip().endswith(text)]
    assert len(found) == 1, (text, found)
    return found[0]


def counted(step, steps=4):
    reads = host_reads.HostReads(torch, torch.device("cpu"))
    with reads.counted():
        for _ in range(steps):
            step(reads)
            reads.step_done()
    return reads.facts()["host_reads"]


class HostReads(unittest.TestCase):
    def test_calls_are_counted_with_their_line(self):
        loss = torch.ones(1).sum()

        def step(_):
            for _ in range(2):
                loss.item()  # two items
            if loss > 0:  # one bool
                "%s" % loss  # one text
            loss.cpu()  # one copy

        rows = {(row["call"], row["place"]): row["per_step"] for row in counted(step)}
        here = os.path.relpath(__file__)
        self.assertEqual(rows, {("item()", "%s:%d in step" % (here, line_of("# two items"))): 2.0,
                                ("bool()", "%s:%d in step" % (here, line_of("# one bool"))): 1.0,
                                ("print()", "%s:%d in step" % (here, line_of("# one text"))): 1.0,
                                ("cpu()", "%s:%d in step" % (here, line_of("# one copy"))): 1.0})

    def test_they_are_timed(self):
        row = counted(lambda _: torch.arange(200000).tolist())[0]
        self.assertEqual(row["call"], "tolist()")
        self.assertGreater(row["ms_per_step"], 0.1)

    def test_loading_a_batch_is_left_out(self):
        def step(reads):
            reads.paused = True
            torch.ones(1).item()
            reads.paused = False

        self.assertEqual(counted(step), [])

    def test_an_optimizer_s_own_reads_on_a_cpu_are_left_out(self):
        model = torch.nn.Linear(2, 2)
        optimizer = torch.optim.Adam(model.parameters())

        def step(_):
            model(torch.ones(1, 2)).sum().backward()
            optimizer.step()

        self.assertEqual(counted(step), [])

    def test_torch_is_as_before_afterwards(self):
        before = {name: (name in vars(torch.Tensor), getattr(torch.Tensor, name)) for name in host_reads.METHODS}
        counted(lambda _: None)
        self.assertEqual(before, {name: (name in vars(torch.Tensor), getattr(torch.Tensor, name)) for name in host_reads.METHODS})

    def test_a_compiled_model_is_left_alone(self):
        reads = host_reads.of_trial(torch, torch.device("cpu"), compiles=True)
        with reads.counted():
            torch.ones(1).item()
        self.assertEqual(reads.facts(), {})


class Items(torch.utils.data.Dataset):
    def __init__(self, lock=None, sleep_s=0.0, work=0):
        self.lock, self.sleep_s, self.work = lock, sleep_s, work

    def __len__(self):
        return 64

    def __getitem__(self, index):
        if self.lock is not None:
            with self.lock:  # where workers queue
                time.sleep(self.sleep_s)  # the one that has it
        elif self.sleep_s:
            time.sleep(self.sleep_s)  # each for itself
        sum(range(self.work))
        return torch.ones(2)


class WorkerWaits(unittest.TestCase):
    def test_workers_that_take_turns_are_no_faster_and_wait_at_the_lock(self):
        found = worker_waits.compared(Items(multiprocessing.Lock(), 0.004), 3)
        one, several = found["one"], found["several"]
        self.assertLess(several["samples_per_s"], 1.3 * one["samples_per_s"])
        self.assertGreater(several["waits"], 0.5)
        lock = "%s:%d in __getitem__" % (os.path.relpath(__file__), line_of("# where workers queue"))
        shares = {(row["place"], row["kind"]): row["share"] for row in several["places"]}
        self.assertGreater(shares.get((lock, "lock"), 0), 0.4, shares)
        self.assertEqual({row["kind"] for row in one["places"]}, {"sleep"})

    def test_workers_that_wait_for_themselves_are_faster_together(self):
        found = worker_waits.compared(Items(None, 0.004), 3)
        self.assertGreater(found["several"]["samples_per_s"], 2 * found["one"]["samples_per_s"])
        place = found["several"]["places"][0]
        self.assertEqual((place["kind"], place["place"].rpartition(":")[2]), ("sleep", "%d in __getitem__" % line_of("# each for itself")))

    def test_computing_is_no_wait(self):
        found = worker_waits.compared(Items(work=200000), 2)
        self.assertLess(found["one"]["waits"], 0.3)

    def test_samples_without_numbers_are_not_compared(self):
        class Stream(torch.utils.data.IterableDataset):
            def __iter__(self):
                return iter([1, 2])

        with self.assertRaises(BadSettings):
            worker_waits.compared(Stream(), 2)


if __name__ == "__main__":
    unittest.main()
