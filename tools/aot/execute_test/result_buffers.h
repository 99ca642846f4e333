// Gives back the memory that a compiled function's results came in.

#ifndef TOOLS_AOT_EXECUTE_TEST_RESULT_BUFFERS_H_
#define TOOLS_AOT_EXECUTE_TEST_RESULT_BUFFERS_H_

#include <cstdlib>
#include <set>
#include <vector>

namespace plumbline {

// Owns the buffers of one call's results and releases them when it goes out of scope: each once,
// however many results share it, and none that is an input's (see the contract in tools/aot/abi.h).
class ResultBuffers {
 public:
  using Release = void (*)(void*);

  // Takes the basePtr of each result and of each input.
  ResultBuffers(const std::vector<void*>& results, const std::vector<void*>& inputs,
                Release release = std::free)
      : buffers_(results.begin(), results.end()), release_(release) {
    for (void* input : inputs) buffers_.erase(input);
  }
  ~ResultBuffers() {
    for (void* buffer : buffers_) release_(buffer);
  }

  ResultBuffers(const ResultBuffers&) = delete;
  ResultBuffers& operator=(const ResultBuffers&) = delete;

 private:
  std::set<void*> buffers_;
  Release release_;
};

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_RESULT_BUFFERS_H_
