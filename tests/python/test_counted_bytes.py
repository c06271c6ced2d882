# SPDX-License-Identifier: Apache-2.0
"""scripts/counted_bytes.py on what the two tools print."""
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "scripts"))
import counted_bytes  # noqa: E402

COPY = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3>>(int, float)"
NCU = """==PROF== Connected to process 1
done
"ID","Kernel Name","Grid Size","dram__bytes_read.sum","dram__bytes_write.sum","lts__t_bytes.sum"
"","","","byte","byte","byte"
"0","vectorized_elementwise_kernel(int, T1)","(8, 1, 1)","200,000,000","100,000,000","400,000,000"
"1","nvjet_hsh_64x8","(4, 2, 1)","1,000","0","5,000,000"
"""


def row(start, name, grid, read, write, l2):
    return "\t".join(map(str, (start, 5, grid[0], grid[1], name, "Net/copy", 4, 0, read, write, l2, 0)))


class CountedBytes(unittest.TestCase):
    def compare(self, *rows):
        with tempfile.TemporaryDirectory() as folder:
            counted, ncu = pathlib.Path(folder, "rows.tsv"), pathlib.Path(folder, "ncu.csv")
            counted.write_text("\n".join(rows) + "\n")
            ncu.write_text(NCU)
            return counted_bytes.compare(counted_bytes.counted_rows(counted), counted_bytes.ncu_rows(ncu))

    def test_ratios_from_sizes_on_that_caches_do_not_decide(self):
        lines, dram, l2, problem = self.compare(row(20, "nvjet_hsh_64x8", (4, 2), 9000, 0, 5100000), row(10, COPY, (8, 1), 204e6, 102e6, 400e6))
        self.assertEqual(problem, "")
        self.assertAlmostEqual(dram, 0.02)
        self.assertAlmostEqual(l2, 0.02)
        self.assertIn("| 300.0 | 1.020 | 400.0 | 1.000 |", lines[0])
        self.assertIn("| nvjet_hsh_64x8 | 0.0 | - | 5.0 | 1.020 |", lines[1])

    def test_names_are_those_of_functions(self):
        for name in ("void at::native::(anonymous namespace)::cunn_SoftMaxForwardSmem<4, float>(float*, int)",
                     "at::native::<unnamed>::cunn_SoftMaxForwardSmem", "void cunn_SoftMaxForwardSmem<(int)4, T1>(T1 *, T2)"):
            self.assertEqual(counted_bytes.base_name(name), "cunn_SoftMaxForwardSmem")

    def test_other_launches_are_not_compared(self):
        self.assertIn("2 by ncu", self.compare(row(10, COPY, (8, 1), 1, 1, 1))[3])
        self.assertIn("launches differ", self.compare(row(10, COPY, (9, 1), 1, 1, 1), row(20, "nvjet_hsh_64x8", (4, 2), 1, 0, 1))[3])


if __name__ == "__main__":
    unittest.main()
