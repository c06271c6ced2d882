# SPDX-License-Identifier: Apache-2.0
"""Where this interpreter has what says which line a thread runs, for the recording library (plugins/inject/python_layout.hpp), which
reads it as CUDA is called, also while the thread has given up Python's lock. Nothing is written, and no function of the program is
called or changed. What is not as expected leaves the lines out: each field is either found by values that are known, or compared with
what Python itself says of the running frames."""
import collections
import ctypes
import struct
import sys
import sysconfig

FIELDS = ("thread_state", "line_of_code", "code_type", "thread_frame", "holder_frame", "frame_code", "frame_previous",
          "frame_instruction", "instruction_unit", "code_first", "code_file", "code_name", "code_first_line", "code_lines", "text_length",
          "text_state", "text_is_ascii", "text_first", "bytes_first")
Layout = collections.namedtuple("Layout", FIELDS)

# thread_frame, holder_frame, frame_code, frame_previous, frame_instruction, instruction_unit: what may be, by release of CPython
_FRAMES = {
    (3, 8): [(24, -1, 32, 24, 104, 1)],
    (3, 9): [(24, -1, 32, 24, 104, 1)],
    (3, 10): [(24, -1, 32, 24, 96, 2)],
    (3, 11): [(56, 8, 32, 48, 56, 0)],
    (3, 12): [(56, 0, 0, 8, 56, 0)],
    (3, 13): [(72, -1, 0, 8, 56, 0)],
    (3, 14): [(64, -1, 0, 8, 56, 0), (72, -1, 0, 8, 56, 0)],
}
_TEXT_LENGTH, _TEXT_STATE = 16, 32
_TAGS = 7
_FIRST_LINE = 70921  # as no other field has it
_CHECKED = 20  # frames
_MOST_FRAMES = 2000


class Unknown(Exception):
    """This interpreter's layout is another one."""


class _Memory:
    """Reads that fail where there is nothing, in place of ending the program."""

    def __enter__(self):
        self._file = open("/proc/self/mem", "rb", buffering=0)
        return self

    def __exit__(self, *error):
        self._file.close()

    def read(self, address, size):
        self._file.seek(address)
        data = self._file.read(size)
        if len(data) != size:
            raise Unknown
        return data

    def word(self, address):
        return struct.unpack("<Q", self.read(address, 8))[0]


class _Probe:
    def probe(self, one, *two):
        return one, two


def _code_fields(memory):
    """Offsets in a code object, by the values that it has there."""
    code = _Probe.probe.__code__.replace(co_firstlineno=_FIRST_LINE)
    data = memory.read(id(code), type(code).__basicsize__)

    def offset(value):
        place = data.find(value)
        if place < 0:
            raise Unknown
        return place

    lines = code.co_linetable if hasattr(code, "co_linetable") else code.co_lnotab
    return dict(code_first=type(code).__basicsize__, code_file=offset(struct.pack("<Q", id(code.co_filename))),
                code_name=offset(struct.pack("<Q", id(code.co_name))), code_first_line=offset(struct.pack("<i", _FIRST_LINE)),
                code_lines=offset(struct.pack("<Q", id(lines))))


def _text_fields(memory):
    is_ascii = 1 << (20 if sys.version_info >= (3, 14) else 6)
    ascii_text = "".join(("ab", "cd", "ef"))
    for text, expected in ((ascii_text, is_ascii), (find.__name__, is_ascii), ("".join(("ab", "\xe9")), 0), ("".join(("ab", "\u20ac")), 0)):
        if struct.unpack("<I", memory.read(id(text) + _TEXT_STATE, 4))[0] & is_ascii != expected:
            raise Unknown
    first, bytes_first = sys.getsizeof("") - 1, bytes.__basicsize__ - 1
    data = memory.read(id(ascii_text), first + 7)
    some = bytes((1, 2, 3))
    if (struct.unpack_from("<q", data, _TEXT_LENGTH)[0] != 6 or data[first:] != b"abcdef\0" or
            memory.read(id(some), bytes_first + 3)[bytes_first:] != some or memory.word(id(some) + _TEXT_LENGTH) != 3):
        raise Unknown
    return dict(text_length=_TEXT_LENGTH, text_state=_TEXT_STATE, text_is_ascii=is_ascii, text_first=first,
                bytes_first=bytes_first)


def _walk(memory, layout):
    """The calling thread's frames as the library reads them: address of the code, place in its instructions."""
    state = ctypes.pythonapi.PyGILState_GetThisThreadState
    state.restype = ctypes.c_void_p
    frame = memory.word(state() + layout.thread_frame)
    if layout.holder_frame >= 0:
        frame = memory.word(frame + layout.holder_frame)
    for _ in range(_MOST_FRAMES):
        if not frame:
            break
        code = memory.word(frame + layout.frame_code) & ~_TAGS
        if code and memory.word(code + 8) == layout.code_type:
            if layout.instruction_unit:
                place = struct.unpack("<i", memory.read(frame + layout.frame_instruction, 4))[0] * layout.instruction_unit
            else:
                place = memory.word(frame + layout.frame_instruction) - code - layout.code_first
            yield code, place
        frame = memory.word(frame + layout.frame_previous)


def _check(memory, layout):
    """The frames are those that Python has. It moves on within this function alone."""
    frame = sys._getframe().f_back
    seen = [*_walk(memory, layout)]
    checked = 0
    for code, place in seen[:_CHECKED]:
        if code in _OWN_CODES:
            continue
        checked += 1
        while frame is not None and id(frame.f_code) in _OWN_CODES:
            frame = frame.f_back
        if frame is None or id(frame.f_code) != code:
            # Python shows no frame for what calls it from C.
            if ctypes.cast(code, ctypes.py_object).value.co_name.startswith("<interpreter"):
                continue
            raise Unknown
        if frame.f_lasti != place:
            raise Unknown
        frame = frame.f_back
    if not checked:
        raise Unknown


_OWN_CODES = {id(function.__code__) for function in (_walk, _check, _Memory.read, _Memory.word)}


def _supported():
    return (sys.implementation.name == "cpython" and struct.calcsize("P") == 8 and sys.byteorder == "little" and
            not sysconfig.get_config_var("Py_GIL_DISABLED") and not hasattr(sys, "gettotalrefcount"))


def find():
    """The layout, checked; None where it is not known."""
    if not _supported():
        return None
    for frames in _FRAMES.get(sys.version_info[:2], ()):
        try:
            return _checked(frames)
        except (Unknown, OSError, ValueError, OverflowError, struct.error):
            pass
    return None


def _checked(frames):
    state, line_of_code = (ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value
                           for name in ("PyGILState_GetThisThreadState", "PyCode_Addr2Line"))
    with _Memory() as memory:
        layout = Layout(state, line_of_code, id(type(find.__code__)), *frames, **_code_fields(memory), **_text_fields(memory))
        _check(memory, layout)
        list(map(lambda _: _check(memory, layout), (0,)))  # called by C
    return layout
