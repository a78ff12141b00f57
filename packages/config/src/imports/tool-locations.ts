/** Where other programs keep their files. */
import { join } from "node:path";
import { expandHome } from "../files/agent-dir.ts";
import { type ImportTool, importTools } from "./found-item.ts";

export interface ToolLocation {
  tool: ImportTool;
  /** For people. */
  title: string;
  /** The directory with what people write. */
  root: string;
  /** The directory with sessions and keys, if it is another one. */
  dataRoot?: string;
  /** A file beside the directory. */
  stateFile?: string;
  home: string;
}

export const toolTitles: Readonly<Record<ImportTool, string>> = {
  pi: "pi",
  "claude-code": "Claude Code",
  codex: "codex",
  opencode: "opencode",
  omp: "oh-my-pi",
};

/** The locations by the programs' own variables, else their defaults. Pure. */
export function locateTools(env: Readonly<Record<string, string | undefined>>, home: string): ToolLocation[] {
  const directory = (chosen: string | undefined, ...parts: readonly string[]) =>
    chosen ? expandHome(chosen, home) : join(home, ...parts);
  const claude = directory(env["CLAUDE_CONFIG_DIR"], ".claude");
  const roots: Readonly<Record<ImportTool, Omit<ToolLocation, "tool" | "title" | "home">>> = {
    pi: { root: directory(env["PI_CODING_AGENT_DIR"], ".pi", "agent") },
    "claude-code": {
      root: claude,
      stateFile: env["CLAUDE_CONFIG_DIR"] ? join(claude, ".claude.json") : join(home, ".claude.json"),
    },
    codex: { root: directory(env["CODEX_HOME"], ".codex") },
    opencode: {
      root: join(directory(env["XDG_CONFIG_HOME"], ".config"), "opencode"),
      dataRoot: join(directory(env["XDG_DATA_HOME"], ".local", "share"), "opencode"),
    },
    omp: { root: join(home, ".omp", "agent") },
  };
  return importTools.map((tool) => ({ tool, title: toolTitles[tool], home, ...roots[tool] }));
}
