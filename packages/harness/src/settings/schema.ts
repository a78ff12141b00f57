/**
 * All settings, in one table. Their types, their defaults, what is a mistake, the reference page and the JSON Schema
 * for editors all come from here. Names are pi's where pi has the setting.
 */
import type { Field } from "../fields/field.ts";
import { decimal, flag, list, nonEmptyText, oneOf, text, wholeNumber } from "../fields/kinds.ts";
import { paths, program, type Shape, thinkingLevel, workingPath } from "./shape.ts";

/**
 * When the settings of a project may set it. What executes something, sends data or money elsewhere, or loosens what
 * a person has decided waits until that person trusts the project.
 */
export type ProjectMaySet = "always" | "when trusted";

/** One setting. A default of undefined means that there is none: the value may then be undefined. */
export interface Setting<T, D extends T | undefined = T | undefined> {
  readonly kind: "setting";
  readonly shape: Shape<T>;
  readonly default: D;
  readonly description: string;
  readonly project: ProjectMaySet;
}

export interface Group<F extends Fields> {
  readonly kind: "group";
  readonly description: string;
  readonly fields: F;
}

/** Values by names that are not known in advance. Empty by default. */
export interface MapOf<E extends Setting<unknown> | Group<Fields>> {
  readonly kind: "map";
  readonly description: string;
  /** What the names are: completes "by …". */
  readonly by: string;
  readonly of: E;
  readonly project: ProjectMaySet;
}

export interface Fields {
  readonly [name: string]: SettingNode;
}

export type SettingNode = Setting<unknown> | Group<Fields> | MapOf<Setting<unknown> | Group<Fields>>;

/** With everything filled in. */
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

/** What was chosen, and nothing else: inside a map nothing is filled in. */
type Chosen<N> =
  N extends Setting<infer T> ? T : N extends Group<infer F> ? { readonly [K in keyof F]?: Chosen<F[K]> } : never;

/** As a file says it: anything may be left out, and null stands for the default. */
type Given<N> =
  N extends Setting<infer T>
    ? T | null | undefined
    : N extends Group<infer F>
      ? { readonly [K in keyof F]?: Given<F[K]> } | null | undefined
      : N extends MapOf<infer E>
        ? Readonly<Record<string, Given<E>>> | null | undefined
        : never;

interface About<D> {
  default: D;
  description: string;
  /** Default `always`. */
  project?: ProjectMaySet;
}

const setting = <T, const D extends T | undefined>(shape: Shape<T>, about: About<D>): Setting<T, D> => ({
  kind: "setting",
  shape,
  project: "always",
  ...about,
});

const group = <F extends Fields>(description: string, fields: F): Group<F> => ({ kind: "group", description, fields });

const mapSetting = <E extends Setting<unknown> | Group<Fields>>(
  of: E,
  about: { description: string; by: string; project?: ProjectMaySet },
): MapOf<E> => ({ kind: "map", of, project: "always", ...about });

/** Readonly, since settings are frozen. */
const texts: Field<readonly string[]> = list(nonEmptyText);

/** How many of something, 0 or more. */
const count = (unit: string) => wholeNumber({ min: 0, unit });

const queueMode = oneOf("all", "one-at-a-time");

/** The choices of compaction that a single model can have of its own. */
const compaction = {
  enabled: setting(flag, {
    default: true,
    description: "Compact without being asked, when the context is nearly full.",
  }),
  reserveTokens: setting(count("tokens"), {
    default: 16_384,
    description: "Tokens of the window that are kept free; a context that reaches into them is compacted.",
  }),
  keepRecentTokens: setting(count("tokens"), {
    default: 20_000,
    description: "Tokens at the end of the conversation that stay as they are.",
  }),
};

export const settingsTable = group("The settings of tau.", {
  defaultProvider: setting(nonEmptyText, {
    default: undefined,
    description: "The provider a new session starts with.",
  }),
  defaultModel: setting(nonEmptyText, {
    default: undefined,
    description: "The id of the model a new session starts with.",
  }),
  defaultThinkingLevel: setting(thinkingLevel, {
    default: "medium",
    description: "How much a model thinks when a session starts.",
  }),
  thinkingBudgets: group("Tokens that a model may think with, by level.", {
    minimal: setting(count("tokens"), { default: 1_024, description: "Tokens for the level `minimal`." }),
    low: setting(count("tokens"), { default: 1_024, description: "Tokens for the level `low`." }),
    medium: setting(count("tokens"), { default: 8_192, description: "Tokens for the level `medium`." }),
    high: setting(count("tokens"), { default: 32_768, description: "Tokens for the level `high` and beyond." }),
  }),
  enabledModels: setting(texts, {
    default: undefined,
    description: "Patterns of the models to choose from, such as `anthropic/*` or `*sonnet*:high`. Without it: all.",
  }),
  transport: setting(oneOf("auto", "sse", "websocket", "websocket-cached"), {
    default: "auto",
    description: "How to talk to providers that offer more than one way.",
  }),
  retry: group("What happens when a provider fails in a way that may pass.", {
    enabled: setting(flag, { default: true, description: "Try again." }),
    maxRetries: setting(count("tries"), { default: 3, description: "How often to try again." }),
    baseDelayMs: setting(count("milliseconds"), {
      default: 2_000,
      description: "Milliseconds before the first new try; each further one waits twice as long.",
    }),
  }),
  compaction: group("How a conversation is shortened when it fills the model's window.", {
    ...compaction,
    models: mapSetting(group("What is different for one model.", compaction), {
      by: "`provider/id`",
      description: "What is different for single models.",
    }),
  }),
  pruning: group("Old results of tools are left out of requests. The session keeps them.", {
    enabled: setting(flag, { default: true, description: "Leave out old results of tools." }),
    keepRecentTokens: setting(count("tokens"), {
      default: 40_000,
      description: "Tokens at the end of the conversation whose results are always sent.",
    }),
  }),
  budgets: group("What a run, with all that it starts, may use up. Without a number there is no limit.", {
    tokens: setting(count("tokens"), {
      default: undefined,
      description: "Tokens, in and out together.",
      project: "when trusted",
    }),
    cost: setting(decimal({ min: 0, unit: "dollars" }), {
      default: undefined,
      description: "US dollars.",
      project: "when trusted",
    }),
    turns: setting(count("turns"), { default: undefined, description: "Turns.", project: "when trusted" }),
    timeMs: setting(count("milliseconds"), {
      default: undefined,
      description: "Milliseconds.",
      project: "when trusted",
    }),
  }),
  steeringMode: setting(queueMode, {
    default: "one-at-a-time",
    description: "How many of the waiting steering messages the model gets at once.",
  }),
  followUpMode: setting(queueMode, {
    default: "one-at-a-time",
    description: "How many of the waiting follow-up messages the model gets at once.",
  }),
  sessionDir: setting(workingPath, {
    default: undefined,
    description: "Where sessions are kept, from the working directory if relative. Without it: in tau's own directory.",
    project: "when trusted",
  }),
  durability: setting(oneOf("strict", "turn", "none"), {
    default: "strict",
    description: "When an entry counts as stored: on the disk, on the disk after each turn, or when the system has it.",
    project: "when trusted",
  }),
  tools: group("Which tools the model is shown.", {
    allowed: setting(texts, {
      default: undefined,
      description: "Only these. Without it: all.",
      project: "when trusted",
    }),
    excluded: setting(texts, { default: [], description: "Not these.", project: "when trusted" }),
  }),
  shellPath: setting(program, {
    default: undefined,
    description: "The shell that runs commands. Without it: bash, else sh.",
    project: "when trusted",
  }),
  shellCommandPrefix: setting(nonEmptyText, {
    default: undefined,
    description: "Put before every command that is run.",
    project: "when trusted",
  }),
  shellEnv: mapSetting(
    setting(text, { default: undefined, description: "The value of one variable.", project: "when trusted" }),
    { by: "name", description: "Variables that every command sees.", project: "when trusted" },
  ),
  extensions: setting(paths, {
    default: [],
    description:
      "Extensions: files or directories, from the directory of this file if relative. Nothing loads them yet.",
    project: "when trusted",
  }),
  skills: setting(paths, {
    default: [],
    description: "Further skills: files or directories, from the directory of this file if relative.",
    project: "when trusted",
  }),
  prompts: setting(paths, {
    default: [],
    description: "Further prompt templates: files or directories, from the directory of this file if relative.",
    project: "when trusted",
  }),
  enableSkillCommands: setting(flag, { default: true, description: "Offer each skill as `/skill:name`." }),
  images: group("Images that are sent to a model.", {
    autoResize: setting(flag, {
      default: true,
      description: "Make them smaller when they are larger than models like.",
    }),
    blockImages: setting(flag, { default: false, description: "Never send any.", project: "when trusted" }),
  }),
  otel: group("OpenTelemetry.", {
    enabled: setting(flag, {
      default: true,
      description: "Report spans where an OpenTelemetry SDK is present.",
      project: "when trusted",
    }),
  }),
  hideThinkingBlock: setting(flag, {
    default: false,
    description: "Do not show what the model thinks. For the terminal interface, which is to come.",
  }),
  theme: setting(nonEmptyText, {
    default: "system",
    description: "The name of the colours of the terminal. For the terminal interface, which is to come.",
  }),
});

/** All settings, with everything filled in. Frozen, all the way down. */
export type Settings = Resolved<typeof settingsTable>;

/**
 * Settings as a file gives them. What is left out is inherited; null stands for the default. In a change, undefined takes a
 * setting out of the file.
 */
export type SettingsInput = NonNullable<Given<typeof settingsTable>>;
