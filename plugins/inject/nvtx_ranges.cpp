// SPDX-License-Identifier: Apache-2.0
#include "nvtx_ranges.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include <nvtx3/nvToolsExt.h>

#include "now.hpp"
#include "recorder.hpp"

namespace ridgeline::inject {
namespace {

/// Registered strings and domains are handles of ours, which live as long as the process.
struct Handle {
  explicit Handle(std::string called) : text(std::move(called)) {}
  /// Of its text; looked up once, and again in a child.
  [[nodiscard]] std::uint32_t name_in(RangeNames& names) {
    if (of.load(std::memory_order_acquire) == &names) return name;
    const auto number = names.number(text);
    name = number;
    of.store(&names, std::memory_order_release);
    return number;
  }

  const std::string text;
  std::atomic<std::uint32_t> name = 0;
  std::atomic<const RangeNames*> of = nullptr;
};

/// Ranges that may begin and end on different threads.
class StartedRanges {
 public:
  nvtxRangeId_t begin(std::uint32_t name) {
    const std::lock_guard lock(mutex_);
    open_[++last_] = {now_ns(), 0, name, trace::RangeKind::annotation};
    return last_;
  }
  void end(nvtxRangeId_t id, Recorder& recorder) {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(id);
    if (found == open_.end()) return;
    found->second.end_ns = now_ns();
    if (recorder.is_on()) recorder.ranges().add(found->second);
    open_.erase(found);
  }

 private:
  std::mutex mutex_;
  nvtxRangeId_t last_ = 0;
  std::unordered_map<nvtxRangeId_t, ThreadRanges::Ended> open_;
};
StartedRanges& started() {
  static auto* all = new StartedRanges;
  return *all;
}

std::string narrow(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != 0; ++text) {
    const auto point = static_cast<std::uint32_t>(*text);
    if (point < 0x80) {
      out += static_cast<char>(point);
    } else if (point < 0x800) {
      out += static_cast<char>(0xC0U | point >> 6U);
      out += static_cast<char>(0x80U | (point & 0x3FU));
    } else if (point < 0x10000) {
      out += static_cast<char>(0xE0U | point >> 12U);
      out += static_cast<char>(0x80U | (point >> 6U & 0x3FU));
      out += static_cast<char>(0x80U | (point & 0x3FU));
    } else {
      out += static_cast<char>(0xF0U | (point >> 18U & 0x07U));
      out += static_cast<char>(0x80U | (point >> 12U & 0x3FU));
      out += static_cast<char>(0x80U | (point >> 6U & 0x3FU));
      out += static_cast<char>(0x80U | (point & 0x3FU));
    }
  }
  return out;
}

std::uint32_t name_of(Recorder& recorder, const nvtxEventAttributes_t* attributes) {
  if (attributes == nullptr) return 0;
  switch (attributes->messageType) {
    case NVTX_MESSAGE_TYPE_ASCII:
      return attributes->message.ascii != nullptr ? recorder.names().number(attributes->message.ascii) : 0;
    case NVTX_MESSAGE_TYPE_UNICODE: return recorder.names().number(narrow(attributes->message.unicode));
    case NVTX_MESSAGE_TYPE_REGISTERED:
      return attributes->message.registered != nullptr
                 ? reinterpret_cast<Handle*>(attributes->message.registered)->name_in(recorder.names())
                 : 0;
    default: return 0;
  }
}

int pushed(std::uint32_t name, const void* domain) {
  auto* recorder = Recorder::of_process();
  if (recorder == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  recorder->push(name, trace::RangeKind::annotation, domain);
  return static_cast<int>(recorder->ranges().depth()) - 1;
}
int popped(const void* domain) {
  auto* recorder = Recorder::of_process();
  if (recorder == nullptr) return NVTX_NO_PUSH_POP_TRACKING;
  recorder->pop(domain);
  return static_cast<int>(recorder->ranges().depth());
}
template <typename Named>
nvtxRangeId_t begun(Named named) {
  auto* recorder = Recorder::of_process();
  return recorder != nullptr ? started().begin(named(*recorder)) : 0;
}
void ended(nvtxRangeId_t id) {
  if (auto* recorder = Recorder::of_process(); recorder != nullptr) started().end(id, *recorder);
}
std::uint32_t number(const char* text) {
  auto* recorder = Recorder::of_process();
  return recorder != nullptr && text != nullptr ? recorder->names().number(text) : 0;
}
std::string text_of(const char* text) { return text != nullptr ? text : ""; }
std::uint32_t number(const nvtxEventAttributes_t* attributes) {
  auto* recorder = Recorder::of_process();
  return recorder != nullptr ? name_of(*recorder, attributes) : 0;
}

// What NVTX calls, by its own names.
int NVTX_API push_ex(const nvtxEventAttributes_t* event) { return pushed(number(event), nullptr); }
int NVTX_API push_a(const char* text) { return pushed(number(text), nullptr); }
int NVTX_API push_w(const wchar_t* text) { return pushed(number(narrow(text).c_str()), nullptr); }
int NVTX_API pop() { return popped(nullptr); }
nvtxRangeId_t NVTX_API start_ex(const nvtxEventAttributes_t* event) {
  return begun([event](Recorder& recorder) { return name_of(recorder, event); });
}
nvtxRangeId_t NVTX_API start_a(const char* text) {
  return begun([text](Recorder&) { return number(text); });
}
nvtxRangeId_t NVTX_API start_w(const wchar_t* text) {
  return begun([text](Recorder&) { return number(narrow(text).c_str()); });
}
void NVTX_API end(nvtxRangeId_t id) { ended(id); }

int NVTX_API domain_push_ex(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return pushed(number(event), domain);
}
int NVTX_API domain_pop(nvtxDomainHandle_t domain) { return popped(domain); }
nvtxRangeId_t NVTX_API domain_start_ex(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  return start_ex(event);
}
void NVTX_API domain_end(nvtxDomainHandle_t, nvtxRangeId_t id) { ended(id); }
nvtxStringHandle_t NVTX_API register_a(nvtxDomainHandle_t, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new Handle(text_of(text)));
}
nvtxStringHandle_t NVTX_API register_w(nvtxDomainHandle_t, const wchar_t* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new Handle(narrow(text)));
}
nvtxDomainHandle_t NVTX_API create_a(const char* text) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Handle(text_of(text)));
}
nvtxDomainHandle_t NVTX_API create_w(const wchar_t* text) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Handle(narrow(text)));
}

template <typename Function>
void set(NvtxFunctionTable table, unsigned int size, unsigned int id, Function function) {
  if (id < size && table[id] != nullptr) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

bool take_nvtx(void* get_table) {
  const auto get = reinterpret_cast<NvtxGetExportTableFunc_t>(get_table);
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks)) return false;
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) != 0 && table != nullptr) {
    set(table, size, NVTX_CBID_CORE_RangePushEx, push_ex);
    set(table, size, NVTX_CBID_CORE_RangePushA, push_a);
    set(table, size, NVTX_CBID_CORE_RangePushW, push_w);
    set(table, size, NVTX_CBID_CORE_RangePop, pop);
    set(table, size, NVTX_CBID_CORE_RangeStartEx, start_ex);
    set(table, size, NVTX_CBID_CORE_RangeStartA, start_a);
    set(table, size, NVTX_CBID_CORE_RangeStartW, start_w);
    set(table, size, NVTX_CBID_CORE_RangeEnd, end);
  }
  if (callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) != 0 && table != nullptr) {
    set(table, size, NVTX_CBID_CORE2_DomainRangePushEx, domain_push_ex);
    set(table, size, NVTX_CBID_CORE2_DomainRangePop, domain_pop);
    set(table, size, NVTX_CBID_CORE2_DomainRangeStartEx, domain_start_ex);
    set(table, size, NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
    set(table, size, NVTX_CBID_CORE2_DomainRegisterStringA, register_a);
    set(table, size, NVTX_CBID_CORE2_DomainRegisterStringW, register_w);
    set(table, size, NVTX_CBID_CORE2_DomainCreateA, create_a);
    set(table, size, NVTX_CBID_CORE2_DomainCreateW, create_w);
  }
  return true;
}

}  // namespace ridgeline::inject
