/** Clients of other nodes whose requests are served here. */
import { isRecord, tryParseJson, withoutUndefined } from "@tau/ai/internal";
import { GatewayError, type MethodCall, type RequestContext, toFault } from "@tau/gateway/port";
import type { NodeLink } from "./node-link.ts";
import type { ClientData, NodeMessage } from "./node-message.ts";
import { RemoteClient } from "./remote-client.ts";

export type RemoteRequest = RequestContext & MethodCall;

interface RemoteClientsOptions {
  link: NodeLink;
  /** Runs a request here, and answers with its payload. */
  run: (request: RemoteRequest) => Promise<unknown>;
  log: (line: string) => void;
}

export class RemoteClients {
  readonly #options: RemoteClientsOptions;
  readonly #clients = new Map<string, RemoteClient>();

  constructor(options: RemoteClientsOptions) {
    this.#options = options;
  }

  take(nodeId: string, message: NodeMessage, content: Buffer): void {
    if (message.kind === "call") return void this.#serve(nodeId, message, content);
    if (!("connectionId" in message)) return;
    const client = this.#clients.get(toKey(nodeId, message.connectionId));
    if (message.kind === "taken") client?.onTaken(message.bytes);
    if (message.kind === "gone") client?.leave();
  }

  /** All of a node, or all: they get nothing more from here. */
  leave(nodeId?: string): void {
    for (const client of this.#clients.values()) {
      if (nodeId === undefined || client.nodeId === nodeId) client.leave();
    }
  }

  async #serve(nodeId: string, call: NodeMessage & { kind: "call" }, content: Buffer): Promise<void> {
    const { callId, method, requestId, requestKey } = call;
    const { link } = this.#options;
    const afterResponse: (() => void)[] = [];
    try {
      const params = tryParseJson(content.toString());
      if (!isRecord(params)) throw new GatewayError("invalid_parameters", "The parameters have to be an object.");
      const client = this.#getClient(nodeId, call.client);
      const payload = await this.#options.run({
        client,
        requestId,
        ...withoutUndefined({ requestKey }),
        method,
        params,
        afterResponse: (act) => void afterResponse.push(act),
      });
      link.send(nodeId, { kind: "answer", callId }, Buffer.from(JSON.stringify(payload ?? null)));
      for (const act of afterResponse) act();
    } catch (error) {
      const fault = toFault(error);
      if (fault.code === "internal") this.#options.log(`${method}: ${String(error)}`);
      link.send(nodeId, { kind: "fault", callId, fault });
    }
  }

  #getClient(nodeId: string, data: ClientData): RemoteClient {
    const key = toKey(nodeId, data.connectionId);
    const known = this.#clients.get(key);
    known?.update(data);
    if (known) return known;
    const client = new RemoteClient(nodeId, data, this.#options.link);
    this.#clients.set(key, client);
    client.onClosed(() => this.#clients.delete(key));
    return client;
  }
}

const toKey = (nodeId: string, connectionId: string) => `${nodeId}/${connectionId}`;
