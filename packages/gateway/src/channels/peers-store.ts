/** Where it is kept who may write: in a file, or with the conversations, in a storage or in a cluster. */
import { join } from "node:path";
import type { Ids } from "@tau/ai";
import { isRecord, tryParseJson } from "@tau/ai/internal";
import { readOwnFile } from "@tau/protocol/node";
import { writeWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import type { ChannelStore } from "./store.ts";

export interface PairedPeer {
  readonly accountId: string;
  /** The identity on the platform. */
  readonly id: string;
  /** The person's name when they were paired. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly pairedAt: number;
}

export interface PairingCode {
  readonly code: string;
  readonly accountId: string;
  readonly id: string;
  readonly name: string;
  readonly createdAt: number;
  /** The message that it answers. */
  readonly messageId?: string;
}

export interface PeersState {
  readonly peers: readonly PairedPeer[];
  readonly codes: readonly PairingCode[];
}

export interface PeersStore {
  read(): PeersState;
  /** Resolves when the state is on the disk, or with the cluster. */
  write(state: PeersState): Promise<void>;
}

/** `directory` is that of the gateway. */
export function openPeersFile({ directory, ids }: { directory: string; ids: Ids }): PeersStore {
  const path = join(directory, "channel-peers.json");
  let current = parseState(tryParseJson(readOwnFile(path) ?? ""));
  return {
    read: () => current,
    async write(state) {
      const bytes = Buffer.from(`${JSON.stringify(state, null, 2)}\n`);
      await writeWhole(nodeFileSystem, { path, bytes, ids });
      current = state;
    },
  };
}

/** Other nodes of a cluster change it too. */
export function createSharedPeers(store: ChannelStore): PeersStore {
  let parsed = { from: undefined as unknown, state: parseState(undefined) };
  return {
    read() {
      const { peers } = store.table;
      if (parsed.from !== peers) parsed = { from: peers, state: parseState(peers) };
      return parsed.state;
    },
    write: (peers) => store.append({ type: "peers", peers }),
  };
}

/** A state that is damaged pairs nobody. */
function parseState(value: unknown): PeersState {
  const list = <T>(name: string, time: string) => {
    const values = isRecord(value) && Array.isArray(value[name]) ? (value[name] as unknown[]) : [];
    const isWhole = (item: unknown) =>
      isRecord(item) &&
      ["accountId", "id", "name"].every((field) => typeof item[field] === "string") &&
      typeof item[time] === "number";
    return values.filter(isWhole) as T[];
  };
  return { peers: list<PairedPeer>("peers", "pairedAt"), codes: list<PairingCode>("codes", "createdAt") };
}
