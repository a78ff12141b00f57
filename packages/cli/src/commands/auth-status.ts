/** Where each key comes from. Never the key. */
import { findEnvKeys } from "@tau/ai";
import { type Credential } from "@tau/harness/auth";
import { formatFileProblem } from "@tau/harness/settings";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { jsonLine } from "../json-line.ts";
import { tableText } from "../table.ts";
import { type Access, openAccess, listProviders } from "./access.ts";
import type { Given } from "./forms.ts";

export interface KeyPlace {
  source: "stored" | "models" | "environment";
  /** For people. */
  text: string;
}

export interface ProviderKeys {
  provider: string;
  /** The first is the one that is used. */
  keys: readonly KeyPlace[];
}

export async function status(given: Given, io: Io): Promise<ExitCode> {
  const access = await openAccess(io);
  try {
    const found = await getKeys(access, io);
    for (const { message } of access.notices) io.err(`tau: ${message}\n`);
    for (const problem of access.registry.problems) io.err(`tau: ${formatFileProblem(problem)}\n`);
    if (given.has("json")) io.out(jsonLine(found));
    else if (found.length === 0) io.err("There is no key yet. tau auth login stores one; local servers need none.\n");
    else io.out(keyTable(found, io));
    return exitCodes.done;
  } finally {
    access.registry.close();
  }
}

const keyTable = (found: readonly ProviderKeys[], io: Io): string =>
  tableText(
    [{ title: "PROVIDER" }, { title: "KEY FROM", gives: true }, { title: "ALSO IN", gives: true }],
    found.map(({ provider, keys: [first, ...others] }) => [
      provider,
      first?.text ?? "",
      others.map(({ text }) => text).join(", "),
    ]),
    io,
  );

/** By provider, in the order in which they count. Runs no command. */
export async function getKeys({ auth, registry, stored }: Access, io: Io): Promise<ProviderKeys[]> {
  const providers = [...new Set([...listProviders(registry), ...stored])].sort();
  const all: ProviderKeys[] = [];
  for (const provider of providers) {
    const keys: KeyPlace[] = [];
    const credential = stored.has(provider) ? await auth.get(provider) : undefined;
    if (credential) keys.push({ source: "stored", text: `auth.json, ${getKind(credential)}` });
    const written = registry.writtenKey(provider);
    if (written !== undefined) keys.push({ source: "models", text: `models.json${indirection(written)}` });
    for (const name of findEnvKeys(provider, (variable) => io.env[variable]) ?? [])
      keys.push({ source: "environment", text: `$${name}` });
    if (keys.length > 0) all.push({ provider, keys });
  }
  return all;
}

function getKind(credential: Credential): string {
  if (credential.type === "oauth") {
    const ends = new Date(credential.expires);
    return Number.isNaN(ends.getTime()) ? "login" : `login, renewed after ${ends.toISOString()}`;
  }
  return credential.key === undefined ? "variables only" : `a key${indirection(credential.key)}`;
}

/** A key may stand for another place; what is written there is then no secret, but a command may hold one. */
function indirection(written: string): string {
  if (written.startsWith("!")) return " from a command";
  const variable = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(written)?.[1];
  return variable === undefined ? "" : ` in $${variable}`;
}
