/** Messages between the harness and the first process of a session's sandbox. Pure. See `channel.h` there. */
import { constants } from "node:os";
import type { ConfinedLimits, ExitStatus, SpawnRequest } from "@tau/tools";
import type { SocketRequest } from "./network/inner-sockets.ts";

export type HelperReply =
  /** Descriptors of the helper: one to write to, and two to read from. None where the system has no more. */
  | { kind: "pipes"; slot: number; stdin: number; stdout: number; stderr: number }
  | { kind: "running"; slot: number; pid: number }
  | { kind: "exit"; slot: number; status: ExitStatus; hadLeftovers: boolean }
  /** An error number, or 0. */
  | { kind: "mounted"; error: number };

export const helperMountKinds = {
  "read-only": "r",
  writable: "w",
  "hidden-file": "f",
  "hidden-directory": "d",
  fixed: "n",
} as const;

const numberBytes = 4;
const replyBytes = 5 * numberBytes;

function encode(type: string, numbers: readonly number[], texts: readonly string[]): Buffer {
  const tail = Buffer.from(texts.length === 0 ? "" : `${texts.join("\0")}\0`);
  const head = [numberBytes * (numbers.length + 1) + tail.length, type.charCodeAt(0), ...numbers];
  const bytes = Buffer.alloc(head.length * numberBytes);
  for (const [index, number] of head.entries()) bytes.writeUInt32LE(number, index * numberBytes);
  return Buffer.concat([bytes, tail]);
}

export function encodeStart(
  slot: number,
  request: SpawnRequest,
  { maxFiles = 0, maxProcesses = 0, maxDataBytes = 0 }: ConfinedLimits,
): Buffer {
  const { argv, cwd, stdin } = request;
  const env = Object.entries(request.env).map(([name, value]) => `${name}=${value}`);
  const usesStdin = stdin === "pipe" ? 1 : 0;
  const maxDataMb = Math.ceil(maxDataBytes / 1024 / 1024);
  const numbers = [slot, usesStdin, maxFiles, maxProcesses, maxDataMb, argv.length, env.length];
  return encode("S", numbers, [cwd, ...argv, ...env]);
}

export const encodeSignal = (slot: number, signal: NodeJS.Signals, isForAll: boolean): Buffer =>
  encode("K", [slot, constants.signals[signal], isForAll ? 1 : 0], []);

export const encodeMount = (kind: keyof typeof helperMountKinds, path: string): Buffer =>
  encode("M", [helperMountKinds[kind].charCodeAt(0)], [path]);

/** Asks for a socket inside. The answer comes with the socket. */
export const encodeSocket = ({ id, port, listens }: SocketRequest): Buffer =>
  encode("N", [id, port, listens ? 1 : 0], []);

/** Names a directory in which commands may connect to sockets. */
export const encodeAllow = (directory: string): Buffer => encode("A", [], [directory]);

/** Takes whole replies from the front of `bytes`, and answers with what is left. */
export function decodeReplies(bytes: Buffer): { replies: HelperReply[]; rest: Buffer } {
  const count = Math.floor(bytes.length / replyBytes);
  const replies = Array.from({ length: count }, (_unused, index) => decode(bytes, index * replyBytes));
  return { replies, rest: bytes.subarray(count * replyBytes) };
}

function decode(bytes: Buffer, start: number): HelperReply {
  const [type = 0, slot = 0, a = 0, b = 0, c = 0] = Array.from({ length: 5 }, (_unused, index) =>
    bytes.readUInt32LE(start + index * numberBytes),
  );
  switch (String.fromCharCode(type)) {
    case "P":
      return { kind: "pipes", slot, stdin: a, stdout: b, stderr: c };
    case "R":
      return { kind: "running", slot, pid: a };
    case "E":
      return { kind: "exit", slot, status: toStatus(a, b), hadLeftovers: c !== 0 };
    case "M":
      return { kind: "mounted", error: slot };
    default:
      throw new Error(`The sandbox's first process sent a message of an unknown type (${type}).`);
  }
}

function toStatus(kind: number, value: number): ExitStatus {
  switch (kind) {
    case 0:
      return { kind: "exited", code: value };
    case 1:
      return { kind: "signalled", signal: findName(constants.signals, value) ?? `signal ${value}` };
    case 3: {
      const code = findName(constants.errno, value) ?? "ENOENT";
      const isDenied = code === "EACCES";
      return { kind: "failed", message: `The directory ${isDenied ? "cannot be entered" : "does not exist"}.`, code };
    }
    default: {
      const code = findName(constants.errno, value);
      return { kind: "failed", message: code ?? `error ${value}`, ...(code !== undefined && { code }) };
    }
  }
}

const findName = (names: Readonly<Record<string, number>>, value: number): string | undefined =>
  Object.entries(names).find(([, number]) => number === value)?.[0];
