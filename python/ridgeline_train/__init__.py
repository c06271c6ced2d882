# SPDX-License-Identifier: Apache-2.0
"""Lets `ridgeline bench --python module:function` train the user's own model step by step.

The function gets `settings` and returns a dict (or an object with the same attributes):

    def bench(settings):
        model = Net()
        return dict(model=model,
                    optimizer=torch.optim.SGD(model.parameters(), lr=0.1),
                    loss=torch.nn.CrossEntropyLoss(),
                    dataset=MyDataset(settings.data_path))

Keys:
    model      a torch.nn.Module; it is moved to the device here
    optimizer  made over model.parameters(), or a function of the model that makes it
    dataset    a DataLoader is made over it with the settings' batch size, workers and pinning (collate_fn, sampler, worker_init_fn,
               prefetch_factor, persistent_workers and shuffle are passed on to it); or
    loader     a function of the settings that makes a loader (any iterable of batches), for a sampler or collate_fn of one's own
    loss       loss(output, target) for batches that are (input, target) pairs; or
    forward    forward(model, batch) -> loss, for batches of any other form
    samples    samples(batch) -> their number, for batches whose first dimension is not their samples

A tuple (model, optimizer, loss, dataset) and a Lightning module are taken too. Of schedulers, accumulation and the like a note says
that they are left out; another key is a mistake and ends the run. A loader of one's own must pass settings.batch and settings.workers on: batches of
another size and another num_workers end the trial, and pinning that was not taken over is noted. The last, smaller batch of an epoch is left out.

`settings` has batch, workers, amp ("off", "bf16", "fp16"), pin_memory, device, data_path, seed and options (--option NAME=VALUE).
Needs no package but torch, and Python 3.8 or later.
"""

from .settings import Settings

__all__ = ["Settings"]
