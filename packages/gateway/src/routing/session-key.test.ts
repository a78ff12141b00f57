import { describe, expect, test } from "vitest";
import type { RouteFacts } from "./route.ts";
import { getSessionKey, type SessionScope } from "./session-key.ts";

const direct = (channel: string, accountId: string, id: string): RouteFacts => ({
  channel,
  accountId,
  peer: { kind: "direct", id },
});
const none = { identityLinks: {}, agent: undefined };

describe("direct conversations", () => {
  const ann = direct("discord", "work", "ann");
  const rows: [SessionScope, RouteFacts, boolean][] = [
    ["main", direct("slack", "home", "bob"), true],
    ["per-peer", direct("slack", "home", "ann"), true],
    ["per-peer", direct("discord", "work", "bob"), false],
    ["per-channel-peer", direct("discord", "home", "ann"), true],
    ["per-channel-peer", direct("slack", "work", "ann"), false],
    ["per-account-channel-peer", direct("discord", "home", "ann"), false],
    ["per-account-channel-peer", direct("discord", "work", "ann"), true],
  ];
  test.each(rows)("%s: %j shares a session: %s", (scope, other, isShared) => {
    const key = (facts: RouteFacts) => getSessionKey(facts, { ...none, scope });
    expect(key(ann) === key(other)).toBe(isShared);
  });

  test("agents never share a session", () => {
    const key = (agent: string | undefined) => getSessionKey(ann, { ...none, scope: "main", agent });
    expect(key("a")).not.toBe(key(undefined));
  });

  test("a person with linked identities has one session over all channels", () => {
    const identityLinks = { ann: ["discord:ann", "telegram:4711"] };
    const key = (facts: RouteFacts) =>
      getSessionKey(facts, { ...none, identityLinks, scope: "per-account-channel-peer" });
    expect(key(ann)).toBe(key(direct("telegram", "home", "4711")));
    expect(key(ann)).not.toBe(key(direct("slack", "home", "4711")));
    // Somebody who takes the person's name for an id is somebody else.
    expect(key(ann)).not.toBe(key(direct("discord", "work", "person")));
  });
});

test("groups, channels and threads have sessions of their own in every scope", () => {
  const place = { channel: "slack", accountId: "work" };
  const channel: RouteFacts = { ...place, peer: { kind: "channel", id: "c" } };
  const thread = (id: string): RouteFacts => ({
    ...place,
    peer: { kind: "thread", id },
    parentPeer: channel.peer,
  });
  const keys = [channel, thread("1"), thread("2"), { ...place, peer: { kind: "group" as const, id: "c" } }].map(
    (facts) => getSessionKey(facts, { ...none, scope: "main" }),
  );
  expect(new Set(keys).size).toBe(4);
});

test("no id can be written so that it reads as another conversation", () => {
  const key = (id: string) => getSessionKey(direct("discord", "work", id), { ...none, scope: "per-peer" });
  expect(key('a","b')).not.toBe(key("a"));
  expect(getSessionKey(direct("a", 'b","c', "d"), { ...none, scope: "per-account-channel-peer" })).not.toBe(
    getSessionKey(direct("a", "b", 'c","d'), { ...none, scope: "per-account-channel-peer" }),
  );
});
