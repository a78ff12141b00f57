/** RPC mode in this process, with raw lines or a client over streams. */
import { PassThrough } from "node:stream";
import { onTestFinished } from "vitest";
import { type ClientOptions, TauClient } from "@tau/protocol/node";
import { parseSessionArgs } from "../src/start/args.ts";
import type { Io } from "../src/commands/command.ts";
import type { ExitCode } from "../src/process/exit-codes.ts";
import { runRpc } from "../src/rpc/rpc.ts";
import type { Workspace } from "./kit.ts";

export type Json = Record<string, unknown>;

export interface Served {
  input: PassThrough;
  /** The output so far, parsed: each line has to be a JSON object. */
  records: Json[];
  err: () => string;
  done: Promise<ExitCode>;
  /** Resolves with the first record that matches, including earlier ones. */
  seen: (isMatch: (record: Json) => boolean) => Promise<Json>;
  /** Sends a record as a line. */
  send: (record: object) => void;
  /** Sends a command in pi's framing, and resolves with its response. */
  ask: (type: string, fields?: object) => Promise<Json>;
  /** Closes standard input. */
  close: () => Promise<ExitCode>;
}

export interface ServeOptions {
  args?: readonly string[];
  signal?: AbortSignal;
  drained?: Io["drained"];
}

/** Serves raw lines, until the end of the test at the latest. */
export function serve(workspace: Workspace, { args = [], signal, drained }: ServeOptions = {}): Served {
  const input = new PassThrough();
  const records: Json[] = [];
  const watchers = new Set<() => void>();
  let rest = "";
  const out = (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    records.push(...lines.map((line) => JSON.parse(line) as Json));
    for (const check of watchers) check();
  };
  const { done, err } = start(workspace, { input, out, args, signal, drained });
  const seen = (isMatch: (record: Json) => boolean) =>
    new Promise<Json>((resolve, reject) => {
      const check = () => {
        const record = records.find(isMatch);
        if (!record) return;
        watchers.delete(check);
        resolve(record);
      };
      watchers.add(check);
      check();
      void done.then(
        () =>
          reject(
            new Error(
              `RPC mode ended without a match. Its last records: ${JSON.stringify(records.slice(-5))} ${err()}`,
            ),
          ),
        reject,
      );
    });
  const send = (record: object) => void input.write(`${JSON.stringify(record)}\n`);
  let count = 0;
  return {
    input,
    records,
    err,
    done,
    seen,
    send,
    ask: (type, fields = {}) => {
      const id = `kit-${++count}`;
      send({ id, type, ...fields });
      return seen((record) => record["type"] === "response" && record["id"] === id);
    },
    close: () => {
      input.end();
      return done;
    },
  };
}

/** The typed client, connected to RPC mode. */
export function connect(workspace: Workspace, args: readonly string[] = [], options: ClientOptions = {}) {
  const toProgram = new PassThrough();
  const fromProgram = new PassThrough();
  const { done, err } = start(workspace, { input: toProgram, out: (text) => void fromProgram.write(text), args });
  void done.finally(() => fromProgram.end()).catch(() => undefined);
  const client = new TauClient({ toProgram, fromProgram }, options);
  return {
    client,
    err,
    close: () => {
      toProgram.end();
      return done;
    },
  };
}

interface StartOptions {
  input: PassThrough;
  out: (text: string) => void;
  args: readonly string[];
  signal?: AbortSignal | undefined;
  drained?: Io["drained"] | undefined;
}

function start({ directory, agentDir }: Workspace, { input, out, args, signal, drained }: StartOptions) {
  const parsed = parseSessionArgs(["--mode", "rpc", ...args]);
  if (parsed.kind !== "session") throw new Error(`The flags of the test are wrong: ${JSON.stringify(parsed)}`);
  let err = "";
  const done = runRpc(parsed.options, {
    out: (text) => out(String(text)),
    drained: drained ?? (() => undefined),
    err: (text) => void (err += text),
    input: () => input,
    terminal: { input: false, out: false, err: false },
    columns: undefined,
    colour: false,
    signal: signal ?? new AbortController().signal,
    cwd: directory,
    env: { TAU_DIR: agentDir, HOME: directory },
  });
  onTestFinished(async () => {
    input.end();
    await done.catch(() => undefined);
  });
  return { done, err: () => err };
}
