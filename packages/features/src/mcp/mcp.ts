/** The code of the feature `mcp`: the servers of a session, and their tools and prompts in it. */
import { systemClock } from "@tau/ai";
import { getErrorMessage, untilTimeout } from "@tau/ai/internal";
import type { ExtensionAPI, ExtensionContext, ExtensionFactory, FeaturePlace } from "@tau/extensions";
import { createServers } from "./create-servers.ts";
import { digestTool, type McpToolDefinition } from "./definitions.ts";
import { formatSource } from "./describe-entry.ts";
import type { McpEntry } from "./entry.ts";
import { createMcpTool } from "./mcp-tools.ts";
import { createMenuCommand } from "./menu.ts";
import { createPromptCommand, toCommandName } from "./prompts.ts";
import { readEntries } from "./read-entries.ts";
import { ResourceMentions } from "./resource-mentions.ts";
import { createResourceTools } from "./resource-tools.ts";
import type { McpServers } from "./servers.ts";
import { toVisibleLine } from "../kit/visible-text.ts";
import { getToolExposure, toToolName } from "./tool-names.ts";

/** How long the first prompt waits for tools that requests list and that are not cached. */
const maxFirstWaitMs = 10_000;

export const createMcpExtension =
  ({ agentDir, cwd, env, settings, openAuth }: FeaturePlace): ExtensionFactory =>
  (tau) => {
    let context: ExtensionContext | undefined;
    const getContext = (): ExtensionContext => {
      if (!context) throw new Error("The session has not started.");
      return context;
    };
    const notify = (message: string) => context?.ui.notify(message, "warning");
    const servers = createServers(tau, getContext, { agentDir, cwd, env, openAuth });
    const registered = new RegisteredTools(tau, servers);

    let hasResourceTools = false;
    /** Once: the list of tools must not change while servers come and go. */
    const registerResourceTools = (): void => {
      const entries = servers.list().flatMap(({ entry }) => (entry.isEnabled ? [entry] : []));
      if (hasResourceTools || entries.length === 0) return;
      hasResourceTools = true;
      const exposure = entries.some((entry) => entry.exposure === "direct") ? "direct" : "deferred";
      for (const tool of createResourceTools(servers, exposure)) tau.registerTool(tool);
    };
    const configure = async (): Promise<void> => {
      const registeredServers = tau.getMcpServers().map(({ name, config, extensionPath }) => ({
        source: { scope: "extension" as const, path: extensionPath },
        servers: { [name]: config },
      }));
      const isProjectTrusted = getContext().isProjectTrusted();
      const options = { cwd, agentDir, settings, isProjectTrusted, registered: registeredServers };
      await servers.configure(await readEntries(options));
      registerResourceTools();
    };
    const reported = new Set<string>();
    const reportProblems = (): void => {
      for (const { name, source, message } of servers.problems) {
        const text = `${name === undefined ? "MCP servers" : `The MCP server ${toVisibleLine(name, 100)}`} of ${formatSource(source)}: ${message}`;
        if (!reported.has(text)) notify(text);
        reported.add(text);
      }
    };
    let connectingDirect: Promise<unknown> = Promise.resolve();
    /** Connects servers of which nothing is known. Those that fail are reported once. */
    const connectUnknown = async (isWanted: (entry: McpEntry) => boolean): Promise<void> => {
      const unknown = servers
        .list()
        .filter(({ entry, definitions }) => entry.isEnabled && !definitions && isWanted(entry));
      await Promise.all(
        unknown.map(async ({ entry }) => {
          const connected = await servers.connect(entry.name);
          if (connected.kind === "connected" || reported.has(connected.failure.message)) return;
          reported.add(connected.failure.message);
          notify(connected.failure.message);
        }),
      );
    };

    tau.registerCommand("mcp", createMenuCommand(servers, { agentDir, cwd, openAuth, configure }));
    servers.onChange((name) => registered.update(name));
    const mentions = new ResourceMentions(servers, { agentDir, clock: systemClock });
    tau.on("mention_read", ({ text, signal }) => mentions.read(text, signal));
    tau.on("mention_complete", ({ text }) => mentions.complete(text));
    tau.on("session_start", async (_event, started) => {
      context = started;
      await configure();
      reportProblems();
      connectingDirect = connectUnknown(hasDirectTools);
      connectingDirect.catch((error: unknown) => notify(getErrorMessage(error)));
    });
    tau.on("before_agent_start", async () => {
      await untilTimeout(
        connectingDirect.catch(() => undefined),
        maxFirstWaitMs,
        systemClock,
      );
    });
    // The session limits how long a search waits; a server that takes longer is found by the next one.
    tau.on("tools_discover", () => connectUnknown(() => true));
    tau.on("mcp_servers_change", async () => {
      if (!context) return;
      await configure();
      reportProblems();
    });
    tau.on("session_shutdown", () => servers.close());
  };

/** Whether requests may list a tool of the server. */
const hasDirectTools = ({ exposure, toolExposure }: McpEntry): boolean =>
  exposure === "direct" || Object.values(toolExposure).includes("direct");

/** The tools and prompts of servers that the session has. */
class RegisteredTools {
  readonly #tau: Pick<ExtensionAPI, "registerTool" | "registerCommand" | "requestAccess" | "sendUserMessage">;
  readonly #servers: McpServers;
  /** Registered tools, by the name of the tool, and which server it belongs to. */
  readonly #tools = new Map<string, { server: string; key: string; definition: McpToolDefinition; entry: McpEntry }>();
  readonly #prompts = new Set<string>();

  constructor(tau: ExtensionAPI, servers: McpServers) {
    this.#tau = tau;
    this.#servers = servers;
  }

  /** Registers what a server has now. A tool that was registered already is left alone unless it is another one. */
  update(server: string): void {
    const view = this.#servers.get(server);
    const entry = view?.entry;
    const tools = entry?.isEnabled ? (view?.definitions?.tools ?? []) : [];
    const names = new Set<string>();
    for (const definition of tools) {
      const name = toToolName(server, definition.name);
      names.add(name);
      this.#register(name, entry!, definition);
    }
    for (const [name, { server: owner, entry: before, definition }] of this.#tools) {
      // Without definitions nothing is known: it may come back.
      if (owner !== server || names.has(name) || (entry?.isEnabled && !view?.definitions)) continue;
      this.#hide(name, before, definition);
    }
    for (const prompt of entry?.isEnabled ? (view?.definitions?.prompts ?? []) : []) {
      const name = toCommandName(server, prompt.name);
      if (this.#prompts.has(name)) continue;
      this.#prompts.add(name);
      this.#tau.registerCommand(name, createPromptCommand(this.#tau, this.#servers, { server, prompt }));
    }
  }

  #register(name: string, entry: McpEntry, definition: McpToolDefinition): void {
    const exposure = getToolExposure(entry, definition.name);
    const key = `${entry.hash} ${digestTool(definition)} ${exposure}`;
    if (this.#tools.get(name)?.key === key) return;
    if (exposure === "hidden" && !this.#tools.has(name)) return;
    this.#tools.set(name, { server: entry.name, key, definition, entry });
    this.#tau.registerTool(createMcpTool(this.#servers, entry, definition));
  }

  /** A tool that is gone can no longer be found. One that requests list stays: the list of a session does not change. */
  #hide(name: string, entry: McpEntry, definition: McpToolDefinition): void {
    if (getToolExposure(entry, definition.name) === "direct") return;
    this.#tools.delete(name);
    this.#tau.registerTool({ ...createMcpTool(this.#servers, entry, definition), exposure: "hidden" });
  }
}
