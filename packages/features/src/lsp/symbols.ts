/** Symbols of files and workspaces. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { CodePlace } from "@tau/protocol/surface";
import type { SyntaxSymbol } from "../kit/syntax/symbols.ts";
import { toVisibleLine } from "../kit/visible-text.ts";
import { toPath } from "./client.ts";
import type { Location } from "./locations.ts";
import { parseRange } from "./positions.ts";

const kinds = [
  "file",
  "module",
  "namespace",
  "package",
  "class",
  "method",
  "property",
  "field",
  "constructor",
  "enum",
  "interface",
  "function",
  "variable",
  "constant",
  "string",
  "number",
  "boolean",
  "array",
  "object",
  "key",
  "null",
  "enum member",
  "struct",
  "event",
  "operator",
  "type parameter",
];

interface FoundSymbol extends Location {
  name: string;
  kind: string;
}

const maxSymbols = 5_000;
const maxDepth = 20;

/** Reads the symbols of a file or of the workspace. `path` is that of the file for symbols without one. */
export function parseSymbols(value: unknown, path?: string): FoundSymbol[] {
  const symbols: FoundSymbol[] = [];
  const add = (items: unknown, container: string, depth: number): void => {
    if (!Array.isArray(items) || depth > maxDepth) return;
    for (const item of items as unknown[]) {
      if (symbols.length >= maxSymbols) return;
      if (!isRecord(item) || typeof item["name"] !== "string") continue;
      const location = isRecord(item["location"]) ? item["location"] : {};
      const range = parseRange(item["selectionRange"] ?? item["range"] ?? location["range"]);
      const file = toPath(location["uri"]) ?? path;
      const inside = typeof item["containerName"] === "string" && container === "" ? item["containerName"] : container;
      const name = joinNames(inside, item["name"]);
      if (range && file !== undefined)
        symbols.push({ path: file, range, name, kind: kinds[Number(item["kind"]) - 1] ?? "symbol" });
      add(item["children"], name, depth + 1);
    }
  };
  add(value, "", 0);
  return symbols;
}

const joinNames = (inside: string, name: string): string =>
  toVisibleLine(inside === "" ? name : `${inside}.${name}`, 200);

/** Names the symbols of a syntax tree with those that they are inside of, like the symbols of a server. */
export function nameInside(symbols: readonly SyntaxSymbol[]): (CodePlace & { name: string })[] {
  const containers: string[] = [];
  return symbols.slice(0, maxSymbols).map(({ depth, name: own, ...place }) => {
    const name = joinNames(containers[depth - 1] ?? "", own);
    containers[depth] = name;
    return { ...place, name };
  });
}
