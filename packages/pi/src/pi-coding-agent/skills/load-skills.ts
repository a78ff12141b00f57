/** Finds skills in directories. */
import { readdirSync, realpathSync, statSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { CONFIG_DIR_NAME, getAgentDir } from "../config.ts";
import { expandHome } from "../expand-home.ts";
import { tryRead } from "../try-read.ts";
import type { ResourceDiagnostic } from "./diagnostics.ts";
import { createIgnore, type Ignore } from "./ignore-files.ts";
import { loadSkill, type Skill } from "./skill.ts";

interface LoadSkillsResult {
  skills: Skill[];
  diagnostics: ResourceDiagnostic[];
}

/** A directory with a `SKILL.md` is one skill; in others, Markdown files beside each other are skills, and those below. */
export function loadSkillsFromDir({ dir, source }: { dir: string; source: string }): LoadSkillsResult {
  const results = findSkillFiles(dir).map((path) => loadSkill(path, source));
  return {
    skills: results.flatMap(({ skill }) => (skill ? [skill] : [])),
    diagnostics: results.flatMap(({ diagnostics }) => diagnostics),
  };
}

/** Directories that cannot be read are left out. */
export const findSkillFiles = (directory: string): string[] =>
  search(directory, { ignore: createIgnore(directory), visited: new Set(), isRoot: true });

interface Search {
  ignore: Ignore;
  /** The real paths of the directories so far: a link may lead to one of them. */
  visited: Set<string>;
  isRoot: boolean;
}

const isFile = (path: string): boolean => tryRead(() => statSync(path).isFile()) === true;
const isDirectory = (path: string): boolean => tryRead(() => statSync(path).isDirectory()) === true;

function search(directory: string, { ignore, visited, isRoot }: Search): string[] {
  const realPath = tryRead(() => realpathSync(directory));
  if (realPath === undefined || visited.has(realPath)) return [];
  visited.add(realPath);
  const rules = ignore.extend(directory);
  const names = (tryRead(() => readdirSync(directory)) ?? [])
    .filter((name) => !name.startsWith(".") && name !== "node_modules")
    .sort();
  const skillFile = join(directory, "SKILL.md");
  if (isFile(skillFile) && !rules.ignores(skillFile, false)) return [skillFile];
  return names.flatMap((name) => {
    const path = join(directory, name);
    if (isDirectory(path))
      return rules.ignores(path, true) ? [] : search(path, { ignore: rules, visited, isRoot: false });
    return isRoot && name.endsWith(".md") && isFile(path) && !rules.ignores(path, false) ? [path] : [];
  });
}

interface LoadSkillsOptions {
  cwd?: string;
  agentDir?: string;
  /** Files and directories. */
  skillPaths?: string[];
  /** Default true. */
  includeDefaults?: boolean;
}

/** Loads skills. The first skill of a name is used. */
export function loadSkills({
  cwd = process.cwd(),
  agentDir = getAgentDir(),
  skillPaths = [],
  includeDefaults = true,
}: LoadSkillsOptions = {}): LoadSkillsResult {
  const userDir = join(agentDir, "skills");
  const projectDir = join(cwd, CONFIG_DIR_NAME, "skills");
  const results = [
    ...(includeDefaults
      ? [loadSkillsFromDir({ dir: userDir, source: "user" }), loadSkillsFromDir({ dir: projectDir, source: "project" })]
      : []),
    ...skillPaths.map((path) => loadPath(toPath(cwd, path), { userDir, projectDir })),
  ];
  const diagnostics = results.flatMap((result) => result.diagnostics);
  const byName = new Map<string, Skill>();
  const seen = new Set<string>();
  const collisions: ResourceDiagnostic[] = [];
  for (const skill of results.flatMap((result) => result.skills)) {
    const realPath = tryRead(() => realpathSync(skill.filePath)) ?? skill.filePath;
    if (seen.has(realPath)) continue;
    const winner = byName.get(skill.name);
    if (winner) collisions.push(describeCollision(skill, winner));
    else {
      byName.set(skill.name, skill);
      seen.add(realPath);
    }
  }
  return { skills: [...byName.values()], diagnostics: [...diagnostics, ...collisions] };
}

function loadPath(path: string, { userDir, projectDir }: { userDir: string; projectDir: string }): LoadSkillsResult {
  const warn = (message: string): LoadSkillsResult => ({
    skills: [],
    diagnostics: [{ type: "warning", message, path }],
  });
  const source = isBelow(userDir, path) ? "user" : isBelow(projectDir, path) ? "project" : "path";
  let problem = "skill path does not exist";
  const stats = tryRead(
    () => statSync(path, { throwIfNoEntry: false }),
    (message) => void (problem = message),
  );
  if (!stats) return warn(problem);
  if (stats.isDirectory()) return loadSkillsFromDir({ dir: path, source });
  if (!path.endsWith(".md")) return warn("skill path is not a markdown file");
  const { skill, diagnostics } = loadSkill(path, source);
  return { skills: skill ? [skill] : [], diagnostics };
}

const isBelow = (directory: string, path: string): boolean => path === directory || path.startsWith(directory + sep);

const toPath = (cwd: string, path: string): string => resolve(cwd, expandHome(path.trim()));

const describeCollision = (loser: Skill, winner: Skill): ResourceDiagnostic => ({
  type: "collision",
  message: `name "${loser.name}" collision`,
  path: loser.filePath,
  collision: {
    resourceType: "skill",
    name: loser.name,
    winnerPath: winner.filePath,
    loserPath: loser.filePath,
  },
});
