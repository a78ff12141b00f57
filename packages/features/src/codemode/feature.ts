/** Code mode: one call of the model runs a script that calls other tools. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { oneOf, wholeNumber } from "@tau/config/fields";
import { group, resolveFields, setting } from "@tau/config/settings";
import type { DescribeBeside, Feature, FeatureTool, SessionPlace } from "@tau/extensions";
import { asRecord } from "@tau/ai/internal";
import { getUserFile, projectFiles } from "../kit/mcp-files.ts";
import { declare, declareTool, type DeclaredTool } from "./declarations.ts";
import { isReachable, listReachedTools } from "./reach.ts";

/** Settings of code mode. */
const codemodeSettings = {
  codemode: group("Scripts that call tools.", {
    mode: setting(oneOf("on", "only"), {
      default: "on",
      description:
        "How the other tools are listed in a session with the tool `codemode`. `on`: as always. `only`: requests list `codemode` instead of them, with their declarations, so that the model calls them from scripts.",
      project: "when trusted",
    }),
    inlineBudget: setting(wholeNumber({ min: 0, unit: "tokens" }), {
      default: 3_000,
      description:
        "How many tokens (of four characters) the description of `codemode` may use for declarations of tools. Scripts find the others with `searchTools()`.",
      project: "when trusted",
    }),
  }),
};

const introduction = `Run JavaScript that calls other tools, so that only what it outputs reaches you. code is the body of an async function (await and return work) in a sandbox without files, network, timers or Node.
- tools.NAME({ ... }) calls a tool; it rejects if the call fails. bash gives { output, truncated, exit_code, ... }, also for other exit codes than 0; read gives text or an image block; tools of MCP servers (tools.mcp__SERVER__TOOL) give { content, structuredContent?, isError }; others give text.
- text(value) and return add output, console.log lines after it, image(dataUrlOrBlock) an image; exit() ends the script.
- store(key, value) and load(key) keep small JSON values for later scripts.
- ALL_TOOLS, await searchTools(query, { limit, namespace }), describeTool(name), describeNamespace(name) find tools that are not listed.
- An optional first line: // @options: {"max_output_tokens": 10000, "timeout_ms": 60000}
Calls run together with Promise.all; calls that still run at the end are cancelled.`;

const charactersPerToken = 4;

/** With `on`, requests have the other tools themselves, so that their declarations would be there twice. */
const describeBeside: DescribeBeside = (tools, settings) => {
  const { mode, inlineBudget } = resolveFields(codemodeSettings, settings).codemode;
  if (mode === "on") return { description: introduction, hides: false };
  const declarations = listDeclarations(tools.filter(isReachable), inlineBudget * charactersPerToken);
  return { description: [introduction, ...declarations].join("\n\n"), hides: true };
};

/** The declarations that fit, each with its description if that fits too. */
function listDeclarations(tools: readonly DeclaredTool[], maxLength: number): string[] {
  let left = maxLength;
  return tools.flatMap((tool) => {
    const text = [declareTool(tool), declare(tool)].find(({ length }) => length <= left);
    left -= text?.length ?? 0;
    return text === undefined ? [] : [text];
  });
}

export const codemodeTool: FeatureTool = {
  name: "codemode",
  label: "Script",
  category: "runtime",
  description: "Run JavaScript that calls other tools. Only what it outputs reaches you.",
  describeBeside,
  // Off unless something names it: its description is long.
  isActive: isEnabledByServers,
  isContained: true,
  parameters: {
    type: "object",
    properties: { code: { type: "string", description: "JavaScript" } },
    required: ["code"],
  },
  prepareArguments: (args: unknown) => (typeof args === "string" ? { code: args } : args) as { code: string },
  promptSnippet: "run JavaScript that calls other tools",
  promptGuidelines: [
    "Use codemode to make independent calls together, to chain calls, or to filter large output, instead of many separate calls.",
  ],
  shows: "cell",
  reachesTools: ({ code }) => listReachedTools(typeof code === "string" ? code : ""),
  // Each call that a script makes is judged by itself.
  access: () => [],
  readOnly: false,
  summarise: (args: unknown) => `Run a script of ${countLines(args)}`,
};

function countLines(args: unknown): string {
  const code = typeof args === "string" ? args : asRecord(args)["code"];
  const lines = typeof code === "string" ? code.trim().split("\n").length : 0;
  return lines === 1 ? "one line" : `${lines} lines`;
}

/** Whether `autoEnableCodemode` beside `mcpServers` is true; a project that is trusted decides before the user's file. */
function isEnabledByServers({ cwd, agentDir, settings }: SessionPlace): boolean {
  const paths = settings.isProjectTrusted ? projectFiles.map((name) => join(cwd, name)) : [];
  for (const path of [...paths, getUserFile(agentDir)]) {
    const isEnabled = readFlag(path);
    if (isEnabled !== undefined) return isEnabled;
  }
  return false;
}

function readFlag(path: string): boolean | undefined {
  // Most have no such file. Looking costs a tenth of an error, and every child of a fan-out looks several times.
  if (!existsSync(path)) return undefined;
  try {
    const { autoEnableCodemode } = JSON.parse(readFileSync(path, "utf8")) as { autoEnableCodemode?: unknown };
    return typeof autoEnableCodemode === "boolean" ? autoEnableCodemode : undefined;
  } catch {
    // A damaged file is reported where its servers are used.
    return undefined;
  }
}

/** The feature `codemode`. */
export const codemode = (): Feature => ({
  name: "codemode",
  summary: "A tool with which the model runs scripts that call other tools.",
  tools: [codemodeTool],
  settings: codemodeSettings,
  load: async ({ env }) => (await import("./codemode.ts")).createCodemodeExtension(env),
});
