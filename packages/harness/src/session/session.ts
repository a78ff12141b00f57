/**
 * An open session. Every append becomes a child of the leaf and the new leaf, and resolves with the entry's id when the
 * entry is acknowledged.
 */
import type { AgentMessage } from "@tau/agent";
import type { Clock, Ids, ImageContent, TextContent, Usage } from "@tau/ai";
import { isRecord, Listeners, SerialQueue, withoutUndefined } from "@tau/ai/internal";
import { HarnessError, type PermissionMode, type Termination, type WritingMode } from "@tau/protocol";
import { closedError } from "@tau/tools/storage";
import type { ExportSource } from "../export/source.ts";
import { check, createCheck } from "@tau/config/internal";
import {
  type BranchContext,
  type BranchPage,
  type BranchPageOptions,
  isAncestor,
  type QueuedState,
  readBranch,
  readContext,
  readAll,
  readChoices,
  readRecentBranch,
  readCallRecords,
  readSinceAnswer,
  readSinceMessage,
  readLabels,
  readLastPage,
  readName,
  readNextPage,
  readPermissionMode,
  readWritingMode,
  readPrefix,
  readQueuedStates,
  readTree,
  readUnfinishedCalls,
  readWaiting,
  type SessionTreeNode,
} from "./branch.ts";
import { contextEntries, type SessionChoices, type SessionContext } from "./context.ts";
import {
  type AcceptedEntry,
  type ContextEditEntry,
  customTypes,
  type ModelChangeEntry,
  type NestedCall,
  type EntryBase,
  type NewEntry,
  type PrefixEntry,
  type SessionEntry,
  type SessionHeader,
  type SessionNode,
} from "./entry.ts";
import { idNumber } from "./entry-table.ts";
import { isNavigation } from "./initial-state.ts";
import { hexCrc } from "./line.ts";
import type { RedactLine, SessionLog } from "./log.ts";
import { setMessageId } from "./message-ids.ts";
import type { ReadOnly } from "./read-only.ts";
import type { SessionProblem } from "./scan.ts";
import { toShortLine } from "./short-line.ts";
import type { SessionTotals } from "./totals.ts";
import {
  createNestedOutcomes,
  createResults,
  isRunOpen,
  type UnfinishedCall,
  unfinishedCalls,
} from "./unfinished-calls.ts";

export interface SessionParts {
  log: SessionLog;
  header: SessionHeader;
  clock: Clock;
  ids: Ids;
  /** The leaf when the session is opened. */
  leafId: string | null;
  lastActiveAt: number;
}

/** Stored with a summary. */
export interface SummaryExtras {
  details?: unknown;
  usage?: Usage | undefined;
}

/** Checks a message, because a later request sends what is in the log, and extensions write into the log of a new session. */
const checkEntry = createCheck({
  message: check("a message with a role", (value) => isRecord(value) && typeof value["role"] === "string"),
});

export class Session implements SessionNode {
  readonly #parts: SessionParts;
  #leafId: string | null;
  #lastActiveAt: number;
  /** Each append needs the leaf of the one before it. */
  readonly #queue = new SerialQueue();
  #redact: RedactLine | undefined;
  #isClosing = false;
  readonly #listeners = new Listeners<SessionEntry>((error) => {
    throw error;
  });

  constructor(parts: SessionParts) {
    this.#parts = parts;
    this.#leafId = parts.leafId;
    this.#lastActiveAt = parts.lastActiveAt;
  }

  get id(): string {
    return this.#parts.header.id;
  }

  get parentId(): string | null {
    return this.#parts.header.parentId ?? null;
  }

  /** Names the session that started this one. The header is written with the first entry; after that it stays as it is. */
  setParentId(parentId: string): void {
    const { log, header } = this.#parts;
    if (log.table.count === 0 && header.parentId === undefined) this.#parts.header = { ...header, parentId };
  }

  /** The named agent that the session uses; undefined if there is none. */
  get agentName(): string | undefined {
    return this.#parts.header.agent;
  }

  /** Sets the named agent. Has no effect once the header is written. */
  setAgentName(agent: string): void {
    const { log, header } = this.#parts;
    if (log.table.count === 0) this.#parts.header = { ...header, agent };
  }

  /** The profile that makes the policy of this session stricter; undefined if it has none. */
  get policyProfile(): string | undefined {
    return this.#parts.header.policy;
  }

  /** A path or a name. A copy of the log has another one. */
  get logName(): string {
    return this.#log.name;
  }

  get branchPoint(): string | null {
    return this.#parts.header.branchPoint ?? null;
  }

  get createdAt(): number {
    return Date.parse(this.#parts.header.timestamp) || 0;
  }

  get lastActiveAt(): number {
    return this.#lastActiveAt;
  }

  /** The problems found in the log. The session can be used in spite of them. */
  get problems(): readonly SessionProblem[] {
    return this.#log.problems;
  }

  /**
   * Calls `listener` with the problems of the log, now and when a line turns out to be damaged as it is read. Each problem
   * is reported once.
   */
  onProblems(listener: (problems: readonly SessionProblem[]) => void): void {
    const reportedOffsets = new Set<number>();
    const tell = () => {
      const fresh = this.problems.filter(({ offset }) => !reportedOffsets.has(offset));
      for (const { offset } of fresh) reportedOffsets.add(offset);
      if (fresh.length > 0) listener(fresh);
    };
    this.#log.onReload = tell;
    tell();
  }

  /** Why nothing can be appended; undefined if the session can be written. */
  get readOnly(): ReadOnly | undefined {
    return this.#log.readOnly;
  }

  /** Calls `listener`, which must not throw, with each acknowledged entry in order. Returns a function that removes it. */
  onAppend(listener: (entry: SessionEntry) => void): () => void {
    return this.#listeners.add(listener);
  }

  getSessionId(): string {
    return this.id;
  }

  getCwd(): string {
    return this.#parts.header.cwd;
  }

  getHeader(): SessionHeader {
    return { ...this.#parts.header };
  }

  /** The parent of the next entry; null before the first. */
  getLeafId(): string | null {
    return this.#leafId;
  }

  async getLeafEntry(): Promise<SessionEntry | undefined> {
    return this.#leafId === null ? undefined : await this.getEntry(this.#leafId);
  }

  getEntry(id: string): Promise<SessionEntry | undefined> {
    return this.#read(async (log) => {
      const row = typeof id === "string" ? await log.find(id) : -1;
      return row < 0 ? undefined : (await log.read([row]))[0];
    });
  }

  /** The children of an entry; the roots for null. */
  getChildren(id: string | null): Promise<SessionEntry[]> {
    return this.#read(async (log) => {
      const parent = await this.#getRow(id);
      return await log.read(log.table.getChildren(parent));
    });
  }

  /** The entries from the root to `fromId`. Default: to the leaf. */
  getBranch(fromId: string | null = this.#leafId): Promise<SessionEntry[]> {
    return this.#read(async (log) => readBranch(log, await this.#getRow(fromId)));
  }

  /**
   * A part of the branch that ends at the leaf, oldest first: the entries before or after one of its entries, or else the
   * last ones. Reads only what it returns. Throws `unknown_entry` for an entry that is not on the branch.
   */
  getBranchPage({ before, after, limit = Infinity, maxBytes = Infinity }: BranchPageOptions): Promise<BranchPage> {
    return this.#read(async (log) => {
      const leaf = await this.#getRow(this.#leafId);
      const last = before === undefined ? leaf : log.table.parent(await this.#getRowAbove(leaf, before));
      if (after === undefined) return await readLastPage(log, last, { limit, maxBytes });
      return await readNextPage(log, last, { after: await this.#getRowAbove(leaf, after), limit, maxBytes });
    });
  }

  /** All entries, or at most the last `limit`, in the order in which they were written. */
  getEntries(limit = Infinity): Promise<SessionEntry[]> {
    return this.#read((log) => {
      const rows = log.table.entryRows();
      return log.read(rows.slice(Math.max(0, rows.length - limit)));
    });
  }

  /** Adds up all entries, on every branch. */
  getTotals(): Promise<SessionTotals> {
    return this.#read((log) => log.countEntries());
  }

  getEntryCount(): number {
    return this.#log.table.entryCount;
  }

  getTree(): Promise<SessionTreeNode[]> {
    return this.#read(async (log) => readTree(log, await readLabels(log)));
  }

  async getLabel(id: string): Promise<string | undefined> {
    return (await this.getLabels()).get(id);
  }

  /** All labels, by the id of the entry. */
  getLabels(): Promise<Map<string, string>> {
    return this.#read(readLabels);
  }

  getSessionName(): Promise<string | undefined> {
    return this.#read(readName);
  }

  /** Returns what the model is sent, and the current model and thinking level. Reads only what it needs. */
  async buildContext(leafId: string | null = this.#leafId): Promise<SessionContext> {
    const { branch: _branch, ...context } = await this.readContext(leafId);
    return context;
  }

  /** The context, and the part of the branch that it is made of. */
  readContext(leafId: string | null = this.#leafId): Promise<BranchContext> {
    return this.#read(async (log) => readContext(log, await this.#getRow(leafId)));
  }

  /** The current model and thinking level. */
  getChoices(): Promise<SessionChoices> {
    return this.#read(async (log) => readChoices(log, await this.#getRow(this.#leafId)));
  }

  /** The end of the branch: what the model sees, and at least the last `compactions` compactions. */
  getRecentBranch(compactions: number): Promise<SessionEntry[]> {
    return this.#read(async (log) => readRecentBranch(log, await this.#getRow(this.#leafId), compactions));
  }

  /** The user's messages that were accepted but have no outcome because of a crash. */
  waitingMessages(): Promise<AcceptedEntry[]> {
    return this.#read(readWaiting);
  }

  /** Returns what became of the messages with these ids. Messages that are not in the log are missing. */
  findQueued(ids: ReadonlySet<string>): Promise<ReadonlyMap<string, QueuedState>> {
    return this.#read((log) => readQueuedStates(log, ids));
  }

  /** The permission mode that was chosen last, on any branch. */
  getPermissionMode(): Promise<PermissionMode | undefined> {
    return this.#read(readPermissionMode);
  }

  /** The permission mode besides plan mode that was chosen last, on any branch. */
  getWritingMode(): Promise<WritingMode | undefined> {
    return this.#read(readWritingMode);
  }

  /** The beginning of the last requests; undefined before the first. */
  getPrefix(): Promise<PrefixEntry | undefined> {
    return this.#read(readPrefix);
  }

  /** The entries that the context is made of: the latest compaction, the entries that it kept, and those after it. */
  async buildContextEntries(leafId: string | null = this.#leafId): Promise<SessionEntry[]> {
    return contextEntries((await this.readContext(leafId)).branch);
  }

  /** The calls that a crash left without a result. */
  unfinishedCalls(): Promise<UnfinishedCall[]> {
    return this.#read(async (log) => {
      const branch = await readSinceAnswer(log, await this.#getRow(this.#leafId));
      return await readUnfinishedCalls(log, branch);
    });
  }

  /**
   * Appends a result for each call that a crash left without one, and an outcome for each that a tool had made. Returns the
   * ids of the entries. `kept` are the ids of calls that wait for an answer.
   */
  settleUnfinishedCalls(kept: ReadonlySet<string> = new Set()): Promise<string[]> {
    return this.#enqueue(async () => {
      const { calls, nested } = await this.#read(async (log) => {
        const branch = await readSinceAnswer(log, await this.#getRow(this.#leafId));
        const records = await readCallRecords(log, branch);
        return {
          calls: unfinishedCalls(branch, records).filter(({ call }) => !kept.has(call.id)),
          nested: createNestedOutcomes(records),
        };
      });
      const results = createResults(calls, this.#parts.clock.now());
      const ids: string[] = [];
      for (const data of nested)
        ids.push(await this.#write({ type: "custom", customType: customTypes.nestedCall, data }));
      for (const message of results) ids.push(await this.#write({ type: "message", message }));
      return ids;
    });
  }

  /**
   * Records how a run ended that a crash has cut. False if the log ends with a whole answer, or the end was recorded
   * before: then there is nothing to close.
   */
  closeCutRun(termination: Termination): Promise<boolean> {
    return this.#enqueue(async () => {
      const isOpen = await this.#read(async (log) =>
        isRunOpen(await readSinceMessage(log, await this.#getRow(this.#leafId))),
      );
      if (isOpen) await this.#write({ type: "custom", customType: customTypes.runEnded, data: termination });
      return isOpen;
    });
  }

  /** The session as a plain value, for `exportHtml` and the other exports. */
  exportSource(): Promise<ExportSource> {
    return this.#read(async (log) => {
      const name = await readName(log);
      const entries = await readAll(log);
      return { header: this.getHeader(), entries, leafId: this.#leafId, ...(name !== undefined && { name }) };
    });
  }

  /** For summaries, use `appendCompaction` and `branchWithSummary`. */
  async appendMessage(message: AgentMessage): Promise<string> {
    checkEntry({ message });
    return await this.append({ type: "message", message });
  }

  appendModelChange(
    provider: string,
    modelId: string,
    details: Pick<ModelChangeEntry, "role" | "reason" | "forRun"> = {},
  ): Promise<string> {
    return this.append({ type: "model_change", provider, modelId, ...details });
  }

  appendThinkingLevelChange(thinkingLevel: string): Promise<string> {
    return this.append({ type: "thinking_level_change", thinkingLevel });
  }

  /** With null for `firstKeptEntryId`, nothing before the summary is kept. */
  appendCompaction(
    summary: string,
    firstKeptEntryId: string | null,
    tokensBefore: number,
    extras: SummaryExtras = {},
  ): Promise<string> {
    const fields = { summary, firstKeptEntryId: firstKeptEntryId ?? "", tokensBefore };
    return this.append({ type: "compaction", ...fields, ...withoutUndefined(extras) });
  }

  /** Appends data that the model never sees. */
  appendCustomEntry(customType: string, data?: unknown): Promise<string> {
    return this.append({ type: "custom", customType, ...(data !== undefined && { data }) });
  }

  appendCustomMessageEntry(
    customType: string,
    content: string | (TextContent | ImageContent)[],
    display: boolean,
    details?: unknown,
  ): Promise<string> {
    const fields = { customType, content, display };
    return this.append({ type: "custom_message", ...fields, ...(details !== undefined && { details }) });
  }

  /** A name is one line of at most 200 characters; a longer one is cut. An empty one removes the name. */
  async appendSessionInfo(name: string): Promise<string> {
    return await this.append({ type: "session_info", name: toShortLine(name) });
  }

  /** Names the session unless it was ever named, also by an append before this one. Resolves with undefined then. */
  appendFirstName(name: string): Promise<string | undefined> {
    return this.#enqueue(async () => {
      const isNamed = await this.#read(async (log) => log.table.findLast("session_info") >= 0);
      return isNamed ? undefined : await this.#write({ type: "session_info", name: toShortLine(name) });
    });
  }

  appendUsage(kind: string, provider: string, model: string, usage: Usage): Promise<string> {
    return this.append({ type: "usage", kind, provider, model, usage });
  }

  /** Without a label, removes the label of the entry. */
  appendLabelChange(targetId: string, label: string | undefined): Promise<string> {
    return this.#appendAbout(targetId, { type: "label", targetId, ...(label && { label }) });
  }

  /** Hides an entry from the model (null), or replaces its content for the model. */
  appendContextEdit(targetId: string, replacement: ContextEditEntry["replacement"]): Promise<string> {
    return this.#appendAbout(targetId, { type: "context_edit", targetId, replacement: replacement ?? null });
  }

  /**
   * Records that a call is about to run. If the program then crashes, its outcome is known to be unknown. With
   * `parentToolCallId`, another tool made the call.
   */
  appendCallStarted(toolCallId: string, toolName: string, parentToolCallId?: string): Promise<string> {
    const parent = parentToolCallId !== undefined && { parentToolCallId };
    return this.appendCustomEntry(customTypes.callStarted, { toolCallId, toolName, ...parent });
  }

  /** Records the outcome of a call that a tool made. */
  appendNestedCall(call: NestedCall): Promise<string> {
    return this.appendCustomEntry(customTypes.nestedCall, call);
  }

  /** Makes an entry the leaf; with null, the next entry becomes a root. Nothing is copied or removed. */
  async navigate(entryId: string | null): Promise<void> {
    await this.#enqueue(async () => {
      await this.#getRow(entryId);
      // The position is recorded, so that it is the same when the session is opened again.
      if (!this.readOnly && this.#log.table.count > 0)
        await this.#write({ type: "custom", customType: customTypes.navigated }, entryId);
      this.#leafId = entryId;
    });
  }

  /** Makes an entry the leaf, and appends a summary of the branch that is left. */
  async branchWithSummary(entryId: string | null, summary: string, extras: SummaryExtras = {}): Promise<string> {
    return await this.#enqueue(async () => {
      await this.#getRow(entryId);
      const fromId = this.#leafId ?? "root";
      return await this.#write({ type: "branch_summary", fromId, summary, ...withoutUndefined(extras) }, entryId);
    });
  }

  #appendAbout(targetId: string, entry: NewEntry): Promise<string> {
    return this.#enqueue(async () => {
      // Not `#getRow`: extensions in JavaScript pass null for a session without entries.
      await this.#findRow(targetId);
      return await this.#write(entry);
    });
  }

  /** The id, the parent and the time are set here, even if `entry` has its own. */
  append(entry: NewEntry): Promise<string> {
    return this.#enqueue(() => this.#write(entry));
  }

  /** Waits until all appends are written, and brings them to the disk unless the durability is `none`. */
  async flush(): Promise<void> {
    await this.#queue.add(async () => undefined);
    await this.#log.flush();
  }

  /** Releases the lease. Later calls are refused. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#queue.whenIdle();
    await this.#log.close();
  }

  get #log(): SessionLog {
    return this.#parts.log;
  }

  #read<T>(work: (log: SessionLog) => Promise<T>): Promise<T> {
    return this.#log.retryIfReloaded(() => work(this.#log));
  }

  /** The row of an entry on the branch that ends at `leaf`. */
  async #getRowAbove(leaf: number, id: string): Promise<number> {
    const row = await this.#getRow(id);
    if (isAncestor(this.#log, row, leaf)) return row;
    throw new HarnessError("unknown_entry", `The entry ${JSON.stringify(id)} is not on the current branch.`);
  }

  /** -1 for null. */
  async #getRow(id: string | null): Promise<number> {
    return id === null ? -1 : await this.#findRow(id);
  }

  async #findRow(id: string): Promise<number> {
    const row = typeof id === "string" ? await this.#log.find(id) : -1;
    if (row >= 0) return row;
    throw new HarnessError("unknown_entry", `The session ${this.id} has no entry ${JSON.stringify(id)}.`);
  }

  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosing) return Promise.reject(closedError(this.#log.name));
    return this.#queue.add(work);
  }

  /** From now on, `redact` may replace the content of a line before it is written and listeners get it. */
  redactLines(redact: RedactLine): void {
    this.#redact = redact;
  }

  async #write(newEntry: NewEntry, parentId: string | null = this.#leafId): Promise<string> {
    const { log, header, clock } = this.#parts;
    const now = clock.now();
    const {
      type,
      id: _id,
      parentId: _parentId,
      timestamp: _timestamp,
      ...fields
    } = newEntry as NewEntry & Partial<EntryBase>;
    if (typeof type !== "string" || (type as string) === "session") {
      throw new HarnessError("invalid_input", `An entry of the type ${JSON.stringify(type)} cannot be appended.`);
    }
    const id = this.#createId();
    const entry = { type, id, parentId, timestamp: new Date(now).toISOString(), ...fields } as SessionEntry;
    if (entry.type === "compaction" && entry.firstKeptEntryId === "") entry.firstKeptEntryId = id;
    const written = await log.append(log.table.count === 0 ? [header, entry] : [entry], this.#redact);
    this.#lastActiveAt = now;
    if (newEntry.type === "message") setMessageId(newEntry.message, id);
    // Listeners see the new leaf.
    if (!isNavigation(entry)) this.#leafId = id;
    this.#listeners.emit(written.at(-1) as SessionEntry);
    return id;
  }

  #createId(): string {
    for (let attempt = 0; ; attempt++) {
      const id = shortenId(this.#parts.ids(), attempt);
      if (this.#log.table.find(idNumber(id)) < 0) return id;
    }
  }
}

/** Eight hex digits: the first ones of `id` if possible, otherwise a checksum, since ids may begin with the time or repeat. */
function shortenId(id: string, attempt: number): string {
  const digits = id.replaceAll("-", "").slice(0, 8);
  return attempt === 0 && /^[0-9a-f]{8}$/.test(digits) ? digits : hexCrc(`${id} ${attempt}`);
}
