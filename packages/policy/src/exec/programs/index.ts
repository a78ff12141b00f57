/**
 * The records of all programs, by name. To add a program, write one record in the file of its family: its names, the
 * options that matter by what their value is, its effects, and only where data ends the name of a rule. Nothing else has to
 * know the name.
 */
import { archives } from "./archives.ts";
import { builds } from "./builds.ts";
import { cloud } from "./cloud.ts";
import { credentials } from "./credentials.ts";
import { databases } from "./databases.ts";
import { editors } from "./editors.ts";
import { facts } from "./facts.ts";
import { files } from "./files.ts";
import { git } from "./git.ts";
import { languages } from "./languages.ts";
import { network } from "./network.ts";
import { packages } from "./packages.ts";
import type { Program, Programs, Trait } from "./program.ts";
import { rights } from "./rights.ts";
import { runners } from "./runners.ts";
import { services } from "./services.ts";
import { system } from "./system.ts";
import { grepName, text } from "./text.ts";

/** Programs that do harm themselves come first. */
export const families: readonly Programs[] = [
  files,
  system,
  credentials,
  rights,
  runners,
  services,
  languages,
  text,
  facts,
  archives,
  editors,
  network,
  cloud,
  databases,
  git,
  packages,
  builds,
];

const byName = new Map<string, Program>();
for (const family of families)
  for (const [names, record] of Object.entries(family)) {
    const base = record.like === undefined ? undefined : byName.get(record.like);
    const program = base ? { ...base, is: [], ...record } : record;
    for (const name of names.split(" ")) byName.set(name, program);
  }

/** Returns the record of a program by its exact name. */
export const findProgram = (name: string): Program | undefined => byName.get(name);

/** Names of all programs, in the order of the records. */
export const listNames = (): Iterable<string> => byName.keys();

/** Whether a program is taken for something. A name that ends in `grep` is taken for what `grep` is. */
export const isProgram = (name: string, trait: Trait): boolean =>
  (findProgram(name) ?? (grepName.test(name) ? findProgram("grep") : undefined))?.is?.includes(trait) ?? false;
