# SPDX-License-Identifier: Apache-2.0
"""CPU threads of processes that make their models at the same time: with all threads in each, that takes ten times as long."""

import contextlib
import os

import torch


def take(processes):
    """The share of one among so many, for the rest of this process. How many threads that are."""
    if processes > 1:
        torch.set_num_threads(max(1, min(torch.get_num_threads(), len(os.sched_getaffinity(0)) // processes)))
    return torch.get_num_threads()


@contextlib.contextmanager
def taken(processes):
    """The same for a while. What is compiled afterwards has the threads of its calls: with another number Dynamo compiles again. A number
    that was set meanwhile, by a user's function, stays."""
    before = torch.get_num_threads()
    share = take(processes)
    try:
        yield
    finally:
        if torch.get_num_threads() == share:
            torch.set_num_threads(before)
