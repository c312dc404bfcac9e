// The page's pure modules, bundled for node.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const MODULES = ["aggregate", "append_row", "catalogue", "chart_model", "chart_text", "check_report", "figure", "histogram", "number_format", "palette", "quantity", "ranking", "series", "slope", "svg_surface", "table_text", "ticks", "trace", "view", "x_axis", "zoom_keys"];

export async function sources() {
  const resolveDir = join(dirname(fileURLToPath(import.meta.url)), "../src");
  const contents = MODULES.map((m) => `export * from "./${m}";`).join("\n");
  const { outputFiles } = await build({ stdin: { contents, resolveDir, loader: "ts" }, bundle: true, write: false, format: "esm", platform: "neutral", mainFields: ["module", "main"], logLevel: "error" });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
