/** Resources of servers in prompts: `@SERVER:URI`. */
import type { Clock } from "@tau/ai";
import type { ExtensionResult } from "@tau/extensions";
import { readResources, writeResources } from "./definition-cache.ts";
import { type McpResource, parseResources } from "./definitions.ts";
import type { McpEntry } from "./entry.ts";
import { McpError } from "./failure.ts";
import type { McpServers, McpServerView } from "./servers.ts";
import { toResourceContent } from "./tool-result.ts";

interface ListedResources {
  readonly hash: string;
  readonly listedAtMs: number;
  readonly resources: Promise<readonly McpResource[] | undefined>;
}

/** A list that was fetched is used this long. */
const maxListAgeMs = 10_000;
const maxSuggested = 100;

export class ResourceMentions {
  readonly #servers: McpServers;
  readonly #options: { agentDir: string; clock: Clock };
  /** By the name of the server. */
  readonly #lists = new Map<string, ListedResources>();

  constructor(servers: McpServers, options: { agentDir: string; clock: Clock }) {
    this.#servers = servers;
    this.#options = options;
  }

  /** Reads what is mentioned, and starts its server if needed. Undefined if it is not about a server. */
  async read(text: string, signal: AbortSignal): Promise<ExtensionResult<"mention_read"> | void> {
    const { view, rest: uri } = this.#find(text);
    if (!view) return undefined;
    const { name } = view.entry;
    try {
      const result = await this.#servers.run(name, (connection) => connection.readResource(uri, signal), signal);
      // For suggestions, which start nothing.
      void this.#list(this.#servers.get(name) ?? view);
      return { content: toResourceContent(result) };
    } catch (error) {
      if (!(error instanceof McpError)) throw error;
      return { problem: error.message };
    }
  }

  /** Suggests resources of a server that is running, or those that it had when they were last listed. */
  async complete(text: string): Promise<ExtensionResult<"mention_complete"> | void> {
    const { view, rest } = this.#find(text);
    if (!view) return undefined;
    const wanted = rest.toLowerCase();
    const matches = ((await this.#list(view)) ?? []).filter(
      ({ uri, title }) => uri.toLowerCase().includes(wanted) || title.toLowerCase().includes(wanted),
    );
    const items = matches.slice(0, maxSuggested).map(({ uri, title }) => ({
      value: `${view.entry.name}:${uri}`,
      ...(title !== "" && { description: title }),
    }));
    return { items };
  }

  #find(text: string): { view: McpServerView | undefined; rest: string } {
    const colon = text.indexOf(":");
    const view = this.#servers.get(text.slice(0, colon));
    return { view: view?.entry.isEnabled ? view : undefined, rest: text.slice(colon + 1) };
  }

  /** Never rejects. Undefined if no resources are known. */
  async #list({ entry, state, definitions }: McpServerView): Promise<readonly McpResource[] | undefined> {
    if (definitions?.hasResources === false) return undefined;
    if (state.kind !== "ready") return await readResources(this.#options.agentDir, entry.hash);
    const { clock } = this.#options;
    const known = this.#lists.get(entry.name);
    if (known?.hash === entry.hash && clock.monotonic() - known.listedAtMs < maxListAgeMs) return await known.resources;
    const resources = this.#fetch(entry);
    this.#lists.set(entry.name, { hash: entry.hash, listedAtMs: clock.monotonic(), resources });
    return await resources;
  }

  async #fetch({ name, hash }: McpEntry): Promise<readonly McpResource[] | undefined> {
    const { agentDir } = this.#options;
    try {
      const result = await this.#servers.run(name, (connection) => connection.listResources());
      const resources = parseResources(result.resources);
      await writeResources(agentDir, hash, resources);
      return resources;
    } catch {
      // A suggestion is not worth a message. The server itself reports why it failed when it is used.
      return await readResources(agentDir, hash);
    }
  }
}
