# SPDX-License-Identifier: Apache-2.0
"""Calls of modules by the path of calls that leads to them, and their names. A module's name is the attribute path from the module that
calls it, its class, and the line of the program that calls it first: "nn.Module: layer1.0.conv1 (Conv2d) @ net.py(57): forward". The
outermost module has no line, as a range around it has."""
import weakref

from ridgeline_profile import library, lines

_PREFIX = "nn.Module: "
_COMPILED_CHILD = "_orig_mod"


def _is_compiled_wrapper(module):
    return type(module).__name__ == "OptimizedModule" and _COMPILED_CHILD in module._modules


def _class_name(module):
    if _is_compiled_wrapper(module):
        return type(module._modules[_COMPILED_CHILD]).__name__
    kind = type(module).__name__
    # TorchScript's modules have one class for all.
    return str(getattr(module, "original_name", kind)) if kind.endswith("ScriptModule") else kind


_alike = {}  # by class name: references to modules that are called from outside of all modules, by the numbers of their names


def _number_among_alike(module, name):
    """1 for the first module of a class name, 2 for a second one that lives at the same time: a generator and a discriminator may have one
    class. Replicas of DataParallel are the same module."""
    if getattr(module, "_is_replica", False):
        return 1
    alike = _alike.setdefault(name, [])
    free = None
    for at, reference in enumerate(alike):
        one = reference()
        if one is module:
            return at + 1
        if one is None and free is None:
            free = at
    if free is None:
        free = len(alike)
        alike.append(None)
    alike[free] = weakref.ref(module)
    return free + 1


class Call:
    """The calls of one module from one place in the tree of calls."""

    __slots__ = ("module", "above", "below", "name", "path", "is_model", "hook", "_paths")

    def __init__(self, module, above, relative, forget=None, line=None):
        self.module = weakref.ref(module, forget)  # no model lives longer for having been called
        self.above = above
        self.below = {}
        self.hook = None  # of backward.py
        self._paths = None
        self.is_model = above is None and next(module.parameters(), None) is not None
        is_compiled = _is_compiled_wrapper(module) or getattr(module, "_compiled_call_impl", None) is not None
        name = _class_name(module)
        if relative:
            name = "%s (%s)" % (relative, name)
        elif above is None and (number := _number_among_alike(module, name)) > 1:
            name = "%s (%d)" % (name, number)
        if is_compiled:
            name += " [compiled]"
        if line:
            name += " @ " + line
        # The module that a compiled one wraps is called by that alone: one range for both.
        is_same = above is not None and relative == _COMPILED_CHILD
        self.name = None if is_same else library.name(_PREFIX + name)
        outer = () if above is None else above.path
        self.path = outer if is_same else outer + (self.name,)

    def find(self, module, frame):
        """The call of a module from here. `frame` called it."""
        call = self.below.get(id(module))
        if call is None or call.module() is not module:
            call = self.below[id(module)] = Call(module, self, self._name_of(module), line=lines.of_caller(frame))
        return call

    def _name_of(self, module):
        at = self
        while at is not None:
            name = at._relative(module)
            if name:
                return name
            at = at.above
        return ""  # of no module on the way

    def _relative(self, module):
        own = self.module()
        if own is None:
            return None
        key = id(module)
        if self._paths is None or key not in self._paths:
            self._paths = {id(one): name for name, one in own.named_modules()}
        name = self._paths.get(key)
        if name is None or name == _COMPILED_CHILD:
            return name
        return ".".join(part for part in name.split(".") if part != _COMPILED_CHILD)


_roots = {}  # by id; an entry goes with its module


def outermost(module):
    """The call of a module from outside of all modules."""
    key = id(module)
    call = _roots.get(key)
    if call is None or call.module() is not module:
        call = _roots[key] = Call(module, None, "", lambda gone: _forget(key, gone))
    return call


def _forget(key, gone):
    call = _roots.get(key)
    if call is not None and call.module is gone:
        del _roots[key]


def again(call, module):
    """The call of a module that is computed again while the gradient of `call` is: of a checkpoint. None: of no module on the way."""
    while call is not None:
        if call.module() is module:
            return call
        below = call.below.get(id(module))
        if below is not None and below.module() is module:
            return below
        call = call.above
    return None


def forked():
    _roots.clear()
    _alike.clear()
