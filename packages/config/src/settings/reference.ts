/** The table of settings as a reference page and as a JSON Schema. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { JsonSchema } from "../fields/field.ts";
import { forbiddenNames, type SettingNode } from "./node.ts";
import { referenceSections } from "./reference-sections.ts";
import { createSettingsTable, getFeatureFields, type WithSettings } from "./schema.ts";

/** The JSON Schema of settings files. Editors use it to complete names and to show errors. */
export function settingsSchema(features: readonly WithSettings[] = []): JsonSchema {
  const { properties, ...rest } = toSchema(createSettingsTable(features)) as { properties: object };
  const pointer = { type: "string", description: "Where an editor finds this schema." };
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    title: "tau settings",
    ...rest,
    type: "object",
    // Editors of the VS Code family read these two: the files are JSON with comments.
    allowComments: true,
    allowTrailingCommas: true,
    properties: { $schema: pointer, ...properties },
  };
}

function toSchema(node: SettingNode): JsonSchema {
  const { description } = node;
  switch (node.kind) {
    case "setting": {
      const { default: standard } = node;
      return { description, ...(standard !== undefined && { default: standard }), ...orNull(node.shape.schema) };
    }
    case "group": {
      const properties = Object.entries(node.fields).map(([name, field]) => [name, toSchema(field)] as const);
      const fields = Object.fromEntries(properties);
      const object = { type: ["object", "null"], additionalProperties: false, properties: fields };
      const { shorthand } = node;
      if (shorthand === undefined) return { description, ...object };
      const { description: _ofField, ...short } = toSchema(node.fields[shorthand]!);
      return { description, anyOf: [object, short] };
    }
    case "map": {
      // Inside of a map no defaults are filled in.
      const entries = withoutDefaults(toSchema(node.of)) as JsonSchema;
      const propertyNames = { not: { enum: forbiddenNames } };
      return { description, type: ["object", "null"], propertyNames, additionalProperties: entries };
    }
  }
}

/** Null stands for the default. */
function orNull(schema: JsonSchema): JsonSchema {
  const { type, anyOf, enum: choices } = schema;
  return {
    ...schema,
    ...(typeof type === "string" && { type: [type, "null"] }),
    ...(Array.isArray(choices) && { enum: [...(choices as unknown[]), null] }),
    ...(Array.isArray(anyOf) && { anyOf: [...(anyOf as unknown[]), { type: "null" }] }),
  };
}

function withoutDefaults(schema: unknown): unknown {
  if (!isRecord(schema)) return schema;
  const rest = Object.entries(schema).filter(([name]) => name !== "default");
  return Object.fromEntries(rest.map(([name, value]) => [name, withoutDefaults(value)]));
}

const introduction = `# Settings

<!-- Generated from the table of settings. -->

Settings are JSON with comments, in two files: \`settings.json\` in tau's own directory (\`~/.tau\`,
or where \`TAU_DIR\` points) and \`.tau/settings.json\` in a project. A project's settings override
your own, and yours override the defaults. A project's \`.pi/settings.json\` is read too, below
\`.tau/settings.json\`, and never written. Settings of pi that tau does not have are ignored; \`tau
doctor\` lists them.

## Changing them

\`/settings\` in the terminal lists all settings, and Enter changes one in your own file. In a
shell:

\`\`\`sh
tau config get                        # the settings in effect, and where each comes from
tau config get retry.maxRetries       # one of them
tau config set theme dark             # plain text or JSON; comments of the file are kept
tau config set --project defaultThinkingLevel low
tau config unset theme
tau config edit                       # opens the file in your editor, and checks it afterwards
tau config path                       # where the files are
tau config schema                     # a JSON Schema for editors
\`\`\`

Objects are merged, lists are replaced, and \`null\` stands for the default. Changes apply at once.
A name that contains a dot cannot be a part of a key: set the object around it, as JSON.

\`tau --set KEY=VALUE\` changes a setting for one run, and \`tau --profile NAME\` uses the settings in
\`profiles/NAME.json\` of tau's directory for it. Both are over the files, and nothing is written:
[cli.md](cli.md#settings-for-one-run).

An error is reported with its file, line and name; only the setting with the error is ignored.
No session starts with a file that cannot be read whole, or with an error in the settings of
approvals, budgets, credentials, hooks, images, the policy, the sandbox, tools or trust: a
restriction could be missing. A project that is not trusted does not keep tau from starting:
with an error in its files, all of its settings are ignored.

## What a project may set

Each setting below lists whether a project may set it:

- **always**: in any project.
- **when trusted**: in a project that you trust. It could execute something, send data elsewhere, or
  loosen a decision of yours. Before that it is ignored, with a notice.
- **to restrict**: in a trusted project, as far as it is stricter than yours.
- **never**: only in your own file.
`;

/** No line of the page is longer, unless one word is. */
const maxColumns = 100;

/** The reference page of all settings, in Markdown. */
export function settingsReference(features: readonly WithSettings[] = []): string {
  const { fields } = createSettingsTable(features);
  const featureNames = Object.keys(getFeatureFields(features));
  const featureSections = featureNames.length > 0 ? [{ title: "Features", names: featureNames }] : [];
  const sections = [...referenceSections, ...featureSections].map(({ title, names }) => {
    const entries = names.flatMap((name) => toEntries(fields[name]!, [name]));
    return `## ${title}\n\n${entries.join("\n")}\n`;
  });
  return [introduction, ...sections].join("\n");
}

/** A group is a line of its own, and its settings follow. */
function toEntries(node: SettingNode, path: readonly string[]): string[] {
  const name = code(path.join("."));
  switch (node.kind) {
    case "setting": {
      const standard = node.default === undefined ? "" : `, default ${code(JSON.stringify(node.default))}`;
      return [toItem(`${name}: ${code(node.shape.type)}${standard}; project: ${node.project}`, node.description)];
    }
    case "group": {
      const entries = Object.entries(node.fields).flatMap(([field, inner]) => toEntries(inner, [...path, field]));
      return [toItem(`${name}: \`object\``, node.description), ...entries];
    }
    case "map": {
      const type = node.of.kind === "group" ? `{ ${Object.keys(node.of.fields).join(", ")} }` : node.of.shape.type;
      const description = `${node.description} By ${node.by}.`;
      return [toItem(`${name}: ${code(`Record<string, ${type}>`)}; project: ${node.project}`, description)];
    }
  }
}

/** An item of a list: a line with the facts, and the description below it. */
const toItem = (facts: string, description: string): string =>
  `- ${wrap(facts)}\\
  ${wrap(description)}`;

/** Wraps a text below the bullet of its item. */
function wrap(text: string): string {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1)!;
    const longer = last === "" ? word : `${last} ${word}`;
    if (last !== "" && longer.length > maxColumns - 4) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join("\n  ");
}

const code = (content: string): string => `\`${content}\``;
