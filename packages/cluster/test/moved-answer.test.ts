/** Tests which texts people get when the session that answers them moves to another node in the middle of a run. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { scriptedModel, type ScriptedTurn, text } from "@tau/ai/testing";
import { openTestGateway } from "@tau/gateway/testing";
import { describe, expect, onTestFinished, test } from "vitest";
import { TestChannel } from "../../gateway/test/channels/kit.ts";
import { joinCluster } from "../src/cluster.ts";
import type { ClusterTiming } from "../src/options.ts";
import { quickTiming } from "./kit.ts";
import { hasNats, startNats } from "./nats-servers.ts";

/** The others take this node for dead long before it can know. */
const unawareTiming: ClusterTiming = { beatMs: 600_000, deadAfterMs: 600_000, holdMs: 600_000 };

describe.skipIf(!hasNats)("a run whose session another node has taken", () => {
  test(
    "ends without a word to the person, who gets the answer of the other node alone",
    { timeout: 120_000 },
    async () => {
      const nats = await startNats();
      onTestFinished(nats.close);
      const workspace = await mkdtemp(join(tmpdir(), "tau-moved-answer-"));
      onTestFinished(() => rm(workspace, { recursive: true, force: true, maxRetries: 10 }));
      const open = async (name: string, timing: ClusterTiming, turn: ScriptedTurn) => {
        const channel = new TestChannel();
        const model = scriptedModel([turn]);
        const url = `nats://127.0.0.1:${nats.servers[0]!.port}?name=${name}`;
        const lines: string[] = [];
        const opened = await openTestGateway({
          model,
          settings: { gateway: { channels: { chat: { type: "test" } } } },
          options: {
            startDirectory: workspace,
            channelTypes: { test: async () => ({ secrets: {}, open: async () => channel }) },
            joinCluster: (own) => joinCluster({ ...own, url, timing }),
            log: (line) => void lines.push(line),
          },
        });
        onTestFinished(opened.close);
        return { ...opened, channel, model, lines };
      };
      let release = () => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      const one = await open("one", unawareTiming, async () => {
        await released;
        return [text("The answer of one.")];
      });
      const { channels, sessions } = one.gateway.parts;
      await expect.poll(() => one.channel.isOpen, { timeout: 30_000 }).toBe(true);
      await one.channel.receive("Hello?");
      await expect.poll(() => one.channel.textsTo()).toHaveLength(1);
      const [, code = ""] = /pair (\w+)/.exec(one.channel.textsTo()[0]!) ?? [];
      await channels.pair(code);
      await one.channel.receive("What is it?");
      await expect.poll(() => one.model.asked.length, { timeout: 30_000 }).toBe(1);
      const [session] = [...sessions.all];

      const two = await open("two", quickTiming, async () => [text("The answer of two.")]);
      await expect.poll(() => two.channel.textsTo(), { timeout: 60_000 }).toEqual(["The answer of two."]);
      release();
      await expect.poll(() => session!.hosted.session.readOnly?.reason, { timeout: 30_000 }).toBe("overtaken");
      await expect.poll(() => session!.hosted.session.isStreaming).toBe(false);
      // What the first node would have to say is in the log that both share before the second one is asked again.
      await two.channel.receive("/help");
      await expect.poll(() => two.channel.textsTo(), { timeout: 30_000 }).toHaveLength(2);
      expect(two.channel.textsTo()[1]).toMatch(/^\/new/);
      expect(one.channel.textsTo()).toHaveLength(1);
    },
  );
});
