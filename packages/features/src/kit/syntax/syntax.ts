/** The syntax of source files as the tools of a session ask for it. */
import type { ExtensionAPI } from "@tau/extensions";
import type { Syntax } from "@tau/tools";
import { describeMissing, findGrammar, type GrammarPlaces, listGrammars } from "./grammars.ts";
import { getLanguage } from "./languages.ts";
import { Parser } from "./parser.ts";

interface SyntaxPorts {
  spawn: ExtensionAPI["spawn"];
  places: GrammarPlaces;
}

/** Starts nothing before the first outline. */
export function createSyntax({ spawn, places }: SyntaxPorts): Syntax & { close(): Promise<void> } {
  const parser = new Parser({ spawn });
  return {
    knows(path) {
      const language = getLanguage(path);
      return language !== undefined && findGrammar(language, places) !== undefined;
    },
    async getOutline(path, text) {
      const language = getLanguage(path);
      const grammar = language && findGrammar(language, places);
      if (!grammar) return { kind: "unavailable", message: describeUnknown(path, places) };
      const result = await parser.ask({ kind: "outline", grammar, text });
      if (result.kind === "outline") return result;
      const message = result.kind === "unavailable" ? result.message : `${path} could not be parsed.`;
      return { kind: "unavailable", message };
    },
    close: () => parser.close(),
  };
}

/** Says why a file cannot be parsed, and what to do. */
export function describeUnknown(path: string, places: GrammarPlaces): string {
  const language = getLanguage(path);
  if (language) return `${path} cannot be parsed. ${describeMissing(language, places)}`;
  const names = listGrammars(places).map((grammar) => grammar.language.name);
  return `There is no grammar for ${path}. There are grammars for ${names.join(", ")}.`;
}
