# SPDX-License-Identifier: Apache-2.0
"""Makes the newest profile of a results file one of a recorded program with one finding: plant_finding.py DATABASE RULE COMMAND..."""
import json
import os
import sqlite3
import sys

ARGUMENTS = {  # of the titles, src/trace/messages.json
    "elementwise_chain": {"chains": 3, "of": "kernels", "time": 2e6, "fused": 1e6, "a_run": False},
    "fp32_gemm": {"time": 2e6, "launches": 3},
    "launch_bound": {"share": 0.2},
    "sync": {"share": 0.2},
    "tiny_optimizer_kernels": {"name": "Adam", "kernels": 90, "each": 3e3},
}


def message(code, arguments):
    return {"code": "trace." + code, "arguments": arguments, "severity": "warning"}


def main():
    database, rule, *command = sys.argv[1:]
    with sqlite3.connect(database) as store:
        key, text = store.execute("SELECT id, record FROM run_records ORDER BY id DESC LIMIT 1").fetchone()
        run = json.loads(text)
        run["request"].update(command=command, files=[], directory=os.getcwd())
        run["answer"] = [{"title": message(rule.replace("-", "_"), ARGUMENTS[rule.replace("-", "_")]), "module": "", "evidence": [],
                          "saving_ns": 2000000, "saving_share": 0.2, "computed": message("computed_time", {}),
                          "advice": message("advice_no_sync", {}), "snippet": ""}]
        store.execute("UPDATE run_records SET record = ? WHERE id = ?", (json.dumps(run), key))
    store.close()
    print(key)


main()
