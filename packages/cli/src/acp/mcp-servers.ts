/** The MCP servers that an editor passes on, in the form of `mcp.json`, registered like those of an extension. */
import type { ExtensionFactory } from "@tau/extensions";
import { parseFields, list, nonEmptyText, object, oneOf, optional, text } from "@tau/config/fields";
import { JsonRpcError } from "@tau/protocol/json-rpc";

/** An entry of `mcpServers`, as `mcp.json` has it. */
export type McpServerEntry =
  | { command: string; args: readonly string[]; env: Readonly<Record<string, string>> }
  | { type: "http" | "sse"; url: string; headers: Readonly<Record<string, string>> };

const pairs = list(object({ name: nonEmptyText, value: text }));
const fields = {
  type: optional(oneOf("http", "sse", "stdio")),
  name: nonEmptyText,
  command: optional(nonEmptyText),
  args: optional(list(text)),
  env: optional(pairs),
  url: optional(nonEmptyText),
  headers: optional(pairs),
};

/** By name; of several with one name the last counts. Throws `invalid_params` for an entry that is none. */
export function parseMcpServers(servers: readonly unknown[]): Map<string, McpServerEntry> {
  return new Map(
    servers.map((server, index): [string, McpServerEntry] => {
      const parsed = parseFields(fields, server);
      if (parsed.kind === "wrong") throw new JsonRpcError("invalid_params", `mcpServers[${index}]: ${parsed.message}`);
      const { name, type, command, args = [], env = [], url, headers = [] } = parsed.values;
      if (type === "http" || type === "sse") {
        if (url === undefined) throw new JsonRpcError("invalid_params", `mcpServers[${index}]: "url" is missing.`);
        return [name, { type, url, headers: toRecord(headers) }];
      }
      if (command === undefined)
        throw new JsonRpcError("invalid_params", `mcpServers[${index}]: "command" is missing.`);
      return [name, { command, args, env: toRecord(env) }];
    }),
  );
}

/** An extension of the session, whose servers are treated as those of any other: the person is asked before one starts. */
export const createServersExtension = (
  servers: ReadonlyMap<string, McpServerEntry>,
): { name: string; factory: ExtensionFactory } => ({
  name: "editor",
  factory: (tau) => {
    for (const [name, entry] of servers) tau.registerMcpServer(name, { ...entry });
  },
});

const toRecord = (list: readonly { name: string; value: string }[]): Record<string, string> =>
  Object.fromEntries(list.map(({ name, value }) => [name, value]));
