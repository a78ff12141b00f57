/** The servers of one session: what is configured, what is allowed, and what each offers to the model. */
import { createHash } from "node:crypto";
import type { Clock } from "@tau/ai";
import { type Fetch, Listeners, SerialQueue } from "@tau/ai/internal";
import type { SandboxNetwork } from "@tau/sandbox";
import { readAnswer, writeAnswer } from "./answers.ts";
import type { McpConnection } from "./connection.ts";
import { readDefinitions, writeDefinitions } from "./definition-cache.ts";
import {
  addDigests,
  describeChange,
  findChangedTools,
  type McpDefinitions,
  type McpToolDefinition,
} from "./definitions.ts";
import { describeStart, getServerNetwork } from "./describe-entry.ts";
import type { McpConfiguration, McpEntry, McpEntryProblem, McpTarget } from "./entry.ts";
import { McpError, type McpFailure } from "./failure.ts";
import type { CreateAuthProvider, McpLog, McpPerson, McpSpawn } from "./ports.ts";
import { resolveTarget } from "./resolve-target.ts";
import { McpServer, type McpServerState } from "./server.ts";

export interface McpServersParts {
  cwd: string;
  agentDir: string;
  /** The version of tau, which is reported to servers. */
  version: string;
  env: Readonly<Record<string, string | undefined>>;
  clock: Clock;
  /** Resolves with the server of this key, which all sessions of the process share. */
  share(key: string, create: (spawn: McpSpawn) => McpServer): Promise<McpServer>;
  /** Whether the user allowed everything beforehand, with the profile `permissive`. */
  isPermissive(): boolean;
  /** The network of the model's commands. */
  getNetwork(): SandboxNetwork;
  /** Asks the user. Undefined: nobody can be asked. */
  ask(title: string, lines: readonly string[]): Promise<boolean | undefined>;
  /** Answers what servers want to know during calls. */
  person: McpPerson;
  createAuthProvider?: CreateAuthProvider;
  /** Reaches addresses, through a proxy where there is one. */
  fetch: Fetch;
  log: McpLog;
}

/** A server as it is shown. */
export interface McpServerView {
  readonly entry: McpEntry;
  readonly state: McpViewState;
  /** The definitions that are used: accepted ones of the server, or cached ones; undefined if none are known. */
  readonly definitions: McpDefinitions | undefined;
  /** Tools whose definitions changed and were not accepted. They cannot be called. */
  readonly withheld: readonly string[];
  /** The end of standard error of a server that was started. */
  readonly stderr: string;
}

type McpViewState = { readonly kind: "disabled" } | McpServerState;

type McpConnected =
  | { readonly kind: "connected"; readonly definitions: McpDefinitions }
  | { readonly kind: "failed"; readonly failure: McpFailure };

interface Slot {
  readonly entry: McpEntry;
  server: McpServer | undefined;
  stopFollowing: () => void;
  definitions: McpDefinitions | undefined;
  withheld: readonly string[];
  /** The reason why it was not started; undefined once it was. */
  failure: McpFailure | undefined;
  isDenied: boolean;
  connecting: Promise<McpConnected> | undefined;
  /** Definitions are looked at one after the other: each may need an answer. */
  readonly accepting: SerialQueue;
}

export class McpServers {
  readonly #parts: McpServersParts;
  readonly #listeners: Listeners<string>;
  #slots = new Map<string, Slot>();
  #problems: readonly McpEntryProblem[] = [];

  constructor(parts: McpServersParts) {
    this.#parts = parts;
    this.#listeners = new Listeners((error) => parts.log(`A listener failed: ${String(error)}`));
  }

  get fetch(): Fetch {
    return this.#parts.fetch;
  }

  /** Entries that cannot be used. */
  get problems(): readonly McpEntryProblem[] {
    return this.#problems;
  }

  /** Uses these entries from now on. Servers whose entries are gone, changed or disabled are no longer used here. */
  async configure({ entries, problems }: McpConfiguration): Promise<void> {
    const { agentDir } = this.#parts;
    const before = this.#slots;
    this.#problems = problems;
    const slots = await Promise.all(
      entries.map(async (entry): Promise<Slot> => {
        const slot = before.get(entry.name);
        const isSame = slot?.entry.hash === entry.hash && entry.isEnabled === slot.entry.isEnabled;
        if (isSame) return Object.assign(slot, { entry });
        const definitions = entry.isEnabled ? await this.#readCache(agentDir, entry) : undefined;
        return { ...emptySlot(), entry, definitions, accepting: new SerialQueue() };
      }),
    );
    this.#slots = new Map(slots.map((slot) => [slot.entry.name, slot]));
    for (const slot of before.values()) if (!slots.includes(slot)) slot.stopFollowing();
    for (const name of new Set([...before.keys(), ...this.#slots.keys()])) this.#listeners.emit(name);
  }

  /** All servers, also those that are disabled, in the order of the configuration. */
  list(): McpServerView[] {
    return [...this.#slots.values()].map(toView);
  }

  get(name: string): McpServerView | undefined {
    const slot = this.#slots.get(name);
    return slot && toView(slot);
  }

  /** Called with the name of a server whose state or definitions changed. Returns how to stop. */
  onChange(listener: (name: string) => void): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Connects a server unless it is connected; the user is asked first where that is needed. `asksAgain`: also if the user said no
   * before. Never rejects. A signal ends the wait, not the connection.
   */
  async connect(
    name: string,
    { signal, asksAgain = false }: { signal?: AbortSignal; asksAgain?: boolean } = {},
  ): Promise<McpConnected> {
    const slot = this.#slots.get(name);
    if (!slot) return fail("configuration", `There is no MCP server ${name}.`);
    if (!slot.entry.isEnabled)
      return fail("configuration", `The MCP server ${name} is turned off. Set "enabled": true, or use /mcp.`);
    if (asksAgain) slot.isDenied = false;
    slot.connecting ??= this.#connect(slot).finally(() => (slot.connecting = undefined));
    if (!signal) return await slot.connecting;
    return await untilAborted(slot.connecting, signal);
  }

  /** Fills in the values of a server's target, after the user was asked where that is needed. */
  async resolve(
    name: string,
  ): Promise<{ kind: "resolved"; entry: McpEntry; target: McpTarget } | { kind: "failed"; failure: McpFailure }> {
    const slot = this.#slots.get(name);
    if (!slot) return fail("configuration", `There is no MCP server ${name}.`);
    slot.isDenied = false;
    const failure = await this.#allow(slot);
    if (failure) return { kind: "failed", failure };
    const resolved = await resolveTarget(slot.entry, { env: this.#parts.env });
    if (resolved.kind === "failed") return fail("configuration", resolved.message);
    return { ...resolved, entry: slot.entry };
  }

  /** Ends a server and connects it again, however often it has failed before. Other sessions that share it lose their calls. */
  async restart(name: string, options: { signal?: AbortSignal } = {}): Promise<McpConnected> {
    await this.stop(name);
    return await this.connect(name, { ...options, asksAgain: true });
  }

  /** Ends a server. The next use connects it again. */
  async stop(name: string): Promise<void> {
    await this.#slots.get(name)?.server?.stop();
  }

  /** Connects a server and runs requests. Rejects with `McpError`. */
  async run<T>(name: string, work: (connection: McpConnection) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const connected = await this.connect(name, signal && { signal });
    if (connected.kind === "failed") throw new McpError(connected.failure);
    return await this.#slots.get(name)!.server!.run(this.#parts.person, work);
  }

  /** The definition of a tool that may be called; a failure if it is withheld or gone. */
  findTool(name: string, tool: string): McpToolDefinition | McpFailure {
    const slot = this.#slots.get(name);
    if (slot?.withheld.includes(tool))
      return {
        kind: "not_allowed",
        message: `The MCP server ${name} changed its tool ${tool}, and the user has not accepted that.`,
      };
    const definition = slot?.definitions?.tools.find((each) => each.name === tool);
    return definition ?? { kind: "server", message: `The MCP server ${name} no longer has the tool ${tool}.` };
  }

  close(): void {
    for (const slot of this.#slots.values()) slot.stopFollowing();
    this.#listeners.clear();
  }

  /** Cached definitions are used only if they are those that were accepted. */
  async #readCache(agentDir: string, entry: McpEntry): Promise<McpDefinitions | undefined> {
    const definitions = await readDefinitions(agentDir, entry.hash);
    const answer = definitions && (await readAnswer(this.#parts, entry));
    if (!definitions || !answer) return undefined;
    const isAccepted = definitions.tools.every(({ name }) => Object.hasOwn(answer.tools, name));
    return isAccepted && findChangedTools(definitions.tools, answer.tools).length === 0 ? definitions : undefined;
  }

  async #connect(slot: Slot): Promise<McpConnected> {
    const { entry } = slot;
    try {
      const refused = slot.server ? undefined : await this.#allow(slot);
      if (refused) return this.#fail(slot, refused);
      slot.server ??= await this.#share(slot);
      await slot.server.connect();
      await slot.accepting.whenIdle();
      slot.failure = undefined;
      return { kind: "connected", definitions: slot.definitions! };
    } catch (error) {
      if (error instanceof McpError) return this.#fail(slot, { kind: error.kind, message: error.message });
      this.#parts.log(`${entry.name}: ${String(error)}`);
      const text = error instanceof Error ? error.message : String(error);
      return this.#fail(slot, { kind: "unreachable", message: `The MCP server ${entry.name} cannot be used: ${text}` });
    }
  }

  #fail(slot: Slot, failure: McpFailure): McpConnected {
    slot.failure = failure;
    this.#listeners.emit(slot.entry.name);
    return { kind: "failed", failure };
  }

  /** Undefined if it may be used. */
  async #allow(slot: Slot): Promise<McpFailure | undefined> {
    const { entry } = slot;
    const { name } = entry;
    if (!needsAnswer(entry) || entry.isTrusted || this.#parts.isPermissive()) return undefined;
    if ((await readAnswer(this.#parts, entry))?.isAllowed) return undefined;
    if (slot.isDenied) return denied(name);
    const verb = entry.target.type === "stdio" ? "Start" : "Use";
    const answer = await this.#parts.ask(
      `${verb} the MCP server ${name}?`,
      describeStart(entry, this.#parts.getNetwork()),
    );
    if (answer === undefined) return { kind: "not_allowed", message: describeUnattended(entry) };
    slot.isDenied = !answer;
    if (!answer) return denied(name);
    await writeAnswer(this.#parts, entry, { isAllowed: true });
    return undefined;
  }

  async #share(slot: Slot): Promise<McpServer> {
    const { entry } = slot;
    const { env, cwd, agentDir, version, clock, createAuthProvider, fetch, log } = this.#parts;
    const resolved = await resolveTarget(entry, { env });
    if (resolved.kind === "failed") throw new McpError({ kind: "configuration", message: resolved.message });
    const { target } = resolved;
    const network = target.type === "stdio" ? getServerNetwork(target, this.#parts.getNetwork()) : undefined;
    // Sessions with other values of variables have a server of their own.
    const key = createHash("sha256")
      .update(JSON.stringify([cwd, entry.hash, target, network]))
      .digest("hex");
    const server = await this.#parts.share(
      key,
      (spawn) =>
        new McpServer({ entry, target, network, cwd, agentDir, version, clock, spawn, fetch, createAuthProvider, log }),
    );
    slot.stopFollowing = server.onChange((state) => this.#follow(slot, state));
    if (server.state.kind === "ready") this.#follow(slot, server.state);
    return server;
  }

  #follow(slot: Slot, state: McpServerState): void {
    if (state.kind === "ready") void slot.accepting.add(() => this.#accept(slot, state.definitions));
    else this.#listeners.emit(slot.entry.name);
  }

  /** Uses definitions; those that changed after they were accepted only if the user accepts that. */
  async #accept(slot: Slot, definitions: McpDefinitions): Promise<void> {
    const { entry } = slot;
    const { name } = entry;
    const answer = await readAnswer(this.#parts, entry);
    const changed = findChangedTools(definitions.tools, answer?.tools ?? {});
    const isAccepted =
      changed.length === 0 || entry.isTrusted || this.#parts.isPermissive() || (await this.#askChange(slot, changed));
    slot.withheld = isAccepted ? [] : changed.map((tool) => tool.name);
    slot.definitions = {
      ...definitions,
      tools: definitions.tools.filter((tool) => !slot.withheld.includes(tool.name)),
    };
    if (isAccepted) {
      await writeAnswer(this.#parts, entry, { tools: addDigests(answer?.tools, definitions.tools) });
      await writeDefinitions(this.#parts.agentDir, entry.hash, definitions);
    }
    this.#listeners.emit(name);
  }

  async #askChange(slot: Slot, changed: readonly McpToolDefinition[]): Promise<boolean> {
    const { name, hash } = slot.entry;
    const before = (await readDefinitions(this.#parts.agentDir, hash))?.tools ?? [];
    const lines = changed.slice(0, 10).flatMap((tool) =>
      describeChange(
        before.find((each) => each.name === tool.name),
        tool,
      ),
    );
    if (changed.length > 10) lines.push(`… and ${changed.length - 10} more`);
    const count = changed.length === 1 ? "a tool" : `${changed.length} tools`;
    const answer = await this.#parts.ask(`The MCP server ${name} changed ${count}. Use the new definitions?`, lines);
    return answer ?? false;
  }
}

const emptySlot = (): Omit<Slot, "entry" | "definitions" | "accepting"> => ({
  server: undefined,
  stopFollowing: () => {},
  withheld: [],
  failure: undefined,
  isDenied: false,
  connecting: undefined,
});

const toView = ({ entry, server, definitions, withheld, failure }: Slot): McpServerView => ({
  entry,
  state: getState(entry, server, failure),
  definitions,
  withheld,
  stderr: server?.stderr ?? "",
});

function getState(entry: McpEntry, server: McpServer | undefined, failure: McpFailure | undefined): McpViewState {
  if (!entry.isEnabled) return { kind: "disabled" };
  if (failure && server?.state.kind !== "ready") return { kind: "failed", failure };
  return server?.state ?? { kind: "idle" };
}

/** The user's own addresses are reached without a question: they hold what the user wrote there. */
export const needsAnswer = ({ target, source }: McpEntry): boolean =>
  target.type === "stdio" || source.scope !== "user";

const fail = (kind: McpFailure["kind"], message: string): Extract<McpConnected, { kind: "failed" }> => ({
  kind: "failed",
  failure: { kind, message },
});

const denied = (name: string): McpFailure => ({
  kind: "denied",
  message: `You did not allow the MCP server ${name}. /mcp asks again.`,
});

/** Says what to set where nobody can be asked. */
function describeUnattended({ name, source }: McpEntry): string {
  const how =
    source.scope === "user"
      ? `Add "trusted": true to its entry in ${source.path}, or answer once in a terminal: tau mcp test ${name}.`
      : `Answer once in a terminal: tau mcp test ${name}.`;
  return `The MCP server ${name} was not started: nobody has allowed it yet. ${how} Or use --policy permissive.`;
}

async function untilAborted(connecting: Promise<McpConnected>, signal: AbortSignal): Promise<McpConnected> {
  return await new Promise((resolve) => {
    const abort = () => resolve(fail("aborted", "It was stopped."));
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    void connecting.then(resolve).finally(() => signal.removeEventListener("abort", abort));
  });
}
