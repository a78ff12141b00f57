import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findGateway } from "@tau/protocol/node";
import { expect, onTestFinished, test } from "vitest";
import { createIo, createWorkspace, run, type Workspace } from "../kit.ts";
import { main } from "../../src/start/main.ts";

async function writeSettings(workspace: Workspace, gateway: object): Promise<void> {
  await mkdir(workspace.agentDir, { recursive: true });
  await writeFile(join(workspace.agentDir, "settings.json"), JSON.stringify({ gateway }));
}

async function startGateway(workspace: Workspace): Promise<void> {
  const stop = new AbortController();
  const { io } = createIo(workspace, { signal: stop.signal });
  const ended = main(["gateway", "--port", "0"], io);
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  await expect.poll(() => findGateway(workspace.agentDir)).toBeDefined();
}

test("a stranger is let in by the code that they got, listed, and shut out again", async () => {
  const workspace = await createWorkspace();
  // Writes as Ann, and writes down what she gets.
  const program = join(workspace.directory, "chat.mjs");
  await writeFile(
    program,
    `import { appendFileSync } from "node:fs";
    import { createInterface } from "node:readline";
    const write = (value) => process.stdout.write(JSON.stringify(value) + "\\n");
    createInterface({ input: process.stdin }).on("line", (line) => {
      const { type, id, text } = JSON.parse(line);
      if (type !== "send") return;
      appendFileSync(${JSON.stringify(join(workspace.directory, "got"))}, text + "\\n");
      write({ type: "delivery", id, status: "refused", reason: "Ann is away." });
    });
    write({ type: "message", id: "1", address: { channelId: "c" }, sender: { id: "ann", name: "Ann" }, text: "Hi" });`,
  );
  await writeSettings(workspace, { channels: { club: { type: "stdio", command: process.execPath, args: [program] } } });
  expect(await run(workspace, ["channels", "list"])).toMatchObject({
    code: 1,
    err: expect.stringContaining("No gateway of yours is running."),
  });
  await startGateway(workspace);
  await expect
    .poll(async () => (await run(workspace, ["channels", "outbox"])).out)
    .toMatch(/club +c +refused: Ann is away\. .*tau channels pair/);
  const listed = await run(workspace, ["channels", "list"]);
  expect(listed.out).toMatch(/^club +stdio +connected +\S+Z +0 +1$/m);
  const [reply] = (await run(workspace, ["channels", "outbox", "--json"])).out.split("\n");
  const { id, text } = JSON.parse(reply!) as { id: string; text: string };
  const code = text.split(" ").at(-1)!;
  expect((await run(workspace, ["channels", "peers"])).out).toMatch(/club +ann +Ann +has a code/);
  expect((await run(workspace, ["channels", "pair", "WRONGWRO"])).err).toContain("Nobody waits with this code");
  expect((await run(workspace, ["channels", "pair", code.toLowerCase()])).out).toContain("Ann (ann) may write to club");
  expect((await run(workspace, ["channels", "peers"])).out).toMatch(/club +ann +Ann +paired/);
  expect((await run(workspace, ["channels", "drop", id])).code).toBe(0);
  expect((await run(workspace, ["channels", "outbox"])).out).toBe("Everything is delivered.\n");
  expect((await run(workspace, ["channels", "test", "club"])).err).toContain("Nobody has written to it yet");
  expect((await run(workspace, ["channels", "unpair", "club", "ann"])).code).toBe(0);
  expect((await run(workspace, ["channels", "unpair", "club", "ann"])).code).toBe(1);
});

test("a channel of an unknown type fails alone, and says why, also in its own lines of the log", async () => {
  const workspace = await createWorkspace();
  await writeSettings(workspace, {
    channels: { x: { type: "pigeon" }, xx: { type: "pigeon" }, off: { type: "stdio", enabled: false } },
  });
  await startGateway(workspace);
  await expect
    .poll(async () => (await run(workspace, ["channels", "list"])).out)
    .toMatch(/^x +pigeon +failed: There is no/m);
  await expect
    .poll(async () => (await run(workspace, ["channels", "logs", "xx"])).out)
    .toBe("The channel xx failed: There is no channel of the type pigeon.\n");
  expect((await run(workspace, ["channels", "logs", "x"])).out).toBe(
    "The channel x failed: There is no channel of the type pigeon.\n",
  );
  expect((await run(workspace, ["channels", "list"])).out).toMatch(/^off +stdio +off /m);
  expect((await run(workspace, ["channels", "login", "off"])).out).toContain("needs no secret");
  expect((await run(workspace, ["channels", "login", "nobody"])).code).not.toBe(0);
});

test("routes are listed and explained", async () => {
  const workspace = await createWorkspace();
  const bindings = [
    { agent: "support", match: { channel: "discord", accountId: "work" } },
    { agent: "ops", match: { channel: "discord", guildId: "g", roles: ["admin", "root"] } },
  ];
  await writeSettings(workspace, { bindings, defaultAgent: "helper" });
  expect((await run(workspace, ["routes", "list"])).out).toMatch(/2 +ops +discord, guild g, role admin or root/);
  const explain = async (...args: string[]) => (await run(workspace, ["routes", "explain", "discord", ...args])).out;
  expect(await explain("--account", "work")).toBe(
    "support answers (binding.account: number 1, discord, account work).\n",
  );
  expect(await explain("--account", "work", "--guild", "g", "--roles", "root")).toContain(
    "ops answers (binding.guild+roles:",
  );
  expect(await explain("--peer", "direct:4711")).toBe("helper answers (default: no binding fits).\n");
  expect((await run(workspace, ["routes", "explain", "discord", "--peer", "4711"])).err).toContain("direct:4711");
});

test("an extension brings a channel, with its secrets, and ends with its account", async () => {
  const workspace = await createWorkspace();
  const path = join(workspace.directory, "pigeons");
  await mkdir(join(workspace.agentDir, "extensions"), { recursive: true });
  await writeFile(
    join(workspace.agentDir, "extensions", "pigeon.ts"),
    `import { appendFileSync } from "node:fs";
    const write = (line) => appendFileSync(${JSON.stringify(path)}, line + "\\n");
    export default (tau: any) => {
      tau.registerChannel("pigeon", {
        secrets: { ring: "The number on the ring" },
        open: async ({ getSecret }) => {
          write("ring " + (await getSecret("ring")));
          return {
            limits: { maxTextLength: 100, maxFileBytes: 0, provesNonce: false },
            async run(events, signal) {
              events.onState({ kind: "connected" });
              await events.onMessage({
                id: "1", address: { channelId: "roof" }, sender: { id: "ann", name: "Ann" },
                peer: { kind: "direct", id: "ann" }, text: "Hi", isMentioned: false,
              });
              await new Promise((resolve) => signal.addEventListener("abort", resolve));
              write("home");
            },
            async send({ text }) {
              write("sent " + text);
              return { kind: "sent", messageId: "2" };
            },
          };
        },
      });
    };`,
  );
  await writeSettings(workspace, { channels: { roof: { type: "pigeon" }, none: { type: "crow" } } });
  const login = await run(workspace, ["channels", "login", "roof"], { input: "GB-2026-4711\n" });
  expect(login).toMatchObject({ code: 0, err: "" });
  expect((await run(workspace, ["channels", "login", "none"])).err).toContain("There is no channel of the type crow.");
  await startGateway(workspace);
  const read = async () => await readFile(path, "utf8").catch(() => "");
  await expect.poll(read).toMatch(/^ring GB-2026-4711\nsent Hello\. .*tau channels pair/);
  expect((await run(workspace, ["channels", "list"])).out).toMatch(/^roof +pigeon +connected/m);
  expect((await run(workspace, ["channels", "list"])).out).toMatch(
    /^none +crow +failed: There is no channel of the type/m,
  );
  await writeSettings(workspace, { channels: {} });
  expect((await run(workspace, ["gateway", "reload"])).code).toBe(0);
  await expect.poll(read).toMatch(/home\n$/);
});
