/** docs/channels.md leads to an agent in Discord, Slack and Telegram: its commands, one after the other, with servers that play them. */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findGateway } from "@tau/protocol/node";
import { expect, onTestFinished, test } from "vitest";
import { directId, DiscordServer, discordToken } from "../../../gateway/test/channels/discord-server.ts";
import { SlackServer, slackTokens } from "../../../gateway/test/channels/slack-server.ts";
import { TelegramServer, telegramToken } from "../../../gateway/test/channels/telegram-server.ts";
import { main } from "../../src/start/main.ts";
import { createIo, createModelWorkspace, run, textReply } from "../kit.ts";

/** Plays a platform, with one person who writes to the account directly. */
interface Platform {
  readonly baseUrl: string;
  readonly tokens: string;
  write(text: string): unknown;
  /** The texts that the person got. */
  listTexts(): string[];
}

const platforms: Readonly<Record<string, () => Promise<Platform>>> = {
  async discord() {
    const server = new DiscordServer();
    onTestFinished(() => server.close());
    const listTexts = () => server.textsTo(directId);
    return { baseUrl: await server.listen(), tokens: discordToken, write: (text) => server.write(text), listTexts };
  },
  async slack() {
    const server = new SlackServer();
    onTestFinished(() => server.close());
    return {
      baseUrl: await server.listen(),
      tokens: `${slackTokens.bot}\n${slackTokens.app}`,
      write: (text) => server.write(text),
      listTexts: () => server.posted.map((post) => String(post["text"])),
    };
  },
  async telegram() {
    const server = new TelegramServer();
    onTestFinished(() => server.close());
    const listTexts = () => [...server.shown.values()].map(({ text }) => text);
    return { baseUrl: await server.listen(), tokens: telegramToken, write: (text) => server.write(text), listTexts };
  },
};

test.each(Object.keys(platforms))("from nothing to an agent in %s", async (type) => {
  const { baseUrl, tokens, write, listTexts } = await platforms[type]!();
  const workspace = await createModelWorkspace([textReply("Hello, Ann.")]);
  const account = { type, baseUrl, stream: false };
  const settings = { defaultModel: "acme/small", gateway: { channels: { mine: account } } };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  const stop = new AbortController();
  const { io } = createIo(workspace, { signal: stop.signal });
  const ended = main(["gateway", "--port", "0"], io);
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  await expect.poll(() => findGateway(workspace.agentDir)).toBeDefined();
  // Without its token it says what to do.
  await expect
    .poll(async () => (await run(workspace, ["channels", "list"])).out)
    .toMatch(/^mine .* failed: .*tau channels login mine/m);
  expect((await run(workspace, ["channels", "login", "mine"], { input: `${tokens}\n` })).code).toBe(0);
  const written = await readFile(join(workspace.agentDir, "settings.json"), "utf8");
  expect(tokens.split("\n").filter((token) => written.includes(token))).toEqual([]);
  expect((await run(workspace, ["gateway", "reload"])).code).toBe(0);
  await expect.poll(async () => (await run(workspace, ["channels", "list"])).out).toMatch(/^mine .* connected/m);
  await write("Hi");
  await expect.poll(() => listTexts().join("\n")).toMatch(/tau channels pair \w+/);
  const [, code = ""] = /tau channels pair (\w+)/.exec(listTexts().join("\n"))!;
  expect((await run(workspace, ["channels", "pair", code])).code).toBe(0);
  await write("Hi again");
  await expect.poll(() => listTexts().at(-1)).toBe("Hello, Ann.");
  expect((await run(workspace, ["channels", "test", "mine"])).out).toContain("A test was sent to");
  expect(listTexts().at(-1)).toBe("This is a test of the connection.");
  await expect.poll(async () => (await run(workspace, ["channels", "outbox"])).out).toBe("Everything is delivered.\n");
});
