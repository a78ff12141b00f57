/** One session, and the place it lives in: how sessions are made, opened, found and branched. */
import type { AgentMessage } from "@tau/agent";
import { dirname, resolve } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { type FileSystem, lookAt, nodeFileSystem, systemCode } from "@tau/tools/platform";
import { HarnessError } from "../errors.ts";
import { ifThere, writeWhole } from "../durable-file.ts";
import type { Durability } from "./append-queue.ts";
import { listAllSessions, type ListOptions, listSessions } from "./catalogue.ts";
import { type SessionEntry, type SessionHeader, sessionVersion } from "./entry.ts";
import { createFileStore } from "./file-store.ts";
import { encodeLine } from "./line.ts";
import { SessionLog } from "./log.ts";
import { recover } from "./recover.ts";
import { readStartedCalls } from "./branch.ts";
import { type UnfinishedCall, unfinishedCalls } from "./unfinished-calls.ts";
import { createMemoryStore } from "./memory-store.ts";
import {
  directoryStorage,
  findSessionFile,
  memoryStorage,
  type SessionStorage,
  type StoragePorts,
} from "./session-storage.ts";
import { Session, type SessionParts, getStanding, type Standing } from "./session.ts";
import { defaultAgentDir } from "../agent-dir.ts";
import { checkSessionId, idInFileName, sessionDirectory, sessionsRoot } from "./session-directory.ts";
import type { SessionInfo } from "./session-info.ts";
import type { LogStore } from "./store.ts";
import { isOld, upgradeBytes, upgradeFile } from "./upgrade.ts";

export interface SessionManagerOptions {
  /** When an entry is acknowledged. Default `strict`. */
  durability?: Durability;
  /** Default `write`: opens for reading when somebody else writes. */
  access?: "write" | "read";
  /** Where tau keeps everything. Default: `TAU_DIR`, else `~/.tau`. */
  agentDir?: string;
  fileSystem?: FileSystem;
  clock?: Clock;
  ids?: Ids;
}

/** A new session. */
export interface NewSession {
  /** Default: a new unique one. */
  id?: string;
  /** Default: that of the session that makes it. */
  cwd?: string;
  /** The session it comes from. */
  parentId?: string | null;
  branchPoint?: string | null;
  /** The file of the session it comes from. */
  parentSession?: string;
  initialMessages?: readonly AgentMessage[];
}

/** Everything that is decided before a session is opened. */
interface Setting extends Required<Omit<SessionManagerOptions, "agentDir">> {
  agentDir: string | undefined;
  place: SessionStorage;
}

export class SessionManager extends Session {
  readonly #setting: Setting;
  readonly #log: SessionLog;

  private constructor(setting: Setting, parts: SessionParts, standing: Standing) {
    super(parts, standing);
    this.#setting = setting;
    this.#log = parts.log;
  }

  /** A new session. Its file appears with its first entry, so that one that was never used leaves nothing behind. */
  static async create(cwd: string, sessionDir?: string, options: CreateOptions = {}): Promise<SessionManager> {
    const setting = resolveSetting(options, sessionDir ?? sessionDirectory(cwd, options.agentDir));
    return await SessionManager.#make(setting, { ...options, cwd });
  }

  /** The session in a file. Opens for reading only when another process writes it; `readOnly` then says which. */
  static async open(path: string, options: SessionManagerOptions = {}): Promise<SessionManager> {
    // By its real path: two names of one file would have two locks.
    const real = await ifThere((options.fileSystem ?? nodeFileSystem).realpath(resolve(path)));
    if (real === undefined) throw new HarnessError("session_not_found", `There is no session at ${path}.`);
    const setting = resolveSetting(options, dirname(real));
    return await SessionManager.#open(setting, createFileStore({ path: real, ...setting }));
  }

  /** The session of this directory that was used last, or a new one. */
  static async continueRecent(cwd: string, sessionDir?: string, options: CreateOptions = {}): Promise<SessionManager> {
    const directory = sessionDir ?? sessionDirectory(cwd, options.agentDir);
    const known = await listSessions(directory, resolvePorts(options));
    // Other directories may have the same name here, or share the place.
    const recent = known.find((session) => session.cwd === resolve(cwd));
    if (!recent) return await SessionManager.create(cwd, directory, options);
    return await SessionManager.open(recent.path, options);
  }

  /** The session of this directory with this id, or a new one. Of several who begin it, who writes first has it. */
  static async continueById(
    cwd: string,
    id: string,
    sessionDir?: string,
    options: SessionManagerOptions = {},
  ): Promise<SessionManager> {
    const directory = sessionDir ?? sessionDirectory(cwd, options.agentDir);
    const setting = resolveSetting(options, directory);
    const path = await findFile(directory, id, setting);
    const session =
      path === undefined ? await SessionManager.#begin(setting, { id, cwd }) : await SessionManager.open(path, options);
    if (sessionDir !== undefined || session.getCwd() === resolve(cwd)) return session;
    // Two directories can have the same name among the sessions.
    await session.close();
    throw new HarnessError(
      "invalid_input",
      `The session ${JSON.stringify(id)} is one of ${session.getCwd()}. Choose another id.`,
    );
  }

  /** A session that is gone when the process is. */
  static async inMemory(cwd: string = process.cwd(), options: CreateOptions = {}): Promise<SessionManager> {
    const setting = resolveSetting(options, undefined);
    return await SessionManager.#make(setting, { ...options, cwd });
  }

  /** A new session for a directory, with everything that a session's file holds. That file stays as it is. */
  static async forkFrom(
    sourcePath: string,
    cwd: string,
    sessionDir?: string,
    options: CreateOptions = {},
  ): Promise<SessionManager> {
    const setting = resolveSetting(options, sessionDir ?? sessionDirectory(cwd, options.agentDir));
    const source = await SessionManager.open(sourcePath, { ...options, access: "read" });
    try {
      const origin = { parentId: source.id, parentSession: resolve(sourcePath) };
      const header = newHeader(setting, { ...origin, ...options, cwd });
      return await SessionManager.#copy(setting, header, (await source.exportSource()).entries);
    } finally {
      await source.close();
    }
  }

  /** The file of a session of this directory; undefined when there is none with this id. */
  static async findById(
    cwd: string,
    id: string,
    sessionDir?: string,
    options: SessionManagerOptions = {},
  ): Promise<string | undefined> {
    return await findFile(sessionDir ?? sessionDirectory(cwd, options.agentDir), id, resolvePorts(options));
  }

  /** The sessions of a directory, the one that was used last first. */
  static async list(
    cwd: string,
    sessionDir?: string,
    options: SessionManagerOptions & ListOptions = {},
  ): Promise<SessionInfo[]> {
    if (sessionDir !== undefined) return await listSessions(sessionDir, resolvePorts(options), options);
    const found = await listSessions(sessionDirectory(cwd, options.agentDir), resolvePorts(options), options);
    // Another directory may have the same name here.
    return found.filter((session) => session.cwd === "" || session.cwd === resolve(cwd));
  }

  /** The sessions of all directories, the one that was used last first. */
  static async listAll(options: SessionManagerOptions & ListOptions = {}): Promise<SessionInfo[]> {
    return await listAllSessions(sessionsRoot(options.agentDir ?? defaultAgentDir()), resolvePorts(options), options);
  }

  /** The directory it lives in; undefined in memory. */
  getSessionDir(): string | undefined {
    return this.#setting.place.directory;
  }

  /** Its file, which appears with its first entry; undefined in memory. */
  getSessionFile(): string | undefined {
    return this.isPersisted() ? this.#log.name : undefined;
  }

  isPersisted(): boolean {
    return this.#setting.place.directory !== undefined;
  }

  /** A new session in the same place. */
  async createSession(params: NewSession = {}): Promise<SessionManager> {
    const session = await SessionManager.#make(this.#setting, { cwd: this.getCwd(), ...params });
    for (const message of params.initialMessages ?? []) await session.appendMessage(message);
    return session;
  }

  /** A session of the same place by its id. */
  async loadSession(sessionId: string): Promise<SessionManager> {
    return await SessionManager.#open(this.#setting, await this.#createStore(sessionId));
  }

  /** A new session with a copy of the branch that ends in an entry, so that each file stands alone. */
  async branchSession(sessionId: string, entryId: string): Promise<SessionManager> {
    if (sessionId === this.id) return await this.#branchOff(entryId);
    const source = await SessionManager.#open({ ...this.#setting, access: "read" }, await this.#createStore(sessionId));
    try {
      return await source.#branchOff(entryId, this.#setting);
    } finally {
      await source.close();
    }
  }

  /**
   * Writes the session to a new file: for when its own can no longer be written. Refuses a file that exists, and says so
   * when something that was acknowledged cannot be read any more.
   */
  async saveAs(path: string): Promise<void> {
    const { fileSystem, ids } = this.#setting;
    if (await lookAt(fileSystem, path)) {
      throw new HarnessError("invalid_input", `${path} exists already. Choose another name.`);
    }
    const bytes = await this.#log.bytes();
    if (recover(bytes).table.entryRows().length < this.getEntryCount()) {
      const text = `The session ${this.id} cannot be saved to ${path}: entries are missing from its log, which something else has changed.`;
      throw new HarnessError("overtaken", text);
    }
    await writeWhole(fileSystem, { path, bytes, ids });
  }

  async #branchOff(entryId: string, setting: Setting = this.#setting): Promise<SessionManager> {
    const branch = await this.getBranch(entryId);
    const file = this.getSessionFile();
    const origin = { parentId: this.id, branchPoint: entryId, ...(file !== undefined && { parentSession: file }) };
    const header = newHeader(setting, { cwd: this.getCwd(), ...origin });
    const copy = await SessionManager.#copy(setting, header, chained(branch));
    // What was begun below the branch point was begun, whoever goes on from here.
    for (const { call, hasStarted } of await this.#unfinishedAt(branch)) {
      if (hasStarted) await copy.appendCallStarted(call.id, call.name);
    }
    // A label may have been given on another branch.
    const known = await copy.getLabels();
    const labels = await this.getLabels();
    for (const { id } of branch) {
      const label = labels.get(id);
      if (label !== known.get(id)) await copy.appendLabelChange(id, label);
    }
    return copy;
  }

  async #unfinishedAt(branch: readonly SessionEntry[]): Promise<UnfinishedCall[]> {
    return unfinishedCalls(branch, await readStartedCalls(this.#log, branch));
  }

  async #createStore(sessionId: string): Promise<LogStore> {
    const { place } = this.#setting;
    const store = await place.find(sessionId);
    if (store) return store;
    // Its file may have been renamed.
    const path = place.directory && (await findFile(place.directory, sessionId, this.#setting));
    if (path) return createFileStore({ path, ...this.#setting });
    const where = this.getSessionDir() ?? "memory";
    throw new HarnessError("session_not_found", `There is no session ${JSON.stringify(sessionId)} in ${where}.`);
  }

  static async #make(setting: Setting, params: NewSession & { cwd: string }): Promise<SessionManager> {
    if (params.id !== undefined && (await setting.place.find(params.id))) throw takenError(params.id);
    const session = await SessionManager.#begin(setting, params);
    if (session.getEntryCount() === 0) return session;
    await session.close();
    throw takenError(session.id);
  }

  /** What somebody else has written under a chosen id since anybody looked is the session. */
  static async #begin(setting: Setting, params: NewSession & { cwd: string }): Promise<SessionManager> {
    const header = newHeader(setting, params);
    const store = setting.place.newStore(header, params.id === undefined ? "unique" : "chosen");
    return await SessionManager.#open(setting, store, header);
  }

  static async #copy(setting: Setting, header: SessionHeader, entries: SessionEntry[]): Promise<SessionManager> {
    const bytes = Buffer.concat([header, ...entries].map(encodeLine));
    return await SessionManager.#open(setting, await setting.place.createWhole(header, bytes));
  }

  /** `fresh` is the header where there is none yet. */
  static async #open(setting: Setting, store: LogStore, fresh?: SessionHeader): Promise<SessionManager> {
    const log = await SessionLog.open({ ...setting, store });
    try {
      const header = await log.header();
      if (!isOld(header, log.problems)) return await SessionManager.#from(setting, log, header ?? fresh);
      return await SessionManager.#openOld(setting, log);
    } catch (error) {
      await log.close();
      throw error;
    }
  }

  static async #from(setting: Setting, log: SessionLog, found: SessionHeader | undefined): Promise<SessionManager> {
    const header = found ?? lostHeader(setting, log);
    return new SessionManager(setting, { ...setting, log, header }, await getStanding(log, header));
  }

  /** Who may write puts today's form in the place of an older log; who may only read sees it so. */
  static async #openOld(setting: Setting, old: SessionLog): Promise<SessionManager> {
    const { name: path, readOnly } = old;
    const bytes = upgradeBytes(await old.bytes(), lostHeader(setting, old));
    const isUpgraded = !readOnly && (await couldUpgrade(path, { ...setting, bytes }));
    await old.close();
    const store = isUpgraded ? createFileStore({ path, ...setting }) : await createMemoryStoreFrom(path, bytes);
    const log = await SessionLog.open({ ...setting, store, ...(!isUpgraded && { access: "read" }) });
    return await SessionManager.#from(setting, log, await log.header());
  }
}

/** On a full or read-only disk an old session can still be read. */
async function couldUpgrade(path: string, parts: Parameters<typeof upgradeFile>[1]): Promise<boolean> {
  try {
    await upgradeFile(path, parts);
    return true;
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    return false;
  }
}

/** The file of a session: by its name, or, where that was changed, by what is in it. */
async function findFile(directory: string, id: string, ports: StoragePorts): Promise<string | undefined> {
  const named = await findSessionFile(ports.fileSystem, directory, id);
  return named ?? (await listSessions(directory, ports)).find((session) => session.id === id)?.path;
}

const takenError = (id: string) =>
  new HarnessError("invalid_input", `There is a session ${JSON.stringify(id)} already.`);

async function createMemoryStoreFrom(name: string, bytes: Buffer): Promise<LogStore> {
  const store = createMemoryStore({ name });
  await store.append(bytes, { position: 0, sync: false });
  return store;
}

type CreateOptions = SessionManagerOptions & Omit<NewSession, "cwd" | "initialMessages">;

/** Without a directory, sessions live in memory. */
function resolveSetting(options: SessionManagerOptions, directory: string | undefined): Setting {
  const { durability = "strict", access = "write", agentDir } = options;
  const ports = resolvePorts(options);
  const place = directory === undefined ? memoryStorage(ports.clock) : directoryStorage(directory, ports);
  return { durability, access, agentDir, place, ...ports };
}

function resolvePorts(options: SessionManagerOptions): StoragePorts {
  const { fileSystem = nodeFileSystem, clock = systemClock, ids = systemIds } = options;
  return { fileSystem, clock, ids };
}

function newHeader(
  { ids, clock }: Setting,
  { id = ids(), cwd, parentId, branchPoint, parentSession }: NewSession & { cwd: string },
): SessionHeader {
  checkSessionId(id);
  return {
    type: "session",
    version: sessionVersion,
    id,
    timestamp: new Date(clock.now()).toISOString(),
    cwd: cwd ? resolve(cwd) : "",
    ...(parentSession !== undefined && { parentSession }),
    ...(parentId && { parentId }),
    ...(branchPoint && { branchPoint }),
  };
}

/** Stands in for a header that cannot be read, or that a crash left unwritten: what the file's name says is not lost. */
const lostHeader = ({ clock }: Setting, { name, table }: SessionLog): SessionHeader => ({
  type: "session",
  version: sessionVersion,
  id: idInFileName(name),
  timestamp: new Date(table.count === 0 ? clock.now() : 0).toISOString(),
  cwd: table.count === 0 ? process.cwd() : "",
});

/** A branch as a line: each entry the child of the one before it, also where one in between is lost. */
const chained = (branch: readonly SessionEntry[]): SessionEntry[] =>
  branch.map((entry, at) => ({ ...entry, parentId: branch[at - 1]?.id ?? null }));
