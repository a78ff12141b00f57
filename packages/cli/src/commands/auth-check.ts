/** Whether requests have a key, and the key itself for scripts. A session denies these to the model: they print secrets. */
import { closeAfter, toProviderId } from "@tau/ai/internal";
import type { Renewal } from "@tau/config/auth";
import { jsonLine } from "../modes/json-line.ts";
import { UsageError } from "../process/errors.ts";
import { type ExitCode, exitCodes } from "../process/exit-codes.ts";
import { type Access, openAccess, reportNotices } from "./access.ts";
import type { Io } from "./command.ts";
import type { CommandArgs } from "./usage.ts";

type Reason = "provider_not_found" | "credentials_not_configured" | "credential_not_available" | "invalid_state";

interface Ready {
  status: "ready";
  provider: string;
  authType: "api_key" | "oauth";
  key: string;
  /** When a token expires, in milliseconds since the epoch. */
  expires?: number;
}

type KeyCheck = Ready | { status: "not_ready" | "invalid"; provider: string; reason: Reason; message: string };

export async function check(args: CommandArgs, io: Io): Promise<ExitCode> {
  const result = await checkKey(args, io);
  if (result.status !== "ready") {
    const { message, ...shown } = result;
    io.out(args.has("json") ? jsonLine(shown) : `${result.status}\n`);
    io.err(`tau auth: ${message}\n`);
    return result.status === "invalid" ? exitCodes.usage : exitCodes.failed;
  }
  const { status, provider, authType, key } = result;
  const credential = args.has("credentials") ? { credential: key } : {};
  if (args.has("json")) io.out(jsonLine({ status, provider, authType, ...credential }));
  else io.out(args.has("credentials") ? `${status}\n${key}\n` : `${status}\n`);
  return exitCodes.done;
}

export async function printApiKey(args: CommandArgs, io: Io): Promise<ExitCode> {
  const result = await checkKey(args, io);
  if (result.status !== "ready") return refuse(result, io);
  if (result.authType === "oauth") {
    io.err(`tau auth: ${result.provider} has a login, not a key. Its token: tau auth print-bearer-token\n`);
    return exitCodes.failed;
  }
  io.out(`${result.key}\n`);
  return exitCodes.done;
}

export async function printBearerToken(args: CommandArgs, io: Io): Promise<ExitCode> {
  const written = args.value("min-expiry");
  const minLifetimeMs = written === undefined ? 0 : parseDuration(written);
  if (minLifetimeMs === undefined) {
    const message = `${JSON.stringify(written)} is no duration. Write a number with ms, s, m or h, such as 30m.`;
    throw new UsageError("arguments", message);
  }
  const result = await checkKey(args, io, { minLifetimeMs });
  if (result.status !== "ready") return refuse(result, io);
  if (result.authType === "api_key") {
    io.err(`tau auth: ${result.provider} has a key, not a login. The key: tau auth print-api-key\n`);
    return exitCodes.failed;
  }
  if ((result.expires ?? Number.POSITIVE_INFINITY) - Date.now() < minLifetimeMs) {
    io.err(`tau auth: The token of ${result.provider} expires before that, and the provider gave no later one.\n`);
    return exitCodes.failed;
  }
  io.out(`${result.key}\n`);
  return exitCodes.done;
}

function refuse({ status, message }: { status: "not_ready" | "invalid"; message: string }, io: Io): ExitCode {
  io.err(`tau auth: ${message}\n`);
  return status === "invalid" ? exitCodes.usage : exitCodes.failed;
}

/** Finds the key that a request would be sent with. Runs key commands, and renews a token unless `--no-refresh`. */
async function checkKey(args: CommandArgs, io: Io, renewal: Renewal = {}): Promise<KeyCheck> {
  return await closeAfter(await openAccess(io), async (access) => {
    const target = findTarget(args, access);
    if ("status" in target) return target;
    const { provider, host } = target;
    const outcome = await access.auth.getApiKey(provider, {
      ...(host !== undefined && { host }),
      signal: io.signal,
      renewal: { ...renewal, isOff: args.has("no-refresh") },
    });
    reportNotices(access, io);
    if (outcome.kind === "none") {
      const reason = outcome.isRefused ? "credential_not_available" : "credentials_not_configured";
      return { status: "not_ready", provider, reason, message: outcome.reason };
    }
    if (outcome.kind === "failed") {
      const isDamaged = outcome.failure.kind === "damaged";
      const status = isDamaged ? "invalid" : "not_ready";
      const reason = isDamaged ? "invalid_state" : "credential_not_available";
      return { status, provider, reason, message: outcome.failure.message };
    }
    const stored = outcome.source === "stored" ? await access.auth.get(provider) : undefined;
    const ready = { status: "ready", provider, key: outcome.key } as const;
    if (stored?.type !== "oauth") return { ...ready, authType: "api_key" };
    return { ...ready, authType: "oauth", expires: stored.expires };
  });
}

/** The provider, and where its key would be sent: without a model anywhere, since nothing is sent. */
function findTarget(args: CommandArgs, { registry }: Access): { provider: string; host?: string } | KeyCheck {
  const [name, spec] = [args.value("provider"), args.value("model")];
  if (name === undefined && spec === undefined) {
    throw new UsageError("arguments", "Name a provider or a model: --provider NAME, --model MODEL.");
  }
  const provider = name === undefined ? "" : toProviderId(name);
  if (name !== undefined && !registry.isKnown(name)) {
    const message = `There is no provider ${JSON.stringify(name)}. tau models --all lists the models of all providers.`;
    return { status: "invalid", provider, reason: "provider_not_found", message };
  }
  if (spec === undefined) return { provider };
  const resolution = registry.resolve(spec, name);
  if (resolution.kind === "resolved") return { provider: resolution.model.provider, host: resolution.model.baseUrl };
  return { status: "invalid", provider, reason: "provider_not_found", message: resolution.message };
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

function parseDuration(text: string): number | undefined {
  const [, count, unit] = /^(\d+(?:\.\d+)?)(ms|s|m|h)$/.exec(text.trim()) ?? [];
  return count !== undefined && unit !== undefined ? Number(count) * units[unit]! : undefined;
}
