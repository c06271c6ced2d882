// SPDX-License-Identifier: Apache-2.0
#include "subscription.hpp"

#include <algorithm>

namespace ridgeline::inject::RL_CUPTI {

void CUPTIAPI Subscription::called(void* self, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  if (data == nullptr) return;
  for (auto& client : static_cast<Subscription*>(self)->clients_)
    if (auto* one = client.load(std::memory_order_acquire); one != nullptr) one->called(domain, id, data);
}

bool Subscription::has(const SubscriberClient& client) const {
  return std::any_of(clients_.begin(), clients_.end(), [&](const auto& one) { return one.load() == &client; });
}

bool Subscription::add(SubscriberClient& client) {
  const std::lock_guard lock(mutex_);
  if (has(client)) return true;
  const auto& f = cupti_.functions();
  if (f.subscribe == nullptr || f.unsubscribe == nullptr || f.enable_callback == nullptr) return false;
  const auto free = std::find_if(clients_.begin(), clients_.end(), [](const auto& one) { return one == nullptr; });
  if (free == clients_.end()) return false;
  if (handle_ == nullptr && f.subscribe(&handle_, called, this) != CUPTI_SUCCESS) {
    handle_ = nullptr;
    return false;
  }
  *free = &client;
  return true;
}

void Subscription::remove(SubscriberClient& client) {
  const std::lock_guard lock(mutex_);
  for (auto& one : clients_)
    if (one.load() == &client) one = nullptr;
  if (handle_ == nullptr ||
      std::any_of(clients_.begin(), clients_.end(), [](const auto& one) { return one != nullptr; }))
    return;
  (void)cupti_.functions().unsubscribe(handle_);
  handle_ = nullptr;
}

void Subscription::enable(CUpti_CallbackDomain domain, CUpti_CallbackId id, bool on) {
  const std::lock_guard lock(mutex_);
  if (handle_ != nullptr) (void)cupti_.functions().enable_callback(on ? 1 : 0, handle_, domain, id);
}

}  // namespace ridgeline::inject::RL_CUPTI
