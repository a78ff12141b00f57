/** Decides which agent answers a message of a channel. Pure. */
import type { ConversationFacts, Peer, PeerKind } from "@tau/extensions";

export const peerKinds = ["direct", "group", "channel", "thread"] as const satisfies readonly PeerKind[];

export interface RouteFacts extends ConversationFacts {
  /** The platform, such as `discord`. */
  readonly channel: string;
  /** The name of the account in the setting `gateway.channels`. */
  readonly accountId: string;
}

/** The constraints of a binding. All that are given have to be met. */
export interface RouteMatch {
  readonly channel: string;
  /** `*` and undefined mean any account. */
  readonly accountId?: string;
  readonly peer?: Peer;
  readonly guildId?: string;
  /** Met by a sender who has any of them. */
  readonly roles?: readonly string[];
  readonly teamId?: string;
}

export interface RouteBinding {
  /** A directory of `agents` in the agent directory. */
  readonly agent: string;
  readonly match: RouteMatch;
}

/** The levels of routes, the most specific first. */
export const routeLevels = [
  "binding.peer",
  "binding.peer.parent",
  "binding.guild+roles",
  "binding.guild",
  "binding.team",
  "binding.account",
  "binding.channel",
  "default",
] as const;
export type RouteLevel = (typeof routeLevels)[number];

export interface Route {
  /** Undefined: the agent without a name. */
  readonly agent: string | undefined;
  readonly matchedBy: RouteLevel;
  /** The place of the binding in the list, from 0. Undefined for the default. */
  readonly index: number | undefined;
}

/** Finds the most specific binding whose constraints are all met. Of several at one level the first in the list applies. */
export function resolveRoute(facts: RouteFacts, bindings: readonly RouteBinding[], defaultAgent?: string): Route {
  let best: { level: number; index: number } | undefined;
  for (const [index, { match }] of bindings.entries()) {
    const matchedBy = findLevel(facts, match);
    const level = matchedBy === undefined ? routeLevels.length : routeLevels.indexOf(matchedBy);
    if (matchedBy !== undefined && (!best || level < best.level)) best = { level, index };
  }
  if (!best) return { agent: defaultAgent, matchedBy: "default", index: undefined };
  return { agent: bindings[best.index]!.agent, matchedBy: routeLevels[best.level]!, index: best.index };
}

/** Finds the level at which a binding matches; undefined if one of its constraints is not met. */
export function findLevel(facts: RouteFacts, match: RouteMatch): RouteLevel | undefined {
  const { accountId, peer, guildId, roles = [], teamId } = match;
  const isAnyAccount = accountId === undefined || accountId === "*";
  if (match.channel !== facts.channel) return undefined;
  if (!isAnyAccount && accountId !== facts.accountId) return undefined;
  if (guildId !== undefined && guildId !== facts.guildId) return undefined;
  if (teamId !== undefined && teamId !== facts.teamId) return undefined;
  if (roles.length > 0 && !roles.some((role) => facts.roles?.includes(role))) return undefined;
  if (peer) {
    if (isSamePeer(peer, facts.peer)) return "binding.peer";
    return facts.parentPeer && isSamePeer(peer, facts.parentPeer) ? "binding.peer.parent" : undefined;
  }
  if (guildId !== undefined) return roles.length > 0 ? "binding.guild+roles" : "binding.guild";
  if (teamId !== undefined) return "binding.team";
  return isAnyAccount ? "binding.channel" : "binding.account";
}

const isSamePeer = (a: Peer, b: Peer): boolean => a.kind === b.kind && a.id === b.id;
