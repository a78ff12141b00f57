/**
 * A gateway in a process of its own whose sessions ask before they refund, to be killed at one step of what follows the answer.
 * Arguments: the agent directory, a directory for what happened, the number of the step, 0 for none, and `storage` if the state of
 * the gateway is in a storage beside the agent directory. Steps are before and after each change of the answers, at each entry of
 * the log, and before and after the refund. Messages to it come as lines of JSON.
 */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { call, scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import type { Channel, ChannelEvents } from "@tau/extensions";
import { defineTool } from "@tau/harness";
import { createFileStorage } from "@tau/harness/session";
import { type AnswerStore, createAnswerFile, createStoredAnswers } from "@tau/policy";
import { openChannelStore } from "../../src/channels/store.ts";
import { openTestGateway } from "../../src/testing/index.ts";

const [agentDir = "", directory = "", lastStep = "0", kind = "files"] = process.argv.slice(2);
const place = join(directory, "storage");
const storage =
  kind === "storage" ? createFileStorage({ directory: join(place, "sessions"), agentDir: place }) : undefined;
let step = 0;
let isCounting = false;
const mayDie = () => {
  if (isCounting && ++step === Number(lastStep)) process.kill(process.pid, "SIGKILL");
};
const write = (name: string, value: unknown) => appendFileSync(join(directory, name), `${JSON.stringify(value)}\n`);

const file = storage ? createStoredAnswers({ storage }) : createAnswerFile({ directory: agentDir });
const later: AnswerStore = {
  read: (sessionId) => file.read(sessionId),
  async change(sessionId, work) {
    mayDie();
    await file.change(sessionId, work);
    mayDie();
  },
};
const refund = defineTool({
  name: "refund",
  description: "Refunds an order.",
  input: { type: "object", properties: {} } as const,
  needsApproval: true,
  execute: () => {
    mayDie();
    write("made", "made");
    mayDie();
    return "Refunded.";
  },
});

let onRun: (events: ChannelEvents) => void;
/** The gateway is ready before its accounts are. */
const running = new Promise<ChannelEvents>((resolve) => (onRun = resolve));
const channel: Channel = {
  limits: { maxTextLength: 2_000, maxFileBytes: 1_000, provesNonce: true },
  async run(given, signal) {
    onRun(given);
    given.onState({ kind: "connected" });
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  },
  async send(message) {
    write("sent", { nonce: message.nonce, text: message.text, buttons: message.buttons });
    return { kind: "sent", messageId: message.nonce };
  },
};
const answer: ScriptedTurn = ({ messages }) =>
  messages.some(({ role }) => role === "toolResult") ? [text("Done.")] : [{ ...call("refund"), id: "c1" }];

if (storage) {
  // In files, the test writes who is paired.
  const store = await openChannelStore(storage);
  const peers = [{ accountId: "chat", id: "ann", name: "Ann", pairedAt: 1 }];
  await store.append({ type: "peers", peers: { peers, codes: [] } });
  await store.close();
}
const { gateway } = await openTestGateway({
  model: scriptedModel(Array.from({ length: 20 }, () => answer)),
  settings: {
    approvals: { later: true },
    defaultProjectTrust: "never",
    gateway: { queue: { debounceMs: 1 }, channels: { chat: { type: "test", tools: ["*"] } } },
  },
  options: {
    agentDir,
    channelTypes: { test: async () => ({ secrets: {}, open: async () => channel }) },
    ...(storage && { storage }),
  },
  params: { agentDir, customTools: [refund], ask: { later } },
});
gateway.parts.sessions.watch({
  onOpened: ({ session }) =>
    session.onSessionEvent((event) => {
      if (event.type === "entry_appended") mayDie();
    }),
});
createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line) as { id: string; text: string };
  isCounting = message.text.startsWith("/approve");
  const sender = { id: "ann", name: "Ann" };
  const address = { channelId: "with-ann" };
  const received = { ...message, sender, address, peer: { kind: "direct" as const, id: "ann" }, isMentioned: false };
  running
    .then((events) => events.onMessage(received))
    .then(
      () => write("received", message.id),
      (error: unknown) => process.stderr.write(`${String(error)}\n`),
    );
});
process.stdin.on("end", () => void gateway.stop().then(() => process.exit(0)));
process.stdout.write("ready\n");
// The steps of a run that nobody kills.
process.on("SIGTERM", () => process.stdout.write(`${step}\n`, () => process.kill(process.pid, "SIGKILL")));
