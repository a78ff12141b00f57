/** The answers of the user about servers: each belongs to the hash of an entry, and is gone when the entry changes. */
import { systemIds } from "@tau/ai";
import { isRecord } from "@tau/ai/internal";
import { describeRecordFile } from "@tau/policy/internal";
import type { McpEntry } from "./entry.ts";

interface McpAnswer {
  readonly name: string;
  /** Whether it may be started or reached. False where only its definitions are known, of a run that needed no answer. */
  readonly isAllowed: boolean;
  /** Digests of the definitions that were accepted, by the names of the tools. */
  readonly tools: Readonly<Record<string, string>>;
}

/** By the hash of the entry. A file that cannot be read has no answers. */
const file = describeRecordFile("mcp-answers.json", "servers", (servers): Record<string, McpAnswer> => {
  const entries = Object.entries(isRecord(servers) ? servers : {}).flatMap(([hash, answer]) => {
    const { name, isAllowed, tools = {} } = isRecord(answer) ? answer : {};
    if (typeof name !== "string" || !isRecord(tools)) return [];
    const digests = Object.entries(tools).filter(([, digest]) => typeof digest === "string");
    return [
      [
        hash,
        { name, isAllowed: isAllowed === true, tools: Object.fromEntries(digests) as Record<string, string> },
      ] as const,
    ];
  });
  return Object.fromEntries(entries);
});

interface Directories {
  agentDir: string;
  cwd: string;
}

/** Undefined if nothing is known of this entry. */
export async function readAnswer(
  directories: Directories,
  { hash }: Pick<McpEntry, "hash">,
): Promise<McpAnswer | undefined> {
  const answers = await file.read(directories);
  return Object.hasOwn(answers, hash) ? answers[hash] : undefined;
}

/** Stores what is given, and keeps the rest. */
export async function writeAnswer(
  directories: Directories,
  { hash, name }: Pick<McpEntry, "hash" | "name">,
  change: Partial<Omit<McpAnswer, "name">>,
): Promise<void> {
  await file.change({ ...directories, ids: systemIds }, (answers) => ({
    ...answers,
    [hash]: { isAllowed: false, tools: {}, ...answers[hash], ...change, name },
  }));
}

/** Forgets the answer, so that the user is asked again. */
export async function removeAnswer(directories: Directories, { hash }: Pick<McpEntry, "hash">): Promise<void> {
  await file.change({ ...directories, ids: systemIds }, ({ [hash]: _removed, ...others }) => others);
}
