/**
 * Makes a few CommonJS files of the chunks that esbuild splits a program into. Each chunk becomes a function that is called
 * when something first needs it. V8 reads the code cache of a file as a whole, so chunks that many runs do without are in
 * files of their own. esbuild itself splits only ES modules, for which Node takes no code cache.
 */
import { basename } from "node:path";
import { joinSourceMaps } from "./source-map.mjs";

/**
 * Takes esbuild's result for one entry with `splitting`, `minify`, `metafile` and external source maps. `files` has a
 * pattern for each file besides the first: the entries of the dynamic imports whose chunks it holds. Returns the text and
 * the source map of each file by its name; the first one is `program`. `toSource` names a source in the maps.
 */
export function linkChunks({ outputFiles, metafile }, entry, { files, toSource }) {
  const texts = new Map(outputFiles.map(({ path, text }) => [basename(path), text]));
  const outputs = Object.entries(metafile.outputs)
    .map(([path, output]) => ({ ...output, name: basename(path) }))
    .filter(({ name }) => !name.endsWith(".map"));
  const indexes = new Map(outputs.map(({ name }, index) => [name, index]));
  const main = outputs.find(({ entryPoint }) => entryPoint === entry);
  const chosen = chooseFiles(outputs, main, files);
  const chunks = outputs.map(({ name, imports }) => {
    const { text, move } = toFunction(texts.get(name), imports, indexes);
    return { text: `${text},`, move, map: JSON.parse(texts.get(`${name}.map`)), file: chosen.get(name) };
  });
  const program = [
    // The code cache must know which chunks were loaded.
    "const tauLoad=chunk=>tauLoaded[chunk]??=(globalThis.tauLoadedChunks?.add(String(chunk)),tauChunks[chunk]()),tauLoaded=[];",
    "const tauOpen=file=>tauFiles[file]??=require(file)(tauLoad,tauLoadLate),tauFiles={};",
    "const tauLoadLate=async load=>load(),tauChunks=[",
    ...chunks.map((chunk, index) =>
      chunk.file === "program" ? chunk : `()=>tauOpen("./${chunk.file}.cjs")[${index}](),`,
    ),
    `];tauLoad(${indexes.get(main.name)});`,
  ];
  const others = Object.keys(files).map((file) => {
    const own = chunks.flatMap((chunk, index) => (chunk.file === file ? [`${index}:`, chunk] : []));
    return [file, ["module.exports=(tauLoad,tauLoadLate)=>({", ...own, "});"]];
  });
  return new Map([["program", program], ...others].map(([file, parts]) => [file, joinParts(parts, toSource)]));
}

/**
 * The name of the file for each chunk. What the program reaches without a dynamic import of `files` is in the first file,
 * and everything else in the first of `files` that reaches it.
 */
function chooseFiles(outputs, main, files) {
  const byName = new Map(outputs.map((output) => [output.name, output]));
  const patterns = Object.values(files);
  const isEntry = ({ entryPoint = "" }) => patterns.some((pattern) => pattern.test(entryPoint));
  const chosen = new Map();
  const choose = (file, output) => {
    if (chosen.has(output.name)) return;
    chosen.set(output.name, file);
    for (const { path, kind } of output.imports) {
      const next = byName.get(basename(path));
      if (next && !(kind === "dynamic-import" && isEntry(next))) choose(file, next);
    }
  };
  choose("program", main);
  for (const [file, pattern] of Object.entries(files)) {
    for (const output of outputs) if (pattern.test(output.entryPoint ?? "")) choose(file, output);
  }
  return chosen;
}

/** Joins lines and chunks to a file with its source map. */
function joinParts(parts, toSource) {
  const chunks = [];
  const texts = [];
  let firstLine = 0;
  for (const part of parts) {
    const text = typeof part === "string" ? part : part.text;
    if (part !== text) chunks.push({ ...part, firstLine });
    texts.push(text);
    firstLine += text.split("\n").length;
  }
  return { text: texts.join("\n"), map: joinSourceMaps(chunks, toSource) };
}

/** These match esbuild's minified output only: an import has no optional blanks, and the exports are the last statement. */
const anyImport =
  /\bimport(?:(?: (?<whole>[\w$]+) from|\*as (?<all>[\w$]+) from|\{(?<names>[^{}]*)\}from)?"(?<from>[^"]+)";|\("(?<late>[^"]+)"\))/g;
const exportStatement = /export\{(?<names>[^{}]*)\};$/;

/**
 * Imports become constants of the function, and exports its result. An exported variable must not be assigned again later;
 * the linter forbids it. Throws if the number of imports is not the one that esbuild reports. `move` says where a column of
 * a line of the chunk is in the function.
 */
function toFunction(text, imports, indexes) {
  const load = (from) =>
    indexes.has(basename(from)) ? `tauLoad(${indexes.get(basename(from))})` : `require("${from}")`;
  let [head, count] = ['()=>{"use strict";', 0];
  const source = text.trim();
  const exported = exportStatement.exec(source)?.groups.names ?? "";
  /** Where the length of the text changed, and by how much. No replaced text has a line break in it. */
  const changes = [];
  const replace = (match, replacement) => {
    count++;
    changes.push({ index: match.at(-3), step: replacement.length - match[0].length });
    return replacement;
  };
  const body = source.replace(exportStatement, "").replaceAll(anyImport, (...match) => {
    const { whole, all, names, from, late } = match.at(-1);
    if (late !== undefined) return replace(match, `tauLoadLate(()=>${load(late)})`);
    const binding = whole ?? all ?? (names && `{${names.replaceAll(" as ", ":")}}`);
    head += binding === undefined ? `${load(from)};` : `const ${binding}=${load(from)};`;
    return replace(match, "");
  });
  const expected = imports.filter(({ kind }) => kind === "import-statement" || kind === "dynamic-import").length;
  if (count !== expected) {
    throw new Error(`esbuild reports ${expected} imports, but ${count} were found: ${body.slice(0, 200)}`);
  }
  const lineStarts = [0, ...[...source.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const move = (line, column) => {
    const start = lineStarts[line] ?? 0;
    const before = changes.filter(({ index }) => index >= start && index < start + column);
    return before.reduce((sum, { step }) => sum + step, column + (line === 0 ? head.length : 0));
  };
  return { text: `${head}${body};return{${exported.replaceAll(/([\w$]+) as ([\w$]+)/g, "$2:$1")}}}`, move };
}
