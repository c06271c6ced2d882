// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <mutex>

#include <cuda_runtime_api.h>
#include <cupti.h>

#include "cupti_library.hpp"

namespace ridgeline::inject::RL_CUPTI {

/// Wants callbacks of CUPTI, on threads of the program. Each gets those of all clients.
class SubscriberClient {
 public:
  virtual ~SubscriberClient() = default;
  virtual void called(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) = 0;
};

/// CUPTI has one subscriber per process, which clients share. It is taken for as long as there are any, because a
/// profiler in the program may want to be it.
class Subscription {
 public:
  explicit Subscription(const CuptiLibrary& cupti) : cupti_(cupti) {}

  /// Whether callbacks will come. false: another profiler is the subscriber, or CUPTI is too old.
  [[nodiscard]] bool add(SubscriberClient& client);
  void remove(SubscriberClient& client);
  [[nodiscard]] bool has(const SubscriberClient& client) const;
  void enable(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool on);

 private:
  static void CUPTIAPI called(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data);

  const CuptiLibrary& cupti_;
  std::mutex mutex_;  ///< of adding and removing; callbacks do not take it
  CUpti_SubscriberHandle handle_ = nullptr;
  std::array<std::atomic<SubscriberClient*>, 2> clients_{};
};

}  // namespace ridgeline::inject::RL_CUPTI
