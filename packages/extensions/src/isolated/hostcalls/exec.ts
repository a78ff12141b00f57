/** Commands, variables, other tools, and the log. */
import { resolve } from "node:path";
import type { ExecOptions } from "../../api/api.ts";
import { guardBus } from "../../runner/create-api.ts";
import type { ExtensionSessionPort } from "../../api/session-port.ts";
import type { IsolatedPorts } from "../ports.ts";
import {
  type Args,
  type Hostcall,
  HostcallFault,
  type Hostcalls,
  takeRecord,
  takeText,
  takeTexts,
  wholeCapability,
} from "./hostcall.ts";

/** Writes a command as a shell reads it, for the policy. A first word with `=` would be an assignment. */
export const quoteCommand = (command: string, args: readonly string[]): string =>
  [command, ...args]
    .map((word, index) => {
      const isPlain = /^[\w@%+=:,./-]+$/.test(word) && (index > 0 || !word.includes("="));
      return isPlain ? word : `'${word.replaceAll("'", `'\\''`)}'`;
    })
    .join(" ");

/** The directory that a command is run in; undefined for that of the session. */
function takeDirectory(options: unknown, session: ExtensionSessionPort | undefined): string | undefined {
  const { cwd } = options === undefined ? {} : takeRecord(options, "The options");
  if (typeof cwd !== "string" || !session) return undefined;
  const directory = resolve(session.cwd, cwd);
  return directory === resolve(session.cwd) ? undefined : directory;
}

const exec: Hostcall = {
  access: ([program, args, options], _extension, { session }) => {
    const command = quoteCommand(takeText(program, "The command"), takeTexts(args, "The arguments"));
    const directory = takeDirectory(options, session);
    // What a command does depends on where: the policy reads it as a shell that goes there first.
    const whole = directory === undefined ? command : `${quoteCommand("cd", [directory])} && ${command}`;
    return [{ capability: "exec", target: { kind: "command", command: whole } }];
  },
  async run([command, args, given], { session, signal, quota, spend }) {
    const { timeout, maxBuffer } = given === undefined ? {} : takeRecord(given, "The options");
    const cwd = takeDirectory(given, session);
    const options: ExecOptions = {
      signal,
      ...(typeof timeout === "number" && { timeout }),
      ...(typeof maxBuffer === "number" && { maxBuffer }),
      ...(cwd !== undefined && { cwd }),
    };
    spend(quota.beginProcess());
    try {
      return await session.exec(takeText(command, "The command"), takeTexts(args, "The arguments"), options);
    } finally {
      quota.endProcess();
    }
  },
};

/** The variable that `env` asks for; undefined if the user has none of this name. */
export function getVariable({ env }: IsolatedPorts, [name]: Args): string | undefined {
  const text = takeText(name, "The name");
  return Object.hasOwn(env, text) ? env[text] : undefined;
}

const env: Hostcall = {
  access: ([name]) => [{ capability: "env", target: { kind: "name", name: takeText(name, "The name") } }],
  isEarly: true,
  run: (args, { ports }) => getVariable(ports, args),
};

const executeTool: Hostcall = {
  access: ([, name]) => [{ capability: "tool", target: { kind: "name", name: takeText(name, "The name") } }],
  run: ([callerId, name, args], { ports, extension, session, signal, onProgress }) =>
    session.executeTool(takeText(callerId, "The id"), takeText(name, "The name"), args, {
      signal,
      onUpdate: onProgress,
      // It is a call of the extension, whose rights may be less than those of the model.
      onBegin: (id) => ports.onInputChanged(id, extension),
    }),
};

const levels = ["debug", "info", "warn", "error"] as const;
const maxLogLength = 10_000;

const log: Hostcall = {
  access: (_args, extension) => wholeCapability("log", extension),
  isEarly: true,
  run([level, message], { ports }) {
    const known = levels.find((candidate) => candidate === level);
    if (!known) throw new HostcallFault("invalid_request", "There is no such level.");
    ports.log(known, takeText(message, "The message").slice(0, maxLogLength));
  },
};

const busCalls: Hostcalls = {
  "bus.on": {
    access: (_args, extension) => wholeCapability("events", extension),
    isEarly: true,
    run: ([channel], { ports, extension, connection }) => {
      // What is said there may be no data.
      const bus = guardBus(ports.events, (message) => ports.report({ extension, message }));
      connection.listen(takeText(channel, "The channel"), bus);
    },
  },
  "bus.emit": {
    access: (_args, extension) => wholeCapability("events", extension),
    run: ([channel, data], { ports }) => ports.events.emit(takeText(channel, "The channel"), data),
  },
};

const getRun: Hostcall = {
  access: () => [],
  isRead: true,
  run(_args, { session, connection }) {
    const signal = session.getSignal();
    return signal && connection.nameRun(signal);
  },
};

/** Refuses what the process refuses by itself, so that it is written down. */
const refused: Hostcall = {
  access: ([what, detail]) => {
    const name = takeText(detail, "The detail").slice(0, maxLogLength);
    return [
      what === "network"
        ? { capability: "http", target: { kind: "host", host: name } }
        : { capability: "exec", target: { kind: "command", command: name } },
    ];
  },
  isEarly: true,
  refuses: ([what]) =>
    what === "network"
      ? "An isolated extension has no network but fetch."
      : "An isolated extension starts no processes.",
};

export const actCalls: Hostcalls = { exec, env, executeTool, log, getRun, refused, ...busCalls };
