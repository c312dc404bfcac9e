#!/usr/bin/env bash
# Build and run a stranger's project against Obolus; any warning on the way is a failure.
#
#   tests/install/run.sh SOURCE_DIR BUILD_DIR MODE
#
# MODE is find_package (BUILD_DIR, already built, is installed to a prefix of its own) or add_subdirectory (SOURCE_DIR
# is taken into the stranger's tree). Compiler, generator and build type are those of BUILD_DIR.
set -euo pipefail

fail() {
  printf 'tests/install: %s\n' "$*" >&2
  exit 1
}

[[ $# -eq 3 ]] || fail "usage: run.sh SOURCE_DIR BUILD_DIR find_package|add_subdirectory"
source_dir=$(cd "$1" && pwd)
build_dir=$(cd "$2" && pwd)
mode=$3

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# What BUILD_DIR was configured with.
cached() { sed -n "s/^$1:[^=]*=//p" "$build_dir/CMakeCache.txt"; }

# Run a command, show what it says, and fail if it fails or warns.
without_warnings() {
  local log=$scratch/log
  "$@" >"$log" 2>&1 || { cat "$log"; fail "failed: $*"; }
  cat "$log"
  if grep -qiE '\bwarning\b' "$log"; then fail "warned: $*"; fi
}

# Away from our own tree, so that nothing is found by accident.
stranger=$scratch/stranger
mkdir "$stranger"
cp -R "$source_dir/tests/install/find_package" "$source_dir/tests/install/add_subdirectory" "$stranger"

configure=(
  -G "$(cached CMAKE_GENERATOR)"
  -D "CMAKE_MAKE_PROGRAM=$(cached CMAKE_MAKE_PROGRAM)"
  -D "CMAKE_CXX_COMPILER=$(cached CMAKE_CXX_COMPILER)"
  -D "CMAKE_CXX_FLAGS=$(cached CMAKE_CXX_FLAGS)"
  -D "CMAKE_EXE_LINKER_FLAGS=$(cached CMAKE_EXE_LINKER_FLAGS)"
  -D "CMAKE_BUILD_TYPE=$(cached CMAKE_BUILD_TYPE)"
  -D "CMAKE_PREFIX_PATH=$(cached CMAKE_PREFIX_PATH)"
  -D CMAKE_EXPORT_COMPILE_COMMANDS=ON
)
case $mode in
  find_package)
    # Moved after installing: a package that remembers where it was put would not be found.
    without_warnings cmake --install "$build_dir" --prefix "$scratch/staged"
    mv "$scratch/staged" "$scratch/prefix"
    configure+=(-D "obolus_ROOT=$scratch/prefix")
    ;;
  add_subdirectory)
    configure+=(-D "OBOLUS_SOURCE_DIR=$source_dir")
    ;;
  *) fail "no mode is called '$mode'; there are find_package and add_subdirectory" ;;
esac

tree=$scratch/tree
without_warnings cmake -S "$stranger/$mode" -B "$tree" "${configure[@]}"
without_warnings cmake --build "$tree" --parallel "$(nproc 2>/dev/null || echo 2)"

# What is ours to decide for our own tree is not ours to impose on a stranger's.
if grep -E '^OBOLUS_(BUILD_(TESTS|BENCH|APPS)|WERROR):BOOL=(ON|TRUE|1)$' "$tree/CMakeCache.txt"; then
  fail "these options are on in a stranger's project"
fi
if grep -E '^ *"command".*-Werror' "$tree/compile_commands.json"; then
  fail "-Werror reached a stranger's project"
fi
if [[ $mode == find_package ]] && grep -F "$source_dir/include" "$tree/compile_commands.json"; then
  fail "the installed package points back into the source tree"
fi

programs=(with_core)
if [[ $mode == find_package ]]; then programs+=(with_registry); fi
for program in "${programs[@]}"; do
  printf '$ %s\n' "$program"
  "$tree/$program" || fail "$program failed"
done
