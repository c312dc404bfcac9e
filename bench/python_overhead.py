"""What Python costs: python bench/python_overhead.py [--repeats N]. Prints Markdown tables.

- Native problems: rounds driven from Python, one `reveal` and one `step` each, against the same rounds inside one call.
- An oracle in Python: what a call costs beyond the time of its own method, which a plain loop over the same methods
  tells.

Every number is the minimum of the repeats; what is compared takes turns in each of them.
"""

import argparse
import time

import numpy as np
import obolus

NATIVE = [
    ("quadratic, d = 2", obolus.problems.Quadratic(dim_x=2, dim_y=2), 2000),
    ("quadratic, d = 100", obolus.problems.Quadratic(dim_x=100, dim_y=100), 200),
    ("quadratic, d = 200", obolus.problems.Quadratic(dim_x=200, dim_y=200), 50),
    ("quadratic, d = 400", obolus.problems.Quadratic(dim_x=400, dim_y=400), 10),
]


class Preallocated:
    """An oracle of size (1, 1) that does next to nothing."""

    def __init__(self):
        self.numbers = np.zeros(1)
        self.calls = 0

    def dims(self):
        return (1, 1)

    def gradient(self, x, y):
        self.calls += 1
        return self.numbers

    outer_gradient_x = outer_gradient_y = inner_gradient_x = inner_gradient_y = gradient


def seconds(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def native_row(name, problem, rounds, repeats):
    """Rounds N+1 … 2N: the first N warm up."""
    optimiser, held = obolus.F2obo(), problem.native
    metrics = {"regret": False, "residuals": False, "variation": False, "every": rounds}
    driven, inside = [], []
    for _ in range(repeats):
        session = obolus.Session(optimiser, held)
        for t in range(1, 2 * rounds + 1):
            if t == rounds + 1:
                start = time.perf_counter()
            held.reveal(t)
            session.step()
        driven.append(time.perf_counter() - start)
        ends = []
        obolus.run(optimiser, held, rounds=2 * rounds, metrics=metrics, every=rounds,
                   callback=lambda row: ends.append(time.perf_counter()))  # fmt: skip
        inside.append(ends[1] - ends[0])
    a, b = min(inside) / rounds * 1e6, min(driven) / rounds * 1e6
    return f"| {name} | {rounds} | {a:.2f} | {b:.2f} | {b - a:+.2f} | {(b / a - 1) * 100:+.2f} % |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=60)
    repeats = parser.parse_args().repeats
    print("| native problem | rounds | inside, µs per round | from Python, µs per round | difference | overhead |")
    print("|---|---:|---:|---:|---:|---:|")
    for name, problem, rounds in NATIVE:
        print(native_row(name, problem, rounds, repeats))
    print()
    oracle_table(repeats)


def oracle_table(repeats, rounds=2000):
    oracle = Preallocated()
    a, b = np.zeros(1), np.zeros(1)
    totals, plain, calls = [], [], 0
    for _ in range(repeats):
        session = obolus.Session(obolus.F2obo(), oracle)

        def steps():
            for _ in range(rounds):
                session.step()

        oracle.calls = 0
        totals.append(seconds(steps))
        calls = oracle.calls

        def loop():
            method = oracle.inner_gradient_y
            for _ in range(calls):
                method(a, b)

        plain.append(seconds(loop))
    total, own = min(totals) / calls * 1e6, min(plain) / calls * 1e6
    print("| Python oracle | calls | in a session, µs per call | plain loop, µs per call | beyond, µs per call |")
    print("|---|---:|---:|---:|---:|")
    print(f"| (1, 1), preallocated results | {calls} | {total:.2f} | {own:.2f} | {total - own:.2f} |")


if __name__ == "__main__":
    main()
