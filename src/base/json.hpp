// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/error.hpp"

namespace ridgeline::base {

/// Keys are kept sorted, so equal values dump to equal bytes (hashes rest on that).
using Json = nlohmann::json;

/// Specialise for an enum to give it JSON and text names:
///   template <> struct EnumNames<Colour> {
///     static constexpr std::array names{std::pair{Colour::red, "red"}, std::pair{Colour::blue, "blue"}};
///   };
template <typename E>
struct EnumNames;

template <typename E>
concept NamedEnum = std::is_enum_v<E> && requires {
  EnumNames<E>::names.size();
};

template <NamedEnum E>
[[nodiscard]] constexpr std::string_view enum_name(E value) noexcept {
  for (const auto& [candidate, name] : EnumNames<E>::names)
    if (candidate == value) return name;
  return "?";
}

template <NamedEnum E>
[[nodiscard]] constexpr std::optional<E> enum_from_name(std::string_view text) noexcept {
  for (const auto& [candidate, name] : EnumNames<E>::names)
    if (text == name) return candidate;
  return std::nullopt;
}

/// Beside a type: it has a JSON form, which RL_DEFINE_JSON in the type's .cpp defines. The macros of nlohmann-json
/// define it in the header, where each file that includes it pays for the instantiations.
#define RL_DECLARE_JSON(Type)                            \
  void to_json(nlohmann::json& json, const Type& value); \
  void from_json(const nlohmann::json& json, Type& value);

/// What a member was called in records of older versions.
struct FormerKey {
  std::string_view member;
  const char* key;
};
/// Specialise for a type whose older records are still read.
template <typename T>
inline constexpr std::array<FormerKey, 0> kFormerKeys{};

/// The key that `json` has for the member: its name, or the former one.
template <typename T>
[[nodiscard]] const char* key_of(const Json& json, const char* member) {
  for (const auto& former : kFormerKeys<T>)
    if (former.member == member && !json.contains(member) && json.contains(former.key)) return former.key;
  return member;
}

/// A member of an object, which stays as it is where the object lacks it. One instantiation per type of member, and not
/// inlined: they are most of what records cost the compiler.
template <typename T>
[[gnu::noinline]] void read_member(const Json& json, const char* key, T& value) {
  if (const auto found = json.find(key); found != json.end()) found->get_to(value);
}
template <typename T>
[[gnu::noinline]] void write_member(Json& json, const char* key, const T& value) {
  json[key] = value;
}
/// Throws Json::type_error unless it is one.
void require_object(const Json& json);
void require_array(const Json& json);

#define RL_JSON_FROM(member)                                                                               \
  ::ridgeline::base::read_member(                                                                          \
      nlohmann_json_j,                                                                                     \
      ::ridgeline::base::key_of<std::remove_cvref_t<decltype(nlohmann_json_t)>>(nlohmann_json_j, #member), \
      nlohmann_json_t.member);
#define RL_JSON_TO(member) ::ridgeline::base::write_member(nlohmann_json_j, #member, nlohmann_json_t.member);

/// RL_DEFINE_JSON(Type, member, ...): an object with these keys; what is absent keeps the member's default.
#define RL_DEFINE_JSON(Type, ...)                                                \
  void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t) {   \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(RL_JSON_TO, __VA_ARGS__))           \
  }                                                                              \
  void from_json(const nlohmann::json& nlohmann_json_j, Type& nlohmann_json_t) { \
    ::ridgeline::base::require_object(nlohmann_json_j);                          \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(RL_JSON_FROM, __VA_ARGS__))         \
  }

/// The same; an absent key throws.
#define RL_DEFINE_JSON_REQUIRED(Type, ...)                                       \
  void to_json(nlohmann::json& nlohmann_json_j, const Type& nlohmann_json_t) {   \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(RL_JSON_TO, __VA_ARGS__))           \
  }                                                                              \
  void from_json(const nlohmann::json& nlohmann_json_j, Type& nlohmann_json_t) { \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(NLOHMANN_JSON_FROM, __VA_ARGS__))   \
  }

/// Text to Json; `what` names the source in the message (a path, "worker message").
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view what);

/// Compact, sorted keys, never throws (invalid UTF-8 is replaced).
[[nodiscard]] std::string dump_json(const Json& json);

/// Json to a type with a from_json; a missing or mistyped field is ErrorCode::corrupt naming it.
template <typename T>
[[nodiscard]] Result<T> json_as(const Json& json, std::string_view what) {
  try {
    return json.get<T>();
  } catch (const std::exception& error) {
    return fail(ErrorCode::corrupt, "{}: {}", what, error.what());
  }
}

}  // namespace ridgeline::base

namespace nlohmann {

/// nlohmann-json's own inserts element by element, for which the compiler makes far more code.
template <typename T>
requires(!std::is_same_v<T, bool> && !std::is_same_v<T, std::uint8_t> &&
         !std::is_same_v<T, json>) struct adl_serializer<std::vector<T>> {
  static void to_json(json& out, const std::vector<T>& values) {
    out = json::array();
    auto& array = out.get_ref<json::array_t&>();
    array.reserve(values.size());
    for (const auto& value : values) array.emplace_back(value);
  }
  static void from_json(const json& in, std::vector<T>& values) {
    ridgeline::base::require_array(in);
    values.clear();
    values.reserve(in.size());
    for (const auto& one : in) one.get_to(values.emplace_back());
  }
};

/// An absent value is null.
template <typename T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& out, const std::optional<T>& value) {
    if (value)
      out = *value;
    else
      out = nullptr;
  }
  static void from_json(const json& in, std::optional<T>& value) {
    if (in.is_null())
      value.reset();
    else
      value = in.get<T>();
  }
};

/// A duration is its seconds.
template <>
struct adl_serializer<std::chrono::nanoseconds> {
  static void to_json(json& out, std::chrono::nanoseconds value) { out = static_cast<double>(value.count()) * 1e-9; }
  static void from_json(const json& in, std::chrono::nanoseconds& value) {
    value = std::chrono::nanoseconds(std::llround(in.get<double>() * 1e9));
  }
};

template <ridgeline::base::NamedEnum E>
struct adl_serializer<E> {
  static void to_json(json& out, E value) { out = std::string(ridgeline::base::enum_name(value)); }
  static void from_json(const json& in, E& value) {
    const auto text = in.get<std::string>();
    const auto found = ridgeline::base::enum_from_name<E>(text);
    if (!found) throw std::invalid_argument("unknown name \"" + text + "\"");
    value = *found;
  }
};

}  // namespace nlohmann
