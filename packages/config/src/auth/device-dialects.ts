/** The two protocols for device codes. Pure. */
import { type Failed, failed } from "./failure.ts";
import type { DeviceCode } from "./login-interaction.ts";
import type { OAuthAnswer, OAuthPost } from "./oauth-post.ts";
import { type DeviceLogin, isSafeUrl, type OAuthProvider } from "./oauth-provider.ts";
import { getErrorCode, readTokens, type Tokens } from "./oauth-tokens.ts";

/** A device login that waits for the user. */
interface DeviceStart extends DeviceCode {
  kind: "started";
  /** Secret. */
  deviceCode: string;
}

type DevicePoll =
  | { kind: "pending" }
  | { kind: "slow_down"; intervalMs?: number }
  | { kind: "tokens"; tokens: Tokens }
  /** To be exchanged like that of a browser. */
  | { kind: "code"; fields: Record<string, string> }
  | Failed;

interface DeviceDialect {
  start(): OAuthPost;
  readStart(answer: OAuthAnswer): DeviceStart | Failed;
  poll(started: DeviceStart): OAuthPost;
  readPoll(answer: OAuthAnswer, nowMs: number): DevicePoll;
}

/** The defaults of the standard. */
const defaultSeconds = 5;
const maxSeconds = 15 * 60;

export function deviceDialect(provider: OAuthProvider, device: DeviceLogin): DeviceDialect {
  return device.dialect === "standard" ? standard(provider, device) : openai(provider, device);
}

function standard(provider: OAuthProvider, device: DeviceLogin): DeviceDialect {
  const { clientId: client_id, format = "form" } = provider;
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  return {
    start: () => ({
      url: device.startUrl,
      format,
      fields: { client_id, ...(provider.scopes.length > 0 && { scope: provider.scopes.join(" ") }) },
    }),
    readStart: (answer) =>
      getStart(provider, answer, {
        deviceCode: answer.json?.["device_code"],
        verificationUrl: answer.json?.["verification_uri"],
      }),
    poll: ({ deviceCode: device_code }) => ({
      url: provider.tokenUrl,
      format,
      fields: { grant_type, device_code, client_id },
    }),
    // GitHub sends refusals with HTTP 200.
    readPoll: (answer, nowMs) =>
      answer.status === 200 && getErrorCode(answer.json) === undefined
        ? readTokens(answer, { provider, nowMs })
        : refusal(provider, answer),
  };
}

function openai(provider: OAuthProvider, device: DeviceLogin & { dialect: "openai" }): DeviceDialect {
  return {
    start: () => ({ url: device.startUrl, format: "json", fields: { client_id: provider.clientId } }),
    readStart: (answer) =>
      getStart(provider, answer, {
        deviceCode: answer.json?.["device_auth_id"],
        verificationUrl: device.verificationUrl,
      }),
    poll: ({ deviceCode: device_auth_id, userCode: user_code }) => ({
      url: device.pollUrl,
      format: "json",
      fields: { device_auth_id, user_code },
    }),
    readPoll(answer) {
      const { status, json } = answer;
      // OpenAI has no other sign that the login is pending.
      if (status === 403 || status === 404) return { kind: "pending" };
      if (status !== 200) return refusal(provider, answer);
      const [code, code_verifier] = [json?.["authorization_code"], json?.["code_verifier"]];
      if (typeof code !== "string" || typeof code_verifier !== "string") return failUnexpected(provider);
      return { kind: "code", fields: { code, code_verifier, redirect_uri: device.redirectUrl } };
    },
  };
}

function getStart(
  provider: OAuthProvider,
  { status, json }: OAuthAnswer,
  { deviceCode, verificationUrl }: { deviceCode: unknown; verificationUrl: unknown },
): DeviceStart | Failed {
  if (status !== 200) {
    return failed("server", `${provider.name} gave no device code (HTTP ${status}). Log in with the browser instead.`);
  }
  const userCode = json?.["user_code"];
  const completeUrl = json?.["verification_uri_complete"];
  if (typeof deviceCode !== "string" || deviceCode === "" || !isShowable(userCode) || !isUrl(verificationUrl)) {
    return failUnexpected(provider);
  }
  return {
    kind: "started",
    deviceCode,
    userCode,
    verificationUrl: new URL(verificationUrl).href,
    ...(isUrl(completeUrl) && { completeUrl: new URL(completeUrl).href }),
    intervalMs: readSeconds(json?.["interval"], defaultSeconds) * 1000,
    lifetimeMs: readSeconds(json?.["expires_in"], maxSeconds) * 1000,
  };
}

/** Between one second and 15 minutes. Some servers send numbers as strings. */
function readSeconds(value: unknown, defaultValue: number): number {
  const seconds = typeof value === "string" ? Number(value) : value;
  const isValid = typeof seconds === "number" && Number.isFinite(seconds) && seconds >= 1;
  return isValid ? Math.min(seconds, maxSeconds) : defaultValue;
}

/** The code is shown in a terminal. */
const isShowable = (code: unknown): code is string => typeof code === "string" && /^[\w -]{1,64}$/.test(code);
const isUrl = (value: unknown): value is string => typeof value === "string" && isSafeUrl(value);

function refusal(provider: OAuthProvider, answer: OAuthAnswer): DevicePoll {
  switch (getErrorCode(answer.json)) {
    case "authorization_pending":
    case "deviceauth_authorization_pending":
      return { kind: "pending" };
    case "slow_down": {
      const seconds = readSeconds(answer.json?.["interval"], 0);
      return { kind: "slow_down", ...(seconds > 0 && { intervalMs: seconds * 1000 }) };
    }
    case "expired_token":
      return expired(provider);
    case "access_denied":
      return failed("denied", `The login to ${provider.name} was refused in the browser.`);
    default:
      // A server that is overloaded for a moment should not end the login.
      return answer.status >= 500 || answer.status === 429
        ? { kind: "slow_down" }
        : failUnexpected(provider, answer.status);
  }
}

export const expired = ({ name }: OAuthProvider): Failed =>
  failed("expired", `The code for ${name} was not entered in time. Start again for a new one.`);

const failUnexpected = ({ name }: OAuthProvider, status = 200) =>
  failed("server", `${name} gave an unexpected answer (HTTP ${status}). Log in with the browser instead.`);
