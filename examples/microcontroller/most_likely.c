// Which word is said, on a microcontroller: without a heap, or an operating system.

#include "most_likely.h"

#include <stdalign.h>

#include "keyword.h"

enum { kWords = 12, kWorkspaceBytes = 67520 };

int MostLikelyWord(const float* spectrogram) {
  static alignas(64) char workspace[kWorkspaceBytes];
  float scores[kWords];
  if (keyword(spectrogram, scores, workspace) != 0) return -1;
  int best = 0;
  for (int word = 1; word < kWords; ++word) {
    if (scores[word] > scores[best]) best = word;
  }
  return best;
}
