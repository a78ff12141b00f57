/** `tau mcp serve`: sessions as tools over MCP, on standard input and output. */
import { Connection } from "../json-rpc/connection.ts";
import { type Incoming, JsonRpcError, type Params, type RequestId } from "@tau/protocol/json-rpc";
import { answerRequest, getProgressToken, readText, type SessionReport, type ToolName } from "@tau/protocol/mcp-server";
import { serveLines } from "../json-rpc/serve-lines.ts";
import type { Io } from "../commands/command.ts";
import type { ExitCode } from "../process/exit-codes.ts";
import type { SessionOptions } from "../start/session-options.ts";
import { ServedSessions } from "./served-sessions.ts";

/** Serves until standard input ends. Then all runs are ended, and the exit code is 0. */
export async function serveSessions(options: SessionOptions, io: Io): Promise<ExitCode> {
  const server = new Server(new ServedSessions({ ...options, mode: "rpc" }, io), new Connection(io.out));
  return await serveLines(server, io);
}

interface CallContext {
  signal: AbortSignal;
  onActivity: (activity: string) => void;
}

class Server {
  readonly #sessions: ServedSessions;
  readonly #connection: Connection;
  readonly #open = new Map<RequestId, AbortController>();
  readonly #work = new Set<Promise<void>>();

  constructor(sessions: ServedSessions, connection: Connection) {
    this.#sessions = sessions;
    this.#connection = connection;
  }

  take(incoming: Incoming): void {
    switch (incoming.kind) {
      case "malformed":
        return this.#connection.fail(incoming.id, incoming.error);
      case "notification":
        if (incoming.method === "notifications/cancelled")
          this.#open.get(incoming.params["requestId"] as RequestId)?.abort();
        return;
      case "request": {
        if (this.#open.has(incoming.id)) {
          const message = `A request with the id ${JSON.stringify(incoming.id)} is not answered yet.`;
          return this.#connection.fail(incoming.id, new JsonRpcError("invalid_request", message));
        }
        const work = this.#answer(incoming);
        this.#work.add(work);
        void work.then(() => this.#work.delete(work));
        return;
      }
      case "blank":
      case "response":
      case "error":
        // Nothing is ever asked of the client.
        return;
      default:
        return incoming satisfies never;
    }
  }

  /** Ends all runs, and writes nothing more. */
  async close(): Promise<void> {
    this.#connection.close();
    for (const controller of this.#open.values()) controller.abort();
    await this.#sessions.closeAll();
    await Promise.all(this.#work);
  }

  /** Never rejects. A request that was cancelled gets no answer. */
  async #answer({ id, method, params }: Extract<Incoming, { kind: "request" }>): Promise<void> {
    const controller = new AbortController();
    this.#open.set(id, controller);
    try {
      const onActivity = this.#createProgress(params, controller.signal);
      const result = await answerRequest(method, params, (name, args) =>
        this.#run(name, args, { signal: controller.signal, onActivity }),
      );
      if (!controller.signal.aborted) this.#connection.respond(id, result);
    } catch (error) {
      if (!controller.signal.aborted) this.#connection.fail(id, error);
    } finally {
      this.#open.delete(id);
    }
  }

  /** Reports progress if the client wants it. */
  #createProgress(params: Params, signal: AbortSignal): CallContext["onActivity"] {
    const token = getProgressToken(params);
    let progress = 0;
    return (message) => {
      if (token === undefined || signal.aborted) return;
      this.#connection.notify("notifications/progress", { progressToken: token, progress: ++progress, message });
    };
  }

  async #run(name: ToolName, args: Params, context: CallContext): Promise<SessionReport> {
    switch (name) {
      case "run": {
        const prompt = readText(args, "prompt");
        const id = args["session"] === undefined ? undefined : readText(args, "session");
        const session = await this.#sessions.begin(prompt, { id, signal: context.signal });
        if (args["wait"] === false) return session.report();
        await session.wait(context);
        if (context.signal.aborted) await session.cancel();
        return session.report();
      }
      case "steer": {
        const session = this.#sessions.get(readText(args, "session"));
        await session.steer(readText(args, "message"));
        return session.report();
      }
      case "status":
        return this.#sessions.get(readText(args, "session")).report();
      case "result": {
        const session = this.#sessions.get(readText(args, "session"));
        await session.wait(context);
        return session.report();
      }
      default:
        return name satisfies never;
    }
  }
}
