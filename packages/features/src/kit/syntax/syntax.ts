/** The syntax of source files as the tools of a session ask for it. */
import type { ExtensionAPI } from "@tau/extensions";
import type { Syntax } from "@tau/tools";
import { getLanguage, listLanguages } from "./languages.ts";
import { Parser } from "./parser.ts";

/** Starts nothing before the first outline. */
export function createSyntax(ports: { spawn: ExtensionAPI["spawn"] }): Syntax & { close(): Promise<void> } {
  const parser = new Parser(ports);
  return {
    knows: (path) => getLanguage(path) !== undefined,
    getOutline: (path, text) => getOutline(parser, path, text),
    close: () => parser.close(),
  };
}

export async function getOutline(parser: Parser, path: string, text: string): ReturnType<Syntax["getOutline"]> {
  const language = getLanguage(path);
  if (!language) {
    const message = `There is no grammar for ${path}. There are grammars for ${listLanguages()}.`;
    return { kind: "unavailable", message };
  }
  const result = await parser.ask({ kind: "outline", grammar: language.grammar, text });
  if (result.kind === "outline") return result;
  const message = result.kind === "unavailable" ? result.message : `${path} could not be parsed.`;
  return { kind: "unavailable", message };
}
