import { didYouMean } from "@tau/ai/internal";
import {
  checkProvider,
  type CredentialPlace,
  type LoginInteraction,
  type LoginMethod,
  loginMethods,
  literalKey,
  parseTypedKey,
  type AuthStorage,
} from "@tau/config/auth";
import { HarnessError } from "@tau/protocol";
import { compareProviders } from "@tau/config/models";
import { ask, choose, type ChoiceItem, confirm, isInteractive } from "../process/ask.ts";
import type { Io } from "./command.ts";
import { UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { readInput } from "../modes/read-input.ts";
import { type Access, formatPlace, listProviders, openAccess, reportNotices } from "./access.ts";
import type { CommandArgs } from "./usage.ts";

type Method = LoginMethod | "key";

export async function login(args: CommandArgs, io: Io): Promise<ExitCode | void> {
  const access = await openAccess(io);
  try {
    const provider = args.positionals[0] ?? (await chooseProvider(access, io));
    checkProvider(provider, access);
    // An error in them could store a key in another place than the user wants.
    access.settings.mustBeWhole();
    const method = (args.value("method") as Method | undefined) ?? (await chooseMethod(provider, access.auth, io));
    if (method === "key") return await storeKey(provider, access, io);
    return await logIn(provider, { method, auth: access.auth }, io);
  } finally {
    reportNotices(access, io);
    access.registry.close();
  }
}

function chooseProvider({ auth, registry }: Access, io: Io): Promise<string> {
  const logins = new Map(auth.getOAuthProviders().map(({ id, name }) => [id, name]));
  const names = [...new Set([...logins.keys(), ...listProviders(registry)])].toSorted(compareProviders);
  const items = names.map((name) => ({ name, summary: logins.get(name) ?? registry.displayName(name) ?? "" }));
  return chooseName(io, "Connect which provider?", items);
}

async function chooseName<Name extends string>(
  io: Io,
  title: string,
  items: readonly (ChoiceItem & { name: Name })[],
): Promise<Name> {
  if (!isInteractive(io)) throw new UsageError("arguments", "PROVIDER is missing.");
  const item = await choose(io, title, items);
  if (!item) throw new UsageError("declined", "The answer is not in the list. Nothing was changed.");
  return item.name;
}

/** Standard input that is not a terminal holds a key. */
async function chooseMethod(provider: string, auth: AuthStorage, io: Io): Promise<Method> {
  const oauth = auth.getOAuthProviders().find(({ id }) => id === provider);
  if (!oauth || !isInteractive(io)) return "key";
  const items = [...loginMethods(oauth), "key" as const].map((name) => ({ name, summary: methodSummaries[name] }));
  return await chooseName(io, `How do you want to log in to ${oauth.name}?`, items);
}

const methodSummaries: Record<Method, string> = {
  browser: "In a browser on this machine",
  paste: "In a browser on another machine; paste the code here",
  device: "With a code to type on a web page",
  key: "With an API key",
};

async function storeKey(provider: string, { auth, agentDir, settings }: Access, io: Io): Promise<void> {
  const input = isInteractive(io)
    ? await ask(io, `Key for ${provider} (not shown): `, { hidden: true })
    : ((await readInput(io)) ?? "");
  if (input === undefined) throw new HarnessError("aborted", "No key was typed. Nothing was changed.");
  const typed = parseTypedKey(input);
  if (typed.kind === "wrong")
    throw new UsageError("arguments", `${typed.message} Type it, or send it to standard input.`);
  // Stored literally: otherwise `$` and a leading `!` would stand for variables and commands.
  await auth.set(provider, { type: "api_key", key: literalKey(typed.key) });
  const place = settings.get().auth.store === "file" ? `${agentDir}/auth.json` : "the key chain";
  io.out(`The key for ${provider} is stored in ${place}. tau models ${provider} lists its models.\n`);
}

async function logIn(
  provider: string,
  { method, auth }: { method: LoginMethod; auth: AuthStorage },
  io: Io,
): Promise<ExitCode | void> {
  const interaction: LoginInteraction = {
    notify(event) {
      if (event.type === "message") io.err(`${event.text}\n`);
      else if (event.type === "auth_url") io.err(`Open this in a browser:\n  ${event.url}\n`);
      else io.err(`Open ${event.completeUrl ?? event.verificationUrl} and type the code ${event.userCode}\n`);
    },
    ...(isInteractive(io) && {
      paste: (signal: AbortSignal) => ask(io, "Or paste the final address, or the code in it: ", { signal }),
      ask: ({ message }: { message: string }, signal: AbortSignal) => ask(io, `${message}: `, { signal }),
    }),
  };
  const outcome = await auth.login(provider, interaction, { method, signal: io.signal });
  if (outcome.kind === "done") return io.out(`Logged in to ${provider}. tau models ${provider} lists its models.\n`);
  io.err(`tau auth: ${outcome.failure.message}\n`);
  return outcome.failure.kind === "aborted" || io.signal.aborted ? exitCodes.interrupted : exitCodes.failed;
}

export async function logout(args: CommandArgs, io: Io): Promise<void> {
  const access = await openAccess(io);
  const { auth, stored } = access;
  access.registry.close();
  reportNotices(access, io);
  const [reference] = args.positionals;
  if (stored.size === 0 && reference === undefined) return io.err("No key and no login is stored.\n");
  const items = [...stored.values()].map(({ provider: name, place }) => ({ name, summary: formatPlace(place) }));
  const provider = reference ?? (await chooseName(io, "Log out of which provider?", items));
  if (!stored.has(provider)) {
    const hint = didYouMean(provider, [...stored.keys()]);
    const rest = "Keys in the environment or in models.json are not removed by tau auth logout.";
    throw new UsageError("not_found", `No key or login is stored for ${provider}.${hint} ${rest}`);
  }
  const declined = `The key or login of ${provider} was not removed.`;
  await confirm(io, `Remove the stored key or login of ${provider}?`, { yes: args.has("yes"), declined });
  await auth.remove(provider);
  io.out(`The stored key or login of ${provider} was removed from ${formatPlace(stored.get(provider)?.place)}.\n`);
}

export async function move(args: CommandArgs, io: Io): Promise<void> {
  const [to] = args.positionals;
  if (to !== "keychain" && to !== "file") throw new UsageError("arguments", "Name the new place: keychain or file.");
  const access = await openAccess(io);
  const { auth, settings, keyChain: chain } = access;
  access.registry.close();
  try {
    const choose = (store: CredentialPlace) => settings.update("global", { auth: { store } });
    const moved = await auth.move(to, { chain, choose });
    const names = moved.length === 0 ? "There was nothing to move" : `Moved: ${moved.join(", ")}`;
    const place = to === "file" ? "auth.json" : "the key chain of the operating system";
    io.out(`${names}. Keys and logins are stored in ${place} from now on.\n`);
  } finally {
    reportNotices(access, io);
  }
}
