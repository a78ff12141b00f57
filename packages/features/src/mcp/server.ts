/** A server that the sessions of one directory share: connected when it is used, and again after it ended, within limits. */
import type { Clock } from "@tau/ai";
import { type Fetch, Listeners } from "@tau/ai/internal";
import type { McpConnection } from "./connection.ts";
import { makeServerCache } from "./definition-cache.ts";
import type { McpDefinitions } from "./definitions.ts";
import type { McpEntry, McpTarget, StdioTarget } from "./entry.ts";
import { McpError, type McpFailure } from "./failure.ts";
import type { CreateAuthProvider, McpLog, McpPerson, McpProgram, McpSpawn } from "./ports.ts";
import type { SandboxNetwork } from "@tau/sandbox";
import { pathToFileURL } from "node:url";

interface McpServerParts {
  entry: McpEntry;
  /** With its values filled in. */
  target: McpTarget;
  /** The network of a program; undefined: that of the model's commands. */
  network: SandboxNetwork | undefined;
  cwd: string;
  agentDir: string;
  version: string;
  clock: Clock;
  spawn: McpSpawn;
  fetch: Fetch;
  createAuthProvider: CreateAuthProvider | undefined;
  log: McpLog;
}

export type McpServerState =
  | { readonly kind: "idle" }
  | { readonly kind: "starting" }
  | {
      readonly kind: "ready";
      readonly definitions: McpDefinitions;
      /** Says in sentences which of its definitions cannot be used. */
      readonly problems: readonly string[];
      readonly revision: string | undefined;
    }
  | { readonly kind: "failed"; readonly failure: McpFailure };

/** Variables that every server gets. */
const inheritedVariables = ["PATH", "HOME", "LANG", "TMPDIR"];

/** A server that ends by itself is started again this often in this time. */
const maxRestarts = 3;
const restartWindowMs = 5 * 60_000;
/** Lists are fetched again after a change at most this often. */
const minRefreshMs = 1_000;

export class McpServer {
  readonly #parts: McpServerParts;
  readonly #listeners: Listeners<McpServerState>;
  /** The people whose calls are running, the last is asked. */
  readonly #people: McpPerson[] = [];
  #state: McpServerState = { kind: "idle" };
  #connection: McpConnection | undefined;
  #opening: Promise<McpConnection> | undefined;
  /** When it ended or could not be connected. */
  #ends: number[] = [];
  #refresh: (() => void) | undefined;
  #isClosed = false;

  constructor(parts: McpServerParts) {
    this.#parts = parts;
    this.#listeners = new Listeners((error) => parts.log(`A listener failed: ${String(error)}`));
  }

  get state(): McpServerState {
    return this.#state;
  }

  /** The end of what the server printed on standard error, also after it ended. */
  get stderr(): string {
    return this.#connection?.stderr ?? this.#lastStderr;
  }
  #lastStderr = "";

  onChange(listener: (state: McpServerState) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** Connects unless it is connected. Rejects with `McpError`. Who waits no longer leaves the connection to the others. */
  async connect(): Promise<McpConnection> {
    if (this.#isClosed) throw new McpError({ kind: "aborted", message: "The session was closed." });
    if (this.#connection) return this.#connection;
    this.#opening ??= this.#open().finally(() => (this.#opening = undefined));
    return await this.#opening;
  }

  /** Runs requests for a person, who is asked what the server wants to know meanwhile. */
  async run<T>(person: McpPerson, work: (connection: McpConnection) => Promise<T>): Promise<T> {
    const connection = await this.connect();
    this.#people.push(person);
    try {
      return await work(connection);
    } finally {
      this.#people.splice(this.#people.lastIndexOf(person), 1);
    }
  }

  /** Ends the connection, so that the next use connects again, however often it has ended before. */
  async stop(): Promise<void> {
    this.#ends = [];
    await this.#opening?.catch(() => undefined);
    await this.#disconnect();
    this.#setState({ kind: "idle" });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#refresh?.();
    // A server that is being started is ended as soon as it can be.
    await this.#opening?.catch(() => undefined);
    await this.#disconnect();
    this.#listeners.clear();
  }

  async #disconnect(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await connection?.close();
  }

  async #open(): Promise<McpConnection> {
    this.#checkRestarts();
    this.#setState({ kind: "starting" });
    // Late: the library is large.
    const { openConnection } = await import("./connection.ts");
    const { entry, clock, version } = this.#parts;
    try {
      let opened: McpConnection | undefined;
      const connection = await openConnection(await this.#createEndpoint(), {
        name: entry.name,
        version,
        timeoutMs: entry.timeoutMs,
        clock,
        fetch: this.#parts.fetch,
        handlers: {
          elicit: (params, signal) => this.#getPerson().elicit(entry.name, params, signal),
          sample: (params, signal) => this.#getPerson().sample(entry.name, params, signal),
          listRoots: () => [{ uri: pathToFileURL(this.#parts.cwd).href }],
          onChanged: () => opened && this.#refreshLater(opened),
          onClose: () => opened && this.#ended(opened),
          log: (message, level) => this.#parts.log(`${entry.name}: ${message}`, level),
        },
      });
      opened = connection;
      const { definitions, problems } = await connection.listDefinitions().catch(async (error: unknown) => {
        await connection.close();
        this.#lastStderr = connection.stderr;
        throw error;
      });
      if (this.#isClosed || connection.hasEnded) {
        await connection.close();
        throw connection.toError(new Error("closed"), "list tools");
      }
      this.#connection = connection;
      this.#setState({ kind: "ready", definitions, problems, revision: connection.revision });
      return connection;
    } catch (error) {
      this.#ends.push(clock.monotonic());
      if (error instanceof McpError && error.stderr !== "") this.#lastStderr = error.stderr;
      const failure = toFailure(error, entry.name);
      this.#setState({ kind: "failed", failure });
      throw error instanceof McpError ? error : new McpError(failure, { cause: error });
    }
  }

  #checkRestarts(): void {
    const { clock, entry } = this.#parts;
    this.#ends = this.#ends.filter((endedAt) => clock.monotonic() - endedAt < restartWindowMs);
    if (this.#ends.length <= maxRestarts) return;
    const last = this.#state.kind === "failed" ? ` ${this.#state.failure.message}` : "";
    const times = `${this.#ends.length} times in ${restartWindowMs / 60_000} minutes`;
    const message = `The MCP server ${entry.name} failed ${times} and is not started again. /mcp restarts it.${last}`;
    throw new McpError({ kind: "crashed", message });
  }

  #ended(connection: McpConnection): void {
    if (this.#connection !== connection) return;
    this.#connection = undefined;
    this.#lastStderr = connection.stderr;
    this.#ends.push(this.#parts.clock.monotonic());
    const { message, kind } = connection.toError(new Error("closed"), "wait");
    this.#setState({ kind: "failed", failure: { kind, message } });
  }

  /** Collects changes: however many come, the lists are fetched once. */
  #refreshLater(connection: McpConnection): void {
    if (this.#refresh || this.#isClosed) return;
    this.#refresh = this.#parts.clock.setTimer(minRefreshMs, () => {
      this.#refresh = undefined;
      void this.#refreshNow(connection);
    });
  }

  async #refreshNow(connection: McpConnection): Promise<void> {
    try {
      const { definitions, problems } = await connection.listDefinitions();
      if (this.#connection === connection)
        this.#setState({ kind: "ready", definitions, problems, revision: connection.revision });
    } catch (error) {
      this.#parts.log(`${this.#parts.entry.name}: its changed lists cannot be fetched: ${String(error)}`);
    }
  }

  async #createEndpoint() {
    const { target, entry, createAuthProvider } = this.#parts;
    if (target.type === "stdio") return { kind: "program", start: () => this.#start(target) } as const;
    return { kind: "address", target, authProvider: await createAuthProvider?.(entry, target) } as const;
  }

  async #start({ command, args, env, cwd, sandbox }: StdioTarget): Promise<McpProgram> {
    const { entry, agentDir, network, spawn } = this.#parts;
    const cache = makeServerCache(agentDir, entry.hash);
    const caches = { XDG_CACHE_HOME: cache, npm_config_cache: `${cache}/npm`, UV_CACHE_DIR: `${cache}/uv` };
    const own = sandbox === false ? {} : caches;
    const { readablePaths } = entry.source;
    return await spawn(command, args, {
      cwd: cwd ?? this.#parts.cwd,
      env: { ...own, ...env },
      inherits: inheritedVariables,
      sandbox:
        sandbox === false
          ? false
          : {
              ...(network && { network }),
              allowedPaths: [cache, ...(sandbox?.allowedPaths ?? [])],
              ...(readablePaths && { readablePaths }),
            },
    });
  }

  #getPerson(): McpPerson {
    const person = this.#people.at(-1);
    if (person) return person;
    throw new Error("Nobody can be asked: no call is in progress.");
  }

  #setState(state: McpServerState): void {
    this.#state = state;
    this.#listeners.emit(state);
  }
}

function toFailure(error: unknown, name: string): McpFailure {
  if (error instanceof McpError) return { kind: error.kind, message: error.message };
  const text = error instanceof Error ? error.message : String(error);
  return { kind: "unreachable", message: `The MCP server ${name} cannot be started: ${text}` };
}
