/** Finds the grammars of languages that the parser does not have itself. A grammar is code, so a project needs trust for its own. */
import { statSync } from "node:fs";
import { join } from "node:path";
import type { FeaturePlace } from "@tau/extensions";
import { type GrammarFile, type Language, languages } from "./languages.ts";

export interface GrammarPlaces {
  cwd: string;
  agentDir: string;
  /** Called for each file: trust is given while a session runs. */
  isProjectTrusted(): boolean;
}

export const getGrammarPlaces = ({ cwd, agentDir, settings }: FeaturePlace): GrammarPlaces => ({
  cwd,
  agentDir,
  isProjectTrusted: () => settings.isProjectTrusted,
});

/** A grammar that can be used: one of the parser itself, or a file of WebAssembly. */
export interface Grammar {
  readonly language: Language;
  /** The name for the parser. */
  readonly name: string;
  /** The absolute path of the file. */
  readonly wasmPath?: string;
}

/** Undefined if it is not installed. Reads no file. */
export function findGrammar(language: Language, places: GrammarPlaces): Grammar | undefined {
  const { inside, grammar, name } = language;
  if (inside !== undefined) return { language, name: inside };
  const wasmPath = grammar && listPaths(grammar, places).find(isFile);
  return wasmPath === undefined ? undefined : { language, name, wasmPath };
}

/** Lists the files where it may be. The user comes before the project. */
function listPaths({ package: name, file }: GrammarFile, { cwd, agentDir, isProjectTrusted }: GrammarPlaces): string[] {
  const own = getGrammarDirectory(agentDir);
  const inPackages = (directory: string) => [
    join(directory, "node_modules", name, file),
    join(directory, "node_modules", "@vscode", "tree-sitter-wasm", "wasm", `${name}.wasm`),
  ];
  return [join(own, file), ...inPackages(own), ...(isProjectTrusted() ? inPackages(cwd) : [])];
}

const getGrammarDirectory = (agentDir: string): string => join(agentDir, "grammars");

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;

/** Lists the grammars that are there. */
export const listGrammars = (places: GrammarPlaces): Grammar[] =>
  languages.flatMap((language) => findGrammar(language, places) ?? []);

/** Says what to install, and where. */
export function describeMissing({ name, grammar }: Language, { agentDir, isProjectTrusted }: GrammarPlaces): string {
  const command = `npm install --ignore-scripts --prefix ${getGrammarDirectory(agentDir)} ${grammar!.package}`;
  const project = isProjectTrusted() ? "" : ", once it is trusted";
  return `The grammar of ${name} is not installed. Ask the user to run: ${command} (node_modules of the project is looked at too${project}).`;
}
