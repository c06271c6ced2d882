// SPDX-License-Identifier: Apache-2.0
#include "loader/hdf5_types.hpp"

#include <array>

#include "loader/hdf5_handle.hpp"

namespace ridgeline::loader {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

/// A compound of two equal floats named r and i, as h5py and NumPy write it.
bool is_complex(hid_t type) {
  if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return false;
  for (const char* name : {"r", "i"}) {
    const int index = H5Tget_member_index(type, name);
    if (index < 0 || H5Tget_member_class(type, static_cast<unsigned>(index)) != H5T_FLOAT) return false;
  }
  return true;
}

std::string_view class_name(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_COMPOUND: return is_complex(type) ? "complex numbers" : "compound elements";
    case H5T_ARRAY: return "array elements";
    case H5T_OPAQUE: return "opaque elements";
    case H5T_BITFIELD: return "bit field elements";
    case H5T_STRING: return "string elements";
    case H5T_ENUM: return "enumerated elements";
    case H5T_TIME: return "times";
    case H5T_INTEGER: return "integers with unused bits or of an unusual size";
    case H5T_FLOAT: return "floating-point numbers in an unusual format";
    default: return "elements of an unusual class";
  }
}

/// Sequences and strings of variable length, also inside compounds and arrays: in memory they are pointers.
bool has_variable_part(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_VLEN: return true;
    case H5T_STRING: return H5Tis_variable_str(type) != 0;
    case H5T_ARRAY: {
      const Hdf5Handle item(H5Tget_super(type), H5Tclose);
      return has_variable_part(item.get());
    }
    case H5T_COMPOUND: {
      const int members = H5Tget_nmembers(type);
      for (int i = 0; i < members; ++i) {
        const Hdf5Handle member(H5Tget_member_type(type, static_cast<unsigned>(i)), H5Tclose);
        if (has_variable_part(member.get())) return true;
      }
      return false;
    }
    default: return false;
  }
}

}  // namespace

std::optional<ElementType> plain_element(hid_t type) {
  const auto size = H5Tget_size(type);
  const auto order = H5Tget_order(type);
  const auto type_class = H5Tget_class(type);
  if (order != H5T_ORDER_LE && order != H5T_ORDER_BE) return std::nullopt;
  ElementType element{ElementKind::opaque, static_cast<std::uint32_t>(size), order == H5T_ORDER_BE};
  if (type_class == H5T_INTEGER || type_class == H5T_BITFIELD) {  // PyTables' booleans are bit fields of 8 bits
    const bool whole = H5Tget_precision(type) == size * 8 && H5Tget_offset(type) == 0;
    if (!whole || (size != 1 && size != 2 && size != 4 && size != 8)) return std::nullopt;
    const bool is_signed = type_class == H5T_INTEGER && H5Tget_sign(type) != H5T_SGN_NONE;
    element.kind = is_signed ? ElementKind::signed_integer : ElementKind::unsigned_integer;
    return element;
  }
  if (type_class != H5T_FLOAT) return std::nullopt;
  struct Ieee {
    std::size_t size, sign, exponent, exponent_bits, mantissa_bits, bias;
  };
  static constexpr std::array kFormats{Ieee{2, 15, 10, 5, 10, 15}, Ieee{4, 31, 23, 8, 23, 127},
                                       Ieee{8, 63, 52, 11, 52, 1023}};
  std::size_t sign = 0;
  std::size_t exponent = 0;
  std::size_t exponent_bits = 0;
  std::size_t mantissa = 0;
  std::size_t mantissa_bits = 0;
  if (H5Tget_fields(type, &sign, &exponent, &exponent_bits, &mantissa, &mantissa_bits) < 0) return std::nullopt;
  for (const auto& format : kFormats)
    if (size == format.size && H5Tget_precision(type) == size * 8 && sign == format.sign &&
        exponent == format.exponent && exponent_bits == format.exponent_bits && mantissa == 0 &&
        mantissa_bits == format.mantissa_bits && H5Tget_ebias(type) == format.bias &&
        H5Tget_norm(type) == H5T_NORM_IMPLIED) {
      element.kind = ElementKind::floating;
      return element;
    }
  return std::nullopt;
}

Result<ElementType> describe_element(hid_t type, std::string& reason) {
  if (H5Tis_variable_str(type) > 0)
    return fail(ErrorCode::unsupported, "strings of variable length cannot be put into a batch")
        .hint("store numbers: for classes, an integer from 0 for each sample");
  if (has_variable_part(type))
    return fail(ErrorCode::unsupported, "elements of variable length cannot be put into a batch")
        .hint("store a fixed-size array");
  if (H5Tdetect_class(type, H5T_REFERENCE) > 0)
    return fail(ErrorCode::unsupported, "references to other objects cannot be put into a batch")
        .hint("name the dataset that they refer to");
  const auto type_class = H5Tget_class(type);
  if (type_class == H5T_ENUM) {  // h5py's booleans are enumerated 8-bit integers
    const Hdf5Handle base_type(H5Tget_super(type), H5Tclose);
    if (const auto element = plain_element(base_type.get())) return *element;
  } else if (const auto element = plain_element(type)) {
    return *element;
  }
  reason = class_name(type);
  const Hdf5Handle native(H5Tget_native_type(type, H5T_DIR_ASCEND), H5Tclose);
  const auto size = native.valid() ? H5Tget_size(native.get()) : 0;
  if (size == 0) return fail(ErrorCode::unsupported, "{} that have no form in memory", reason);
  if (type_class == H5T_INTEGER || type_class == H5T_FLOAT)  // 12 of 16 bits, say: the library makes plain ones of them
    if (const auto element = plain_element(native.get())) return *element;
  return ElementType{ElementKind::opaque, static_cast<std::uint32_t>(size), false};
}

}  // namespace ridgeline::loader
