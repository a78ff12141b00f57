/**
 * A process that asks about a call, or approves and resumes it, and is killed at one step. Arguments: the directory, `ask` or `resume`,
 * and the number of the step; 0 for none. Steps are before and after each change of the store and the log, and of the tool.
 */
import { appendFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { call, scriptedModel, text } from "@tau/ai/testing";
import { type AnswerStore, createAnswerFile } from "@tau/policy";
import { createAgentSession, defineTool, SessionManager } from "../../src/index.ts";

const [directory = "", phase = "ask", last = "0"] = process.argv.slice(2);
let step = 0;
const mayDie = () => {
  if (++step === Number(last)) process.kill(process.pid, "SIGKILL");
};

const file = createAnswerFile({ directory });
const later: AnswerStore = {
  read: (id) => file.read(id),
  async change(id, work) {
    mayDie();
    await file.change(id, work);
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
const sessionManager = await (phase === "ask"
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
