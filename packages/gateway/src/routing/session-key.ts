/** Decides which messages of a channel share a session. Pure. */
import type { RouteFacts } from "./route.ts";

/** Which direct conversations share a session. Groups, channels and threads always have their own. */
const sessionScopes = ["main", "per-peer", "per-channel-peer", "per-account-channel-peer"] as const;
export type SessionScope = (typeof sessionScopes)[number];

/** Identities that belong to one person, by a name for the person: `channel:id`, such as `telegram:4711`. */
type IdentityLinks = Readonly<Record<string, readonly string[]>>;

interface SessionKeyOptions {
  readonly scope: SessionScope;
  readonly identityLinks: IdentityLinks;
  readonly agent: string | undefined;
}

/** Two messages with the same key are said in the same session. */
export function getSessionKey(facts: RouteFacts, { scope, identityLinks, agent = "" }: SessionKeyOptions): string {
  const { channel, accountId, peer, parentPeer } = facts;
  const join = (...parts: readonly string[]) => JSON.stringify(["agent", agent, ...parts]);
  if (peer.kind !== "direct") {
    const place = parentPeer ? [parentPeer.kind, parentPeer.id] : [];
    return join(channel, accountId, ...place, peer.kind, peer.id);
  }
  if (scope === "main") return join("main");
  const person = findPerson(`${channel}:${peer.id}`, identityLinks);
  // A person who is known by several names has one session, whatever they write with.
  if (person !== undefined) return join("person", person);
  if (scope === "per-peer") return join("direct", peer.id);
  return scope === "per-channel-peer" ? join(channel, "direct", peer.id) : join(channel, accountId, "direct", peer.id);
}

/** Finds the name of the person that an identity belongs to. */
const findPerson = (identity: string, links: IdentityLinks): string | undefined =>
  Object.entries(links).find(([, identities]) => identities.includes(identity))?.[0];
