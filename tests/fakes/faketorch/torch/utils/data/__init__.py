# SPDX-License-Identifier: Apache-2.0
"""Data sets, and a DataLoader that loads in this process, whatever its workers."""

from .dataloader import default_collate


class Dataset:
    pass


class IterableDataset(Dataset):
    pass


class SequentialSampler:
    def __init__(self, dataset):
        self.dataset = dataset

    def __iter__(self):
        return iter(range(len(self.dataset)))


class RandomSampler(SequentialSampler):
    pass


class BatchSampler:
    def __init__(self, sampler):
        self.sampler = sampler


class DataLoader:
    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
                 drop_last=False, worker_init_fn=None, prefetch_factor=None, persistent_workers=False):
        streams = isinstance(dataset, IterableDataset)
        if streams and (shuffle or sampler is not None):
            raise ValueError("DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle=%s" % shuffle)
        if num_workers == 0 and (persistent_workers or prefetch_factor is not None):
            raise ValueError("persistent_workers option needs num_workers > 0")
        if sampler is None and not streams:
            sampler = (RandomSampler if shuffle else SequentialSampler)(dataset)
        self.dataset, self.batch_size, self.num_workers, self.pin_memory, self.drop_last = dataset, batch_size, num_workers, pin_memory, drop_last
        self.sampler, self.worker_init_fn = sampler, worker_init_fn
        self.batch_sampler = batch_sampler or (BatchSampler(sampler) if batch_size is not None else None)
        self.collate_fn = collate_fn or default_collate
        self.prefetch_factor, self.persistent_workers = prefetch_factor, persistent_workers

    def __iter__(self):
        samples = iter(self.dataset) if isinstance(self.dataset, IterableDataset) else (self.dataset[index] for index in self.sampler)
        batch = []
        for sample in samples:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.collate_fn(batch)
                batch = []
