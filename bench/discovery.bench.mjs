/**
 * The search for tools that requests do not list. Limits: 2,000 tools indexed in 50 ms and a query in 2 ms, the first ones
 * included: a session builds one index.
 */
import { buildDiscoverableToolSearchIndex, searchDiscoverableTools } from "@tau/features/discovery";
import { cpuSince } from "./memory-model.mjs";

const toolCount = 2_000;
const queryCount = 200;
const verbs = ["read", "write", "list", "create", "delete", "search", "update", "merge", "close", "render"];
const nouns = ["issue", "page", "branch", "message", "calendar", "invoice", "customer", "file", "image", "database"];

export default async function bench(report) {
  // Strings as servers and caches bring them: those that are put together here would be joined during the measurement.
  const tools = JSON.parse(JSON.stringify(Array.from({ length: toolCount }, (_unused, index) => createTool(index))));
  let since = process.cpuUsage();
  const index = buildDiscoverableToolSearchIndex(tools);
  report("2,000 tools indexed, the first time", cpuSince(since) / 1_000, "ms of CPU");
  since = process.cpuUsage();
  const first = searchDiscoverableTools(index, "create an invoice for a customer", 5);
  report("the first query", cpuSince(since) / 1_000, "ms of CPU");
  if (first.length !== 5) throw new Error("The query found nothing.");
  since = process.cpuUsage();
  for (let count = 0; count < queryCount; count++) {
    searchDiscoverableTools(index, `${verbs[count % verbs.length]} a ${nouns[count % 7]} of the server`, 5);
  }
  report("a query", cpuSince(since) / 1_000 / queryCount, "ms of CPU");
}

function createTool(index) {
  const [verb, noun] = [verbs[index % verbs.length], nouns[Math.floor(index / verbs.length) % nouns.length]];
  const serverName = `server${index % 20}`;
  const mcpToolName = `${verb}${noun[0].toUpperCase()}${noun.slice(1)}${index}`;
  return {
    name: `mcp__${serverName}__${mcpToolName}`,
    label: mcpToolName,
    summary: `${verb} a ${noun} on the server, with the fields that it has and the rights of whoever signed in. ${"More words follow. ".repeat(5)}`,
    source: "mcp",
    serverName,
    mcpToolName,
    schemaKeys: [`${noun}Id`, "title", "body", "pageSize", "cursor"],
  };
}
