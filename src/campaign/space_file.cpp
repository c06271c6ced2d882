// SPDX-License-Identifier: Apache-2.0
#include "campaign/space_file.hpp"
