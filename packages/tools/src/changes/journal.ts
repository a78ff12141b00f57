/**
 * Keeps what files were before several of them are changed together, until all are. If the process is killed in between, the next
 * change or the next session takes back what was done. Journals are in a directory of tau, which neither a project nor a command
 * of the model can write to: what they say is done without asking.
 */
import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { join } from "node:path";
import { type Clock, type Ids, systemClock, systemIds } from "@tau/ai";
import { closeAfter, isRecord } from "@tau/ai/internal";
import { makeDirectory, orUndefined, readWhole, syncDirectory } from "../durable/durable-file.ts";
import { systemCode, tolerate, unlessMissing } from "../errors.ts";
import { createFiles, type Files } from "../platform/files.ts";
import { type FileSystem, lookAt, nodeFileSystem } from "../platform/file-system.ts";
import { thisProcess, verdictOn } from "../platform/process-mark.ts";
import { nameTemporary, parseMark } from "../platform/temporary-name.ts";
import { type Step, undoStep } from "./step.ts";

export interface ChangeJournal {
  /** Resolves when the old state of all files is on the disk. `end` resolves when it is forgotten: the change then stays. */
  begin(steps: readonly Step[]): Promise<{ end(): Promise<void> }>;
  /** Takes back the changes of processes that were killed. Returns the paths that were restored. Never rejects. */
  recover(): Promise<string[]>;
}

interface JournalOptions {
  /** Made when it is needed, and removed when it is empty. Nobody else may be able to write to it. */
  directory: string;
  fileSystem?: FileSystem;
  ids?: Ids;
  clock?: Clock;
}

/** A process that cannot be seen, such as one in a container that is gone, has finished a change after this time. */
const maxUnseenMs = 10 * 60_000;
/** After this time, files that still cannot be restored are left as they are. */
const maxAgeMs = 24 * 60 * 60_000;

export function createChangeJournal(options: JournalOptions): ChangeJournal {
  const { directory, fileSystem: fs = nodeFileSystem, ids = systemIds, clock = systemClock } = options;
  const ports = { directory, fs, ids, clock };
  return {
    async begin(steps) {
      await recover(ports);
      const path = await write(ports, encode(steps));
      return { end: () => forget(ports, path) };
    },
    recover: () => recover(ports),
  };
}

interface Ports {
  directory: string;
  fs: FileSystem;
  ids: Ids;
  clock: Clock;
}

const getOwnPath = ({ directory, ids }: Ports) => join(directory, nameTemporary(thisProcess(), ids()));

/** Another process may remove the directory, if it is empty, before the file is in it. */
const maxAttempts = 5;

async function write(ports: Ports, bytes: Buffer): Promise<string> {
  const { directory, fs } = ports;
  for (let attempt = 1; ; attempt++) {
    const path = getOwnPath(ports);
    try {
      await makeDirectory(fs, directory);
      const handle = await fs.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
      await closeAfter(handle, async () => {
        await handle.write(bytes);
        await handle.sync();
      });
      await syncDirectory(fs, directory);
      return path;
    } catch (error) {
      await orUndefined(fs.unlink(path));
      if (systemCode(error) !== "ENOENT" || attempt === maxAttempts) throw error;
    }
  }
}

async function forget({ directory, fs }: Ports, path: string): Promise<void> {
  await fs.unlink(path);
  await syncDirectory(fs, directory);
  // Without it, the next session has nothing to look for. Another process may use it, which makes this fail.
  if (fs.rmdir) await orUndefined(fs.rmdir(directory));
}

async function recover(ports: Ports): Promise<string[]> {
  const { directory, fs, clock } = ports;
  const restored: string[] = [];
  try {
    // The usual case, at every start.
    if (!(await lookAt(fs, directory))) return [];
    for (const { name } of (await unlessMissing(fs.readdir(directory))) ?? []) {
      const path = join(directory, name);
      const ageMs = clock.now() - ((await lookAt(fs, path))?.mtimeMs ?? 0);
      if (isAbandoned(name, ageMs)) restored.push(...(await restore(ports, path, ageMs)));
    }
    if (fs.rmdir) await orUndefined(fs.rmdir(directory));
  } catch (error) {
    // The session works without it, and the next one tries again.
    if (systemCode(error) === undefined) throw error;
  }
  return restored;
}

function isAbandoned(name: string, ageMs: number): boolean {
  const mark = parseMark(name, thisProcess());
  if (!mark) return false;
  const verdict = verdictOn(mark);
  return verdict === "gone" || (verdict === "unseen" && ageMs > maxUnseenMs);
}

async function restore(ports: Ports, found: string, ageMs: number): Promise<string[]> {
  const { fs, ids } = ports;
  const path = getOwnPath(ports);
  // Of several processes only one gets it.
  if (
    (await tolerate(
      fs.rename(found, path).then(() => true),
      "ENOENT",
    )) === undefined
  )
    return [];
  const steps = parse(await readOwn(fs, path));
  const files = createFiles({ fileSystem: fs, ids });
  const { restored, isDone } = await undoAll(files, steps);
  if (isDone || ageMs > maxAgeMs) await forget(ports, path);
  return restored;
}

/** Undefined for a file that is not ours. */
async function readOwn(fs: FileSystem, path: string): Promise<Buffer | undefined> {
  const stats = await unlessMissing(fs.lstat(path));
  const isOwn = stats?.isFile() && stats.uid === (process.getuid?.() ?? stats.uid);
  return isOwn ? await readWhole(fs, path) : undefined;
}

async function undoAll(files: Files, steps: readonly Step[]): Promise<{ restored: string[]; isDone: boolean }> {
  const restored: string[] = [];
  let isDone = true;
  for (const step of steps.toReversed()) {
    const before = (await isReal(files, step)) ? await undoStep(files, step, "unknown") : "foreign";
    if (before === "unknown") isDone = false;
    if (before === "old") restored.push(step.path);
  }
  return { restored, isDone };
}

/** Whether its paths still are real paths. A file behind a link was not changed by us. */
async function isReal(files: Files, step: Step): Promise<boolean> {
  const paths = step.kind === "move" ? [step.path, step.to] : [step.path];
  for (const path of paths) {
    const real = await files.realPath(path).catch(() => undefined);
    if (real !== path) return false;
  }
  return true;
}

const title = "tau-changes 1";

/** A checksum, the steps as JSON, then the old contents one after the other. */
export function encode(steps: readonly Step[]): Buffer {
  const contents = steps.flatMap((step) => (step.kind !== "move" && step.before ? [step.before] : []));
  const rows = steps.map((step) => (step.kind === "move" ? step : { ...step, before: step.before?.length ?? null }));
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify(rows)}\n`), ...contents]);
  return Buffer.concat([Buffer.from(`${title} ${hash(rest)}\n`), rest]);
}

/** Empty for a journal that was not written to its end: nothing was changed then. */
export function parse(bytes: Buffer | undefined): Step[] {
  const lineEnd = bytes?.indexOf("\n") ?? -1;
  if (!bytes || lineEnd < 0) return [];
  const rest = bytes.subarray(lineEnd + 1);
  if (bytes.toString("utf8", 0, lineEnd) !== `${title} ${hash(rest)}`) return [];
  const rowsEnd = rest.indexOf("\n");
  const rows = JSON.parse(rest.toString("utf8", 0, rowsEnd)) as unknown[];
  let offset = rowsEnd + 1;
  return rows.filter(isRecord).map((row) => {
    if (typeof row["before"] !== "number") return { ...row, before: undefined } as unknown as Step;
    const before = rest.subarray(offset, offset + row["before"]);
    offset += row["before"];
    return { ...row, before } as unknown as Step;
  });
}

const hash = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");
