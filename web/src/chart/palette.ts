// Okabe and Ito's eight colours, which stay distinct under every common colour blindness. Orange, sky blue and yellow
// are darkened for white paper, and blue, vermillion and black lightened for the dark page, so that each has a contrast
// of at least 3 : 1 with the page (tests/text.test.mjs measures it).
export type Theme = "light" | "dark";

export interface Ink {
  page: string;
  text: string;
  faint: string;
  grid: string;
  mark: string;
  lines: string[];
}

export const INKS: { [theme in Theme]: Ink } = {
  light: {
    page: "#ffffff",
    text: "#24292f",
    faint: "#5b636d",
    grid: "#e7e5e0",
    mark: "#b3aea3",
    lines: ["#0072b2", "#d55e00", "#008a64", "#b4558c", "#b07800", "#2b8fc9", "#2b2b2b", "#857b00"],
  },
  dark: {
    page: "#17191c",
    text: "#e4e2dd",
    faint: "#a3a7ad",
    grid: "#2d3136",
    mark: "#626870",
    lines: ["#4aa8e0", "#f0823c", "#2fbf94", "#d98bb8", "#e6a817", "#8fd0f5", "#d9d9d9", "#f0e442"],
  },
};

// Seven patterns beside eight colours: 56 different lines, and the first seven differ in grey print too.
const DASHES: number[][] = [[], [9, 4], [2, 3], [10, 3, 2, 3], [5, 3], [16, 4], [10, 3, 2, 3, 2, 3]];

export interface LineStyle {
  colour: number; // index into Ink.lines
  dash: number[];
}

export function lineStyle(index: number): LineStyle {
  return { colour: index % 8, dash: DASHES[index % DASHES.length] };
}
