/** Starts one process of an extension and waits until the extension is loaded in it. */
import { dirname } from "node:path";
import { getErrorMessage } from "@tau/ai/internal";
import { evaluateFor } from "@tau/policy";
import { getSecretFiles } from "@tau/policy/internal";
import type { ExtensionSource } from "../api/extension.ts";
import { Connection } from "./connection.ts";
import { Handshake, maxSentenceLength } from "./handshake.ts";
import type { HostcallServer } from "./hostcalls/server.ts";
import type { Manifest } from "./manifest.ts";
import type { ChildInit } from "./messages.ts";
import type { IsolatedPorts } from "./ports.ts";
import { ProcessLink } from "./process-link.ts";
import { findProcessSandboxFacts } from "./process-sandbox-facts.ts";
import { type ProcessSandboxFacts, temporaryDirectory } from "./process-sandbox.ts";
import { startProcess, type StartedProcess, type IsolationPrograms } from "./start-process.ts";
import { Throttle } from "./throttle.ts";

export interface OpenProcess {
  readonly link: ProcessLink;
  readonly manifest: Manifest;
  /** Resolves with a sentence when it has ended. */
  readonly ended: Promise<string>;
  end(reason: string): Promise<void>;
}

interface OpenOptions {
  source: ExtensionSource;
  isolation: IsolationPrograms;
  ports: IsolatedPorts;
  server: HostcallServer;
  /** Also when it registers something later. */
  onManifest: (manifest: Manifest) => void;
  /** Bytes that it has written to files since the last call. */
  onWritten: (bytes: number) => void;
  report: (message: string) => void;
  /** Its abort ends a process that is not loaded yet. The reason is a sentence. */
  signal: AbortSignal;
}

const countWrittenEveryMs = 1_000;

/** Rejects with a sentence. */
export async function openProcess(options: OpenOptions): Promise<OpenProcess> {
  const { source, isolation, ports, server, onManifest, report, signal } = options;
  const { clock, stream, env, program } = ports;
  const { maxMemoryMb } = ports.getPolicy();
  const facts = findFacts(source, ports);
  const started = startProcess({ isolation, facts, env, program: program.path, maxMemoryMb });
  const outputThrottle = new Throttle(clock, maxOutput);
  const output = keepOutput(started, outputThrottle);
  const handshake = new Handshake({
    limitMemory: () => started.limitMemory(),
    sendInit: () => link.send({ type: "init", init: createInit(source, facts) }),
    onManifest,
    report,
  });
  let brokenBecause: string | undefined;
  const connection = new Connection();
  const link = new ProcessLink({
    channel: started.channel,
    sync: started.sync,
    clock,
    stream,
    hostcalls: { handle: (method, args, context) => server.handle(method, args, context, connection) },
    onMessage: (message) => handshake.receive(message),
    onBroken: (reason) => {
      brokenBecause = reason;
      started.end();
    },
  });
  connection.attach(link);

  const stopCounting = countWritten(started, () => link.receivedBytes + output.receivedBytes, options);
  const ended = started.exit.then((exit) => {
    stopCounting();
    outputThrottle.close();
    connection.close();
    const reason = brokenBecause ?? [exit, ...output.findReason()].join(" ");
    link.end(reason);
    handshake.fail(reason);
    return reason;
  });
  const end = async (reason: string): Promise<void> => {
    link.end(reason, { endsCommands: true });
    started.end();
    await ended;
  };
  const abort = () => handshake.fail(String(signal.reason));
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return { link, manifest: await handshake.wait(source, clock), ended, end };
  } catch (error) {
    await end(getErrorMessage(error));
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function findFacts(
  source: ExtensionSource,
  { program, agentDir, home, cwd, getPolicy }: IsolatedPorts,
): ProcessSandboxFacts {
  const policy = getPolicy();
  const mayRead = evaluateFor("read", source.name, policy).decision === "allow";
  const secretFiles = getSecretFiles(policy, source.name);
  const programs = [program.path, ...program.readable];
  return findProcessSandboxFacts({ source, program: programs, cwd, home, agentDir, mayRead, secretFiles });
}

function createInit({ path, name, info }: ExtensionSource, facts: ProcessSandboxFacts): ChildInit {
  const { system, program, extension, workspace } = facts;
  const visible = [...system, ...program, ...extension, ...(workspace === undefined ? [] : [workspace])];
  const root = info.baseDir ?? dirname(path);
  return { path, name, root, visible, ...(workspace !== undefined && { workspace }), temporary: temporaryDirectory };
}

/** Bytes that are read of what it prints; one that prints more waits. */
const maxOutput = { perSecond: 8 * 1024 * 1024, burst: 16 * 1024 * 1024 };

interface Output {
  receivedBytes: number;
  /** The line that says why it ended, as far as one does: of Node when it crashes, or of the extension. */
  findReason(): string[];
}

function keepOutput({ output: streams }: StartedProcess, throttle: Throttle): Output {
  let last = "";
  const output: Output = {
    receivedBytes: 0,
    findReason() {
      const line = last.split("\n").find((text) => /error|fatal|bwrap/i.test(text));
      return line === undefined ? [] : [line.trim()];
    },
  };
  for (const stream of streams) {
    stream.on("data", (piece: Buffer) => {
      throttle.count(stream, piece.length);
      output.receivedBytes += piece.length;
      last = (last + piece.toString("utf8")).slice(-maxSentenceLength);
    });
    stream.on("error", () => undefined);
  }
  return output;
}

/** Counts the bytes that the process wrote to files: all that it did not send to us. */
function countWritten(
  started: StartedProcess,
  getReceivedBytes: () => number,
  { ports: { clock }, onWritten }: OpenOptions,
): () => void {
  let counted = 0;
  let cancel: () => void;
  let isOver = false;
  const count = async () => {
    const written = (await started.countWritten().catch(() => undefined)) ?? counted;
    const toFiles = Math.max(counted, written - getReceivedBytes());
    if (toFiles > counted) onWritten(toFiles - counted);
    counted = toFiles;
    if (!isOver) later();
  };
  const later = () => {
    cancel = clock.setTimer(countWrittenEveryMs, () => void count());
  };
  later();
  return () => {
    isOver = true;
    cancel();
  };
}
