/** docs/gateway.md is true: its tables are complete, its frames are frames, and its client works. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { scriptedModel, text } from "@tau/ai/testing";
import type { Fields } from "@tau/config/fields";
import { nameEvent, type SessionEvent } from "@tau/protocol";
import { createProof, gatewayScopes, importToken, methodScopes } from "@tau/protocol/gateway";
import { expect, onTestFinished, test } from "vitest";
import { approvalMethods } from "../../src/methods/approvals.ts";
import { configMethods } from "../../src/methods/config.ts";
import { devicesMethods } from "../../src/methods/devices.ts";
import { dialogMethods } from "../../src/methods/dialogs.ts";
import { healthMethods } from "../../src/methods/health.ts";
import { inboxMethods } from "../../src/methods/inbox.ts";
import { interruptMethods } from "../../src/methods/interrupt.ts";
import { modelMethods } from "../../src/methods/models.ts";
import { sessionsMethods } from "../../src/methods/sessions.ts";
import { sharesMethods } from "../../src/methods/shares.ts";
import { usageMethods } from "../../src/methods/usage.ts";
import { parseConnect, parseFrame } from "../../src/server/connect-params.ts";
import { errorStatuses } from "../../src/server/http.ts";
import { limits } from "../../src/server/limits.ts";
import { openTestGateway } from "../../src/testing/index.ts";

const page = readFileSync(join(import.meta.dirname, "../../../../docs/gateway.md"), "utf8");
const clientPath = join(import.meta.dirname, "client.mjs");

/** The rows of the tables in a section, without their heads. */
function readRows(heading: string): string[][] {
  const section = page.split(`\n### ${heading}\n`)[1]?.split(/\n##+ /)[0] ?? "";
  const rows = [...section.matchAll(/^\| (`.*) \|$/gm)].map(([, cells]) =>
    cells!.split("|").map((cell) => cell.trim()),
  );
  return rows.filter(([first]) => first !== "event");
}

const listNames = (cell: string): string[] => [...cell.matchAll(/`([\w.]+)`/g)].map(([, name]) => name!);

const ownFields: Record<string, { fields: Fields }> = {
  ...approvalMethods,
  ...configMethods,
  ...devicesMethods,
  ...dialogMethods,
  ...healthMethods,
  ...inboxMethods,
  ...interruptMethods,
  ...modelMethods,
  ...sessionsMethods,
  ...sharesMethods,
  ...usageMethods,
};
const methodRows = readRows("Methods").filter(([name]) => !gatewayScopes.some((scope) => name === `\`${scope}\``));

test("every method of the gateway's own has one row, with its scope", () => {
  const rows = methodRows.map(([name = "", scope = ""]) => [listNames(name)[0], listNames(scope)[0]]);
  const own = Object.entries(methodScopes).filter(([name]) => !name.startsWith("session."));
  expect(rows.toSorted()).toEqual(own.toSorted());
});

test.each(Object.keys(ownFields))("the row of %s has its parameters", (name) => {
  const cell = methodRows.find(([first]) => first === `\`${name}\``)![2]!;
  const optional = [...cell.matchAll(/\[`(\w+)`\]/g)].map(([, field]) => field!);
  const required = listNames(cell).filter((field) => !optional.includes(field));
  const fields = Object.entries(ownFields[name]!.fields);
  const list = (isOptional: boolean) =>
    fields.flatMap(([field, kind]) => ((kind.optional === true) === isOptional ? [field] : [])).toSorted();
  expect({ required: required.toSorted(), optional: optional.toSorted() }).toEqual({
    required: list(false),
    optional: list(true),
  });
});

test.each(["read", "write", "approve", "admin"])("the commands that need the scope %s are listed", (scope) => {
  const row = readRows("Methods").find(([first]) => first === `\`${scope}\``)!;
  const commands = Object.entries(methodScopes).flatMap(([name, needed]) =>
    name.startsWith("session.") && needed === scope ? [name.slice("session.".length)] : [],
  );
  expect(listNames(row[1]!).toSorted()).toEqual(commands.toSorted());
});

/** A kind of event that is not here does not compile. */
const eventTypes: Record<SessionEvent["type"], true> = {
  agent_start: true,
  agent_end: true,
  turn_start: true,
  turn_end: true,
  message_start: true,
  message_end: true,
  text_delta: true,
  thinking_delta: true,
  toolcall_delta: true,
  tool_execution_start: true,
  tool_execution_update: true,
  tool_execution_end: true,
  error: true,
  entry_appended: true,
  session_branched: true,
  compaction_start: true,
  compaction_end: true,
  tool_denied: true,
  model_changed: true,
  model_used: true,
  queue_changed: true,
  approval_requested: true,
  approval_resolved: true,
  retry_scheduled: true,
  cache_break: true,
  jobs_changed: true,
  permission_mode_changed: true,
  notice: true,
};

test("every event has its name on the wire", () => {
  const rows = readRows("Events and resuming").flatMap(([name = "", types = ""]) =>
    listNames(types).map((type) => [type, listNames(name)[0]]),
  );
  const named = Object.keys(eventTypes).map((type) => [type, nameEvent({ type } as SessionEvent, "")?.name]);
  expect(rows.filter(([type]) => type !== "eventType").toSorted()).toEqual(named.toSorted());
});

test("every error has its status", () => {
  const rows = readRows("Errors").map(([code = "", status = ""]) => [listNames(code)[0], Number(status)]);
  // All others have 400, of which the page names some.
  const others = rows.filter(([code]) => !Object.hasOwn(errorStatuses, String(code)));
  expect(rows.toSorted()).toEqual([...Object.entries(errorStatuses), ...others].toSorted());
  for (const [code, status] of others) expect([code, status]).toEqual([code, 400]);
});

/** The lines of the blocks that show frames. */
const frames = [...page.matchAll(/```json\n([\s\S]*?)```/g)]
  .flatMap(([, block]) => block!.split("\n"))
  .filter((line) => line.startsWith('{ "type"'))
  .map(
    (line) => JSON.parse(line) as { type: string; method?: string; event?: string; params?: never; payload?: never },
  );

test("the frames of a client are accepted, and those of the gateway have their fields", () => {
  expect(frames.length).toBeGreaterThan(10);
  for (const frame of frames.filter(({ type }) => type === "req")) {
    expect(parseFrame(JSON.stringify(frame))).toEqual(frame);
    expect(methodScopes).toHaveProperty([frame.method!]);
  }
  const hello = frames.find(({ payload }) => payload?.["type"] === "hello-ok");
  expect(hello?.payload).toMatchObject({ limits });
});

test("the proof of the example is right", async () => {
  const [, token] = /With the token `([\w-]+)`/.exec(page)!;
  const { nonce } = frames.find(({ event }) => event === "connect.challenge")!.payload as unknown as { nonce: string };
  const { deviceId, proof } = parseConnect(frames.find(({ method }) => method === "connect")!.params);
  expect(await createProof(await importToken(token!), { nonce, deviceId })).toBe(proof);
});

test("the client of the page is the one that is run here, and it works", async () => {
  const source = readFileSync(clientPath, "utf8");
  expect([...page.matchAll(/```js\n([\s\S]*?)```/g)].map(([, code]) => code)).toEqual([source]);
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(40);
  const opened = await openTestGateway({ model: scriptedModel([[text("A harness for agents.")]]) });
  onTestFinished(opened.close);
  const run = async (token: string) => {
    const env = { ...process.env, TAU_URL: opened.gateway.url, TAU_TOKEN: token, TAU_CWD: opened.workspace };
    const child = spawn(process.execPath, [clientPath, "What is this?"], { env, stdio: ["ignore", "pipe", "pipe"] });
    const [out, err] = await Promise.all([readText(child.stdout), readText(child.stderr), once(child, "close")]);
    return { out, err };
  };
  expect(await run(opened.token)).toEqual({ out: "A harness for agents.", err: "" });
  expect(await run("wrong")).toEqual({ out: "", err: "No device has shown this token.\n" });
});

test("the unit leaves /proc whole, so that commands can have a sandbox with a /proc of its own", () => {
  const [, unit = ""] = /\n\[Unit\]\n(.*?)\n```/s.exec(page) ?? [];
  const settings = new Map(unit.split("\n").map((line) => line.split("=", 2) as [string, string]));
  expect([settings.get("User"), settings.get("NoNewPrivileges")]).toEqual(["tau", "yes"]);
  const covering = ["ProcSubset", "ProtectHostname", "ProtectKernelLogs", "ProtectKernelTunables", "ProtectProc"];
  expect(covering.filter((name) => settings.has(name))).toEqual([]);
});
