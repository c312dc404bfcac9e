#include "page.hpp"

namespace obolus::cli {

// Stands in for the page that is built from web/.
std::string_view page() {
  return "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Obolus</title>\n"
         "<script id=\"obolus-data\" type=\"application/octet-stream\">@OBOLUS_DATA@</script>\n<pre id=\"log\"></pre>\n"
         "<script>\n"
         "const log = document.getElementById(\"log\"), source = new EventSource(\"events\" + location.search);\n"
         "for (const kind of [\"reset\", \"run\", \"row\", \"progress\", \"end\"])\n"
         "  source.addEventListener(kind, (e) => {\n"
         "    log.textContent = (kind + \" \" + e.data.slice(0, 400) + \"\\n\" + log.textContent).slice(0, 20000);\n"
         "    if (kind === \"end\") source.close();\n"
         "  });\n"
         "</script>\n</html>\n";
}

}  // namespace obolus::cli
