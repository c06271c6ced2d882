// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one way into ONNX's protobuf classes. Debian's headers expect these two names from the including project and
// must see the values that libonnx itself was built with.
#ifndef ONNX_ML
#define ONNX_ML 1
#endif
#ifndef ONNX_NAMESPACE
#define ONNX_NAMESPACE onnx
#endif

#include <onnx/onnx_pb.h>
