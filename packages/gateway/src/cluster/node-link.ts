/**
 * Messages between nodes. They go to the subject of a node, whose last part is the name of the sender: the servers let each
 * node use only its own, so that none can speak for another.
 */
import { headers as createHeaders, type Msg, type Subscription } from "@nats-io/transport-node";
import type { GatewayFault, GatewayScope } from "@tau/protocol/gateway";
import type { ClientAbilities } from "../client.ts";
import { type Bus, isOutage } from "./bus.ts";
import type { Membership } from "./membership.ts";
import { headerNames } from "./names.ts";

/** A client of another node. */
export interface ClientData {
  connectionId: string;
  deviceId: string;
  scopes: GatewayScope[];
  abilities: ClientAbilities;
}

/** What nodes say to each other. Some have content besides. */
export type NodeMessage =
  /** A request of a client. The content is its parameters. */
  | { kind: "call"; callId: string; client: ClientData; method: string; requestId: string }
  /** The content is the payload. */
  | { kind: "answer"; callId: string }
  | { kind: "fault"; callId: string; fault: GatewayFault }
  /** The content is a frame for a client. */
  | { kind: "frame"; connectionId: string }
  /** How many bytes of frames a client has taken so far. */
  | { kind: "taken"; connectionId: string; bytes: number }
  | { kind: "abilities"; connectionId: string; abilities: ClientAbilities }
  | { kind: "close"; connectionId: string; code: number; reason: string }
  /** A client has left. */
  | { kind: "gone"; connectionId: string };

export interface LinkOptions {
  bus: Bus;
  membership: Membership;
  /** Of this node. */
  name: string;
  take: (fromNodeId: string, message: NodeMessage, content: Buffer) => void;
}

const messageHeader = "Tau-Message";
/** What headers may take of a message. */
const headerBytes = 8192;
/** A node that is there says at once that it has a call. */
const deliveryMs = 2_000;

export class NodeLink {
  readonly #options: LinkOptions;
  readonly #subscription: Subscription;
  /** What has come of contents that need several messages, by sender. */
  readonly #parts = new Map<string, Buffer[]>();

  constructor(options: LinkOptions) {
    this.#options = options;
    this.#subscription = options.bus.nats.subscribe(`tau.to.${options.name}.*.*`, {
      callback: (_error, message) => this.#take(message),
    });
  }

  send(toNodeId: string, message: NodeMessage, content: Uint8Array = new Uint8Array()): void {
    const { nats, maxPayloadBytes } = this.#options.bus;
    const partBytes = maxPayloadBytes - headerBytes;
    for (let start = 0; start === 0 || start < content.length; start += partBytes) {
      const headers = this.#createHeaders(message);
      if (start + partBytes < content.length) headers.set(headerNames.more, "1");
      nats.publish(this.#getSubject(toNodeId), content.subarray(start, start + partBytes), { headers });
    }
  }

  /**
   * Sends a call. `absent`: the node is not there, so that nothing has happened; `sent`: it has the call, or may have it.
   * `too_large`: the servers do not take it.
   */
  async sendCall(
    toNodeId: string,
    message: NodeMessage,
    content: Uint8Array,
  ): Promise<"sent" | "absent" | "too_large"> {
    const { nats, maxPayloadBytes } = this.#options.bus;
    if (content.length > maxPayloadBytes - headerBytes) return "too_large";
    const headers = this.#createHeaders(message);
    try {
      await nats.request(this.#getSubject(toNodeId), content, { headers, timeout: deliveryMs });
      return "sent";
    } catch (error) {
      if (!isOutage(error)) throw error;
      // Without a subscriber, the server answers at once.
      const isAbsent = (error as { isNoResponders?: () => boolean }).isNoResponders?.() === true;
      return isAbsent || (error as Error).name === "NoResponders" ? "absent" : "sent";
    }
  }

  close(): void {
    this.#subscription.unsubscribe();
  }

  #getSubject(toNodeId: string): string {
    return `tau.to.${toNodeId}.${this.#options.name}`;
  }

  #createHeaders(message: NodeMessage) {
    const headers = createHeaders();
    headers.set(headerNames.node, this.#options.membership.nodeId);
    headers.set(messageHeader, Buffer.from(JSON.stringify(message)).toString("base64"));
    return headers;
  }

  #take(message: Msg): void {
    const { membership, take } = this.#options;
    const [, , name, incarnation, sender] = message.subject.split(".");
    const from = message.headers?.get(headerNames.node) ?? "";
    // To this process as it was before it was declared dead, or in the name of another node.
    if (!membership.isSelf(`${name}.${incarnation}`) || from.split(".")[0] !== sender) return;
    if (message.reply) message.respond();
    const parts = [...(this.#parts.get(from) ?? []), Buffer.from(message.data)];
    if (message.headers!.get(headerNames.more) === "1") return void this.#parts.set(from, parts);
    this.#parts.delete(from);
    const text = Buffer.from(message.headers!.get(messageHeader), "base64").toString();
    take(from, JSON.parse(text) as NodeMessage, parts.length === 1 ? parts[0]! : Buffer.concat(parts));
  }
}
