/** Keeps where each account has got to. An older position only makes the platform send again what is known already. */
import type { ChannelPosition } from "@tau/extensions";
import { getDigest } from "../idempotency/digest.ts";
import type { OpenText } from "../kept-text.ts";

/** Names of accounts are chosen by people, and can be anything. */
export const createPosition = (openText: OpenText, accountId: string): ChannelPosition =>
  openText(`channel-positions/${getDigest(accountId).slice(0, 32)}`, { syncs: false });
