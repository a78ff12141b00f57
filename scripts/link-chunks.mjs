/**
 * Makes one CommonJS file of the chunks that esbuild splits a program into. Each chunk becomes a function that is called
 * when something first needs it: V8 reads nothing of a chunk from the code cache before that. esbuild itself splits only
 * ES modules, for which Node takes no code cache.
 */
import { basename } from "node:path";

/** Takes esbuild's result for one entry with `splitting`, `minify` and `metafile`; returns the text of the file. */
export function linkChunks({ outputFiles, metafile }, entry) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({ ...output, name: basename(path) }));
  const indexes = new Map(outputs.map(({ name }, index) => [name, index]));
  const main = outputs.find(({ entryPoint }) => entryPoint === entry);
  return [
    // The code cache must know which chunks were loaded.
    "const tauLoad=chunk=>tauLoaded[chunk]??=(globalThis.tauLoadedChunks?.add(String(chunk)),tauChunks[chunk]()),tauLoaded=[];",
    "const tauLoadLate=async load=>load(),tauChunks=[",
    ...outputs.map(({ name, imports }) => `${toFunction(texts.get(name), imports, indexes)},`),
    `];tauLoad(${indexes.get(main.name)});`,
  ].join("\n");
}

/** These match esbuild's minified output only: an import has no optional blanks, and the exports are the last statement. */
const importStatement =
  /\bimport(?: (?<whole>[\w$]+) from|\*as (?<all>[\w$]+) from|\{(?<names>[^{}]*)\}from)?"(?<from>[^"]+)";/g;
const lateImport = /\bimport\("(?<from>[^"]+)"\)/g;
const exportStatement = /export\{(?<names>[^{}]*)\};$/;

/**
 * Imports become constants of the function, and exports its result. An exported variable must not be assigned again later;
 * the linter forbids it. Throws if the number of imports is not the one that esbuild reports.
 */
function toFunction(text, imports, indexes) {
  const load = (from) =>
    indexes.has(basename(from)) ? `tauLoad(${indexes.get(basename(from))})` : `require("${from}")`;
  let [head, count] = ["", 0];
  const exported = exportStatement.exec(text.trim())?.groups.names ?? "";
  const body = text
    .trim()
    .replace(exportStatement, "")
    .replaceAll(importStatement, (...match) => {
      const { whole, all, names, from } = match.at(-1);
      const binding = whole ?? all ?? (names && `{${names.replaceAll(" as ", ":")}}`);
      head += binding === undefined ? `${load(from)};` : `const ${binding}=${load(from)};`;
      count++;
      return "";
    })
    .replaceAll(lateImport, (...match) => {
      count++;
      return `tauLoadLate(()=>${load(match.at(-1).from)})`;
    });
  const expected = imports.filter(({ kind }) => kind === "import-statement" || kind === "dynamic-import").length;
  if (count !== expected) {
    throw new Error(`esbuild reports ${expected} imports, but ${count} were found: ${body.slice(0, 200)}`);
  }
  return `()=>{"use strict";${head}${body};return{${exported.replaceAll(/([\w$]+) as ([\w$]+)/g, "$2:$1")}}}`;
}
