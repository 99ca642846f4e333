"""What .ci/run needs beside Bazel."""
