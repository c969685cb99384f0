#!/usr/bin/env bash
# style: format and layering. `style.sh --fix` rewrites the sources instead of complaining.
source "$(dirname "$0")/lib.sh"
mapfile -t sources < <(find include src tests bench examples \( -name '*.[ch]pp' -o -path 'bench/peers/*' -name '*.[ch]' \) 2>/dev/null | sort)
if [[ ${1:-} == --fix ]]; then
  clang-format-19 -i "${sources[@]}"
  exit 0
fi
say "style: format of ${#sources[@]} files"
clang-format-19 --dry-run --Werror "${sources[@]}"
say 'style: layers'
tools/check_layers
