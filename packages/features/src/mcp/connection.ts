/** A connection to a server, over the library of MCP. Loaded with the first server that is used. */
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  type GetPromptResult,
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  type ReadResourceResult,
  type RequestOptions,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from "@modelcontextprotocol/client";
import type { Clock } from "@tau/ai";
import { type Fetch, getErrorMessage } from "@tau/ai/internal";
import { createBoundedFetch } from "./bounded-fetch.ts";
import { type McpDefinitions, type McpToolDefinition, parsePrompts, parseTools } from "./definitions.ts";
import type { HttpTarget } from "./entry.ts";
import { McpError } from "./failure.ts";
import type { ToolLogLevel } from "@tau/tools";
import type { ElicitationAnswer, McpAuthProvider, McpLog, McpProgram, SamplingAnswer } from "./ports.ts";
import { getRequestLimits, RequestTimer } from "./request-timer.ts";
import { StdioTransport } from "./stdio-transport.ts";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";

/** Answers what the server wants while it is connected. */
interface ConnectionHandlers {
  elicit(params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<ElicitationAnswer>;
  sample(params: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<SamplingAnswer>;
  listRoots(): readonly { uri: string; name?: string }[];
  /** Called when its tools or prompts have changed; a server may say so very often. */
  onChanged(): void;
  onClose(): void;
  log: McpLog;
}

interface OpenConnectionOptions {
  /** For messages. */
  name: string;
  version: string;
  timeoutMs: number;
  clock: Clock;
  fetch: Fetch;
  handlers: ConnectionHandlers;
  signal?: AbortSignal;
}

/** A program to talk to, or an address. */
type Endpoint =
  | { readonly kind: "program"; start(): Promise<McpProgram> }
  | { readonly kind: "address"; readonly target: HttpTarget; readonly authProvider: McpAuthProvider | undefined };

/** Levels of servers in the debug log; those above are errors. */
const logLevels: Readonly<Record<string, ToolLogLevel>> = {
  debug: "debug",
  info: "info",
  notice: "info",
  warning: "warn",
};

/** How long a server may take to say which revision it speaks. One that says nothing is asked as an older one. */
const maxProbeMs = 10_000;

/** Rejects with `McpError`. */
export async function openConnection(endpoint: Endpoint, options: OpenConnectionOptions): Promise<McpConnection> {
  const first = new McpConnection(endpoint, options);
  try {
    await first.connect();
    return first;
  } catch (error) {
    await first.close();
    const fallback = getFallback(endpoint, error, first);
    if (!fallback || options.signal?.aborted) throw first.toError(error, connecting);
    const second = new McpConnection(fallback.endpoint, options);
    try {
      await second.connect(fallback.isLegacy);
      return second;
    } catch (later) {
      await second.close();
      // The first answer is about the transport that people expect.
      throw fallback.isLegacy ? second.toError(later, connecting) : first.toError(error, connecting);
    }
  }
}

/** Some older programs end or say nothing when they are asked for their revision, and some older servers have only SSE. */
function getFallback(endpoint: Endpoint, error: unknown, connection: McpConnection) {
  if (endpoint.kind === "program") {
    const isSilent = error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout;
    const isOlder = isSilent || (connection.hasEnded && !(error instanceof McpError));
    return isOlder ? { endpoint, isLegacy: true } : undefined;
  }
  const status = error instanceof SdkHttpError ? error.status : undefined;
  if (endpoint.target.type !== "auto" || ![400, 404, 405, 406].includes(status ?? 0)) return undefined;
  return { endpoint: { ...endpoint, target: { ...endpoint.target, type: "sse" as const } }, isLegacy: false };
}

export class McpConnection {
  readonly #endpoint: Endpoint;
  readonly #options: OpenConnectionOptions;
  readonly #client: Client;
  readonly #timers = new Set<RequestTimer>();
  #stdio: StdioTransport | undefined;
  /** How many questions to a person are open. */
  #questions = 0;
  #hasEnded = false;

  constructor(endpoint: Endpoint, options: OpenConnectionOptions) {
    this.#endpoint = endpoint;
    const { handlers } = options;
    this.#options = {
      ...options,
      handlers: { ...handlers, log: (message, level) => handlers.log(this.#hide(message), level) },
    };
    this.#client = this.#createClient();
  }

  get hasEnded(): boolean {
    // While the revision is found out, the client does not follow the transport.
    return this.#hasEnded || (this.#stdio?.hasEnded ?? false);
  }

  /** The end of standard error; empty for an address. */
  get stderr(): string {
    return this.#stdio?.stderr ?? "";
  }

  /** The revision of the protocol that both sides speak. */
  get revision(): string | undefined {
    return this.#client.getNegotiatedProtocolVersion();
  }

  async connect(isLegacy = false): Promise<void> {
    const transport = await this.#createTransport();
    const { signal } = this.#options;
    await this.#limit({ what: connecting, signal }, (options) =>
      this.#client.connect(transport, { ...options, ...(isLegacy && { prior: { kind: "legacy" } }) }),
    );
    const { logging, tools, prompts } = this.#client.getServerCapabilities() ?? {};
    if (this.#client.getProtocolEra() === "modern") {
      if (tools?.listChanged || prompts?.listChanged) this.#followLists();
    } else if (logging) {
      // Servers that say they can and cannot are common.
      await this.#limit({ what: connecting, signal }, (options) =>
        this.#client.setLoggingLevel("warning", options),
      ).catch((error: unknown) => this.#options.handlers.log(getErrorMessage(error)));
    }
  }

  /** Nobody waits for it: a server that does not acknowledge it can still be used. */
  #followLists(): void {
    this.#client
      .listen({ toolsListChanged: true, promptsListChanged: true })
      .catch((error: unknown) => this.#options.handlers.log(`Its changes are not followed: ${getErrorMessage(error)}`));
  }

  /** Lists tools and prompts; a list that fails is empty, and among the problems. */
  async listDefinitions(signal?: AbortSignal): Promise<{ definitions: McpDefinitions; problems: readonly string[] }> {
    const { tools: hasTools, prompts: hasPrompts, resources } = this.#client.getServerCapabilities() ?? {};
    const limits = { what: "list tools", signal };
    const tools = hasTools
      ? await this.#request(limits, (options) => this.#client.listTools({}, { ...options, cacheMode: "refresh" }))
      : { tools: [] };
    const problems: string[] = [];
    const prompts = hasPrompts
      ? await this.#request({ what: "list prompts", signal }, (options) =>
          this.#client.listPrompts({}, { ...options, cacheMode: "refresh" }),
        ).catch((error: unknown) => {
          problems.push(`Its prompts cannot be listed: ${toVisibleLine(getErrorMessage(error), 300)}`);
          return { prompts: [] };
        })
      : { prompts: [] };
    const parsedTools = parseTools(tools.tools);
    const parsedPrompts = parsePrompts(prompts.prompts);
    const instructions = this.#client.getInstructions();
    return {
      definitions: {
        tools: parsedTools.definitions,
        prompts: parsedPrompts.definitions,
        hasResources: resources !== undefined,
        ...(instructions && { instructions: toVisible(instructions.slice(0, 4_000)) }),
      },
      problems: [...parsedTools.problems, ...problems, ...parsedPrompts.problems],
    };
  }

  /** Rejects with `McpError`. A tool that fails is a result with `isError`. */
  async callTool(
    tool: McpToolDefinition,
    args: Record<string, unknown>,
    { signal, onProgress }: { signal?: AbortSignal | undefined; onProgress?: (text: string) => void },
  ): Promise<CallToolResult> {
    return await this.#request({ what: "call a tool", signal, onProgress }, (options) =>
      // Without an output schema: a bad one would cost the call, and results are checked by the caller.
      this.#client.callTool(
        { name: tool.name, arguments: args },
        { ...options, toolDefinition: { name: tool.name, inputSchema: { ...tool.inputSchema, type: "object" } } },
      ),
    );
  }

  async listResources(signal?: AbortSignal): Promise<ListResourcesResult> {
    return await this.#request({ what: "list resources", signal }, (options) =>
      this.#client.listResources({}, options),
    );
  }

  async listResourceTemplates(signal?: AbortSignal): Promise<ListResourceTemplatesResult> {
    return await this.#request({ what: "list resources", signal }, (options) =>
      this.#client.listResourceTemplates({}, options),
    );
  }

  async readResource(uri: string, signal?: AbortSignal): Promise<ReadResourceResult> {
    return await this.#request({ what: "read a resource", signal }, (options) =>
      this.#client.readResource({ uri }, options),
    );
  }

  async getPrompt(name: string, args: Record<string, string>, signal?: AbortSignal): Promise<GetPromptResult> {
    return await this.#request({ what: "fill in a prompt", signal }, (options) =>
      this.#client.getPrompt({ name, arguments: args }, options),
    );
  }

  /** Never rejects. */
  async close(): Promise<void> {
    try {
      await this.#client.close();
      // A client that was never connected does not close what was started for it.
      await this.#stdio?.close();
    } catch (error) {
      this.#options.handlers.log(`Closing failed: ${getErrorMessage(error)}`);
    }
  }

  /** An error as it is shown; the end of standard error says why a program ended. */
  toError(error: unknown, what: string): McpError {
    if (error instanceof McpError) return error;
    const { name } = this.#options;
    // The error of a request may hold what was sent.
    const cause = { stderr: this.stderr, ...(!this.#authProvider && { cause: error }) };
    if (error instanceof UnauthorizedError || (error instanceof SdkHttpError && error.status === 401)) {
      const message = `The MCP server ${name} wants you to sign in. Use /mcp, or run \`tau mcp login ${name}\`.`;
      return new McpError({ kind: "login_required", message }, cause);
    }
    const problem = this.#stdio?.problem;
    const lastLine = toVisibleLine(this.stderr.trim().split("\n").at(-1) ?? "", 300);
    if (this.hasEnded) {
      const why = problem ?? (lastLine === "" ? "It printed no reason." : `Its last line: ${lastLine}`);
      return new McpError({ kind: "unreachable", message: `The MCP server ${name} ended. ${why}` }, cause);
    }
    // The library checks answers recursively.
    const reason = error instanceof RangeError ? "its answer is nested too deeply" : getErrorMessage(error);
    const text = toVisibleLine(this.#hide(reason), 500);
    const isLocal = error instanceof SdkError;
    const kind = isLocal && what === connecting ? "unreachable" : "server";
    return new McpError({ kind, message: `The MCP server ${name} failed (${what}): ${text}` }, cause);
  }

  get #authProvider(): McpAuthProvider | undefined {
    return this.#endpoint.kind === "address" ? this.#endpoint.authProvider : undefined;
  }

  #hide(text: string): string {
    return this.#authProvider?.hide(text) ?? text;
  }

  #createClient(): Client {
    const { handlers, version, timeoutMs } = this.#options;
    const clientOptions: ClientOptions = {
      capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: Math.min(maxProbeMs, timeoutMs) } },
      jsonSchemaValidator: acceptAll,
    };
    const client = new Client({ name: "tau", version }, clientOptions);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library has no other way
    client.onerror = (error) => handlers.log(toVisibleLine(error.message, 500));
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library has no other way
    client.onclose = () => {
      this.#hasEnded = true;
      handlers.onClose();
    };
    client.setRequestHandler("elicitation/create", async (request, context) => ({
      ...(await this.#ask(() => handlers.elicit(request.params, context.mcpReq.signal))),
    }));
    client.setRequestHandler("sampling/createMessage", async (request, context) => ({
      ...(await this.#ask(() => handlers.sample(request.params, context.mcpReq.signal))),
    }));
    client.setRequestHandler("roots/list", () => ({ roots: handlers.listRoots().map((root) => ({ ...root })) }));
    const onChanged = () => handlers.onChanged();
    client.setNotificationHandler("notifications/tools/list_changed", onChanged);
    client.setNotificationHandler("notifications/prompts/list_changed", onChanged);
    client.setNotificationHandler("notifications/message", ({ params }) =>
      handlers.log(
        `${params.level}: ${toVisibleLine(JSON.stringify(params.data) ?? "", 1_000)}`,
        logLevels[params.level] ?? "error",
      ),
    );
    return client;
  }

  async #createTransport(): Promise<Transport> {
    const endpoint = this.#endpoint;
    if (endpoint.kind === "program") {
      this.#stdio = new StdioTransport(await endpoint.start());
      return this.#stdio;
    }
    const { target, authProvider } = endpoint;
    const options = {
      fetch: createBoundedFetch(this.#options.fetch),
      requestInit: { headers: { ...target.headers } },
      ...(authProvider && { authProvider }),
    };
    const url = new URL(target.url);
    return target.type === "sse"
      ? new SSEClientTransport(url, options)
      : new StreamableHTTPClientTransport(url, options);
  }

  /** While a person thinks, no request runs out of time. */
  async #ask<T>(question: () => Promise<T>): Promise<T> {
    this.#questions++;
    for (const timer of this.#timers) timer.pause();
    try {
      return await question();
    } finally {
      this.#questions--;
      for (const timer of this.#timers) timer.resume();
    }
  }

  async #request<T>(limits: RequestPurpose, send: (options: RequestOptions) => Promise<T>): Promise<T> {
    try {
      return await this.#limit(limits, send);
    } catch (error) {
      throw this.toError(error, limits.what);
    }
  }

  /** The library's own limit does not stop while a person is asked, so it is out of reach. */
  async #limit<T>(purpose: RequestPurpose, send: (options: RequestOptions) => Promise<T>): Promise<T> {
    const { clock, timeoutMs, name } = this.#options;
    const { what, signal, onProgress } = purpose;
    const expired = new AbortController();
    const timer = new RequestTimer(clock, getRequestLimits(timeoutMs), () => expired.abort());
    for (let open = 0; open < this.#questions; open++) timer.pause();
    this.#timers.add(timer);
    try {
      return await send({
        timeout: libraryTimeoutMs,
        signal: signal ? AbortSignal.any([expired.signal, signal]) : expired.signal,
        onprogress: ({ progress, total, message }) => {
          timer.reset();
          onProgress?.(formatProgress(progress, total, message));
        },
      });
    } catch (error) {
      if (expired.signal.aborted) {
        const message = `The MCP server ${name} did not answer within ${timeoutMs / 1_000} s (${what}). Its "timeout" in mcp.json is in seconds.`;
        throw new McpError({ kind: "timeout", message }, { cause: error });
      }
      if (signal?.aborted) throw new McpError({ kind: "aborted", message: "It was stopped." }, { cause: error });
      throw error;
    } finally {
      timer.end();
      this.#timers.delete(timer);
    }
  }
}

interface RequestPurpose {
  /** For messages. */
  what: string;
  signal?: AbortSignal | undefined;
  onProgress?: ((text: string) => void) | undefined;
}

const connecting = "connect";

/** The longest that timers of Node can wait. */
const libraryTimeoutMs = 2 ** 31 - 1;

/** Results are checked by the caller, in which a bad schema costs only the check. */
const acceptAll: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

function formatProgress(progress: number, total: number | undefined, message: string | undefined): string {
  const count = total === undefined ? String(progress) : `${progress} of ${total}`;
  return message ? `${toVisibleLine(message, 200)} (${count})` : count;
}
