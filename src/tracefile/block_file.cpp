// SPDX-License-Identifier: Apache-2.0
#include "tracefile/block_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file.hpp"

namespace ridgeline::trace {

using base::Result;

std::string_view cut_text(std::string_view text) {
  if (text.size() <= kEnoughBytes) return text;
  auto size = kEnoughBytes;
  while (size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0U) == 0x80U) --size;
  return text.substr(0, size);
}

void put_item(std::string& out, const GpuLane& lane) {
  for (const auto value : {lane.process, std::int64_t{lane.device}, lane.context, lane.stream})
    put_varint(out, zigzag(value));
}

void put_item(std::string& out, const ThreadLane& lane) {
  put_varint(out, zigzag(lane.process));
  put_varint(out, zigzag(lane.thread));
}

void put_item(std::string& out, const Device& device) {
  put_varint(out, zigzag(device.id));
  put_text(out, cut_text(device.name));
  put_varint(out, zigzag(device.multiprocessors));
  put_text(out, cut_text(device.compute_capability));
}

void put_item(std::string& out, const GraphNode& node) {
  put_varint(out, zigzag(node.process));
  put_varint(out, node.node);
  put_varint(out, node.path);
}

void put_item(std::string& out, const GpuSample& sample) {
  for (const auto value :
       {sample.time_ns, std::int64_t{sample.device}, std::int64_t{sample.sm_mhz}, std::int64_t{sample.memory_mhz},
        std::int64_t{sample.power_mw}, std::int64_t{sample.temperature_c}, sample.reasons})
    put_varint(out, zigzag(value));
}

Result<BlockFile> BlockFile::create(const std::string& path) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return base::os_failure("write", path, errno);
  BlockFile file(fd, path);
  std::string header(kTraceMagic);
  put_u32(header, kTraceVersion);
  RL_TRY(file.write(header));
  return file;
}

BlockFile::BlockFile(BlockFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      path_(std::move(other.path_)),
      events_(other.events_),
      bytes_(other.bytes_),
      plain_(std::move(other.plain_)) {}

BlockFile::~BlockFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<void> BlockFile::write(std::string_view bytes) {
  bytes_ += bytes.size();
  while (!bytes.empty()) {
    const auto count = ::write(fd_, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return base::os_failure("write", path_, errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return {};
}

Result<void> BlockFile::finish() {
  plain_.clear();
  put_varint(plain_, events_);
  RL_TRY(write(make_block(BlockKind::end, plain_)));
  // Network file systems tell only now what they could not write.
  if (::close(std::exchange(fd_, -1)) != 0) return base::os_failure("write", path_, errno);
  return {};
}

}  // namespace ridgeline::trace
