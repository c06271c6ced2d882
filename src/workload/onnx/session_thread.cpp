// SPDX-License-Identifier: Apache-2.0
#include "workload/onnx/session_thread.hpp"

namespace ridgeline::workload {

SessionThread::SessionThread() : thread_([this] { serve(); }) {}

SessionThread::~SessionThread() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

base::Result<void> SessionThread::run(const std::function<base::Result<void>()>& job) {
  Job own{job};
  std::unique_lock lock(mutex_);
  waiting_.push_back(&own);
  wake_.notify_one();
  own.done.wait(lock, [&] { return own.is_done; });
  return std::move(own.result);
}

void SessionThread::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return closing_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    auto& job = *waiting_.front();
    waiting_.pop_front();
    lock.unlock();
    auto result = job.work();
    lock.lock();
    job.result = std::move(result);
    job.is_done = true;
    job.done.notify_one();  // under the lock: the job is gone once its owner sees it
  }
}

}  // namespace ridgeline::workload
