/**
 * Shared helpers of the torture tests. They run with all tests; a longer run is
 *
 *     TORTURE=10 npx vitest run packages/harness/test/torture
 *
 * which repeats everything ten times as often, with ten times the timeouts. Where a test gives two numbers, the first is
 * for `TAU_LONG=1` and for longer runs, and otherwise a sample is taken. `SEED=…` sets the random seed, which is printed.
 */
import { mkdtempSync, realpathSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UserMessage } from "@tau/ai";
import type { FileSystem, OpenHandle } from "@tau/tools/platform";
import { build } from "esbuild";
import { onTestFinished } from "vitest";
import type { SessionEntry, SessionHeader } from "../../src/session/entry.ts";
import { encodeLine } from "../../src/session/line.ts";
import type { Recovered } from "../../src/session/recover.ts";
import type { SessionManager } from "../../src/session/session-manager.ts";

/** How many times longer this run is than the default. */
export const factor = Math.max(1, Number(process.env["TORTURE"]) || 1);
/** Whether everything is tried, and not a sample. */
export const isLong = factor > 1 || Boolean(process.env["TAU_LONG"]);
/** How often to repeat something: `count` times the factor, or `sample` times in a short run. */
export const times = (count: number, sample = count): number => (isLong ? Math.ceil(count * factor) : sample);
/** A time limit in milliseconds, from the seconds that are more than enough on an idle machine. */
export const patience = (seconds: number): number => 5 * seconds * 1_000 * factor;

/** Numbers from 0 to 1 that depend only on the seed. */
export type Random = () => number;
export const seed = Number(process.env["SEED"]) || 20_261_115;
export function randomFrom(start: number = seed): Random {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
export const below = (random: Random, limit: number): number => Math.floor(random() * limit);

/** A new directory that is removed after the test. */
export function scratch(parent: string = tmpdir()): string {
  const path = realpathSync(mkdtempSync(join(parent, "tau-torture-")));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** In memory if possible, for tests that need no real disk. */
export const quickScratch = (): string =>
  scratch(statSync("/dev/shm", { throwIfNoEntry: false }) ? "/dev/shm" : tmpdir());

export const user = (text: string): UserMessage => ({ role: "user", content: text, timestamp: 1 });

export const header = (id = "torture"): SessionHeader => ({
  type: "session",
  version: 3,
  id,
  timestamp: "2026-01-01T00:00:00.000Z",
  cwd: "/project",
});

export const hexId = (number: number): string => number.toString(16).padStart(8, "0");

/** An entry with an id from `number`; `parent` is the number of its parent, 0 for a root. */
export const entry = (number: number, parent = number - 1, text = `m${number}`): SessionEntry => ({
  type: "message",
  id: hexId(number * 0x01234567),
  parentId: parent === 0 ? null : hexId(parent * 0x01234567),
  timestamp: "2026-01-01T00:00:00.000Z",
  message: user(text),
});

export const plainLine = (value: object): Buffer => Buffer.from(`${JSON.stringify(value)}\n`);

/** A log with this many entries, each the child of the one before it. */
export function createLog(count: number, encode: (value: object) => Buffer = encodeLine): Buffer {
  const entries = Array.from({ length: count }, (_unused, index) => entry(index + 1));
  return Buffer.concat([header(), ...entries].map(encode));
}

/** The ids of the recovered entries, in the order of the log. */
export const idsIn = (bytes: Buffer, { table }: Recovered): string[] =>
  table.entryRows().map((row) => {
    const text = bytes.toString("utf8", table.offset(row), table.offset(row) + table.length(row));
    return (JSON.parse(text) as SessionEntry).id;
  });

export const sessionIds = async (session: SessionManager): Promise<string[]> =>
  (await session.getEntries()).map(({ id }) => id);

/** Bundles a script of this directory into one file. */
export async function bundle(name: string, directory: string): Promise<string> {
  const outfile = join(directory, `${name}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    conditions: ["@tau/source"],
    logLevel: "silent",
    external: ["google-auth-library"],
  });
  return outfile;
}

/** A file system that passes each call to `handleCall`, which may call `proceed` or do something else. */
export function interceptCalls(
  real: FileSystem,
  handleCall: (
    call: string,
    args: unknown[],
    proceed: () => Promise<unknown>,
    handle: OpenHandle | undefined,
  ) => Promise<unknown>,
): FileSystem {
  const wrap = <T extends object>(target: T, handle?: OpenHandle): T =>
    new Proxy(target, {
      get(object, property, receiver) {
        const value: unknown = Reflect.get(object, property, receiver);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          const proceed = async () => (await Reflect.apply(value, object, args)) as unknown;
          const result = await handleCall(`${handle ? "handle." : ""}${String(property)}`, args, proceed, handle);
          return property === "open" ? wrap(result as OpenHandle, result as OpenHandle) : result;
        };
      },
    });
  return wrap({ ...real });
}

export const systemError = (code: string): Error => Object.assign(new Error(`${code}: injected`), { code });
