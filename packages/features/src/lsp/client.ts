/** A running language server: its handshake, the texts that it knows, and the problems that it reported. */
import { basename } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Clock } from "@tau/ai";
import { asRecord, isRecord, sleep, version } from "@tau/ai/internal";
import { toVisibleLine } from "../kit/visible-text.ts";
import { clientCapabilities } from "./capabilities.ts";
import { type Answer, Connection, RefusedRequest, type RequestOptions, UnknownMethod } from "./connection.ts";
import { DiagnosticStore } from "./diagnostics.ts";
import { Documents, type SetOptions, type SyncedDocument } from "./documents.ts";
import { LspError } from "./failure.ts";
import { DiagnosticRegistrations } from "./registrations.ts";
import type { LspProgram } from "./program.ts";
import type { PositionEncoding } from "./positions.ts";

/** How long a server may take to answer to `initialize`. */
const maxStartMs = 60_000;
/** How long a server may take to answer to `shutdown`. */
const maxShutdownMs = 1_000;
const maxProgress = 1_000;
const maxTokenLength = 1_000;
/** More edits than this of one command are refused. */
const maxWantedEdits = 100;
const maxSettings = 1_000;
/** A server may give up the answer to a pull because files change, and wants to be asked again. */
const cancelledByServer = -32802;
const maxPullRetries = 5;
const pullRetryMs = 100;

interface ClientOptions {
  /** The name of the server, for messages. */
  name: string;
  root: string;
  initOptions?: unknown;
  /** Answers to `workspace/configuration`, by section. */
  settings?: Readonly<Record<string, unknown>>;
  clock: Clock;
  log?: (message: string) => void;
}

type Fields = Readonly<Record<string, unknown>>;

/** The path of a uri; undefined if it is not one of a file. */
export function toPath(uri: unknown): string | undefined {
  if (typeof uri !== "string" || !uri.startsWith("file:")) return undefined;
  try {
    return fileURLToPath(uri);
  } catch {
    // Servers may send anything.
    return undefined;
  }
}

export class LspClient {
  readonly name: string;
  readonly root: string;
  readonly pid: number | undefined;
  /** On the clock of the system. */
  readonly startedAt: number;
  readonly documents: Documents;
  readonly diagnostics: DiagnosticStore;
  readonly clock: Clock;
  readonly #connection: Connection;
  readonly #options: ClientOptions;
  readonly #progress = new Set<string | number>();
  readonly #registrations = new DiagnosticRegistrations();
  /** Edits that the server wants while one of its commands is executed; undefined: it may want none. */
  #wantedEdits: unknown[] | undefined;
  readonly #endListeners: (() => void)[] = [];
  #capabilities: Fields = {};
  #serverName: string | undefined;
  #lastUsedAt: number;

  /** Rejects if the server cannot be initialised; nothing of it is left then. */
  static async start(program: LspProgram, options: ClientOptions): Promise<LspClient> {
    const client = new LspClient(program, options);
    try {
      await client.#initialise();
      return client;
    } catch (error) {
      await client.#connection.close("It could not be initialised.");
      const words = client.#connection.lastWords;
      const text = (error as Error).message + (words === "" ? "" : ` It printed: ${words}`);
      throw new LspError("start_failed", text, { cause: error });
    }
  }

  private constructor(program: LspProgram, options: ClientOptions) {
    const { name, root, clock } = options;
    this.name = name;
    this.root = root;
    this.clock = clock;
    this.pid = program.pid;
    this.startedAt = clock.now();
    this.#options = options;
    this.#lastUsedAt = clock.monotonic();
    this.diagnostics = new DiagnosticStore(clock);
    this.#connection = new Connection(program, {
      name,
      clock,
      onNotification: (method, params, bytes) => this.#takeNotification(method, params, bytes),
      onRequest: (method, params) => this.#answerRequest(method, isRecord(params) ? params : {}),
      onEnd: (reason) => {
        options.log?.(`The language server ${name} in ${root} has ended: ${reason}`);
        for (const listener of this.#endListeners) listener();
      },
    });
    this.documents = new Documents({
      notify: (method, params) => this.#connection.notify(method, params),
      getMoment: () => ({ sentAt: clock.monotonic(), minVersion: this.diagnostics.version }),
    });
  }

  get capabilities(): Fields {
    return this.#capabilities;
  }

  /** The name that the server gives itself, with its version. */
  get serverName(): string | undefined {
    return this.#serverName;
  }

  get hasEnded(): boolean {
    return this.#connection.endReason !== undefined;
  }

  /** Whether the server reports that it works on something, such as loading the project. */
  get isLoading(): boolean {
    return this.#progress.size > 0;
  }

  /** How long nobody has asked it anything, in milliseconds. */
  get idleMs(): number {
    return this.#connection.pendingCount > 0 ? 0 : this.clock.monotonic() - this.#lastUsedAt;
  }

  get positionEncoding(): PositionEncoding {
    const encoding = this.#capabilities["positionEncoding"] ?? this.#capabilities["offsetEncoding"];
    return encoding === "utf-8" || encoding === "utf-32" ? encoding : "utf-16";
  }

  /** Whether it has to be asked for diagnostics. */
  get pullsDiagnostics(): boolean {
    return this.#pullOptions !== undefined;
  }

  get #pullOptions(): Fields | undefined {
    const provider = this.#capabilities["diagnosticProvider"];
    return isRecord(provider) ? provider : this.#registrations.current;
  }

  /** Calls `listener` once, when it has ended for whatever reason. */
  onEnd(listener: () => void): void {
    if (this.hasEnded) listener();
    else this.#endListeners.push(listener);
  }

  can(capability: string): boolean {
    const value = this.#capabilities[capability];
    return value !== undefined && value !== null && value !== false;
  }

  async request(method: string, params: unknown, options: RequestOptions): Promise<unknown> {
    return (await this.#ask(method, params, options)).result;
  }

  async #ask(method: string, params: unknown, options: RequestOptions): Promise<Answer> {
    this.#lastUsedAt = this.clock.monotonic();
    try {
      return await this.#connection.request(method, params, options);
    } finally {
      this.#lastUsedAt = this.clock.monotonic();
    }
  }

  notify(method: string, params: unknown): void {
    this.#connection.notify(method, params);
  }

  /** Makes the server know the text of a file. */
  sync(path: string, text: string, options?: SetOptions): SyncedDocument {
    this.#lastUsedAt = this.clock.monotonic();
    return this.documents.set(path, text, options);
  }

  /** Asks for the diagnostics of a document, and keeps them like those that servers report by themselves. */
  async pullDiagnostics(
    { path, uri, version: documentVersion }: SyncedDocument,
    options: RequestOptions,
  ): Promise<void> {
    const { identifier } = this.#pullOptions ?? {};
    const params = { textDocument: { uri }, ...(typeof identifier === "string" && { identifier }) };
    const { result: report, bytes: messageBytes } = await this.#pull(params, options);
    // Without a `previousResultId` there is nothing that could be unchanged.
    if (isRecord(report) && Array.isArray(report["items"]))
      this.diagnostics.set(path, report["items"], { version: documentVersion, messageBytes });
  }

  async #pull(params: object, options: RequestOptions): Promise<Answer> {
    for (let retry = 0; ; retry++) {
      try {
        return await this.#ask("textDocument/diagnostic", params, options);
      } catch (error) {
        const { code } = asRecord((error as Error).cause);
        if (code !== cancelledByServer || retry >= maxPullRetries) throw error;
        await sleep(this.clock, pullRetryMs, options.signal);
      }
    }
  }

  /** Collects the edits that the server asks for while `work` executes one of its commands. */
  async collectEdits(work: () => Promise<unknown>): Promise<unknown[]> {
    if (this.#wantedEdits) throw new LspError("refused", `${this.name} already executes a command. Try again.`);
    const edits: unknown[] = [];
    this.#wantedEdits = edits;
    try {
      await work();
      return edits;
    } finally {
      this.#wantedEdits = undefined;
    }
  }

  /** Asks the server to end, and makes it. */
  async close(reason = "It was stopped."): Promise<void> {
    if (!this.hasEnded) {
      // An unsaved cache is all that a server loses that does not answer.
      await this.#connection.request("shutdown", undefined, { timeoutMs: maxShutdownMs }).catch(() => undefined);
      this.#connection.notify("exit", undefined);
    }
    await this.#connection.close(reason);
  }

  async #initialise(): Promise<void> {
    const { root, initOptions = {}, settings } = this.#options;
    const rootUri = pathToFileURL(root).href;
    const { result } = await this.#connection.request(
      "initialize",
      {
        // Many servers end when they cannot see the process of the client, and from inside of the sandbox none of them can.
        processId: null,
        clientInfo: { name: "tau", version },
        rootUri,
        rootPath: root,
        capabilities: clientCapabilities,
        initializationOptions: initOptions,
        workspaceFolders: [{ uri: rootUri, name: basename(root) || "workspace" }],
      },
      { timeoutMs: maxStartMs },
    );
    if (!isRecord(result) || !isRecord(result["capabilities"]))
      throw new LspError(
        "bad_answer",
        `${this.name} answered to initialize with something else than its capabilities.`,
      );
    this.#capabilities = result["capabilities"];
    const { name, version: serverVersion } = isRecord(result["serverInfo"]) ? result["serverInfo"] : {};
    const ownName = [name, serverVersion].filter((part) => typeof part === "string").join(" ");
    if (typeof name === "string") this.#serverName = toVisibleLine(ownName, 100);
    this.#connection.notify("initialized", {});
    if (settings) this.#connection.notify("workspace/didChangeConfiguration", { settings });
  }

  #takeNotification(method: string, params: unknown, messageBytes: number): void {
    if (!isRecord(params)) return;
    if (method === "textDocument/publishDiagnostics") {
      const path = toPath(params["uri"]);
      const reported = params["version"];
      if (path === undefined) return;
      const documentVersion = typeof reported === "number" ? reported : null;
      this.diagnostics.set(path, params["diagnostics"], { version: documentVersion, messageBytes });
    } else if (method === "$/progress") this.#takeProgress(params);
  }

  #takeProgress({ token, value }: Fields): void {
    const isToken = typeof token === "number" || (typeof token === "string" && token.length <= maxTokenLength);
    if (!isToken || !isRecord(value)) return;
    if (value["kind"] === "end") this.#progress.delete(token);
    else if (value["kind"] === "begin" && this.#progress.size < maxProgress) this.#progress.add(token);
  }

  #answerRequest(method: string, params: Fields): unknown {
    switch (method) {
      case "workspace/configuration":
        return this.#getSettings(params["items"]);
      case "workspace/applyEdit":
        return this.#takeEdit(params["edit"]);
      case "workspace/workspaceFolders":
        return [{ uri: pathToFileURL(this.root).href, name: basename(this.root) || "workspace" }];
      case "window/showDocument":
        return { success: false };
      case "client/registerCapability":
        return this.#registrations.add(params["registrations"]);
      case "client/unregisterCapability":
        // The protocol writes it so.
        return this.#registrations.remove(params["unregisterations"]);
      case "window/showMessageRequest":
      case "window/workDoneProgress/create":
      case "workspace/codeLens/refresh":
      case "workspace/diagnostic/refresh":
      case "workspace/inlayHint/refresh":
      case "workspace/semanticTokens/refresh":
        return null;
      default:
        throw new UnknownMethod();
    }
  }

  #getSettings(items: unknown): unknown[] {
    if (!Array.isArray(items)) return [];
    // The answer is many times as large as the question.
    if (items.length > maxSettings)
      throw new RefusedRequest(`At most ${maxSettings} settings can be asked for at once.`);
    return items.map((item) => this.#getSetting(item));
  }

  /** The setting of a section, such as `python.analysis`; null if there is none. */
  #getSetting(item: unknown): unknown {
    const { settings = {} } = this.#options;
    const section = isRecord(item) ? item["section"] : undefined;
    if (typeof section !== "string" || section === "") return settings;
    let value: unknown = settings;
    for (const part of section.split(".")) {
      value = isRecord(value) && Object.hasOwn(value, part) ? value[part] : undefined;
    }
    return value ?? null;
  }

  #takeEdit(edit: unknown): object {
    if (!this.#wantedEdits)
      return { applied: false, failureReason: "Files are changed only while a command of the client is executed." };
    if (this.#wantedEdits.length >= maxWantedEdits)
      return { applied: false, failureReason: `A command may ask for ${maxWantedEdits} edits at most.` };
    this.#wantedEdits.push(edit);
    return { applied: true };
  }
}
