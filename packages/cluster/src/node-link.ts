/**
 * Messages between nodes. They go to the subject of a node, whose last part is the name of the sender: the servers let each
 * node use only its own, so that none can speak for another.
 */
import { headers as createHeaders, type Msg, type Subscription } from "@nats-io/transport-node";
import type { Clock } from "@tau/ai";
import { GatewayError, toFault } from "@tau/gateway/port";
import { type Bus, isOutage } from "./bus.ts";
import { Channel, type Packet } from "./channel.ts";
import { listen } from "./listen.ts";
import type { Membership } from "./membership.ts";
import { headerNames } from "./names.ts";
import { type NodeMessage, type ParsedMessage, parseNodeMessage } from "./node-message.ts";

interface LinkOptions {
  bus: Bus;
  membership: Membership;
  /** The name of this node. */
  name: string;
  clock: Clock;
  log: (line: string) => void;
}

type TakeMessage = (fromNodeId: string, message: NodeMessage, content: Buffer) => void;

/** Another node, as long as both are who they are. */
interface Peer {
  readonly channel: Channel;
  /** The parts that have come of a content that needs several messages. */
  parts: Buffer[];
  cancelResend: (() => void) | undefined;
  resendMs: number;
  cancelAck: (() => void) | undefined;
}

const messageHeader = "Tau-Message";
const numberHeader = "Tau-Number";
const ackHeader = "Tau-Ack";
/** How much of a message its headers may take. */
const headerBytes = 8192;
/** A node that is there says at once that it has a call. */
const deliveryMs = 2_000;
/** Takes the place of a call that reached nobody. */
const nothing = "";
const minResendMs = 300;
const maxResendMs = 3_000;
const ackMs = 20;
/** So many are acknowledged at once. */
const ackCount = 32;

export class NodeLink {
  readonly #options: LinkOptions;
  #listening: { readonly subscription: Subscription; readonly take: TakeMessage } | undefined;
  readonly #peers = new Map<string, Peer>();

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  /** Takes what other nodes send from now on. Before, they find that this node does not listen. */
  listen(take: TakeMessage): void {
    const { bus, name, log } = this.#options;
    const subject = `tau.to.${name}.*.*`;
    this.#listening = { subscription: listen(bus.nats, subject, { log, take: (each) => this.#take(each) }), take };
  }

  /** It arrives once, after all that was sent before it, unless the other node or this one is declared dead. */
  send(toNodeId: string, message: NodeMessage, content: Uint8Array = new Uint8Array()): void {
    const peer = this.#getPeer(toNodeId);
    if (!peer) return;
    const partBytes = this.#options.bus.maxPayloadBytes - headerBytes;
    const text = encodeText(message);
    for (let start = 0; start === 0 || start < content.length; start += partBytes) {
      const data = content.subarray(start, start + partBytes);
      this.#transmit(toNodeId, peer.channel.add({ text, data, hasMore: start + partBytes < content.length }));
    }
    this.#resendLater(toNodeId, peer);
  }

  /**
   * Sends a call. `absent`: the node is not there, so that nothing has happened; `sent`: it has the call, or will have it.
   * `too_large`: the servers do not take it.
   */
  async sendCall(
    toNodeId: string,
    message: NodeMessage,
    content: Uint8Array,
  ): Promise<"sent" | "absent" | "too_large"> {
    const { nats, maxPayloadBytes } = this.#options.bus;
    if (content.length > maxPayloadBytes - headerBytes) return "too_large";
    const peer = this.#getPeer(toNodeId);
    if (!peer) return "absent";
    const packet = peer.channel.add({ text: encodeText(message), data: content, hasMore: false });
    packet.sent++;
    this.#resendLater(toNodeId, peer);
    try {
      const headers = this.#createHeaders(packet);
      await nats.request(this.#getSubject(toNodeId), content, { headers, timeout: deliveryMs });
      return "sent";
    } catch (error) {
      if (!isOutage(error)) throw error;
      // Without a subscriber, the server answers at once. One that was sent again may have arrived since.
      if (!isNoResponders(error) || packet.sent > 1) return "sent";
      this.#transmit(toNodeId, peer.channel.replace(packet, nothing));
      return "absent";
    }
  }

  /** A node is dead, or all that were known to this one as it was: nothing is sent to them or taken from them any more. */
  forget(nodeId?: string): void {
    for (const [each, peer] of this.#peers) {
      if (nodeId !== undefined && each !== nodeId) continue;
      peer.cancelResend?.();
      peer.cancelAck?.();
      this.#peers.delete(each);
    }
  }

  close(): void {
    this.#listening?.subscription.unsubscribe();
    this.forget();
  }

  /** Undefined where there is nobody to speak to, or to speak as. */
  #getPeer(nodeId: string): Peer | undefined {
    const { membership, bus } = this.#options;
    if (!membership.isMember || membership.isKnownDead(nodeId) || bus.nats.isClosed()) return undefined;
    const known = this.#peers.get(nodeId);
    if (known) return known;
    const peer: Peer = {
      channel: new Channel(),
      parts: [],
      cancelResend: undefined,
      resendMs: minResendMs,
      cancelAck: undefined,
    };
    this.#peers.set(nodeId, peer);
    return peer;
  }

  #transmit(toNodeId: string, packet: Packet): void {
    packet.sent++;
    this.#options.bus.nats.publish(this.#getSubject(toNodeId), packet.data, { headers: this.#createHeaders(packet) });
  }

  #resendLater(nodeId: string, peer: Peer): void {
    const { clock, bus } = this.#options;
    peer.cancelResend ??= clock.setTimer(peer.resendMs, () => {
      peer.cancelResend = undefined;
      if (peer.channel.isAcked || bus.nats.isClosed()) return;
      peer.resendMs = Math.min(2 * peer.resendMs, maxResendMs);
      this.#resend(nodeId, peer);
      this.#resendLater(nodeId, peer);
    });
  }

  #resend(nodeId: string, { channel }: Peer): void {
    for (const packet of channel.listUnacked()) this.#transmit(nodeId, packet);
  }

  #getSubject(toNodeId: string): string {
    return `tau.to.${toNodeId}.${this.#options.name}`;
  }

  #createHeaders({ number, text, hasMore }: Packet) {
    const headers = createHeaders();
    headers.set(headerNames.node, this.#options.membership.nodeId);
    headers.set(numberHeader, String(number));
    headers.set(messageHeader, text);
    if (hasMore) headers.set(headerNames.more, "1");
    return headers;
  }

  #take(message: Msg): void {
    const { membership } = this.#options;
    const [, , name, incarnation, sender] = message.subject.split(".");
    const from = message.headers?.get(headerNames.node) ?? "";
    // To this process as it was before it was declared dead, or in the name of another node.
    if (!membership.isSelf(`${name}.${incarnation}`) || from.split(".")[0] !== sender) return;
    const peer = this.#getPeer(from);
    if (!peer) return;
    const ack = message.headers!.get(ackHeader);
    if (ack !== "") return this.#takeAck(from, peer, ack);
    const arrival = peer.channel.onArrival(Number(message.headers!.get(numberHeader)));
    if (arrival !== "gap" && message.reply) message.respond();
    if (arrival === "next") {
      if (peer.channel.unackedArrivals >= ackCount) this.#acknowledge(from, peer);
      else peer.cancelAck ??= this.#options.clock.setTimer(ackMs, () => this.#acknowledge(from, peer));
      this.#deliver(from, peer, message);
    } else if (arrival === "again") this.#acknowledge(from, peer);
    else if (peer.channel.takeGap()) this.#acknowledge(from, peer, "gap");
  }

  #deliver(from: string, peer: Peer, { headers, data }: Msg): void {
    peer.parts.push(Buffer.from(data));
    if (headers!.get(headerNames.more) === "1") return;
    const { parts } = peer;
    peer.parts = [];
    const text = headers!.get(messageHeader);
    if (text === nothing) return;
    const content = parts.length === 1 ? parts[0]! : Buffer.concat(parts);
    const parsed = parseNodeMessage(Buffer.from(text, "base64").toString());
    if (parsed.kind === "parsed") this.#listening?.take(from, parsed.message, content);
    else this.#refuse(from, parsed);
  }

  /** A call ends with a fault, here or at the other node, so that nothing waits for its answer. */
  #refuse(from: string, { problem, isCall, callId }: ParsedMessage & { kind: "wrong" }): void {
    const sentence = `The node ${from} and this one do not understand each other, and may have different versions: ${problem}`;
    if (callId === undefined) return this.#options.log(sentence);
    const fault = toFault(new GatewayError(isCall ? "invalid_parameters" : "unknown_outcome", sentence));
    if (isCall) this.send(from, { kind: "fault", callId, fault });
    else this.#listening?.take(from, { kind: "fault", callId, fault }, Buffer.alloc(0));
  }

  #acknowledge(nodeId: string, peer: Peer, kind = "all"): void {
    const { bus, membership } = this.#options;
    peer.cancelAck?.();
    peer.cancelAck = undefined;
    if (bus.nats.isClosed()) return;
    peer.channel.onAcknowledged();
    const headers = createHeaders();
    headers.set(headerNames.node, membership.nodeId);
    headers.set(ackHeader, `${peer.channel.received} ${kind}`);
    bus.nats.publish(this.#getSubject(nodeId), undefined, { headers });
  }

  #takeAck(from: string, peer: Peer, ack: string): void {
    const [number, kind] = ack.split(" ");
    if (peer.channel.onAck(Number(number))) peer.resendMs = minResendMs;
    if (kind === "gap") this.#resend(from, peer);
  }
}

const encodeText = (message: NodeMessage): string => Buffer.from(JSON.stringify(message)).toString("base64");

const isNoResponders = (error: unknown): boolean =>
  (error as { isNoResponders?: () => boolean }).isNoResponders?.() === true || (error as Error).name === "NoResponders";
