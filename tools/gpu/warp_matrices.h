// What a warp does together on tensor cores, as one of its lanes sees it: `ldmatrix` and `mma`; and
// what four warps do, `wgmma`.
//
// Which lane has which elements is said in NVIDIA's PTX ISA, "Matrix Fragments for mma.m16n8k16"
// and the like. Counted in words of 4 bytes it is the same for all types: a lane has of the left
// operand 4 words, of the right one 2, and of the sums 4.

#ifndef TOOLS_GPU_WARP_MATRICES_H_
#define TOOLS_GPU_WARP_MATRICES_H_

#include <array>
#include <cstdint>
#include <cstring>

constexpr int kWarp = 32;
constexpr int kWarpGroup = 4 * kWarp;

struct Registers {
  uint32_t words[6];
};

using Lanes = std::array<const Registers*, kWarp>;

enum class MatrixKind { kF16, kBF16, kTF32, kS8 };

inline float FromBits(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

inline uint32_t BitsOf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Exact: the exponent's place is that of a float, whose bias is 112 more.
inline float FromHalf(uint16_t bits) {
  const uint32_t magnitude = bits & 0x7fff, sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const bool is_finite = magnitude < 0x7c00;
  const float scaled = FromBits(magnitude << 13) * 0x1p112f;
  const float value = is_finite ? scaled : FromBits(0x7f800000 | magnitude << 13);
  return FromBits(sign | BitsOf(value));
}

// The element of that number in a word: of floats as they are multiplied.
inline float FloatOf(MatrixKind kind, uint32_t word, int number) {
  const uint16_t half = static_cast<uint16_t>(word >> 16 * number);
  switch (kind) {
    case MatrixKind::kF16:
      return FromHalf(half);
    case MatrixKind::kBF16:
      return FromBits(static_cast<uint32_t>(half) << 16);
    default:
      // The 13 bits of mantissa that TF32 does not have are not looked at.
      return FromBits(word & 0xffffe000);
  }
}

// Four matrices of 8 lines by 16 bytes; lane l has said where line l % 8 of matrix l / 8 begins.
// Transposed, what a lane gets is of elements of 2 bytes from two lines.
inline void LoadMatrices(const Lanes& lanes, int lane, bool transposes, uint32_t* result) {
  const auto line = [&lanes](int matrix, int number) {
    int64_t address;
    std::memcpy(&address, lanes[8 * matrix + number]->words, sizeof address);
    return reinterpret_cast<const char*>(address);
  };
  const int row = lane / 4, column = lane % 4;
  for (int matrix = 0; matrix < 4; ++matrix) {
    char* word = reinterpret_cast<char*>(result + matrix);
    if (!transposes) {
      std::memcpy(word, line(matrix, row) + 4 * column, 4);
    } else {
      std::memcpy(word, line(matrix, 2 * column) + 2 * row, 2);
      std::memcpy(word + 2, line(matrix, 2 * column + 1) + 2 * row, 2);
    }
  }
}

// Adds the products of 16 rows by 8 columns to the four sums of a lane: of two rows, 8 apart, and
// two columns.
inline void MultiplyMatrices(MatrixKind kind, const Lanes& lanes, int lane, uint32_t* sums) {
  const int elements = kind == MatrixKind::kS8 ? 4 : kind == MatrixKind::kTF32 ? 1 : 2;
  for (int number = 0; number < 4; ++number) {
    const int row = lane / 4, lower = number / 2, column = lane % 4 * 2 + number % 2;
    float sum;
    std::memcpy(&sum, sums + number, sizeof sum);
    int32_t whole;
    std::memcpy(&whole, sums + number, sizeof whole);
    for (int half = 0; half < 2; ++half) {
      for (int word = 0; word < 4; ++word) {
        const uint32_t left = lanes[4 * row + word]->words[2 * half + lower];
        const uint32_t right = lanes[4 * column + word]->words[4 + half];
        for (int i = 0; i < elements; ++i) {
          if (kind == MatrixKind::kS8) {
            whole += static_cast<int8_t>(left >> 8 * i) * static_cast<int8_t>(right >> 8 * i);
          } else {
            sum += FloatOf(kind, left, i) * FloatOf(kind, right, i);
          }
        }
      }
    }
    if (kind == MatrixKind::kS8) {
      std::memcpy(sums + number, &whole, sizeof whole);
    } else {
      std::memcpy(sums + number, &sum, sizeof sum);
    }
  }
}

// An operand of `wgmma` in shared memory, as its descriptor tells it: PTX ISA, "Shared Memory
// Matrix Layout" and "Matrix Descriptor Format". Of the kinds of layout there is that of 128 bytes
// here.
struct TileOperand {
  const char* shared;
  int64_t descriptor;
  bool is_along_sums;

  // The element of a line, a row or a column, at a place along the sums.
  uint16_t At(int64_t line, int64_t depth) const {
    const int64_t start = (descriptor & 0x3fff) << 4;
    const int64_t leading = (descriptor >> 16 & 0x3fff) << 4;
    const int64_t stride = (descriptor >> 32 & 0x3fff) << 4;
    int64_t address = start;
    if (is_along_sums) {
      address += line / 8 * stride + line % 8 * 128 + 2 * depth;
    } else {
      address += line / 64 * leading + depth / 8 * stride + depth % 8 * 128 + line % 64 * 2;
    }
    // Of eight lines of 128 bytes each has its parts of 16 bytes in another order.
    address ^= (address >> 7 & 7) << 4;
    uint16_t element;
    std::memcpy(&element, shared + address, sizeof element);
    return element;
  }
};

// The left operand of `wgmma` in registers: 16 rows of a warp, whose lanes have them as for `mma`.
struct RegisterOperand {
  const Lanes& lanes;

  // The element of one of 64 rows, which is of the warp that asks.
  uint16_t At(int64_t row, int64_t depth) const {
    const int64_t lane = row % 8 * 4 + depth % 8 / 2, word = row / 8 % 2 + depth / 8 * 2;
    return static_cast<uint16_t>(lanes[lane]->words[word] >> depth % 2 * 16);
  }
};

// Adds the products of 64 rows, all columns and 16 elements along the sums to what a thread of the
// four warps has: in each 8 columns as `mma` of 16 rows.
template <typename Left>
void MultiplyTiles(MatrixKind kind, const Left& left, const TileOperand& right, int64_t columns,
                   int thread, float* sums) {
  for (int64_t number = 0; number < columns / 2; ++number) {
    const int64_t row = thread / kWarp * 16 + thread % kWarp / 4 + number / 2 % 2 * 8;
    const int64_t column = number / 4 * 8 + thread % 4 * 2 + number % 2;
    for (int64_t depth = 0; depth < 16; ++depth) {
      sums[number] +=
          FloatOf(kind, left.At(row, depth), 0) * FloatOf(kind, right.At(column, depth), 0);
    }
  }
}

#endif  // TOOLS_GPU_WARP_MATRICES_H_
