import { Report } from "./contract";
import { spread } from "./aggregate";
import { columnOf, fromColumn, fromEvaluation, lastValue, Quantity, REGRET } from "./quantity";
import { Series } from "./series";

export interface Ranking {
  by: string;
  rank: "least" | "most";
}

export function rankingOf(report: Report, series: Series): Ranking | undefined {
  return report.sources[series.runs[0].source].ranking;
}

function rankedQuantity(series: Series, by: string): Quantity {
  if (by === "") return REGRET;
  const measured = series.runs.some((run) => columnOf(run, "evaluation", by) !== undefined);
  return measured ? fromEvaluation(by) : fromColumn(by);
}

// The lowest score is best. As in the program, a setting with a diverged seed loses against one without.
export function score(series: Series, ranking: Ranking): number {
  if (series.runs.some((run) => run.status === "diverged")) return Infinity;
  const quantity = rankedQuantity(series, ranking.by);
  const { n, mean } = spread(series.runs.map((run) => lastValue(run, quantity)));
  if (n === 0) return Infinity;
  return ranking.rank === "most" ? -mean : mean;
}

// The program's own choice if it has made one; otherwise the best, the first of several equally good ones; undefined
// if the report does not say how settings are ranked.
export function bestSetting(report: Report, settings: Series[]): Series | undefined {
  const chosen = settings.find((s) =>
    report.sources[s.runs[0].source].best?.some(
      (b) => b.stream === s.stream && b.optimiser === s.optimiser && b.setting === s.setting,
    ),
  );
  if (chosen) return chosen;
  const ranking = settings.length > 0 ? rankingOf(report, settings[0]) : undefined;
  if (!ranking) return undefined;
  let best = settings[0];
  for (const s of settings) if (score(s, ranking) < score(best, ranking)) best = s;
  return best;
}
