/** A gateway with an account of Discord in a process of its own, to be killed. Arguments: its directory, and the address. */
import { type Clock, systemClock } from "@tau/ai";
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { discordType } from "../../src/channels/discord/discord-type.ts";
import { openTestGateway } from "../../src/testing/index.ts";
import { discordToken } from "./discord-server.ts";

const [agentDir = "", baseUrl = ""] = process.argv.slice(2);

/** The account waits less than it would for Discord. */
const fastClock: Clock = {
  ...systemClock,
  setTimer: (afterMs, fire) => systemClock.setTimer(Math.min(afterMs, 50), fire),
};

/** Answers every question that has no answer yet: a run that was cut has left one. */
const answer: ScriptedTurn = async ({ messages }) => {
  const last = messages.findLastIndex(
    ({ role, content }) => role === "assistant" && JSON.stringify(content).includes("answer"),
  );
  const asked = [...JSON.stringify(messages.slice(last + 1)).matchAll(/question (\d+)/g)].map(([, index]) => index);
  return [text(`answer ${asked.join(" ")}`)];
};

await openTestGateway({
  model: scriptedModel(Array.from({ length: 40_000 }, () => answer)),
  settings: {
    defaultProjectTrust: "never",
    gateway: {
      queue: { mode: "followup" },
      lanes: { global: 50 },
      channels: { club: { type: "discord", baseUrl, stream: false } },
    },
  },
  options: {
    agentDir,
    channelTypes: {
      discord: async () => ({
        ...discordType,
        open: (options) => discordType.open({ ...options, clock: fastClock, getSecret: async () => discordToken }),
      }),
    },
    log: (line) => process.stderr.write(`${line}\n`),
  },
  params: { agentDir },
});
process.stdout.write("ready\n");
