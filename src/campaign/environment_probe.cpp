// SPDX-License-Identifier: Apache-2.0
#include "campaign/environment_probe.hpp"
