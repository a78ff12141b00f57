/** The files that a server knows the text of, each with a version that only grows. */
import { pathToFileURL } from "node:url";
import { getLanguageId } from "./language-ids.ts";

/** If there are more, tau closes the one at the server that was used longest ago. */
const maxOpen = 200;

/** The numbers of the protocol. */
const fileEvents = { created: 1, changed: 2, deleted: 3 } as const;

interface LspDocument {
  readonly path: string;
  readonly uri: string;
  readonly version: number;
  readonly text: string;
  /** When the server got this text, on the monotonic clock. */
  readonly sentAt: number;
  /** The version of the diagnostics then: those of this text are later. */
  readonly minVersion: number;
}

export interface SyncedDocument extends LspDocument {
  /** Whether the server got this text just now. */
  isNew: boolean;
}

export interface SetOptions {
  /** Keeps all other documents open, however many they are. Default false. */
  keepsOthers?: boolean;
}

interface DocumentsParts {
  notify(method: string, params: object): void;
  /** When a text is sent. */
  getMoment(): Pick<LspDocument, "sentAt" | "minVersion">;
}

export class Documents {
  readonly #parts: DocumentsParts;
  /** By path, the one that was used longest ago first. */
  readonly #open = new Map<string, LspDocument>();
  /** Versions go on counting when a file is opened again. */
  readonly #lastVersions = new Map<string, number>();
  /** Files that exist as far as the server was notified. */
  readonly #existing = new Set<string>();

  #changedAt: number | undefined;

  constructor(parts: DocumentsParts) {
    this.#parts = parts;
  }

  /** When the server was last notified of a text or a file, on the monotonic clock. */
  get changedAt(): number | undefined {
    return this.#changedAt;
  }

  get(path: string): LspDocument | undefined {
    return this.#open.get(path);
  }

  list(): readonly LspDocument[] {
    return [...this.#open.values()];
  }

  /** Makes the server know this text of the file. */
  set(path: string, text: string, { keepsOthers = false }: SetOptions = {}): SyncedDocument {
    const known = this.#open.get(path);
    this.#open.delete(path);
    if (known?.text === text) {
      this.#open.set(path, known);
      return { ...known, isNew: false };
    }
    const version = (this.#lastVersions.get(path) ?? 0) + 1;
    this.#lastVersions.set(path, version);
    const document: LspDocument = { path, uri: pathToFileURL(path).href, version, text, ...this.#parts.getMoment() };
    this.#open.set(path, document);
    this.#existing.add(path);
    this.#changedAt = document.sentAt;
    const { uri } = document;
    if (known) {
      this.#parts.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
      this.#parts.notify("textDocument/didSave", { textDocument: { uri }, text });
    } else {
      const languageId = getLanguageId(path);
      this.#parts.notify("textDocument/didOpen", { textDocument: { uri, languageId, version, text } });
      if (!keepsOthers) this.closeOldest();
    }
    return { ...document, isNew: true };
  }

  /** For a file that is gone. */
  close(path: string): void {
    const document = this.#open.get(path);
    if (!document) return;
    this.#open.delete(path);
    this.#parts.notify("textDocument/didClose", { textDocument: { uri: document.uri } });
  }

  /** Closes documents until there are no more than usual. */
  closeOldest(): void {
    for (const path of this.#open.keys()) {
      if (this.#open.size <= maxOpen) return;
      this.close(path);
    }
  }

  /** Notifies the server of files that were written or removed on disk. */
  announce(files: readonly { path: string; exists: boolean }[]): void {
    const changes = files.map(({ path, exists }) => {
      const type = !exists ? fileEvents.deleted : this.#existing.has(path) ? fileEvents.changed : fileEvents.created;
      if (exists) this.#existing.add(path);
      else this.#existing.delete(path);
      return { uri: pathToFileURL(path).href, type };
    });
    this.#changedAt = this.#parts.getMoment().sentAt;
    this.#parts.notify("workspace/didChangeWatchedFiles", { changes });
  }
}
