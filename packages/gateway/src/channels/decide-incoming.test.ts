import { expect, test } from "vitest";
import { decideIncoming, type GroupMode } from "./decide-incoming.ts";

const direct = { peer: { kind: "direct" as const, id: "ann" }, isMentioned: false, text: "Hi" };
const named = { ...direct, peer: { kind: "group" as const, id: "g" }, isMentioned: true };
const unnamed = { ...named, isMentioned: false };

test.each([
  ["a message of somebody who is known", direct, true, "mention", "answer"],
  ["a message of a stranger", direct, false, "always", "offer_code"],
  ["a sticker", { ...direct, text: " " }, true, "mention", "ignore"],
  ["a picture without a text", { ...direct, text: "", loadFiles: async () => [] }, true, "mention", "answer"],
  ["a message in a group that names the account", named, true, "mention", "answer"],
  ["nothing but the name of the account", { ...named, text: "" }, true, "mention", "answer"],
  ["a message in a group", unnamed, true, "mention", "ignore"],
  ["a message in a group where all are answered", unnamed, true, "always", "answer"],
  ["a message that names the account where none is answered", named, true, "never", "ignore"],
  ["a message of a stranger in a group", named, false, "always", "ignore"],
] as const)("%s", (_name, message, isPaired, groups, kind) => {
  expect(decideIncoming({ message, isPaired, groups: groups satisfies GroupMode }).kind).toBe(kind);
});
