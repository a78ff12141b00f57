/** The actions of the tool `debug`. */
import { resolve } from "node:path";
import { asRecord, tryParseJson } from "@tau/ai/internal";
import { type DebuggerStop, formatPlace } from "@tau/protocol/surface";
import { formatJson } from "../kit/format-json.ts";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import { type DapResolvedAdapter, fillTemplate } from "./adapters.ts";
import type { DebuggedProgram, DebugTarget } from "./debugged-program.ts";
import type { Debugger } from "./debugger.ts";
import { formatVariables, joinParts, readStop, type StopPorts, takeOutput, toPlace } from "./describe-stop.ts";
import { DebugFailure } from "./failure.ts";
import { type DebugAction, type DebugArguments, formatProgram } from "./feature.ts";
import { parseScopes, parseVariables } from "./protocol.ts";
import type { DapSession, WaitOutcome } from "./session.ts";
import type { BreakpointState, SessionBreakpoints } from "./session-breakpoints.ts";

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

function getProgram({ debugger: { program } }: ActionPorts): DebuggedProgram {
  if (!program?.isActive) throw new DebugFailure("invalid", needsProgram);
  return program;
}

function getStopped(ports: ActionPorts): DapSession {
  const session = getProgram(ports).getStopped();
  if (session) return session;
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
  const program = await ports.debugger.start(target, { timeoutMs: startMs, signal });
  const outcome = await program.wait(getWaitMs(args), signal);
  const started = `Started ${target.label} with ${target.adapter.name}.`;
  const breakpoints = describeBreakpoints(program, ports);
  const answer = await describe(program, outcome, ports);
  return { ...answer, text: joinParts([started, breakpoints, answer.text]) };
}

/** Breakpoints that the adapter could not set, which a model would wait for in vain, and what it says about the others. */
function describeBreakpoints(program: DebuggedProgram, { debugger: { breakpoints }, cwd }: ActionPorts): string {
  const inFiles = [...breakpoints.files].flatMap(([file, list]) =>
    list.map((wanted) => ({ ...program.getState(wanted), place: formatFile(file, wanted.line, cwd) })),
  );
  const atFunctions = breakpoints.functions.map((wanted) => ({ ...program.getState(wanted), place: wanted.name }));
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
async function describe(program: DebuggedProgram, outcome: WaitOutcome, ports: ActionPorts): Promise<ActionAnswer> {
  const { current } = program;
  if (outcome === "running") return { text: joinParts(["The program is still running.", formatOutput(current)]) };
  if (outcome === "stopped") {
    const { stop, text } = await readStop(current, ports);
    return { stop, text: joinParts([describeSessions(program), text]) };
  }
  const { exitCode } = program;
  const failure = current.client.failure?.message;
  await ports.debugger.end();
  const ended =
    exitCode === undefined
      ? `The program has ended.${failure ? ` ${failure}` : ""}`
      : `The program has ended with code ${exitCode}.`;
  return { text: joinParts([ended, formatOutput(current)]) };
}

/** Says which of several sessions the answer is about. */
function describeSessions({ sessions: all, current }: DebuggedProgram): string {
  if (all.length === 1) return "";
  const states = all.map((session) => `${session.id} ${session.status}${session === current ? " (this one)" : ""}`);
  return `Sessions of the program: ${states.join(", ")}`;
}

function formatOutput(session: DapSession): string {
  const output = takeOutput(session);
  return output === "" ? "" : `New output:\n${output}`;
}

/** Lets the program continue by a request, and waits for what becomes of it. */
const resumeWith =
  (command: string): Run =>
  async (args, ports) => {
    const program = getProgram(ports);
    // A program that runs already is waited for.
    if (command !== "continue" && program.current.status !== "stopped") getStopped(ports);
    await program.resume(command, getOptions({ action: args.action }, ports));
    return await describe(program, await program.wait(getWaitMs(args), ports.signal), ports);
  };

const pause: Run = async (args, ports) => {
  const program = getProgram(ports);
  if (program.getStopped()) return await describe(program, "stopped", ports);
  await program.pause(getOptions({ action: "pause" }, ports));
  return await describe(program, await program.wait(getWaitMs(args), ports.signal), ports);
};

const setBreakpoint: Run = async (args, ports) => {
  const { breakpoints } = ports.debugger;
  const conditions = { condition: args.condition, hitCondition: args.hitCondition };
  const tooMany = () => new DebugFailure("invalid", "There are too many breakpoints. Remove some.");
  if (args.function !== undefined && args.file === undefined) {
    const wanted = breakpoints.addFunction(getText(args.function, "function"), conditions);
    if (!wanted) throw tooMany();
    const program = await send(args, ports, (sent, options) => sent.sendFunctions(options));
    return { text: formatBreakpoint(`the function ${wanted.name}`, program?.getState(wanted)) };
  }
  const file = resolve(ports.cwd, getText(args.file, "file"));
  if (args.line === undefined) throw new DebugFailure("invalid", "The parameter line is missing.");
  const wanted = breakpoints.add(file, args.line, conditions);
  if (!wanted) throw tooMany();
  const program = await send(args, ports, (sent, options) => sent.send(file, options));
  const state = program?.getState(wanted);
  return { text: formatBreakpoint(formatFile(file, state?.actualLine ?? wanted.line, ports.cwd), state) };
};

/**
 * Gives the breakpoints, as they are wanted now, to the sessions that are ready for them. One that refuses them matters only if all do.
 * Resolves with the program; undefined if there is no session for them.
 */
async function send(
  args: DebugArguments,
  ports: ActionPorts,
  by: (breakpoints: SessionBreakpoints, options: ReturnType<typeof getOptions>) => Promise<void>,
): Promise<DebuggedProgram | undefined> {
  const { program } = ports.debugger;
  if (!program?.isActive) return undefined;
  const ready = program.sessions.filter(({ status }) => status !== "launching" && status !== "terminated");
  if (ready.length === 0) return undefined;
  const options = getOptions(args, ports);
  const results = await Promise.allSettled(ready.map(({ sessionBreakpoints }) => by(sessionBreakpoints, options)));
  const failures = results.filter((result) => result.status === "rejected");
  if (failures.length === ready.length) throw failures[0]!.reason;
  return program;
}

/** Without a state it was sent to nobody. */
function formatBreakpoint(place: string, state: BreakpointState | undefined): string {
  if (!state) return `The next launch stops at ${place}.`;
  const why = state.message === undefined ? "" : ` ${toVisibleLine(state.message, 200)}`;
  if (state.isVerified) return `The program stops at ${place}.${why}`;
  return `The breakpoint at ${place} is not set yet: the adapter does not know the place so far.${why}`;
}

const removeBreakpoint: Run = async (args, ports) => {
  const { breakpoints } = ports.debugger;
  if (args.function !== undefined && args.file === undefined) {
    const removed = breakpoints.removeFunction(args.function);
    await send(args, ports, (sent, options) => sent.sendFunctions(options));
    return { text: removed === 0 ? "There was no such breakpoint." : "Removed." };
  }
  const file = resolve(ports.cwd, getText(args.file, "file"));
  const removed = breakpoints.remove(file, args.line);
  await send(args, ports, (sent, options) => sent.send(file, options));
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
  const session = getProgram(ports).current;
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

const sessions: Run = async (_args, { debugger: { sessions: list, ended, program } }) => {
  const lines = list.map(
    ({ id, status, adapter }, index) =>
      `${id}: ${index === 0 ? (program?.target.label ?? "") : "child"} (${adapter.name}, ${status})`,
  );
  const past = ended.map(({ target: { label, adapter }, session, exitCode }) => {
    const code = exitCode === undefined ? "" : ` with code ${exitCode}`;
    return `${session.id}: ${label} (${adapter.name}, ended${code})`;
  });
  return { text: [...past, ...lines].join("\n") || "No program has been debugged." };
};

const customRequest: Run = async (args, ports) => {
  const session = getProgram(ports).current;
  const command = getText(args.function, "function");
  const payload = args.expression === undefined ? {} : tryParseJson(args.expression);
  if (typeof payload !== "object" || payload === null)
    throw new DebugFailure("invalid", "The parameter expression is no JSON object: the arguments of the request.");
  if (ownRequests.has(command)) throw new DebugFailure("invalid", `Use the action for ${command}.`);
  const body = await session.client.request(command, payload, getOptions(args, ports));
  const { text, isWhole } = formatJson(body ?? {}, { maxLength: maxTextLength, indent: 1 });
  return { text: `${toVisible(text)}${isWhole ? "" : "\n… (the rest is not shown)"}` };
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
