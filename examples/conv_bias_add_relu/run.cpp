// Runs one compiled convolution with the weights of two layers, and holds it against plain loops.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "conv_bias_add_relu.h"

namespace {

constexpr int kChannels = 16;
constexpr int kSize = 32;
constexpr int kTaps = 3;

using Tensor = std::vector<float>;

struct Layer {
  Tensor weight;  // [out, in, 3, 3]
  Tensor bias;    // [out]
};

class Random {
 public:
  Tensor operator()(std::size_t count, float scale) {
    std::normal_distribution<float> normal(0.0f, scale);
    Tensor result(count);
    for (float& element : result) element = normal(engine_);
    return result;
  }

 private:
  std::mt19937 engine_{2026};
};

// relu(conv(x) + bias + residual) at one place, in double.
double Expected(const Layer& layer, const Tensor& x, const Tensor& residual, int channel, int row,
                int column) {
  double sum = layer.bias[channel] + residual[(channel * kSize + row) * kSize + column];
  for (int in = 0; in < kChannels; ++in) {
    for (int i = 0; i < kTaps; ++i) {
      for (int j = 0; j < kTaps; ++j) {
        const int y = row + i - 1, z = column + j - 1;
        if (y < 0 || y >= kSize || z < 0 || z >= kSize) continue;
        sum += double{layer.weight[((channel * kChannels + in) * kTaps + i) * kTaps + j]} *
               x[(in * kSize + y) * kSize + z];
      }
    }
  }
  return std::max(sum, 0.0);
}

double LargestDifference(const Layer& layer, const Tensor& x, const Tensor& residual,
                         const Tensor& out) {
  double largest = 0;
  const float* element = out.data();
  for (int channel = 0; channel < kChannels; ++channel) {
    for (int row = 0; row < kSize; ++row) {
      for (int column = 0; column < kSize; ++column) {
        const double expected = Expected(layer, x, residual, channel, row, column);
        largest = std::max(largest, std::abs(*element++ - expected));
      }
    }
  }
  return largest;
}

}  // namespace

int main() {
  Random random;
  const Tensor x = random(kChannels * kSize * kSize, 1.0f);
  const Tensor residual = random(x.size(), 1.0f);
  Tensor out(x.size());
  bool agrees = true;
  for (int number = 1; number <= 2; ++number) {
    const Layer layer = {random(kChannels * kChannels * kTaps * kTaps, 0.1f),
                         random(kChannels, 0.1f)};
    const int code = conv_bias_add_relu(layer.weight.data(), layer.bias.data(), x.data(),
                                        residual.data(), out.data());
    if (code != 0) {
      std::fprintf(stderr, "conv_bias_add_relu: %s\n", conv_bias_add_relu_error(code));
      return 1;
    }
    const double difference = LargestDifference(layer, x, residual, out);
    std::printf("layer %d: at most %.1e from plain loops in double\n", number, difference);
    agrees = agrees && difference < 1e-5;
  }
  return agrees ? 0 : 1;
}
