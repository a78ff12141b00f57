/**
 * Makes one CommonJS file of the chunks that esbuild splits a program into. Each chunk becomes a function that is called
 * when something first needs it, and V8 spends nothing on what is in a function before it is called. Bundled without
 * splitting, the functions of all modules stand side by side, and each start pays for each of them.
 */
import { basename } from "node:path";

/** Takes what esbuild gives for one entry with `splitting`, `minify` and `metafile`; returns the text of the file. */
export function linkChunks({ outputFiles, metafile }, entry) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({ ...output, name: basename(path) }));
  const numbers = new Map(outputs.map(({ name }, number) => [name, number]));
  const first = outputs.find(({ entryPoint }) => entryPoint === entry);
  return [
    // The cache of compiled code asks which chunks were loaded.
    "const tauLoad=chunk=>tauLoaded[chunk]??=(globalThis.tauRooms?.add(String(chunk)),tauChunks[chunk]()),tauLoaded=[];",
    "const tauLate=async load=>load(),tauChunks=[",
    ...outputs.map(({ name, imports }) => `${asFunction(texts.get(name), imports, numbers)},`),
    `];tauLoad(${numbers.get(first.name)});`,
  ].join("\n");
}

/** As esbuild writes them: an import begins a statement and has no blanks that it can do without; the exports come last. */
const importStatement =
  /\bimport(?: (?<whole>[\w$]+) from|\*as (?<all>[\w$]+) from|\{(?<names>[^{}]*)\}from)?"(?<from>[^"]+)";/g;
const lateImport = /\bimport\("(?<from>[^"]+)"\)/g;
const exportStatement = /export\{(?<names>[^{}]*)\};$/;

/**
 * What a chunk imports becomes constants of its function, what it exports is what the function returns. So nothing that is
 * exported may be assigned again later: the linter forbids it.
 */
function asFunction(text, imports, numbers) {
  const load = (from) =>
    numbers.has(basename(from)) ? `tauLoad(${numbers.get(basename(from))})` : `require("${from}")`;
  let [head, found] = ["", 0];
  const exported = exportStatement.exec(text.trim())?.groups.names ?? "";
  const body = text
    .trim()
    .replace(exportStatement, "")
    .replaceAll(importStatement, (...match) => {
      const { whole, all, names, from } = match.at(-1);
      const bound = whole ?? all ?? (names && `{${names.replaceAll(" as ", ":")}}`);
      head += bound === undefined ? `${load(from)};` : `const ${bound}=${load(from)};`;
      found++;
      return "";
    })
    .replaceAll(lateImport, (...match) => {
      found++;
      return `tauLate(()=>${load(match.at(-1).from)})`;
    });
  const expected = imports.filter(({ kind }) => kind === "import-statement" || kind === "dynamic-import").length;
  if (found !== expected)
    throw new Error(`esbuild says ${expected} imports, and ${found} were found: ${body.slice(0, 200)}`);
  return `()=>{"use strict";${head}${body};return{${exported.replaceAll(/([\w$]+) as ([\w$]+)/g, "$2:$1")}}}`;
}
