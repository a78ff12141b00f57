/** People who may write to the agents of a channel, and codes of strangers who asked to. */
import { randomBytes } from "node:crypto";
import type { Clock } from "@tau/ai";
import { SerialQueue } from "@tau/ai/internal";
import { GatewayError } from "../errors.ts";
import type { PairedPeer, PairingCode, PeersState, PeersStore } from "./peers-store.ts";

interface PeersOptions {
  store: PeersStore;
  clock: Clock;
}

const maxOpenCodes = 3;
export const codeExpiresInMs = 60 * 60_000;
const maxNameLength = 60;

/** Without characters that are easily taken for another. */
const codeCharacters = "23456789ABCDEFGHJKMNPQRSTVWXYZ";

export class ChannelPeers {
  readonly #options: PeersOptions;
  readonly #queue = new SerialQueue();

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  get #state(): PeersState {
    return this.#options.store.read();
  }

  list(): readonly PairedPeer[] {
    return this.#state.peers;
  }

  /** Lists who waits with a code, and the code. */
  listWaiting(): readonly PairingCode[] {
    return this.#state.codes.filter((code) => this.#isOpen(code));
  }

  isPaired(accountId: string, id: string): boolean {
    return this.#state.peers.some((peer) => peer.accountId === accountId && peer.id === id);
  }

  /**
   * Makes a code for a stranger. Undefined if they have one already, or too many others of the account have: then the
   * stranger gets no answer, so that nobody can be made to send messages. The message that made it gives the same code
   * again: the gateway may have been killed before it was sent.
   */
  async offer(
    accountId: string,
    { id, name }: { id: string; name: string },
    messageId: string,
  ): Promise<string | undefined> {
    return await this.#change((state) => {
      const open = state.codes.filter((code) => this.#isOpen(code));
      const ofAccount = open.filter((code) => code.accountId === accountId);
      const own = ofAccount.find((code) => code.id === id);
      if (own) return { result: own.messageId === messageId ? own.code : undefined };
      if (ofAccount.length >= maxOpenCodes) return { result: undefined };
      const code = createCode();
      const createdAt = this.#options.clock.now();
      const added = { code, accountId, id, name: toPlainName(name), createdAt, messageId };
      return { result: code, state: { ...state, codes: [...open, added] } };
    });
  }

  /** Pairs the stranger who got this code. Throws `not_found` for a code that nobody has. */
  async pair(typed: string): Promise<PairedPeer> {
    const code = typed.toUpperCase().replaceAll(/[\s-]/g, "");
    return await this.#change((state) => {
      const open = state.codes.filter((each) => this.#isOpen(each));
      const waiting = open.find((each) => each.code === code);
      if (!waiting) {
        const text = "Nobody waits with this code; a code is valid for an hour. Who writes again gets another one.";
        throw new GatewayError("not_found", text);
      }
      const { accountId, id, name } = waiting;
      const peer = { accountId, id, name, pairedAt: this.#options.clock.now() };
      return { result: peer, state: { peers: [...state.peers, peer], codes: open.filter((each) => each !== waiting) } };
    });
  }

  /** False if nobody with this identity is paired. */
  async unpair(accountId: string, id: string): Promise<boolean> {
    return await this.#change((state) => {
      const peers = state.peers.filter((peer) => peer.accountId !== accountId || peer.id !== id);
      return { result: peers.length < state.peers.length, state: { ...state, peers } };
    });
  }

  #isOpen({ createdAt }: PairingCode): boolean {
    return this.#options.clock.now() - createdAt < codeExpiresInMs;
  }

  /** Changes the state after the changes before it. A change applies once it is on the disk. */
  async #change<T>(work: (state: PeersState) => { result: T; state?: PeersState }): Promise<T> {
    return await this.#queue.add(async () => {
      const { result, state } = work(this.#state);
      if (state) await this.#options.store.write(state);
      return result;
    });
  }
}

const createCode = (): string =>
  Array.from(randomBytes(8), (byte) => codeCharacters[byte % codeCharacters.length]).join("");

/** Makes the name that a stranger gives itself one line that cannot pretend to be something else. */
export function toPlainName(name: string): string {
  const plain = name
    .normalize("NFC")
    .replaceAll(/[\p{C}\p{Z}]+/gu, " ")
    .trim()
    .slice(0, maxNameLength)
    .toWellFormed();
  return plain === "" ? "somebody" : plain;
}
