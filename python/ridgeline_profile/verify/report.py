# SPDX-License-Identifier: Apache-2.0
"""What a process found, as a file of its own in the folder that RIDGELINE_PROFILE_STEPS names (src/campaign/profile/step_report.hpp)."""
import json
import os

from ridgeline_profile.verify import settling


def write(folder, clock, change, outputs, losses, trains, is_cut):
    facts = {
        "steps": clock.steps,
        "blocks": [{"steps": steps, "ns": time} for steps, time in clock.blocks],
        "warm_up": settling.warm_up(clock.blocks),
        "trains": trains,
        "is_cut": is_cut,
        "outputs": outputs,
        "losses": losses,
        "change": change,
    }
    path = os.path.join(folder, "steps-%d.json" % os.getpid())
    with open(path + ".part", "w") as file:
        json.dump(facts, file, allow_nan=False)
    os.replace(path + ".part", path)
