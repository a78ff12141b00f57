/** The outline of a source file that is too long to be shown whole. */
import type { Clock } from "@tau/ai";
import { untilTimeout } from "@tau/ai/internal";
import { ToolsError } from "../errors.ts";
import type { Files } from "../platform/files.ts";
import { maxSyntaxBytes, type OutlineSymbol, type Syntax } from "../platform/syntax.ts";

/** A parser that takes longer costs the outline. In milliseconds. */
const maxOutlineMs = 1_000;
const maxSymbols = 200;
const maxNameLength = 100;

interface OutlinePorts {
  files: Files;
  syntax: Syntax | undefined;
  clock: Clock;
}

/** Empty if the file cannot be parsed in time, or has no symbols. Never rejects because of the parser. */
export async function showOutline({ files, syntax, clock }: OutlinePorts, path: string): Promise<string> {
  if (!syntax?.isShownByRead?.() || !syntax.knows(path)) return "";
  const text = await readText(files, path);
  if (text === undefined) return "";
  const end = await untilTimeout(syntax.getOutline(path, text), maxOutlineMs, clock);
  return end.kind === "done" && end.value.kind === "outline" ? formatOutline(end.value.symbols) : "";
}

async function readText(files: Files, path: string): Promise<string | undefined> {
  try {
    return (await files.readWhole(path, maxSyntaxBytes)).bytes.toString("utf8");
  } catch (error) {
    if (error instanceof ToolsError) return undefined;
    throw error;
  }
}

/** Formats as many levels as fit. Pure. */
export function formatOutline(symbols: readonly OutlineSymbol[]): string {
  if (symbols.length === 0) return "";
  const countTo = (depth: number) => symbols.filter((symbol) => symbol.depth <= depth).length;
  let depth = 0;
  while (countTo(depth) < symbols.length && countTo(depth + 1) <= maxSymbols) depth++;
  const shown = symbols.filter((symbol) => symbol.depth <= depth).slice(0, maxSymbols);
  const rows = shown.map(
    ({ name, kind, line, endLine, depth: level }) =>
      `${"  ".repeat(level)}${line}-${endLine} ${kind} ${name.replaceAll(/\s+/g, " ").slice(0, maxNameLength)}`,
  );
  const left = symbols.length - shown.length;
  const more = left > 0 ? [`[${left} more are inside of these or further down.]`] : [];
  return ["[Outline, by lines:]", ...rows, ...more].join("\n");
}
