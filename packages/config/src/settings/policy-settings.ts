/** The settings of the policy and of the sandbox. A project that is trusted may make both stricter, and never looser. */
import { isRecord } from "@tau/ai/internal";
import { defaultPermissionMode, permissionModes } from "@tau/protocol";
import { capabilities } from "@tau/tools/platform";
import type { Field } from "../fields/field.ts";
import { flag, list, nonEmptyText, oneOf, wholeNumber } from "../fields/kinds.ts";
import { execTiers, policyModes, policyProfiles } from "@tau/policy/internal";
import { group, mapSetting, setting } from "./node.ts";
import { paths, type Shape } from "./shape.ts";

const project = "to restrict";
const texts: Field<readonly string[]> = list(nonEmptyText);
const someCapabilities: Field<readonly (typeof capabilities)[number][]> = list(oneOf(...capabilities));
const somePorts: Field<readonly number[]> = list(wholeNumber({ min: 1, unit: "ports" }));
const mode = oneOf(...policyModes);

const perExtension = group("What applies to one extension.", {
  mode: setting(mode, {
    default: undefined,
    description: "What happens to a capability that no list names.",
    project,
  }),
  allow: setting(someCapabilities, { default: undefined, description: "Capabilities that it has.", project }),
  deny: setting(someCapabilities, { default: undefined, description: "Capabilities that it never has.", project }),
  secretFiles: setting(texts, {
    default: undefined,
    description:
      "Names of files with secrets of the project that it may open although it is not trusted, such as `.env` or `server.pem`.",
    project,
  }),
});

const policy = group(
  "What extensions, tools and commands may do. What is not set comes from the profile.",
  {
    profile: setting(nonEmptyText, {
      default: "balanced",
      description: `The profile: ${policyProfiles.map((name) => `\`${name}\``).join(", ")}. Any other name stands for \`safe\`.`,
      project,
    }),
    permissionMode: setting(oneOf(...permissionModes), {
      default: defaultPermissionMode,
      description:
        "How much a session does without a question: `plan` writes nothing, `ask` asks about every change too, `edit` about what is risky, `free` about nothing as long as the sandbox contains it. `/permissions` and `--permission-mode` choose another one for a session.",
      project,
    }),
    mode: setting(mode, {
      default: undefined,
      description:
        "What happens to a capability that no list names: `strict` denies it, `prompt` asks, `permissive` allows it.",
      project,
    }),
    defaultCaps: setting(someCapabilities, {
      default: undefined,
      description: "Capabilities that every extension has.",
      project,
    }),
    denyCaps: setting(someCapabilities, {
      default: undefined,
      description: "Capabilities that no extension has.",
      project,
    }),
    perExtension: mapSetting(perExtension, { by: "the name of an extension", description: "Exceptions.", project }),
    maxMemoryMb: setting(wholeNumber({ min: 1, unit: "megabytes" }), {
      default: undefined,
      description: "The most memory of an isolated extension.",
      project,
    }),
    execMediation: group(
      "What commands may do.",
      {
        enabled: setting(flag, { default: undefined, description: "Judge commands before they run.", project }),
        denyThreshold: setting(oneOf(...execTiers), {
          default: undefined,
          description: "The tier from which on commands are denied without a question.",
          project,
        }),
        denyPatterns: setting(texts, {
          default: undefined,
          description: "Commands that are denied, by their first words, such as `npm publish`.",
          project,
        }),
        allowPatterns: setting(texts, {
          default: undefined,
          description:
            "Commands that are allowed, by their first words, such as `npm run *`. They never cover the tier `critical`.",
          project,
        }),
        auditAllClassified: setting(flag, {
          default: undefined,
          description: "Write commands that were recognised as dangerous to the audit, also if they are allowed.",
          project,
        }),
      },
      { acceptsSnakeCase: true },
    ),
    secretBroker: group(
      "Which environment variables are secrets. Extensions and commands do not get them.",
      {
        enabled: setting(flag, { default: undefined, description: "Keep secrets back.", project }),
        exact: setting(texts, { default: undefined, description: "Names of secrets.", project }),
        suffixes: setting(texts, { default: undefined, description: "Ends of the names of secrets.", project }),
        prefixes: setting(texts, { default: undefined, description: "Beginnings of the names of secrets.", project }),
        disclosureAllowlist: setting(texts, {
          default: undefined,
          description: "Names that commands get although they look like those of secrets.",
          project,
        }),
      },
      { acceptsSnakeCase: true },
    ),
  },
  { acceptsSnakeCase: true },
);

const keyword = oneOf("none", "all");
const allowedHosts = list(nonEmptyText);

const network: Shape<"none" | "all" | { readonly allow: readonly string[] }> = {
  type: '"none" | "all" | { allow: string[] }',
  schema: {
    anyOf: [
      keyword.schema,
      { type: "object", required: ["allow"], additionalProperties: false, properties: { allow: allowedHosts.schema } },
    ],
  },
  read(value, { path, report }) {
    const isList = isRecord(value) && Object.keys(value).join() === "allow";
    if (isList) {
      const allow = allowedHosts.read(value["allow"], { path: [...path, "allow"], report });
      return allow && { allow };
    }
    if (value === "none" || value === "all") return value;
    report({ kind: "wrong_value", path, value, expected: '"none", "all" or { "allow": [hosts] }' });
    return undefined;
  },
};

const sandbox = group(
  "The sandbox in which commands run. A text instead of the object is the mode.",
  {
    mode: setting(oneOf("off", "auto", "required"), {
      default: "auto",
      description:
        "When commands run in the sandbox: `auto` where that works, `required` always or not at all, `off` never.",
      project,
    }),
    allowedPaths: setting(paths, {
      default: [],
      description:
        "Files and directories that commands may change besides the workspace, relative to the directory of this file.",
      project,
    }),
    timeout: setting(wholeNumber({ min: 1, unit: "milliseconds" }), {
      default: undefined,
      description: "How long a command may take whose call sets no timeout, in milliseconds. Default: no limit.",
      project,
    }),
    maxMemoryMb: setting(wholeNumber({ min: 16, unit: "megabytes" }), {
      default: undefined,
      description:
        "Memory that the processes of a command may use together, in megabytes. Default: three quarters of the machine's.",
      project,
    }),
    maxMemoryFilesMb: setting(wholeNumber({ min: 1, unit: "megabytes" }), {
      default: 256,
      description: "The size of each file system in memory in the sandbox (`/run`, `/dev/shm`), in megabytes.",
      project,
    }),
    seatbelt: setting(flag, {
      default: false,
      description:
        "Whether the sandbox of macOS (Seatbelt) is used there. It was never run by those who wrote it: tau tries each time whether it holds.",
      project: "never",
    }),
    ports: setting(somePorts, {
      default: [],
      description: "Ports of servers in the sandbox that programs outside of it can connect to.",
      project,
    }),
    network: setting(network, {
      default: "none",
      description: "The network of commands: `none`, `all`, or the hosts that they may connect to through a proxy.",
      project,
    }),
  },
  { shorthand: "mode" },
);

export const policySettings = { policy, sandbox };
