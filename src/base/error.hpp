// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <tl/expected.hpp>

namespace ridgeline::base {

enum class ErrorCode {
  invalid_argument,  ///< the user asked for something malformed or out of range
  refused_inputs,    ///< a model refuses what it is fed: values or shapes that we or the user chose
  not_found,         ///< a file, run, trial or parameter that does not exist
  unavailable,       ///< an optional library, device or lock that is not to be had now
  unsupported,       ///< well-formed, but this version or provider cannot do it
  timeout,           ///< a deadline passed
  crashed,           ///< a child process died on its own
  out_of_memory,     ///< host or device memory ran out
  corrupt,           ///< data on disk or on the wire that breaks its format
  io,                ///< the operating system refused a read, write or rename
  cancelled,         ///< the user or a signal asked to stop
  out_of_time,       ///< the time given to the whole run is over; says nothing about what was under way
  internal,          ///< a fault of ours; stays the last one
};

[[nodiscard]] std::string_view to_string(ErrorCode code) noexcept;

/// One failure: a code to branch on, and two lines for a person, lower case and without a full stop. Code never reads
/// them: it branches on codes and data.
struct Error {
  ErrorCode code = ErrorCode::internal;
  std::string message;  ///< what happened: the thing, its value, what was expected
  std::string hint{};   ///< what to do next; "" where there is nothing to advise
  /// What else code branches on: the bytes asked for where memory ran out, NVML's status; 0: nothing is known.
  std::int64_t number = 0;

  /// The same error with "context: " put before the message.
  [[nodiscard]] Error in(std::string_view context) && {
    message = fmt::format("{}: {}", context, message);
    return std::move(*this);
  }
};

/// "message; hint", or the message alone without a hint: for places that have one line.
[[nodiscard]] std::string error_line(std::string_view message, std::string_view hint);
[[nodiscard]] inline std::string error_line(const Error& error) { return error_line(error.message, error.hint); }

template <typename T>
using Result = tl::expected<T, Error>;

/// What `fail` returns: converts to every Result and takes a hint.
class Fault : public tl::unexpected<Error> {
 public:
  using tl::unexpected<Error>::unexpected;

  template <typename... Args>
  [[nodiscard]] Fault hint(fmt::format_string<Args...> format, Args&&... args) && {
    value().hint = fmt::format(format, std::forward<Args>(args)...);
    return std::move(*this);
  }
};

/// `return fail(ErrorCode::not_found, "{}: no such file", path).hint("create it, or name another with {}", flag);`
template <typename... Args>
[[nodiscard]] Fault fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return Fault(Error{code, fmt::format(format, std::forward<Args>(args)...)});
}

}  // namespace ridgeline::base

#define RL_CONCAT_INNER(a, b) a##b
#define RL_CONCAT(a, b) RL_CONCAT_INNER(a, b)

/// Evaluates a Result; returns its error from the enclosing function when it failed.
#define RL_TRY(expression)                                                               \
  do {                                                                                   \
    if (auto rl_try_result = (expression); !rl_try_result)                               \
      return tl::unexpected<::ridgeline::base::Error>(std::move(rl_try_result).error()); \
  } while (false)

/// RL_TRY_ASSIGN(auto x, f()): as RL_TRY, then binds the value.
#define RL_TRY_ASSIGN(declaration, expression) RL_TRY_ASSIGN_AT(declaration, expression, RL_CONCAT(rl_value_, __LINE__))
#define RL_TRY_ASSIGN_AT(declaration, expression, name)                                \
  auto name = (expression);                                                            \
  if (!name) return tl::unexpected<::ridgeline::base::Error>(std::move(name).error()); \
  declaration = std::move(*name)
