# SPDX-License-Identifier: Apache-2.0
"""ridgeline.stream against the real program, without a model."""
import array
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

PROGRAM = os.environ["RIDGELINE"]
sys.path.insert(0, subprocess.run([PROGRAM, "stream", "python"], check=True, capture_output=True, text=True).stdout.strip())

from ridgeline.stream import Pipeline, PipelineError  # noqa: E402


def pipeline(**more):
    more = {"width": 8, "height": 4, **more}
    return Pipeline("null", executable=PROGRAM, arguments=["--db", "stream.db"], **more)


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
            with self.assertRaisesRegex(ValueError, "a frame of 5 bytes; expected uint8 of shape 4x8, or 32 bytes"):
                stream.submit(b"12345")
            with self.assertRaisesRegex(ValueError, "rows have gaps"):
                stream.submit(memoryview(bytes(64))[::2])
        with self.assertRaisesRegex(PipelineError, "closed"):
            stream.submit(bytes(32))
        with self.assertRaisesRegex(ValueError, "format 'yuv'"):
            pipeline(format="yuv")

    def test_frames_of_the_wrong_shape_though_of_as_many_bytes(self):
        with pipeline() as stream:
            pixels = memoryview(bytearray(8 * 4 * 3))
            for shape in (8, 4, 3), (3, 4, 8), (1, 4, 8, 3), (4, 24), (32, 3):
                with self.assertRaisesRegex(ValueError, "a frame of shape %s; expected uint8 of shape 4x8x3" % "x".join(map(str, shape))):
                    stream.submit(pixels.cast("B", shape))
            self.assertEqual(stream.submit(pixels.cast("B", (4, 8, 3))), 0)
            self.assertEqual(stream.submit(pixels), 1)
            self.assertEqual([one.frame for one in stream.finish()], [0, 1])
        with pipeline(format="gray") as stream:
            self.assertEqual(stream.submit(memoryview(bytes(32)).cast("B", (4, 8))), 0)
            self.assertEqual(stream.submit(memoryview(bytes(32)).cast("B", (4, 8, 1))), 1)
        with pipeline(format="nv12") as stream:
            self.assertEqual(stream.submit(memoryview(bytes(48)).cast("B", (6, 8))), 0)
            with self.assertRaisesRegex(ValueError, "expected uint8 of shape 6x8, or 48 bytes"):
                stream.submit(memoryview(bytes(96)).cast("B", (4, 8, 3)))

    def test_frames_that_are_not_made_of_bytes(self):
        with pipeline() as stream:
            for frame, kind in ((array.array("f", [0] * 24), "float32"), (array.array("d", [0] * 12), "float64"),
                                (array.array("h", [0] * 48), "int16"), (array.array("b", [0] * 96), "int8"),
                                ([0] * 96, "type list"), ([[[0] * 3] * 8] * 4, "type list"), (None, "type NoneType"),
                                ("pixels", "type str"), (7, "type int")):
                with self.assertRaisesRegex(TypeError, "a frame of %s; expected uint8 of shape 4x8x3, or 96 bytes" % kind):
                    stream.submit(frame)
            self.assertEqual(stream.submit(bytes(96)), 0)
            self.assertEqual(len(list(stream.finish())), 1)

    def test_numpy_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy")
        with pipeline() as stream:
            picture = numpy.zeros((4, 8, 3), numpy.uint8)
            self.assertEqual(stream.submit(picture), 0)
            for dtype in numpy.float16, numpy.float32, numpy.float64, numpy.int64, numpy.bool_:
                with self.assertRaisesRegex(TypeError, "a frame of %s" % numpy.dtype(dtype).name):
                    stream.submit(picture.astype(dtype))
            with self.assertRaisesRegex(ValueError, "a frame of shape 8x4x3"):
                stream.submit(picture.transpose(1, 0, 2))
            for gaps in picture[:, ::-1], numpy.asfortranarray(picture), numpy.zeros((4, 16, 3), numpy.uint8)[:, ::2]:
                with self.assertRaisesRegex(ValueError, "rows have gaps"):
                    stream.submit(gaps)
            self.assertEqual(len(list(stream.finish())), 1)

    def test_what_the_program_says_is_the_constructors_error(self):
        began = threading.active_count()
        for wrong, words in (
                ({"settings": {"batchsize": 4}}, "batchsize: no such setting of a stream; hint: .*batch_size"),
                ({"slo": "60"}, "--slo 60: expected a duration with its unit: 60ms or 60s"),
                ({"format": "nv12", "height": 3}, "nv12")):
            with self.assertRaisesRegex(PipelineError, words):
                pipeline(**wrong)
        self.assertEqual(threading.active_count(), began)

    def test_a_model_that_is_not_there_is_the_constructors_error(self):
        with self.assertRaisesRegex(PipelineError, "no model at missing.onnx"):
            Pipeline("missing.onnx", width=8, height=4, executable=PROGRAM, arguments=["--db", "stream.db"])

    def test_get_gives_results_in_order_and_then_none(self):
        with pipeline() as stream:
            with self.assertRaisesRegex(TimeoutError, "no result within 0.05 s"):
                stream.get(timeout=0.05)
            with self.assertRaises(TimeoutError):
                stream.get(timeout=0)
            for number in range(3):
                stream.submit(bytes(96))
                self.assertEqual(stream.get(timeout=60).frame, number)
            stream.submit(bytes(96))
            stream.end()
            self.assertEqual(stream.get().frame, 3)
            self.assertIsNone(stream.get())
            self.assertIsNone(stream.get(timeout=1))
            with self.assertRaisesRegex(PipelineError, "closed"):
                stream.submit(bytes(96))

    def test_no_frame_is_no_fault(self):
        with pipeline() as stream:
            self.assertEqual(list(stream.finish()), [])
            self.assertIsNone(stream.get())

    def test_get_from_another_thread(self):
        with pipeline() as stream:
            taken = []
            taker = threading.Thread(target=lambda: taken.extend(one.frame for one in iter(stream.get, None)))
            taker.start()
            for _ in range(200):
                stream.submit(bytes(96))
            stream.end()
            taker.join(60)
            self.assertFalse(taker.is_alive())
            self.assertEqual(taken, list(range(200)))

    def test_closing_wakes_who_waits(self):
        stream = pipeline()
        taken = []
        takers = [threading.Thread(target=lambda: taken.append(stream.get())) for _ in range(2)]
        for taker in takers:
            taker.start()
        stream.close()
        for taker in takers:
            taker.join(60)
        self.assertEqual(taken, [None, None])

    def test_a_pipeline_that_is_killed(self):
        with pipeline() as stream:
            stream.submit(bytes(8 * 4 * 3))
            stream._process.send_signal(signal.SIGKILL)
            with self.assertRaises(PipelineError):
                for _ in range(100000):
                    stream.submit(bytes(8 * 4 * 3))
            with self.assertRaises(PipelineError):
                list(stream.finish())
            for _ in range(2):
                with self.assertRaises(PipelineError):
                    stream.get(timeout=5)


unittest.main()
