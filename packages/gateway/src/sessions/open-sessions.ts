/** The sessions that are open in the gateway. They are opened when they are used, and closed when they are not. */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Clock, Ids } from "@tau/ai";
import { getErrorMessage, withoutUndefined } from "@tau/ai/internal";
import type { Feature } from "@tau/extensions";
import { SessionManager } from "@tau/harness";
import {
  type AdmitRun,
  type AfterCrash,
  createSessionFrameRedactor,
  type Host,
  type HostedSession,
  type HostParams,
  type HostWatcher,
} from "@tau/harness/host";
import { getWorkingDirectory, isSessionId, type Storage, toSessionKey } from "@tau/harness/session";
import type { SettingsManager } from "@tau/config/settings";
import { isWithin } from "@tau/tools/platform";
import type { OpenSessionData } from "@tau/protocol/gateway";
import type { Subscriptions } from "../bridge/subscriptions.ts";
import { GatewayError } from "../errors.ts";
import { HeldSessions } from "./held-sessions.ts";
import { OpenSession } from "./open-session.ts";
import type { SessionList } from "./session-list.ts";
import { resolveDirectory } from "./session-roots.ts";

/** Parameters of a gateway's sessions, besides those of their directory. */
export type GatewaySessionParams = Required<
  Pick<
    HostParams,
    | "ask"
    | "forSession"
    | "addedFeatures"
    | "reloadGateway"
    | "afterCrash"
    | "admitRun"
    | "waitsForBusyProvider"
    | "fileAuthority"
  >
>;

/**
 * Opens a host for the sessions of a directory: with its settings, its trust and its extensions. Its sessions are created
 * with `params`. The host is disposed of when it has no open sessions any more; see `HostOptions.onDispose`.
 */
export type OpenDirectory = (cwd: string, params: GatewaySessionParams) => Promise<Host>;

interface NewSessionOptions {
  agentName?: string;
  /** Writes what it begins with, before it can be used. */
  fill?: (log: SessionManager) => Promise<void>;
  /** Makes its policy stricter, for good. Only with `fill`. */
  policyProfile?: string;
  /** The device that it is opened for; see `HeldSessions`. */
  deviceId?: string;
  /** Whether `cwd` needs not be below the roots: the user's own settings name it. Default false. */
  isAnyDirectory?: boolean;
  /** Called once it is open. Until this is done, it is not closed. */
  begin?: (open: OpenSession) => Promise<void>;
}

interface OpenSessionsOptions {
  agentDir: string;
  openDirectory: OpenDirectory;
  /** The directory that the gateway was started in. */
  startDirectory: string;
  index: SessionList;
  /** Where sessions are kept. Default: files. */
  storage?: Storage;
  /** Whether other nodes open the sessions too, so that a session that is held runs on one of them. Default false. */
  isShared?: boolean;
  /** Called before a session is opened that is held by this process alone. */
  beforeOpen?: (sessionId: string) => Promise<void>;
  subscriptions: Subscriptions;
  settings: SettingsManager;
  /** Reads the settings of the gateway and of these sessions again. Answers with the names of those that changed. */
  reloadGateway: (sessions: OpenSessions) => Promise<readonly string[]>;
  afterCrash: AfterCrash;
  admitRun: AdmitRun;
  /** Whether somebody can be asked who follows the session in another way than by subscribing. */
  isAttended: (sessionId: string) => boolean;
  /** Further parameters of the session with this id, which works in `cwd`. */
  getSessionParams: NonNullable<HostParams["forSession"]>;
  /** Features that sessions have besides those of their directory. */
  addedFeatures: readonly Feature[];
  /** The place of a session in the line of those that wait for a run, from 1. Undefined if it does not wait. */
  getPosition: (sessionId: string) => number | undefined;
  clock: Clock;
  ids: Ids;
  log: (line: string) => void;
}

interface Directory {
  host: Promise<Host>;
  /** How many sessions are open in it or being opened. */
  users: number;
}

export class OpenSessions {
  readonly #options: OpenSessionsOptions;
  readonly #directories = new Map<string, Directory>();
  readonly #open = new Map<string, OpenSession>();
  readonly #opening = new Map<string, Promise<OpenSession>>();
  /** Settle when their logs can be opened again. */
  readonly #closing = new Map<string, Promise<void>>();
  readonly #held: HeldSessions;
  readonly #watchers: Partial<HostWatcher>[] = [];
  #isDisposed = false;

  constructor(options: OpenSessionsOptions) {
    this.#options = options;
    const { settings, subscriptions } = options;
    this.#held = new HeldSessions({
      listOpen: () => this.#open.values(),
      listFollowers: (sessionId) => subscriptions.listClients(sessionId).map(({ deviceId }) => deviceId),
      close: (sessionId, reason) => this.close(sessionId, reason),
      getMaxOpen: () => settings.get().gateway.devices.maxOpenSessions,
    });
  }

  /** Calls the watcher with each session that is opened or closed from now on, after those that were added before it. */
  watch(watcher: Partial<HostWatcher>): void {
    this.#watchers.push(watcher);
  }

  get all(): Iterable<OpenSession> {
    return this.#open.values();
  }

  list(): OpenSessionData[] {
    return [...this.#open.values()].map((open) => open.describe());
  }

  /** Marks files that were written here in the index: the system may report them later. */
  markChanges(): void {
    for (const open of this.#open.values()) {
      const { sessionFile } = open.hosted.session;
      if (sessionFile !== undefined && open.takeGrowth()) this.#options.index.markChanged(sessionFile);
    }
  }

  /** Undefined if it is not open. */
  find(sessionId: string): OpenSession | undefined {
    return this.#open.get(sessionId);
  }

  /** Directories below which sessions may be created. */
  get roots(): readonly string[] {
    const { settings, startDirectory } = this.#options;
    const { roots } = settings.get().gateway;
    return roots.length > 0 ? roots : [startDirectory];
  }

  /** Where sessions are created if nobody says where. */
  get defaultDirectory(): string {
    return this.roots[0]!;
  }

  /** A new session in a directory below the roots. */
  async create(
    cwd: string,
    { deviceId, begin, isAnyDirectory = false, ...options }: NewSessionOptions = {},
  ): Promise<OpenSession> {
    const directory = await resolveDirectory(cwd, isAnyDirectory ? ["/"] : this.roots);
    return await this.#held.hold(deviceId, async () => {
      const open = await this.#create(directory, options);
      if (begin) await open.use(() => begin(open));
      return open;
    });
  }

  async #create(directory: string, { agentName, policyProfile, fill }: NewSessionOptions): Promise<OpenSession> {
    const { agentDir, settings, storage } = this.#options;
    const { sessionDir, durability } = settings.get();
    return await this.#withHost(directory, async (host) => {
      if (!fill && !storage) return this.#open.get(await host.create(agentName === undefined ? {} : { agentName }))!;
      const header = withoutUndefined({ agentName, policyProfile, storage });
      const manager = await SessionManager.create(directory, sessionDir, { agentDir, durability, ...header });
      try {
        await fill?.(manager);
        return this.#open.get(await host.open(manager))!;
      } catch (error) {
        await manager.close();
        // Nobody knows of it.
        if (storage) await storage.remove(toSessionKey(manager.id));
        else await rm(manager.getSessionFile() ?? "", { force: true });
        throw error;
      }
    });
  }

  /**
   * The session with this id, which is opened for the device if it is not open. Throws `not_found`, `conflict` if another process
   * has it, and `rate_limited` if the device has too many.
   */
  async open(sessionId: string, deviceId?: string): Promise<OpenSession> {
    const known = this.#open.get(sessionId);
    if (known) {
      known.touch();
      return known;
    }
    const opening = this.#opening.get(sessionId) ?? this.#held.hold(deviceId, () => this.#openLog(sessionId));
    this.#opening.set(sessionId, opening);
    try {
      return await opening;
    } finally {
      if (this.#opening.get(sessionId) === opening) this.#opening.delete(sessionId);
    }
  }

  /** Does what opens a session for the device, and answers with its id. Throws `rate_limited` as `open` does. */
  async holdOpened<T extends { sessionId: string }>(deviceId: string, work: () => Promise<T>): Promise<T> {
    let done: T | undefined;
    await this.#held.hold(deviceId, async () => {
      done = await work();
      return this.#open.get(done.sessionId);
    });
    return done!;
  }

  /** Opens it, and keeps it open until the work is done. */
  async use<T>(sessionId: string, deviceId: string, work: (open: OpenSession) => Promise<T>): Promise<T> {
    const open = await this.open(sessionId, deviceId);
    return await open.use(() => work(open));
  }

  /** `reason` is sent to clients that follow it. */
  async close(sessionId: string, reason = "closed"): Promise<void> {
    const open = this.#open.get(sessionId);
    if (!open) {
      await this.#closing.get(sessionId);
      return;
    }
    this.#options.subscriptions.close(sessionId, reason);
    const closing = open.host.close(sessionId);
    const settle = () => void this.#closing.delete(sessionId);
    this.#closing.set(sessionId, closing.then(settle, settle));
    await closing;
  }

  async dispose(reason?: unknown): Promise<void> {
    this.#isDisposed = true;
    const directories = [...this.#directories.values()];
    this.#directories.clear();
    await Promise.all(
      directories.map(async ({ host: opening }) => {
        const host = await opening.catch(() => undefined);
        await host?.dispose(reason);
      }),
    );
    await Promise.all(this.#closing.values());
    this.#options.index.close();
  }

  async #openLog(sessionId: string): Promise<OpenSession> {
    const { startDirectory, isShared = false, beforeOpen } = this.#options;
    await this.#closing.get(sessionId);
    const manager = await this.#openManager(sessionId);
    const { readOnly } = manager;
    if (readOnly?.reason === "held") {
      await manager.close();
      if (isShared) throw new GatewayError("moved", `The session ${sessionId} runs on another node.`);
      const { holder, advice = "Close it there first." } = readOnly;
      const message = `The session ${sessionId} is open in ${holder.name}. ${advice}`;
      throw new GatewayError("conflict", message);
    }
    if (isShared && readOnly?.reason === "refused") {
      // It may be refused only now, and nobody could write to it later.
      await manager.close();
      throw new GatewayError("unavailable", readOnly.message, { retryAfterMs: 1_000 });
    }
    try {
      await beforeOpen?.(sessionId);
      await this.#makeOwnDirectory(manager.getCwd());
      const cwd = await getWorkingDirectory(manager, startDirectory);
      return await this.#withHost(cwd, async (host) => this.#open.get(await host.open(manager))!);
    } catch (error) {
      // Most that fail have closed it already.
      await manager.close();
      throw error;
    }
  }

  /** Conversations of channels have a directory of the gateway's own, which another machine with the same storage does not have yet. */
  async #makeOwnDirectory(cwd: string): Promise<void> {
    const parent = join(this.#options.agentDir, "channels");
    if (cwd !== parent && isWithin(parent, cwd)) await mkdir(cwd, { recursive: true, mode: 0o700 });
  }

  /** Throws `not_found`. */
  async #openManager(sessionId: string): Promise<SessionManager> {
    const { agentDir, index, settings } = this.#options;
    const options = { agentDir, durability: settings.get().durability };
    const manager = isSessionId(sessionId) ? await index.open(sessionId, options) : undefined;
    if (manager) return manager;
    throw new GatewayError("not_found", `There is no session ${JSON.stringify(sessionId.slice(0, 128))}.`);
  }

  /** Opens the host of a directory, if it is not open, and keeps it open until the work is done. */
  async #withHost<T>(cwd: string, work: (host: Host) => Promise<T>): Promise<T> {
    if (this.#isDisposed) throw new GatewayError("unavailable", "The gateway stops. Try again when it runs.");
    const directory = this.#directories.get(cwd) ?? { host: this.#openHost(cwd), users: 0 };
    this.#directories.set(cwd, directory);
    directory.users++;
    try {
      return await work(await directory.host);
    } finally {
      this.#release(cwd, directory);
    }
  }

  #release(cwd: string, directory: Directory): void {
    directory.users--;
    if (directory.users > 0 || this.#directories.get(cwd) !== directory) return;
    this.#directories.delete(cwd);
    const { log } = this.#options;
    this.#leave(directory).catch((error: unknown) => log(`${cwd} could not be left: ${getErrorMessage(error)}`));
  }

  async #leave(directory: Directory): Promise<void> {
    // Whoever wanted it knows why it could not be opened.
    const host = await directory.host.catch(() => undefined);
    await Promise.all(this.#closing.values());
    await host?.dispose();
  }

  async #openHost(cwd: string): Promise<Host> {
    const { openDirectory, subscriptions, reloadGateway, afterCrash, admitRun, getSessionParams, addedFeatures } =
      this.#options;
    const isAttended = (sessionId: string) =>
      subscriptions.isAttended(sessionId) || this.#options.isAttended(sessionId);
    const host = await openDirectory(cwd, {
      ask: { isAttended },
      forSession: getSessionParams,
      addedFeatures,
      reloadGateway: () => reloadGateway(this),
      afterCrash,
      admitRun,
      waitsForBusyProvider: true,
      // Clients of a gateway are not at this machine's terminal.
      fileAuthority: "model",
    });
    // Commands and extensions open sessions too.
    host.watch({
      onOpened: (hosted) => this.#add(cwd, host, hosted),
      onClosed: (sessionId) => this.#remove(cwd, sessionId),
    });
    return host;
  }

  #add(cwd: string, host: Host, hosted: HostedSession): void {
    const { clock, ids, subscriptions, settings, index, getPosition, log } = this.#options;
    const { sessionId, sessionFile } = hosted.session;
    const redactor = createSessionFrameRedactor(hosted.session);
    hosted.redactWith(redactor);
    if (sessionFile !== undefined) index.markChanged(sessionFile);
    const directory = this.#directories.get(cwd);
    if (directory) directory.users++;
    this.#open.set(
      sessionId,
      new OpenSession({
        host,
        hosted,
        redactor,
        getPosition: () => getPosition(sessionId),
        clock,
        ids,
        log,
        getIdleCloseMs: () => settings.get().gateway.idleCloseMs,
        countFollowers: () => subscriptions.count(sessionId),
        onIdle: () => {
          this.close(sessionId, "idle").catch((error: unknown) =>
            log(`The session ${sessionId} could not be closed: ${getErrorMessage(error)}`),
          );
        },
      }),
    );
    for (const { onOpened } of this.#watchers) onOpened?.(hosted);
  }

  #remove(cwd: string, sessionId: string): void {
    const { subscriptions, index } = this.#options;
    const open = this.#open.get(sessionId);
    if (!open) return;
    this.#open.delete(sessionId);
    open.end();
    // Where the gateway stops, its clients connect again and continue.
    subscriptions.close(sessionId, this.#isDisposed ? undefined : "closed");
    for (const { onClosed } of this.#watchers) onClosed?.(sessionId);
    const { sessionFile } = open.hosted.session;
    if (sessionFile !== undefined) index.markChanged(sessionFile);
    const directory = this.#directories.get(cwd);
    if (directory) this.#release(cwd, directory);
  }
}
