# SPDX-License-Identifier: Apache-2.0
"""Finds the user's function."""

import hashlib
import importlib
import importlib.util
import os
import shlex
import sys

from . import phase, torch_runtime
from .failures import UserError


def load(target):
    """The function and its file of "module:function" or "path/file.py:function"; after " -- " the command line that the file reads."""
    target, _, words = target.partition(" -- ")
    module_name, _, function_name = target.rpartition(":")
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    if words:
        sys.argv = [module_name] + shlex.split(words)
    phase.enter("importing %s" % module_name)
    module = _from_file(module_name, function_name) if module_name.endswith(".py") else _by_name(module_name)
    function = getattr(module, function_name, None)
    if not callable(function):
        names = [name for name in vars(module) if callable(getattr(module, name)) and not name.startswith("_")]
        raise UserError("%s has no function %r; it has %s" % (module_name, function_name, ", ".join(sorted(names)[:12]) or "none"))
    return function, getattr(module, "__file__", "") or ""


def _by_name(module_name):
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name == "torch":
            raise UserError("%s needs torch, which %s does not have; name another interpreter with --python-exe"
                            % (module_name, sys.executable))
        if error.name and (module_name == error.name or module_name.startswith(error.name + ".")):
            raise UserError("no module named %r in %s or on the Python path" % (error.name, os.getcwd()))
        raise UserError("importing %s failed: %s" % (module_name, error))


def _as_module(path, function_name):
    """How to name a file that belongs to a package."""
    folder, name = os.path.split(os.path.abspath(path))
    names = [os.path.splitext(name)[0], os.path.basename(folder)]
    folder, package = os.path.dirname(folder), folder
    while os.path.isfile(os.path.join(package, "__init__.py")) and os.path.isfile(os.path.join(folder, "__init__.py")):
        names.append(os.path.basename(folder))
        folder, package = os.path.dirname(folder), folder
    place = "" if os.path.samefile(folder, os.getcwd()) else ", in the folder %s" % folder
    return "name it as part of its package: --python %s:%s%s" % (".".join(reversed(names)), function_name, place)


def _from_file(path, function_name):
    if not os.path.isfile(path):
        raise UserError("no file %s" % path)
    folder = os.path.dirname(os.path.abspath(path))
    if folder not in sys.path:
        sys.path.insert(0, folder)
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # loader workers that are spawned find it by name
    try:
        spec.loader.exec_module(module)
    except ModuleNotFoundError as error:
        raise UserError("%s: %s; name another interpreter with --python-exe" % (path, error))
    except ImportError as error:
        if "relative import" not in str(error):
            raise
        raise UserError("%s: %s; expected a file that is no part of a package" % (path, error), _as_module(path, function_name)) from None
    return module


def describe(target):
    """What identifies the job besides its settings."""
    torch = torch_runtime.imported()
    _, path = load(target)
    digest = ""
    if path:
        with open(path, "rb") as file:
            digest = hashlib.sha256(file.read()).hexdigest()
    return {"runtime": torch_runtime.text(torch), "cuda": bool(torch_runtime.cuda(torch)), "source_sha256": digest}
