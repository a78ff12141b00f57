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

/**
 * Whether each attempt has a project and a sandbox of its own, as every user and in every kind of sandbox. In a short run
 * attempts that cannot disturb each other share them, and most others alternate between users and kinds of sandboxes.
 */
const isLong = Boolean(process.env["TAU_LONG"]) || users.length === 1;

type Mode = "session" | "each command";

/** Whether what an attempt could use is mounted in the same way in every sandbox. */
const isAlike = ({ name }: EscapeCase) => /^(?:writes|protected|reads):/.test(name);

/** The kinds of attempts that need no project of their own, as names begin. Those of a kind share one, and its sandbox. */
const sharedKinds = ["writes:", "reads:", "processes:", "survives", "network:", "kernel:"];

/** Attempts at protected names that share a project and its sandbox: each has a name of its own there. */
const protectedKind = /^protected: .*, (?:missing|a file|a link)$/;

/** The kind of attempts that share a project with this one, or undefined if it needs its own. */
function getSharedKind({ name, attack }: EscapeCase): string | undefined {
  if (protectedKind.test(name)) return name.replace(/.*, /, "protected: ");
  // Other attempts look at, or change, what is outside of the workspace, and have no process of their own outside.
  const isOwn = /\.\.\/|\$P\/ws|mv \$P\/outside |a link to it|an abstract socket|a socket that was renamed/.test(
    `${attack} ${name}`,
  );
  return isOwn ? undefined : sharedKinds.find((kind) => name.startsWith(kind));
}

function isTried(one: EscapeCase, user: User, mode: Mode): boolean {
  const index = escapeCases.indexOf(one);
  if (isLong || (getSharedKind(one) !== undefined && !protectedKind.test(one.name)))
    return mode === "session" || !isAlike(one) || index % 4 === 0;
  if (isAlike(one)) return index % (mode === "session" ? 2 : 8) === (user === "root" ? 0 : 1);
  if (one.name.startsWith("git:")) return (index % 2 === 0) === ((user === "root") === (mode === "session"));
  return true;
}

/** The attempts of each sandbox. */
function toGroups(cases: readonly EscapeCase[]): EscapeCase[][] {
  if (isLong) return cases.map((one) => [one]);
  const groups = new Map<string, EscapeCase[]>();
  for (const one of cases) {
    const kind = getSharedKind(one) ?? one.name;
    groups.set(kind, [...(groups.get(kind) ?? []), one]);
  }
  return [...groups.values()];
}

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
afterAll(async () => {
  servers.close();
  await removeBase(base);
});

for (const user of users) {
  describe(`as ${user === "root" ? "root" : "an ordinary user"}`, () => {
    const select = (mode: Mode) =>
      escapeCases.filter((one) => (one.user === undefined || one.user === user) && isTried(one, user, mode));
    const chosen = new Set([...select("session"), ...select("each command")]);
    // What root can do to files, an ordinary user can do to their own.
    const isKnown = (one: EscapeCase) => !isLong && user === "ordinary" && isAlike(one);
    const cases = escapeCases.filter((one) => chosen.has(one) && !isKnown(one));
    const missing = new Set<string>();
    const selectPossible = (mode: Mode) => select(mode).filter(({ name }) => !missing.has(name));

    test("every attempt succeeds without the sandbox", async () => {
      const alone = cases.map((one) => [one]);
      const attempts = (await prepare(user, alone, "bare")).flat();
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
      for (const { name } of skipped) missing.add(name);
    });

    test("none succeeds in a sandbox for the session", async () => {
      if (base.helper === undefined) return;
      expect(await attemptInside(user, toGroups(selectPossible("session")), base.helper)).toEqual([]);
    });

    test("none succeeds in a sandbox for each command", async () => {
      expect(await attemptInside(user, toGroups(selectPossible("each command")), false)).toEqual([]);
    });
  });
}

const endVictim = "test -e $P/victim && kill $(cat $P/victim)";

interface Attempt extends EscapeCase {
  env: ReturnType<typeof getEnv> & { LOOKS: string };
}

/** Makes a project for the attempts of each group. */
async function prepare(user: User, groups: readonly EscapeCase[][], prefix: string): Promise<Attempt[][]> {
  const projects = await createProjects(
    base,
    user,
    groups.map((_unused, index) => `${prefix}-${index}`),
  );
  return groups.map((group, index) => {
    const env = {
      ...getEnv(projects[index]!, `${user.length}${prefix.length}${index}`),
      // How often to look for what escapes later. Without the sandbox it comes for certain, however busy the machine is.
      LOOKS: prefix === "bare" ? "1000" : "10",
    };
    return group.map((one) => ({ ...one, env }));
  });
}

/** The names of the attempts that succeed. */
async function attemptInside(user: User, groups: readonly EscapeCase[][], helper: string | false): Promise<string[]> {
  const prepared = await prepare(user, groups, helper === false ? "each" : "session");
  const attempts = prepared.flat();
  // Once for attempts that begin alike: they share what it makes.
  const isFirst = (attempt: Attempt) =>
    attempts.find(({ setup, env }) => setup === attempt.setup && env === attempt.env) === attempt;
  await runScripts(user, attempts.filter(isFirst), ({ setup = ":", env }) => [`cd ${env.P}/ws; ${setup}`]);
  const sessions = prepared.map((group) => {
    const { env } = group[0]!;
    // Each in a directory of its own where they use the same names.
    const commands = group.map(({ name, attack }, index) =>
      group.length === 1 || protectedKind.test(name) ? attack : `mkdir at-${index}; cd at-${index}; ${attack}`,
    );
    return { ...inProject(env.P), helper, env, commands };
  });
  const results = (await runSessions({ base, user, env: { CANARY: "secret" }, atOnce: 4 }, sessions)).flat();
  const checks = await runScripts(user, attempts, ({ escaped = "false" }) => [escaped]);
  await runScripts(
    user,
    prepared.map((group) => group[0]!),
    () => [endVictim],
  );
  return attempts.flatMap((attempt, index) => {
    const { text, state } = results[index]!;
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

/** Starts servers that a command could reach outside. */
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
