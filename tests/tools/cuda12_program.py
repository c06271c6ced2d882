# SPDX-License-Identifier: Apache-2.0
"""A program of CUDA 12 on a machine of any CUDA, for scripts/profile_gpu.sh --part cuda12: opens libcudart.so.12 of pip's packages, sets
memory with it, and launches a kernel three times.

    cuda12_program.py SITE      SITE: a folder with nvidia/cuda_runtime of nvidia-cuda-runtime-cu12"""
import ctypes
import os
import sys

PTX = b""".version 7.0
.target sm_70
.address_size 64
.visible .entry smoke(.param .u64 place)
{
  ret;
}
"""


def check(code, what):
    if code != 0:
        sys.exit("%s: error %d" % (what, code))


def main():
    runtime = ctypes.CDLL(os.path.join(sys.argv[1], "nvidia", "cuda_runtime", "lib", "libcudart.so.12"))
    place = ctypes.c_void_p()
    check(runtime.cudaMalloc(ctypes.byref(place), ctypes.c_size_t(1 << 20)), "cudaMalloc")
    check(runtime.cudaMemset(place, 0, ctypes.c_size_t(1 << 20)), "cudaMemset")
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(driver.cuModuleLoadData(ctypes.byref(module), PTX), "cuModuleLoadData")
    check(driver.cuModuleGetFunction(ctypes.byref(function), module, b"smoke"), "cuModuleGetFunction")
    arguments = (ctypes.c_void_p * 1)(ctypes.cast(ctypes.pointer(place), ctypes.c_void_p))
    for _ in range(3):
        check(driver.cuLaunchKernel(function, 4, 1, 1, 32, 1, 1, 0, None, arguments, None), "cuLaunchKernel")
    check(runtime.cudaDeviceSynchronize(), "cudaDeviceSynchronize")
    print("done")


if __name__ == "__main__":
    main()
