/** A gateway of a cluster with a stdio channel, in a process of its own, to be killed and stopped. */
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { openTestGateway } from "@tau/gateway/testing";
import { joinCluster } from "../src/cluster.ts";

const [agentDir = "", url = "", platformDirectory = "", count = "0", program = ""] = process.argv.slice(2);

/** Answers every question that has no answer yet: a run that was cut has left one. */
const answer: ScriptedTurn = async ({ messages }) => {
  const last = messages.findLastIndex(
    ({ role, content }) => role === "assistant" && JSON.stringify(content).includes("answer"),
  );
  const asked = [...JSON.stringify(messages.slice(last + 1)).matchAll(/question (\d+)/g)].map(([, index]) => index);
  return [text(`answer ${asked.join(" ")}`)];
};

const { gateway, token } = await openTestGateway({
  model: scriptedModel(Array.from({ length: 20_000 }, () => answer)),
  settings: {
    defaultProjectTrust: "never",
    gateway: {
      queue: { mode: "followup" },
      channels: {
        platform: { type: "stdio", command: process.execPath, args: [program, platformDirectory, count] },
      },
    },
  },
  options: {
    agentDir,
    joinCluster: (own) => joinCluster({ ...own, url, timing: { beatMs: 200, deadAfterMs: 1_000, holdMs: 3_000 } }),
  },
  params: { agentDir },
});
process.stdout.write(`${JSON.stringify({ url: gateway.url, token })}\n`);
