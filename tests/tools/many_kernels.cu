// SPDX-License-Identifier: Apache-2.0
// Launches empty kernels, for scripts/profile_gpu.sh --part many:   many_kernels COUNT
// Prints the seconds that took, and the most memory that the process had, in MiB.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/resource.h>

__global__ void empty() {}

int main(int count, char** arguments) {
  const long most = count > 1 ? std::atol(arguments[1]) : 1;
  empty<<<1, 32>>>();
  cudaDeviceSynchronize();
  const auto begun = std::chrono::steady_clock::now();
  for (long i = 1; i < most; ++i) empty<<<1, 32>>>();
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begun;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%.4f %ld\n", passed.count(), usage.ru_maxrss / 1024);
  return 0;
}
