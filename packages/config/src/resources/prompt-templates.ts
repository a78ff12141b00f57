/** Prompt templates: `/review arguments` uses the Markdown file `review.md`. */
import { basename, join } from "node:path";
import type { FileSystem } from "@tau/tools/platform";
import type { Loaded, LoadedFiles, LoadRequest } from "./context-files.ts";
import { type FieldValue, getFirstLine, parseFrontMatter } from "./front-matter.ts";
import { readRole } from "./role-field.ts";
import { createProblem, type ResourceProblem } from "./resource-problem.ts";
import { getPathKind, readDirectory, readText } from "./read-text.ts";

export interface PromptTemplate {
  /** The file's name without `.md`. */
  name: string;
  /** From the front matter; else the beginning of the first line. */
  description: string;
  /** Shown after the name, such as `<required> [optional]`. */
  argumentHint?: string;
  /** The role whose model answers it, without its mark. */
  role?: string;
  /** Without the front matter; see `fillTemplate` for its placeholders. */
  content: string;
  filePath: string;
}

const maxFileBytes = 128 * 1024;

interface PromptTemplatesRequest extends LoadRequest<PromptTemplate> {
  /** Directories, without their subdirectories, or files. The first template of a name has precedence. */
  roots: readonly string[];
  /** Whether a file that was found is used. Default: all do. */
  includes?: (file: string) => boolean;
}

/** Sorted by name. */
export async function loadPromptTemplates(request: PromptTemplatesRequest): Promise<LoadedFiles<PromptTemplate[]>> {
  const { fileSystem: fs, roots, lastGood, includes = () => true } = request;
  const problems: ResourceProblem[] = [];
  const byName = new Map<string, PromptTemplate>();
  const files = await findTemplateFiles(fs, roots, problems);
  for (const path of new Set(files.filter(includes))) {
    const { value, problems: own } = await loadTemplate(fs, path, basename(path).slice(0, -".md".length));
    problems.push(...own);
    const template = value ?? lastGood?.get(path);
    if (!template) continue;
    const first = byName.get(template.name);
    if (!first) byName.set(template.name, template);
    else {
      const text = `The template /${template.name} is ignored: ${first.filePath} has the same name and has precedence. Rename one of them.`;
      problems.push(createProblem("collision", { path }, text));
    }
  }
  const value = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { value, problems, watched: [...roots, ...files] };
}

async function findTemplateFiles(
  fs: FileSystem,
  paths: readonly string[],
  problems: ResourceProblem[],
): Promise<string[]> {
  const files: string[] = [];
  for (const path of paths) {
    if (path.endsWith(".md") && (await getPathKind(fs, path)) === "file") {
      files.push(path);
      continue;
    }
    const { entries, problem } = await readDirectory(fs, path);
    if (problem) problems.push(problem);
    for (const { name } of entries) {
      const file = join(path, name);
      // A link that leads nowhere is reported when it is read.
      if (name.endsWith(".md") && (await getPathKind(fs, file)) !== "directory") files.push(file);
    }
  }
  return files;
}

async function loadTemplate(fs: FileSystem, path: string, name: string): Promise<Loaded<PromptTemplate | undefined>> {
  const refuse = (problem: ResourceProblem) => ({ value: undefined, problems: [problem] });
  if (name === "" || /\s/.test(name)) {
    return refuse(
      createProblem("invalid", { path }, "The name of this file cannot be a command. Use a name without spaces."),
    );
  }
  const outcome = await readText(fs, path, maxFileBytes);
  if (outcome.kind === "missing") return { value: undefined, problems: [] };
  if (outcome.kind === "unusable") return refuse(outcome.problem);
  const { fields, body, problem } = await parseFrontMatter(path, outcome.text);
  if (problem) return refuse(problem);
  const problems = outcome.problem ? [outcome.problem] : [];
  const field = (key: string) => readTextField(path, key, fields?.get(key), problems);
  const description = field("description") ?? getFirstLine(body);
  const argumentHint = field("argument-hint");
  const role = readRole(path, fields?.get("role"), problems);
  const template = {
    name,
    description,
    ...(argumentHint !== undefined && { argumentHint }),
    ...(role !== undefined && { role }),
    content: body,
  };
  return { value: { ...template, filePath: path }, problems };
}

function readTextField(path: string, key: string, field: FieldValue | undefined, problems: ResourceProblem[]) {
  if (!field || field.value === null) return undefined;
  if (typeof field.value === "string") return field.value.replaceAll(/\s+/g, " ").trim();
  // In YAML `argument-hint: [focus]` is a list, but users mean the text.
  if (Array.isArray(field.value)) return `[${field.value.join(", ")}]`;
  problems.push(
    createProblem("invalid", { path, line: field.line, key }, `\`${key}\` has to be a string. Put it in quotes.`),
  );
  return undefined;
}
