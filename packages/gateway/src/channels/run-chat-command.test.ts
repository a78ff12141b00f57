import { HarnessError } from "@tau/harness";
import { createMemoryStorage } from "@tau/tools/storage";
import { expect, test } from "vitest";
import type { OpenSessions } from "../sessions/open-sessions.ts";
import { ChatCommands } from "./run-chat-command.ts";
import { openChannelStore } from "./store.ts";

const conversation = {
  sessionId: "s1",
  key: "k",
  accountId: "chat",
  address: { channelId: "c" },
  sourceMessageId: "m",
  peer: { kind: "direct" as const, id: "ann" },
  senderId: "ann",
  isExpecting: false,
};

test.each([
  [
    "status",
    "",
    new HarnessError("session_not_found", "/home/ann/secret/session.jsonl is gone."),
    /^That did not work\./,
  ],
  ["model", "x", new HarnessError("unknown_model", "There is no model x."), /^There is no model x\.$/],
  ["compact", "", new TypeError("undefined is not a function"), /^That did not work\./],
] as const)("/%s says nothing of an error that is not about what was typed", async (name, argument, error, said) => {
  const lines: string[] = [];
  const commands = new ChatCommands({
    store: await openChannelStore(createMemoryStorage()),
    sessions: {} as OpenSessions,
    getSettings: () => ({}) as never,
    // As a node of a cluster answers.
    runAtSession: () => Promise.reject(error),
    log: (line) => void lines.push(line),
  });
  const text = await commands.run({ command: { name, argument }, identity: "chat\nann", key: "k", conversation });
  expect(text).toMatch(said);
  expect(lines).toEqual(text === error.message ? [] : [`/${name} failed: ${error.message}`]);
});
