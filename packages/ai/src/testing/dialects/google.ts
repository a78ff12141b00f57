import type { KnownApi } from "../../model.ts";
import type { ToolCall } from "../../message.ts";
import { splitText, getStopReason } from "../script.ts";
import { sse, type WireDialect } from "./dialect.ts";

const finishReasons = { stop: "STOP", length: "MAX_TOKENS", toolUse: "STOP", refused: "SAFETY" };

const statuses: Record<number, string> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  429: "RESOURCE_EXHAUSTED",
  500: "INTERNAL",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
};

const toError = (code: number, message: string) => ({ error: { code, message, status: statuses[code] ?? "UNKNOWN" } });

type Parts = Record<string, unknown>[];

function createDialect(api: KnownApi, toCallParts: (call: ToolCall) => Parts): WireDialect {
  return {
    api,
    contentType: "text/event-stream",
    ping: sse({ usageMetadata: { trafficType: "ON_DEMAND" } }),
    answer(answer) {
      const { input = 10, output = 5, cacheRead = 0, reasoning = 0 } = answer.usage ?? {};
      const facts = { modelVersion: answer.model, responseId: answer.id };
      const usageMetadata = {
        promptTokenCount: input + cacheRead,
        ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
        candidatesTokenCount: output - reasoning,
        ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
        totalTokenCount: input + cacheRead + output,
      };
      const parts = answer.content.flatMap((block): Parts => {
        if (block.type === "toolCall") return toCallParts(block);
        if (block.type === "text") return toTextParts(block.text, {}, block.textSignature);
        return toTextParts(block.thinking, { thought: true }, block.thinkingSignature);
      });
      return [
        ...parts.map((part) =>
          sse({ candidates: [{ content: { parts: [part], role: "model" }, index: 0 }], ...facts }),
        ),
        sse({
          candidates: [
            {
              content: { parts: [{ text: "" }], role: "model" },
              finishReason: finishReasons[getStopReason(answer)],
              index: 0,
            },
          ],
          usageMetadata,
          ...facts,
        }),
      ];
    },
    streamError: (kind, message) => sse(toError(kind === "overloaded" ? 503 : 429, message)),
    errorBody: (status, message) => JSON.stringify(toError(status, message)),
  };
}

/** The parts of a text. The signature comes with the last part. */
function toTextParts(content: string, fields: object, signature: string | undefined): Parts {
  const parts: Parts = splitText(content).map((text) => ({ text, ...fields }));
  if (signature === undefined) return parts;
  return [...parts.slice(0, -1), { text: "", ...fields, ...parts.at(-1), thoughtSignature: signature }];
}

const getSignature = (call: ToolCall) => (call.thoughtSignature ? { thoughtSignature: call.thoughtSignature } : {});

/** The Gemini API sends each call in one part. */
export const googleGenerativeAiDialect = createDialect("google-generative-ai", (call) => [
  { functionCall: { id: call.id, name: call.name, args: call.arguments }, ...getSignature(call) },
]);

/** Vertex can stream the arguments of a call as pairs of path and value. */
export const googleVertexDialect = createDialect("google-vertex", (call) => {
  const values = findLeaves(call.arguments, "$");
  if (values === undefined)
    return [{ functionCall: { id: call.id, name: call.name, args: call.arguments }, ...getSignature(call) }];
  const piece = (partialArg: object) => ({ functionCall: { partialArgs: [partialArg], willContinue: true } });
  return [
    { functionCall: { id: call.id, name: call.name, willContinue: true }, ...getSignature(call) },
    ...values.flatMap(({ jsonPath, value }) =>
      typeof value === "string"
        ? [
            ...splitText(value).map((stringValue) => piece({ jsonPath, stringValue, willContinue: true })),
            piece({ jsonPath, stringValue: "" }),
          ]
        : [piece({ jsonPath, ...encodeScalar(value) })],
    ),
    { functionCall: {} },
  ];
});

function encodeScalar(value: number | boolean | null): object {
  if (value === null) return { nullValue: "NULL_VALUE" };
  return typeof value === "number" ? { numberValue: value } : { boolValue: value };
}

interface Leaf {
  jsonPath: string;
  value: string | number | boolean | null;
}

/** All scalars with their paths, in order; undefined if there is an empty object or array, which no path can express. */
function findLeaves(value: object, path: string): Leaf[] | undefined {
  const leaves: Leaf[] = [];
  for (const [key, inner] of Object.entries(value)) {
    const jsonPath = Array.isArray(value)
      ? `${path}[${key}]`
      : /^\w+$/.test(key)
        ? `${path}.${key}`
        : `${path}['${key.replace(/['\\]/g, "\\$&")}']`;
    if (typeof inner !== "object" || inner === null) {
      leaves.push({ jsonPath, value: inner });
      continue;
    }
    const innerLeaves = findLeaves(inner, jsonPath);
    if (!innerLeaves || innerLeaves.length === 0) return undefined;
    leaves.push(...innerLeaves);
  }
  return leaves;
}
