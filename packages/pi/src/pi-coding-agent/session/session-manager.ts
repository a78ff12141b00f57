/**
 * pi's `SessionManager`: a session that is read and written at once. tau's own waits for the disk and lets one process
 * write; this one does neither, so it is for sessions that no other process has open.
 */
import { randomUUID } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import type { AgentMessage } from "@tau/agent";
import type { ImageContent, TextContent, Usage } from "@tau/ai";
import { withoutUndefined } from "@tau/ai/internal";
import type { ContextEditEntry, SessionEntry, SessionHeader } from "@tau/protocol";
import { sessionDirectory, sessionFileName } from "@tau/harness/session";
import {
  buildContextEntries,
  buildSessionContext,
  buildSessionProjection,
  type SessionContext,
  type SessionProjection,
} from "./context.ts";
import { CURRENT_SESSION_VERSION, type FileEntry, isHeader } from "./entries.ts";
import { listAllSessions, listSessions, type ListProgress, type SessionInfo } from "./list-sessions.ts";
import {
  appendToSessionFile,
  findSessionFiles,
  readSessionFile,
  setFileAside,
  upgradeSessionFile,
} from "./session-file.ts";
import { SessionTree, type SessionTreeNode } from "./session-tree.ts";

interface NewSessionOptions {
  id?: string;
  parentSession?: string;
}

type Fields = { type: SessionEntry["type"]; [field: string]: unknown };

export class SessionManager {
  readonly #cwd: string;
  readonly #sessionDir: string;
  readonly #isPersisted: boolean;
  #header: SessionHeader;
  #tree = new SessionTree();
  #file: string | undefined;
  /** Entries that are not in the file yet: all of a session without an answer, or those that could not be written. */
  #unwritten: FileEntry[];

  private constructor(cwd: string, sessionDir: string, isPersisted: boolean, options: NewSessionOptions = {}) {
    this.#cwd = cwd;
    this.#sessionDir = sessionDir;
    this.#isPersisted = isPersisted;
    this.#header = createHeader(cwd, options);
    this.#unwritten = [this.#header];
    this.#file = this.#getNewFile();
  }

  static create(cwd: string, sessionDir?: string, options?: NewSessionOptions): SessionManager {
    return new SessionManager(cwd, sessionDir ?? sessionDirectory(cwd), true, options);
  }

  /** The directory is where later sessions of this manager go. Default: that of the file. */
  static open(path: string, sessionDir?: string, cwdOverride?: string): SessionManager {
    const cwd = cwdOverride ?? readSessionFile(path)?.header.cwd;
    const manager = new SessionManager(cwd || process.cwd(), sessionDir ?? dirname(resolve(path)), true);
    manager.setSessionFile(path);
    return manager;
  }

  static continueRecent(cwd: string, sessionDir?: string): SessionManager {
    const directory = sessionDir ?? sessionDirectory(cwd);
    const [recent] = findSessionFiles(directory);
    const manager = new SessionManager(cwd, directory, true);
    if (recent) manager.setSessionFile(recent.path);
    return manager;
  }

  static inMemory(
    cwd: string = process.cwd(),
    options?: NewSessionOptions,
    entries: readonly FileEntry[] = [],
  ): SessionManager {
    const manager = new SessionManager(cwd, "", false, options);
    const [header] = entries;
    const content = entries.filter((entry) => !isHeader(entry)) as SessionEntry[];
    manager.#begin(isHeader(header) ? header : manager.#header, content);
    return manager;
  }

  /** A new session in another directory with all entries of a file. */
  static forkFrom(
    sourcePath: string,
    targetCwd: string,
    sessionDir?: string,
    options: NewSessionOptions = {},
  ): SessionManager {
    const source = readSessionFile(sourcePath);
    if (!source) throw new Error(`Cannot fork: ${sourcePath} is not a session file.`);
    const directory = sessionDir ?? sessionDirectory(targetCwd);
    const manager = new SessionManager(targetCwd, directory, true, { ...options, parentSession: resolve(sourcePath) });
    manager.#begin(manager.#header, source.entries);
    manager.#write();
    return manager;
  }

  static findById(cwd: string, id: string, sessionDir?: string): string | undefined {
    return findSessionFiles(sessionDir ?? sessionDirectory(cwd)).find(({ header }) => header.id === id)?.path;
  }

  static list(cwd: string, sessionDir?: string, onProgress?: ListProgress): Promise<SessionInfo[]> {
    return listSessions(sessionDir ?? sessionDirectory(cwd), onProgress);
  }

  static listAll(onProgress?: ListProgress): Promise<SessionInfo[]> {
    return listAllSessions(onProgress);
  }

  /** Opens another session. A file that is not one is moved aside, and a new session takes its name. */
  setSessionFile(sessionFile: string): void {
    const path = resolve(sessionFile);
    const existing = readSessionFile(path);
    if (existing?.isOld && this.#isPersisted) upgradeSessionFile(path, [existing.header, ...existing.entries]);
    this.#file = path;
    this.#begin(existing?.header ?? createHeader(this.#cwd, {}), existing?.entries);
    if (existing) this.#unwritten = [];
    else if (this.#isPersisted && setFileAside(path)) this.#write();
  }

  newSession(options: NewSessionOptions = {}): string | undefined {
    this.#begin(createHeader(this.#cwd, options));
    this.#file = this.#getNewFile();
    return this.#file;
  }

  isPersisted(): boolean {
    return this.#isPersisted;
  }

  getCwd(): string {
    return this.#cwd;
  }

  getSessionDir(): string {
    return this.#sessionDir;
  }

  usesDefaultSessionDir(): boolean {
    return this.#isPersisted && this.#sessionDir === sessionDirectory(this.#cwd);
  }

  getSessionId(): string {
    return this.#header.id;
  }

  getSessionFile(): string | undefined {
    return this.#file;
  }

  getHeader(): SessionHeader | null {
    return this.#header;
  }

  getEntries(): SessionEntry[] {
    return [...this.#tree.entries];
  }

  getEntryCount(): number {
    return this.#tree.entries.length;
  }

  getEntry(id: string): SessionEntry | undefined {
    return this.#tree.get(id);
  }

  getLeafId(): string | null {
    return this.#tree.leafId;
  }

  getLeafEntry(): SessionEntry | undefined {
    return this.#tree.leafId === null ? undefined : this.#tree.get(this.#tree.leafId);
  }

  getChildren(parentId: string): SessionEntry[] {
    return this.#tree.entries.filter((entry) => entry.parentId === parentId);
  }

  getLabel(id: string): string | undefined {
    return this.#tree.getLabel(id);
  }

  getBranch(fromId?: string): SessionEntry[] {
    return this.#tree.getBranch(fromId);
  }

  getTree(): SessionTreeNode[] {
    return this.#tree.getTree();
  }

  getSessionName(): string | undefined {
    const info = this.#tree.entries.findLast((entry) => entry.type === "session_info");
    return (info?.type === "session_info" && info.name?.trim()) || undefined;
  }

  buildSessionContext(): SessionContext {
    return buildSessionContext(this.#tree.entries, this.#tree.leafId, this.#tree.byId);
  }

  buildContextEntries(): SessionEntry[] {
    return buildContextEntries(this.#tree.entries, this.#tree.leafId, this.#tree.byId);
  }

  buildSessionProjection(): SessionProjection {
    return buildSessionProjection(this.#tree.entries, this.#tree.leafId, this.#tree.byId);
  }

  appendMessage(message: AgentMessage): string {
    return this.#append({ type: "message", message }).id;
  }

  appendThinkingLevelChange(thinkingLevel: string): string {
    return this.#append({ type: "thinking_level_change", thinkingLevel }).id;
  }

  appendModelChange(provider: string, modelId: string): string {
    return this.#append({ type: "model_change", provider, modelId }).id;
  }

  appendUsage(kind: string, provider: string, model: string, usage: Usage, note?: string): SessionEntry {
    return this.#append({ type: "usage", kind, provider, model, usage, note });
  }

  /** Without a first entry to keep, the compaction itself is the first. */
  appendCompaction(
    summary: string,
    firstKeptEntryId: string | null,
    tokensBefore: number,
    details?: unknown,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    const id = this.#tree.createId();
    const first = firstKeptEntryId ?? id;
    return this.#append(
      { type: "compaction", summary, firstKeptEntryId: first, tokensBefore, details, fromHook, usage },
      id,
    ).id;
  }

  appendCustomEntry(customType: string, data?: unknown): string {
    return this.#append({ type: "custom", customType, data }).id;
  }

  appendCustomMessageEntry(
    customType: string,
    content: string | (TextContent | ImageContent)[],
    display: boolean,
    details?: unknown,
  ): string {
    return this.#append({ type: "custom_message", customType, content, display, details }).id;
  }

  appendContextEdit(targetId: string, replacement: ContextEditEntry["replacement"]): string {
    this.#tree.mustHave(targetId);
    return this.#append({ type: "context_edit", targetId, replacement }).id;
  }

  appendSessionInfo(name: string): string {
    return this.#append({ type: "session_info", name: name.trim() }).id;
  }

  /** Without a label, or with an empty one, the label is removed. */
  appendLabelChange(targetId: string, label: string | undefined): string {
    this.#tree.mustHave(targetId);
    return this.#append({ type: "label", targetId, label }).id;
  }

  /** The next entry hangs on this one. */
  branch(branchFromId: string): void {
    this.#tree.mustHave(branchFromId);
    this.#tree.leafId = branchFromId;
  }

  /** The next entry is a root. */
  resetLeaf(): void {
    this.#tree.leafId = null;
  }

  branchWithSummary(
    branchFromId: string | null,
    summary: string,
    details?: unknown,
    fromHook?: boolean,
    usage?: Usage,
  ): string {
    if (branchFromId !== null) this.#tree.mustHave(branchFromId);
    this.#tree.leafId = branchFromId;
    return this.#append({ type: "branch_summary", fromId: branchFromId ?? "root", summary, details, fromHook, usage })
      .id;
  }

  /** Continues in a new session with the branch of an entry alone. Returns its file; undefined in memory. */
  createBranchedSession(leafId: string): string | undefined {
    this.#tree.mustHave(leafId);
    const branch = this.#tree.getBranch(leafId).filter(({ type }) => type !== "label");
    const labels = branch.flatMap(({ id }) => {
      const label = this.#tree.getLabels().get(id);
      return label ? [{ targetId: id, ...label }] : [];
    });
    const parentSession = this.#file;
    this.newSession(parentSession === undefined ? {} : { parentSession });
    this.#begin(this.#header, relink(branch));
    for (const { targetId, label, timestamp } of labels) {
      const id = this.#tree.createId();
      this.#add({ type: "label", id, parentId: this.#tree.leafId, timestamp, targetId, label });
    }
    if (this.#hasAnswer()) this.#write();
    return this.#file;
  }

  #append(fields: Fields, id = this.#tree.createId()): SessionEntry {
    const { type, ...others } = fields;
    const parentId = this.#tree.leafId;
    const timestamp = new Date().toISOString();
    const entry = { type, id, parentId, timestamp, ...withoutUndefined(others) } as unknown as SessionEntry;
    this.#add(entry);
    const hasFile = !isHeader(this.#unwritten[0]);
    if (hasFile || this.#hasAnswer()) this.#write();
    return entry;
  }

  /** Another session takes the place of this one. Nothing of it is in a file yet. */
  #begin(header: SessionHeader, entries: readonly SessionEntry[] = []): void {
    this.#header = header;
    this.#tree = new SessionTree(entries);
    this.#unwritten = [header, ...entries];
  }

  #add(entry: SessionEntry): void {
    this.#tree.add(entry);
    this.#unwritten.push(entry);
  }

  #write(): void {
    if (this.#isPersisted && this.#file !== undefined) appendToSessionFile(this.#file, this.#unwritten);
    this.#unwritten = [];
  }

  #hasAnswer(): boolean {
    return this.#tree.entries.some((entry) => entry.type === "message" && entry.message.role === "assistant");
  }

  #getNewFile(): string | undefined {
    if (!this.#isPersisted) return undefined;
    return join(this.#sessionDir, sessionFileName(this.#header.timestamp, this.#header.id));
  }
}

const createHeader = (cwd: string, { id = randomUUID(), parentSession }: NewSessionOptions): SessionHeader => ({
  type: "session",
  version: CURRENT_SESSION_VERSION,
  id,
  timestamp: new Date().toISOString(),
  cwd,
  ...(parentSession !== undefined && { parentSession }),
});

/** Without its labels, an entry may have lost its parent: it hangs on the entry before it. */
const relink = (branch: readonly SessionEntry[]): SessionEntry[] =>
  branch.map((entry, index) => ({ ...entry, parentId: branch[index - 1]?.id ?? null }));
