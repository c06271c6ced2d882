// SPDX-License-Identifier: Apache-2.0
#include "trace/export/output_file.hpp"

#include <zlib.h>

#include <utility>

namespace ridgeline::trace {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kGzipLevel = 3;  // 6, zlib's own, takes twice as long for a sixth less
constexpr int kGzipFormat = 16 + MAX_WBITS;

}  // namespace

struct OutputFile::Gzip {
  z_stream stream{};
  std::string packed = std::string(kBufferBytes, '\0');
  ~Gzip() { ::deflateEnd(&stream); }
};

OutputFile::OutputFile(base::AtomicFile file, std::unique_ptr<Gzip> gzip)
    : file_(std::move(file)), gzip_(std::move(gzip)) {
  buffer_.reserve(2 * kBufferBytes);
}
OutputFile::~OutputFile() = default;
OutputFile::OutputFile(OutputFile&&) noexcept = default;

base::Result<OutputFile> OutputFile::create(const std::string& path) {
  auto file = base::AtomicFile::create(path);
  if (!file) {
    if (file.error().hint.empty()) file.error().hint = "name a file in a folder that is there and may be written";
    return tl::unexpected<base::Error>(std::move(file).error());
  }
  std::unique_ptr<Gzip> gzip;
  if (path.ends_with(".gz")) {
    gzip = std::make_unique<Gzip>();
    if (::deflateInit2(&gzip->stream, kGzipLevel, Z_DEFLATED, kGzipFormat, 8, Z_DEFAULT_STRATEGY) != Z_OK)
      return base::fail(base::ErrorCode::out_of_memory, "{}: no memory for gzip", path);
  }
  return OutputFile(std::move(*file), std::move(gzip));
}

void OutputFile::write(std::string_view bytes) {
  if (failed()) return;
  buffer_ += bytes;
  if (buffer_.size() >= kBufferBytes) flush(false);
}

void OutputFile::flush(bool last) {
  if (gzip_ == nullptr) {
    result_ = file_.write(buffer_);
    buffer_.clear();
    return;
  }
  auto& stream = gzip_->stream;
  auto& packed = gzip_->packed;
  stream.next_in = reinterpret_cast<Bytef*>(buffer_.data());
  stream.avail_in = static_cast<uInt>(buffer_.size());
  do {
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    ::deflate(&stream, last ? Z_FINISH : Z_NO_FLUSH);  // fails only where it is called wrongly
    result_ = file_.write(std::string_view(packed).substr(0, packed.size() - stream.avail_out));
  } while (!failed() && stream.avail_out == 0);
  buffer_.clear();
}

base::Result<void> OutputFile::finish() {
  if (!failed()) flush(true);
  if (!failed()) result_ = file_.commit();
  if (failed() && result_.error().hint.empty())
    result_.error().hint = "free some space there, or name a file elsewhere";
  return std::move(result_);
}

}  // namespace ridgeline::trace
