// SPDX-License-Identifier: Apache-2.0
// The opcodes are those of Python's pickletools: a machine with a stack, marks on it, and a memo of values by number.
#include "trace/import/pickle_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

namespace ridgeline::trace {
namespace {

using base::ErrorCode;
using base::Result;

constexpr std::size_t kMostTextBytes = 64 << 20;
constexpr std::size_t kMostLongBytes = 255;
constexpr std::size_t kMostMarks = 1000;
constexpr std::size_t kFreeBytes = 64 << 20;  // of memory, beside what grows with the file
constexpr std::size_t kStringBytes = 80;      // that a string takes beside its text
constexpr int kProto = 0x80;

struct Opcode {
  int code;
  std::string_view name;
};

/// What imports, calls, or refers to something outside of the file.
constexpr std::array<Opcode, 15> kForbidden{{{'c', "GLOBAL"},
                                             {0x93, "STACK_GLOBAL"},
                                             {'R', "REDUCE"},
                                             {'b', "BUILD"},
                                             {'i', "INST"},
                                             {'o', "OBJ"},
                                             {0x81, "NEWOBJ"},
                                             {0x92, "NEWOBJ_EX"},
                                             {0x82, "EXT1"},
                                             {0x83, "EXT2"},
                                             {0x84, "EXT4"},
                                             {'P', "PERSID"},
                                             {'Q', "BINPERSID"},
                                             {0x97, "NEXT_BUFFER"},
                                             {0x98, "READONLY_BUFFER"}}};

base::Fault broken(std::string_view what) { return base::fail(ErrorCode::corrupt, "{}", what); }
base::Fault cut_off() { return broken("the file is cut off"); }

std::int64_t sign_extended(std::uint64_t number, int bytes) {
  const int unused = 64 - 8 * bytes;
  return static_cast<std::int64_t>(number << unused) >> unused;
}

}  // namespace

Result<PickleValue> PickleReader::read(const std::string& path, const Take& take) {
  RL_TRY_ASSIGN(auto file, FileBytes::open(path));
  stack_.clear();
  marks_.clear();
  memo_.clear();
  const auto at = [&](base::Error error) {
    return tl::unexpected(std::move(error).in(fmt::format("{}: byte {}", path, file.offset())));
  };
  for (;;) {
    const auto opcode = file.next();
    const auto goes_on = step(file, opcode, take);
    if (!goes_on) return at(goes_on.error());
    if (!*goes_on) break;
    if (bytes() > kFreeBytes + 2 * file.offset())
      return at({ErrorCode::unsupported, "values that need more memory than twice the file", ""});
  }
  return stack_.back();
}

std::size_t PickleReader::bytes() const noexcept {
  return (stack_.size() + memo_.size()) * sizeof(PickleValue) + nodes.bytes() + text_bytes_;
}

Result<void> PickleReader::need(std::size_t values) const {
  if (stack_.size() < values + (marks_.empty() ? 0 : marks_.back()))
    return broken("no pickle: an opcode without its values");
  return {};
}

Result<std::uint64_t> PickleReader::read_number(FileBytes& bytes, int count) {
  std::array<unsigned char, 8> raw{};
  if (!bytes.read(raw.data(), static_cast<std::size_t>(count))) return cut_off();
  std::uint64_t number = 0;
  for (int i = count; i-- > 0;) number = number << 8 | raw[static_cast<std::size_t>(i)];
  return number;
}

Result<void> PickleReader::read_text(FileBytes& bytes, int length_bytes) {
  RL_TRY_ASSIGN(const auto length, read_number(bytes, length_bytes));
  if (length > kMostTextBytes) return base::fail(ErrorCode::unsupported, "a text of {} bytes", length);
  if (!bytes.read(text_, length)) return cut_off();
  const auto before = strings.size();
  push(PickleKind::text, strings.id(text_));
  if (strings.size() > before) text_bytes_ += text_.size() + kStringBytes;
  return {};
}

Result<void> PickleReader::read_long(FileBytes& bytes, int length_bytes) {
  RL_TRY_ASSIGN(const auto length, read_number(bytes, length_bytes));
  if (length > kMostLongBytes) return base::fail(ErrorCode::unsupported, "a number of {} bytes", length);
  if (!bytes.read(text_, length)) return cut_off();
  std::uint64_t number = 0;
  double real = 0;
  for (auto i = text_.size(); i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(text_[i]);
    real = real * 256 + static_cast<unsigned char>(text_[i]);
  }
  if (text_.size() <= 8) {
    push(PickleKind::integer, text_.empty() ? 0 : sign_extended(number, static_cast<int>(text_.size())));
    return {};
  }
  if (static_cast<unsigned char>(text_.back()) >= 0x80) real -= std::pow(256.0, static_cast<double>(text_.size()));
  push(PickleKind::number, std::bit_cast<std::int64_t>(real));
  return {};
}

Result<void> PickleReader::put(std::uint64_t at) {
  RL_TRY(need(1));
  // Numbers may have gaps; what those cost is checked as all memory is, so that none is taken before.
  if (at >= memo_.size() + (kFreeBytes / sizeof(PickleValue) / 2)) return broken("no pickle: a memo out of order");
  if (at >= memo_.size()) memo_.resize(at + 1);
  memo_[at] = stack_.back();
  return {};
}

Result<void> PickleReader::get(std::uint64_t at) {
  if (at >= memo_.size()) return broken("no pickle: a value that was not there before");
  stack_.push_back(memo_[at]);
  return {};
}

Result<void> PickleReader::make_tuple(std::size_t count) {
  RL_TRY(need(count));
  const auto tuple = nodes.make(PickleKind::list);
  const auto first = stack_.size() - count;
  for (auto i = first; i < stack_.size(); ++i) nodes.append(tuple, stack_[i]);
  stack_.resize(first);
  stack_.push_back(tuple);
  return {};
}

Result<std::size_t> PickleReader::pop_mark() {
  if (marks_.empty()) return broken("no pickle: a mark is missing");
  const auto first = marks_.back();
  marks_.pop_back();
  return first;
}

Result<void> PickleReader::append_from(std::size_t first, const Take& take) {
  const auto below = marks_.empty() ? 0 : marks_.back();
  if (first <= below || stack_[first - 1].kind != PickleKind::list) return broken("no pickle: items without a list");
  const auto list = stack_[first - 1];
  for (auto i = first; i < stack_.size(); ++i)
    if (!take(list, stack_[i])) nodes.append(list, stack_[i]);
  stack_.resize(first);
  return {};
}

Result<void> PickleReader::set_from(std::size_t first) {
  const auto below = marks_.empty() ? 0 : marks_.back();
  if (first <= below || stack_[first - 1].kind != PickleKind::dictionary || (stack_.size() - first) % 2 != 0)
    return broken("no pickle: keys and values without a dictionary");
  for (auto i = first; i < stack_.size(); ++i) nodes.append(stack_[first - 1], stack_[i]);
  stack_.resize(first);
  return {};
}

Result<bool> PickleReader::step(FileBytes& bytes, int opcode, const Take& take) {
  const auto integer = [&](int count, bool is_signed) -> Result<void> {
    RL_TRY_ASSIGN(const auto number, read_number(bytes, count));
    push(PickleKind::integer, is_signed ? sign_extended(number, count) : static_cast<std::int64_t>(number));
    return {};
  };
  switch (opcode) {
    case kProto: {
      const auto protocol = bytes.next();
      if (protocol < 0) return cut_off();
      if (protocol < 2 || protocol > 5)
        return base::fail(ErrorCode::unsupported, "a pickle of protocol {}; expected 2 to 5", protocol);
      return true;
    }
    case '.': {  // STOP
      if (stack_.size() != 1 || !marks_.empty()) return broken("no pickle: it ends within a value");
      return false;
    }
    case 0x95: {  // FRAME: says how much may be read at once
      RL_TRY(read_number(bytes, 8));
      return true;
    }
    case 'N': push(PickleKind::none); return true;
    case 0x88: push(PickleKind::boolean, 1); return true;
    case 0x89: push(PickleKind::boolean, 0); return true;
    case 'K': RL_TRY(integer(1, false)); return true;  // BININT1
    case 'M': RL_TRY(integer(2, false)); return true;  // BININT2
    case 'J': RL_TRY(integer(4, true)); return true;   // BININT
    case 0x8a: RL_TRY(read_long(bytes, 1)); return true;
    case 0x8b: RL_TRY(read_long(bytes, 4)); return true;
    case 'G': {  // BINFLOAT: the high byte first
      std::array<unsigned char, 8> raw{};
      if (!bytes.read(raw.data(), raw.size())) return cut_off();
      std::uint64_t number = 0;
      for (const auto byte : raw) number = number << 8 | byte;
      push(PickleKind::number, static_cast<std::int64_t>(number));
      return true;
    }
    case 'U':     // SHORT_BINSTRING
    case 'C':     // SHORT_BINBYTES
    case 0x8c: {  // SHORT_BINUNICODE
      RL_TRY(read_text(bytes, 1));
      return true;
    }
    case 'T':  // BINSTRING
    case 'B':  // BINBYTES
    case 'X': RL_TRY(read_text(bytes, 4)); return true;
    case 0x8d:    // BINUNICODE8
    case 0x8e:    // BINBYTES8
    case 0x96: {  // BYTEARRAY8
      RL_TRY(read_text(bytes, 8));
      return true;
    }
    case ']':     // EMPTY_LIST
    case ')':     // EMPTY_TUPLE
    case 0x8f: {  // EMPTY_SET
      stack_.push_back(nodes.make(PickleKind::list));
      return true;
    }
    case '}': stack_.push_back(nodes.make(PickleKind::dictionary)); return true;
    case '(': {
      if (marks_.size() >= kMostMarks)
        return base::fail(ErrorCode::unsupported, "values nested deeper than {}", kMostMarks);
      marks_.push_back(stack_.size());
      return true;
    }
    case 't':     // TUPLE
    case 0x91: {  // FROZENSET
      RL_TRY_ASSIGN(const auto first, pop_mark());
      RL_TRY(make_tuple(stack_.size() - first));
      return true;
    }
    case 0x85: RL_TRY(make_tuple(1)); return true;
    case 0x86: RL_TRY(make_tuple(2)); return true;
    case 0x87: RL_TRY(make_tuple(3)); return true;
    case 'a': {  // APPEND
      RL_TRY(need(2));
      RL_TRY(append_from(stack_.size() - 1, take));
      return true;
    }
    case 'e':     // APPENDS
    case 0x90: {  // ADDITEMS
      RL_TRY_ASSIGN(const auto first, pop_mark());
      RL_TRY(append_from(first, take));
      return true;
    }
    case 's': {  // SETITEM
      RL_TRY(need(3));
      RL_TRY(set_from(stack_.size() - 2));
      return true;
    }
    case 'u': {  // SETITEMS
      RL_TRY_ASSIGN(const auto first, pop_mark());
      RL_TRY(set_from(first));
      return true;
    }
    case 0x94: RL_TRY(put(memo_.size())); return true;  // MEMOIZE
    case 'q':                                           // BINPUT
    case 'r': {                                         // LONG_BINPUT
      RL_TRY_ASSIGN(const auto at, read_number(bytes, opcode == 'q' ? 1 : 4));
      RL_TRY(put(at));
      return true;
    }
    case 'h':    // BINGET
    case 'j': {  // LONG_BINGET
      RL_TRY_ASSIGN(const auto at, read_number(bytes, opcode == 'h' ? 1 : 4));
      RL_TRY(get(at));
      return true;
    }
    case -1: return cut_off();
    default: break;
  }
  for (const auto& one : kForbidden)
    if (one.code == opcode)
      return base::fail(ErrorCode::unsupported, "{} would run code of the file; only plain data is read", one.name);
  return broken(fmt::format("no pickle: opcode {:#04x} is not known", opcode));
}

}  // namespace ridgeline::trace
