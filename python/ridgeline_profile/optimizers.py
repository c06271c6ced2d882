# SPDX-License-Identifier: Apache-2.0
"""An annotation around each step of an optimizer."""
from ridgeline_profile import library, optimizer_steps, run_steps, steps
from ridgeline_profile.library import ANNOTATION, pop, push


def _before(optimizer):
    library.begin()
    push(library.name("Optimizer.step#%s.step" % type(optimizer).__name__), ANNOTATION)  # as the PyTorch profiler has it


def _after(optimizer, is_outermost):
    pop()
    if is_outermost:
        steps.optimizer_stepped(optimizer)


def install_in_running():
    """In a program that has made its optimizers."""
    steps.install(run_steps.torch_steps)
    steps.joins_a_program()
    if not optimizer_steps.install_hooks(_before, _after):
        optimizer_steps.install(steps.optimizer_made, _before, _after)
        optimizer_steps.patch_known()


def install():
    steps.install(run_steps.torch_steps)
    optimizer_steps.install(steps.optimizer_made, _before, _after)
