#include "tools/aot/execute_test/element_type.h"

#include <array>

namespace plumbline {
namespace {

struct Row {
  const char* name;
  std::size_t size;
  char kind;
};

#define PLUMBLINE_ROW(enumerator, name, type, kind) Row{name, sizeof(type), kind},
constexpr std::array kRows = {PLUMBLINE_ELEMENT_TYPES(PLUMBLINE_ROW)};
#undef PLUMBLINE_ROW

const Row& RowOf(ElementType type) { return kRows[static_cast<std::size_t>(type)]; }

}  // namespace

const char* Name(ElementType type) { return RowOf(type).name; }

std::size_t SizeOf(ElementType type) { return RowOf(type).size; }

bool IsStoredAs(ElementType type, char kind, std::size_t word_size) {
  return RowOf(type).kind == kind && RowOf(type).size == word_size;
}

}  // namespace plumbline
