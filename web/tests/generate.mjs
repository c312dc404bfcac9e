// Plausible reports from a seed: the same call gives the same report.

export function random(seed) {
  let state = seed >>> 0;
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

export const OPTIMISERS = [
  "f2obo",
  "f2obo single",
  "af2obo",
  "sf2obo",
  "sobow",
  "obbo",
  "fsobo",
  "aobo",
  "sogd",
  "ogd fixed y",
  "x = 0",
  "x = 1",
];

// What the program says of its columns, as far as these reports have them.
const info = (panel, scale, labels) =>
  Object.entries(labels).map(([name, label]) => ({ name, label, meaning: "", panel, scale }));
export const CATALOGUE = [
  ...info("losses", "linear", { f: "outer loss f", g: "inner loss g" }),
  ...info("regret", "linear", {
    regret: "cumulative regret",
    regret_increment: "regret of the round",
    own_mapping: "|G|² of the method's own direction",
  }),
  ...info("residuals", "log", {
    hypergradient_error: "hypergradient error",
    residual_y: "residual of y",
    residual_z: "residual of z",
    separation: "separation |y − z|",
  }),
  ...info("lambda", "linear", { lambda: "penalty λ" }),
  ...info("steps", "linear", { inner_steps: "inner steps", capped: "rounds at the cap (0/1)" }),
  ...info("oracle", "linear", {
    grad_f: "gradients of f",
    grad_g: "gradients of g",
    hvp: "Hessian-vector products",
    cross: "cross products",
    values: "function values",
  }),
  ...info("time", "linear", { seconds: "seconds in updates" }),
];

const six = (v) => Number(v.toPrecision(6));

function rounds(rows, horizon) {
  return Array.from({ length: rows }, (_, i) => Math.max(1, Math.round(((i + 1) * horizon) / rows)));
}

// Regret ~ level · t^power; losses fall towards a floor with noise.
function columns(t, rng, power, level, full) {
  const n = t.length;
  const col = (f) => t.map((v, i) => six(f(v, i)));
  const regret = col((v) => level * v ** power * (1 + 0.01 * (rng() - 0.5)));
  const out = {
    t,
    f: col((v) => 0.4 + level / Math.sqrt(v) + 0.05 * rng()),
    g: col((v) => 0.2 + (2 * level) / v + 0.02 * rng()),
    regret,
    lambda: col((v) => 2 * v ** 0.25),
    inner_steps: t.map(() => 4 + Math.floor(4 * rng())),
    grad_f: t.map((v) => 2 * v),
    grad_g: t.map((v) => 9 * v),
    hvp: t.map((v) => (power > 0.6 ? 3 * v : 0)),
    cross: t.map((v) => (power > 0.6 ? v : 0)),
    values: t.map((v) => v),
    seconds: col((v) => 2e-5 * v * (1 + 0.1 * power)),
  };
  if (!full) return out;
  return {
    ...out,
    regret_increment: regret.map((r, i) => six(i ? r - regret[i - 1] : r)),
    own_mapping: col((v) => level / v + 0.001 * rng()),
    hypergradient_error: col((v) => 0.3 * v ** -0.5 * (0.5 + rng())),
    residual_y: col((v) => 0.1 * v ** -0.5 * (0.5 + rng())),
    residual_z: col((v) => 0.05 * v ** -0.6 * (0.5 + rng())),
    separation: col((v) => 0.5 * v ** -0.25),
    capped: t.map(() => (rng() < 0.02 ? 1 : 0)),
  };
}

function evaluation(t, rng, level) {
  const every = (f) => t.map((v, i) => (i % 5 === 4 || i === t.length - 1 ? six(f(v)) : null));
  return {
    test_loss: every((v) => 0.5 + level / Math.sqrt(v) + 0.02 * rng()),
    test_accuracy: every((v) => 0.9 - 0.3 / Math.sqrt(v) - 0.05 * level + 0.01 * rng()),
    scale_least: every((v) => 0.1 + 0.01 * Math.log(v)),
  };
}

export function run(options) {
  const {
    seed = 1,
    rows = 200,
    horizon = 10000,
    power = 0.5,
    level = 1,
    full = true,
    measures = true,
    ...rest
  } = options;
  const rng = random(seed * 7919 + Math.round(power * 1000) + rows);
  const t = rounds(rows, horizon);
  return {
    source: 0,
    stream: "quadratic",
    optimiser: "f2obo",
    setting: "",
    seed,
    status: "finished",
    rounds: horizon,
    horizon,
    notes: [],
    columns: columns(t, rng, power, level * (1 + 0.2 * rng()), full),
    evaluation: measures ? evaluation(t, rng, level) : {},
    ...rest,
  };
}

export function withValues(r, size, points = 100) {
  const rng = random(r.seed + size);
  const t = rounds(points, r.horizon);
  const phases = Array.from({ length: size }, () => rng() * 6);
  const values = phases.map((p) => t.map((v) => six(Math.sin(p) + 0.3 * Math.sin(p + v / 1500))));
  const last = values.map((v) => v[v.length - 1]);
  return { ...r, x: { size, t, values }, final: histogram(last, 10, true) };
}

function histogram(values, bins, keep) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  const counts = new Array(bins).fill(0);
  for (const v of values) counts[Math.min(bins - 1, Math.floor(((v - least) / (most - least || 1)) * bins))]++;
  return { size: values.length, least, most, counts, ...(keep ? { values } : {}) };
}

export function withQuantiles(r, size = 130000, points = 120) {
  const t = rounds(points, r.horizon);
  const levels = [0, 0.05, 0.25, 0.5, 0.75, 0.95, 1];
  const spreads = [-3, -1.6, -0.7, 0, 0.7, 1.6, 3.4];
  const quantiles = spreads.map((s) => t.map((v) => six(-1 + 0.2 * Math.log10(v) + s * (1 - 0.5 / Math.sqrt(v)))));
  const bins = 50;
  const counts = Array.from({ length: bins }, (_, i) => Math.round((size / 20) * Math.exp(-(((i - 24) / 8) ** 2))));
  return { ...r, x: { size, t, levels, quantiles }, final: { size, least: -3.5, most: 2.8, counts } };
}

const machine = { processor: "Test processor", cores: 2, memory_gb: 8, system: "Linux", compiler: "g++ 12" };

export function source(options = {}) {
  return {
    name: "runs/one",
    kind: "run",
    config: '[problem]\nname = "quadratic"\n',
    about: [{ command: "obolus run one.toml", obolus: "0.1.0", started: "2026-11-16T10:00:00Z", machine }],
    summary: null,
    streams: [{ name: "quadratic", problem: "quadratic", marks: [] }],
    ...options,
  };
}

export function report(options) {
  return {
    format: 1,
    title: "runs/one",
    made: { obolus: "0.1.0", date: "2026-11-16", command: "obolus report runs/one -o report.html" },
    catalogue: CATALOGUE,
    sources: [source()],
    runs: [],
    ...options,
  };
}

// 12 optimisers × 5 seeds × 2 streams; every third optimiser has a grid of three settings; one setting diverges.
export function comparison() {
  const marks = [2500, 5000, 7500].map((t, i) => ({ t, text: `drift ${i + 1}` }));
  const src = source({
    name: "runs/compare",
    kind: "comparison",
    ranking: { by: "", rank: "least" },
    streams: ["interior", "noisy"].map((name) => ({
      name,
      problem: "oscillation",
      marks: name === "interior" ? marks : [],
    })),
    tables: [
      {
        title: "Equal rounds: interior",
        header: ["optimiser", "regret"],
        align: "lr",
        rows: [
          ["f2obo", "1.2 ± 0.1"],
          ["sogd", "3.4 ± 0.2"],
        ],
      },
    ],
  });
  const runs = [];
  for (const stream of ["interior", "noisy"]) {
    OPTIMISERS.forEach((optimiser, o) => {
      const settings = o % 3 === 0 ? ["gamma=0.01", "gamma=0.05", "gamma=0.2"] : [""];
      settings.forEach((setting, k) => {
        for (let seed = 1; seed <= 5; seed++) {
          const power = 0.3 + 0.05 * o;
          const r = run({
            stream,
            optimiser,
            setting,
            seed,
            power,
            level: 1 + Math.abs(k - 1),
            full: o < 4,
            rows: 200,
          });
          if (o < 2) r.bound = 500;
          runs.push(o === 3 && k === 2 && seed === 2 ? diverge(r) : r);
        }
      });
    });
  }
  return report({ title: "runs/compare", sources: [src], runs });
}

export function diverge(r) {
  const keep = 40;
  const cut = (set) => Object.fromEntries(Object.entries(set).map(([name, list]) => [name, list.slice(0, keep)]));
  return {
    ...r,
    status: "diverged",
    quantity: "y",
    rounds: r.columns.t[keep - 1],
    columns: cut(r.columns),
    evaluation: cut(r.evaluation),
    notes: ["12 rounds at the cap: the inner loop did not reach its tolerance"],
  };
}

// The load the page is built for: 20 runs of 10,000 rounds.
export function heavy() {
  const runs = [];
  for (let o = 0; o < 10; o++) {
    for (let seed = 1; seed <= 2; seed++) {
      const r = run({
        optimiser: OPTIMISERS[o],
        seed,
        rows: 10000,
        horizon: 10000,
        power: 0.3 + 0.05 * o,
        full: true,
        measures: false,
      });
      delete r.columns.own_mapping;
      delete r.columns.residual_z;
      delete r.columns.capped;
      delete r.columns.separation;
      runs.push(r);
    }
  }
  return report({ title: "twenty runs", runs });
}

// A fit of classes or numbers: metrics of the window, alarms, named hyperparameters and a summary. `names`: of its
// classes.
export function fit(options = {}) {
  const { names = ["no", "yes"], task = "classes", rows = 400, seed = 1, summary = {}, ...rest } = options;
  const rng = random(seed * 31 + rows);
  const t = Array.from({ length: rows }, (_, i) => i + 1);
  const at = (f) => t.map((v) => six(f(v)));
  const tuned = ["rate", "l2", "temperature", ...(task === "classes" ? [`shift of ${names[1]}`] : [])];
  const paths = [(v) => 2 / Math.sqrt(v), (v) => 1e-5 * v ** 0.3, () => 1 + 0.1 * rng(), (v) => Math.sin(v / 80) - 0.2];
  const values = tuned.map((_, k) => at(paths[k]));
  const metrics =
    task === "classes"
      ? {
          log_loss: at((v) => 0.3 + 0.4 / v),
          accuracy: at((v) => 0.9 - 0.4 / v),
          window_log_loss: at((v) => 0.25 + 0.1 * Math.sin(v / 40) ** 2),
          window_accuracy: at((v) => 0.92 - 0.05 * Math.sin(v / 40) ** 2),
          window_kappa: at(() => 0.8),
        }
      : {
          squared_error: at((v) => 2 + 9 / v),
          absolute_error: at((v) => 1 + 2 / v),
          window_squared_error: at(() => 1.5 + rng()),
          window_absolute_error: at(() => 0.9 + 0.2 * rng()),
        };
  const bins = Array.from({ length: 10 }, (_, i) => {
    const rows = i === 4 ? 0 : 10 * (i + 1);
    return { rows, weight: rows, probability: i / 10 + 0.05, frequency: i / 10 + 0.02 };
  });
  const last =
    task === "classes"
      ? {
          rows: 1000,
          calibration: { of: `class ${names[1]}`, bins },
          confusion: {
            classes: names,
            folded: 0,
            weights: names.map((_, i) => names.map((_, j) => (i === j ? 90 + i : i + j))),
            unpredicted: names.map(() => 0),
          },
        }
      : { rows: 1000, pairs: Array.from({ length: 200 }, (_, i) => [i / 10, six(i / 10 + rng() - 0.5)]) };
  return {
    source: 0,
    stream: "rows",
    optimiser: "first-order",
    setting: "",
    seed,
    status: "finished",
    rounds: rows,
    horizon: rows,
    notes: [],
    columns: { t, rows: t.map((v) => 8 * v), f: at((v) => 0.3 + 1.5 * rng() + 0 * v), seconds: at((v) => v / 1e4) },
    evaluation: metrics,
    x: { size: tuned.length, t, values },
    alarms: [
      { t: 80, text: "adwin" },
      { t: 180, text: "page-hinkley" },
      { t: 300, text: "adwin" },
    ],
    summary: {
      status: "finished",
      rows: 8 * rows,
      rounds: rows,
      batch: 8,
      settings: { window: "500" },
      task,
      tuned,
      at_bound: { rate: 0.125 },
      prequential: { log_loss: 0.31, accuracy: 0.89 },
      window: { log_loss: 0.27, accuracy: 0.91 },
      last_window: last,
      largest_weights: [
        { feature: "width", for: names[1], weight: -1.25 },
        { feature: "#00ff", for: names[0], weight: 0.5 },
      ],
      ...summary,
    },
    ...rest,
  };
}

// As the program writes it: the summary is the source's.
export function fitReport(runs) {
  const config = '[problem]\nname = "rows"\n[fit]\nbatch = 8\n';
  const sources = runs.map(({ summary }, i) =>
    source({
      name: `runs/fit${i}`,
      config,
      summary,
      streams: [{ name: "rows", problem: "rows", marks: [] }],
    }),
  );
  return report({ title: "a fit", sources, runs: runs.map(({ summary, ...run }, i) => ({ ...run, source: i })) });
}
