/**
 * Turns the source of an extension into CommonJS. TypeScript, JSX and ES modules are rewritten line by line, so that the
 * positions in errors are those of the source; plain CommonJS is left as it is.
 */
import { extname } from "node:path";
import { compileFunction } from "node:vm";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { type ImportedNames, scanImports, scanRequires, scanUsedNames, type UsedNames } from "./scan-imports.ts";

export interface CompiledModule {
  /** The body of a function with the parameters of `moduleParameters`. */
  readonly code: string;
  /** Modules that it names in `import` declarations and in calls of `require`. Those of `import()` are not among them. */
  readonly requires: readonly string[];
  /** The names that it imports and uses as values. */
  readonly imports: readonly ImportedNames[];
  /** For each module of `requires` of which it uses only exports that it names, these. */
  readonly usedNames: readonly UsedNames[];
}

/** Belongs to the key of cached files: what is compiled in another way must not be found. */
export const compilerVersion = "3";

const typeScript = new Set([".ts", ".tsx", ".mts", ".cts"]);
const jsx = new Set([".tsx", ".jsx"]);
const commonJs = new Set([".cjs", ".cts"]);

export const isTypeScript = (path: string): boolean => typeScript.has(extname(path));

/** A source that cannot be compiled; the message begins with the file and the line. */
export class CompileError extends Error {
  override readonly name = "CompileError";
}

/** Whether the source runs as it is, without the compiler. */
const isPlainCommonJs = (path: string, source: string): boolean =>
  !typeScript.has(extname(path)) && !jsx.has(extname(path)) && !/\b(?:import|export)\b/.test(source);

export async function compileModule(path: string, source: string): Promise<CompiledModule> {
  const text = source.replace(/^#!.*/, "");
  if (isPlainCommonJs(path, text)) {
    return { code: text, requires: scanRequires(text), imports: [], usedNames: [] };
  }
  const code = await transformSource(path, text);
  return {
    code,
    requires: scanRequires(code),
    imports: scanImports(code, { includesExports: !isTypeScript(path) }),
    usedNames: scanUsedNames(code),
  };
}

async function transformSource(path: string, source: string): Promise<string> {
  const { transform } = await import("sucrase");
  const extension = extname(path);
  const options = {
    transforms: [
      "imports" as const,
      ...(typeScript.has(extension) ? (["typescript"] as const) : []),
      ...(jsx.has(extension) ? (["jsx"] as const) : []),
    ],
    disableESTransforms: true,
    jsxRuntime: "automatic" as const,
    production: true,
    filePath: path,
  };
  try {
    const { code } = transform(source, options);
    refuseNamespaces(path, source, code);
    const ownCode = useOwnLoader(commonJs.has(extension) ? code.replace(/^"use strict";/, "") : code);
    return replaceImportMeta(ownCode);
  } catch (error) {
    if (error instanceof CompileError) throw error;
    const exact = findExactError(source, (text) => transform(text, options)) ?? error;
    throw new CompileError(formatTransformError(path, exact), { cause: error });
  }
}

/**
 * The compiler reports an error in the body of an arrow function where the function begins. In a function of the other form
 * it says where the error is, and the lines are the same.
 */
function findExactError(source: string, transform: (text: string) => unknown): unknown {
  const arrow = /(?:\(([^()]*)\)(?:\s*:[^=(){}]+)?|(\b[\w$]+))\s*=>\s*\{/g;
  try {
    transform(source.replace(arrow, (_match, list = "", name = "") => `function (${list}${name}) {`));
    return undefined;
  } catch (error) {
    return error;
  }
}

/** The compiler drops namespaces. That is right for types; one that the code still uses would be missed only when it runs. */
function refuseNamespaces(path: string, source: string, code: string): void {
  if (!isTypeScript(path)) return;
  for (const match of source.matchAll(/^[ \t]*(?:export\s+)?(?:namespace|module)\s+(\w+)[\w.]*\s*\{/gm)) {
    const name = match[1]!;
    if (!new RegExp(`^(?!\\s*(?:\\*|//)).*(?<![\\w$."'\`])${name}\\.\\w`, "m").test(code)) continue;
    const line = source.slice(0, match.index).split("\n").length;
    throw new CompileError(
      `${path}:${line}: Namespaces with values are not supported. Make ${name} an object or a file.`,
    );
  }
}

/**
 * The compiler leaves `import.meta`, which only ES modules may contain. V8 says where it is, so that the same words in a text
 * stay as they are.
 */
function replaceImportMeta(code: string): string {
  let rest = code;
  while (/\bimport\s*\.\s*meta\b/.test(rest)) {
    const index = findMeta(rest);
    if (index === undefined) return rest;
    rest = rest.slice(0, index).replace(/import\s*\.\s*$/, () => "importMeta$") + rest.slice(index + "meta".length);
  }
  return rest;
}

/** Where the word `meta` is that V8 refuses first; undefined if it refuses nothing or something else. */
function findMeta(code: string): number | undefined {
  try {
    compileFunction(`async () => {\n${code}\n}`, [], { filename: "module", lineOffset: -1 });
    return undefined;
  } catch (error) {
    if (!(error instanceof SyntaxError) || !error.message.includes("import.meta")) return undefined;
    // The file and the line, the text of the line, and carets below the word.
    const [head = "", , carets = ""] = String(error.stack).split("\n");
    const lines = code.split("\n").slice(0, Number(head.slice("module:".length)) - 1);
    return lines.reduce((length, line) => length + line.length + 1, carets.indexOf("^"));
  }
}

/**
 * Declarations call `require$`, because a module may have a `require` of its own, and `import()` calls `import$`, which can
 * wait for modules. The number of brackets stays the same.
 */
const useOwnLoader = (code: string): string =>
  code
    .replace(/Promise\.resolve\(\)\.then\(\(\) => _interopRequireWildcard\d*\(require\(/g, () => "((import$(")
    .replace(/\bvar (_\w+) = require\(/g, (_match, name: string) => `var ${name} = require$(`);

function formatTransformError(path: string, error: unknown): string {
  const message = getErrorMessage(error).replace(`Error transforming ${path}: `, "");
  const position = isRecord(error) && isRecord(error["loc"]) ? error["loc"] : undefined;
  return `${path}${position ? `:${String(position["line"])}` : ""}: ${message}`;
}
