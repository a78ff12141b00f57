/** A gateway with channels in a process of its own, to be killed. Arguments: the agent directory, and `gateway.channels`. */
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { openTestGateway } from "../../src/testing/index.ts";

const [agentDir = "", channels = "{}"] = process.argv.slice(2);

/** Answers every question that has no answer yet: a run that was cut has left one. */
const answer: ScriptedTurn = async ({ messages }) => {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
  const last = messages.findLastIndex(
    ({ role, content }) => role === "assistant" && JSON.stringify(content).includes("answer"),
  );
  const asked = [...JSON.stringify(messages.slice(last + 1)).matchAll(/question (\d+)/g)].map(([, index]) => index);
  return [text(`answer ${asked.join(" ")}.`)];
};

await openTestGateway({
  model: scriptedModel(Array.from({ length: 20_000 }, () => answer)),
  settings: {
    defaultProjectTrust: "never",
    gateway: {
      queue: { mode: "followup" },
      lanes: { global: 50 },
      channels: JSON.parse(channels),
    },
  },
  options: { agentDir },
  params: { agentDir },
});
process.stdout.write("ready\n");
