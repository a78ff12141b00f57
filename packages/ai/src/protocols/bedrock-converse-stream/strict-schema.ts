import { isRecord } from "../../json.ts";
import type { JsonSchema } from "../../context.ts";

/** The keywords that Bedrock's strict mode supports; a schema with any other keyword is rejected. */
const supportedKeywords = new Set([
  "type",
  "properties",
  "required",
  "additionalProperties",
  "items",
  "enum",
  "const",
  "anyOf",
  "description",
  "title",
  "default",
]);

/** The maximum numbers per request, over all strict tools. */
export const strictLimits = { tools: 20, looseParameters: 16 };

interface StrictSchema {
  schema: JsonSchema;
  /** The number of properties that are optional or have several types. The provider limits their total. */
  looseParameters: number;
}

/**
 * The schema with `additionalProperties: false` on all objects, as strict mode requires; undefined if it uses keywords
 * that strict mode does not support. Arguments that are valid for the result are valid for the tool's own schema.
 */
export function closeSchema(root: JsonSchema): StrictSchema | undefined {
  const closer = new SchemaCloser();
  const schema = root["type"] === "object" ? closer.close(root, 0) : undefined;
  return schema && { schema, looseParameters: closer.looseParameters };
}

class SchemaCloser {
  looseParameters = 0;

  close(schema: unknown, depth: number): JsonSchema | undefined {
    if (!isRecord(schema) || depth > 32) return undefined;
    if (!Object.keys(schema).every((key) => supportedKeywords.has(key))) return undefined;
    const closed: JsonSchema = { ...schema };
    if (schema["anyOf"] !== undefined) {
      const variants = Array.isArray(schema["anyOf"])
        ? schema["anyOf"].map((variant) => this.close(variant, depth + 1))
        : [];
      if (variants.length === 0 || !variants.every(isRecord)) return undefined;
      closed["anyOf"] = variants;
    }
    if (schema["items"] !== undefined) {
      const items = this.close(schema["items"], depth + 1);
      if (!items) return undefined;
      closed["items"] = items;
    }
    if (schema["type"] !== "object") return schema["properties"] === undefined ? closed : undefined;
    if ((schema["additionalProperties"] ?? false) !== false) return undefined;
    const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
    const properties: [string, JsonSchema][] = [];
    for (const [name, property] of Object.entries((schema["properties"] ?? {}) as object)) {
      const inner = this.close(property, depth + 1);
      if (!inner) return undefined;
      if (!required.has(name) || inner["anyOf"] !== undefined || Array.isArray(inner["type"])) this.looseParameters++;
      properties.push([name, inner]);
    }
    return { ...closed, properties: Object.fromEntries(properties), additionalProperties: false };
  }
}
