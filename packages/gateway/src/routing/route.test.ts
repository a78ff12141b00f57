import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Peer } from "@tau/extensions";
import {
  findLevel,
  peerKinds,
  resolveRoute,
  type RouteBinding,
  type RouteFacts,
  type RouteLevel,
  routeLevels,
  type RouteMatch,
} from "./route.ts";

const facts: RouteFacts = {
  channel: "discord",
  accountId: "work",
  peer: { kind: "thread", id: "t1" },
  parentPeer: { kind: "channel", id: "c1" },
  guildId: "g1",
  roles: ["admin", "dev"],
  teamId: "w1",
};

describe("each level", () => {
  const rows: [RouteLevel, RouteMatch, RouteMatch][] = [
    [
      "binding.peer",
      { channel: "discord", peer: { kind: "thread", id: "t1" } },
      { channel: "discord", peer: { kind: "thread", id: "t2" } },
    ],
    [
      "binding.peer.parent",
      { channel: "discord", peer: { kind: "channel", id: "c1" } },
      { channel: "discord", peer: { kind: "group", id: "c1" } },
    ],
    [
      "binding.guild+roles",
      { channel: "discord", guildId: "g1", roles: ["owner", "dev"] },
      { channel: "discord", guildId: "g1", roles: ["owner"] },
    ],
    ["binding.guild", { channel: "discord", guildId: "g1" }, { channel: "discord", guildId: "g2" }],
    ["binding.team", { channel: "discord", teamId: "w1" }, { channel: "discord", teamId: "w2" }],
    ["binding.account", { channel: "discord", accountId: "work" }, { channel: "discord", accountId: "home" }],
    ["binding.channel", { channel: "discord", accountId: "*" }, { channel: "slack" }],
  ];
  test.each(rows)("%s matches, and not with another value", (level, match, other) => {
    const bindings = [
      { agent: "other", match: other },
      { agent: "mine", match },
    ];
    expect(resolveRoute(facts, bindings, "nobody")).toEqual({ agent: "mine", matchedBy: level, index: 1 });
    expect(resolveRoute(facts, bindings.slice(0, 1), "nobody")).toEqual({
      agent: "nobody",
      matchedBy: "default",
      index: undefined,
    });
  });

  test("the levels are tried from the most specific to the default, whatever the order of the list", () => {
    const bindings = rows.map(([level, match]) => ({ agent: level, match }));
    for (const [rank, level] of routeLevels.slice(0, -1).entries()) {
      expect(resolveRoute(facts, bindings.slice(rank).toReversed())).toMatchObject({ agent: level, matchedBy: level });
    }
  });
});

test("a binding whose peer matches is not used if another of its constraints is not met", () => {
  const match = { channel: "discord", peer: facts.peer, guildId: "g2" };
  expect(findLevel(facts, match)).toBeUndefined();
});

test("of two bindings at one level the first applies", () => {
  const match = { channel: "discord", guildId: "g1" };
  const bindings = [
    { agent: "first", match },
    { agent: "second", match },
  ];
  expect(resolveRoute(facts, bindings).agent).toBe("first");
});

const few = fc.constantFrom("1", "2");
const peers: fc.Arbitrary<Peer> = fc.record({ kind: fc.constantFrom(...peerKinds), id: few });
const matches: fc.Arbitrary<RouteMatch> = fc.record(
  {
    channel: fc.constantFrom("discord", "slack"),
    accountId: fc.constantFrom("1", "2", "*"),
    peer: peers,
    guildId: few,
    roles: fc.uniqueArray(few),
    teamId: few,
  },
  { requiredKeys: ["channel"] },
) as fc.Arbitrary<RouteMatch>;
const messages: fc.Arbitrary<RouteFacts> = fc.record(
  {
    channel: fc.constantFrom("discord", "slack"),
    accountId: few,
    peer: peers,
    parentPeer: peers,
    guildId: few,
    roles: fc.uniqueArray(few),
    teamId: few,
  },
  { requiredKeys: ["channel", "accountId", "peer"] },
) as fc.Arbitrary<RouteFacts>;

/** Asks for each level in turn whether a binding of that level is met, word by word. */
function resolveNaively(message: RouteFacts, bindings: readonly RouteBinding[]): RouteLevel {
  const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
  const key = ({ kind, id }: Peer) => [kind, id];
  const holds = ({ channel, accountId = "*", guildId, roles = [], teamId }: RouteMatch) =>
    channel === message.channel &&
    ["*", message.accountId].includes(accountId) &&
    [undefined, message.guildId].includes(guildId) &&
    [undefined, message.teamId].includes(teamId) &&
    (roles.length === 0 || roles.filter((role) => (message.roles ?? []).includes(role)).length > 0);
  const tests: [RouteLevel, (match: RouteMatch) => boolean][] = [
    ["binding.peer", ({ peer }) => peer !== undefined && same(key(peer), key(message.peer))],
    [
      "binding.peer.parent",
      ({ peer }) => peer !== undefined && message.parentPeer !== undefined && same(key(peer), key(message.parentPeer)),
    ],
    ["binding.guild+roles", ({ peer, guildId, roles = [] }) => !peer && guildId !== undefined && roles.length > 0],
    ["binding.guild", ({ peer, guildId, roles = [] }) => !peer && guildId !== undefined && roles.length === 0],
    ["binding.team", ({ peer, guildId, teamId }) => !peer && guildId === undefined && teamId !== undefined],
    [
      "binding.account",
      ({ peer, guildId, teamId, accountId = "*" }) => !peer && !guildId && !teamId && accountId !== "*",
    ],
    [
      "binding.channel",
      ({ peer, guildId, teamId, accountId = "*" }) => !peer && !guildId && !teamId && accountId === "*",
    ],
  ];
  const level = tests.find(([, isLevel]) => bindings.some(({ match }) => holds(match) && isLevel(match)));
  return level?.[0] ?? "default";
}

test("any list of bindings gives the level that a naive search gives, and its first binding of that level", () => {
  fc.assert(
    fc.property(messages, fc.array(matches, { maxLength: 6 }), (message, list) => {
      const bindings = list.map((match, index) => ({ agent: `a${index}`, match }));
      const route = resolveRoute(message, bindings);
      expect(route.matchedBy).toBe(resolveNaively(message, bindings));
      if (route.index === undefined) return;
      expect(route.agent).toBe(`a${route.index}`);
      const earlier = bindings.slice(0, route.index);
      expect(earlier.some(({ match }) => findLevel(message, match) === route.matchedBy)).toBe(false);
    }),
  );
});
