/** The files that a server knows the text of, each with a version that only grows. */
import { pathToFileURL } from "node:url";
import { getLanguageId } from "./language-ids.ts";

/** The server is told to forget the one that was used longest ago when there are more. */
const maxOpen = 200;

export interface LspDocument {
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

export interface DocumentsParts {
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

  constructor(parts: DocumentsParts) {
    this.#parts = parts;
  }

  get(path: string): LspDocument | undefined {
    return this.#open.get(path);
  }

  list(): readonly LspDocument[] {
    return [...this.#open.values()];
  }

  /** Makes the server know this text of the file. */
  set(path: string, text: string): SyncedDocument {
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
    const { uri } = document;
    if (known) {
      this.#parts.notify("textDocument/didChange", { textDocument: { uri, version }, contentChanges: [{ text }] });
      this.#parts.notify("textDocument/didSave", { textDocument: { uri }, text });
    } else {
      const languageId = getLanguageId(path);
      this.#parts.notify("textDocument/didOpen", { textDocument: { uri, languageId, version, text } });
      this.#closeOldest();
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

  #closeOldest(): void {
    const [oldest] = this.#open.keys();
    if (this.#open.size > maxOpen && oldest !== undefined) this.close(oldest);
  }
}
