# shellcheck shell=bash
# Sourced: prints the GPUs of this machine; ends the program that sources it with 2 if there are none.

no_gpu() {
  echo "$0: no test was run: $1" >&2
  exit 2
}

command -v nvidia-smi >/dev/null || no_gpu "there is no NVIDIA driver here (nvidia-smi is not on PATH)"
cards=$(nvidia-smi -L 2>&1) || no_gpu "nvidia-smi says: $cards"
[[ -n $cards ]] || no_gpu "nvidia-smi lists no GPU"
echo "$cards"
