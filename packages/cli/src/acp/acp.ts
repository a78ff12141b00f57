/**
 * `tau acp`: the Agent Client Protocol, version 1, over standard input and output, for editors. Lines are read at all times, since
 * an answer to a request of ours may be the next one; requests about one session are carried out in their order.
 */
import { getErrorMessage } from "@tau/ai/internal";
import type { Io } from "../commands/command.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { Connection } from "../json-rpc/connection.ts";
import { type Incoming, JsonRpcError } from "@tau/protocol/json-rpc";
import { serveLines } from "../json-rpc/serve-lines.ts";
import { type Client, createClient, findMethod } from "./methods.ts";
import { RequestOrder } from "./request-order.ts";
import type { RequestId } from "./schema.generated.ts";

/** Serves until standard input ends. Then all runs are ended, the logs are written, and the exit code is 0. */
export async function runAcp(options: SessionOptions, io: Io): Promise<ExitCode> {
  if (io.terminal.input)
    io.err(
      "tau: this is for editors, which send messages of ACP on standard input. See tau help editors. Ctrl-D ends it.\n",
    );
  const connection = new Connection(io.out);
  // The mode that extensions see; it also keeps questions off the terminal.
  const server = new Server(createClient({ ...options, mode: "rpc" }, io, connection));
  return await serveLines(server, io);
}

/** A request that is not answered yet. */
interface OpenRequest {
  method: string;
  /** Empty for a request about no session. */
  sessionId: string;
  controller: AbortController;
}

class Server {
  readonly #client: Client;
  readonly #order = new RequestOrder();
  readonly #open = new Map<RequestId, OpenRequest>();
  readonly #work = new Set<Promise<void>>();

  constructor(client: Client) {
    this.#client = client;
  }

  take(incoming: Incoming): void {
    const { connection } = this.#client;
    switch (incoming.kind) {
      case "blank":
        return;
      case "response":
      case "error":
        return connection.take(incoming);
      case "malformed":
        return connection.fail(incoming.id, incoming.error);
      case "notification": {
        const { method, params } = incoming;
        if (method === "$/cancel_request") this.#open.get(params["requestId"] as RequestId)?.controller.abort();
        if (method === "session/cancel") this.#cancel(String(params["sessionId"]));
        return;
      }
      case "request":
        if (!this.#open.has(incoming.id)) return this.#add(this.#answer(incoming));
        return connection.fail(
          incoming.id,
          new JsonRpcError(
            "invalid_request",
            `A request with the id ${JSON.stringify(incoming.id)} is not answered yet.`,
          ),
        );
      default:
        return incoming satisfies never;
    }
  }

  /** Ends everything, and writes nothing more. */
  async close(): Promise<void> {
    const { connection, sessions } = this.#client;
    connection.close();
    for (const { controller } of this.#open.values()) controller.abort();
    await sessions.closeAll();
    await Promise.all(this.#work);
  }

  #add(work: Promise<void>): void {
    this.#work.add(work);
    void work.then(() => this.#work.delete(work));
  }

  /** Also a prompt that waits for requests before it. */
  #cancel(sessionId: string): void {
    for (const { method, controller, ...request } of this.#open.values())
      if (method === "session/prompt" && request.sessionId === sessionId) controller.abort();
    const { sessions, io } = this.#client;
    const cancelled = sessions.find(sessionId)?.cancel();
    if (cancelled) this.#add(cancelled.catch((error: unknown) => io.err(`tau: ${getErrorMessage(error)}\n`)));
  }

  /** Never rejects: errors are sent as responses. */
  async #answer({ id, method, params }: Extract<Incoming, { kind: "request" }>): Promise<void> {
    const client = this.#client;
    const controller = new AbortController();
    const sessionId = typeof params["sessionId"] === "string" ? params["sessionId"] : "";
    this.#open.set(id, { method, sessionId, controller });
    try {
      const { isLong, run } = findMethod(client, method, params);
      const work = () => run({ client, id, signal: controller.signal });
      const { result, after } = await this.#order.run(sessionId, isLong, work);
      client.connection.respond(id, result);
      after?.();
    } catch (error) {
      client.connection.fail(id, error);
    } finally {
      this.#open.delete(id);
    }
  }
}
