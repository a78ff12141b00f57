/** Servers of MCP: their tools, resources and prompts in sessions. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { hasPackages } from "@tau/config/settings";
import type { Feature, SessionPlace } from "@tau/extensions";
import { getUserFile, projectFiles } from "../kit/mcp-files.ts";
import { isServerName } from "./server-name.ts";

export const mcp = (): Feature => ({
  name: "mcp",
  summary: "Tools, resources and prompts of MCP servers.",
  commands: [{ name: "mcp", description: "Servers of MCP: their state, tools and settings" }],
  programCommands: [
    {
      name: "mcp",
      summary: "Add, remove, list and try servers of MCP, and sign in to them",
      usage: [
        "tau mcp add NAME [COMMAND...] [-l, --local] [--env K=V] [--url URL] [--header H] [--bearer-token-env-var VAR] [--yes]  Add a server: its command after --, or its address; -l for this project",
        "tau mcp remove NAME [-l, --local]  Remove a server, and what you answered about it",
        "tau mcp list [--json]  Connect all servers, and list their states and tools",
        "tau mcp login NAME  Sign in to a server with an address, in a browser",
        "tau mcp logout NAME  Remove the login of a server",
        "tau mcp test NAME [--json]  Connect one server, and list what it offers",
      ],
      run: async (context) => await (await import("./program.ts")).runMcpCommand(context),
    },
  ],
  mentions: listNames,
  finds: (place) => {
    const names = listNames(place);
    return names.length === 0 ? undefined : `MCP servers ${names.join(", ")}`;
  },
  // Requests list direct tools, so they have to be known by the first one. What packages bring takes longer to find out.
  opensWithSession: (place) => hasPackages(place.settings) || listServers(place).some(({ isDirect }) => isDirect),
  load: async (place) => (await import("./mcp.ts")).createMcpExtension(place),
});

interface NamedServer {
  name: string;
  /** Whether requests may list tools of it. */
  isDirect: boolean;
}

const listNames = (place: SessionPlace): string[] => [...new Set(listServers(place).map(({ name }) => name))];

/** Servers of files and extensions, without a check: a session that uses none must not pay for it. */
function listServers({ cwd, agentDir, settings, listMcpServers }: SessionPlace): NamedServer[] {
  const paths = settings.isProjectTrusted ? projectFiles.map((name) => join(cwd, name)) : [];
  const ofFiles = [...paths, getUserFile(agentDir)].flatMap(readServers);
  return [...ofFiles, ...listMcpServers().flatMap(({ name, config }) => toNamedServer(name, config))];
}

function readServers(path: string): NamedServer[] {
  try {
    if (!existsSync(path)) return [];
    const { mcpServers } = JSON.parse(readFileSync(path, "utf8")) as { mcpServers?: object };
    return Object.entries(mcpServers ?? {}).flatMap(([name, server]) => toNamedServer(name, server as object));
  } catch {
    // One that is damaged, or has comments, is read with care once something is searched for.
    return [];
  }
}

/** None if it is turned off, or has a name that cannot be used. */
function toNamedServer(name: string, server: object): NamedServer[] {
  const { enabled = true, disabled = false } = server as { enabled?: boolean; disabled?: boolean };
  return enabled && !disabled && isServerName(name)
    ? [{ name, isDirect: JSON.stringify(server).includes('"direct"') }]
    : [];
}
