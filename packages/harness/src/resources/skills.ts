/**
 * Skills: instructions that a model reads when it needs them. Only a skill's name, description and path are in every
 * request. The files are those of agentskills.io: a directory with a `SKILL.md`.
 */
import { basename, join } from "node:path";
import type { FileSystem } from "@tau/tools/platform";
import { ancestors, type Loaded } from "./context-files.ts";
import { type FieldValue, parseFrontMatter } from "./front-matter.ts";
import { problemAt, type ResourceProblem } from "./problem.ts";
import { kindOfPath, listDirectory, readText } from "./read-text.ts";

export interface Skill {
  /** `/skill:name` calls it. */
  name: string;
  /** What it does and when to use it; at most 1,024 characters. */
  description: string;
  /** Of its `SKILL.md`. */
  filePath: string;
  /** Relative paths in its text begin here. */
  baseDir: string;
  /** It is not in the prompt: only a person calls it. */
  disableModelInvocation: boolean;
}

const skillFileName = "SKILL.md";
const maxNameCharacters = 64;
const maxDescriptionCharacters = 1_024;
const maxFileBytes = 256 * 1024;
/** Skills may be grouped, but nobody groups them deeper. */
const deepest = 5;
const maxSkills = 500;

export interface SkillsRequest {
  fileSystem: FileSystem;
  /** Directories, or skills' files; searched in this order, and the first skill of a name wins. */
  roots: readonly string[];
  /** By path: stands in for a skill that no longer can be read. */
  lastGood?: ReadonlyMap<string, Skill>;
}

/** Sorted by name, so that where a skill is kept does not change the prompt. */
export async function loadSkills({ fileSystem, roots, lastGood }: SkillsRequest): Promise<Loaded<Skill[]>> {
  const problems: ResourceProblem[] = [];
  const byName = new Map<string, Skill>();
  for (const path of await findSkillFiles(fileSystem, roots, problems)) {
    const { value, problems: found } = await loadSkill(fileSystem, path);
    problems.push(...found);
    const skill = value ?? lastGood?.get(path);
    if (!skill) continue;
    const first = byName.get(skill.name);
    if (!first) byName.set(skill.name, skill);
    else problems.push(collision(skill.name, path, first.filePath));
  }
  return { value: [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), problems };
}

const collision = (name: string, path: string, first: string) =>
  problemAt(
    "collision",
    { path, key: "name" },
    `the skill ${name} is left out: ${first} has the same name and was found first. Rename one of them.`,
  );

/** The `SKILL.md` files below the roots, each once, also where links lead to one of them twice or in a circle. */
async function findSkillFiles(
  fs: FileSystem,
  roots: readonly string[],
  problems: ResourceProblem[],
): Promise<string[]> {
  const found: string[] = [];
  const seen = new Set<string>();
  const search = async (directory: string, depth: number): Promise<void> => {
    if (depth > deepest || found.length > maxSkills) return;
    const kind = await kindOfPath(fs, directory);
    // A root may be a skill's file itself.
    if (kind === "file" && depth === 0) found.push(directory);
    if (kind !== "directory") return;
    const { entries, realPath, problem } = await listDirectory(fs, directory);
    if (problem) problems.push(problem);
    if (seen.has(realPath)) return;
    seen.add(realPath);
    // What is below a skill belongs to it.
    if (entries.some(({ name }) => name === skillFileName)) {
      found.push(join(directory, skillFileName));
      return;
    }
    for (const { name, isDirectory, isSymbolicLink } of entries) {
      if (name.startsWith(".") || name === "node_modules" || !(isDirectory || isSymbolicLink)) continue;
      await search(join(directory, name), depth + 1);
    }
  };
  for (const root of roots) await search(root, 0);
  const [firstLeftOut] = found.splice(maxSkills);
  if (firstLeftOut !== undefined) {
    const text = `this skill and those after it are left out: there are more than ${maxSkills}. Remove some.`;
    problems.push(problemAt("too_large", { path: firstLeftOut }, text));
  }
  return found;
}

async function loadSkill(fs: FileSystem, path: string): Promise<Loaded<Skill | undefined>> {
  const outcome = await readText(fs, path, maxFileBytes);
  if (outcome.kind === "missing") return { value: undefined, problems: [] };
  if (outcome.kind === "unusable") return { value: undefined, problems: [outcome.problem] };
  const { fields, problem } = await parseFrontMatter(path, outcome.text);
  if (problem) return { value: undefined, problems: [problem] };
  return describeSkill(path, fields);
}

/** Pure. What would leave a skill unusable leaves it out; what others would refuse is only said. */
export function describeSkill(
  path: string,
  fields: ReadonlyMap<string, FieldValue> | undefined,
): Loaded<Skill | undefined> {
  const baseDir = join(path, "..");
  const directory = basename(baseDir);
  const problems: ResourceProblem[] = [];
  const report = (key: string, text: string) =>
    problems.push(problemAt("invalid", { path, line: fields?.get(key)?.line ?? 1, key }, text));
  const refused = (key: string, text: string) => {
    report(key, `${text} The skill is left out.`);
    return { value: undefined, problems };
  };
  if (!fields) {
    return refused("description", "there is no front matter. Begin with lines of --- around name and description.");
  }
  const description = fields.get("description")?.value;
  if (typeof description !== "string" || description.trim() === "") {
    return refused("description", "`description` is missing. Say in it what the skill does and when to use it.");
  }
  const given = fields.get("name")?.value ?? directory;
  const name = typeof given === "string" ? given : String(given);
  const wrong = nameRuleBroken(name);
  if (wrong) return refused("name", `the name ${JSON.stringify(name)} ${wrong}.`);
  if (!fields.has("name")) report("name", `\`name\` is missing; it is called ${name} after its directory. Add it.`);
  else if (name !== directory) {
    report(
      "name",
      `the name ${name} is not that of its directory, ${directory}. Other agents may refuse it; rename one.`,
    );
  }
  const text = description.replaceAll(/\s+/g, " ").trim();
  const isLong = text.length > maxDescriptionCharacters;
  if (isLong) {
    report(
      "description",
      `\`description\` has ${text.length} characters; ${maxDescriptionCharacters} are used. Shorten it.`,
    );
  }
  const skill: Skill = {
    name,
    description: isLong ? text.slice(0, maxDescriptionCharacters).toWellFormed() : text,
    filePath: path,
    baseDir,
    disableModelInvocation: fields.get("disable-model-invocation")?.value === true,
  };
  return { value: skill, problems };
}

function nameRuleBroken(name: string): string | undefined {
  if (name.length > maxNameCharacters) return `has ${name.length} characters; at most ${maxNameCharacters} are allowed`;
  if (!/^[a-z0-9-]+$/.test(name)) return "may have only lowercase letters, digits and hyphens";
  if (name.startsWith("-") || name.endsWith("-")) return "may not begin or end with a hyphen";
  return name.includes("--") ? "may not have two hyphens in a row" : undefined;
}

/** Its instructions as they are now, without the front matter. Undefined when the file cannot be read any more. */
export async function readSkill(fs: FileSystem, { filePath }: Skill): Promise<Loaded<string | undefined>> {
  const outcome = await readText(fs, filePath, maxFileBytes);
  if (outcome.kind === "missing") {
    const text = "this skill is gone. Put its file back, or reload.";
    return { value: undefined, problems: [problemAt("unreadable", { path: filePath }, text)] };
  }
  const problems = outcome.problem ? [outcome.problem] : [];
  if (outcome.kind === "unusable") return { value: undefined, problems };
  return { value: (await parseFrontMatter(filePath, outcome.text)).body, problems };
}

/**
 * The `.agents/skills` of a project: from the working directory up to the top of its repository. Without a repository
 * only the working directory counts, since what is above it may be anybody's.
 */
export async function projectSkillDirectories(fs: FileSystem, cwd: string): Promise<string[]> {
  const upwards = ancestors(cwd).toReversed();
  for (const [at, directory] of upwards.entries()) {
    if ((await kindOfPath(fs, join(directory, ".git"))) === undefined) continue;
    return upwards.slice(0, at + 1).map((one) => join(one, ".agents", "skills"));
  }
  return [join(upwards[0]!, ".agents", "skills")];
}
