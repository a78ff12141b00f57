/** The files with servers of MCP. */
import { join } from "node:path";

export const getUserFile = (agentDir: string): string => join(agentDir, "mcp.json");

/** Files of a project that is trusted, relative to its directory; the first has precedence. */
export const projectFiles: readonly string[] = [join(".tau", "mcp.json"), join(".pi", "mcp.json"), ".mcp.json"];
