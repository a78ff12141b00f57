/**
 * A process that asks about a call, or approves and resumes it, and is killed at one step. Arguments: the directory, `ask` or `resume`,
 * the number of the step, 0 for none, and `storage` if the session and its answers are in a storage. Steps are before and after each
 * change of the store and the log, and of the tool.
 */
import { appendFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { type AnswerStore, createAnswerFile, createStoredAnswers } from "@tau/policy";
import { createAgentSession, defineTool, SessionManager } from "../../src/index.ts";
import { createFileStorage } from "../../src/session/file-storage.ts";

const [directory = "", phase = "ask", last = "0", kind = "files"] = process.argv.slice(2);
const storage = kind === "storage" ? createFileStorage({ directory }) : undefined;
let step = 0;
const mayDie = () => {
  if (++step === Number(last)) process.kill(process.pid, "SIGKILL");
};

const kept = storage ? createStoredAnswers({ storage }) : createAnswerFile({ directory });
const later: AnswerStore = {
  read: (id) => kept.read(id),
  async change(id, work) {
    mayDie();
    await kept.change(id, work);
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
    appendFileSync(join(directory, "made"), "made\n");
    mayDie();
    return "Refunded.";
  },
});

const log = join(directory, "log.jsonl");
const model = scriptedModel(phase === "ask" ? [[{ ...call("refund"), id: "c1" }]] : [[text("Done.")], [text("Done.")]]);
const sessionManager = await (storage
  ? SessionManager.continueStored(directory, "log", { storage })
  : phase === "ask"
    ? SessionManager.createFile(log, { cwd: directory })
    : SessionManager.open(log));
const session = await createAgentSession({
  model,
  cwd: directory,
  customTools: [refund],
  ask: { later },
  sessionManager,
});
session.onSessionEvent((event) => {
  if (event.type === "entry_appended") mayDie();
});
if (phase === "ask") await session.prompt("Refund it.");
else {
  for (const { id } of await session.getQuestions()) await session.approve(id, { decision: "allow" });
  await session.resume().catch(() => undefined);
}
await session.dispose();
model.dispose();
writeSync(1, `${step}\n`);
