/** Creates, opens, finds, lists and branches sessions. */
import { dirname, join, resolve } from "node:path";
import type { AgentMessage } from "@tau/agent";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { closeAfter, withoutUndefined } from "@tau/ai/internal";
import { type FileSystem, lookAt, nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import {
  createFileStore,
  createMemoryStorage,
  createMemoryStore,
  listNames,
  type LogStore,
  MemoryLog,
  type Storage,
} from "@tau/tools/storage";
import { defaultAgentDir } from "@tau/config/settings";
import { namingFile, orUndefined, writeWhole } from "@tau/tools/durable";
import { HarnessError } from "@tau/protocol";
import type { Durability } from "./append-queue.ts";
import { readUnfinishedCalls } from "./branch.ts";
import { buildContext } from "./context.ts";
import { describeProblems } from "./describe-problems.ts";
import { type SessionEntry, type SessionHeader, sessionVersion } from "./entry.ts";
import { createFileStorage, findSessionFile, getSessionDirectory, type StoragePorts } from "./file-storage.ts";
import { encodeLine } from "./line.ts";
import {
  describeSessionFile,
  listAllSessions,
  listLastUsed,
  type ListOptions,
  listSessions,
  type PageOptions,
} from "./list-sessions.ts";
import { SessionLog } from "./log.ts";
import { type TranscriptMessage, withIds } from "./message-ids.ts";
import { notSession } from "./not-session.ts";
import { recover } from "./recover.ts";
import { checkSessionId, getSessionId, idInFileName, sessionDirectory, sessionsRoot } from "./session-directory.ts";
import { describeSession, isChildSession, readIsDeleted, type SessionInfo } from "./session-info.ts";
import { readInitialState } from "./initial-state.ts";
import { Session, type SessionParts } from "./session.ts";
import { createWhole, findLog, isStored, toSessionKey } from "./stored-session.ts";
import { isOld, upgradeBytes, upgradeFile } from "./upgrade.ts";

export interface SessionManagerOptions {
  /** When an entry is acknowledged. Default `strict`. */
  durability?: Durability;
  /** Default `write`: opens read-only if another process writes the session. */
  access?: "write" | "read";
  /** Whether all lines are verified when a session is opened. Default false: a line is verified when it is read. */
  verifiesAll?: boolean;
  /** The directory of tau's own files. Default: `TAU_DIR`, else `~/.tau`. */
  agentDir?: string;
  /** Where sessions are kept. Default: the files of a directory. */
  storage?: Storage;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

export interface NewSession {
  /** Default: a new unique id. */
  id?: string;
  /** Default: the directory of the session that creates it. */
  cwd?: string;
  /** The id of the session that it comes from. */
  parentId?: string | null;
  branchPoint?: string | null;
  /** The file of the session that it comes from. */
  parentSession?: string;
  /** Default: the agent of the session that creates it. */
  agentName?: string;
  /** The profile of the policy that makes it stricter. Default: that of the session that creates it. */
  policyProfile?: string;
}

/** A session with the messages of its branch as of when it was loaded, each with the id of its entry. */
export type LoadedSession = SessionManager & {
  /** The messages that the model is sent. */
  readonly messages: readonly TranscriptMessage[];
  /** All that was said, also before a compaction. */
  readonly transcript: readonly TranscriptMessage[];
};

type CreateOptions = SessionManagerOptions & Omit<NewSession, "cwd">;
type HeaderFields = NewSession & { cwd: string };

interface ResolvedOptions
  extends StoragePorts, Required<Pick<SessionManagerOptions, "durability" | "access" | "verifiesAll">> {
  storage: Storage;
  /** `storage`, if the caller has chosen it. */
  customStorage: Storage | undefined;
}

export class SessionManager extends Session {
  readonly #options: ResolvedOptions;
  readonly #log: SessionLog;

  private constructor(options: ResolvedOptions, parts: SessionParts) {
    super(parts);
    this.#options = options;
    this.#log = parts.log;
  }

  /** Creates a session. Its file appears with its first entry, so a session that is never used leaves no file. */
  static async create(cwd: string, sessionDir?: string, options: CreateOptions = {}): Promise<SessionManager> {
    const resolved = resolveOptions(options, resolveDirectory(cwd, sessionDir, options));
    return await SessionManager.#create(resolved, { ...options, cwd });
  }

  /** Opens the session in a file. If another process writes it, it is opened read-only; see `readOnly`. */
  static async open(path: string, options: SessionManagerOptions = {}): Promise<SessionManager> {
    // The lock is beside the real path, so that a file with two names has one lock.
    const realPath = await unlessMissing((options.fileSystem ?? nodeFileSystem).realpath(resolve(path)));
    if (realPath === undefined) throw new HarnessError("session_not_found", `There is no session at ${path}.`);
    const resolved = resolveOptions(options, dirname(realPath));
    return await SessionManager.#open(resolved, createFileStore({ path: realPath, ...resolved }));
  }

  /** Creates a session in a file that does not exist. The file appears with its first entry. */
  static async createFile(path: string, options: CreateOptions & { cwd: string }): Promise<SessionManager> {
    const resolved = resolveOptions(options, dirname(resolve(path)));
    const store = createFileStore({ path: resolve(path), ...resolved });
    return await SessionManager.#open(resolved, store, createHeader(resolved, options));
  }

  /** Opens the session with this id in a storage, as `open` does; a deleted one only with `deleted`. Throws `session_not_found`. */
  static async openStored(
    id: string,
    { deleted = false, ...options }: SessionManagerOptions & { storage: Storage; deleted?: boolean },
  ): Promise<SessionManager> {
    const store = await findLog(options.storage, id);
    if (!store) throw new HarnessError("session_not_found", `There is no session ${JSON.stringify(id)}.`);
    const session = await SessionManager.#open(resolveOptions(options, undefined), store);
    return deleted ? session : await session.#mustNotBeDeleted();
  }

  /** Opens the session with this id in a storage, or creates it. If several processes create it, the first to write wins. */
  static async continueStored(
    cwd: string,
    id: string,
    options: CreateOptions & { storage: Storage },
  ): Promise<SessionManager> {
    const session = await SessionManager.#openNew(resolveOptions(options, undefined), { ...options, id, cwd });
    return await session.#mustNotBeDeleted();
  }

  /** Opens the session of `cwd` that was used last, or creates one. Rejects if there are only some that cannot be read. */
  static async continueRecent(cwd: string, sessionDir?: string, options: CreateOptions = {}): Promise<SessionManager> {
    const directory = resolveDirectory(cwd, sessionDir, options);
    const sessions = await listSessions(directory, resolvePorts(options));
    const own = sessionDirectory(cwd, options.agentDir);
    // Opening one that could not be read says why.
    const isUnread = ({ path, modified }: SessionInfo) => modified.getTime() === 0 && dirname(path) === own;
    const recent = SessionManager.findRecent(sessions, cwd, options) ?? sessions.find(isUnread);
    if (!recent) return await SessionManager.create(cwd, directory, options);
    return await SessionManager.open(recent.path, options);
  }

  /**
   * The session of `cwd` that was used last, of those that were listed: several working directories may share a session
   * directory. Not one that works for another session. A session that lost its header belongs to the working directory that its file is kept for.
   */
  static findRecent(
    sessions: readonly SessionInfo[],
    cwd: string,
    { agentDir }: Pick<SessionManagerOptions, "agentDir"> = {},
  ): SessionInfo | undefined {
    const own = sessionDirectory(cwd, agentDir);
    const isLost = (session: SessionInfo) => session.cwd === "" && session.messageCount > 0;
    return sessions.find(
      (session) =>
        !isChildSession(session) &&
        (session.cwd === resolve(cwd) || (isLost(session) && dirname(session.path) === own)),
    );
  }

  /**
   * Opens the session of `cwd` with this id. Throws `session_not_found` if there is none, unless `creates` is true: then it is
   * created, and if several processes do that, the first to write wins. Throws `invalid_input` if it belongs to another working
   * directory, unless `sessionDir` is given.
   */
  static async continueById(
    cwd: string,
    id: string,
    sessionDir?: string,
    { creates = false, ...options }: SessionManagerOptions & { creates?: boolean } = {},
  ): Promise<SessionManager> {
    const directory = resolveDirectory(cwd, sessionDir, options);
    const resolved = resolveOptions(options, directory);
    const path =
      (await findFile(directory, id, resolved)) ??
      (sessionDir === undefined
        ? await findInAnyDirectory(sessionsRoot(options.agentDir ?? defaultAgentDir()), id, resolved)
        : undefined);
    if (path === undefined && !creates) {
      checkSessionId(id);
      throw new HarnessError("session_not_found", `There is no session ${JSON.stringify(id)} of ${resolve(cwd)}.`);
    }
    const session =
      path === undefined
        ? await SessionManager.#openNew(resolved, { id, cwd })
        : await SessionManager.open(path, options);
    if (sessionDir !== undefined || session.getCwd() === resolve(cwd)) return session;
    // Two sessions with one id could not be distinguished.
    await session.close();
    const text = `The session ${JSON.stringify(id)} belongs to ${session.getCwd()}. Choose another id.`;
    throw new HarnessError("invalid_input", text);
  }

  /** Creates a session without a file. */
  static async inMemory(cwd: string = process.cwd(), options: CreateOptions = {}): Promise<SessionManager> {
    return await SessionManager.#create(resolveOptions(options, undefined), { ...options, cwd });
  }

  /**
   * Creates a session for `cwd` with a copy of all entries of a session file. The copy has no damage, so only `onDamage` is
   * told what the file has lost.
   */
  static async forkFrom(
    sourcePath: string,
    cwd: string,
    sessionDir?: string,
    { onDamage, ...options }: CreateOptions & { onDamage?: (message: string) => void } = {},
  ): Promise<SessionManager> {
    const resolved = resolveOptions(options, resolveDirectory(cwd, sessionDir, options));
    const source = await SessionManager.open(sourcePath, { ...options, access: "read" });
    return await closeAfter(source, async () => {
      source.mustBeSession();
      const origin = { parentId: source.id, parentSession: resolve(sourcePath), ...getKept(source) };
      const header = createHeader(resolved, { ...origin, ...options, cwd });
      const { entries } = await source.exportSource();
      const damage = source.problems.filter(({ kind }) => kind !== "newer_version");
      if (damage.length > 0) onDamage?.(describeProblems(damage, sourcePath));
      return await SessionManager.#copy(resolved, header, entries);
    });
  }

  /** The file of the session of `cwd` with this id; undefined if there is none. */
  static async findById(
    cwd: string,
    id: string,
    sessionDir?: string,
    options: SessionManagerOptions = {},
  ): Promise<string | undefined> {
    return await findFile(resolveDirectory(cwd, sessionDir, options), id, resolvePorts(options));
  }

  /** The sessions of `cwd`, the last used first. */
  static async list(
    cwd: string,
    sessionDir?: string,
    options: SessionManagerOptions & ListOptions = {},
  ): Promise<SessionInfo[]> {
    const sessions = await listSessions(resolveDirectory(cwd, sessionDir, options), resolvePorts(options), options);
    if (sessionDir !== undefined) return sessions;
    // Several working directories may share a session directory.
    return sessions.filter((session) => session.cwd === "" || session.cwd === resolve(cwd));
  }

  /** The sessions of all working directories, the last used first. */
  static async listAll(options: SessionManagerOptions & ListOptions = {}): Promise<SessionInfo[]> {
    return await listAllSessions(sessionsRoot(options.agentDir ?? defaultAgentDir()), resolvePorts(options), options);
  }

  /**
   * A full page of the sessions in a directory, or else of all working directories, the last used first, without opening the
   * others. Undefined if the page would not be full: see `list` and `listAll`.
   */
  static async listLastUsed({
    sessionDir,
    limit,
    after,
    children = true,
    ...options
  }: SessionManagerOptions & PageOptions & { sessionDir?: string }): Promise<SessionInfo[] | undefined> {
    const ports = resolvePorts(options);
    const root = sessionsRoot(options.agentDir ?? defaultAgentDir());
    const directories =
      sessionDir === undefined
        ? (await listNames(ports.fileSystem, root)).map((name) => join(root, name))
        : [sessionDir];
    return await listLastUsed(directories, ports, { limit, children, ...(after !== undefined && { after }) });
  }

  /** Describes a session as lists show it. Undefined if the file is not a session. */
  static async describe(path: string, options: SessionManagerOptions = {}): Promise<SessionInfo | undefined> {
    return await describeSessionFile(path, resolvePorts(options));
  }

  /** Describes a session of a storage. Undefined if there is none with this id. */
  static async describeStored(id: string, storage: Storage): Promise<SessionInfo | undefined> {
    const store = await findLog(storage, id);
    const info = store && (await describeSession(store));
    const modified = new Date(info?.modified ?? 0);
    return info && { ...info, path: store.name, created: new Date(info.created), modified };
  }

  /** Throws `invalid_input` for a file of another program. */
  mustBeSession(): void {
    if (this.problems.some(({ kind }) => kind === "no_session")) throw notSession(this.#log.name);
  }

  /** Undefined for a session that is not in a file. */
  getSessionDir(): string | undefined {
    return getSessionDirectory(this.#options.storage);
  }

  /** The storage that the session was opened with. Undefined if the program chose none. */
  get customStorage(): Storage | undefined {
    return this.#options.customStorage;
  }

  /** When an entry counts as appended. With `none`, it may not be in the file yet. */
  get durability(): Durability {
    return this.#options.durability;
  }

  /** The file, which appears with the first entry. Undefined for a session that is not in a file. */
  getSessionFile(): string | undefined {
    return this.isPersisted() ? this.#log.name : undefined;
  }

  isPersisted(): boolean {
    return this.getSessionDir() !== undefined;
  }

  /** Creates a session in the same directory, or in the same memory, with these messages. */
  async createSession({
    initialMessages = [],
    ...params
  }: NewSession & { initialMessages?: readonly TranscriptMessage[] } = {}): Promise<SessionManager> {
    const header = { cwd: this.getCwd(), ...getKept(this), ...params };
    const session = await SessionManager.#create(this.#options, header);
    for (const { id: _id, ...message } of initialMessages) await session.appendMessage(message as AgentMessage);
    return session;
  }

  /** Opens a session of the same directory, or of the same memory. Reads only what it needs. */
  async openSession(sessionId: string): Promise<SessionManager> {
    const session = await SessionManager.#open(this.#options, await this.#findStore(sessionId));
    return await session.#mustNotBeDeleted();
  }

  /** Opens a session as `openSession` does, and reads its branch. */
  async loadSession(sessionId: string): Promise<LoadedSession> {
    const session = await this.openSession(sessionId);
    try {
      const branch = await session.getBranch();
      const said = branch.filter(({ type }) => type !== "compaction");
      const messages = withIds((await buildContext(branch)).messages);
      const transcript = withIds((await buildContext(said)).messages);
      return Object.assign(session, { messages, transcript });
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Creates a session with a copy of the branch that ends at `entryId`. */
  async branchSession(sessionId: string, entryId: string): Promise<SessionManager> {
    if (sessionId === this.id) return await this.#branchOff(entryId);
    const source = await SessionManager.#open({ ...this.#options, access: "read" }, await this.#findStore(sessionId));
    return await closeAfter(source, () => source.#branchOff(entryId, this.#options));
  }

  /**
   * Writes the session to a new file, for example when its own can no longer be written. Throws `invalid_input` if the
   * file exists, and `overtaken` if an acknowledged entry can no longer be read.
   */
  async saveAs(path: string): Promise<void> {
    const { fileSystem, ids } = this.#options;
    if (await lookAt(fileSystem, path)) {
      throw new HarnessError("invalid_input", `${path} exists already. Choose another name.`);
    }
    const bytes = await this.#log.bytes();
    if (recover(bytes).table.entryRows().length < this.getEntryCount()) {
      const text = `The session ${this.id} cannot be saved to ${path}: another program has removed entries from its log.`;
      throw new HarnessError("overtaken", text);
    }
    await namingFile(path, () => writeWhole(fileSystem, { path, bytes, ids }));
  }

  /** Keeps a blob with the log, such as a long result: durable when it resolves. */
  async writeBlob(name: string, bytes: Uint8Array): Promise<void> {
    await this.#log.writeBlob(name, bytes);
  }

  /**
   * Reads a blob of this session. A session that was branched off has the blobs of the one that it comes from, as long as that exists.
   * Undefined if there is none.
   */
  async readBlob(name: string): Promise<Buffer | undefined> {
    return await this.#readBlob(name, new Set());
  }

  async #readBlob(name: string, seen: Set<string>): Promise<Buffer | undefined> {
    const own = await this.#log.readBlob(name);
    seen.add(this.id);
    // A log may name any parent, also itself.
    if (own || this.parentId === null || seen.has(this.parentId)) return own;
    const store = await findLog(this.#options.storage, this.parentId);
    if (!store) return undefined;
    const parent = await SessionManager.#open({ ...this.#options, access: "read" }, store);
    return await closeAfter(parent, () => parent.#readBlob(name, seen));
  }

  async #mustNotBeDeleted(): Promise<this> {
    if (!(await readIsDeleted(this.#log))) return this;
    await this.close();
    throw new HarnessError(
      "session_not_found",
      `The session ${JSON.stringify(this.id)} was deleted. Restore it first.`,
    );
  }

  async #branchOff(entryId: string, options: ResolvedOptions = this.#options): Promise<SessionManager> {
    const branch = await this.getBranch(entryId);
    const file = this.getSessionFile();
    const origin = { parentId: this.id, branchPoint: entryId, ...(file !== undefined && { parentSession: file }) };
    const header = createHeader(options, { cwd: this.getCwd(), ...getKept(this), ...origin });
    // Each entry becomes the child of the one before it, even if an entry between them is lost.
    const chain = branch.map((entry, index) => ({ ...entry, parentId: branch[index - 1]?.id ?? null }));
    const copy = await SessionManager.#copy(options, header, chain);
    // Calls that were started below the branch point stay started.
    for (const { call, hasStarted } of await readUnfinishedCalls(this.#log, branch)) {
      if (hasStarted) await copy.appendCallStarted(call.id, call.name);
    }
    // Labels may have been set on another branch.
    const copiedLabels = await copy.getLabels();
    const labels = await this.getLabels();
    for (const { id } of branch) {
      const label = labels.get(id);
      if (label !== copiedLabels.get(id)) await copy.appendLabelChange(id, label);
    }
    return copy;
  }

  async #findStore(sessionId: string): Promise<LogStore> {
    const { storage } = this.#options;
    const store = await findLog(storage, sessionId);
    if (store) return store;
    // The file may have been renamed.
    const directory = getSessionDirectory(storage);
    const path = directory && (await findFile(directory, sessionId, this.#options));
    if (path) return createFileStore({ path, ...this.#options });
    throw new HarnessError("session_not_found", `There is no session ${JSON.stringify(sessionId)} in ${storage.name}.`);
  }

  static async #create(options: ResolvedOptions, fields: HeaderFields): Promise<SessionManager> {
    const existsError = (id: string) =>
      new HarnessError("invalid_input", `There is already a session ${JSON.stringify(id)}.`);
    if (fields.id !== undefined) {
      checkSessionId(fields.id);
      if (await isStored(options.storage, fields.id)) throw existsError(fields.id);
    }
    const session = await SessionManager.#openNew(options, fields);
    if (session.getEntryCount() === 0) return session;
    await session.close();
    throw existsError(session.id);
  }

  /** If another process has written a session with the chosen id meanwhile, opens that session. */
  static async #openNew(options: ResolvedOptions, fields: HeaderFields): Promise<SessionManager> {
    const header = createHeader(options, fields);
    // All processes that choose the same id get the same log.
    const created = fields.id === undefined ? { createdAt: header.timestamp } : {};
    const store = await options.storage.open(toSessionKey(header.id), created);
    return await SessionManager.#open(options, store, header);
  }

  static async #copy(
    options: ResolvedOptions,
    header: SessionHeader,
    entries: readonly SessionEntry[],
  ): Promise<SessionManager> {
    const bytes = Buffer.concat([header, ...entries].map(encodeLine));
    return await SessionManager.#open(options, await createWhole(options.storage, header, bytes));
  }

  /** `newHeader` is used if the log has none yet. */
  static async #open(options: ResolvedOptions, store: LogStore, newHeader?: SessionHeader): Promise<SessionManager> {
    const log = await SessionLog.open({ ...options, store });
    try {
      const header = await log.header();
      if (isOld(header)) return await SessionManager.#openOld(options, log);
      return await SessionManager.#fromLog(options, log, header ?? newHeader);
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  static async #fromLog(
    options: ResolvedOptions,
    log: SessionLog,
    header: SessionHeader = createFallbackHeader(options, log),
  ): Promise<SessionManager> {
    const own = { ...header, id: getSessionId(header, log.name) };
    return new SessionManager(options, { ...options, log, header: own, ...(await readInitialState(log, own)) });
  }

  /** Upgrades the file of an older log. If it cannot be written, opens an upgraded copy in memory, read-only. */
  static async #openOld(options: ResolvedOptions, oldLog: SessionLog): Promise<SessionManager> {
    const { name, path, readOnly } = oldLog;
    const bytes = upgradeBytes(await oldLog.bytes());
    const isUpgraded = path !== undefined && !readOnly && (await upgradeFile(path, { ...options, bytes }));
    await oldLog.close();
    const store = isUpgraded
      ? createFileStore({ path, ...options })
      : createMemoryStore({ name, log: new MemoryLog(bytes) });
    const log = await SessionLog.open({ ...options, store, ...(!isUpgraded && { access: "read" }) });
    try {
      return await SessionManager.#fromLog(options, log, await log.header());
    } catch (error) {
      await log.close();
      throw error;
    }
  }
}

/** The file of a session, by its name or, if it was renamed, by its header. */
async function findFile(directory: string, id: string, ports: StoragePorts): Promise<string | undefined> {
  const path = await findSessionFile(ports.fileSystem, directory, id);
  return path ?? (await listSessions(directory, ports)).find((session) => session.id === id)?.path;
}

/** The file of a session below `root`, by the id in its name. */
async function findInAnyDirectory(
  root: string,
  id: string,
  { fileSystem: fs }: StoragePorts,
): Promise<string | undefined> {
  for (const name of await listNames(fs, root)) {
    // Files, and directories without permission, are skipped.
    const path = await orUndefined(findSessionFile(fs, join(root, name), id));
    if (path !== undefined) return path;
  }
  return undefined;
}

function resolveDirectory(cwd: string, sessionDir: string | undefined, options: SessionManagerOptions): string {
  return sessionDir ?? sessionDirectory(cwd, options.agentDir);
}

/** Without a directory, sessions are kept in memory. */
function resolveOptions(options: SessionManagerOptions, directory: string | undefined): ResolvedOptions {
  const ports = resolvePorts(options);
  const { durability = "strict", access = "write", verifiesAll = false } = options;
  const { storage: customStorage } = options;
  const storage =
    customStorage ??
    (directory === undefined ? createMemoryStorage(ports) : createFileStorage({ directory, ...ports }));
  return { durability, access, verifiesAll, storage, customStorage, ...ports };
}

function resolvePorts(options: SessionManagerOptions): StoragePorts {
  const { fileSystem = nodeFileSystem, clock = systemClock, ids = systemIds } = options;
  return { fileSystem, clock, ids };
}

function createHeader(
  { ids, clock }: StoragePorts,
  { id = ids(), cwd, parentId, branchPoint, parentSession, agentName: agent, policyProfile: policy }: HeaderFields,
): SessionHeader {
  checkSessionId(id);
  return {
    type: "session",
    version: sessionVersion,
    id,
    timestamp: new Date(clock.now()).toISOString(),
    cwd: cwd ? resolve(cwd) : "",
    ...withoutUndefined({
      parentSession,
      parentId: parentId || undefined,
      branchPoint: branchPoint || undefined,
      agent,
      policy,
    }),
  };
}

/** Returns what a session that comes from another one has of it. */
const getKept = ({ agentName, policyProfile }: Session) => withoutUndefined({ agentName, policyProfile });

/** Replaces a header that cannot be read or was not written because of a crash. The id is in the file name. */
const createFallbackHeader = ({ clock }: StoragePorts, { name, table }: SessionLog): SessionHeader => ({
  type: "session",
  version: sessionVersion,
  id: idInFileName(name),
  timestamp: new Date(table.count === 0 ? clock.now() : 0).toISOString(),
  cwd: table.count === 0 ? process.cwd() : "",
});
