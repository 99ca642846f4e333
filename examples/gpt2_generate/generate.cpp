// Draws tokens one after the other, each by a step of GPT-2 over a cache that the steps fill.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "gpt2_step.h"

namespace {

// As in gpt2_loader_lib.py.
constexpr std::int64_t kLayers = 4, kPlaces = 64, kHeads = 4, kHeadSize = 32, kTokens = 512;

// The keys and values of all places so far, [layers, places, heads, head size]: written by each
// step.
struct Cache {
  std::vector<float> keys = std::vector<float>(kLayers * kPlaces * kHeads * kHeadSize);
  std::vector<float> values = std::vector<float>(kLayers * kPlaces * kHeads * kHeadSize);
};

// The scores of what follows on a token at a place.
std::vector<float> Step(std::int64_t token, std::int64_t place, Cache& cache) {
  std::vector<float> scores(kTokens);
  const int code = gpt2_step(token, place, cache.keys.data(), cache.values.data(), scores.data());
  if (code != 0) {
    std::fprintf(stderr, "place %d, token %d: %s\n", static_cast<int>(place),
                 static_cast<int>(token), gpt2_step_error(code));
    std::exit(1);
  }
  return scores;
}

std::int64_t Draw(const std::vector<float>& scores, double temperature, std::mt19937& random) {
  const double greatest = *std::max_element(scores.begin(), scores.end());
  std::vector<double> weights;
  for (const double score : scores) weights.push_back(std::exp((score - greatest) / temperature));
  return std::discrete_distribution<std::int64_t>(weights.begin(), weights.end())(random);
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::int64_t> text;
  for (int i = 1; i < argc; ++i) text.push_back(std::strtoll(argv[i], nullptr, 10));
  if (text.empty()) text = {17, 4, 211};
  if (static_cast<std::int64_t>(text.size()) > kPlaces) {
    std::fprintf(stderr, "there is no place for more than %d tokens\n", static_cast<int>(kPlaces));
    return 2;
  }
  std::mt19937 random(2026);
  Cache cache;
  for (std::int64_t place = 0; place < kPlaces; ++place) {
    const std::vector<float> scores = Step(text[place], place, cache);
    if (place + 1 == static_cast<std::int64_t>(text.size())) {
      text.push_back(Draw(scores, /*temperature=*/0.2, random));
    }
  }
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::printf("%3d%s", static_cast<int>(text[i]), (i + 1) % 13 == 0 ? "\n" : " ");
  }
  std::printf("\n");
  return 0;
}
