// SPDX-License-Identifier: Apache-2.0
#include "campaign/config_patch.hpp"
