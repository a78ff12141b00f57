import { appendFileSync, chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createSocket } from "node:dgram";
import { createServer, type ListenOptions, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { findProgram } from "../src/programs.ts";
import { type EscapeCase, escapeCases } from "./escape-cases.ts";
import {
  type Base,
  createBase,
  createProjects,
  inProject,
  type Outcome,
  outside,
  removeBase,
  runSessions,
  type User,
  users,
} from "./kit.ts";

test("there are at least 120 ways out that are tried", () => {
  expect(escapeCases.length).toBeGreaterThanOrEqual(120);
  expect(new Set(escapeCases.map(({ name }) => name)).size).toBe(escapeCases.length);
});

let base: Base;
let servers: Awaited<ReturnType<typeof startServers>>;

beforeAll(async () => {
  base = await createBase();
  servers = await startServers(base.directory);
});
afterAll(() => {
  servers.close();
  removeBase(base);
});

for (const user of users) {
  describe(`as ${user === "root" ? "root" : "an ordinary user"}`, () => {
    const cases = escapeCases.filter((one) => one.user === undefined || one.user === user);
    let possible: readonly EscapeCase[];

    test("every attempt succeeds without the sandbox", async () => {
      const attempts = await prepare(user, cases, "bare");
      const results = await runScripts(user, attempts, ({ setup = ":", attack, escaped = "false", env }) => [
        `cd ${env.P}/ws; ${setup}`,
        `cd ${env.P}/ws; ${attack}`,
        escaped,
        endVictim,
      ]);
      const failed = attempts.filter((attempt, index) => !hasEscaped(attempt, results[index]!));
      const skipped = failed.filter(({ needs }) => isMissing(needs));
      for (const { name, needs } of skipped) console.log(`Not tried, because it needs ${needs}: ${name}`);
      expect(failed.filter((attempt) => !skipped.includes(attempt)).map(({ name }) => name)).toEqual([]);
      const names = new Set(skipped.map(({ name }) => name));
      possible = cases.filter(({ name }) => !names.has(name));
    });

    test("none succeeds in a sandbox for the session", async () => {
      if (base.helper !== undefined) expect(await attemptInside(user, possible, base.helper)).toEqual([]);
    });

    test("none succeeds in a sandbox for each command", async () => {
      // What is mounted is the same as above, so of these a part is tried.
      const isAlike = ({ name }: EscapeCase) => /^(?:writes|protected|reads):/.test(name);
      const some = possible.filter((one, index) => !isAlike(one) || index % 4 === 0);
      expect(await attemptInside(user, some, false)).toEqual([]);
    });
  });
}

const endVictim = "test -e $P/victim && kill $(cat $P/victim)";

interface Attempt extends EscapeCase {
  env: ReturnType<typeof getEnv> & { LOOKS: string };
}

async function prepare(user: User, cases: readonly EscapeCase[], prefix: string): Promise<Attempt[]> {
  const projects = await createProjects(
    base,
    user,
    cases.map((_unused, index) => `${prefix}-${index}`),
  );
  return cases.map((one, index) => ({
    ...one,
    env: {
      ...getEnv(projects[index]!, `${user.length}${prefix.length}${index}`),
      // How often to look for what escapes later. Without the sandbox it comes for certain, however busy the machine is.
      LOOKS: prefix === "bare" ? "1000" : "10",
    },
  }));
}

/** The names of the attempts that succeed. */
async function attemptInside(user: User, cases: readonly EscapeCase[], helper: string | false): Promise<string[]> {
  const attempts = await prepare(user, cases, helper === false ? "each" : "session");
  await runScripts(user, attempts, ({ setup = ":", env }) => [`cd ${env.P}/ws; ${setup}`]);
  const sessions = attempts.map(({ env, attack }) => ({ ...inProject(env.P), helper, env, commands: [attack] }));
  const results = await runSessions({ base, user, env: { CANARY: "secret" }, atOnce: 4 }, sessions);
  const checks = await runScripts(user, attempts, ({ escaped = "false" }) => [escaped, endVictim]);
  return attempts.flatMap((attempt, index) => {
    const [{ text, state } = { text: "", state: "" }] = results[index]!;
    // In a sandbox that does not start, nothing succeeds either.
    const hasStarted = !/^bwrap: /m.test(text);
    const isInside = hasStarted && state.includes(helper === false ? '"bwrap"' : '"helper"');
    const isFree = hasEscaped(attempt, [{ code: 0, text }, { code: 0, text }, checks[index]![0]!]);
    return isInside && !isFree ? [] : [`${attempt.name}: ${state} ${text.slice(0, 300)}`];
  });
}

/** Setup, attack and check. */
const hasEscaped = ({ escaped }: EscapeCase, [, attack, check]: readonly Outcome[]): boolean =>
  escaped === undefined ? /^ESCAPED$/m.test(attack!.text) : check!.code === 0;

const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/** Runs the scripts of each attempt, all in one shell, since processes take most of the time of this test. */
async function runScripts(
  user: User,
  attempts: readonly Attempt[],
  toScripts: (attempt: Attempt) => string[],
): Promise<Outcome[][]> {
  const blocks = attempts.map((attempt) => {
    const names = Object.entries(attempt.env).map(([name, value]) => `export ${name}=${quote(value)};`);
    const steps = toScripts(attempt).map(
      (script) => `out=$(bash --norc --noprofile -c ${quote(script)} </dev/null 2>&1); printf '%s\\0%s\\0' $? "$out"`,
    );
    return `(${names.join(" ")} ${steps.join("; ")})`;
  });
  const { text } = await outside(user, blocks.join("\n"));
  const fields = text.split("\0");
  expect(fields.length).toBe(2 * attempts.flatMap(toScripts).length + 1);
  return attempts.map((attempt) =>
    toScripts(attempt).map(() => {
      const [code = "", output = ""] = fields.splice(0, 2);
      return { code: Number(code), text: output };
    }),
  );
}

const getEnv = (project: string, id: string) => ({
  P: project,
  HOME: join(project, "home"),
  ID: `${process.pid}${id}`,
  ...servers.env,
});

function isMissing(need: string | undefined): boolean {
  if (need === undefined) return false;
  if (need === "vsock") return true;
  if (need.startsWith("/")) return !existsSync(need);
  if (need === "network") return Object.keys(networkInterfaces()).every((name) => name === "lo");
  return findProgram(need, "/nowhere") === undefined;
}

/** What a command could reach outside. */
async function startServers(directory: string) {
  const listen = (options: ListenOptions | string) =>
    new Promise<Server>((resolve, reject) => {
      const server = createServer((socket) => socket.on("error", () => undefined).end("HTTP/1.0 200 OK\r\n\r\n"));
      server.once("error", reject);
      server.listen(options as ListenOptions, () => resolve(server));
    });
  const open = join(directory, "open");
  mkdirSync(open);
  const [socket, datagrams] = [join(open, "socket"), join(open, "datagrams")];
  writeFileSync(datagrams, "");
  const all = [
    await listen({ host: "127.0.0.1", port: 0 }),
    await listen({ host: "::1", port: 0 }),
    await listen(socket),
  ];
  for (const path of [open, socket]) chmodSync(path, 0o777);
  const udp = createSocket("udp4");
  udp.on("message", (message) => appendFileSync(datagrams, `${message.toString()}\n`));
  await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
  const portOf = (server: Server) => String((server.address() as { port: number }).port);
  return {
    env: {
      PORT: portOf(all[0]!),
      PORT6: portOf(all[1]!),
      SOCKET: socket,
      UDP: String(udp.address().port),
      DATAGRAMS: datagrams,
    },
    close() {
      for (const server of all) server.close();
      udp.close();
    },
  };
}
