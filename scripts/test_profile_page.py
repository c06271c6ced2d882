#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a trace of a million kernels, and checks the page of its profile in headless Chromium: see test_profile_page.sh."""

import argparse
import base64
import json
import math
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

KERNELS, NAMES, MODULES, STEPS, STREAMS = 1_000_000, 30, 200, 20, 3
MOST_BYTES = 8 << 20
MOST_LOAD_MS = 2000
MOST_DRAW_MS = 16


def make_trace(path):
    """Kineto JSON; every module is an nn.Module range with its launches within. Returns the start and name of a kernel to find."""
    rng = random.Random(7)
    names = [f"void at::native::kernel_{i:02}<float, {i}>(float*, long)" for i in range(NAMES)]
    each = KERNELS // (STEPS * MODULES)
    found = None
    with open(path, "w", encoding="utf-8") as out:
        out.write('{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","numSms":132}],"traceEvents":[\n')
        host, correlation = 1000.0, 0
        gpu = [1010.0] * STREAMS
        for step in range(STEPS):
            step_start = host
            for module in range(MODULES):
                start = host
                for _ in range(each):
                    correlation += 1
                    stream = correlation % STREAMS
                    lasts = round(rng.uniform(1, 25), 3)
                    at = gpu[stream] = round(max(gpu[stream] + rng.uniform(0.3, 2), host + 3), 3)
                    gpu[stream] = at + lasts
                    name = names[rng.randrange(NAMES)]
                    if correlation == KERNELS // 2:
                        name = "the_needle_kernel"
                        found = (at, lasts)
                    out.write(f'{{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":{host:.3f},"dur":1.5,'
                              f'"args":{{"correlation":{correlation}}}}},\n')
                    out.write(f'{{"ph":"X","cat":"kernel","name":"{name}","pid":0,"tid":{7 + stream},"ts":{at:.3f},"dur":{lasts:.3f},"args":{{'
                              f'"device":0,"stream":{7 + stream},"correlation":{correlation},"grid":[{8 << module % 5},1,1],"block":[128,1,1]}}}},\n')
                    host += 4.7
                out.write(f'{{"ph":"X","cat":"python_function","name":"nn.Module: Block_{module}","pid":9,"tid":9,"ts":{start:.3f},'
                          f'"dur":{host - start - 0.5:.3f},"args":{{"Python id":{step * MODULES + module + 1}}}}},\n')
            out.write(f'{{"ph":"X","cat":"user_annotation","name":"ProfilerStep#{step}","pid":9,"tid":9,"ts":{step_start - 0.4:.3f},'
                      f'"dur":{host - step_start + 0.2:.3f}}}')
            out.write("\n]}\n" if step == STEPS - 1 else ",\n")
            host += 50
    return found


class Browser:
    """Headless Chromium over the pipes of its DevTools protocol; needs no package."""

    def __init__(self, program, width, height, folder):
        to_browser, self.out = os.pipe()
        self.into, from_browser = os.pipe()

        def set_pipes():
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe", "--no-first-run",
             f"--user-data-dir={folder}", f"--window-size={width},{height}", "about:blank"],
            preexec_fn=set_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.rest, self.session = 0, b"", None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Page.enable")

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                read = os.read(self.into, 1 << 20)
                if not read:
                    raise RuntimeError("the browser has ended")
                self.rest += read
            line, self.rest = self.rest.split(b"\0", 1)
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]

    def run(self, script):
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", str(answer["exceptionDetails"])))
        return answer["result"].get("value")

    def open(self, path):
        """Milliseconds from the navigation to the load event and to the first drawing of the timeline, by the page's own clock."""
        self.call("Page.navigate", url=pathlib.Path(path).absolute().as_uri())
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            times = self.run("[performance.getEntriesByType('navigation')[0]?.loadEventEnd || 0, "
                             "performance.getEntriesByName('timeline drawn')[0]?.startTime || 0]")
            if all(times):
                return times
            time.sleep(0.05)
        raise RuntimeError("the timeline was not drawn within a minute")

    def key(self, key):
        texts = {"Enter": "\r"}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, text=texts.get(key, ""), windowsVirtualKeyCode=13 if key == "Enter" else 0)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)

    def wheel(self, x, y, by):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=by)

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def shot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def close(self):
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.process.wait(timeout=20)


FRAME = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# The texts of the last drawing.
RECORD = """(() => {
  const fill = CanvasRenderingContext2D.prototype.fillText;
  window.drawnTexts = [];
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) { window.drawnTexts.push(text); return fill.call(this, text, ...rest); };
})()"""
TIP = "document.querySelector('figure[data-timeline] .tip:not([hidden])')?.innerText || ''"
DRAW = "performance.getEntriesByName('timeline draw').pop().duration"


def check(condition, text):
    print(("ok    " if condition else "FAILED ") + text)
    return condition


def search(browser, text):
    browser.run("{ const input = document.querySelector('figure[data-timeline] input'); input.focus({preventScroll: true}); "
                f"input.value = '{text}'; input.dispatchEvent(new Event('input')); }}")


def box_of(browser):
    browser.run("document.querySelector('figure[data-timeline]').scrollIntoView({behavior: 'instant'})")
    browser.run(FRAME)
    return browser.run("(r => [r.left, r.top, r.width, r.height])(document.querySelector('figure[data-timeline] canvas').getBoundingClientRect())")


def check_page(browser, page, needle):
    size = os.path.getsize(page)
    passed = check(size <= MOST_BYTES, f"size {size / (1 << 20):.2f} MiB, at most {MOST_BYTES >> 20}")
    loads = [browser.open(page) for _ in range(3)]
    load, drawn = max(loads, key=max)
    passed &= check(max(load, drawn) < MOST_LOAD_MS,
                    f"load event after {load:.0f} ms, timeline drawn after {drawn:.0f} ms, the longest of {len(loads)}; limit {MOST_LOAD_MS}")
    left, top, width, _ = box_of(browser)
    draws = []
    for _ in range(6):
        browser.run("document.querySelector('figure[data-timeline] canvas').focus({preventScroll: true})")
        browser.key("ArrowRight")
        browser.run(FRAME)
        draws.append(browser.run(DRAW))
        browser.key("+")
        browser.run(FRAME)
        draws.append(browser.run(DRAW))
    passed &= check(sorted(draws)[len(draws) // 2] < MOST_DRAW_MS, f"drawings take {', '.join(f'{ms:.1f}' for ms in draws)} ms; limit of the median {MOST_DRAW_MS}")
    browser.run("document.querySelector('figure[data-timeline] input').focus({preventScroll: true})")
    browser.call("Input.insertText", text="kernel_07")
    time.sleep(0.6)
    said = browser.run("document.querySelector('figure[data-timeline] output').textContent")
    passed &= check("found" in said and "s in total" in said, f"a search says: {said}")
    search(browser, "needle")
    browser.run(RECORD)
    browser.key("Enter")
    time.sleep(0.3)
    browser.run(FRAME)
    tip = browser.run(TIP).split("\n")
    passed &= check(tip[0] == "the_needle_kernel" and any("Block_" in line for line in tip) and any("ProfilerStep" in line for line in tip),
                    f"the tooltip of the kernel that was searched: {tip}")
    passed &= check("the_needle_kernel" in browser.run("window.drawnTexts"), "its name is drawn on it")
    # The same kernel again, from the whole run, with the wheel alone.
    search(browser, "")
    time.sleep(0.5)
    browser.run("document.querySelector('figure[data-timeline] .tools button:last-of-type').click()")
    browser.run(FRAME)
    time.sleep(0.4)
    at, lasts, span, stream = needle
    y = top + 54 + 18 + 19 + 10 + stream * (19 + 22 + 1 + 7)
    seen_from, seen = 0, span
    while seen > 20 * lasts:  # aims again before each turn, as a hand does
        x = round((at + lasts / 2 - seen_from) / seen * width)
        browser.hover(left + x, y)
        browser.wheel(left + x, y, -120)
        browser.run(FRAME)
        seen_from += x / width * seen * (1 - math.exp(-0.24))
        seen *= math.exp(-0.24)
    middle = round((at + lasts / 2 - seen_from) / seen * width)
    for x in sorted(range(middle - 60, middle + 60, 5), key=lambda x: abs(x - middle)):
        browser.hover(left + x, y)
        if browser.run(TIP).startswith("the_needle_kernel"):
            break
    passed &= check(browser.run(TIP).startswith("the_needle_kernel"), f"the wheel leads from the whole run to one kernel: {browser.run(TIP).splitlines()[:3]}")
    times = """(name => { const head = [...document.querySelectorAll('#kernels thead th')].find(one => one.textContent === name); head.querySelector('button').click();
      return [...head.closest('table').tBodies[0].rows].map(row => row.cells[head.cellIndex].textContent); })('Time')"""
    down, up = browser.run(times), browser.run(times)
    passed &= check(down == up[::-1] and len(set(down)) > 5 and browser.run("document.querySelector('#modules table button')") is None,
                    f"a header sorts kernels, and no tree: {down[0]} ... {down[-1]}")
    browser.call("Emulation.setDeviceMetricsOverride", width=360, height=740, deviceScaleFactor=2, mobile=True)
    time.sleep(0.5)
    passed &= check(browser.run("document.documentElement.scrollWidth") == 360, "a screen of 360 pixels shows the page without scrolling sideways")
    return passed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ridgeline", required=True)
    parser.add_argument("--chromium", required=True)
    parser.add_argument("--keep", help="a folder for the trace and its page")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = pathlib.Path(options.keep or folder)
        kept.mkdir(parents=True, exist_ok=True)
        trace, page = kept / "million.json", kept / "million.html"
        at, lasts = make_trace(trace)
        begun = time.monotonic()
        subprocess.run([options.ridgeline, "profile", "import", trace, "--db", f"{folder}/results.db", "--report", page], check=True, stdout=subprocess.DEVNULL)
        print(f"      imported and written in {time.monotonic() - begun:.1f} s")
        browser = Browser(options.chromium, 1400, 900, f"{folder}/browser")
        try:
            span = browser_span(trace)
            passed = check_page(browser, page, (at - span[0], lasts, span[1] - span[0], KERNELS // 2 % STREAMS))
        finally:
            browser.close()
    return 0 if passed else 1


def browser_span(trace):
    """First and last moment that the timeline shows, in microseconds."""
    first, last = float("inf"), 0.0
    with open(trace, encoding="utf-8") as lines:
        for line in lines:
            if '"kernel"' not in line and '"python_function"' not in line:
                continue
            start = float(line.split('"ts":')[1].split(",")[0])
            first = min(first, start)
            last = max(last, start + float(line.split('"dur":')[1].split(",")[0]))
    return first, last


if __name__ == "__main__":
    sys.exit(main())
