/** Where each key comes from. Never shows a key. */
import { findEnvKeys } from "@tau/ai";
import { closeAfter, toProviderId } from "@tau/ai/internal";
import { formatKeyName, listKeys as listWrittenKeys } from "@tau/config/internal";
import type { Credential } from "@tau/config/auth";
import { formatFileProblem } from "@tau/config/settings";
import type { Io } from "./command.ts";
import { jsonLine } from "../modes/json-line.ts";
import { tableText } from "../process/table.ts";
import { type Access, formatPlace, listProviders, openAccess, reportNotices } from "./access.ts";
import type { CommandArgs } from "./usage.ts";

interface KeySource {
  source: "stored" | "models" | "environment" | "apiKeys";
  text: string;
  /** It is stored in the key chain, which cannot be read now. */
  unreadable?: true;
}

interface ProviderKeys {
  provider: string;
  /** In order of precedence: the first one is used. */
  keys: readonly KeySource[];
}

export async function showStatus(args: CommandArgs, io: Io): Promise<void> {
  await closeAfter(await openAccess(io), async (access) => {
    const providers = await listKeys(access, io);
    reportNotices(access, io);
    for (const problem of access.registry.problems) io.err(`tau: ${formatFileProblem(problem)}\n`);
    if (args.has("json")) return io.out(jsonLine(providers));
    if (providers.length > 0) return io.out(keyTable(providers, io));
    io.err("There is no key yet. tau auth login stores one; local servers need none.\n");
  });
}

const keyTable = (providers: readonly ProviderKeys[], io: Io): string =>
  tableText(
    [{ title: "PROVIDER" }, { title: "KEY FROM", shrinks: true }, { title: "ALSO IN", shrinks: true }],
    providers.map(({ provider, keys: [first, ...others] }) => [
      provider,
      first?.text ?? "",
      others.map(({ text }) => text).join(", "),
    ]),
    io,
  );

/** The providers that have a key. Runs no key command. */
export async function listKeys({ auth, registry, stored, settings }: Access, io: Io): Promise<ProviderKeys[]> {
  const providers: ProviderKeys[] = [];
  const written = { settings: settings.get().apiKeys, yml: registry.modelsYml.apiKeys };
  const named = [...Object.keys(written.settings), ...written.yml.keys()].map(toProviderId);
  for (const provider of [...new Set([...listProviders(registry), ...stored.keys(), ...named])].sort()) {
    const own = listWrittenKeys(provider, written);
    // They are used before any other key.
    const keys: KeySource[] =
      own.length === 0 ? [] : [{ source: "apiKeys", text: `apiKeys (${own.map(formatWrittenKey).join(", ")})` }];
    const info = stored.get(provider);
    const credential = info && (await auth.get(provider));
    // What is in the key chain is listed also if it cannot be read now.
    if (info && (credential || info.place === "keychain")) {
      const what = credential ? formatCredential(credential) : "which cannot be read now";
      const text = `${formatPlace(info.place)}, ${what}`;
      keys.push({ source: "stored", text, ...(!credential && { unreadable: true }) });
    }
    const key = registry.writtenKey(provider);
    const place = registry.modelsKey(provider)?.place ?? "models.json";
    if (key !== undefined) keys.push({ source: "models", text: `${place}${formatIndirection(key)}` });
    const variables = findEnvKeys(provider, (variable) => io.env[variable]) ?? [];
    keys.push(...variables.map((name) => ({ source: "environment" as const, text: `$${name}` })));
    if (keys.length > 0) providers.push({ provider, keys });
  }
  return providers;
}

const formatWrittenKey = (key: string): string => formatIndirection(key).trimStart() || formatKeyName(key);

function formatCredential(credential: Credential): string {
  if (credential.type === "api_key") {
    return credential.key === undefined ? "variables only" : `a key${formatIndirection(credential.key)}`;
  }
  const expires = new Date(credential.expires);
  return Number.isNaN(expires.getTime()) ? "login" : `login, renewed after ${expires.toISOString()}`;
}

/** A key may be the output of a command or the value of a variable. The command is not shown: it may contain a secret. */
function formatIndirection(key: string): string {
  if (key.startsWith("!")) return " from a command";
  const variable = /^\$\{?([A-Za-z_]\w*)\}?$/.exec(key)?.[1];
  return variable === undefined ? "" : ` in $${variable}`;
}
