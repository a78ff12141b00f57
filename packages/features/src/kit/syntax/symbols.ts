/** Symbols of a source file by its syntax tree, where no language server is there. */
import type { ExtensionAPI } from "@tau/extensions";
import type { CodePlace } from "@tau/protocol/surface";
import { getLanguage, listLanguages } from "./languages.ts";
import type { FoundSymbol } from "./parser-program.ts";
import { Parser } from "./parser.ts";

export type SymbolsResult =
  | { kind: "symbols"; symbols: readonly SyntaxSymbol[] }
  /** There is no grammar or no parser here, or the file cannot be parsed. The message is for the model. */
  | { kind: "unavailable"; message: string };

export interface SyntaxSymbol extends CodePlace {
  name: string;
  kind: string;
  endLine: number;
  /** How many symbols it is inside of. */
  depth: number;
}

export interface SyntaxSymbols {
  /** Whether there is a grammar for a file, by its name. */
  knows(path: string): boolean;
  /** Lists the symbols of a text, in its order. `path` names the file in the result, and its ending the language. */
  list(path: string, text: string): Promise<SymbolsResult>;
  /** Ends the program that parses. */
  close(): Promise<void>;
}

/** Starts nothing before the first list. */
export function createSyntaxSymbols(ports: { spawn: ExtensionAPI["spawn"] }): SyntaxSymbols {
  const parser = new Parser(ports);
  return {
    knows: (path) => getLanguage(path) !== undefined,
    list: (path, text) => listSymbols(parser, path, text),
    close: () => parser.close(),
  };
}

export async function listSymbols(parser: Parser, path: string, text: string): Promise<SymbolsResult> {
  const language = getLanguage(path);
  if (!language) {
    return {
      kind: "unavailable",
      message: `There is no grammar for ${path}. There are grammars for ${listLanguages()}.`,
    };
  }
  const result = await parser.ask({ kind: "outline", grammar: language.grammar, text });
  if (result.kind === "outline")
    return { kind: "symbols", symbols: result.symbols.map((symbol) => toPlace(path, symbol)) };
  const message = result.kind === "unavailable" ? result.message : `${path} could not be parsed.`;
  return { kind: "unavailable", message };
}

const toPlace = (path: string, symbol: FoundSymbol): SyntaxSymbol => ({ path, ...symbol });
