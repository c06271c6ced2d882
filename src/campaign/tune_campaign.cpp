// SPDX-License-Identifier: Apache-2.0
#include "campaign/tune_campaign.hpp"
