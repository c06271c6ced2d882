// SPDX-License-Identifier: Apache-2.0
// Writes all rows of a dataset, as the loader delivers them, to standard output, and the loader's notes to standard
// error: read_training_file FILE DATASET. Exit code 2 with one line where the loader refuses.
#include <cstdio>
#include <memory>

#include "loader/loader.hpp"

namespace {

using namespace ridgeline;

base::Result<void> copy_rows(const char* path, const char* dataset) {
  loader::LoaderOptions options;
  options.datasets = {dataset};
  options.batch_size = 7;
  options.workers = 2;
  options.sampler.order = loader::SampleOrder::sequential;
  RL_TRY_ASSIGN(auto loader, loader::Loader::open(path, options, std::make_shared<loader::HostAllocator>()));
  for (const auto& note : loader->notes()) std::fprintf(stderr, "%s\n", note.c_str());
  RL_TRY(loader->start_epoch(0));
  for (;;) {
    RL_TRY_ASSIGN(const auto batch, loader->next());
    if (!batch) return {};
    const auto data = batch->data(0);
    std::fwrite(data.data(), 1, data.size(), stdout);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 70;
  const auto done = copy_rows(arguments[1], arguments[2]);
  if (done) return 0;
  std::fprintf(stderr, "%s\n", base::error_line(done.error()).c_str());
  return 2;
}
