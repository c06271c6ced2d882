// SPDX-License-Identifier: Apache-2.0
// Outputs on disk: magic, version, length of the payload, payload, SHA-256 of the payload in hexadecimal. Numbers are
// little endian, which every host of ONNX Runtime is.
#include <cstring>

#include "base/file.hpp"
#include "base/hash.hpp"
#include "workload/workload.hpp"

namespace ridgeline::workload {
namespace {

using base::ErrorCode;

constexpr std::string_view kMagic = "RLOUTPUT";
constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kHashSize = 64;

class OutputWriter {
 public:
  void number(std::uint64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
  }
  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }
  void numbers(const std::vector<double>& values) {
    number(values.size() * sizeof(double));
    if (!values.empty()) bytes_.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

/// Reads past the end give zeros and clear ok().
class OutputReader {
 public:
  explicit OutputReader(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] std::uint64_t number() {
    std::uint64_t value = 0;
    const auto bytes = take(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  [[nodiscard]] std::string_view text() { return take(number()); }
  [[nodiscard]] std::string_view take(std::uint64_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const auto taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  [[nodiscard]] std::vector<double> numbers() {
    const auto bytes = text();
    std::vector<double> values(bytes.size() / sizeof(double));
    if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(double));
    return values;
  }
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool at_end() const noexcept { return rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

base::Result<void> save_outputs(const OutputSet& outputs, const std::filesystem::path& path) {
  OutputWriter payload;
  payload.number(outputs.size());
  for (const auto& tensor : outputs) {
    payload.text(tensor.name);
    payload.text(tensor.element_type);
    payload.number(tensor.dims.size());
    for (const auto dim : tensor.dims) payload.number(static_cast<std::uint64_t>(dim));
    payload.text(tensor.bytes);
    payload.number(tensor.spread ? 1 : 0);
    if (!tensor.spread) continue;
    payload.numbers(tensor.spread->centre);
    payload.numbers(tensor.spread->calls);
  }
  OutputWriter file;
  file.number(kVersion);
  file.text(payload.bytes());
  return base::write_file_atomically(path, std::string(kMagic) + file.bytes() + base::sha256_hex(payload.bytes()));
}

base::Result<OutputSet> load_outputs(const std::filesystem::path& path) {
  RL_TRY_ASSIGN(const auto bytes, base::read_file(path));
  const auto corrupt = [&](std::string_view what) {
    return base::fail(ErrorCode::corrupt, "{}: {}", path.string(), what).hint("remove it and run again");
  };
  OutputReader file(bytes);
  if (file.take(kMagic.size()) != kMagic) return corrupt("is not a file of reference outputs");
  if (const auto version = file.number(); version != kVersion)
    return corrupt(fmt::format("has format version {}, expected {}", version, kVersion));
  const auto payload = file.text();
  const auto hash = file.take(kHashSize);
  if (!file.ok() || !file.at_end()) return corrupt("is cut off or has bytes after its end");
  if (base::sha256_hex(payload) != hash) return corrupt("does not match its checksum");

  OutputReader reader(payload);
  OutputSet outputs;
  const auto count = reader.number();
  for (std::uint64_t index = 0; index < count && reader.ok(); ++index) {
    NamedTensor tensor;
    tensor.name = reader.text();
    tensor.element_type = reader.text();
    const auto rank = reader.number();
    for (std::uint64_t axis = 0; axis < rank && reader.ok(); ++axis)
      tensor.dims.push_back(static_cast<std::int64_t>(reader.number()));
    tensor.bytes = reader.text();
    if (reader.number() != 0) tensor.spread = OutputSpread{reader.numbers(), reader.numbers()};
    outputs.push_back(std::move(tensor));
  }
  if (!reader.ok() || !reader.at_end()) return corrupt("has a broken payload");
  return outputs;
}

}  // namespace ridgeline::workload
