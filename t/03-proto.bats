#!/usr/bin/env bats
# formats/hip.api against the headers of the HIP installed.
load helper

# proto FILE: writes the check and compiles it.
proto() {
  echo '#include <hip/hip_runtime_api.h>' | cc -E -D__HIP_PLATFORM_AMD__ -x c - >headers.i
  grep -oE '\b(hip|HIP|__hip)[A-Za-z0-9_]*\b' headers.i | sort -u >names
  awk -f "$ROOT/t/lint/proto.awk" -v names=names "$1" >proto.c 2>counts
  cc -std=c11 -D__HIP_PLATFORM_AMD__ -Wall -Wno-unused-value -Wno-deprecated-declarations -Werror=int-conversion \
    -Werror=incompatible-pointer-types -Werror -c -o proto.o proto.c
}

@test "hip.api: calls and structures are those of the HIP headers" {
  echo '#include <hip/hip_runtime_api.h>' | cc -E -D__HIP_PLATFORM_AMD__ -x c - >/dev/null 2>&1 ||
    lacking "no HIP headers"
  proto "$ROOT/formats/hip.api"
  read -r calls structs <counts
  [ "$calls" -ge 250 ]
  [ "$structs" -ge 15 ]
}

@test "hip.api: a wrong parameter or offset is seen" {
  echo '#include <hip/hip_runtime_api.h>' | cc -E -D__HIP_PLATFORM_AMD__ -x c - >/dev/null 2>&1 ||
    lacking "no HIP headers"
  sed 's/^hipMalloc ptr:>dev size:size /hipMalloc ptr:>dev /' "$ROOT/formats/hip.api" >one
  run proto one
  [ "$status" -ne 0 ]
  sed 's/^hipFree ptr:dev /hipFree ptr:size /' "$ROOT/formats/hip.api" >two
  run proto two
  [ "$status" -ne 0 ]
  sed 's/pitch:size@24 value:uint@32/pitch:size@8 value:uint@32/' "$ROOT/formats/hip.api" >three
  run proto three
  [ "$status" -ne 0 ]
}

@test "hip.api: the manual of calls is what the table says" {
  awk -f "$ROOT/formats/calls.awk" "$ROOT/formats/hip.api" >calls.7
  cmp calls.7 "$ROOT/man/hrr-calls.7"
}

@test "hip.api: a family's glob that no call is of stops the build" {
  awk -f "$ROOT/formats/gen.awk" -v out=. "$ROOT/formats/hip.api"
  sed 's/^family set hipMemset\*/& hipMemfill*/' "$ROOT/formats/hip.api" >slip
  run_sep awk -f "$ROOT/formats/gen.awk" -v out=. slip
  status_is 1
  err_is 'hip.api: family set: no call is hipMemfill*'
}
