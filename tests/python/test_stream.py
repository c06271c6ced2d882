# SPDX-License-Identifier: Apache-2.0
"""ridgeline.stream against the real program, without a model."""
import os
import signal
import subprocess
import sys
import time
import unittest

PROGRAM = os.environ["RIDGELINE"]
sys.path.insert(0, subprocess.run([PROGRAM, "stream", "python"], check=True, capture_output=True, text=True).stdout.strip())

from ridgeline.stream import Pipeline, PipelineError  # noqa: E402


def pipeline(**more):
    return Pipeline("null", width=8, height=4, executable=PROGRAM, arguments=["--db", "stream.db"], **more)


class Stream(unittest.TestCase):
    def test_every_frame_has_a_result_in_order(self):
        with pipeline() as stream:
            for number in range(300):
                self.assertEqual(stream.submit(bytes(8 * 4 * 3)), number)
            results = stream.ready()
            results += stream.finish()
        self.assertEqual([one.frame for one in results], list(range(300)))
        self.assertTrue(all(one.dropped is None and one.latency_ms >= 0 for one in results))

    def test_results_come_while_frames_do(self):
        with pipeline(slo=10, settings={"batch_size": 2, "efficiency": False}) as stream:
            seen = 0
            for _ in range(200):
                stream.submit(bytearray(8 * 4 * 3))
                seen += len(stream.ready())
                if seen:
                    break
                time.sleep(0.05)
            self.assertGreater(seen, 0)

    def test_frames_of_the_wrong_form(self):
        with pipeline(format="gray") as stream:
            with self.assertRaisesRegex(ValueError, "a frame of 5 bytes; expected 32"):
                stream.submit(b"12345")
            with self.assertRaisesRegex(ValueError, "rows have gaps"):
                stream.submit(memoryview(bytes(64))[::2])
        with self.assertRaisesRegex(PipelineError, "closed"):
            stream.submit(bytes(32))
        with self.assertRaisesRegex(ValueError, "format 'yuv'"):
            pipeline(format="yuv")

    def test_what_the_program_says_is_the_error(self):
        with pipeline(settings={"batchsize": 4}) as stream:
            with self.assertRaisesRegex(PipelineError, "batchsize: no such setting of a stream; hint: .*batch_size"):
                list(stream.finish())

    def test_a_pipeline_that_is_killed(self):
        with pipeline() as stream:
            stream.submit(bytes(8 * 4 * 3))
            stream._process.send_signal(signal.SIGKILL)
            with self.assertRaises(PipelineError):
                for _ in range(100000):
                    stream.submit(bytes(8 * 4 * 3))
            with self.assertRaises(PipelineError):
                list(stream.finish())


unittest.main()
