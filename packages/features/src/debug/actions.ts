/** The actions of the tool `debug`. */
import { resolve } from "node:path";
import { asRecord, tryParseJson } from "@tau/ai/internal";
import { type DebuggerStop, formatPlace } from "@tau/protocol/surface";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import { type DapResolvedAdapter, fillTemplate } from "./adapters.ts";
import type { Debugger, DebugTarget } from "./debugger.ts";
import { formatVariables, joinParts, readStop, type StopPorts, takeOutput, toPlace } from "./describe-stop.ts";
import { DebugFailure } from "./failure.ts";
import { type DebugAction, type DebugArguments, formatProgram } from "./feature.ts";
import { parseScopes, parseVariables } from "./protocol.ts";
import type { DapSession, WaitOutcome } from "./session.ts";

export interface ActionAnswer {
  text: string;
  stop?: DebuggerStop;
}

export interface ActionPorts extends StopPorts {
  debugger: Debugger;
  /** Finds an adapter. */
  chooseAdapter(name: string | undefined, program: string | undefined): Promise<DapResolvedAdapter>;
  /** Asks the policy whether an adapter may be started; throws if not. Resolves with whether it runs outside of the sandbox. */
  allowStart(adapter: DapResolvedAdapter, options: { attachesTo?: string }): Promise<{ isOutside: boolean }>;
  /** Keeps a long text in a file that the model may read. */
  keepText(text: string): Promise<string | undefined>;
}

type Run = (args: DebugArguments, ports: ActionPorts) => Promise<ActionAnswer>;

const defaultWaitMs = 30_000;
const maxWaitMs = 600_000;
/** How long the adapter of a program that is just started is waited for. */
const startMs = 60_000;
const defaultLevels = 20;
const maxVariables = 100;
const maxTextLength = 8_000;
const maxValueLength = 2_000;

const getWaitMs = ({ timeoutMs = defaultWaitMs }: DebugArguments): number => Math.min(maxWaitMs, timeoutMs);

/** Requests that look at something are waited for as long as the call says, but not for minutes. */
const getOptions = ({ timeoutMs = 10_000 }: DebugArguments, { signal }: ActionPorts) => ({
  timeoutMs: Math.min(60_000, timeoutMs),
  signal,
});

const needsProgram = "No program is being debugged. Launch one first.";

function getSession({ debugger: { current, isActive } }: ActionPorts): DapSession {
  if (!current || !isActive) throw new DebugFailure("invalid", needsProgram);
  return current;
}

function getStopped(ports: ActionPorts): DapSession {
  const session = getSession(ports);
  if (session.status === "stopped") return session;
  throw new DebugFailure("invalid", "The program is running. Pause it, or wait for a stop with continue.");
}

const getText = (value: string | undefined, name: string): string => {
  if (value === undefined || value === "") throw new DebugFailure("invalid", `The parameter ${name} is missing.`);
  return value;
};

const launch: Run = async (args, ports) => {
  const cwd = resolve(ports.cwd, args.cwd ?? "");
  const program = resolve(cwd, getText(args.program, "program"));
  const adapter = await ports.chooseAdapter(args.adapter, program);
  const values = { program, args: args.args ?? [], cwd };
  const { isOutside } = await ports.allowStart(adapter, {});
  return await start(args, ports, {
    adapter,
    cwd,
    command: "launch",
    arguments: fillTemplate(adapter.launch, values),
    label: formatProgram(args),
    isOutside,
  });
};

const attach: Run = async (args, ports) => {
  const { pid, port } = args;
  if ((pid === undefined) === (port === undefined))
    throw new DebugFailure("invalid", "attach needs a pid or a port, and not both.");
  const cwd = resolve(ports.cwd, args.cwd ?? "");
  const program = args.program === undefined ? undefined : resolve(cwd, args.program);
  const adapter = await ports.chooseAdapter(args.adapter, program);
  const template = pid === undefined ? adapter.attachPort : adapter.attachPid;
  const label = pid === undefined ? `the program at port ${port}` : `process ${pid}`;
  if (!template) throw new DebugFailure("invalid", `${adapter.name} cannot attach to ${label}.`);
  const { isOutside } = await ports.allowStart(adapter, { attachesTo: label });
  return await start(args, ports, {
    adapter,
    cwd,
    command: "attach",
    arguments: fillTemplate(template, { program, args: [], cwd, pid, port }),
    label,
    isOutside,
  });
};

/** Starts it, and answers with its first stop, its end, or that it runs. */
async function start(args: DebugArguments, ports: ActionPorts, target: DebugTarget): Promise<ActionAnswer> {
  const { signal } = ports;
  const session = await ports.debugger.start(target, { timeoutMs: startMs, signal });
  await session.wait(getWaitMs(args), signal);
  const answer = await describe(ports, ports.debugger.current ?? session);
  const started = `Started ${target.label} with ${target.adapter.name}.`;
  return { ...answer, text: joinParts([started, describeBreakpoints(ports), answer.text]) };
}

/** Breakpoints that the adapter could not set, which a model would wait for in vain, and what it says about the others. */
function describeBreakpoints({ debugger: { breakpoints }, cwd }: ActionPorts): string {
  const inFiles = [...breakpoints.files].flatMap(([file, records]) =>
    records.map((record) => ({ ...record, place: formatFile(file, record.line, cwd) })),
  );
  const atFunctions = breakpoints.functions.map((record) => ({ ...record, place: record.name }));
  const all = [...inFiles, ...atFunctions].map(({ place, isVerified, message }) => ({
    isUnset: isVerified === false,
    text: toVisibleLine(message === undefined ? place : `${place}: ${message}`, 200),
    hasMessage: message !== undefined,
  }));
  const list = (title: string, those: typeof all) =>
    those.length === 0 ? "" : `${title}: ${those.map(({ text }) => text).join("; ")}`;
  return joinParts([
    list(
      "Breakpoints that are not set yet",
      all.filter(({ isUnset }) => isUnset),
    ),
    list(
      "Breakpoints that are set",
      all.filter(({ isUnset, hasMessage }) => !isUnset && hasMessage),
    ),
  ]);
}

const formatFile = (file: string, line: number, cwd: string): string =>
  `${file.startsWith(`${cwd}/`) ? file.slice(cwd.length + 1) : file}:${line}`;

/** Says where the program is now. */
async function describe(ports: ActionPorts, session: DapSession): Promise<ActionAnswer> {
  const outcome: WaitOutcome =
    session.status === "stopped" || session.status === "terminated" ? session.status : "running";
  if (outcome === "stopped") return await readStop(session, ports);
  if (outcome === "running") {
    return { text: joinParts(["The program is still running.", formatOutput(session)]) };
  }
  const { exitCode, client } = session;
  const failure = client.failure?.message;
  await ports.debugger.end();
  const ended =
    exitCode === undefined
      ? `The program has ended.${failure ? ` ${failure}` : ""}`
      : `The program has ended with code ${exitCode}.`;
  return { text: joinParts([ended, formatOutput(session)]) };
}

function formatOutput(session: DapSession): string {
  const output = takeOutput(session);
  return output === "" ? "" : `New output:\n${output}`;
}

/** Lets the program continue by a request, and waits for what becomes of it. */
const resumeWith =
  (command: string): Run =>
  async (args, ports) => {
    const session = getSession(ports);
    const options = getOptions({ action: args.action }, ports);
    // A program that runs already is waited for.
    if (session.status === "stopped") {
      const threadId = await session.getThreadId(options);
      await session.resume(command, { threadId }, options);
    } else if (command !== "continue") {
      getStopped(ports);
    }
    await session.wait(getWaitMs(args), ports.signal);
    return await describe(ports, ports.debugger.current ?? session);
  };

const pause: Run = async (args, ports) => {
  const session = getSession(ports);
  if (session.status !== "stopped") {
    const options = getOptions({ action: "pause" }, ports);
    await session.client.request("pause", { threadId: await session.getThreadId(options) }, options);
    await session.wait(getWaitMs(args), ports.signal);
  }
  return await describe(ports, session);
};

const setBreakpoint: Run = async (args, ports) => {
  const { breakpoints, isActive, sessions } = ports.debugger;
  const conditions = { condition: args.condition, hitCondition: args.hitCondition };
  const options = getOptions(args, ports);
  const active = isActive ? sessions.filter(({ status }) => isReady(status)) : [];
  const tooMany = () => new DebugFailure("invalid", "There are too many breakpoints. Remove some.");
  if (args.function !== undefined && args.file === undefined) {
    const record = breakpoints.addFunction(getText(args.function, "function"), conditions);
    if (!record) throw tooMany();
    for (const session of active) await session.sendFunctionBreakpoints(options);
    return { text: formatBreakpoint(`the function ${record.name}`, record, active.length > 0) };
  }
  const file = resolve(ports.cwd, getText(args.file, "file"));
  if (args.line === undefined) throw new DebugFailure("invalid", "The parameter line is missing.");
  const record = breakpoints.add(file, args.line, conditions);
  if (!record) throw tooMany();
  for (const session of active) await session.sendBreakpoints(file, options);
  const { actualLine = record.line } = record;
  return { text: formatBreakpoint(formatFile(file, actualLine, ports.cwd), record, active.length > 0) };
};

const isReady = (status: DapSession["status"]): boolean => status === "stopped" || status === "running";

function formatBreakpoint(
  place: string,
  { isVerified, message }: { isVerified?: boolean; message?: string },
  isSent: boolean,
): string {
  if (!isSent) return `The next launch stops at ${place}.`;
  const why = message === undefined ? "" : ` ${toVisibleLine(message, 200)}`;
  if (isVerified) return `The program stops at ${place}.${why}`;
  return `The breakpoint at ${place} is not set yet: the adapter does not know the place so far.${why}`;
}

const removeBreakpoint: Run = async (args, ports) => {
  const { breakpoints, isActive, sessions } = ports.debugger;
  const options = getOptions(args, ports);
  const active = isActive ? sessions.filter(({ status }) => isReady(status)) : [];
  if (args.function !== undefined && args.file === undefined) {
    const removed = breakpoints.removeFunction(args.function);
    for (const session of active) await session.sendFunctionBreakpoints(options);
    return { text: removed === 0 ? "There was no such breakpoint." : "Removed." };
  }
  const file = resolve(ports.cwd, getText(args.file, "file"));
  const removed = breakpoints.remove(file, args.line);
  for (const session of active) await session.sendBreakpoints(file, options);
  return { text: removed === 0 ? "There was no such breakpoint." : `Removed ${removed}.` };
};

async function getFrameId(session: DapSession, { frameId }: DebugArguments, options: ReturnType<typeof getOptions>) {
  if (frameId !== undefined) return frameId;
  const known = session.stop.frame?.id;
  if (known !== undefined) return known;
  const [frame] = await session.readFrames(await session.getThreadId(options), 1, options);
  if (!frame) throw new DebugFailure("invalid", "The program has no frame here.");
  return frame.id;
}

const evaluate: Run = async (args, ports) => {
  const session = getStopped(ports);
  const options = getOptions(args, ports);
  const expression = getText(args.expression, "expression");
  const frameId = await getFrameId(session, args, options);
  const context = session.adapter.evaluateContext ?? "watch";
  const body = asRecord(await session.client.request("evaluate", { expression, frameId, context }, options));
  const { result, type, variablesReference } = body;
  const value = typeof result === "string" ? toVisible(result.slice(0, 2 * maxValueLength)) : "";
  const members = typeof variablesReference === "number" && variablesReference > 0;
  return {
    text: joinParts([
      `${value.slice(0, maxValueLength)}${value.length > maxValueLength ? "…" : ""}` || "(no value)",
      typeof type === "string" && type !== "" ? `Type: ${toVisibleLine(type, 200)}` : "",
      members ? `Its members: variables with variablesReference ${variablesReference}.` : "",
      formatOutput(session),
    ]),
  };
};

const stackTrace: Run = async (args, ports) => {
  const session = getStopped(ports);
  const options = getOptions(args, ports);
  const frames = await session.readFrames(await session.getThreadId(options), args.levels ?? defaultLevels, options);
  const lines = await Promise.all(
    frames.map(async (frame) => {
      const place = await toPlace(frame, ports);
      return `${frame.id}: ${toVisibleLine(frame.name, 100) || "?"}${place ? ` at ${formatPlace(place)}` : ""}`;
    }),
  );
  return {
    text: lines.length === 0 ? "The program has no frames here." : cut(`Frames by their frameId:\n${lines.join("\n")}`),
  };
};

const threads: Run = async (args, ports) => {
  const session = getSession(ports);
  const list = await session.readThreads(getOptions(args, ports));
  const lines = list.slice(0, maxVariables).map(({ id, name }) => {
    const mark = id === session.stop.threadId ? " (stopped here)" : "";
    return `${id}: ${toVisibleLine(name, 100)}${mark}`;
  });
  return { text: lines.length === 0 ? "No thread is known." : lines.join("\n") };
};

const scopes: Run = async (args, ports) => {
  const session = getStopped(ports);
  const options = getOptions(args, ports);
  const frameId = await getFrameId(session, args, options);
  const list = parseScopes(await session.client.request("scopes", { frameId }, options)).slice(0, maxVariables);
  const lines = list.map(
    ({ name, variablesReference }) => `${toVisibleLine(name, 100)}: variablesReference ${variablesReference}`,
  );
  return { text: lines.length === 0 ? "The frame has no scopes." : lines.join("\n") };
};

const variables: Run = async (args, ports) => {
  const session = getStopped(ports);
  const { variablesReference } = args;
  if (variablesReference === undefined) return await readStop(session, ports);
  const body = await session.client.request("variables", { variablesReference }, getOptions(args, ports));
  const list = parseVariables(body);
  return { text: list.length === 0 ? "It has no members." : cut(formatVariables(list, maxVariables)) };
};

const output: Run = async (_args, ports) => {
  const { current } = ports.debugger;
  if (!current) throw new DebugFailure("invalid", needsProgram);
  const whole = toVisible(current.output);
  current.takeNewOutput();
  if (whole === "") return { text: "The program has written nothing." };
  if (whole.length <= maxTextLength) return { text: whole };
  const path = await ports.keepText(whole);
  const where = path === undefined ? "" : ` All that is kept is in ${path}.`;
  return { text: `The last ${maxTextLength} characters:${where}\n${whole.slice(-maxTextLength)}` };
};

const terminate: Run = async (_args, ports) => {
  const label = await ports.debugger.end();
  if (label === undefined) return { text: "No program is being debugged." };
  const { current } = ports.debugger;
  return { text: joinParts([`Ended ${label}.`, current ? formatOutput(current) : ""]) };
};

const sessions: Run = async (_args, { debugger: { sessions: list, ended, target } }) => {
  const lines = list.map(
    ({ id, status, adapter }, index) =>
      `${id}: ${index === 0 ? (target?.label ?? "") : "child"} (${adapter.name}, ${status})`,
  );
  const past = ended.map(({ label, session }) => {
    const code = session.exitCode === undefined ? "" : ` with code ${session.exitCode}`;
    return `${session.id}: ${label} (${session.adapter.name}, ended${code})`;
  });
  return { text: [...past, ...lines].join("\n") || "No program has been debugged." };
};

const customRequest: Run = async (args, ports) => {
  const session = getSession(ports);
  const command = getText(args.function, "function");
  const payload = args.expression === undefined ? {} : tryParseJson(args.expression);
  if (typeof payload !== "object" || payload === null)
    throw new DebugFailure("invalid", "The parameter expression is no JSON object: the arguments of the request.");
  if (ownRequests.has(command)) throw new DebugFailure("invalid", `Use the action for ${command}.`);
  const body = await session.client.request(command, payload, getOptions(args, ports));
  return { text: cut(toVisible(JSON.stringify(body ?? {}, undefined, 1).slice(0, 2 * maxTextLength))) };
};

/** Requests that change the state which the session keeps. */
const ownRequests: ReadonlySet<string> = new Set([
  "initialize",
  "launch",
  "attach",
  "configurationDone",
  "disconnect",
  "terminate",
  "restart",
  "setBreakpoints",
  "setFunctionBreakpoints",
  "continue",
  "next",
  "stepIn",
  "stepOut",
]);

const cut = (text: string): string =>
  text.length > maxTextLength ? `${text.slice(0, maxTextLength)}\n… (${text.length} characters)` : text;

export const actions: Readonly<Record<DebugAction, Run>> = {
  launch,
  attach,
  set_breakpoint: setBreakpoint,
  remove_breakpoint: removeBreakpoint,
  continue: resumeWith("continue"),
  step_over: resumeWith("next"),
  step_in: resumeWith("stepIn"),
  step_out: resumeWith("stepOut"),
  pause,
  evaluate,
  stack_trace: stackTrace,
  threads,
  scopes,
  variables,
  output,
  terminate,
  sessions,
  custom_request: customRequest,
};
