/* SPDX-License-Identifier: Apache-2.0 */
/* Says that it is ONNX Runtime 1.10, which is too old for us. */
#include <stdint.h>
#include <stddef.h>

struct ApiBase {
  const void* (*get_api)(uint32_t version);
  const char* (*get_version_string)(void);
};
static const void* get_api(uint32_t version) {
  (void)version;
  return NULL;
}
static const char* get_version_string(void) { return "1.10.0"; }
static const struct ApiBase kBase = {get_api, get_version_string};

__attribute__((visibility("default"))) const struct ApiBase* OrtGetApiBase(void) { return &kBase; }
