// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/file_memo.hpp"

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/file.hpp"
#include "base/hash.hpp"

namespace ridgeline::workload {

base::Result<std::string> FileMemo::get(const std::filesystem::path& file, std::string_view what,
                                        const Compute& compute) const {
  struct stat about {};
  if (folder_.empty() || ::stat(file.c_str(), &about) != 0) return compute();
  const auto key = base::sha256_hex(fmt::format("{}\n{}\n{} {} {} {}.{:09} {}.{:09}", what, file.string(), about.st_dev,
                                                about.st_ino, about.st_size, about.st_mtim.tv_sec,
                                                about.st_mtim.tv_nsec, about.st_ctim.tv_sec, about.st_ctim.tv_nsec));
  const auto entry = folder_ / key;
  if (auto known = base::read_file(entry)) return known;
  RL_TRY_ASSIGN(auto answer, compute());
  std::error_code ignored;
  std::filesystem::create_directories(folder_, ignored);
  (void)base::write_file_atomically(entry, answer);
  return answer;
}

}  // namespace ridgeline::workload
