/** Keeps where each account has got to in a file of its own. */
import { join } from "node:path";
import type { Ids } from "@tau/ai";
import { readOwnFile } from "@tau/protocol/node";
import { writeWhole } from "@tau/tools/durable";
import { nodeFileSystem } from "@tau/tools/platform";
import { getDigest } from "../idempotency/digest.ts";
import type { ChannelPosition } from "@tau/extensions";

/** `directory` is that of the gateway. Names of accounts are chosen by people, and can be anything. */
export function createPosition(directory: string, accountId: string, ids: Ids): ChannelPosition {
  const path = join(directory, "channel-positions", `${getDigest(accountId).slice(0, 32)}.json`);
  return {
    read: async () => readOwnFile(path),
    // An older position only makes the platform send again what is known already.
    write: (text) => writeWhole(nodeFileSystem, { path, bytes: Buffer.from(text), ids, syncs: false }),
  };
}
