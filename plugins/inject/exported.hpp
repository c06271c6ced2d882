// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Before a function that others call by its name.
#define RL_EXPORT extern "C" __attribute__((visibility("default")))
