/** Describes a stop: the place with the lines around it, the variables of the frame, and new output. */
import { realpath } from "node:fs/promises";
import { isAbsolute, relative, resolve } from "node:path";
import type { Files } from "@tau/tools";
import { isWithin } from "@tau/tools/platform";
import { type CodeExcerpt, type CodePlace, type DebuggerStop, formatPlace } from "@tau/protocol/surface";
import { toVisible, toVisibleLine } from "../kit/visible-text.ts";
import { DebugFailure } from "./failure.ts";
import { type DapScope, type DapStackFrame, type DapVariable, parseScopes, parseVariables } from "./protocol.ts";
import type { DapSession } from "./session.ts";

export interface StopPorts {
  cwd: string;
  /** The files that the model may read; places of other files have no lines. */
  files: Pick<Files, "readWhole">;
  signal?: AbortSignal | undefined;
}

/** Lines before and after the current one. */
const linesAround = 3;
const maxSourceBytes = 4 * 1024 * 1024;
const maxLineLength = 200;
const maxValueLength = 200;
const maxNameLength = 100;
const maxVariables = 30;
const maxFrames = 10;
const maxOutputLength = 4_000;
/** How long the parts of an answer are waited for. Those that are late are left out. */
const maxPartMs = 5_000;

interface DescribedStop {
  stop: DebuggerStop;
  text: string;
}

/** Never rejects for an adapter that does not answer: the answer has what is known. */
export async function readStop(session: DapSession, ports: StopPorts): Promise<DescribedStop> {
  const options = { timeoutMs: maxPartMs, signal: ports.signal };
  const problems: string[] = [];
  const tolerate = async <T>(work: Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof DebugFailure) problems.push(error.message);
      else throw error;
      return otherwise;
    }
  };
  const { reason = "unknown", description, text: message } = session.stop;
  const threadId = session.stop.threadId ?? (await tolerate(session.getThreadId(options), undefined));
  const frames = threadId === undefined ? [] : await tolerate(session.readFrames(threadId, maxFrames, options), []);
  const [frame] = frames;
  const variables = frame ? await tolerate(readFrameVariables(session, frame.id, options), []) : [];
  const place = frame && (await toPlace(frame, ports, { hasExcerpt: true }));
  const said = [description, message].filter((part) => part !== undefined && part !== reason).join(": ");
  const output = takeOutput(session);
  const stop: DebuggerStop = {
    reason: toVisibleLine(said === "" ? reason : `${reason} (${said})`, maxValueLength),
    ...(place && { place }),
    frames: await Promise.all(frames.map((each) => toViewFrame(each, ports))),
    variables: variables.slice(0, maxVariables).map(toViewVariable),
    ...(output !== "" && { output }),
  };
  return { stop, text: formatStop(stop, variables, problems) };
}

/** Takes what the program has written since the last answer: its end, if it is long. */
export function takeOutput(session: DapSession): string {
  const { text } = session.takeNewOutput();
  const visible = toVisible(text.slice(-2 * maxOutputLength));
  return visible.length > maxOutputLength ? `…${visible.slice(-maxOutputLength)}` : visible;
}

/** The variables of scopes that are the frame's own, and cost little to read. */
async function readFrameVariables(
  session: DapSession,
  frameId: number,
  options: { timeoutMs: number; signal: AbortSignal | undefined },
): Promise<DapVariable[]> {
  const scopes = parseScopes(await session.client.request("scopes", { frameId }, options));
  const own = chooseScopes(scopes);
  const lists = await Promise.all(
    own.map(async ({ variablesReference }) => {
      // Only where the adapter can page: some take a count for a wish that they cannot fulfil.
      const args = { variablesReference, ...(session.can("supportsVariablePaging") && { start: 0, count: 100 }) };
      return parseVariables(await session.client.request("variables", args, options));
    }),
  );
  return lists.flat();
}

/** Arguments and locals where the adapter names them, else the first scope that costs little. Pure. */
function chooseScopes(scopes: readonly DapScope[]): DapScope[] {
  const cheap = scopes.filter(({ isExpensive, variablesReference }) => !isExpensive && variablesReference > 0);
  const own = cheap.filter(({ hint, name }) => hint === "locals" || hint === "arguments" || /^(local|arg)/i.test(name));
  return own.length > 0 ? own.slice(0, 3) : cheap.slice(0, 1);
}

/** The place of a frame; undefined without a source. */
export async function toPlace(
  { path, line, column, name }: DapStackFrame,
  ports: StopPorts,
  { hasExcerpt = false } = {},
): Promise<CodePlace | undefined> {
  if (path === undefined || line === undefined) return undefined;
  const excerpt = hasExcerpt ? await readExcerpt(path, line, ports) : undefined;
  return {
    path: toVisibleLine(toShortPath(path, ports.cwd), 1_000),
    line,
    ...(column !== undefined && { column }),
    ...(name !== "" && { name: toVisibleLine(name, maxNameLength) }),
    ...(excerpt && { excerpt }),
  };
}

const toViewFrame = async (frame: DapStackFrame, ports: StopPorts) => {
  const place = await toPlace(frame, ports);
  const name = toVisibleLine(frame.name, maxNameLength) || "?";
  return { name, ...(place && { place: { path: place.path, line: place.line } }) };
};

const toViewVariable = ({ name, value, type }: DapVariable) => ({
  name: toVisibleLine(name, maxNameLength) || "?",
  value: toVisibleLine(value, maxValueLength),
  ...(type !== undefined && { type: toVisibleLine(type, maxNameLength) }),
});

const toShortPath = (path: string, cwd: string): string => {
  const short = isAbsolute(path) ? relative(cwd, path) : path;
  return short === "" || short.startsWith("..") ? path : short;
};

/**
 * An adapter can name any file, and its answer must not make one readable that the model could not read: only files of the
 * workspace have lines, and only those that the policy lets it read. The file that was opened is judged, since a link may be changed
 * at any time.
 */
async function readExcerpt(path: string, line: number, { cwd, files }: StopPorts): Promise<CodeExcerpt | undefined> {
  try {
    const { realPath, bytes } = await files.readWhole(resolve(cwd, path), maxSourceBytes);
    if (!isWithin(await realpath(cwd), realPath)) return undefined;
    const lines = bytes.toString("utf8").split(/\r?\n/);
    const firstLine = Math.max(1, line - linesAround);
    const shown = lines.slice(firstLine - 1, line + linesAround);
    if (shown.length === 0) return undefined;
    return { firstLine, lines: shown.map((text) => toSourceLine(text)), current: line };
  } catch {
    // The source is not here: it belongs to a library, or was removed.
    return undefined;
  }
}

const toSourceLine = (text: string): string => {
  const visible = toVisible(text.slice(0, 2 * maxLineLength));
  return visible.length > maxLineLength ? `${visible.slice(0, maxLineLength - 1)}…` : visible;
};

function formatStop(stop: DebuggerStop, variables: readonly DapVariable[], problems: readonly string[]): string {
  const [frame, ...callers] = stop.frames ?? [];
  const where = [stop.place && ` at ${formatPlace(stop.place)}`, frame && ` in ${frame.name}`];
  return joinParts([
    `Stopped: ${stop.reason}${where.filter((part) => part !== undefined).join("")}`,
    stop.place?.excerpt ? formatExcerpt(stop.place.excerpt) : "",
    formatVariables(variables),
    callers.length === 0
      ? ""
      : `Called by:\n${callers.map(({ name, place }) => `  ${name}${place ? ` at ${formatPlace(place)}` : ""}`).join("\n")}`,
    stop.output === undefined ? "" : `New output:\n${stop.output}`,
    ...problems.map((problem) => `Not known: ${problem}`),
  ]);
}

/** The lines with their numbers, the current one marked. */
function formatExcerpt({ firstLine, lines, current }: CodeExcerpt): string {
  const width = String(firstLine + lines.length).length;
  return lines
    .map((text, index) => {
      const number = firstLine + index;
      return `${number === current ? ">" : " "} ${String(number).padStart(width)} ${text}`;
    })
    .join("\n");
}

/** Lists variables with the reference by which their members can be read. */
export function formatVariables(variables: readonly DapVariable[], max = maxVariables): string {
  if (variables.length === 0) return "";
  const shown = variables.slice(0, max).map((variable) => {
    const members = variable.variablesReference > 0 ? ` [reference ${variable.variablesReference}]` : "";
    const { name, type, value } = toViewVariable(variable);
    return `  ${name}${type === undefined ? "" : `: ${type}`} = ${value}${members}`;
  });
  const more = variables.length - shown.length;
  return `Variables:\n${shown.join("\n")}${more > 0 ? `\n  … and ${more} more` : ""}`;
}

export const joinParts = (parts: readonly string[]): string => parts.filter((part) => part !== "").join("\n");
