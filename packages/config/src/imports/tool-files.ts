/** The files of another program, read once. Nothing is written, and what cannot be read is a problem of that file alone. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { isRecord } from "@tau/ai/internal";
import { type FileSystem, nodeFileSystem, systemCode } from "@tau/tools/platform";
import { readTextFile } from "../files/text-file.ts";
import { parseJsonDocument } from "../json/document.ts";
import { parseToml } from "./toml.ts";

export interface ToolEntry {
  name: string;
  path: string;
  isDirectory: boolean;
}

/** A file or directory that could not be read; the reason completes a sentence that begins with its path. */
export interface UnreadPath {
  path: string;
  reason: string;
}

export class ToolFiles {
  readonly #fs: FileSystem;
  readonly problems: UnreadPath[] = [];

  constructor(fs: FileSystem = nodeFileSystem) {
    this.#fs = fs;
  }

  exists(path: string): boolean {
    return existsSync(path);
  }

  /** Undefined if there is none, or if it cannot be read. */
  async readText(path: string): Promise<string | undefined> {
    const file = await readTextFile(this.#fs, path);
    if (file.kind === "unreadable") this.problems.push({ path, reason: lowerFirst(file.message) });
    return file.kind === "text" ? file.text : undefined;
  }

  /** An object of JSON, with comments and trailing commas. */
  async readJson(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const text = await this.readText(path);
    if (text === undefined || text.trim() === "") return undefined;
    const parsed = await parseJsonDocument(text);
    if (parsed.kind === "document") return parsed.value;
    this.problems.push({ path, reason: `is damaged in line ${parsed.position.line}: ${lowerFirst(parsed.message)}` });
    return undefined;
  }

  async readToml(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const text = await this.readText(path);
    if (text === undefined) return undefined;
    const parsed = parseToml(text);
    if (parsed.kind === "document") return parsed.value;
    this.problems.push({ path, reason: `is damaged in line ${parsed.line}: ${lowerFirst(parsed.message)}` });
    return undefined;
  }

  async readYaml(path: string): Promise<Readonly<Record<string, unknown>> | undefined> {
    const text = await this.readText(path);
    if (text === undefined) return undefined;
    const { parse } = await import("yaml");
    try {
      const value: unknown = parse(text, { maxAliasCount: 100, logLevel: "error" });
      return isRecord(value) ? value : undefined;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.problems.push({ path, reason: "is not valid YAML." });
      return undefined;
    }
  }

  /** The names in a directory, sorted; none if there is no such directory. Links are named and not followed. */
  async list(directory: string): Promise<ToolEntry[]> {
    try {
      const entries = await this.#fs.readdir(directory);
      const links = entries.filter(({ isSymbolicLink }) => isSymbolicLink).map(({ name }) => join(directory, name));
      this.problems.push(...links.map((path) => ({ path, reason: "is a link, which is not followed." })));
      return entries
        .filter(({ isSymbolicLink }) => !isSymbolicLink)
        .map(({ name, isDirectory }) => ({ name, path: join(directory, name), isDirectory }))
        .toSorted((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code !== "ENOENT") this.problems.push({ path: directory, reason: `cannot be read (${code}).` });
      return [];
    }
  }
}

const lowerFirst = (text: string) =>
  text.replace(/^(?:The file|This) /, "").replace(/^./, (first) => first.toLowerCase());
