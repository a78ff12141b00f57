/** MCP servers of the packed program, which is killed while it uses one. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WireReply } from "@tau/ai/testing";
import { expect, onTestFinished, test } from "vitest";
import { createModelWorkspace, toolReply } from "../kit.ts";
import { cacheHome, installed } from "./kit.ts";

const hang: WireReply = { kind: "raw", chunks: [], ending: "hang" };

/** Counts the processes with a text in their command line, also those in a sandbox. */
function countProcesses(text: string): number {
  return readdirSync("/proc").filter((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
    } catch {
      // It has ended meanwhile.
      return false;
    }
  }).length;
}

/** A server that starts another program, ignores that it is to end, and answers what it must. */
const server = (marker: string) => `
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
process.on("SIGTERM", () => {});
spawn(process.execPath, ["-e", "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)", ${JSON.stringify(marker)}], { stdio: "ignore", detached: true });
const results = {
  initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
  "tools/list": { tools: [{ name: "act", description: "Act", inputSchema: { type: "object" } }] },
};
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (id === undefined) return;
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: "no" } };
  // A call never ends.
  if (method !== "tools/call") console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
});
setInterval(() => {}, 1000);
`;

test.skipIf(process.platform !== "linux").each(["on", "off"])(
  "nothing of a server is left after the program was killed, with the sandbox %s",
  async (sandbox) => {
    const workspace = await createModelWorkspace([
      toolReply("tool_search", { query: "act" }),
      toolReply("call_tool", { name: "mcp__docs__act", arguments: {} }),
      hang,
    ]);
    const { directory, agentDir } = workspace;
    const marker = `tau-mcp-left-over-${sandbox}-${process.pid}`;
    const file = join(directory, "server.mjs");
    await writeFile(file, server(marker));
    const entry = { command: process.execPath, args: [file, marker], trusted: true };
    const own = sandbox === "off" ? { ...entry, sandbox: false } : entry;
    await writeFile(join(agentDir, "mcp.json"), JSON.stringify({ mcpServers: { docs: own } }));
    const program = join(await installed(), "dist", "tau.cjs");
    const child = spawn(process.execPath, [program, "-p", "Act.", "--sandbox", sandbox === "on" ? "auto" : "off"], {
      cwd: directory,
      env: { PATH: process.env["PATH"], HOME: directory, TAU_DIR: agentDir, XDG_CACHE_HOME: cacheHome },
      stdio: "ignore",
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    // The server and what it has started, and the programs around them.
    await expect.poll(() => countProcesses(marker), { timeout: 30_000 }).toBeGreaterThanOrEqual(2);
    await expect.poll(() => workspace.server.requests.length, { timeout: 30_000 }).toBe(2);
    child.kill("SIGKILL");
    await once(child, "exit");
    await expect.poll(() => countProcesses(marker), { timeout: 30_000 }).toBe(0);
  },
);
