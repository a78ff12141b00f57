/**
 * `catalogue.json` of the agent directory: what `tau models update` added to the built-in catalogue. It is read when a model
 * is first looked for, and checked provider by provider, because a session needs one provider.
 */
import { readFileSync } from "node:fs";
import type { Model } from "@tau/ai";
import { deepFreeze, getBuiltinModels, isRecord, tryParseJson } from "@tau/ai/internal";
import { systemCode } from "@tau/tools/platform";
import type { FileProblem } from "../../files/file-problem.ts";
import { type CatalogueModel, checkCatalogue } from "./check-catalogue.ts";
import { findForeignTargets } from "./renew-catalogue.ts";

export class StoredCatalogue {
  readonly path: string;
  /** The text as it was read; undefined before. */
  #text: string | undefined;
  #facts: Readonly<Record<string, unknown>> | undefined;
  readonly #models = new Map<string, ReadonlyMap<string, Model>>();
  readonly #problems = new Map<string, string>();

  constructor(path: string) {
    this.path = path;
  }

  /** Why some of the file has no effect, as far as it was looked at. */
  get problems(): FileProblem[] {
    return [...this.#problems.values()].map((message) => ({ file: this.path, message }));
  }

  providers(): string[] {
    return Object.keys((this.#facts ??= this.#read()));
  }

  /** The models of a provider, by id. */
  get(provider: string): ReadonlyMap<string, Model> {
    const known = this.#models.get(provider);
    if (known) return known;
    const models = this.#check(provider);
    this.#models.set(provider, models);
    return models;
  }

  /** Reads the file again, if it was read. Returns whether it has changed. */
  refresh(): boolean {
    if (this.#text === undefined || this.#readText() === this.#text) return false;
    this.#facts = undefined;
    this.#models.clear();
    this.#problems.clear();
    return true;
  }

  #check(provider: string): ReadonlyMap<string, Model> {
    const facts = (this.#facts ??= this.#read());
    if (!Object.hasOwn(facts, provider)) return new Map();
    const { models, problems } = checkCatalogue({ [provider]: facts[provider] });
    const entries = models.get(provider) ?? [];
    const foreign = problems.length > 0 ? problems : findForeignTargets(provider, entries, getBuiltinModels(provider));
    if (foreign.length === 0) return new Map(entries.map((entry) => [entry.id, toModel(provider, entry)]));
    const advice = "Its models of that provider have no effect. tau models update --reset removes the file.";
    this.#problems.set(provider, `${foreign[0]} ${advice}`);
    return new Map();
  }

  #read(): Readonly<Record<string, unknown>> {
    this.#text = this.#readText();
    if (this.#text === "") return {};
    const facts = tryParseJson(this.#text);
    if (isRecord(facts)) return facts;
    this.#problems.set("", "The file is not a JSON object and has no effect. tau models update --reset removes it.");
    return {};
  }

  /** Empty if there is no file, or none that can be read. */
  #readText(): string {
    try {
      return readFileSync(this.path, "utf8");
    } catch (error) {
      const code = systemCode(error);
      if (code === undefined) throw error;
      if (code !== "ENOENT" && code !== "ENOTDIR") this.#problems.set("", `The file cannot be read (${code}).`);
      return "";
    }
  }
}

const toModel = (provider: string, entry: CatalogueModel): Model => deepFreeze({ ...entry, provider });
