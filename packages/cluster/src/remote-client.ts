/** A client of another node, as the node that runs the session sees it. */
import { callSoon, type Client, type ClientAbilities, type EncodedFrame } from "@tau/gateway/port";
import type { NodeLink } from "./node-link.ts";
import type { ClientData } from "./node-message.ts";

export class RemoteClient implements Client {
  readonly connectionId: string;
  readonly deviceId: string;
  readonly #nodeId: string;
  readonly #link: NodeLink;
  #data: ClientData;
  #sentBytes = 0;
  #takenBytes = 0;
  #isGone = false;
  readonly #listeners = new Set<() => void>();

  constructor(nodeId: string, data: ClientData, link: NodeLink) {
    this.#nodeId = nodeId;
    this.#data = data;
    this.#link = link;
    this.connectionId = data.connectionId;
    this.deviceId = data.deviceId;
  }

  get nodeId(): string {
    return this.#nodeId;
  }

  get scopes() {
    return new Set(this.#data.scopes);
  }

  get abilities(): ClientAbilities {
    return this.#data.abilities;
  }

  setAbilities(abilities: ClientAbilities): void {
    this.#data = { ...this.#data, abilities };
    this.#link.send(this.#nodeId, { kind: "abilities", connectionId: this.connectionId, abilities });
  }

  /** Takes over what its own node says of it now. */
  update(data: ClientData): void {
    this.#data = data;
  }

  get bufferedBytes(): number {
    return this.#sentBytes - this.#takenBytes;
  }

  onTaken(bytes: number): void {
    this.#takenBytes = Math.max(this.#takenBytes, bytes);
  }

  send({ json }: EncodedFrame): void {
    if (this.#isGone) return;
    this.#sentBytes += json.length;
    this.#link.send(this.#nodeId, { kind: "frame", connectionId: this.connectionId }, json);
  }

  close(code: number, reason: string): void {
    if (!this.#isGone) this.#link.send(this.#nodeId, { kind: "close", connectionId: this.connectionId, code, reason });
    this.leave();
  }

  /** It gets nothing more. */
  leave(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    for (const listener of this.#listeners) listener();
    this.#listeners.clear();
  }

  onClosed(listener: () => void): () => void {
    if (this.#isGone) return callSoon(listener);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
