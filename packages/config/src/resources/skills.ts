/**
 * Skills: instructions that a model reads when it needs them. Only the name, description and path of a skill are in every
 * request. The format is that of agentskills.io: a directory with a `SKILL.md`. A Markdown file directly in a directory of
 * skills is one too.
 */
import { basename, join } from "node:path";
import { type FileSystem, isWithin } from "@tau/tools/platform";
import { ancestors, type Loaded, type LoadedFiles, type LoadRequest } from "./context-files.ts";
import { type FieldValue, parseFrontMatter } from "./front-matter.ts";
import { findProject } from "./guard.ts";
import { readRole } from "./role-field.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { getPathKind, readDirectory, readText } from "./read-text.ts";

export interface Skill {
  /** The user can call it with `/skill:name`. */
  name: string;
  /** Says what it does and when to use it; at most 1,024 characters. */
  description: string;
  /** The path of its `SKILL.md`, or of the file that is the whole skill. */
  filePath: string;
  /** Relative paths in its text start from here. */
  baseDir: string;
  /** It is not in the prompt: only the user can call it. */
  disableModelInvocation: boolean;
  /** The role whose model is used when the user calls it, without its mark. */
  role?: string;
}

const skillFileName = "SKILL.md";
const maxNameCharacters = 64;
const maxDescriptionCharacters = 1_024;
const maxFileBytes = 256 * 1024;
/** Skills may be in subdirectories, up to this depth. */
const maxDepth = 5;
const maxSkills = 500;
/** A root with so many directories is a wrong one, such as the root of a disk. */
const maxDirectories = 5_000;

interface SkillsRequest extends LoadRequest<Skill> {
  /** Directories, or files of skills. The first skill of a name has precedence. */
  roots: readonly string[];
  /** The roots that the user named: a file among them that is no skill is a problem. Default: none. */
  named?: readonly string[];
  /** Whether a file that was found is used. Default: all do. */
  includes?: (file: string) => boolean;
}

/** Sorted by name, so that the prompt does not depend on where skills are. */
export async function loadSkills(request: SkillsRequest): Promise<LoadedFiles<Skill[]>> {
  const { fileSystem, lastGood, named = [], includes = () => true } = request;
  const problems: ResourceProblem[] = [];
  const byName = new Map<string, Skill>();
  const { files, watched } = await findSkillFiles(fileSystem, request.roots, problems);
  for (const path of new Set(files.filter(includes))) {
    const { value, problems: own } = await loadSkill(fileSystem, path, { isNamed: named.includes(path) });
    problems.push(...own);
    const skill = value ?? lastGood?.get(path);
    if (!skill) continue;
    const first = byName.get(skill.name);
    if (!first) byName.set(skill.name, skill);
    else {
      const text = `The skill ${skill.name} is ignored: ${first.filePath} has the same name and has precedence. Rename one of them.`;
      problems.push(createProblem("collision", { path, key: "name" }, text));
    }
  }
  return { value: [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems, watched };
}

/** The Markdown files directly in the roots, and the `SKILL.md` files below the roots, each once, also if there are links to them or links in a circle. */
async function findSkillFiles(
  fs: FileSystem,
  roots: readonly string[],
  problems: ResourceProblem[],
): Promise<{ files: string[]; watched: string[] }> {
  const files: string[] = [];
  const watched = [...roots];
  const seen = new Set<string>();
  let seenBefore = 0;
  const isTooLarge = () => seen.size - seenBefore > maxDirectories;
  const search = async (directory: string, depth: number): Promise<void> => {
    if (depth > maxDepth || files.length > maxSkills || isTooLarge()) return;
    const kind = await getPathKind(fs, directory);
    // A root may be the file of a skill.
    if (kind === "file" && depth === 0) files.push(directory);
    if (kind !== "directory") return;
    const { entries, realPath, problem } = await readDirectory(fs, directory);
    if (problem) problems.push(problem);
    if (seen.has(realPath)) return;
    seen.add(realPath);
    // Subdirectories of a skill belong to it.
    if (entries.some(({ name }) => name === skillFileName)) {
      const file = join(directory, skillFileName);
      files.push(file);
      // Not the directory: scripts of the skill may write into it all the time.
      watched.push(file);
      return;
    }
    watched.push(directory);
    for (const { name, isDirectory, isSymbolicLink } of entries) {
      if (name.startsWith(".") || name === "node_modules") continue;
      const path = join(directory, name);
      if (isSymbolicLink) watched.push(path);
      if (isDirectory || isSymbolicLink) await search(path, depth + 1);
      if (depth === 0 && name.endsWith(".md") && (await getPathKind(fs, path)) === "file") files.push(path);
    }
  };
  for (const root of roots) {
    seenBefore = seen.size;
    await search(root, 0);
    if (!isTooLarge()) continue;
    const text = `Skills below this directory may be missing: it has more than ${maxDirectories} directories. Name one nearer to the skills.`;
    problems.push(createProblem("too_large", { path: root }, text));
  }
  const [firstIgnored] = files.splice(maxSkills);
  if (firstIgnored !== undefined) {
    const text = `This skill and the skills after it are ignored: there are more than ${maxSkills}. Remove some.`;
    problems.push(createProblem("too_large", { path: firstIgnored }, text));
  }
  return { files, watched };
}

async function loadSkill(
  fs: FileSystem,
  path: string,
  { isNamed }: { isNamed: boolean },
): Promise<Loaded<Skill | undefined>> {
  const outcome = await readText(fs, path, maxFileBytes);
  if (outcome.kind === "missing") return { value: undefined, problems: [] };
  if (outcome.kind === "unusable") return { value: undefined, problems: [outcome.problem] };
  const { fields, problem } = await parseFrontMatter(path, outcome.text);
  if (problem) return { value: undefined, problems: [problem] };
  // A file such as README.md beside skills.
  if (!fields && !isNamed && basename(path) !== skillFileName) return { value: undefined, problems: [] };
  return describeSkill(path, fields);
}

/** Reports all violations of the format, and ignores a skill only if it cannot be used. Pure. */
function describeSkill(path: string, fields: ReadonlyMap<string, FieldValue> | undefined): Loaded<Skill | undefined> {
  const baseDir = join(path, "..");
  const isDirectory = basename(path) === skillFileName;
  const ownName = isDirectory ? basename(baseDir) : basename(path, ".md");
  const problems: ResourceProblem[] = [];
  const report = (key: string, text: string) =>
    problems.push(createProblem("invalid", { path, line: fields?.get(key)?.line ?? 1, key }, text));
  const refuse = (key: string, text: string) => {
    report(key, `${text} The skill is ignored.`);
    return { value: undefined, problems };
  };
  if (!fields) {
    return refuse(
      "description",
      "There is no front matter. Begin the file with name and description between lines of ---.",
    );
  }
  const description = fields.get("description")?.value;
  if (typeof description !== "string" || description.trim() === "") {
    return refuse("description", "`description` has to be a string that says what the skill does and when to use it.");
  }
  const name = String(fields.get("name")?.value ?? ownName);
  const wrong = describeWrongName(name);
  if (wrong) return refuse("name", `The name ${JSON.stringify(name)} ${wrong}.`);
  if (!fields.has("name")) report("name", `\`name\` is missing; ${name} is used. Add it.`);
  else if (isDirectory && name !== ownName) {
    report(
      "name",
      `The name ${name} is not that of the directory, ${ownName}. Other agents may refuse the skill. Rename one of them.`,
    );
  }
  const text = description.replaceAll(/\s+/g, " ").trim();
  const isLong = text.length > maxDescriptionCharacters;
  if (isLong) {
    report(
      "description",
      `\`description\` has ${text.length} characters; only ${maxDescriptionCharacters} are used. Shorten it.`,
    );
  }
  const role = readRole(path, fields.get("role"), problems);
  const skill: Skill = {
    name,
    description: isLong ? text.slice(0, maxDescriptionCharacters).toWellFormed() : text,
    filePath: path,
    baseDir,
    disableModelInvocation: fields.get("disable-model-invocation")?.value === true,
    ...(role !== undefined && { role }),
  };
  return { value: skill, problems };
}

function describeWrongName(name: string): string | undefined {
  if (name.length > maxNameCharacters) return `has ${name.length} characters; at most ${maxNameCharacters} are allowed`;
  if (!/^[a-z0-9-]+$/.test(name)) return "may have only lowercase letters, digits and hyphens";
  if (name.startsWith("-") || name.endsWith("-")) return "may not begin or end with a hyphen";
  return name.includes("--") ? "may not have two hyphens in a row" : undefined;
}

/** Returns what a model may read of a skill without a question: its directory, or the one file that it is. */
export const getReadablePath = ({ filePath, baseDir }: Skill): string =>
  basename(filePath) === skillFileName ? baseDir : filePath;

/** The current instructions, without the front matter. Undefined if the file cannot be read any more. */
export async function readSkill(fs: FileSystem, { filePath }: Skill): Promise<Loaded<string | undefined>> {
  const outcome = await readText(fs, filePath, maxFileBytes);
  if (outcome.kind === "missing") {
    const text = "The file of this skill no longer exists. Restore it, or reload.";
    return { value: undefined, problems: [createProblem("unreadable", { path: filePath }, text)] };
  }
  const problems = outcome.problem ? [outcome.problem] : [];
  if (outcome.kind === "unusable") return { value: undefined, problems };
  return { value: (await parseFrontMatter(filePath, outcome.text)).body, problems };
}

/**
 * The `.agents/skills` of a project: from the working directory up to the top of its repository. Without a repository only
 * the working directory applies, since the directories above it may belong to other users.
 */
export async function projectSkillDirectories(
  fs: FileSystem,
  { cwd, home }: { cwd: string; home: string },
): Promise<string[]> {
  const project = await findProject(fs, { cwd, home });
  const directories = ancestors(cwd).filter((directory) => isWithin(project, directory));
  return directories.toReversed().map((directory) => join(directory, ".agents", "skills"));
}
