"""Ours beside PyTorch on rounds of SF²OBO on 20 Newsgroups: the same numbers, and how long each takes.

    make bench-text
    python3 bench/text_vs_torch.py [--program PATH] [--threads N] [--repeat N] [--full] [--full-torch] [--no-check]

Needs PyTorch and SciPy (Debian: python3-torch, python3-scipy) and the corpus (`obolus data get 20news`). Blocks of
rounds of either side are timed in turns; a block of ours has more rounds, so that blocks last about as long.
docs/benchmarks.md says what is measured.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# glibc would hand every large tensor back to the system and fault it in again.
MALLOC = {
    "MALLOC_MMAP_THRESHOLD_": "8589934592",
    "MALLOC_TRIM_THRESHOLD_": "8589934592",
    "MALLOC_TOP_PAD_": "268435456",
}
if __name__ == "__main__" and any(os.environ.get(name) != value for name, value in MALLOC.items()):
    os.execve(sys.executable, [sys.executable, *sys.argv], os.environ | MALLOC)

import numpy
import torch
import torch.nn.functional as F
from scipy.sparse import csr_matrix

EXPORTED = 220  # rounds whose batches PyTorch gets, ten epochs; it begins again after the last


class Ours:
    def __init__(self, program, threads):
        plain = {name: value for name, value in os.environ.items() if name not in MALLOC}
        self.process = subprocess.Popen(
            [program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", env=plain
        )

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.process.args[0]} gave no answer to '{line}'")
        return json.loads(answer)


class Documents:
    """Some rows with their labels, as embedding_bag wants them."""

    def __init__(self, corpus, rows, labels):
        first = corpus.start[rows]
        lengths = corpus.start[rows + 1] - first
        ends = numpy.cumsum(lengths)
        entries = numpy.repeat(first - (ends - lengths), lengths) + numpy.arange(ends[-1])
        self.count = len(rows)
        self.columns = torch.from_numpy(corpus.column[entries])
        self.values = torch.from_numpy(corpus.value[entries])
        self.offsets = torch.from_numpy(ends - lengths)
        self.lengths = lengths
        self.labels = torch.from_numpy(labels)

    def logits(self, weights):
        return F.embedding_bag(self.columns, weights, self.offsets, mode="sum", per_sample_weights=self.values)

    def owners(self):
        return torch.from_numpy(numpy.repeat(numpy.arange(self.count), self.lengths))

    def matrix(self, features):
        # Rows are in order and their columns ascend: nothing to coalesce.
        index = torch.stack((self.owners(), self.columns))
        return torch.sparse_coo_tensor(index, self.values, (self.count, features))._coalesced_(True)


class Corpus:
    def __init__(self, ours, folder, dtype=numpy.float32):
        self.settings = ours.ask(f"data {folder}/data")
        self.start = numpy.fromfile(f"{folder}/data.start", numpy.int64)
        self.column = numpy.fromfile(f"{folder}/data.column", numpy.int32).astype(numpy.int64)
        self.value = numpy.fromfile(f"{folder}/data.value", numpy.float32).astype(dtype)
        self.batches = {}
        for mode in ("reuse", "fresh"):
            ours.ask(f"batches {mode} {EXPORTED} {folder}/{mode}")
            shape = EXPORTED, -1, 2, self.settings["batch"]  # round, draw, g's or f's, row
            self.batches[mode] = [
                numpy.fromfile(f"{folder}/{mode}.{part}", numpy.int32).astype(numpy.int64).reshape(shape)
                for part in ("row", "label")
            ]

    def batches_of(self, mode, t):
        """The batches of round t, of g and of f, each with its number of inner steps; made when asked for."""
        rows, labels = (part[(t - 1) % EXPORTED] for part in self.batches[mode])
        for of_rows, of_labels in zip(rows, labels, strict=True):
            steps = self.settings["inner_steps"] // len(rows)
            yield Documents(self, of_rows[0], of_labels[0]), Documents(self, of_rows[1], of_labels[1]), steps


class Rounds:
    """SF²OBO on tensors; a style says how y and z step."""

    def __init__(self, corpus, mode, dtype=torch.float32):
        s = corpus.settings
        self.corpus, self.mode, self.t = corpus, mode, 0
        self.y, self.z = (torch.zeros(s["features"], s["classes"], dtype=dtype) for _ in range(2))
        self.x = torch.full((s["features"],), s["start_x"], dtype=dtype)

    def round(self):
        s = self.corpus.settings
        self.t += 1
        self.alpha = s["alpha"]
        self.penalty = s["lambda1"] * self.t ** s["tau"]
        self.beta = self.alpha / self.penalty
        for g, f, steps in self.corpus.batches_of(self.mode, self.t):
            self.descend(g, f, steps)
        direction = self.direction()
        with torch.no_grad():
            self.x.sub_(direction, alpha=s["gamma"]).clamp_(0, s["most_x"])

    # λ(g_x(y) − g_x(z)); the losses do not depend on x
    @torch.no_grad()
    def direction(self):
        return 0.5 * self.penalty * ((self.y * self.y).sum(1) - (self.z * self.z).sum(1))


class Autograd(Rounds):
    """As one writes it first: losses, and autograd for every gradient."""

    def prepared(self, documents):
        return documents

    def logits(self, documents, weights):
        return documents.logits(weights)

    def regulariser(self, weights):
        return 0.5 * (self.x * (weights * weights).sum(1)).sum()

    def descend(self, g, f, steps):
        a, v = self.prepared(g), self.prepared(f)

        def inner(weights):
            return F.cross_entropy(self.logits(a, weights), g.labels) + self.regulariser(weights)

        def penalised(weights):
            return F.cross_entropy(self.logits(v, weights), f.labels) + self.penalty * inner(weights)

        for _ in range(steps):
            for weights, value, step in ((self.z, inner, self.alpha), (self.y, penalised, self.beta)):
                (gradient,) = torch.autograd.grad(value(weights.requires_grad_()), weights)
                weights.requires_grad_(False).sub_(gradient, alpha=step)

    def direction(self):
        self.x.requires_grad_()
        difference = self.penalty * (self.regulariser(self.y) - self.regulariser(self.z))
        (gradient,) = torch.autograd.grad(difference, self.x)
        self.x.requires_grad_(False)
        return gradient


class AutogradSparse(Autograd):
    """The same with a sparse matrix."""

    def prepared(self, documents):
        return documents.matrix(len(self.x))

    def logits(self, documents, weights):
        return torch.sparse.mm(documents, weights)


class ByHand(Rounds):
    """Gradients by hand, weights in place: embedding_bag forward, index_add_ backward."""

    @torch.no_grad()
    def descend(self, g, f, steps):
        shrink = (1 - self.alpha * self.x)[:, None]  # β λ = α: the same for y
        g, f = ((documents, documents.owners(), documents.values[:, None]) for documents in (g, f))
        for _ in range(steps):
            of_g = self.change(self.z, g)
            self.add(self.z.mul_(shrink), g, of_g, self.alpha)
            of_g, of_f = self.change(self.y, g), self.change(self.y, f)
            self.add(self.y.mul_(shrink), g, of_g, self.beta * self.penalty)
            self.add(self.y, f, of_f, self.beta)

    @staticmethod
    def change(weights, data):
        documents = data[0]
        p = torch.softmax(documents.logits(weights), 1)
        p[torch.arange(documents.count), documents.labels] -= 1
        return p.div_(documents.count)

    @staticmethod
    def add(weights, data, change, step):
        documents, owners, values = data
        weights.index_add_(0, documents.columns, change[owners].mul_(values), alpha=-step)


def bags(matrix):
    """The product of a compressed matrix, by its rows or columns, with weights."""
    index, start = (torch.from_numpy(part.astype(numpy.int64, copy=False)) for part in (matrix.indices, matrix.indptr))
    values = torch.from_numpy(matrix.data)

    def product(weights):
        return F.embedding_bag(index, weights, start, mode="sum", per_sample_weights=values, include_last_offset=True)

    return product


class Compact(Rounds):
    """By hand with what our kernels do, as far as tensors allow: the features of a batch are gathered once for its
    steps, the batch is sorted by columns for the way back, and the other features shrink once."""

    @torch.no_grad()
    def descend(self, g, f, steps):
        columns = torch.cat((g.columns, f.columns)).numpy()
        values = torch.cat((g.values, f.values)).numpy()
        starts = torch.cat((g.offsets, f.offsets + len(g.columns), torch.tensor([len(columns)]))).numpy()
        met = numpy.zeros(len(self.x), bool)
        met[columns] = True
        touched = numpy.flatnonzero(met)
        local = numpy.empty(len(self.x), numpy.int64)
        local[touched] = numpy.arange(len(touched))
        matrix = csr_matrix((values, local[columns], starts), shape=(len(starts) - 1, len(touched)))
        labels = torch.cat((g.labels, f.labels))
        step = torch.full((len(labels), 1), self.beta / f.count, dtype=self.x.dtype)
        step[: g.count] = self.alpha / g.count  # β λ = α
        touched = torch.from_numpy(touched)
        shrink = 1 - self.alpha * self.x
        for weights, rows in ((self.z, matrix[: g.count]), (self.y, matrix)):
            compact, own, there, back = weights[touched], shrink[touched, None], bags(rows), bags(rows.tocsc())
            document = torch.arange(rows.shape[0])
            for _ in range(steps):
                p = torch.softmax(there(compact), 1)
                p[document, labels[document]] -= 1
                compact.mul_(own).sub_(back(p.mul_(step[: len(document)])))
            weights.mul_((shrink**steps)[:, None]).index_copy_(0, touched, compact)


STYLES = {
    "autograd, sparse.mm": AutogradSparse,
    "autograd, embedding_bag": Autograd,
    "by hand, in place": ByHand,
    "by hand, compact": Compact,
}


def timed(job, rounds):
    start = time.perf_counter()
    for _ in range(rounds):
        job.round()
    return (time.perf_counter() - start) / rounds


def processor_time(ours):
    """Of all processors: in all, busy, and busy with the two sides; in ticks of the system."""

    def used(pid):
        return sum(int(n) for n in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])

    ticks = [int(n) for n in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return numpy.array([sum(ticks), sum(ticks) - ticks[3] - ticks[4], used("self") + used(ours.process.pid)])


def check(ours, corpus, exact, folder, rounds=20):
    """Both sides after the same rounds, beside PyTorch in double precision. True when they agree."""
    agree = True
    print(f"After {rounds} rounds, the largest differences from PyTorch by hand in double precision, relative to the")
    print("largest change of x since the start, and to the largest logit of the next round's documents:\n")
    print(f"{'':32} {'x':>8} {'logits of y':>12} {'logits of z':>12}")
    for mode in ("reuse", "fresh"):
        reference = ByHand(exact, mode, torch.float64)
        sides = {name: style(corpus, mode) for name, style in STYLES.items()}
        for job in (reference, *sides.values()):
            for _ in range(rounds):
                job.round()
        ours.ask(f"iterates {mode} {rounds} {folder}/{mode}")
        mine = Rounds(corpus, mode)
        for part in ("x", "y", "z"):
            numbers = torch.from_numpy(numpy.fromfile(f"{folder}/{mode}.{part}", numpy.float32))
            setattr(mine, part, numbers.reshape(getattr(mine, part).shape))
        documents = next(exact.batches_of("reuse", rounds + 1))[:2]

        def values(job):
            logits = [torch.cat([d.logits(w.double()) for d in documents]) for w in (job.y, job.z)]
            return job.x.double() - corpus.settings["start_x"], *logits

        expected = values(reference)
        for name, job in {"ours": mine, **sides}.items():
            far = [float((a - b).abs().max() / b.abs().max()) for a, b in zip(values(job), expected, strict=True)]
            # A thousand roundings of 2^-24 in the weights; x has the difference of two norms, λ times.
            passed = far[0] < 1e-2 and max(far[1:]) < 1e-4
            agree = agree and passed
            print(f"{mode:6} {name:25} {far[0]:8.1e} {far[1]:12.1e} {far[2]:12.1e}{'' if passed else '   TOO FAR'}")
    print(flush=True)
    return agree


def measure(ours, corpus, arguments):
    """Seconds per round, one for every block, and the last output of ours."""
    spent, said = {}, {}

    def torch_block(mode, name):
        spent.setdefault((mode, name), []).append(timed(jobs[mode, name], arguments.rounds))

    def our_block(mode, rounds):
        said[mode] = ours.ask(f"{mode} {rounds}")
        spent.setdefault((mode, "ours"), []).append(said[mode]["seconds"])

    jobs = {(mode, name): style(corpus, mode) for mode in ("reuse", "fresh") for name, style in STYLES.items()}
    for job in jobs.values():
        job.round()
    many = arguments.rounds * 20
    for mode in ("reuse", "fresh", "dual", "order2", "dense"):
        ours.ask(f"{mode} 1")
    bandwidth = 0
    for _ in range(arguments.repeat):
        for mode, name in jobs:
            torch_block(mode, name)
            time.sleep(0.05)  # OpenMP's threads look for work a while before they sleep
            if name == "by hand, in place":
                our_block(mode, many)
        our_block("dual", many), our_block("order2", many), our_block("dense", arguments.rounds)
        bandwidth = max(bandwidth, ours.ask("bandwidth")["bytes"])
    return spent, said, bandwidth


def report(spent, said, bandwidth):
    def least_and_median(mode, name):
        blocks = sorted(spent[mode, name])
        return blocks[0], blocks[len(blocks) // 2]

    def line(mode, name, what):
        times = least_and_median(mode, name)
        told = f"{mode:7} {what:32} {1e3 * times[0]:8.2f} {1e3 * times[1]:8.2f}"
        if name != "ours":
            ratios = [theirs / mine for theirs, mine in zip(times, least_and_median(mode, "ours"), strict=True)]
            told += f"   {ratios[0]:7.1f} {ratios[1]:7.1f}"
        print(told)

    print(f"{'ms per round':40} {'min':>8} {'median':>8}   times ours: min, median")
    for mode in ("reuse", "fresh"):
        line(mode, "ours", "ours")
        for name in STYLES:
            line(mode, name, f"PyTorch {name}")
    for mode, what in (("dual", "warm_start dual"), ("order2", "order 2, dual"), ("dense", "plain dense gradients")):
        line(mode, "ours", f"ours, {what}")
    print(f"\nread and written in place: {bandwidth / 1e9:.1f} GB/s")
    print(f"{'MB per round':18} {'storage':>9} {'compact':>9} {'sweeps':>9} {'in all':>9}    of that bandwidth")
    for mode in ("reuse", "fresh", "dual", "order2"):
        parts = [said[mode][part] for part in ("rows", "compact", "sweeps")]
        share = sum(parts) / min(spent[mode, "ours"]) / bandwidth
        print(f"{mode:18} " + " ".join(f"{part / 1e6:9.1f}" for part in (*parts, sum(parts))) + f"    {share:.0%}")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default="build/bench/bench/text_rounds")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=7, help="blocks of each kind")
    parser.add_argument("--rounds", type=int, default=5, help="rounds in a block of PyTorch; ours has 20 times as many")
    parser.add_argument("--full", action="store_true", help="also 10,000 rounds of ours")
    parser.add_argument("--full-torch", action="store_true", help="and of PyTorch by hand: many minutes")
    parser.add_argument("--no-check", action="store_true", help="do not compare the numbers first")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    ours = Ours(arguments.program, arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        corpus = Corpus(ours, Path(folder))
        s = corpus.settings
        print(f"PyTorch {torch.__version__}, {arguments.threads} threads; our kernels: {s['kernels']}")
        print(
            f"{s['documents']:,} documents, {s['features']:,} features, {s['classes']} classes; a round has "
            f"{s['batch']} rows of g and of f and {s['inner_steps']} steps of y and z\n"
        )
        agree = True
        if not arguments.no_check:
            agree = check(ours, corpus, Corpus(ours, Path(folder), numpy.float64), folder)
        before = processor_time(ours)
        spent, said, bandwidth = measure(ours, corpus, arguments)
        total, busy, own = processor_time(ours) - before
        report(spent, said, bandwidth)
        others = (busy - own) / total
        print(f"Other processes had {others:.0%} of the processors meanwhile.")
        if others > 0.05:
            print("PyTorch's threads wait for each other after every operation and suffer most: QUOTE NONE OF THIS.")
        if arguments.full:
            print(f"10,000 rounds of ours, batches reused: {ours.ask('full 10000')['seconds']:.1f} s", flush=True)
        if arguments.full_torch:
            print(f"10,000 rounds of PyTorch by hand: {10_000 * timed(ByHand(corpus, 'reuse'), 10_000):.1f} s")
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
