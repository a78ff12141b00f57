/** The text of a Jupyter notebook. */

/**
 * Renders the cells of a notebook, with their outputs as text. Undefined for JSON that is not a notebook, and for what is no JSON.
 * Pure. This function is passed to a thread as text, so it must not use anything from outside of it.
 */
export function renderNotebook(json: string): string | undefined {
  type Values = Record<string, unknown>;
  const isValues = (value: unknown): value is Values =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const toValues = (value: unknown): Values => (isValues(value) ? value : {});
  const toList = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
  /** Texts are lines, or a string. */
  const toText = (value: unknown): string =>
    typeof value === "string"
      ? value
      : toList(value)
          .filter((line) => typeof line === "string")
          .join("");
  const toShort = (value: unknown): string =>
    (typeof value === "string" ? value : "").slice(0, 1_000).replaceAll(/\s+/g, " ").trim().slice(0, 100);
  /** Without the colours of terminals, and without what a progress bar wrote over. */
  const toPlain = (text: string): string => {
    // oxlint-disable-next-line no-control-regex
    const lines = text.replaceAll(/\u001b\[[0-9;?]*[A-Za-z]/g, "").split("\n");
    return lines
      .map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line))
      .map((line) => line.slice(line.lastIndexOf("\r") + 1))
      .join("\n");
  };
  const describeBytes = (base64: string): string => `${((base64.length * 3) / 4 / 1024).toFixed(1)} KB`;

  const parse = (): Values | undefined => {
    try {
      return toValues(JSON.parse(json));
    } catch {
      return undefined;
    }
  };
  const notebook = parse();
  if (!notebook) return undefined;
  // Before version 4 the cells were in worksheets.
  const sheets = toList(notebook["worksheets"]).flatMap((sheet) => toList(toValues(sheet)["cells"]));
  const cells = Array.isArray(notebook["cells"]) ? toList(notebook["cells"]) : sheets;
  if (typeof notebook["nbformat"] !== "number" || (cells.length === 0 && !Array.isArray(notebook["cells"])))
    return undefined;

  const texts = ["text/plain", "text/markdown", "text/latex", "image/svg+xml", "text/html"];
  /** Renders the form of an output that can be read best, and names the images. */
  const renderData = (data: Values): string => {
    const kinds = Object.keys(data);
    const kind = texts.find((each) => kinds.includes(each));
    const text =
      kind === undefined ? "" : `[Output${kind === "text/plain" ? "" : `, ${kind}`}]\n${toPlain(toText(data[kind]))}`;
    const images = kinds.filter((each) => each.startsWith("image/") && each !== kind);
    const notes = images.map((each) => `[Output, not shown: ${toShort(each)}, ${describeBytes(toText(data[each]))}]`);
    const isOther = kind === undefined && images.length === 0 && kinds.length > 0;
    const other = isOther ? [`[Output, not shown: ${kinds.slice(0, 5).map(toShort).join(", ")}]`] : [];
    return [text, ...notes, ...other].filter(Boolean).join("\n");
  };
  const renderOutput = (output: Values): string => {
    switch (output["output_type"]) {
      case "stream": {
        const name = output["name"] === "stderr" ? "[Output, standard error]" : "[Output]";
        return `${name}\n${toPlain(toText(output["text"]))}`;
      }
      case "error":
      case "pyerr": {
        const trace = toList(output["traceback"]).filter((line) => typeof line === "string");
        const name = `${toShort(output["ename"])}: ${toShort(output["evalue"])}`;
        return `[Error: ${name}]${trace.length > 0 ? `\n${toPlain(trace.join("\n"))}` : ""}`;
      }
      default: {
        // Before version 4 the forms were in the output itself, by short names.
        const old = { "text/plain": output["text"], "image/png": output["png"], "image/jpeg": output["jpeg"] };
        const known = Object.fromEntries(Object.entries(old).filter(([, value]) => value !== undefined));
        return renderData(isValues(output["data"]) ? output["data"] : known);
      }
    }
  };
  const blocks = cells.map((value, index) => {
    const cell = toValues(value);
    const kind = toShort(cell["cell_type"]) || "unknown";
    const count = cell["execution_count"] ?? cell["prompt_number"];
    const run = typeof count === "number" ? `, run ${count}` : "";
    const source = toPlain(toText(cell["source"] ?? cell["input"])).trimEnd();
    const outputs = toList(cell["outputs"]).map((output) => renderOutput(toValues(output)).trimEnd());
    return [`[Cell ${index + 1}, ${kind}${run}]`, source, ...outputs].filter(Boolean).join("\n");
  });
  const metadata = toValues(notebook["metadata"]);
  const language =
    toShort(toValues(metadata["kernelspec"])["display_name"]) || toShort(toValues(metadata["language_info"])["name"]);
  const amount = `${cells.length} cell${cells.length === 1 ? "" : "s"}`;
  const head = `[Notebook with ${amount}${language === "" ? "" : `, ${language}`}. It is a JSON file: change it as such, with a script.]`;
  return [head, ...blocks].join("\n\n");
}
