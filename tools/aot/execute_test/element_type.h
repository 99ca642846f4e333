// The element types of tensors, for code that learns the type of a tensor only when it runs.

#ifndef TOOLS_AOT_EXECUTE_TEST_ELEMENT_TYPE_H_
#define TOOLS_AOT_EXECUTE_TEST_ELEMENT_TYPE_H_

#include <cstddef>
#include <cstdint>

#include "tools/aot/complex.h"
#include "tools/aot/float8.h"
#include "tools/aot/half.h"

namespace plumbline {

// The C++ face of the table in plumbline/signature/element_type.py: M(enumerator, name, C++ type,
// kind), where kind is numpy's letter for the array that the reference archive keeps it in.
#define PLUMBLINE_ELEMENT_TYPES(M)                  \
  M(kF64, "f64", double, 'f')                       \
  M(kF32, "f32", float, 'f')                        \
  M(kF16, "f16", Float16, 'f')                      \
  M(kBF16, "bf16", BFloat16, 'V')                   \
  M(kI8, "i8", std::int8_t, 'i')                    \
  M(kI16, "i16", std::int16_t, 'i')                 \
  M(kI32, "i32", std::int32_t, 'i')                 \
  M(kI64, "i64", std::int64_t, 'i')                 \
  M(kU8, "u8", std::uint8_t, 'u')                   \
  M(kU16, "u16", std::uint16_t, 'u')                \
  M(kU32, "u32", std::uint32_t, 'u')                \
  M(kU64, "u64", std::uint64_t, 'u')                \
  M(kI1, "i1", bool, 'b')                           \
  M(kC64, "c64", Complex<float>, 'c')               \
  M(kC128, "c128", Complex<double>, 'c')            \
  M(kF8E4M3FN, "f8e4m3fn", Float8E4M3FN, 'V')       \
  M(kF8E5M2, "f8e5m2", Float8E5M2, 'V')             \
  M(kF8E4M3FNUZ, "f8e4m3fnuz", Float8E4M3FNUZ, 'V') \
  M(kF8E5M2FNUZ, "f8e5m2fnuz", Float8E5M2FNUZ, 'V')

#define PLUMBLINE_ENUMERATOR(enumerator, name, type, kind) enumerator,
enum class ElementType { PLUMBLINE_ELEMENT_TYPES(PLUMBLINE_ENUMERATOR) };
#undef PLUMBLINE_ENUMERATOR

// The ElementType of the C++ type T; there is none, and it does not compile, for other types.
template <typename T>
constexpr ElementType kElementTypeOf = T::is_not_an_element_type;

#define PLUMBLINE_ELEMENT_TYPE_OF(enumerator, name, type, kind) \
  template <>                                                   \
  inline constexpr ElementType kElementTypeOf<type> = ElementType::enumerator;
PLUMBLINE_ELEMENT_TYPES(PLUMBLINE_ELEMENT_TYPE_OF)
#undef PLUMBLINE_ELEMENT_TYPE_OF

constexpr bool IsComplex(ElementType type) {
  return type == ElementType::kC64 || type == ElementType::kC128;
}

// The type of the parts of complex numbers.
constexpr ElementType PartOf(ElementType complex) {
  return complex == ElementType::kC64 ? ElementType::kF32 : ElementType::kF64;
}

// "f32", "u8", "i1".
const char* Name(ElementType type);

// Bytes of one element.
std::size_t SizeOf(ElementType type);

// Whether numpy arrays of this kind and element size hold the type.
bool IsStoredAs(ElementType type, char kind, std::size_t word_size);

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_ELEMENT_TYPE_H_
