#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the raw times of paired_verdicts say about the plan of a comparison.

    paired_verdicts MODEL.onnx 20 RAW.csv --slower 0 [--plan '{"block_time_s": 0.1, "discard_runs": 0, "discard_time_s": 0}']
    paired_raw.py RAW.csv...

- How long the first inferences of a block take, against the median of the block's second half.
- How block medians scatter when only the first part of each block is used: standard deviation of an ABBA round's log ratio.
- Whether comparisons differ by more than their ABBA rounds and their pairs of sessions account for, and whether what a pair of
  sessions gets follows from the pair before.
- How a pair's ratio changes within blocks of half a second and more: what one arm inherits from the other.
- How ratios over 2 to 12 pairs of sessions in counterbalanced order would scatter, by drawing pairs of all comparisons at random.
"""
import csv
import math
import random
import statistics
import sys


def read(paths):
    """{(file, title, number): [(round, arm, times in ms)]} in the order they ran."""
    comparisons = {}
    csv.field_size_limit(1 << 30)
    for path in paths:
        with open(path, newline="") as file:
            for row in csv.reader(file):
                times = [float(text) * 1e-6 for text in row[5:]]
                comparisons.setdefault((path, row[0], int(row[1])), []).append((int(row[2]), row[4], times))
    return comparisons


def abba_ratios(blocks, part_ms=math.inf):
    """[(round, log ratio of B to A)] of the whole ABBA rounds, from the first part_ms of each block."""
    found = []
    for at in range(0, len(blocks) - 3, 4):
        total = 0
        for _, arm, times in blocks[at:at + 4]:
            used, spent = [], 0
            for time in times:
                if used and spent + time > part_ms:
                    break
                used.append(time)
                spent += time
            total += (0.5 if arm == "B" else -0.5) * math.log(statistics.median(used))
        found.append((blocks[at][0], total))
    return found


def correlation(values, lag):
    mean = statistics.fmean(values)
    square = sum((value - mean)**2 for value in values)
    return sum((a - mean) * (b - mean) for a, b in zip(values, values[lag:])) / square if square else 0


def first_inferences(comparisons):
    edges = [0, 0.5, 1, 2, 4, 8, 16]
    ratios = [[] for _ in edges]
    for blocks in comparisons.values():
        for _, _, times in blocks:
            if len(times) < 4:
                continue
            level = statistics.median(times[len(times) // 2:])
            spent = 0
            for time in times[:len(times) // 2]:
                place = max(i for i, edge in enumerate(edges) if spent >= edge)
                ratios[place].append(time / level)
                spent += time
    print("| into the block, ms | inferences | median, against the block's second half |\n|---:|---:|---:|")
    for i, edge in enumerate(edges):
        if ratios[i]:
            to = f" to {edges[i + 1]:g}" if i + 1 < len(edges) else " and more"
            print(f"| {edge:g}{to} | {len(ratios[i])} | {100 * (statistics.median(ratios[i]) - 1):+.1f} % |")


def scatter_by_length(comparisons):
    longest = statistics.median(sum(times) for blocks in comparisons.values() for _, _, times in blocks)
    print("\n| of each block, ms | standard deviation of an ABBA round's log ratio |\n|---:|---:|")
    for part in (2, 5, 10, 20, 50, 100):
        if part > 1.1 * longest:
            break
        spread = [robust_deviation([ratio for _, ratio in abba_ratios(blocks, part)]) for blocks in comparisons.values()]
        print(f"| {part} | {100 * statistics.fmean(spread):.2f} % |")


def ratio_within_blocks(comparisons):
    edges = [0, 50, 100, 150, 200, 300, 400, math.inf]
    for (path, title, number), blocks in comparisons.items():
        if statistics.median(sum(times) for _, _, times in blocks) < 500:
            continue
        # Means, not medians: what a card at its power limit gets done.
        spent = {arm: [[0, 0] for _ in edges[1:]] for arm in "AB"}
        # The times of callers that run side by side add up to that many times the block.
        total = {arm: statistics.median(sum(times) for _, of, times in blocks if of == arm) for arm in "AB"}
        callers = {arm: max(1, round(total[arm] / min(total.values()))) for arm in "AB"}
        for _, arm, times in blocks:
            into = 0
            for time in times:
                part = spent[arm][max(i for i, edge in enumerate(edges[:-1]) if into >= edge)]
                part[0] += time
                part[1] += 1
                into += time / callers[arm]
        print(f"\n{path}, {title} {number}: time of an inference against the last line's\n"
              "| into the block, ms | A | B | ratio of A to B |\n|---:|---:|---:|---:|")
        last = {arm: spent[arm][-1][0] / max(1, spent[arm][-1][1]) for arm in "AB"}
        for i, edge in enumerate(edges[:-1]):
            if not all(spent[arm][i][1] and last[arm] for arm in "AB"):
                continue
            of = {arm: spent[arm][i][0] / spent[arm][i][1] / last[arm] for arm in "AB"}
            to = f" to {edges[i + 1]:g}" if edges[i + 1] < math.inf else " and more"
            print(f"| {edge}{to} | {of['A']:.3f} | {of['B']:.3f} | {of['A'] / of['B']:.3f} |")


def robust_deviation(values):
    middle = statistics.median(values)
    return 1.4826 * statistics.median(abs(value - middle) for value in values)


def between_comparisons(comparisons):
    for title in sorted({key[1] for key in comparisons}):
        means, by_abba_rounds, by_rounds, next_abba_round, one, two = [], [], [], [], [], []
        for key, blocks in comparisons.items():
            if key[1] != title:
                continue
            ratios = abba_ratios(blocks)
            rounds = {}
            for number, ratio in ratios:
                rounds.setdefault(number, []).append(ratio)
            values = [ratio for _, ratio in ratios]
            of_rounds = [statistics.fmean(group) for group in rounds.values()]
            means.append(statistics.median(values))
            by_abba_rounds.append(1.2533 * robust_deviation(values) / math.sqrt(len(values)))
            next_abba_round.append(correlation(values, 1))
            if len(of_rounds) > 3:
                by_rounds.append(robust_deviation(of_rounds) / math.sqrt(len(of_rounds)))
                one.append(correlation(of_rounds, 1))
                two.append(correlation(of_rounds, 2))
        print(f"\n{title}: {len(means)} comparisons, median ratio {math.exp(statistics.median(means)):.4f}")
        if len(means) > 2:
            print(f"  their medians scatter by {100 * statistics.stdev(means):.2f} %; the scatter of their ABBA rounds accounts for "
                  f"{100 * statistics.fmean(by_abba_rounds):.2f} %" +
                  (f", that of their pairs of sessions for {100 * statistics.fmean(by_rounds):.2f} %" if by_rounds else ""))
        print(f"  correlation of an ABBA round with the next {statistics.fmean(next_abba_round):+.2f}" +
              (f"; of a pair of sessions with the next {statistics.fmean(one):+.2f}, with the one after {statistics.fmean(two):+.2f}"
               if one else ""))


def trimmed_mean(values):
    """A round's, as analysis::estimate_of_rounds has it."""
    cut = len(values) // 4 if len(values) < 8 else len(values) // 5
    return statistics.fmean(sorted(values)[cut:len(values) - cut])


def by_number_of_rounds(comparisons):
    for title in sorted({key[1] for key in comparisons}):
        turns = ([], [])
        for key, blocks in comparisons.items():
            rounds = {}
            for number, ratio in abba_ratios(blocks) if key[1] == title else []:
                rounds.setdefault(number, []).append(ratio)
            for number, values in rounds.items():
                turns[number % 2].append(trimmed_mean(values))
        if min(map(len, turns)) < 4:
            continue
        chance = random.Random(1)
        scatter = []
        for rounds in (2, 4, 6, 8, 10, 12):
            ratios = [statistics.fmean(chance.choice(turns[at % 2]) for at in range(rounds)) for _ in range(2000)]
            scatter.append(f"{100 * statistics.stdev(ratios):.2f} % over {rounds}")
        print(f"\n{title}, resampled: ratios scatter by {', '.join(scatter)} pairs of sessions")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    comparisons = read(sys.argv[1:])
    first_inferences(comparisons)
    scatter_by_length(comparisons)
    ratio_within_blocks(comparisons)
    between_comparisons(comparisons)
    by_number_of_rounds(comparisons)


if __name__ == "__main__":
    main()
