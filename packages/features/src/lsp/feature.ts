/** Language servers: what they know about code, for the model. */
import { resolve } from "node:path";
import type { AccessRequest } from "@tau/tools";
import type { Feature, FeatureTool } from "@tau/extensions";
import { listFiles, type LspArguments, lspActions, mayChangeFiles } from "./arguments.ts";
import { lspSettings } from "./settings.ts";

export const lspTool: FeatureTool = {
  name: "lsp",
  category: "code",
  label: "Language server",
  description:
    "Ask a language server about code: definition, type_definition, implementation, references, hover (file, line, symbol); symbols of a file or, with query, of the project; diagnostics of files or of the project (*); code_actions of a line; rename a symbol or rename_file, in all files that use it; status, capabilities, reload; request any method.",
  parameters: {
    type: "object",
    properties: {
      action: { type: "string", enum: [...lspActions] },
      file: {
        anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }],
        description: "A path. diagnostics takes several, or * for the project's own checker",
      },
      line: { type: "integer", minimum: 1 },
      symbol: { type: "string", description: "A text on that line; name#2 is its second occurrence" },
      query: {
        type: "string",
        description: "symbols: a part of a name. code_actions: a title or number. request: the method",
      },
      new_name: { type: "string", description: "rename: the new name. rename_file: the new path" },
      apply: { type: "boolean", description: "code_actions: apply the one that query names" },
      payload: { description: "request: its parameters, if not those of file, line and symbol" },
      timeoutMs: { type: "integer", minimum: 100, description: "Default 20000" },
    },
    required: ["action"],
  },
  exposure: "deferred",
  // Files are changed by a call of its own, which is judged as such.
  access: (args: LspArguments, cwd: string): AccessRequest[] => {
    const paths = listFiles(args).map((file) => resolve(cwd, file));
    const read = (paths.length === 0 ? [cwd] : paths).map((path): AccessRequest => ({
      capability: "read",
      target: { kind: "path", path },
    }));
    const writes = args.action === "request" && mayChangeFiles(args.query ?? "");
    return writes ? [...read, { capability: "write", target: { kind: "path", path: cwd } }] : read;
  },
  isContained: true,
  shows: "places",
  summarise: ({ action, file, line, symbol, query, new_name: newName }: LspArguments) => {
    const place = [
      listFiles({ ...(file !== undefined && { file }) }).join(", ") || (file === "*" ? "the project" : ""),
      line,
    ]
      .filter(Boolean)
      .join(":");
    return [`lsp ${action}`, place, symbol ?? query, newName && `→ ${newName}`].filter(Boolean).join(" ");
  },
};

export const lsp = (): Feature => ({
  name: "lsp",
  summary: "Language servers: definitions, references, problems, renames and more.",
  tools: [lspTool],
  commands: [{ name: "lsp", description: "Language servers: what runs, restart and stop" }],
  settings: lspSettings,
  doctor: [
    {
      name: "language servers",
      check: async (place) => await (await import("./doctor.ts")).checkLanguageServers(place),
    },
  ],
  isOffered: ({ canStartPrograms }) => canStartPrograms,
  load: async (place) => (await import("./lsp.ts")).createLspExtension(place),
});
