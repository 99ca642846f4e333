#ifndef RULES_CC_CC_RUNFILES_RUNFILES_H_
#define RULES_CC_CC_RUNFILES_RUNFILES_H_

#include "tools/cpp/runfiles/runfiles.h"

// Bazel's own runfiles library under the header and the namespace that rules_cc gives it.
namespace rules_cc {
namespace cc {
namespace runfiles {

using ::bazel::tools::cpp::runfiles::Runfiles;

}  // namespace runfiles
}  // namespace cc
}  // namespace rules_cc

#endif  // RULES_CC_CC_RUNFILES_RUNFILES_H_
