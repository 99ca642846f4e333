#ifndef EXAMPLES_MICROCONTROLLER_MOST_LIKELY_H_
#define EXAMPLES_MICROCONTROLLER_MOST_LIKELY_H_

// The number of a word, of 12, of a spectrogram of 49x10 numbers; -1 if the program fails.
int MostLikelyWord(const float* spectrogram);

#endif  // EXAMPLES_MICROCONTROLLER_MOST_LIKELY_H_
