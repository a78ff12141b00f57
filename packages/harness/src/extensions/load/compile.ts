/**
 * Turns the source of an extension into CommonJS. TypeScript, JSX and ES modules are rewritten line by line, so that the
 * positions in errors are those of the source; plain CommonJS is left as it is.
 */
import { extname } from "node:path";
import { getErrorMessage, isRecord } from "@tau/ai/internal";
import { type ImportedNames, scanImports, scanRequires } from "./scan-imports.ts";

export interface CompiledModule {
  /** The body of a function with the parameters of `moduleParameters`. */
  readonly code: string;
  /** Modules that it names in `import` declarations and in calls of `require`. Those of `import()` are not among them. */
  readonly requires: readonly string[];
  /** The names that it imports and uses as values. */
  readonly imports: readonly ImportedNames[];
}

/** Belongs to the key of cached files: what is compiled in another way must not be found. */
export const compilerVersion = "1";

const typeScript = new Set([".ts", ".tsx", ".mts", ".cts"]);
const jsx = new Set([".tsx", ".jsx"]);
const commonJs = new Set([".cjs", ".cts"]);

export const isTypeScript = (path: string): boolean => typeScript.has(extname(path));

/** A source that cannot be compiled; the message begins with the file and the line. */
export class CompileError extends Error {
  override readonly name = "CompileError";
}

/** Whether the source runs as it is, without the compiler. */
export const isPlainCommonJs = (path: string, source: string): boolean =>
  !typeScript.has(extname(path)) && !jsx.has(extname(path)) && !/\b(?:import|export)\b/.test(source);

export async function compileModule(path: string, source: string): Promise<CompiledModule> {
  const text = source.replace(/^#!.*/, "");
  if (isPlainCommonJs(path, text)) return { code: text, requires: scanRequires(text), imports: [] };
  const code = await transformSource(path, text);
  return { code, requires: scanRequires(code), imports: scanImports(code, { includesExports: !isTypeScript(path) }) };
}

async function transformSource(path: string, source: string): Promise<string> {
  const { transform, getFormattedTokens } = await import("sucrase");
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
    const prepared = source.includes("import.meta")
      ? replaceImportMeta(source, getFormattedTokens(source, options))
      : source;
    const { code } = transform(prepared, options);
    return useOwnLoader(commonJs.has(extension) ? code.replace(/^"use strict";/, "") : code);
  } catch (error) {
    throw new CompileError(formatTransformError(path, error), { cause: error });
  }
}

/** The compiler leaves `import.meta`, which only ES modules may contain. `tokens` tell it from the same text in a string. */
function replaceImportMeta(source: string, tokens: string): string {
  const lines = source.split("\n");
  const rows = tokens.split("\n").map((row) => /^(\d+):(\d+)-\S+\s+\S+\s+(\S+)/.exec(row));
  // From the end, because a replacement moves what follows it in its line.
  for (let index = rows.length - 1; index >= 0; index--) {
    const [row, dot, meta] = rows.slice(index, index + 3);
    if (row?.[3] !== "import" || dot?.[3] !== "." || meta?.[3] !== "meta") continue;
    const [line, column] = [Number(row[1]) - 1, Number(row[2]) - 1];
    const text = lines[line]!;
    lines[line] = text.slice(0, column) + text.slice(column).replace(/^import\s*\.\s*meta/, "importMeta$");
  }
  return lines.join("\n");
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
