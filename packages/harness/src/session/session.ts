/**
 * One session, open. Every append is a child of the leaf and becomes the leaf; it resolves with the entry's id when the
 * entry is acknowledged. The names of the methods are pi's.
 */
import { crc32 } from "node:zlib";
import type { AgentMessage } from "@tau/agent";
import type { Clock, Ids, ImageContent, TextContent, Usage } from "@tau/ai";
import { HarnessError } from "../errors.ts";
import type { ExportSource } from "../export/source.ts";
import {
  type BranchContext,
  branchRows,
  readBranch,
  readContext,
  readAll,
  readContextBranch,
  readLabels,
  readName,
  readPrefix,
  readStartedCalls,
  readTree,
  readWaiting,
  type SessionTreeNode,
} from "./branch.ts";
import { contextEntries, type SessionContext } from "./context.ts";
import {
  type AcceptedEntry,
  type ContextEditEntry,
  customTypes,
  type EntryBase,
  type NewEntry,
  type PrefixEntry,
  type SessionEntry,
  type SessionHeader,
  type SessionNode,
} from "./entry.ts";
import { idNumber } from "./entry-table.ts";
import type { ReadOnly, SessionLog } from "./log.ts";
import type { SessionProblem } from "./scan.ts";
import { closedError } from "./store.ts";
import { getOutcomes, type UnfinishedCall, unfinishedCalls } from "./unfinished-calls.ts";

/** What a session is made of. */
export interface SessionParts {
  log: SessionLog;
  header: SessionHeader;
  clock: Clock;
  ids: Ids;
}

export interface BranchPageOptions {
  /** The id of an entry: only those before it. */
  before?: string;
  /** The id of an entry: only those after it. */
  after?: string;
  /** Default: no limit. */
  limit?: number;
}

export interface BranchPage {
  entries: SessionEntry[];
  /** Whether the branch has entries before these. */
  hasOlder: boolean;
}

/** Where a session stood when it was opened. */
export interface Standing {
  leafId: string | null;
  lastActiveAt: number;
}

/** What goes with a summary. */
export interface SummaryExtras {
  details?: unknown;
  usage?: Usage | undefined;
}

export class Session implements SessionNode {
  readonly #parts: SessionParts;
  #leafId: string | null;
  #lastActiveAt: number;
  /** Settles when all appends so far have: each needs the leaf that the one before it left. */
  #tail: Promise<unknown> = Promise.resolve();
  #isClosing = false;
  #listeners: readonly ((entry: SessionEntry) => void)[] = [];

  constructor(parts: SessionParts, { leafId, lastActiveAt }: Standing) {
    this.#parts = parts;
    this.#leafId = leafId;
    this.#lastActiveAt = lastActiveAt;
  }

  get id(): string {
    return this.#parts.header.id;
  }

  get parentId(): string | null {
    return this.#parts.header.parentId ?? null;
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

  /** What was found wrong in the log, line by line. The session works all the same. */
  get problems(): readonly SessionProblem[] {
    return this.#parts.log.problems;
  }

  /** Why nothing can be appended; undefined when it can. */
  get readOnly(): ReadOnly | undefined {
    return this.#parts.log.readOnly;
  }

  /** Calls `listener` with each entry that is acknowledged, in order. It must not throw. Returns how to end it. */
  onAppend(listener: (entry: SessionEntry) => void): () => void {
    this.#listeners = [...this.#listeners, listener];
    return () => {
      this.#listeners = this.#listeners.filter((other) => other !== listener);
    };
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

  /** The entry that the next one will hang on; null before the first. */
  getLeafId(): string | null {
    return this.#leafId;
  }

  async getLeafEntry(): Promise<SessionEntry | undefined> {
    return this.#leafId === null ? undefined : await this.getEntry(this.#leafId);
  }

  getEntry(id: string): Promise<SessionEntry | undefined> {
    return this.#log.retrying(async () => {
      const row = typeof id === "string" ? await this.#log.find(id) : -1;
      return row < 0 ? undefined : (await this.#log.read([row]))[0];
    });
  }

  /** What hangs on an entry, or with null what hangs on nothing. */
  getChildren(id: string | null): Promise<SessionEntry[]> {
    return this.#log.retrying(async () => {
      const parent = await this.#row(id);
      return await this.#log.read(this.#log.table.getChildren(parent));
    });
  }

  /** From the root to an entry. Default: to the leaf. */
  getBranch(fromId: string | null = this.#leafId): Promise<SessionEntry[]> {
    return this.#log.retrying(async () => readBranch(this.#log, await this.#row(fromId)));
  }

  /**
   * A part of the shown branch, oldest first: the entries before or after one of its entries, else its last. Reads only
   * what it returns. Throws `unknown_entry` for an entry that is not on the branch.
   */
  getBranchPage({ before, after, limit = Number.POSITIVE_INFINITY }: BranchPageOptions): Promise<BranchPage> {
    return this.#log.retrying(async () => {
      const rows = branchRows(this.#log, await this.#row(this.#leafId));
      const start = after === undefined ? 0 : (await this.#rowIndex(rows, after)) + 1;
      const end = before === undefined ? rows.length : await this.#rowIndex(rows, before);
      const inRange = rows.slice(start, end);
      const page = after === undefined ? inRange.slice(-Math.min(limit, inRange.length)) : inRange.slice(0, limit);
      return { entries: await this.#log.read(page), hasOlder: page.length > 0 && page[0] !== rows[0] };
    });
  }

  /** All entries, in the order they were written. */
  getEntries(): Promise<SessionEntry[]> {
    return this.#log.retrying(() => this.#log.read(this.#log.table.entryRows()));
  }

  getEntryCount(): number {
    return this.#log.table.entryRows().length;
  }

  getTree(): Promise<SessionTreeNode[]> {
    return this.#log.retrying(async () => readTree(this.#log, await readLabels(this.#log)));
  }

  async getLabel(id: string): Promise<string | undefined> {
    return (await this.getLabels()).get(id);
  }

  /** All labels, by the entry they are on. */
  getLabels(): Promise<Map<string, string>> {
    return this.#log.retrying(() => readLabels(this.#log));
  }

  getSessionName(): Promise<string | undefined> {
    return this.#log.retrying(() => readName(this.#log));
  }

  /** What the model is sent, and the choices that stand. Costs what is shown, however long the log is. */
  async buildContext(leafId: string | null = this.#leafId): Promise<SessionContext> {
    const { branch: _branch, ...context } = await this.readContext(leafId);
    return context;
  }

  /** The same, with the part of the branch that it is made of. */
  readContext(leafId: string | null = this.#leafId): Promise<BranchContext> {
    return this.#log.retrying(async () => readContext(this.#log, await this.#row(leafId)));
  }

  /** The end of the branch, from the first entry that the latest compaction kept: all that matters to the model. */
  getContextBranch(leafId: string | null = this.#leafId): Promise<SessionEntry[]> {
    return this.#log.retrying(async () => readContextBranch(this.#log, await this.#row(leafId)));
  }

  /** What was accepted from a person and has no outcome: a crash came before it. */
  waitingMessages(): Promise<AcceptedEntry[]> {
    return this.#log.retrying(() => readWaiting(this.#log));
  }

  /** What the last requests began with; undefined before the first. */
  getPrefix(): Promise<PrefixEntry | undefined> {
    return this.#log.retrying(() => readPrefix(this.#log));
  }

  /** The entries that the context is made of: a compaction first, then what it kept, then what came after it. */
  async buildContextEntries(leafId: string | null = this.#leafId): Promise<SessionEntry[]> {
    return contextEntries(await this.getContextBranch(leafId));
  }

  /** The calls that a crash left without a result. */
  unfinishedCalls(): Promise<UnfinishedCall[]> {
    return this.#log.retrying(async () => {
      const branch = await readContextBranch(this.#log, await this.#row(this.#leafId));
      return unfinishedCalls(branch, await readStartedCalls(this.#log, branch));
    });
  }

  /** Gives each call that a crash left without a result one that says what is known. Returns the entries' ids. */
  settleUnfinishedCalls(): Promise<string[]> {
    return this.#inTurn(async () => {
      const outcomes = getOutcomes(await this.unfinishedCalls(), this.#parts.clock.now());
      const ids: string[] = [];
      for (const message of outcomes) {
        this.#leafId = await this.#write({ type: "message", message }, this.#leafId);
        ids.push(this.#leafId);
      }
      return ids;
    });
  }

  /** The session as a plain value, for `exportHtml` and its like. */
  exportSource(): Promise<ExportSource> {
    return this.#log.retrying(async () => {
      const name = await readName(this.#log);
      const entries = await readAll(this.#log);
      return { header: this.getHeader(), entries, leafId: this.#leafId, ...(name !== undefined && { name }) };
    });
  }

  /** Summaries are no messages of their own: see `appendCompaction` and `branchWithSummary`. */
  appendMessage(message: AgentMessage): Promise<string> {
    return this.append({ type: "message", message });
  }

  appendModelChange(provider: string, modelId: string): Promise<string> {
    return this.append({ type: "model_change", provider, modelId });
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
    return this.append({
      type: "compaction",
      summary,
      firstKeptEntryId: firstKeptEntryId ?? "",
      tokensBefore,
      ...given(extras),
    });
  }

  /** Remembers something that the model never sees. */
  appendCustomEntry(customType: string, data?: unknown): Promise<string> {
    return this.append({ type: "custom", customType, ...(data !== undefined && { data }) });
  }

  appendCustomMessageEntry(
    customType: string,
    content: string | (TextContent | ImageContent)[],
    display: boolean,
    details?: unknown,
  ): Promise<string> {
    return this.append({
      type: "custom_message",
      customType,
      content,
      display,
      ...(details !== undefined && { details }),
    });
  }

  appendSessionInfo(name: string): Promise<string> {
    return this.append({ type: "session_info", name: name.trim() });
  }

  appendUsage(kind: string, provider: string, model: string, usage: Usage): Promise<string> {
    return this.append({ type: "usage", kind, provider, model, usage });
  }

  /** Puts a label on an entry; without one, takes it away. */
  appendLabelChange(targetId: string, label: string | undefined): Promise<string> {
    return this.#appendAbout(targetId, { type: "label", targetId, ...(label && { label }) });
  }

  /** Hides an entry from the model (null), or shows it other content. */
  appendContextEdit(targetId: string, replacement: ContextEditEntry["replacement"]): Promise<string> {
    return this.#appendAbout(targetId, { type: "context_edit", targetId, replacement: replacement ?? null });
  }

  /** Says that a call is about to be executed, so that after a crash its outcome is known to be unknown. */
  appendCallStarted(toolCallId: string, toolName: string): Promise<string> {
    return this.appendCustomEntry(customTypes.callStarted, { toolCallId, toolName });
  }

  /** Goes to an entry, or with null before the first. The next entry hangs on it; nothing is copied or removed. */
  async navigate(entryId: string | null): Promise<void> {
    await this.#inTurn(async () => {
      await this.#row(entryId);
      // So that whoever opens the session next stands here too.
      if (!this.readOnly && !this.#isNew())
        await this.#write({ type: "custom", customType: customTypes.navigated }, entryId);
      this.#leafId = entryId;
    });
  }

  /** Goes to an entry and says there what was tried on the branch that is left. */
  async branchWithSummary(entryId: string | null, summary: string, extras: SummaryExtras = {}): Promise<string> {
    return await this.#inTurn(async () => {
      await this.#row(entryId);
      const entry: NewEntry = { type: "branch_summary", fromId: this.#leafId ?? "root", summary, ...given(extras) };
      return (this.#leafId = await this.#write(entry, entryId));
    });
  }

  #appendAbout(targetId: string, entry: NewEntry): Promise<string> {
    return this.#inTurn(async () => {
      await this.#row(targetId);
      return (this.#leafId = await this.#write(entry, this.#leafId));
    });
  }

  /** Where it goes, when, and under which id is decided here, whatever the entry says. */
  append(entry: NewEntry): Promise<string> {
    return this.#inTurn(async () => (this.#leafId = await this.#write(entry, this.#leafId)));
  }

  /** Waits until all appends are written, and brings them to the disk unless the durability is `none`. */
  async flush(): Promise<void> {
    await this.#tail;
    await this.#log.flush();
  }

  /** Lets go of the log, so that others may write. What is asked for after this is refused. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#tail;
    await this.#log.close();
  }

  get #log(): SessionLog {
    return this.#parts.log;
  }

  #isNew(): boolean {
    return this.#log.table.count === 0;
  }

  async #rowIndex(rows: readonly number[], id: string): Promise<number> {
    const index = rows.indexOf(await this.#row(id));
    if (index >= 0) return index;
    throw new HarnessError("unknown_entry", `The entry ${JSON.stringify(id)} is not on the shown branch.`);
  }

  async #row(id: string | null): Promise<number> {
    if (id === null) return -1;
    const row = typeof id === "string" ? await this.#log.find(id) : -1;
    if (row >= 0) return row;
    throw new HarnessError("unknown_entry", `The session ${this.id} has no entry ${JSON.stringify(id)}.`);
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosing) return Promise.reject(closedError(this.#log.name));
    const done = this.#tail.then(work);
    this.#tail = done.catch(() => undefined);
    return done;
  }

  async #write(entry: NewEntry, parentId: string | null): Promise<string> {
    const { log, header, clock } = this.#parts;
    const id = this.#newId();
    const now = clock.now();
    const {
      type,
      id: _id,
      parentId: _parentId,
      timestamp: _timestamp,
      ...rest
    } = entry as NewEntry & Partial<EntryBase>;
    if (typeof type !== "string" || (type as string) === "session") {
      throw new HarnessError("invalid_input", `An entry of the type ${JSON.stringify(type)} cannot be appended.`);
    }
    const full = { type, id, parentId, timestamp: new Date(now).toISOString(), ...rest } as SessionEntry;
    if (full.type === "compaction" && full.firstKeptEntryId === "") full.firstKeptEntryId = id;
    await log.append(this.#isNew() ? [header, full] : [full]);
    this.#lastActiveAt = now;
    // Before they hear of it, so that whoever asks for the leaf gets this one.
    if (full.type !== "custom" || full.customType !== customTypes.navigated) this.#leafId = id;
    for (const listener of this.#listeners) listener(full);
    return id;
  }

  #newId(): string {
    for (let attempt = 0; ; attempt++) {
      const id = shortId(this.#parts.ids(), attempt);
      if (this.#log.table.find(idNumber(id)) < 0) return id;
    }
  }
}

/**
 * Eight hex digits of an id that may be any text: its first ones at the first attempt, and then others, since ids may
 * begin with the time, or repeat.
 */
function shortId(id: string, attempt: number): string {
  const digits = id.replaceAll("-", "").slice(0, 8);
  if (attempt === 0 && /^[0-9a-f]{8}$/.test(digits)) return digits;
  return crc32(`${id} ${attempt}`).toString(16).padStart(8, "0");
}

const given = ({ details, usage }: SummaryExtras) => ({
  ...(details !== undefined && { details }),
  ...(usage !== undefined && { usage }),
});

/** Where a session stands that was just opened: after its last entry, or where the person went to last. */
export const getStanding = (log: SessionLog, header: SessionHeader): Promise<Standing> =>
  log.retrying(() => lookForStanding(log, header));

async function lookForStanding(log: SessionLog, header: SessionHeader): Promise<Standing> {
  const row = log.table.lastEntry();
  const [entry] = row < 0 ? [] : await log.read([row]);
  const lastActiveAt = Date.parse((entry ?? header).timestamp) || 0;
  if (!entry) return { leafId: null, lastActiveAt };
  const wentBack = entry.type === "custom" && entry.customType === customTypes.navigated;
  if (!wentBack) return { leafId: entry.id, lastActiveAt };
  const [, parent] = branchRows(log, row).toReversed();
  const [target] = parent === undefined ? [] : await log.read([parent]);
  return { leafId: target?.id ?? null, lastActiveAt };
}
