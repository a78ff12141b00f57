/** Prompts that people keep: a Markdown file `review.md` is called by `/review arguments`. */
import { basename, join } from "node:path";
import type { FileSystem } from "@tau/tools/platform";
import type { Loaded } from "./context-files.ts";
import { type FieldValue, parseFrontMatter } from "./front-matter.ts";
import { problemAt, type ResourceProblem } from "./problem.ts";
import { kindOfPath, listDirectory, readText } from "./read-text.ts";

export interface PromptTemplate {
  /** The file's name without `.md`. */
  name: string;
  /** From the front matter, else the beginning of the first line. */
  description: string;
  /** What to show after the name: `<required> [optional]`. */
  argumentHint?: string;
  /** Without the front matter; see `fillTemplate` for its placeholders. */
  content: string;
  filePath: string;
}

const maxFileBytes = 128 * 1024;
const maxDescriptionCharacters = 80;

export interface PromptTemplatesRequest {
  fileSystem: FileSystem;
  /** Directories, not what is below them, or single files; in this order, and the first template of a name wins. */
  directories: readonly string[];
  /** By path: stands in for a template that no longer can be read. */
  lastGood?: ReadonlyMap<string, PromptTemplate>;
}

/** Sorted by name. */
export async function loadPromptTemplates(request: PromptTemplatesRequest): Promise<Loaded<PromptTemplate[]>> {
  const { fileSystem: fs, directories, lastGood } = request;
  const problems: ResourceProblem[] = [];
  const byName = new Map<string, PromptTemplate>();
  for (const path of await findTemplateFiles(fs, directories, problems)) {
    const { value, problems: found } = await loadTemplate(fs, path, basename(path).slice(0, -".md".length));
    problems.push(...found);
    const template = value ?? lastGood?.get(path);
    if (!template) continue;
    const first = byName.get(template.name);
    if (!first) byName.set(template.name, template);
    else {
      const text = `the template /${template.name} is left out: ${first.filePath} has the same name and was found first. Rename one of them.`;
      problems.push(problemAt("collision", { path }, text));
    }
  }
  return { value: [...byName.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), problems };
}

async function findTemplateFiles(
  fs: FileSystem,
  places: readonly string[],
  problems: ResourceProblem[],
): Promise<string[]> {
  const found: string[] = [];
  for (const place of places) {
    if (place.endsWith(".md") && (await kindOfPath(fs, place)) === "file") {
      found.push(place);
      continue;
    }
    const { entries, problem } = await listDirectory(fs, place);
    if (problem) problems.push(problem);
    for (const { name } of entries) {
      const path = join(place, name);
      // A directory may be called so too, and a link may lead to one or nowhere.
      if (name.endsWith(".md") && (await kindOfPath(fs, path)) !== "directory") found.push(path);
    }
  }
  return found;
}

async function loadTemplate(fs: FileSystem, path: string, name: string): Promise<Loaded<PromptTemplate | undefined>> {
  const refused = (problem: ResourceProblem) => ({ value: undefined, problems: [problem] });
  if (name === "" || /\s/.test(name)) {
    return refused(problemAt("invalid", { path }, "its name cannot be typed as a command. Use a name without blanks."));
  }
  const outcome = await readText(fs, path, maxFileBytes);
  if (outcome.kind === "missing") return { value: undefined, problems: [] };
  if (outcome.kind === "unusable") return refused(outcome.problem);
  const { fields, body, problem } = await parseFrontMatter(path, outcome.text);
  if (problem) return refused(problem);
  const problems = outcome.problem ? [outcome.problem] : [];
  const field = (key: string) => textField(path, key, fields?.get(key), problems);
  const description = field("description") ?? firstLine(body);
  const argumentHint = field("argument-hint");
  const template = { name, description, ...(argumentHint !== undefined && { argumentHint }), content: body };
  return { value: { ...template, filePath: path }, problems };
}

function textField(path: string, key: string, field: FieldValue | undefined, problems: ResourceProblem[]) {
  if (!field || field.value === null) return undefined;
  if (typeof field.value === "string") return field.value.replaceAll(/\s+/g, " ").trim();
  // `argument-hint: [focus]` is a list to YAML, and what everybody writes.
  if (Array.isArray(field.value)) return `[${field.value.join(", ")}]`;
  problems.push(problemAt("invalid", { path, line: field.line, key }, `\`${key}\` is a text. Put it into quotes.`));
  return undefined;
}

function firstLine(body: string): string {
  const line =
    body
      .split("\n")
      .find((one) => one.trim() !== "")
      ?.trim() ?? "";
  return line.length > maxDescriptionCharacters ? `${line.slice(0, maxDescriptionCharacters).toWellFormed()}…` : line;
}
