// What a checked entry says of a call that it refuses.

#ifndef TOOLS_AOT_EXECUTE_TEST_REFUSAL_H_
#define TOOLS_AOT_EXECUTE_TEST_REFUSAL_H_

#include <cstdlib>
#include <string>

namespace plumbline {

// Takes over the message that a checked entry returned (see the contract in tools/aot/abi.h).
class Refusal {
 public:
  explicit Refusal(char* message) : message_(message == nullptr ? "" : message) {
    std::free(message);
  }

  // Empty if the call was not refused.
  const std::string& message() const { return message_; }

 private:
  std::string message_;
};

}  // namespace plumbline

#endif  // TOOLS_AOT_EXECUTE_TEST_REFUSAL_H_
