import { Choice, el, labelled, note, segmented, select } from "../dom/dom";
import { shorten } from "../text/shorten";
import { chooseTheme, ThemeChoice } from "../chart/theme";
import { SettingChoice, View } from "../view/view";
import { axisAvailable, X_AXES, XAxis } from "../view/x_axis";

const choiceValue = (c: SettingChoice): string => (c.kind === "one" ? `one:${c.setting}` : c.kind);

function parseChoice(value: string): SettingChoice {
  if (value.startsWith("one:")) return { kind: "one", setting: value.slice(4) };
  return { kind: value === "all" ? "all" : "best" };
}

// The header's choices. Rebuilt when the runs change, else only their values are set.
export class Controls {
  readonly node = el("div", { class: "controls" });
  private built = "";
  private themeChoice: ThemeChoice = "auto";

  constructor(
    private readonly view: View,
    private readonly changed: () => void,
  ) {}

  update(): void {
    const { view } = this;
    const axes = (Object.keys(X_AXES) as XAxis[]).filter((axis) => axisAvailable(axis, view.series));
    const grids = view.optimisers().filter((o) => view.settingsOf(o).length > 1);
    const key = JSON.stringify([
      view.streams,
      view.stream,
      axes,
      view.xAxis,
      this.themeChoice,
      grids.map((o) => [o, view.settingsOf(o), view.choice(o)]),
    ]);
    if (key === this.built) return;
    this.built = key;
    const focus = this.focusKey();
    this.node.replaceChildren(...this.fields(axes, grids));
    if (focus)
      [...this.node.querySelectorAll<HTMLElement>("button, select, summary")].find((n) => keyOf(n) === focus)?.focus();
  }

  private focusKey(): string | null {
    const active = document.activeElement;
    return active instanceof HTMLElement && this.node.contains(active) ? keyOf(active) : null;
  }

  private fields(axes: XAxis[], grids: string[]): HTMLElement[] {
    const { view } = this;
    const out: HTMLElement[] = [];
    if (view.streams.length > 1) {
      const streams = view.streams.map((s) => ({ value: s, text: shorten(s, 60) || "(no name)" }));
      out.push(
        labelled(
          "Stream",
          select("Stream", streams, view.stream, (s) => this.set(() => (view.stream = s))),
        ),
      );
    }
    if (axes.length > 1) {
      const choices = axes.map((axis) => ({ value: axis, text: X_AXES[axis].choice }));
      const pick = (axis: string) =>
        this.set(() => {
          view.xAxis = axis as XAxis;
          view.zoom = null;
        });
      out.push(
        el(
          "div",
          { class: "field" },
          el("span", {}, "Horizontal axis"),
          segmented("Horizontal axis", choices, view.xAxis, pick),
        ),
      );
    }
    const themes = ["auto", "light", "dark"].map((t) => ({ value: t, text: t }));
    const pickTheme = (t: string) => this.set(() => chooseTheme((this.themeChoice = t as ThemeChoice)));
    out.push(
      el(
        "div",
        { class: "field" },
        el("span", {}, "Colours"),
        segmented("Colours", themes, this.themeChoice, pickTheme),
      ),
    );
    if (grids.length > 0) out.push(this.settings(grids));
    if (view.xAxis !== "rounds" && view.allMarks().length > 0)
      out.push(note("Drift marks are rounds, so they are drawn only when the axis shows rounds."));
    if (view.xAxis === "cost")
      out.push(
        note(
          "Gradient evaluations: gradients of f and g, each product with a second derivative counted as 2 and " +
            "each value as ½; mean over seeds.",
        ),
      );
    return out;
  }

  private settings(grids: string[]): HTMLElement {
    const { view } = this;
    const fields = grids.map((optimiser) => {
      const choices: Choice[] = view
        .settingsOf(optimiser)
        .map((s) => ({ value: `one:${s}`, text: shorten(s, 80) || "(default)" }));
      choices.unshift({ value: "all", text: "all settings" });
      if (view.ranked()) choices.unshift({ value: "best", text: `best: ${rankingText(view)}` });
      const pick = (value: string) => this.set(() => view.settings.set(optimiser, parseChoice(value)));
      return labelled(
        shorten(optimiser, 40),
        select(`Setting of ${optimiser}`, choices, choiceValue(view.choice(optimiser)), pick),
      );
    });
    const open = (this.node.querySelector("details") as HTMLDetailsElement | null)?.open ?? false;
    return el(
      "details",
      { class: "settings", open },
      el("summary", {}, `Settings of ${grids.length} optimiser${grids.length > 1 ? "s" : ""}`),
      el("div", { class: "settings-fields" }, ...fields),
    );
  }

  private set(change: () => void): void {
    change();
    this.view.forget();
    this.changed();
  }
}

const keyOf = (node: HTMLElement): string =>
  `${node.tagName} ${node.getAttribute("aria-label") ?? ""} ${node.dataset.value ?? ""}`;

function rankingText(view: View): string {
  const all = view.report.sources.flatMap((s) =>
    s.ranking ? [`${s.ranking.rank} ${s.ranking.by.replace(/_/g, " ") || "regret"}`] : [],
  );
  return shorten([...new Set(all)].join(" or "), 60);
}
