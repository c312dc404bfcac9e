import { ChartModel } from "../chart/chart_model";
import { PanelSpec } from "../data/catalogue";
import { FitSummary, fitOf } from "../data/fit_summary";
import { Series } from "../data/series";
import { quantityModel } from "../view/curves";
import { select } from "../dom/dom";
import { histogramModel, histogramsOf } from "../view/histogram";
import { hyperparameterModel, isLinear, namesOf } from "../view/hyperparameters";
import { calibrationModel, pairsModel } from "../view/last_window";
import { PanelContent } from "./panel";
import { REGRET } from "../data/quantity";
import { Shown, View } from "../view/view";
import { pathKind, pathModel } from "../view/x_paths";

type Refresh = (id: string) => void;

export function quantityContent(view: View, spec: PanelSpec, refresh: Refresh): PanelContent {
  let chosen = spec.quantities[0];
  const choices = spec.quantities.map((q) => ({ value: q.key, text: q.name, hint: q.meaning }));
  const pick = (key: string) => {
    chosen = spec.quantities.find((q) => q.key === key) ?? chosen;
    refresh(spec.id);
  };
  const regret = chosen.key === REGRET.key;
  return {
    id: spec.id,
    title: spec.title,
    wide: spec.wide,
    log: spec.log,
    canLogX: true,
    sharedX: true,
    model: (logs) => quantityModel(view, spec.title, chosen, logs),
    controls: () => (choices.length > 1 ? [select(`Quantity: ${spec.title}`, choices, chosen.key, pick)] : []),
    views: regret
      ? [
          { text: "linear", logs: { x: false, y: false } },
          { text: "log–log", logs: { x: true, y: true } },
        ]
      : undefined,
  };
}

// Paths and the last distribution show one series; both follow the same choice.
export class ChosenSeries {
  private label = "";

  constructor(private readonly view: View) {}

  candidates(usable: (shown: Shown) => boolean): Shown[] {
    return this.view.shown().filter(usable);
  }

  current(usable: (shown: Shown) => boolean): Shown | null {
    const all = this.candidates(usable);
    return all.find((s) => s.label === this.label) ?? all[0] ?? null;
  }

  choose(label: string): void {
    this.label = label;
  }
}

function chooser(
  chosen: ChosenSeries,
  title: string,
  usable: (s: Shown) => boolean,
  refresh: () => void,
): HTMLElement[] {
  const choices = chosen.candidates(usable).map((s) => ({ value: s.label, text: s.label }));
  if (choices.length < 2) return [];
  return [
    select(`Series: ${title}`, choices, chosen.current(usable)!.label, (label) => {
      chosen.choose(label);
      refresh();
    }),
  ];
}

const hasFinal = (s: Shown): boolean => histogramsOf(s.series).length > 0;

// Those with names have a chart each.
const hasNamelessPath = (view: View, s: Series): boolean => pathKind(s) !== null && namesOf(view, s).length === 0;

export function pathContent(view: View, chosen: ChosenSeries, refresh: () => void): PanelContent {
  const title = "Paths of the hyperparameters";
  const hasPath = (s: Shown): boolean => hasNamelessPath(view, s.series);
  return {
    id: "paths",
    title,
    wide: true,
    log: false,
    canLogX: true,
    sharedX: true,
    model: (logs) => {
      const shown = chosen.current(hasPath);
      return shown && pathModel(view, shown, logs);
    },
    controls: () => chooser(chosen, title, hasPath, refresh),
  };
}

export function finalContent(chosen: ChosenSeries, refresh: () => void): PanelContent {
  const title = "Last hyperparameters";
  return {
    id: "final",
    title,
    wide: false,
    log: false,
    canLogX: false,
    sharedX: false,
    model: (logs) => {
      const shown = chosen.current(hasFinal);
      return shown && histogramModel(shown, logs);
    },
    controls: () => chooser(chosen, title, hasFinal, refresh),
  };
}

export function hyperparameterContent(view: View, name: string): PanelContent {
  return {
    id: `hyperparameter-${encodeURIComponent(name.toWellFormed?.() ?? name)}`,
    title: name,
    wide: false,
    small: true,
    log: !isLinear(name),
    canLogX: true,
    sharedX: true,
    model: (logs) => hyperparameterModel(view, name, logs),
    controls: () => [],
  };
}

// A chart of the chosen fit's last rows.
function lastContent(
  id: string,
  title: string,
  model: (shown: Shown, fit: FitSummary) => ChartModel | null,
  view: View,
  chosen: ChosenSeries,
): PanelContent {
  return {
    id,
    title,
    wide: false,
    log: false,
    canLogX: false,
    sharedX: false,
    model: () => {
      const fit = chosenFit(view, chosen);
      return fit && model(fit.shown, fit.summary);
    },
    controls: () => [],
    plain: true,
  };
}

export const calibrationContent = (view: View, chosen: ChosenSeries): PanelContent =>
  lastContent("calibration", "Calibration", calibrationModel, view, chosen);
export const pairsContent = (view: View, chosen: ChosenSeries): PanelContent =>
  lastContent("pairs", "Predicted against true", pairsModel, view, chosen);

const fitOfSeries = (view: View, series: Series): FitSummary | null => fitOf(view.report, series.runs[0]);
const isFit = (view: View) => (s: Shown): boolean => fitOfSeries(view, s.series) !== null;

export function chosenFit(view: View, chosen: ChosenSeries): { shown: Shown; summary: FitSummary } | null {
  const shown = chosen.current(isFit(view));
  const summary = shown && fitOfSeries(view, shown.series);
  return summary ? { shown, summary } : null;
}

export const fitChooser = (view: View, chosen: ChosenSeries, refresh: () => void): HTMLElement[] =>
  chooser(chosen, "the last rows", isFit(view), refresh);

export const anyPath = (view: View): boolean => view.series.some((s) => hasNamelessPath(view, s));
export const anyCalibration = (view: View): boolean =>
  view.series.some((s) => !!fitOfSeries(view, s)?.calibration);
export const anyPairs = (view: View): boolean => view.series.some((s) => !!fitOfSeries(view, s)?.pairs.length);
export const anyFinal = (view: View): boolean => view.series.some((s) => histogramsOf(s).length > 0);
