/** Symbols of a source file by its syntax tree, where no language server is there. */
import type { ExtensionAPI } from "@tau/extensions";
import type { CodePlace } from "@tau/protocol/surface";
import type { GrammarPlaces } from "./grammars.ts";
import { createSyntax } from "./syntax.ts";

type SymbolsResult =
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
export function createSyntaxSymbols(ports: { spawn: ExtensionAPI["spawn"]; places: GrammarPlaces }): SyntaxSymbols {
  const { knows, getOutline, close } = createSyntax(ports);
  return {
    knows,
    async list(path, text) {
      const outline = await getOutline(path, text);
      if (outline.kind === "unavailable") return outline;
      return { kind: "symbols", symbols: outline.symbols.map((symbol) => ({ path, ...symbol })) };
    },
    close,
  };
}
