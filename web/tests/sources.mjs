// The page's pure modules, bundled for node.
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const MODULES = {
  chart: ["chart_model", "chart_text", "figure", "palette", "svg_surface", "ticks", "trace", "zoom_keys"],
  data: ["aggregate", "append_row", "catalogue", "check_report", "quantity", "ranking", "series", "slope"],
  text: ["number_format", "shorten", "table_text"],
  view: ["histogram", "view", "x_axis"],
};

export async function sources() {
  const resolveDir = join(dirname(fileURLToPath(import.meta.url)), "../src");
  const contents = Object.entries(MODULES)
    .flatMap(([folder, names]) => names.map((name) => `export * from "./${folder}/${name}";`))
    .join("\n");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    logLevel: "error",
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString("base64")}`);
}
