import { didYouMean, getProviders } from "@tau/ai";
import { type LoginInteraction, type LoginMethod, loginMethods, literalKey } from "@tau/harness/auth";
import { type AuthStorage, HarnessError } from "@tau/harness";
import { ask, choose, consent, getEnd } from "../choose.ts";
import type { Io } from "../command.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { readInput } from "../read-input.ts";
import { type Access, openAccess, listProviders } from "./access.ts";
import type { Given } from "./forms.ts";
import { usageMistake } from "./run-forms.ts";

type Way = LoginMethod | "key";

export async function login(given: Given, io: Io): Promise<ExitCode> {
  const access = await openAccess(io);
  try {
    const provider = given.places[0] ?? (await chooseProvider(access, io));
    if (!provider) return unchanged(provider, io, "login");
    mustBeKnown(provider, access);
    const way = (given.value("method") as Way | undefined) ?? (await chooseWay(provider, access.auth, io));
    if (!way) return unchanged(way, io, "login");
    return way === "key" ? await storeKey(provider, access, io) : await logIn(provider, { way, auth: access.auth }, io);
  } finally {
    for (const { message } of access.notices) io.err(`tau: ${message}\n`);
    access.registry.close();
  }
}

const isPerson = ({ terminal }: Io): boolean => terminal.input && terminal.err;

/** Nothing was chosen, or the person gave up. */
function unchanged(chosen: string | undefined, io: Io, what: "login" | "logout"): ExitCode {
  if (!isPerson(io)) return usageMistake("auth", `name a provider: tau auth ${what} PROVIDER.`, io);
  io.err("Nothing was changed.\n");
  return chosen === "" ? exitCodes.failed : exitCodes.interrupted;
}

async function chooseProvider({ auth, registry }: Access, io: Io): Promise<string | undefined> {
  if (!isPerson(io)) return undefined;
  const logins = auth.getOAuthProviders();
  const others = listProviders(registry).filter((provider) => !logins.some(({ id }) => id === provider));
  const items = [
    ...logins.map(({ id, name }) => ({ name: id, summary: name })),
    ...others.map((name) => ({ name, summary: registry.displayName(name) ?? "" })),
  ];
  return await choose(io, "Connect which provider?", items);
}

function mustBeKnown(provider: string, { auth, registry }: Access): void {
  const known = new Set([
    ...listProviders(registry),
    ...getProviders(),
    ...auth.getOAuthProviders().map(({ id }) => id),
  ]);
  if (known.has(provider)) return;
  const hint = didYouMean(provider, [...known]);
  const message = `There is no provider ${JSON.stringify(provider)}.${hint} Providers of your own are described in models.json.`;
  throw new HarnessError("invalid_input", message);
}

/** What comes through a pipe is a key. */
async function chooseWay(provider: string, auth: AuthStorage, io: Io): Promise<Way | "" | undefined> {
  const ways = auth.getOAuthProviders().find(({ id }) => id === provider);
  if (!ways || !isPerson(io)) return "key";
  const items = [...loginMethods(ways), "key" as const].map((name) => ({ name, summary: explained[name] }));
  return (await choose(io, `Log in to ${ways.name} how?`, items)) as Way | "" | undefined;
}

const explained: Record<Way, string> = {
  browser: "In a browser on this machine",
  paste: "In a browser elsewhere; the code is pasted here",
  device: "With a code that is typed on a page",
  key: "With an API key",
};

async function storeKey(provider: string, { auth, agentDir }: Access, io: Io): Promise<ExitCode> {
  const typed = isPerson(io)
    ? await ask(io, `Key for ${provider} (it is not shown): `, { hidden: true })
    : await readInput(io);
  if (typed === undefined && isPerson(io)) return unchanged(typed, io, "login");
  const key = typed?.trim() ?? "";
  if (key === "") return usageMistake("auth", "no key came: type it, or send it to standard input.", io);
  if (/[^\u0021-\u007e]/.test(key)) {
    return usageMistake("auth", "that is no key: it has spaces, line ends or other signs that keys do not have.", io);
  }
  // A key is taken as it is: `$` and a first `!` would stand for variables and commands.
  await auth.set(provider, { type: "api_key", key: literalKey(key) });
  io.out(`The key for ${provider} is stored in ${agentDir}/auth.json. tau models ${provider} lists its models.\n`);
  return exitCodes.done;
}

async function logIn(
  provider: string,
  { way, auth }: { way: LoginMethod; auth: AuthStorage },
  io: Io,
): Promise<ExitCode> {
  const interaction: LoginInteraction = {
    notify(event) {
      if (event.type === "auth_url") io.err(`Open this in a browser:\n  ${event.url}\n`);
      else io.err(`Open ${event.completeUrl ?? event.verificationUrl} and type the code ${event.userCode}\n`);
    },
    ...(isPerson(io) && {
      paste: (signal: AbortSignal) => ask(io, "Or paste the address or the code that it ends with: ", { signal }),
    }),
  };
  const outcome = await auth.login(provider, interaction, { method: way, signal: io.signal });
  if (outcome.kind === "done") {
    io.out(`Logged in to ${provider}. tau models ${provider} lists its models.\n`);
    return exitCodes.done;
  }
  io.err(`tau auth: ${outcome.failure.message}\n`);
  return outcome.failure.kind === "aborted" || io.signal.aborted ? exitCodes.interrupted : exitCodes.failed;
}

export async function logout(given: Given, io: Io): Promise<ExitCode> {
  const access = await openAccess(io);
  const { auth, stored } = access;
  access.registry.close();
  for (const { message } of access.notices) io.err(`tau: ${message}\n`);
  const items = [...stored].map((name) => ({ name, summary: "" }));
  if (items.length === 0 && given.places.length === 0) {
    io.err("There is nothing stored to log out of.\n");
    return exitCodes.done;
  }
  const provider = given.places[0] ?? (isPerson(io) ? await choose(io, "Forget which provider?", items) : undefined);
  if (!provider) return unchanged(provider, io, "logout");
  if (!stored.has(provider)) {
    const hint = didYouMean(provider, [...stored]);
    io.err(
      `tau auth: nothing is stored for ${provider}.${hint} A key in the environment or in models.json stays where it is.\n`,
    );
    return exitCodes.failed;
  }
  const answer = await consent(io, `Forget the key or login of ${provider}?`, given.has("yes"));
  if (answer === "nobody") return usageMistake("auth", "logging out needs --yes where nobody can be asked.", io);
  if (answer !== "yes") {
    io.err("Nothing was changed.\n");
    return getEnd(answer);
  }
  await auth.remove(provider);
  io.out(`Nothing is stored for ${provider} any more.\n`);
  return exitCodes.done;
}
