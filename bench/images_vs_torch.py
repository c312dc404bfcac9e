"""Ours beside PyTorch on the network of `loss_tuning`: the same numbers, and how long a gradient of g and a product
with its second derivative take.

    python3 bench/images_vs_torch.py [--program PATH] [--threads N] [--repeat N] [--seconds S] [--quick] [--no-check]
    python3 bench/images_vs_torch.py --torch-only [--quick] [--repeat N] [--seconds S]

Needs PyTorch (Debian: python3-torch). Pictures of 28×28 and labels of 10 classes are random. Blocks of either side are
timed in turns and the least times compared. A gradient is forward and backward, by all weights, γ and δ; a product is
g_yy v by double backward. PyTorch has the better of its two orders of memory.
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

import torch
import torch.nn.functional as F

SIDE, CLASSES = 28, 10
WIDTHS = ([32] * 4, [64] * 4, [16, 32, 64, 64])
BATCHES = (64, 256, 1024)
# Times PyTorch's time a gradient and a product of ours should be, and gradients a product may cost.
FASTER = {"gradient": 6.0, "product": 8.0}
GRADIENTS_A_PRODUCT = 2.2
TOO_FAR = 2e-3
ORDERS = {"channels first": torch.contiguous_format, "channels last": torch.channels_last}


class Ours:
    def __init__(self, program, threads):
        if not Path(program).is_file():
            sys.exit(f"there is no {program}; give --program PATH, or --torch-only")
        plain = {name: value for name, value in os.environ.items() if name not in MALLOC}
        self.process = subprocess.Popen(
            [program, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8", env=plain
        )

    def ask(self, line):
        """The words of the answer."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if not answer or answer[0] == "error":
            sys.exit(f"{self.process.args[0]} answered '{line}' with '{' '.join(answer)}'")
        return answer

    def case(self, channels, batch):
        """The number of parameters and of operations a gradient."""
        word, parameters, operations = self.ask(f"case {','.join(map(str, channels))} {batch}")
        assert word == "ready", word
        return int(parameters), float(operations)

    def least(self, what, seconds):
        return 1e-3 * float(self.ask(f"{what} {seconds}")[0])

    def quit(self):
        self.process.stdin.write("quit\n")
        self.process.stdin.close()
        self.process.wait()


def shapes(channels):
    """Of the parts of θ, as PyTorch has them; those of four sides come after a permutation."""
    side, before = SIDE, 1
    for width in channels:
        yield from ((width, before, 3, 3), (width,), (width,), (width,))
        side, before = side // 2, width
    yield from ((CLASSES, side * side * before), (CLASSES,))


def parts(theta, channels):
    """The tensors of PyTorch from one vector with W[o][ky][kx][i]."""
    position, tensors = 0, []
    for shape in shapes(channels):
        count = torch.Size(shape).numel()
        flat = theta[position : position + count]
        if len(shape) == 4:
            out, into, *kernel = shape
            tensors.append(flat.reshape(out, *kernel, into).permute(0, 3, 1, 2))
        else:
            tensors.append(flat.reshape(shape))
        position += count
    assert position == len(theta), f"{len(theta)} parameters, not {position}"
    return tensors


def inner_value(weights, x, pictures, labels):
    """g(x, θ)"""
    a, weights = pictures, list(weights)
    while len(weights) > 2:
        kernel, bias, scale, shift, *weights = weights
        a = F.max_pool2d(F.relu(F.conv2d(a, kernel, bias, padding=1)), 2)
        a = F.batch_norm(a, None, None, scale, shift, training=True, eps=1e-5)
    z = F.linear(a.permute(0, 2, 3, 1).flatten(1), *weights)
    return F.cross_entropy(x[:CLASSES] * z + x[CLASSES:], labels)


class Torch:
    """Leaves and a batch."""

    def __init__(self, channels, batch, order=torch.contiguous_format):
        generator = torch.Generator().manual_seed(1)

        def normal(shape):
            fan = torch.Size(shape[1:]).numel() if len(shape) > 1 else 4
            values = torch.randn(shape, generator=generator) * (2 / fan) ** 0.5
            return values.contiguous(memory_format=order) if len(shape) == 4 else values

        self.weights = [normal(shape).requires_grad_() for shape in shapes(channels)]
        self.direction = [normal(shape) for shape in shapes(channels)]
        self.x = torch.cat((torch.ones(CLASSES), torch.zeros(CLASSES))).requires_grad_()
        self.pictures = torch.rand(batch, 1, SIDE, SIDE, generator=generator).contiguous(memory_format=order)
        self.labels = torch.randint(CLASSES, (batch,), generator=generator)

    def value(self):
        return inner_value(self.weights, self.x, self.pictures, self.labels)

    def gradient(self):
        return torch.autograd.grad(self.value(), (*self.weights, self.x))

    def product(self):
        first = torch.autograd.grad(self.value(), self.weights, create_graph=True)
        return torch.autograd.grad(first, self.weights, self.direction)

    def kept(self):
        """A function for further products at the same point: the graph of the gradient stays."""
        first = torch.autograd.grad(self.value(), self.weights, create_graph=True)
        return lambda: torch.autograd.grad(first, self.weights, self.direction, retain_graph=True)


def least_of(job, seconds):
    """The least time of runs for about that long, at least two."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < 2 or time.perf_counter() < end:
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)


def processor_time(ours):
    """Of all processors: in all, busy, and busy with the two sides; in ticks of the system."""

    def used(pid):
        return sum(int(n) for n in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13])

    ticks = [int(n) for n in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    both = used("self") + (used(ours.process.pid) if ours else 0)
    return torch.tensor([sum(ticks), sum(ticks) - ticks[3] - ticks[4], both], dtype=torch.float64)


def check(ours, channels, folder):
    """Our numbers in float beside PyTorch in double, at our point. True when they agree.

    A maximum that float decides otherwise than double may cost 1e-3 alone: the point is one without such a tie.
    """
    path = Path(folder) / "check.json"
    ours.ask(f"check {path}")
    said = json.loads(path.read_text())

    def numbers(name):
        return torch.tensor(said[name], dtype=torch.float64)

    theta, x, v = (numbers(name).flatten() for name in ("theta", "x", "v"))
    pictures, labels = numbers("pictures").reshape(-1, 1, SIDE, SIDE), torch.tensor(said["labels"])
    theta.requires_grad_(), x.requires_grad_()
    g = inner_value(parts(theta, channels), x, pictures, labels)
    g_y, g_x = torch.autograd.grad(g, (theta, x), create_graph=True)
    hvp, cross = torch.autograd.grad(g_y @ v, (theta, x))
    far = {}
    for name, expected in {"g": g.reshape(1), "g_y": g_y, "g_x": g_x, "hvp": hvp, "cross": cross}.items():
        if name in said or name in ("g", "g_y", "hvp"):
            far[name] = float((numbers(name).reshape(expected.shape) - expected).norm() / expected.norm())
    passed = all(it <= TOO_FAR for it in far.values())  # not a number is too far
    told = ", ".join(f"{name} {it:.1e}" for name, it in far.items())
    print(f"{named(channels):12} {told}{'' if passed else '   TOO FAR'}", flush=True)
    return passed


def named(channels):
    return f"{channels[0]}×{len(channels)}" if len(set(channels)) == 1 else "-".join(map(str, channels))


def measure(ours, channels, batch, arguments):
    """Least seconds: of PyTorch by kind and order of memory, of ours by kind."""
    theirs, mine = {}, {}

    def least(times, key, seconds):
        times[key] = min(times.get(key, seconds), seconds)

    jobs = {}
    for name, order in ORDERS.items():
        if arguments.order in ("both", name.split()[-1]):
            side = Torch(channels, batch, order)
            jobs |= {("gradient", name): side.gradient, ("product", name): side.product}
            if arguments.kept:
                jobs["kept", name] = side.kept()
    for job in jobs.values():
        job()
    for _ in range(arguments.repeat):
        for key, job in jobs.items():
            least(theirs, key, least_of(job, arguments.seconds))
        if ours:
            time.sleep(0.05)  # OpenMP's threads look for work a while before they sleep
            for kind in ("gradient", "product"):
                least(mine, kind, ours.least(kind, arguments.seconds))
            least(mine, "flop", 1e-9 / float(ours.ask(f"peak {min(0.2, arguments.seconds)}")[0]))
    return theirs, mine


def report(channels, batch, operations, theirs, mine):
    """The rows of one case. True when every goal is reached, or nothing of ours was measured."""
    reached = True
    for kind in ("gradient", "product", "kept"):
        times = {order: t for (what, order), t in theirs.items() if what == kind}
        if not times:
            continue
        order = min(times, key=times.get)
        cells = [named(channels), batch, "product, graph kept" if kind == "kept" else kind, f"{1e3 * times[order]:.2f}"]
        cells.append(order.split()[-1])
        if mine:
            own = mine["product" if kind == "kept" else kind]
            ratio, cost = times[order] / own, own / mine["gradient"]
            cells += [f"{1e3 * own:.2f}", f"{ratio:.1f}×"]
            if kind == "gradient":
                met, goal = ratio >= FASTER[kind], f"{FASTER[kind]:g}×"
                cells += [goal, "", f"{operations / own * mine['flop']:.0%}"]
            elif kind == "product":
                met = ratio >= FASTER[kind] and cost <= GRADIENTS_A_PRODUCT
                cells += [f"{FASTER[kind]:g}×, {GRADIENTS_A_PRODUCT:g} gradients", f"{cost:.2f}", ""]
            else:
                met, cells = True, [*cells, "", "", ""]
            cells.append("" if kind == "kept" else "yes" if met else "no")
            reached = reached and met
        print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    return reached


def main():
    parser = argparse.ArgumentParser(description=" ".join(__doc__.split("\n\n")[0].split()))
    parser.add_argument("--program", default="build/bench/bench/images_rounds")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeat", type=int, default=5, help="blocks of each kind")
    parser.add_argument("--seconds", type=float, default=0.5, help="of a block, about")
    parser.add_argument("--quick", action="store_true", help="batches of 64 only")
    parser.add_argument("--order", choices=("both", "first", "last"), default="both", help="where PyTorch has channels")
    parser.add_argument("--kept", action="store_true", help="also PyTorch's products on a kept graph of g_y")
    parser.add_argument("--torch-only", action="store_true", help="PyTorch alone, without our program")
    parser.add_argument("--no-check", action="store_true", help="do not compare the numbers first")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    ours = None if arguments.torch_only else Ours(arguments.program, arguments.threads)
    batches = BATCHES[:1] if arguments.quick else BATCHES
    print(f"PyTorch {torch.__version__}, {arguments.threads} threads; pictures of {SIDE}×{SIDE}, {CLASSES} classes\n")

    agree = True
    if ours and not arguments.no_check:
        print("Distance from PyTorch in double precision, batch of 8, relative to the norm:\n")
        with tempfile.TemporaryDirectory() as folder:
            for channels in WIDTHS:
                ours.case(channels, 8)
                agree = check(ours, channels, folder) and agree
        print()

    heading = ["widths", "batch", "what", "PyTorch, ms", "channels"]
    if ours:
        heading += ["ours, ms", "ratio", "goal", "our gradients", "of FMA peak", "reached"]
    print("| " + " | ".join(heading) + " |\n|" + "---|" * len(heading), flush=True)
    before, reached, peak = processor_time(ours), True, 0.0
    for channels in WIDTHS:
        for batch in batches:
            parameters, operations = ours.case(channels, batch) if ours else (None, None)
            count = sum(torch.Size(shape).numel() for shape in shapes(channels))
            if parameters not in (None, count):
                sys.exit(f"{named(channels)} has {count} parameters, ours {parameters}")
            theirs, mine = measure(ours, channels, batch, arguments)
            reached = report(channels, batch, operations, theirs, mine) and reached
            peak = max(peak, 1e-9 / mine["flop"] if mine else 0.0)
    total, busy, own = processor_time(ours) - before
    others = float((busy - own) / total)
    if ours:
        print(f"\nFMA peak in float: {peak:.0f} GFLOP/s. {'Every goal is reached.' if reached else 'NOT EVERY GOAL.'}")
        ours.quit()
    print(f"\nOther processes had {others:.0%} of the processors meanwhile.")
    if others > 0.05:
        print("PyTorch's threads wait for each other after every operation and suffer most: QUOTE NONE OF THIS.")
    if not agree:
        print("OUR NUMBERS ARE TOO FAR FROM PYTORCH'S.")
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
