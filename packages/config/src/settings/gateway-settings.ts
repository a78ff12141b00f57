/** The settings of the gateway. They are the user's alone: a project must not open doors. */
import type { Field } from "../fields/field.ts";
import { flag, list, nonEmptyText, oneOf, scalar, wholeNumber } from "../fields/kinds.ts";
import { channelSettings } from "./channel-settings.ts";
import { group, mapSetting, setting } from "./node.ts";
import { scheduleSettings } from "./schedule-settings.ts";
import { paths } from "./shape.ts";

const project = "never";
const texts: Field<readonly string[]> = list(nonEmptyText);
const milliseconds = wholeNumber({ min: 1, unit: "milliseconds" });
const places = wholeNumber({ min: 1, unit: "places" });

/** Shorter ones could be guessed. */
const secretPattern = "^(?:sha256:[0-9a-f]{64}|[A-Za-z0-9._~+/=-]{32,})$";
const secret = scalar({
  expected:
    "a token of at least 32 characters, which are letters, digits and any of -._~+/=, or sha256: and the SHA-256 of one",
  type: "string",
  schema: { type: "string", pattern: secretPattern },
  accepts: (value): value is string => typeof value === "string" && new RegExp(secretPattern).test(value),
});

const hook = group("A door for other programs: `POST /hooks/NAME` with a token of its own.", {
  cwd: setting(nonEmptyText, { default: undefined, description: "The directory of its sessions.", project }),
  agent: setting(nonEmptyText, { default: undefined, description: "The agent that answers.", project }),
  session: setting(nonEmptyText, {
    default: undefined,
    description: "A name for the session that all its messages go to. Without it, each message begins a session.",
    project,
  }),
  policy: setting(nonEmptyText, {
    default: undefined,
    description: "A profile that makes the policy of its sessions stricter. Default: `safe`.",
    project,
  }),
  token: setting(secret, {
    default: undefined,
    description:
      "Its token, at least 32 characters, or `sha256:` and the SHA-256 of it in hexadecimal digits, so that nobody who reads the settings has the token. Default: what `tau gateway hook-token NAME` prints.",
    project,
  }),
  prompt: setting(nonEmptyText, {
    default: undefined,
    description: "What the agent reads before the payload, which is marked as not trusted.",
    project,
  }),
});

export const gatewaySettings = {
  gateway: group("The gateway, `tau gateway`.", {
    host: setting(nonEmptyText, {
      default: "127.0.0.1",
      description: "The address that it listens on. Others than those of this machine need `gateway.tls`.",
      project,
    }),
    port: setting(wholeNumber({ min: 0, unit: "a port" }), {
      default: 7_433,
      description: "The port that it listens on; 0 means any.",
      project,
    }),
    allowedHosts: setting(texts, {
      default: [],
      description: "More names, with their port, that clients may reach it by, such as `tau.example.com:443`.",
      project,
    }),
    allowedOrigins: setting(texts, {
      default: [],
      description: "More pages that may connect, such as `https://tau.example.com`. Its own page always may.",
      project,
    }),
    tls: group("Encryption.", {
      cert: setting(nonEmptyText, { default: undefined, description: "The file with the certificates.", project }),
      key: setting(nonEmptyText, { default: undefined, description: "The file with the private key.", project }),
    }),
    roots: setting(paths, {
      default: [],
      description:
        "Directories below which clients may create sessions. Without any: the directory that the gateway was started in.",
      project,
    }),
    idleCloseMs: setting(milliseconds, {
      default: 5 * 60_000,
      description: "How long a session stays open after its last use, in milliseconds.",
      project,
    }),
    devices: group("What one device may use at a time.", {
      maxOpenSessions: setting(wholeNumber({ min: 1, unit: "sessions" }), {
        default: 32,
        description:
          "How many sessions it has open. Idle ones are closed for a new one; if none is idle, it is refused.",
        project,
      }),
      maxWaitingBytes: setting(wholeNumber({ min: 1, unit: "bytes" }), {
        default: 64 * 1024 * 1024,
        description: "How many bytes its messages have that wait for sessions, with their images.",
        project,
      }),
    }),
    lanes: group("How many runs there are at a time.", {
      global: setting(places, {
        default: 64,
        description:
          "In all sessions together. Runs mostly wait for models, so there may be many more than processors.",
        project,
      }),
      subagents: setting(places, { default: 8, description: "Of sub-agents.", project }),
      scheduled: setting(places, { default: 1, description: "Of webhooks and schedules.", project }),
    }),
    queue: group("Messages that come while a session is busy.", {
      mode: setting(oneOf("steer", "followup", "collect", "interrupt"), {
        default: "steer",
        description:
          "What happens to them: `steer` is sent after the running calls, `followup` after the run, `collect` joins those that come together, `interrupt` ends the run first.",
        project,
      }),
      debounceMs: setting(milliseconds, {
        default: 500,
        description: "How long `collect` waits for another message, in milliseconds.",
        project,
      }),
      cap: setting(wholeNumber({ min: 1, unit: "messages" }), {
        default: 20,
        description: "How many messages may wait for a session.",
        project,
      }),
      drop: setting(oneOf("old", "new", "summarise"), {
        default: "summarise",
        description:
          "What is given up above that: the oldest, the newest, or the oldest with a line about each that stays.",
        project,
      }),
      ttlMs: setting(milliseconds, {
        default: 10 * 60_000,
        description:
          "How old a message may be when it is sent after a restart, or after its session could not be opened for a while, in milliseconds.",
        project,
      }),
    }),
    shares: setting(flag, {
      default: false,
      description:
        "Whether links of `tau sessions share --link` and `/share link` open. Whoever has one can read its page.",
      project,
    }),
    hooks: mapSetting(hook, { by: "the name in the address", description: "Webhooks.", project }),
    ...channelSettings,
    ...scheduleSettings,
  }),
};
