/** A gateway with a schedule that is due each second, in a process of its own, to be killed. Arguments: directories, and a file. */
import { appendFileSync } from "node:fs";
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { openTestGateway } from "../../src/testing/index.ts";

const [agentDir = "", cwd = "", file = ""] = process.argv.slice(2);

/** Writes down each time that the agent is told to begin. */
const answer: ScriptedTurn = async ({ messages }) => {
  appendFileSync(file, `${/due at (\S+Z)/.exec(JSON.stringify(messages))?.[1]}\n`);
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
  return [text("Done.")];
};

const { gateway } = await openTestGateway({
  model: scriptedModel(Array.from({ length: 1_000 }, () => answer)),
  settings: { defaultProjectTrust: "never" },
  options: { agentDir },
  params: { agentDir },
});
const { schedules } = gateway.parts;
if ((await schedules.list()).length === 0) {
  await schedules.add({ cron: "* * * * * *", prompt: "Go.", cwd, rights: {}, name: "Each second" });
}
process.stdout.write("ready\n");
