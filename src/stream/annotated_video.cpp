// SPDX-License-Identifier: Apache-2.0
#include "stream/annotated_video.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <future>
#include <utility>

namespace ridgeline::stream {
namespace {

constexpr std::size_t kMostWaiting = 8;  // pictures may be large
constexpr int kVideoNiceness = 5;        // a third of a usual thread's share

int even(int side) { return side + side % 2; }

}  // namespace

base::Result<std::unique_ptr<AnnotatedVideo>> AnnotatedVideo::create(Options options) {
  std::unique_ptr<AnnotatedVideo> out(new AnnotatedVideo(std::move(options)));
  std::promise<base::Result<void>> opened;
  auto answer = opened.get_future();
  out->thread_ = std::thread([self = out.get(), promise = std::move(opened)]() mutable {
    // The encoder's own threads inherit it.
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kVideoNiceness);
    auto writer = self->open();
    if (!writer) return promise.set_value(tl::unexpected(std::move(writer).error()));
    self->writer_ = std::move(*writer);
    promise.set_value({});
    self->work();
  });
  RL_TRY(answer.get());
  return out;
}

AnnotatedVideo::AnnotatedVideo(Options options)
    : options_(std::move(options)), picture_(even(options_.width), even(options_.height)) {}

AnnotatedVideo::~AnnotatedVideo() { finish(); }

base::Result<std::unique_ptr<VideoWriter>> AnnotatedVideo::open() const {
  return VideoWriter::create(options_.path,
                             {even(options_.width), even(options_.height), options_.fps, options_.threads});
}

void AnnotatedVideo::add(Picture picture) {
  std::unique_lock lock(mutex_);
  if (options_.may_wait) room_.wait(lock, [&] { return waiting_.size() < kMostWaiting || totals_.error || over_; });
  if (totals_.error || over_) return;
  if (picture.image == nullptr || waiting_.size() >= kMostWaiting) {
    ++totals_.left_out;
    return;
  }
  waiting_.push_back(std::move(picture));
  wake_.notify_one();
}

const AnnotatedVideo::Totals& AnnotatedVideo::finish() {
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
  }
  wake_.notify_all();
  room_.notify_all();
  if (thread_.joinable()) thread_.join();
  return totals_;
}

void AnnotatedVideo::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return !waiting_.empty() || over_ || totals_.error; });
    if (totals_.error) break;
    if (waiting_.empty()) break;
    const auto picture = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    room_.notify_all();
    write(picture);
    lock.lock();
  }
  const bool is_whole = !totals_.error;
  lock.unlock();
  if (is_whole) end_file();
  writer_.reset();
}

void AnnotatedVideo::write(const Picture& picture) {
  const auto place = picture_.take(*picture.image);
  Canvas canvas(picture_.image());
  if (picture.gap.empty())
    draw_result(canvas, picture.result, place);
  else
    draw_gap(canvas, picture.gap);
  if (auto written = writer_->write(picture_.image(), picture.pts_ns); !written) return fail(written.error());
  const std::lock_guard lock(mutex_);
  ++totals_.written;
}

void AnnotatedVideo::end_file() {
  auto finished = writer_->finish();
  if (totals_.written == 0)
    ::unlink(options_.path.c_str());
  else if (!finished)
    fail(finished.error());
}

void AnnotatedVideo::fail(const base::Error& error) {
  {
    const std::lock_guard lock(mutex_);
    totals_.error = error;
    waiting_.clear();
  }
  room_.notify_all();
  if (options_.on_error) options_.on_error(error);
}

}  // namespace ridgeline::stream
