/** The packed program opens an account of Discord with the library that it contains. */
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { DiscordServer, discordToken } from "../../../gateway/test/channels/discord-server.ts";
import { createModelWorkspace, textReply } from "../kit.ts";
import { installed, runPacked, start } from "./kit.ts";

test("a stranger is let in and answered, and nothing of the library is loaded without an account", async () => {
  const server = new DiscordServer();
  const baseUrl = await server.listen();
  onTestFinished(() => server.close());
  const workspace = await createModelWorkspace([textReply("Hello, Ann.")]);
  const settings = join(workspace.agentDir, "settings.json");
  const written = JSON.parse(await readFile(settings, "utf8").catch(() => "{}")) as object;
  await mkdir(workspace.agentDir, { recursive: true });
  const channels = { club: { type: "discord", baseUrl } };
  await writeFile(settings, JSON.stringify({ ...written, gateway: { channels } }));
  expect(await runPacked(workspace, ["channels", "login", "club"], { input: `${discordToken}\n` })).toMatchObject({
    code: 0,
  });
  const gateway = await start(workspace, ["gateway", "--port", "0"]);
  await expect
    .poll(async () => (await runPacked(workspace, ["channels", "list"])).out)
    .toMatch(/^club +discord +connected/m);
  server.write("Hello?");
  await expect.poll(() => server.textsTo().length).toBe(1);
  const [, code = ""] = /pair (\w+)$/.exec(server.textsTo()[0]!) ?? [];
  expect(await runPacked(workspace, ["channels", "pair", code])).toMatchObject({ code: 0 });
  server.write("Hello!");
  await expect.poll(() => server.textsTo()[1]).toBe("Hello, Ann.");
  gateway.child.kill("SIGTERM");
  expect(await gateway.ended).toMatchObject({ code: 0, err: expect.not.stringContaining("Warning") });
  const dist = join(await installed(), "dist");
  const files = (await readdir(dist)).filter((name) => name.endsWith(".cjs"));
  const texts = await Promise.all(files.map(async (name) => [name, await readFile(join(dist, name), "utf8")] as const));
  expect(texts.filter(([, text]) => text.includes("discord.com/api")).map(([name]) => name)).toEqual(["discord.cjs"]);
});
