/** Starts one process of an extension and waits until the extension is loaded in it. */
import { dirname } from "node:path";
import { getErrorMessage, untilTimeout } from "@tau/ai/internal";
import { evaluateFor } from "../../policy/extension-policy.ts";
import type { ExtensionSource } from "../extension.ts";
import { describeSlowFactory, maxFactoryMs } from "../load/start-extension.ts";
import { Connection } from "./connection.ts";
import type { HostcallServer } from "./hostcalls/server.ts";
import type { Manifest } from "./manifest.ts";
import { parseManifest } from "./parse-manifest.ts";
import type { IsolatedPorts } from "./ports.ts";
import { ProcessLink } from "./process-link.ts";
import { findRoomFacts } from "./room-facts.ts";
import { temporaryDirectory } from "./room.ts";
import { startProcess, type StartedProcess, type WallPrograms } from "./start-process.ts";
import { Throttle } from "./throttle.ts";

export interface OpenProcess {
  readonly link: ProcessLink;
  readonly manifest: Manifest;
  /** Resolves with a sentence when it has ended. */
  readonly ended: Promise<string>;
  end(reason: string): Promise<void>;
}

export interface OpenOptions {
  source: ExtensionSource;
  wall: WallPrograms;
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

/** How long Node may take to start, on a machine that is busy. */
const maxStartMs = 30_000;
const countWrittenEveryMs = 1_000;
/** How often it may register something else; the tools of the session are put together again each time. */
const maxRegistered = 100;

/** Rejects with a sentence. */
export async function openProcess(options: OpenOptions): Promise<OpenProcess> {
  const { source, wall, ports, server, onManifest, report, signal } = options;
  const policy = ports.getPolicy();
  const mayRead = evaluateFor("read", source.name, policy).decision === "allow";
  const { agentDir, home, cwd, program } = ports;
  const readable = [program.path, ...program.readable];
  const facts = findRoomFacts({ source, program: readable, cwd, home, agentDir, mayRead });
  const started = startProcess({
    wall,
    facts,
    env: ports.env,
    program: program.path,
    maxMemoryMb: policy.maxMemoryMb,
  });
  const outputThrottle = new Throttle(ports.clock, maxOutput);
  const output = keepOutput(started, outputThrottle);

  let registered = 0;
  let settleReady: () => void;
  const ready = new Promise<void>((resolve) => (settleReady = resolve));
  let settleLoaded: (manifest: Manifest) => void;
  let failLoaded: (error: Error) => void;
  const loaded = new Promise<Manifest>((resolve, reject) => {
    settleLoaded = resolve;
    failLoaded = reject;
  });
  // It may fail before anybody waits.
  loaded.catch(() => undefined);
  const abort = () => failLoaded(new Error(String(signal.reason)));
  signal.addEventListener("abort", abort, { once: true });
  const onMessage = (message: Record<string, unknown>) => {
    switch (message["type"]) {
      case "ready":
        return void limitThenInit();
      case "failed":
        return failLoaded(new Error(toSentence(message["message"])));
      case "loaded":
      case "registered": {
        if (++registered > maxRegistered) return;
        const manifest = parseManifest(message["manifest"]);
        if (!manifest) return;
        onManifest(manifest);
        return settleLoaded(manifest);
      }
      case "problem":
        return report(toSentence(message["message"]));
    }
  };
  let brokenBecause: string | undefined;
  const connection = new Connection();
  const link = new ProcessLink({
    channel: started.channel,
    sync: started.sync,
    clock: ports.clock,
    stream: ports.stream,
    hostcalls: { handle: (method, args, context) => server.handle(method, args, context, connection) },
    onMessage,
    onBroken: (reason) => {
      brokenBecause = reason;
      started.end();
    },
  });
  connection.attach(link);

  let isLimited = false;
  async function limitThenInit(): Promise<void> {
    // Only once: the process says it before it has any foreign code.
    if (isLimited) return;
    isLimited = true;
    try {
      await started.limitMemory();
      const visible = [
        ...facts.program,
        ...facts.extension,
        ...(facts.workspace === undefined ? [] : [facts.workspace]),
      ];
      const { path, name, info } = source;
      const root = info.baseDir ?? dirname(path);
      const init = { path, name, root, visible, temporary: temporaryDirectory };
      link.send({ type: "init", init });
      settleReady();
    } catch (error) {
      failLoaded(new Error(`Its memory could not be limited: ${getErrorMessage(error)}`));
    }
  }

  const stopCounting = countWritten(started, link, options);
  const ended = started.exit.then((exit) => {
    stopCounting();
    outputThrottle.close();
    connection.close();
    const reason = brokenBecause ?? [exit, ...output()].join(" ");
    link.end(reason);
    failLoaded(new Error(reason));
    return reason;
  });
  const end = async (reason: string): Promise<void> => {
    link.end(reason, { endsCommands: true });
    started.end();
    await ended;
  };
  try {
    if (signal.aborted) abort();
    const begun = await untilTimeout(Promise.race([ready, loaded]), maxStartMs, ports.clock);
    if (begun.kind === "timeout") throw new Error(`Its process did not start within ${maxStartMs / 1_000} seconds.`);
    const outcome = await untilTimeout(loaded, maxFactoryMs, ports.clock);
    if (outcome.kind === "done") return { link, manifest: outcome.value, ended, end };
    throw new Error(describeSlowFactory(source));
  } catch (error) {
    await end(getErrorMessage(error));
    throw error;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

const maxSentenceLength = 2_000;
const toSentence = (value: unknown): string =>
  typeof value === "string" ? value.slice(0, maxSentenceLength) : "It failed.";

/** Bytes that are read of what it prints; one that prints more waits. */
const maxOutput = { perSecond: 8 * 1024 * 1024, burst: 16 * 1024 * 1024 };

/** The last line that it printed: what Node says when it crashes, or what the extension said. */
function keepOutput({ output }: StartedProcess, throttle: Throttle): () => string[] {
  let last = "";
  for (const stream of output) {
    stream.on("data", (piece: Buffer) => {
      throttle.count(stream, piece.length);
      last = (last + piece.toString("utf8")).slice(-maxSentenceLength);
    });
    stream.on("error", () => undefined);
  }
  return () => {
    const lines = last.split("\n").filter((line) => /error|fatal|bwrap/i.test(line));
    const line = lines[0]?.trim();
    return line === undefined ? [] : [line];
  };
}

/** What it wrote and did not send to us, it wrote to files. */
function countWritten(
  started: StartedProcess,
  link: ProcessLink,
  { ports: { clock }, onWritten }: OpenOptions,
): () => void {
  let counted = 0;
  let cancel: () => void;
  let isOver = false;
  const count = async () => {
    const written = (await started.countWritten().catch(() => undefined)) ?? counted;
    const toFiles = Math.max(counted, written - link.receivedBytes);
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
