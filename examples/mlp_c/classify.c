// Classifies two batches at once, on two threads, without any memory from the heap in the calls.

#include <pthread.h>
#include <stdalign.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "classifier.h"

enum { kBatch = 32, kFeatures = 64, kClasses = 10 };

struct Job {
  float features[kBatch][kFeatures];
  float probabilities[kBatch][kClasses];
  void* workspace;
  int code;
};

static void* Classify(void* argument) {
  struct Job* job = argument;
  job->code = classifier(&job->features[0][0], &job->probabilities[0][0], kBatch, job->workspace);
  return NULL;
}

static int MostProbable(const float* probabilities) {
  int best = 0;
  for (int i = 1; i < kClasses; ++i) {
    if (probabilities[i] > probabilities[best]) best = i;
  }
  return best;
}

int main(void) {
  static struct Job jobs[2];
  pthread_t threads[2];
  const int64_t bytes = classifier_workspace_size(kBatch);
  printf("a workspace for %d rows: %lld bytes\n", kBatch, (long long)bytes);
  srand(2026);
  for (int i = 0; i < 2; ++i) {
    for (int row = 0; row < kBatch; ++row) {
      for (int k = 0; k < kFeatures; ++k) {
        jobs[i].features[row][k] = 8.0f * (float)rand() / (float)RAND_MAX - 4.0f;
      }
    }
    // Sizes that are multiples of the alignment are what aligned_alloc takes.
    jobs[i].workspace = aligned_alloc(64, (size_t)(bytes + 63) / 64 * 64);
    if (jobs[i].workspace == NULL || pthread_create(&threads[i], NULL, Classify, &jobs[i]) != 0) {
      fprintf(stderr, "classify: there is no memory, or no thread\n");
      return 1;
    }
  }
  for (int i = 0; i < 2; ++i) {
    pthread_join(threads[i], NULL);
    free(jobs[i].workspace);
    if (jobs[i].code != 0) {
      fprintf(stderr, "classify: %s\n", classifier_error(jobs[i].code));
      return 1;
    }
    printf("batch %d:", i + 1);
    for (int row = 0; row < 8; ++row) printf(" %d", MostProbable(jobs[i].probabilities[row]));
    printf(" ...\n");
  }
  return 0;
}
