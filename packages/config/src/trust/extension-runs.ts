/**
 * How often extensions that are not trusted ran without being refused anything. Nothing follows from it by itself: a person who
 * lists the extensions sees which of them could be trusted.
 */
import { isRecord } from "@tau/ai/internal";
import type { TrustSubject } from "./extension-trust.ts";
import { describeRecordFile, type RecordFileOptions } from "@tau/policy/internal";

/** So many runs in a row make a candidate. */
export const runsToCandidate = 50;

export interface ExtensionRuns {
  readonly id: string;
  readonly project?: string | undefined;
  /** Digest of the content that ran. Another content is counted from the beginning. */
  readonly digest: string;
  /** Sessions in which its process ran, since the last refusal. */
  readonly runs: number;
}

const isOf = (entry: ExtensionRuns, { id, project }: Pick<TrustSubject, "id" | "project">): boolean =>
  entry.id === id && entry.project === project;

/** The counts after a run. A refusal begins the count anew, and so does another content. Pure. */
export function countRun(
  entries: readonly ExtensionRuns[],
  subject: TrustSubject,
  { isRefused }: { isRefused: boolean },
): ExtensionRuns[] {
  const { id, project, digest } = subject;
  const before = entries.find((entry) => isOf(entry, subject) && entry.digest === digest)?.runs ?? 0;
  const runs = isRefused ? 0 : before + 1;
  const others = entries.filter((entry) => !isOf(entry, subject));
  return [...others, { id, ...(project !== undefined && { project }), digest, runs }];
}

/** How often an extension with this content ran since it was last refused something. Pure. */
export const getRuns = (entries: readonly ExtensionRuns[], subject: TrustSubject): number =>
  entries.find((entry) => isOf(entry, subject) && entry.digest === subject.digest)?.runs ?? 0;

const store = describeRecordFile("extension-runs.json", "extensions", (records): readonly ExtensionRuns[] =>
  Array.isArray(records) ? records.filter(isRuns) : [],
);

function isRuns(value: unknown): value is ExtensionRuns {
  if (!isRecord(value)) return false;
  const { id, project, digest, runs } = value;
  return (
    typeof id === "string" &&
    typeof digest === "string" &&
    (project === undefined || typeof project === "string") &&
    Number.isSafeInteger(runs)
  );
}

export const listExtensionRuns = (options: Omit<RecordFileOptions, "ids" | "cwd">): Promise<readonly ExtensionRuns[]> =>
  store.read({ ...options, cwd: options.agentDir });

export const recordExtensionRun = (
  subject: TrustSubject,
  run: { isRefused: boolean },
  options: Omit<RecordFileOptions, "cwd">,
): Promise<void> => store.change({ ...options, cwd: options.agentDir }, (entries) => countRun(entries, subject, run));
