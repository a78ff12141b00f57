/** The table of settings as a reference page and as a JSON Schema. Pure. */
import { isRecord } from "@tau/ai/internal";
import type { JsonSchema } from "../fields/field.ts";
import { forbiddenNames, type SettingNode } from "./node.ts";
import { settingsTable } from "./schema.ts";

/** The JSON Schema of settings files. Editors use it to complete names and to show mistakes. */
export function settingsSchema(): JsonSchema {
  const { properties, ...rest } = toSchema(settingsTable) as { properties: object };
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

Settings are JSON with comments, in two files: \`settings.json\` in tau's own directory (\`~/.tau\`, or where \`TAU_DIR\`
points) and \`.tau/settings.json\` in a project. A project's settings override your own, and yours override the defaults.
A project's \`.pi/settings.json\` is read too, below \`.tau/settings.json\`, and never written. Settings of pi that tau does not
have are ignored; \`tau doctor\` lists them.
Objects are merged, lists are replaced, and \`null\` stands for the default. Changes count at once. A mistake is reported with
its file, line and name; only the setting with the mistake is ignored. No session starts with a file that cannot be read
whole, or with a mistake in the settings of approvals, budgets, credentials, images, the policy, the sandbox, tools or
trust: a restriction could be missing. A project that is not trusted does not keep tau from starting: with a mistake in its
files, all of its settings are ignored.

A project can always set what is marked "always" below. The other settings could execute something, send data elsewhere,
or loosen a decision of yours: in a project they are ignored, with a notice, until you trust it. What is marked "to
restrict" counts in a trusted project too, as far as it is stricter than yours. What is marked "never" counts in your own file
only.
`;

/** The reference page of all settings, in Markdown. */
export function settingsReference(): string {
  const rows = toRows(settingsTable, []);
  const head = ["| setting | type | default | a project may set it | |", "| --- | --- | --- | --- | --- |"];
  return `${[introduction, ...head, ...rows].join("\n")}\n`;
}

function toRows(node: SettingNode, path: readonly string[]): string[] {
  const name = path.join(".");
  switch (node.kind) {
    case "setting": {
      const standard = node.default === undefined ? "" : code(JSON.stringify(node.default));
      return [row(code(name), code(node.shape.type), standard, node.project, node.description)];
    }
    case "group": {
      const rows = Object.entries(node.fields).flatMap(([field, inner]) => toRows(inner, [...path, field]));
      return path.length === 0 ? rows : [row(code(name), code("object"), "", "", node.description), ...rows];
    }
    case "map": {
      const type = node.of.kind === "group" ? `{ ${Object.keys(node.of.fields).join(", ")} }` : node.of.shape.type;
      const description = `${node.description} By ${node.by}.`;
      return [row(code(name), code(`Record<string, ${type}>`), "", node.project, description)];
    }
  }
}

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;

/** A bar would end the cell. */
const code = (content: string): string => `\`${content.replaceAll("|", "\\|")}\``;
