/**
 * Measures what ten MCP servers cost that are configured and not used: the CPU of a print run with and without them, in turn, how much
 * longer the request is, and whether one was started.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "../packages/ai/dist/testing/index.js";
import { createWorkspace, installProgram, interleaved, measure } from "./packed-program.mjs";

const rounds = 15;
const warmUps = 2;
const answer = { kind: "answer", answer: { content: [text("Four.")] } };

export default async function bench(report) {
  const installation = await installProgram();
  const replies = Array.from({ length: rounds + warmUps }, () => answer);
  const none = await createWorkspace(installation, replies, "none");
  const ten = await createWorkspace(installation, replies, "ten");
  const started = join(ten.directory, "started");
  const server = { command: "sh", args: ["-c", `echo >> ${started}`], trusted: true };
  const mcpServers = Object.fromEntries(Array.from({ length: 10 }, (_unused, index) => [`server${index}`, server]));
  writeFileSync(join(ten.agentDir, "mcp.json"), JSON.stringify({ mcpServers }));
  const print = (workspace) => () =>
    measure([installation.program, "-p", "What is two and two?"], { ...installation, workspace });
  for (let round = 0; round < warmUps; round++) for (const workspace of [none, ten]) await print(workspace)();
  const [without, withTen] = await interleaved([print(none), print(ten)], rounds);
  const countBytes = ({ server: { requests } }) => JSON.stringify(requests[0].body).length;
  report("a print run without servers", without.cpuMs, "ms of CPU");
  report("ten servers, more than none", withTen.cpuMs - without.cpuMs, "ms of CPU");
  report("ten servers, more of memory", (withTen.peakBytes - without.peakBytes) / 1e6, "MB");
  report("ten servers, longer request", countBytes(ten) - countBytes(none), "bytes");
  report("started servers", existsSync(started) ? readFileSync(started, "utf8").length : 0, "programs");
  for (const workspace of [none, ten]) await workspace.server.close();
}
