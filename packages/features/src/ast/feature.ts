/** Structural search and edits: by the syntax tree of source files. */
import { homedir } from "node:os";
import { resolve } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { resolveFields } from "@tau/config/settings";
import type { Feature, FeatureTool } from "@tau/extensions";
import { findGrammar, getGrammarPlaces } from "../kit/syntax/grammars.ts";
import { getLanguage } from "../kit/syntax/languages.ts";
import { astSettings } from "./settings.ts";

const text = (description: string) => ({ type: "string", description });

const shared = {
  pattern: text("Code; $NAME stands for one node, $$$NAME for any number: console.log($$$ARGS)"),
  language: text("Such as TypeScript, CSS or Python; default: by file name"),
  path: text("File or directory"),
  glob: text("Only these files, e.g. src/**/*.ts; !*.ts excludes"),
};

/** A call reads the file or directory that it names. Which files an edit changes is judged when it changes them. */
const getAccess: NonNullable<FeatureTool["access"]> = (args: unknown, cwd) => [
  { capability: "read", target: { kind: "path", path: resolveRoot(cwd, getText(args, "path")) } },
];

/** The absolute path of a search. */
export const resolveRoot = (cwd: string, typed = "."): string =>
  resolve(cwd, typed.replaceAll("\0", "").replace(/^~(?=\/|$)/, homedir()));

const getText = (args: unknown, name: string): string | undefined => {
  const value = isRecord(args) ? args[name] : undefined;
  return typeof value === "string" ? value : undefined;
};

export const grepTool = {
  name: "ast_grep",
  category: "code",
  label: "Structural search",
  description:
    "Find code by its structure, whatever its spacing and line breaks. Searches the files that grep searches, in TypeScript, TSX, JavaScript, HTML, CSS and languages with an installed grammar.",
  parameters: { type: "object", properties: shared, required: ["pattern"] },
  access: getAccess,
  summarise: (args: unknown) =>
    `Search ${getText(args, "path") ?? "."} for the code ${getText(args, "pattern") ?? "?"}`,
  readOnly: true,
  isContained: true,
  shows: "places",
  exposure: "deferred",
} satisfies FeatureTool;

export const editTool = {
  name: "ast_edit",
  category: "code",
  label: "Structural edit",
  description:
    "Rewrite all code of a structure, in all files or none. With preview: true it shows the diff and changes nothing; the same call without it then makes exactly that change.",
  parameters: {
    type: "object",
    properties: {
      ...shared,
      rewrite: text("The new code, with the names of the pattern: logger.info($$$ARGS)"),
      preview: { type: "boolean" },
    },
    required: ["pattern", "rewrite"],
  },
  access: getAccess,
  summarise: (args: unknown) =>
    `Rewrite ${getText(args, "pattern") ?? "?"} to ${getText(args, "rewrite") ?? "?"} in ${getText(args, "path") ?? "."}`,
  isContained: true,
  shows: "diff",
  exposure: "deferred",
} satisfies FeatureTool;

/** The feature `ast`: finds and rewrites code by its structure. */
export const ast = (): Feature => ({
  name: "ast",
  summary: "Finds and rewrites code by its structure.",
  tools: [grepTool, editTool],
  settings: astSettings,
  syntax: {
    isShownByRead: ({ settings }) => resolveFields(astSettings, settings.get()).read.outline,
    knows: (path, place) => {
      const language = getLanguage(path);
      return language !== undefined && findGrammar(language, getGrammarPlaces(place)) !== undefined;
    },
    open: async (place, { spawn }) => {
      const { createSyntax } = await import("../kit/syntax/syntax.ts");
      return createSyntax({ spawn, places: getGrammarPlaces(place) });
    },
  },
  load: async (place) => (await import("./ast.ts")).createAstExtension(getGrammarPlaces(place)),
});
