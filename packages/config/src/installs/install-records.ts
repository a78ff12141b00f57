/**
 * Which packages of projects were installed on this computer, and are as they were installed. What a repository brings in
 * its own `.tau/npm` was never fetched and checked here, so it does not apply.
 */
import { realpath } from "node:fs/promises";
import type { Ids } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { orUndefined } from "@tau/tools/durable";
import { describeRecordFile } from "@tau/policy/internal";
import { fingerprintTree } from "./tree.ts";

interface RecordOptions {
  agentDir: string;
  ids: Ids;
}

/** Fingerprints by the real path of the installed directory. */
const store = describeRecordFile("project-packages.json", "installed", (value): Record<string, string> => {
  const entries = Object.entries(isRecord(value) ? value : {});
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
});

export async function recordInstall(directory: string, { agentDir, ids }: RecordOptions): Promise<void> {
  const [path, fingerprint] = await Promise.all([realpath(directory), fingerprintTree(directory)]);
  await store.change({ agentDir, cwd: agentDir, ids }, (records) => ({ ...records, [path]: fingerprint }));
}

/** Before the directory is removed. */
export async function forgetInstall(directory: string, { agentDir, ids }: RecordOptions): Promise<void> {
  const path = (await orUndefined(realpath(directory))) ?? directory;
  const isStored = Object.hasOwn(await store.read({ agentDir, cwd: agentDir }), path);
  if (isStored) await store.change({ agentDir, cwd: agentDir, ids }, ({ [path]: _removed, ...others }) => others);
}

export async function isAsInstalled(directory: string, agentDir: string): Promise<boolean> {
  const path = await orUndefined(realpath(directory));
  if (path === undefined) return false;
  const records = await store.read({ agentDir, cwd: agentDir });
  return Object.hasOwn(records, path) && records[path] === (await orUndefined(fingerprintTree(directory)));
}
