/**
 * All settings, in one table, from which the types, the defaults, the checks, the reference page and the JSON Schema for
 * editors are made. Names are pi's where pi has the setting.
 */
import { defaultRunMs } from "@tau/protocol";
import type { Field } from "../fields/field.ts";
import { decimal, flag, list, nonEmptyText, object, oneOf, optional, text, wholeNumber } from "../fields/kinds.ts";
import { packageEntries } from "../installs/package-entry.ts";
import { type Fields, group, type Group, type MapOf, mapSetting, type Setting, setting } from "./node.ts";
import { fallbackChains, keyList, paths, program, proxyUrl, thinkingLevel, workingPath } from "./shape.ts";
import { gatewaySettings } from "./gateway-settings.ts";
import { policySettings } from "./policy-settings.ts";
import { terminalSettings } from "./terminal-settings.ts";

/** With all defaults. */
type Resolved<N> =
  N extends Setting<infer T, infer D>
    ? undefined extends D
      ? T | undefined
      : T
    : N extends Group<infer F>
      ? { readonly [K in keyof F]: Resolved<F[K]> }
      : N extends MapOf<infer E>
        ? Readonly<Record<string, Chosen<E>>>
        : never;

/** Without defaults, as inside of a map. */
type Chosen<N> =
  N extends Setting<infer T> ? T : N extends Group<infer F> ? { readonly [K in keyof F]?: Chosen<F[K]> } : never;

/** Settings in a file: anything may be left out, and null stands for the default. */
type Input<N> =
  N extends Setting<infer T>
    ? T | null | undefined
    : N extends Group<infer F>
      ? { readonly [K in keyof F]?: Input<F[K]> } | null | undefined
      : N extends MapOf<infer E>
        ? Readonly<Record<string, Input<E>>> | null | undefined
        : never;

/** Readonly, since settings are frozen. */
const texts: Field<readonly string[]> = list(nonEmptyText);

/** How many of something, 0 or more. */
/** Milliseconds; pi's word for none is 0. */
const idleTimeout: Field<number> = (() => {
  const milliseconds = wholeNumber({ min: 0, unit: "milliseconds" });
  return {
    type: `${milliseconds.type} | "disabled"`,
    schema: { anyOf: [milliseconds.schema, { const: "disabled" }] },
    read: (value, context) => (value === "disabled" ? 0 : milliseconds.read(value, context)),
  };
})();

const count = (unit: string) => wholeNumber({ min: 0, unit });
const milliseconds = wholeNumber({ min: 1, unit: "milliseconds" });

/** The settings of tools that a model can have of its own. */
const toolsOfModel = {
  edit: setting(oneOf("text", "hashline"), {
    default: "text",
    description: "How files are edited: `text` replaces pieces of text, `hashline` replaces lines by their anchors.",
  }),
};

const contextSources: Field<
  readonly { name: string; file?: string; command?: string; each?: "prompt" | "turn"; maxBytes?: number }[]
> = list(
  object({
    name: nonEmptyText,
    file: optional(nonEmptyText),
    command: optional(nonEmptyText),
    each: optional(oneOf("prompt", "turn")),
    maxBytes: optional(wholeNumber({ min: 1, unit: "bytes" })),
  }),
);

const queueMode = oneOf("all", "one-at-a-time");

/** The settings of compaction that a model can have of its own. */
const compaction = {
  enabled: setting(flag, {
    default: true,
    description: "Compact automatically when the context is nearly full.",
  }),
  reserveTokens: setting(count("tokens"), {
    default: 16_384,
    description: "Tokens of the context window to keep free; a longer context is compacted.",
  }),
  keepRecentTokens: setting(count("tokens"), {
    default: 20_000,
    description: "Tokens at the end of the conversation that compaction leaves as they are.",
  }),
};

export const settingsTable = group("The settings of tau.", {
  approvals: group("Questions about calls.", {
    timeoutMs: setting(milliseconds, {
      default: undefined,
      description:
        "How long a question waits before the call is denied, in milliseconds. Default: in a terminal for ever, over RPC and the gateway 5 minutes, in pi's RPC format 30 seconds.",
      project: "when trusted",
    }),
    later: setting(flag, {
      default: false,
      description:
        "Whether a run ends with a question that nobody is there to answer, instead of denying the call: the answer is kept, and the session is resumed with it.",
      project: "never",
    }),
  }),
  additionalDirectories: setting(paths, {
    default: [],
    description:
      "Directories besides the working directory in which tools may read and write without a question, relative to the directory of this file. Applies to sessions that are opened later.",
    project: "when trusted",
  }),
  apiKeys: mapSetting(
    setting(keyList, { default: undefined, description: "The keys of one provider.", project: "never" }),
    {
      by: "provider",
      description:
        "Several keys of a provider: sessions are spread over them, and while one is refused the next is used. Write `${NAME}` for a variable, because tools can read this file. They come before stored keys and those of the environment.",
      project: "never",
    },
  ),
  auth: group("Stored credentials.", {
    store: setting(oneOf("file", "keychain"), {
      default: "file",
      description:
        "Where keys and logins are stored: in `auth.json`, or in the key chain of the operating system. `tau auth move` moves them and changes this.",
      project: "never",
    }),
  }),
  defaultProjectTrust: setting(oneOf("ask", "always", "never"), {
    default: "ask",
    description:
      "Whether a project is trusted: `ask` trusts those that you said yes to, `always` trusts all, `never` trusts none. The flags `--approve` and `--no-approve` override it for one run.",
    project: "never",
  }),
  defaultProvider: setting(nonEmptyText, {
    default: undefined,
    description: "The provider a new session starts with.",
    project: "when trusted",
  }),
  defaultModel: setting(nonEmptyText, {
    default: undefined,
    description: "The id of the model a new session starts with.",
    project: "when trusted",
  }),
  roles: mapSetting(
    setting(nonEmptyText, { default: undefined, description: "The model of one role.", project: "when trusted" }),
    {
      by: "name of a role",
      description:
        "The models of roles: `provider/model:thinking`, a part of it that is unique, or `@role`. The roles are `default`, `smol`, `slow`, `plan`, `commit` and your own; a role without a model is the default model. `@smol` is then the name of a model.",
      project: "when trusted",
    },
  ),
  smolSummaries: setting(flag, {
    default: true,
    description:
      "Let the model of the role `smol`, if it has one, write the summaries of compactions and of branches that are left.",
  }),
  defaultThinkingLevel: setting(thinkingLevel, {
    default: "medium",
    description: "The thinking level of a new session.",
  }),
  modelThinkingLevels: mapSetting(
    setting(thinkingLevel, { default: undefined, description: "The thinking level of new sessions with one model." }),
    {
      by: "provider/model",
      description:
        "The thinking level of new sessions with a model, by the exact `provider/model`, instead of `defaultThinkingLevel`. Ctrl-S in `/thinking` writes it.",
    },
  ),
  thinkingBudgets: group("The most tokens that a model may use for thinking, by level.", {
    minimal: setting(count("tokens"), { default: 1_024, description: "Tokens for the level `minimal`." }),
    low: setting(count("tokens"), { default: 1_024, description: "Tokens for the level `low`." }),
    medium: setting(count("tokens"), { default: 8_192, description: "Tokens for the level `medium`." }),
    high: setting(count("tokens"), { default: 32_768, description: "Tokens for the level `high` and beyond." }),
  }),
  enabledModels: setting(texts, {
    default: undefined,
    description:
      "Patterns of the models to choose from, such as `anthropic/*` or `*sonnet*:high`. Default: all models.",
    project: "when trusted",
  }),
  transport: setting(oneOf("auto", "sse", "websocket", "websocket-cached"), {
    default: "auto",
    description:
      "How answers of the Responses APIs arrive: `websocket` opens a WebSocket for each request, `websocket-cached` keeps one for the session and sends only what is new. Where the server has none, server-sent events are used, as with `sse` and `auto`.",
  }),
  cacheRetention: setting(oneOf("none", "short", "long"), {
    default: undefined,
    description:
      "How long a provider keeps what was sent in its cache: `short` is its usual time, `long` costs more where it is offered, `none` uses no cache. Default: `short`, or what `PI_CACHE_RETENTION` says.",
  }),
  serviceTier: setting(oneOf("auto", "default", "flex", "priority"), {
    default: undefined,
    description:
      "The service that OpenAI's models are asked for: `priority` is faster and costs about twice as much, `flex` is slower and costs half. `/fast` turns `priority` on and off. Other providers have none. Default: the account's.",
  }),
  httpIdleTimeoutMs: setting(idleTimeout, {
    default: 120_000,
    description:
      "How long a provider may send nothing before the request fails; 0 or `disabled` means no limit. Set it higher for a local server that takes minutes to load a model or to read a long prompt.",
    project: "when trusted",
  }),
  json: group("Output for programs.", {
    events: setting(oneOf("tau", "pi"), {
      default: "tau",
      description:
        "The events that `--mode json` writes: `tau` writes tau's own and a result at the end, `pi` exactly the records of pi. `--events` says it for one run.",
    }),
  }),
  limits: group("Time limits.", {
    runMs: setting(milliseconds, {
      default: defaultRunMs,
      description: "How long a run may take. Default: 48 hours.",
      project: "when trusted",
    }),
    bashMs: setting(milliseconds, {
      default: undefined,
      description:
        "How long a command of `bash` may take if its call sets no timeout. Background jobs are not limited. Default: no limit.",
      project: "when trusted",
    }),
    maxBashMs: setting(milliseconds, {
      default: undefined,
      description:
        "The longest timeout of a `bash` command; a longer one is shortened. Background jobs are not limited. Default: no limit.",
      project: "when trusted",
    }),
  }),
  retry: group("Retries after a failure of a provider that may be temporary.", {
    enabled: setting(flag, { default: true, description: "Retry failed requests." }),
    maxRetries: setting(count("retries"), {
      default: undefined,
      description:
        "The most retries of one request. Default: 3; a busy provider (a rate limit, or too much load) is asked again for ten minutes in the terminal and the gateway.",
    }),
    baseDelayMs: setting(count("milliseconds"), {
      default: 2_000,
      description: "Milliseconds before the first retry; the wait doubles each time.",
    }),
    maxAgentDelayMs: setting(count("milliseconds"), {
      default: 60_000,
      description: "The longest wait before a retry, in milliseconds, unless the provider asks for more.",
    }),
    provider: group("Retries of a single request, before the retries of the run.", {
      maxRetries: setting(count("retries"), {
        default: 0,
        description: "How often a request is repeated at once, each time that the run sends it.",
      }),
      maxRetryDelayMs: setting(count("milliseconds"), {
        default: 60_000,
        description: "The longest wait that a provider may ask for, in milliseconds; 0 for any.",
      }),
      timeoutMs: setting(count("milliseconds"), {
        default: undefined,
        description:
          "The longest time without a piece of the answer, in milliseconds; 0 for no limit. Default: `httpIdleTimeoutMs`.",
      }),
    }),
    fallbackChains: setting(fallbackChains, {
      default: undefined,
      description:
        "Models to use while another one cannot be used (a rate limit, too much load, no credit, or a rejected key): lists in which each model is followed by the next, or lists by role, `provider/model` or `provider/*`. Only models of `enabledModels` are used, if that is set.",
      project: "when trusted",
    }),
  }),
  compaction: group("Compaction: a summary takes the place of old messages when the context window fills up.", {
    ...compaction,
    models: mapSetting(group("Settings for one model.", compaction), {
      by: "`provider/id`",
      description: "Settings for single models.",
    }),
    modelOverrides: mapSetting(
      group("Settings for one model.", {
        reserveTokens: compaction.reserveTokens,
        keepRecentTokens: compaction.keepRecentTokens,
      }),
      { by: "`provider/id`", description: "The name that pi has for `compaction.models`, which takes precedence." },
    ),
  }),
  pruning: group("Pruning: old tool results are left out of requests. The session keeps them.", {
    enabled: setting(flag, { default: true, description: "Leave old tool results out of requests." }),
    keepRecentTokens: setting(count("tokens"), {
      default: 40_000,
      description: "Tokens at the end of the conversation whose tool results are always sent.",
    }),
  }),
  budgets: group("Limits of one run, including its sub-agents, of a day and of a month. Default: no limits.", {
    tokens: setting(count("tokens"), {
      default: undefined,
      description: "The most tokens, input and output together.",
      project: "when trusted",
    }),
    cost: setting(decimal({ min: 0, unit: "dollars" }), {
      default: undefined,
      description: "The highest cost, in US dollars.",
      project: "when trusted",
    }),
    turns: setting(count("turns"), { default: undefined, description: "The most turns.", project: "when trusted" }),
    timeMs: setting(count("milliseconds"), {
      default: undefined,
      description: "The longest time, in milliseconds.",
      project: "when trusted",
    }),
    day: group("The limit of a day, in local time, for all sessions together.", {
      cost: setting(decimal({ min: 0, unit: "dollars" }), {
        default: undefined,
        description: "The highest cost of all requests of a day, in US dollars. At 80 % of it you are warned.",
        project: "never",
      }),
    }),
    month: group("The limit of a calendar month, in local time, for all sessions together.", {
      cost: setting(decimal({ min: 0, unit: "dollars" }), {
        default: undefined,
        description: "The highest cost of all requests of a month, in US dollars. At 80 % of it you are warned.",
        project: "never",
      }),
    }),
  }),
  steeringMode: setting(queueMode, {
    default: "one-at-a-time",
    description: "How many queued steering messages are sent at once.",
  }),
  followUpMode: setting(queueMode, {
    default: "one-at-a-time",
    description: "How many queued follow-up messages are sent at once.",
  }),
  sessionDir: setting(workingPath, {
    default: undefined,
    description: "The directory of sessions, relative to the working directory. Default: in tau's own directory.",
    project: "when trusted",
  }),
  durability: setting(oneOf("strict", "turn", "none"), {
    default: "strict",
    description:
      "When an entry is acknowledged as stored. `strict`: when it is on disk. `turn`: when the operating system has it, and each turn ends on disk. `none`: at once; it is written soon after.",
    project: "when trusted",
  }),
  httpProxy: setting(proxyUrl, {
    default: undefined,
    description:
      "The proxy for requests to providers, where no variable such as `HTTPS_PROXY` names one. `NO_PROXY` applies as usual.",
    project: "when trusted",
  }),
  defaultTools: setting(texts, {
    default: undefined,
    description:
      "The built-in tools of a new session. Plain names replace the defaults, `+name` adds a tool and `-name` removes one.",
    project: "when trusted",
  }),
  tools: group("The tools that the model can use.", {
    allowed: setting(texts, {
      default: undefined,
      description: "Only these tools; `*` stands for any text. Default: all tools.",
      project: "when trusted",
    }),
    excluded: setting(texts, {
      default: [],
      description: "All but these tools; `*` stands for any text.",
      project: "when trusted",
    }),
    enabled: setting(texts, {
      default: [],
      description:
        "Tools that are off by default, such as `codemode` or `calc`, to add to the tools of a new session. `tools.allowed` and `tools.excluded` still apply.",
      project: "when trusted",
    }),
    ...toolsOfModel,
    models: mapSetting(group("Settings for one model.", toolsOfModel), {
      by: "`provider/id`",
      description: "Settings for single models.",
    }),
    execution: setting(oneOf("ordered", "sequential"), {
      default: "ordered",
      description:
        "How the calls of one answer are executed: `ordered` runs calls that only read together and all others in order; `sequential` runs one call at a time, and a message from you skips the rest.",
    }),
    discoveryMode: setting(oneOf("auto", "all", "mcp-only", "off"), {
      default: "auto",
      description:
        "Which tools the model finds with a search instead of having all of them in each request. `auto`: tools of MCP servers, tools that are not shown by default and, if there are more than 40, tools of extensions. `all`: tools of extensions in any number. `mcp-only`: only those of MCP servers. `off`: none; each request lists all.",
    }),
    writeNeedsRead: setting(flag, {
      default: true,
      description: "Refuse to replace a file that the model has not read, or that has changed since.",
      project: "when trusted",
    }),
  }),
  mcp: group("The tools of MCP servers.", {
    discoveryMode: setting(flag, {
      default: false,
      description: "Find the tools of MCP servers, and list all others: `tools.discoveryMode` is then `mcp-only`.",
    }),
  }),
  shellPath: setting(program, {
    default: undefined,
    description: "The shell that runs the commands of a new session. Default: bash, or sh if there is no bash.",
    project: "when trusted",
  }),
  shellCommandPrefix: setting(nonEmptyText, {
    default: undefined,
    description: "Text to put before every command of a new session.",
    project: "when trusted",
  }),
  shellEnv: mapSetting(
    setting(text, { default: undefined, description: "The value of one variable.", project: "when trusted" }),
    { by: "name", description: "Environment variables of every command of a new session.", project: "when trusted" },
  ),
  extensions: setting(paths, {
    default: [],
    description:
      "More extensions: files or directories, relative to the directory of this file. Of all that are found, `!glob` leaves some out, `+path` includes one in spite of that, and `-path` leaves one out. `-builtin:NAME` turns a feature off, as `features` does, and `+builtin:NAME` on again.",
    project: "when trusted",
  }),
  extensionTimeoutMs: setting(wholeNumber({ min: 1_000, unit: "milliseconds" }), {
    default: 60_000,
    description:
      "How long a handler of an extension may take whose answer is used, such as one of `tool_call`, `tool_result`, `context` or `before_agent_start`, and one of `agent_end`, in milliseconds. After five seconds the terminal shows who is waited for. Handlers of other events have ten seconds.",
    project: "when trusted",
  }),
  contextSources: setting(contextSources, {
    default: [],
    description:
      "The contents of files and the output of commands, for the model: a list of objects with a `name`, a `file` or a `command`, `each` and `maxBytes`. `each` is `prompt` (default) or `turn`; at most `maxBytes` (16384) of it are sent, after everything else.",
    project: "when trusted",
  }),
  packages: setting(packageEntries, {
    default: [],
    description:
      "Packages with extensions, skills, prompt templates and themes: `npm:NAME`, `git:HOST/PATH`, an https address, or a path, relative to the directory of this file. An object has lists of the resources that are used. `tau install` adds packages, and those of a project are used beside yours.",
    project: "when trusted",
  }),
  packageMinAgeDays: setting(count("days"), {
    default: 3,
    description:
      "How old a release on npm has to be before it is installed, in days; 0 means any age. Most malicious releases are found and removed within three days.",
    project: "never",
  }),
  skills: setting(paths, {
    default: [],
    description:
      "More skills: files or directories, relative to the directory of this file; those of a project are used beside yours. Of all that are found, `!glob` leaves some out, `+path` includes one in spite of that, and `-path` leaves one out.",
    project: "when trusted",
  }),
  prompts: setting(paths, {
    default: [],
    description:
      "More prompt templates: files or directories, relative to the directory of this file; those of a project are used beside yours. Of all that are found, `!glob` leaves some out, `+path` includes one in spite of that, and `-path` leaves one out.",
    project: "when trusted",
  }),
  features: mapSetting(setting(flag, { default: undefined, description: "`false` turns the feature off." }), {
    description: "Features that are on or off. All are on by default. Counts for sessions that are opened afterwards.",
    by: "name of a feature",
    project: "when trusted",
  }),
  enableSkillCommands: setting(flag, { default: true, description: "Make each skill a command, `/skill:name`." }),
  images: group("Images that are sent to a model.", {
    autoResize: setting(flag, {
      default: true,
      description: "Shrink images that are larger than models accept.",
    }),
    blockImages: setting(flag, { default: false, description: "Never send images.", project: "when trusted" }),
  }),
  otel: group("OpenTelemetry.", {
    enabled: setting(flag, {
      default: true,
      description: "Report spans and metrics if an OpenTelemetry SDK is registered.",
      project: "when trusted",
    }),
  }),
  ...policySettings,
  ...gatewaySettings,
  ...terminalSettings,
});

/** A table of settings: tau's own, and those of features. */
export type SettingsTable = Group<Fields>;

/** A feature, as far as its settings are concerned. */
export interface WithSettings {
  readonly settings?: Fields;
}

/** The settings of features, by their names. */
export const getFeatureFields = (features: readonly WithSettings[]): Fields =>
  Object.assign({}, ...features.map(({ settings }) => settings)) as Fields;

/** The table with the settings of these features. */
export const createSettingsTable = (features: readonly WithSettings[] = []): SettingsTable =>
  group(settingsTable.description, { ...getFeatureFields(features), ...settingsTable.fields });

/** Settings of a feature, with all defaults. */
export type ResolvedFields<F extends Fields> = { readonly [K in keyof F]: Resolved<F[K]> };

/** All settings, with all defaults. Frozen, also inside. */
export type Settings = Resolved<typeof settingsTable>;

/** The settings with which a project restricts: only those that it has. */
export type Restrictions = { readonly [K in keyof typeof policySettings]?: Chosen<(typeof policySettings)[K]> };

/**
 * Settings as in a file. A setting that is left out is inherited; null stands for the default. In a change, undefined
 * removes a setting from the file.
 */
export type SettingsInput = NonNullable<Input<typeof settingsTable>>;
