/**
 * Hosts sessions for surfaces: print, JSON, RPC, the terminal, the gateway and sub-agents are its clients. It opens,
 * creates, forks and closes sessions, executes commands on them and numbers their events. Which session a client shows is
 * the client's affair: the host has no current one.
 */
import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import {
  type Command,
  type CommandData,
  type CommandName,
  commandNames,
  isCommandName,
  HarnessError,
} from "@tau/protocol";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { didYouMean, isRecord } from "@tau/ai/internal";
import { unlessMissing } from "@tau/tools/platform";
import type { AgentSession, StartReason } from "../agent-session/agent-session.ts";
import { createAgentSession } from "../construct/create-agent-session.ts";
import { LiveSessions } from "../agent-session/live-sessions.ts";
import type { AgentSessionParams } from "../construct/params.ts";
import type { ChildOptions, ChildSession, Feature } from "@tau/extensions";
import type { SessionEnd } from "@tau/extensions/internal";
import { createChildSession } from "../extension-port/child-session.ts";
import { check, createCheck } from "@tau/config/internal";
import { jsonObject, nonEmptyText } from "@tau/config/fields";
import { mustWorkIn } from "../session/working-directory.ts";
import type { SessionManager } from "../session/session-manager.ts";
import type { CommandContext, CommandOptions } from "./commands/command.ts";
import { createExtensionHost } from "./extension-host.ts";
import { type Cursor, HostedSession, type HostListener, openView } from "./hosted-session.ts";
import { resumeEvents, RunStream, type SentEvents, startRun, type StreamOptions } from "./run-stream.ts";

/** Parameters of the sessions of a host. */
export interface HostParams extends Omit<AgentSessionParams, "session" | "sessionId" | "sessions"> {
  /** Further parameters of the session with this id when it is opened. `cwd` is its directory. */
  forSession?: (sessionId: string, cwd: string) => SessionSpecificParams | undefined;
  /** Features besides `features`, such as those of the program that hosts the sessions. Default: none. */
  addedFeatures?: readonly Feature[];
}

/** Parameters that differ between the sessions of a host. They replace those of the host. */
export type SessionSpecificParams = Pick<
  AgentSessionParams,
  "binding" | "allowedTools" | "permissionMode" | "model" | "budgets" | "systemPrompt" | "resources"
>;

export interface HostOptions {
  /** Parameters of every session besides `agentDir` and `use` (all that the program has), which they can replace. */
  params: HostParams;
  /** The directory with the user's settings, credentials, models and sessions. */
  agentDir: string;
  /** Called with each session before it can be used, for example to set a key for this process alone. */
  prepare?: (session: AgentSession) => void | Promise<void>;
  /** Called by `dispose` when all sessions are closed, to close what they shared. */
  onDispose?: () => Promise<void>;
}

/** Follows which sessions a host has. */
export interface HostWatcher {
  /** Called before the session's first event. */
  onOpened(hosted: HostedSession): void;
  /** Called when no command reaches it any more. */
  onClosed(sessionId: string): void;
}

const checkArguments = createCheck({
  options: jsonObject,
  agentDir: nonEmptyText,
  params: jsonObject,
  command: check(
    'a command such as { type: "get_state" }',
    (value) => isRecord(value) && typeof value["type"] === "string",
  ),
});

export class Host {
  readonly #options: HostOptions;
  readonly #live = new LiveSessions();
  readonly #hosted = new Map<string, HostedSession>();
  /** Sessions that are being opened over a log, by their ids. */
  readonly #opening = new Map<string, Promise<string>>();
  readonly #watchers = new Set<HostWatcher>();
  #isDisposed = false;

  constructor(options: HostOptions) {
    checkArguments({ options });
    const { agentDir, params } = options;
    checkArguments({ agentDir, params });
    const { addedFeatures, features = [], ...others } = params;
    const all = addedFeatures ? [...features, ...addedFeatures] : features;
    const used = { use: ["user", "project"], agentDir } as const;
    this.#options = { ...options, params: { ...used, ...others, ...(all.length > 0 && { features: all }) } };
  }

  get agentDir(): string {
    return this.#options.agentDir;
  }

  get ids(): Ids {
    return this.#options.params.ids ?? systemIds;
  }

  get #clock(): Clock {
    return this.#options.params.clock ?? systemClock;
  }

  /** The ids of the open sessions, in the order they were opened. */
  get sessionIds(): readonly string[] {
    return [...this.#hosted.keys()];
  }

  /**
   * Opens a session over a log, and answers with its id. A session that is open already stays as it is. Throws
   * `invalid_input`, and closes the log, if the session belongs to another directory or its agent does not exist. `reason`
   * is for its extensions; default `startup`.
   */
  async open(sessionManager: SessionManager, reason: StartReason = "startup"): Promise<string> {
    const { forSession, storage: _storage, ...params } = this.#options.params;
    const cwd = params.cwd ?? process.cwd();
    const extensions = params.extensions && { ...params.extensions, start: { reason } };
    return await this.#add(sessionManager, cwd, () =>
      createAgentSession({
        ...params,
        ...forSession?.(sessionManager.id, cwd),
        ...(extensions && { extensions }),
        sessionManager,
        sessions: this.#live,
      }),
    );
  }

  /** Creates a session with the parameters of this host, for another agent if one is named, or as the child of another. */
  async create(params: Pick<AgentSessionParams, "agentName" | "parentSessionId"> = {}): Promise<string> {
    const { forSession: _forSession, ...shared } = this.#options.params;
    return await this.#host(await createAgentSession({ ...shared, ...params, sessions: this.#live }));
  }

  /**
   * Opens another log with everything that an open session was made of, its overrides included. `reason` is what its
   * extensions get; default `resume`.
   */
  async openLike(sessionId: string, sessionManager: SessionManager, reason?: StartReason): Promise<string> {
    const { session } = this.get(sessionId);
    return await this.#add(sessionManager, session.cwd, () => session.openOther(sessionManager, reason));
  }

  /** A new session with a copy of the branch up to an entry. */
  async fork(sessionId: string, entryId: string): Promise<string> {
    return await this.#host(await this.get(sessionId).session.branch(entryId));
  }

  /** Opens a child of an open session, and hosts it as long as it is open. */
  async openChild(sessionId: string, options: ChildOptions): Promise<ChildSession> {
    const child = await this.get(sessionId).session.openChild(options);
    const id = await this.#host(child);
    return createChildSession(child, async () => {
      if (this.#hosted.has(id)) await this.close(id);
    });
  }

  /** Undefined for a session that is not open here. */
  find(sessionId: string): HostedSession | undefined {
    return this.#hosted.get(sessionId);
  }

  /** Throws `session_not_found` for a session that is not open here. */
  get(sessionId: string): HostedSession {
    const hosted = this.find(sessionId);
    if (hosted) return hosted;
    throw new HarnessError("session_not_found", `The session ${JSON.stringify(sessionId)} is not open.`);
  }

  /** The open session whose log is this file, also where the path leads over a link. */
  async findOpen(path: string): Promise<HostedSession | undefined> {
    const file = await unlessMissing(realpath(path));
    if (file === undefined) return undefined;
    for (const hosted of this.#hosted.values()) {
      const { sessionFile } = hosted.session;
      if (sessionFile !== undefined && (await unlessMissing(realpath(sessionFile))) === file) return hosted;
    }
    return undefined;
  }

  /** Executes a command of the protocol, whose parameters are checked here. What it throws has a `code`. */
  async execute<Name extends CommandName>(
    sessionId: string,
    command: Command<Name>,
    options: CommandOptions = {},
  ): Promise<CommandData<Name>> {
    checkArguments({ command, options });
    const { type: name, ...params } = command as { type: string };
    if (!isCommandName(name)) throw new HarnessError("unknown_command", formatUnknown(name));
    // A surface that only prompts, as print mode does, starts faster without the commands.
    const { commandTable, parseParams } = await import("./commands/index.ts");
    const values = parseParams(name, params, options);
    const hosted = this.get(sessionId);
    const context: CommandContext = { host: this, hosted, session: hosted.session, options };
    return (await commandTable[name].run(context, values as never)) as CommandData<Name>;
  }

  /** See `HostedSession.subscribe`. */
  subscribe(sessionId: string, listener: HostListener, from?: Cursor): () => void {
    return this.get(sessionId).subscribe(listener, from);
  }

  /** Sends a prompt to a session, for a client that follows the run. Its `result` rejects with `busy` if a run is in progress. */
  stream(sessionId: string, text: string, options: StreamOptions = {}): RunStream {
    const hosted = this.get(sessionId);
    return new RunStream(options ?? {}, (started) => startRun(hosted, text, started), this.#clock);
  }

  /**
   * Follows a session until it is idle, for a client that was away: what came after the event with this id, or a view and then
   * what comes. Throws `invalid_input` for a text that is no id.
   */
  resume(sessionId: string, lastEventId?: string): SentEvents {
    return resumeEvents(this.get(sessionId), lastEventId, this.#clock);
  }

  /** Reports the sessions that are open, and then each that is opened or closed. Returns how to stop. */
  watch(watcher: HostWatcher): () => void {
    for (const hosted of this.#hosted.values()) watcher.onOpened(hosted);
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  /** `why` is for extensions; default: the program ends. */
  async close(sessionId: string, why?: SessionEnd): Promise<void> {
    const hosted = this.get(sessionId);
    this.#remove(sessionId);
    await hosted.close(why);
  }

  /** Closes all sessions. `reason` is what their runs end with. A session that is still being opened is closed instead. */
  async dispose(reason?: unknown): Promise<void> {
    this.#isDisposed = true;
    const open = [...this.#hosted.values()];
    await Promise.all(open.map((hosted) => hosted.abort(reason)));
    for (const sessionId of this.sessionIds) this.#remove(sessionId);
    await Promise.all(open.map((hosted) => hosted.close()));
    await this.#options.onDispose?.();
  }

  #remove(sessionId: string): void {
    this.#hosted.delete(sessionId);
    for (const watcher of this.#watchers) watcher.onClosed(sessionId);
  }

  async #add(sessionManager: SessionManager, cwd: string, open: () => Promise<AgentSession>): Promise<string> {
    const { id } = sessionManager;
    const opening = this.#opening.get(id);
    if (opening || this.#hosted.has(id)) {
      await sessionManager.close();
      return await (opening ?? id);
    }
    const added = this.#openAndHost(sessionManager, cwd, open).finally(() => this.#opening.delete(id));
    this.#opening.set(id, added);
    return await added;
  }

  async #openAndHost(sessionManager: SessionManager, cwd: string, open: () => Promise<AgentSession>): Promise<string> {
    await mustWorkIn(sessionManager, resolve(cwd));
    const session = await open().catch(async (error: unknown) => {
      await sessionManager.close();
      throw error;
    });
    return await this.#host(session);
  }

  async #host(session: AgentSession): Promise<string> {
    try {
      await this.#options.prepare?.(session);
      session.setExtensionHost(createExtensionHost(this, session.sessionId));
      const epoch = this.ids();
      const view = await openView(session);
      if (this.#isDisposed) throw new HarnessError("closed", "The session was not opened: its host is closed.");
      const hosted = new HostedSession(session, { epoch, view });
      this.#hosted.set(session.sessionId, hosted);
      for (const watcher of this.#watchers) watcher.onOpened(hosted);
      return session.sessionId;
    } catch (error) {
      await session.dispose();
      throw error;
    }
  }
}

export const createHost = (options: HostOptions): Host => new Host(options);

function formatUnknown(name: string): string {
  if (name.length > 80) return "There is no command with such a long name.";
  return `There is no command ${JSON.stringify(name)}.${didYouMean(name, commandNames)}`;
}
