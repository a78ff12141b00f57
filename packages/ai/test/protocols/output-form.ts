/** A form of an answer with an optional property, and what providers are sent of it. */
export const personOutput = {
  name: "person",
  schema: {
    type: "object",
    properties: { name: { type: "string" }, age: { type: "integer" } },
    required: ["name"],
  },
};

/** Sent to Gemini, which ignores whether objects are closed. */
export const geminiPerson = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: ["integer", "null"] } },
  required: ["name", "age"],
};

/** Sent to all others. */
export const strictPerson = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: ["integer", "null"] } },
  required: ["name", "age"],
  additionalProperties: false,
};
