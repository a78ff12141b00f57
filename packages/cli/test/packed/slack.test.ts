/** The packed program with an account of Slack, whose libraries are in a file of their own. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SlackServer, slackTokens } from "../../../gateway/test/channels/slack-server.ts";
import { createModelWorkspace, textReply } from "../kit.ts";
import { installed, runPacked, start } from "./kit.ts";

test("an account of Slack is stored, connected and answered by the packed program", async () => {
  const server = new SlackServer();
  onTestFinished(() => server.close());
  const baseUrl = await server.listen();
  const workspace = await createModelWorkspace([textReply("Hello, Ann.")]);
  const channels = { work: { type: "slack", baseUrl } };
  const settings = { defaultModel: "acme/small", gateway: { channels } };
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify(settings));
  const input = `${slackTokens.bot}\n${slackTokens.app}\n`;
  expect(await runPacked(workspace, ["channels", "login", "work"], { input })).toMatchObject({ code: 0 });
  const gateway = await start(workspace, ["gateway", "--port", "0"]);
  await expect.poll(() => server.connections).toBe(1);
  await server.write("Hello?");
  await expect.poll(() => server.posted.length).toBe(1);
  const [, code = ""] = /pair (\w+)/.exec(String(server.posted[0]!["text"])) ?? [];
  const paired = await runPacked(workspace, ["channels", "pair", code]);
  expect(paired.out).toContain("Name of U1 (T1/U1) may write to work now.");
  await server.write("Hello!");
  await expect.poll(() => server.posted.at(-1)).toMatchObject({ channel: "D1", text: "Hello, Ann." });
  expect((await runPacked(workspace, ["channels", "list"])).out).toMatch(/work +slack +connected/);
  gateway.child.kill("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0 });
  expect(gateway.output().err).not.toMatch(/xox|xapp/);
});

test("nothing of Slack is in the files that other programs read", async () => {
  const directory = join(await installed(), "dist");
  const files = (await readdir(directory)).filter((name) => name.endsWith(".cjs"));
  const texts = await Promise.all(files.map(async (name) => [name, await readFile(join(directory, name), "utf8")]));
  expect(texts.filter(([, text]) => text!.includes("api.slack.com")).map(([name]) => name)).toEqual(["slack.cjs"]);
});
