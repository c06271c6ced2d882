#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles a CUDA source to PTX with NVRTC, which needs no GPU, and writes it as a C++ function that returns the text.

  make_ptx.py LIBNVRTC SOURCE FUNCTION OUT [--arch compute_70] [--include NAME=FILE]...

FUNCTION is what the C++ file defines in ridgeline::gpu. LIBNVRTC "-": no compiler; the function then returns "".
"""
import argparse
import ctypes
import pathlib
import sys


def compile_ptx(library, source, name, headers, arch):
    nvrtc = ctypes.CDLL(library)
    nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p

    def check(status, program=None):
        if status == 0:
            return
        log = b""
        if program is not None:
            size = ctypes.c_size_t()
            nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value)
            nvrtc.nvrtcGetProgramLog(program, log)
            log = log.value
        sys.exit(f"{name}: {nvrtc.nvrtcGetErrorString(status).decode()}\n{log.decode()}")

    program = ctypes.c_void_p()
    texts = (ctypes.c_char_p * len(headers))(*[text.encode() for text in headers.values()])
    names = (ctypes.c_char_p * len(headers))(*[header.encode() for header in headers])
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), name.encode(), len(headers), texts, names))
    # Without fused multiplication and addition, so that values have the bits that the CPU gives.
    options = [f"--gpu-architecture={arch}".encode(), b"--std=c++17", b"--fmad=false"]
    check(nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*options)), program)
    size = ctypes.c_size_t()
    check(nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size)))
    ptx = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetPTX(program, ptx))
    return ptx.value.decode()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("function")
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--arch", default="compute_70")
    parser.add_argument("--include", action="append", default=[])
    given = parser.parse_args()
    ptx = ""
    if given.library != "-":
        headers = {}
        for one in given.include:
            name, _, file = one.partition("=")
            headers[name] = pathlib.Path(file).read_text()
        ptx = compile_ptx(given.library, given.source.read_text(), given.source.name, headers, given.arch)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(f"""// Made by scripts/{pathlib.Path(__file__).name}.
#include "gpu/preprocess_ptx.hpp"

namespace ridgeline::gpu {{
const char* {given.function}() noexcept {{
  return R"ptx({ptx})ptx";
}}
}}  // namespace ridgeline::gpu
""")


if __name__ == "__main__":
    main()
