/** The two ways to GitHub: the program `gh`, where it is logged in, and REST with a token. */
import { lookup as lookupAddresses } from "node:dns/promises";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";
import { followSignal, getErrorMessage } from "@tau/ai/internal";
import type { AuthStorage } from "@tau/config/auth";
import type { ExtensionAPI } from "@tau/extensions";
import type { Address } from "@tau/sandbox/internal";
import { WebFailure } from "../kit/http/failure.ts";
import type { Lookup } from "../kit/http/hosts.ts";
import { maxPageBytes, sendRequest } from "../kit/http/send.ts";
import { isProgram, listPathDirectories } from "../kit/programs.ts";
import type { ApiResponse, Transport } from "./api.ts";
import { GitHubFailure } from "./failure.ts";
import { defaultApiUrl } from "./settings.ts";

interface TransportParts {
  readonly tau: Pick<ExtensionAPI, "spawn">;
  readonly apiUrl: string;
  readonly env: (name: string) => string | undefined;
  openAuth(): Promise<Pick<AuthStorage, "getApiKey">>;
  readonly lookup: Lookup;
}

/** The system's resolver. */
export const lookUp: Lookup = async (name) => (await lookupAddresses(name, { all: true })) as Address[];

export interface Login {
  readonly send: Transport;
  /** Finds the token, for git. Undefined if there is none. */
  getToken(): Promise<string | undefined>;
}

const host = "github.com";
const timeoutMs = 30_000;

/** `gh` where it is logged in, else a token. Without one, only what is public can be read. */
export async function findLogin(parts: TransportParts): Promise<Login> {
  const gh = parts.apiUrl === defaultApiUrl ? findGh(parts.env("PATH")) : undefined;
  if (gh !== undefined) {
    const { code, stdout } = await runGh(parts, gh, ["auth", "token", "--hostname", host]);
    const token = stdout.trim();
    if (code === 0 && token !== "") return { send: createGhTransport(parts, gh), getToken: async () => token };
  }
  const token = await findToken(parts);
  return { send: createRestTransport(parts, token), getToken: async () => token };
}

const findGh = (path: string | undefined): string | undefined =>
  listPathDirectories(path)
    .map((directory) => join(directory, "gh"))
    .find(isProgram);

async function findToken({ env, openAuth, apiUrl }: TransportParts): Promise<string | undefined> {
  const given = env("GH_TOKEN") ?? env("GITHUB_TOKEN");
  if (given !== undefined && given !== "") return given;
  const outcome = await (await openAuth()).getApiKey("github", { host: apiUrl });
  return outcome.kind === "found" ? outcome.key : undefined;
}

/** Variables by which `gh` finds its login and the network. */
const ghVariables = [
  "PATH",
  "HOME",
  "XDG_CONFIG_HOME",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "GH_CONFIG_DIR",
  "GH_TOKEN",
  "GITHUB_TOKEN",
  "HTTPS_PROXY",
  "https_proxy",
  "NO_PROXY",
  "no_proxy",
  "SSL_CERT_FILE",
];

/** It runs outside of the sandbox, in which its login is hidden. Its arguments are ours, and it is given no file. */
async function runGh(
  { tau, env }: Pick<TransportParts, "tau" | "env">,
  gh: string,
  args: readonly string[],
  { input, signal }: { input?: string; signal?: AbortSignal | undefined } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const kept = ghVariables.flatMap((name) => (env(name) === undefined ? [] : [[name, env(name)!]]));
  const program = await tau.spawn(gh, args, {
    inherits: [],
    env: { ...Object.fromEntries(kept), GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1", NO_COLOR: "1" },
    sandbox: false,
  });
  const stopFollowing = followSignal(signal, () => void program.end());
  program.stdin.on("error", () => undefined);
  program.stdin.end(input);
  const [stdout, stderr, status] = await Promise.all([
    readText(program.stdout),
    readText(program.stderr),
    program.exit,
  ]);
  stopFollowing();
  signal?.throwIfAborted();
  const failure = status.kind === "failed" ? status.message : "";
  return { code: status.kind === "exited" ? status.code : 1, stdout, stderr: stderr + failure };
}

const createGhTransport =
  (parts: Pick<TransportParts, "tau" | "env">, gh: string): Transport =>
  async ({ method, path, body, accept }, signal) => {
    const form = accept === undefined ? [] : ["--header", `Accept: ${accept}`];
    const sent = body ? ["--input", "-"] : [];
    const args = ["api", "--hostname", host, "--include", "--method", method, ...form, path, ...sent];
    const input = body && { input: JSON.stringify(body) };
    const { stdout, stderr } = await runGh(parts, gh, args, { ...input, signal });
    const response = parseIncluded(stdout);
    if (response) return response;
    throw new GitHubFailure("connection", `gh gave no answer: ${stderr.trim().slice(0, 500) || "nothing was printed"}`);
  };

/** Parses what `gh api --include` prints: a line with the status, headers, an empty line and the body. Pure. */
export function parseIncluded(text: string): ApiResponse | undefined {
  const match = /^HTTP\/[\d.]+ (\d{3})[^\n]*\n([\s\S]*?)\r?\n\r?\n([\s\S]*)$/.exec(text);
  if (!match) return undefined;
  const [, status, lines = "", body = ""] = match;
  const headers = lines.split(/\r?\n/).flatMap((line): [string, string][] => {
    const colon = line.indexOf(":");
    return colon > 0 ? [[line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]] : [];
  });
  return { status: Number(status), headers: Object.fromEntries(headers), body };
}

const createRestTransport =
  ({ apiUrl, env, lookup }: Pick<TransportParts, "apiUrl" | "env" | "lookup">, token: string | undefined): Transport =>
  async ({ method, path, body, accept = "application/vnd.github+json" }, signal) => {
    const url = new URL(apiUrl.replace(/\/+$/, "") + path);
    try {
      const send = async (address: URL) =>
        await sendRequest(
          {
            url: address,
            method,
            headers: {
              accept,
              "x-github-api-version": "2022-11-28",
              ...(token !== undefined && { authorization: `Bearer ${token}` }),
              ...(body && { "content-type": "application/json" }),
            },
            ...(body && { body: JSON.stringify(body) }),
          },
          { lookup, env },
          // The address is the user's, which may be in their own network.
          { allowedPrivateHosts: [url.host], maxBytes: maxPageBytes, timeoutMs, signal },
        );
      const first = await send(url);
      const moved = method === "GET" ? findMoved(first, url) : undefined;
      const { status, headers, body: bytes, isCut } = moved ? await send(moved) : first;
      if (isCut) throw new GitHubFailure("unreadable", "The answer of GitHub is larger than 5 MB.");
      if (status === 401 && token === undefined)
        throw new GitHubFailure("no_login", "It needs a login. The user can run gh auth login, or set GITHUB_TOKEN.");
      return { status, headers, body: bytes.toString("utf8") };
    } catch (error) {
      if (error instanceof WebFailure) throw new GitHubFailure("connection", getErrorMessage(error), { cause: error });
      throw error;
    }
  };

/** Where a repository that was renamed is now: only at the same host, which may have the token. Pure. */
function findMoved({ status, headers }: Pick<ApiResponse, "status" | "headers">, url: URL): URL | undefined {
  const { location } = headers;
  if (![301, 302, 307, 308].includes(status) || location === undefined || !URL.canParse(location, url))
    return undefined;
  const next = new URL(location, url);
  return next.origin === url.origin ? next : undefined;
}
