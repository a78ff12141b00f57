/** Requests of the code of a kernel to the host, each with the rights of the call that it was made in. */
import { IpcChannel, type KernelId, type KernelMessage, type KernelResult } from "./ipc.ts";
import { KernelError, type KernelErrorKind } from "./kernel-error.ts";
import { type FromKernel, getAnswerType, type KernelRequest } from "./messages.ts";

/** More requests of one kernel at the same time are refused. */
const maxRequests = 1_000;

/** Does for a kernel what its code asks for, with the rights of one call. */
export type AnswerRequest = (request: KernelRequest) => Promise<unknown>;

interface RequestsOptions {
  id: KernelId;
  /** Sends an answer to the kernel. Rejects for a payload that is not JSON. */
  send(type: string, payload: Readonly<Record<string, unknown>>): Promise<void>;
}

export class KernelRequests {
  readonly #options: RequestsOptions;
  /** Answers the requests of a cell or a call, by its id. */
  readonly #scopes = new Map<string, AnswerRequest>();
  /** The host decides about requests: they wait for it in the channel. */
  readonly #channel = IpcChannel(maxRequests);
  /** Requests that were not answered, by their ids. */
  readonly #waiting = new Map<number, { wire: string; request: KernelRequest; answer: AnswerRequest }>();

  constructor(options: RequestsOptions) {
    this.#options = options;
    void this.#answerAll();
  }

  /** Requests of this cell or call are answered from now on. */
  enter(scope: string, answer: AnswerRequest): void {
    this.#scopes.set(scope, answer);
  }

  /** Later requests of this cell or call are refused. */
  leave(scope: string): void {
    this.#scopes.delete(scope);
  }

  accept({ id, scope, wire, request }: Extract<FromKernel, { type: "Request" }>): void {
    const answer = this.#scopes.get(scope);
    const refuse = (kind: KernelErrorKind, message: string) => void this.#reply(wire, id, { error: { message, kind } });
    if (!request) return refuse("invalid_arguments", `An argument of the call has the wrong type (${wire}).`);
    if (!answer) return refuse("over", "The cell that made this call is over. Await calls before the cell ends.");
    if (this.#waiting.has(id)) return refuse("failed", `There is another call with the id ${id}.`);
    if (this.#waiting.size >= maxRequests)
      return refuse("busy", `More than ${maxRequests} calls at once are not possible.`);
    this.#waiting.set(id, { wire, request, answer });
    const [own] = this.#channel;
    void own.send(toKernelMessage(this.#options.id, id, request)).catch(() => undefined);
  }

  /** Accepts nothing more. */
  close(): void {
    this.#channel[0].close();
  }

  async #answerAll(): Promise<void> {
    const [, host] = this.#channel;
    for (let message; (message = await host.recv());) void this.#answerOne((message.payload as { id: number }).id);
  }

  async #answerOne(id: number): Promise<void> {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    const { wire, request, answer } = waiting;
    let result: KernelResult;
    try {
      result = { value: (await answer(request)) ?? null };
    } catch (error) {
      result = { error: toWireError(error) };
    }
    this.#waiting.delete(id);
    void this.#reply(wire, id, result);
  }

  async #reply(wire: string, id: number, result: KernelResult): Promise<void> {
    const type = getAnswerType(wire);
    const to = type === "ToolResult" ? { to: this.#options.id } : {};
    try {
      await this.#options.send(type, { id, result, ...to });
    } catch (error) {
      // A value that cannot be written, such as one with too many levels.
      await this.#options.send(type, { id, result: { error: toWireError(error) }, ...to });
    }
  }
}

function toKernelMessage(from: KernelId, id: number, request: KernelRequest): KernelMessage {
  if (request.kind === "exec") {
    const type = request.language === "python" ? "PythonExec" : "BunExec";
    return { type, payload: { code: request.code, id } };
  }
  if (request.kind === "tool")
    return { type: "ToolCall", payload: { from, id, tool: request.tool, params: request.params } };
  const { kind: tool, ...params } = request;
  return { type: "ToolCall", payload: { from, id, tool, params } };
}

function toWireError(error: unknown): { message: string; kind: string } {
  const message = error instanceof Error ? error.message : String(error);
  return { message, kind: error instanceof KernelError ? error.kind : "failed" };
}
