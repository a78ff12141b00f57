/**
 * A session that can be read at once: handlers of extensions cannot wait for a log. It is read when a handler first asks
 * for it, since most never do, and then follows what is appended.
 */
import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Message } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { getLeafAfter, type SessionEntry, type TreeNodeData, withoutChecksum } from "@tau/protocol";
import { convertToLlm } from "./message.ts";
import { contextEntries, contextMessages, getChoices } from "./context.ts";
import type { SessionManager } from "./session-manager.ts";
import type { SessionReader } from "@tau/extensions";

interface SessionMirror extends SessionReader {
  /** Stops following the log. */
  close(): void;
}

/** A log is read at once if it is only in memory, or if entries may not be in its file when they have been appended. */
export async function createSessionMirror(session: SessionManager): Promise<SessionMirror> {
  const file = session.getSessionFile();
  const isBehind = file === undefined || session.durability === "none";
  return new Mirror(session, isBehind ? await session.getEntries() : file);
}

/** Lines that cannot be read are left out: the session itself reports them to the user. */
function readEntries(path: string): SessionEntry[] {
  // A session without a message has no file yet.
  if (!existsSync(path)) return [];
  return readFileSync(path, "utf8")
    .split("\n")
    .flatMap((line) => {
      const value = line === "" ? undefined : tryParseJson(line);
      if (!isRecord(value) || typeof value["id"] !== "string" || value["type"] === "session") return [];
      return [withoutChecksum(value) as unknown as SessionEntry];
    });
}

const byId = (entries: readonly SessionEntry[]) => new Map(entries.map((entry) => [entry.id, entry]));

class Mirror implements SessionMirror {
  readonly #session: SessionManager;
  readonly #stop: () => void;
  /** By id, in the order of the log; undefined until it is first asked for. */
  #entries: Map<string, SessionEntry> | undefined;

  /** `source` are the entries so far, or the file that they are in. */
  constructor(session: SessionManager, source: readonly SessionEntry[] | string) {
    this.#session = session;
    if (typeof source !== "string") this.#entries = byId(source);
    this.#stop = session.onAppend((entry) => void this.#entries?.set(entry.id, entry));
  }

  get #all(): Map<string, SessionEntry> {
    this.#entries ??= byId(readEntries(this.getSessionFile()!));
    return this.#entries;
  }

  close(): void {
    this.#stop();
  }

  getCwd(): string {
    return this.#session.getCwd();
  }

  getSessionDir(): string {
    const file = this.getSessionFile();
    return this.#session.getSessionDir() ?? (file === undefined ? "" : dirname(file));
  }

  getSessionId(): string {
    return this.#session.id;
  }

  getSessionFile(): string | undefined {
    return this.#session.getSessionFile();
  }

  isPersisted(): boolean {
    return this.#session.isPersisted();
  }

  getHeader(): ReturnType<SessionReader["getHeader"]> {
    return this.#session.getHeader();
  }

  getLeafId(): string | null {
    return this.#session.getLeafId();
  }

  getLeafEntry(): SessionEntry | undefined {
    const leafId = this.getLeafId();
    return leafId === null ? undefined : this.getEntry(leafId);
  }

  getEntry(id: string): SessionEntry | undefined {
    return this.#all.get(id);
  }

  getEntries(): SessionEntry[] {
    return [...this.#all.values()];
  }

  getBranch(fromId: string | null = this.getLeafId()): SessionEntry[] {
    const branch: SessionEntry[] = [];
    let entry = fromId === null ? undefined : this.getEntry(fromId);
    const seen = new Set<SessionEntry>();
    // A damaged log may name a later entry as the parent.
    while (entry && !seen.has(entry)) {
      seen.add(entry);
      branch.push(entry);
      entry = entry.parentId === null ? undefined : this.getEntry(entry.parentId);
    }
    return branch.toReversed();
  }

  getLabel(id: string): string | undefined {
    return this.#getLabels().get(id);
  }

  getSessionName(): string | undefined {
    const infos = this.getEntries().flatMap((entry) => (entry.type === "session_info" ? [entry.name] : []));
    return infos.at(-1) || undefined;
  }

  getTree(): TreeNodeData[] {
    const labels = this.#getLabels();
    const nodes = new Map<string, TreeNodeData>();
    const roots: TreeNodeData[] = [];
    for (const entry of this.#all.values()) {
      // A mark that the leaf has moved is not a part of the tree.
      if (getLeafAfter(entry) !== entry.id) continue;
      const label = labels.get(entry.id);
      const node: TreeNodeData = { entry, children: [], ...(label !== undefined && { label }) };
      nodes.set(entry.id, node);
      const parent = entry.parentId === null ? undefined : nodes.get(entry.parentId);
      (parent?.children ?? roots).push(node);
    }
    return roots;
  }

  buildRequestMessages(): Message[] {
    return convertToLlm(this.buildSessionContext().messages);
  }

  buildSessionContext(): ReturnType<SessionReader["buildSessionContext"]> {
    const { messages, thinkingLevel, model } = this.buildSessionProjection();
    return { messages, thinkingLevel, model };
  }

  buildContextEntries(): SessionEntry[] {
    return contextEntries(this.getBranch());
  }

  buildSessionProjection(): ReturnType<SessionReader["buildSessionProjection"]> {
    const branch = this.getBranch();
    const { thinkingLevel, model } = getChoices(branch);
    const messages = new Map(contextMessages(branch).map(({ entry, message }) => [entry, message]));
    const entries = contextEntries(branch).map((sourceEntry) => {
      const message = messages.get(sourceEntry);
      return { sourceEntry, messages: message ? [message] : [] };
    });
    return { entries, messages: [...messages.values()], thinkingLevel, model };
  }

  #getLabels(): Map<string, string> {
    const labels = new Map<string, string>();
    for (const entry of this.#all.values()) {
      if (entry.type !== "label") continue;
      if (entry.label === undefined) labels.delete(entry.targetId);
      else labels.set(entry.targetId, entry.label);
    }
    return labels;
  }
}
