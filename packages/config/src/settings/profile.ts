/** Profiles: settings of the user, in files `profiles/NAME.json` of the agent directory, that `--profile NAME` chooses. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { didYouMean } from "@tau/ai/internal";
import { HarnessError } from "@tau/protocol";
import { nodeFileSystem, unlessMissing } from "@tau/tools/platform";
import { policyProfiles } from "@tau/policy/internal";
import { formatPath } from "../fields/problem.ts";
import { formatFileProblem } from "../files/file-problem.ts";
import { readTextFile } from "../files/text-file.ts";
import { parseJsonDocument } from "../json/document.ts";
import type { RunSettings } from "./run-settings.ts";

const ending = ".json";

/** Whether the text can be the name of a profile: no slashes and no dots, so that it is a file of that one directory. */
const isProfileName = (name: string): boolean => /^[\p{L}\p{N}_-]{1,64}$/u.test(name);

const getDirectory = (agentDir: string): string => join(agentDir, "profiles");

/** Lists the names of the user's profiles, sorted. */
export async function listProfiles(agentDir: string): Promise<string[]> {
  const files = (await unlessMissing(readdir(getDirectory(agentDir)))) ?? [];
  const names = files.flatMap((file) => (file.endsWith(ending) ? [file.slice(0, -ending.length)] : []));
  return names.filter((name) => isProfileName(name) && !isPolicyProfile(name)).toSorted();
}

const isPolicyProfile = (name: string): boolean => policyProfiles.some((known) => known === name);

/** Reads a profile of the user. Throws `HarnessError` `invalid_input` if there is none, or if its file is damaged. */
export async function readProfile(agentDir: string, name: string): Promise<RunSettings> {
  const fail = (message: string) => new HarnessError("invalid_input", message);
  const quoted = JSON.stringify(name);
  if (isPolicyProfile(name)) throw fail(`${quoted} is a profile of the policy, not of the settings: --policy ${name}`);
  if (!isProfileName(name))
    throw fail(`${quoted} cannot be a profile. Its name has letters, digits, "-" and "_" only, at most 64.`);
  const directory = getDirectory(agentDir);
  const file = join(directory, `${name}${ending}`);
  const read = await readTextFile(nodeFileSystem, file);
  if (read.kind === "absent") {
    const hint = didYouMean(name, await listProfiles(agentDir));
    throw fail(`There is no profile ${quoted}.${hint} A profile is a file with settings: ${file}`);
  }
  if (read.kind === "unreadable") throw fail(`${file}: ${read.message}`);
  const document = await parseJsonDocument(read.text);
  if (document.kind === "damaged")
    throw fail(formatFileProblem({ file, ...document.position, message: document.message }));
  const [repeated] = document.repeated;
  if (repeated) {
    const message = `"${formatPath(repeated)}" is set more than once.`;
    throw fail(formatFileProblem({ file, ...document.getPosition(repeated), message }));
  }
  return { source: file, values: document.value, directory };
}
