import type { KnownApi } from "../../model.ts";
import type { ToolCall } from "../../message.ts";
import { pieces, getStopReason } from "../script.ts";
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

function googleDialect(api: KnownApi, callParts: (call: ToolCall) => Parts): WireDialect {
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
        if (block.type === "toolCall") return callParts(block);
        if (block.type === "text") return textParts(block.text, {}, block.textSignature);
        return textParts(block.thinking, { thought: true }, block.thinkingSignature);
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

/** A text in pieces; a signature comes with the last of them. */
function textParts(content: string, marks: object, signature: string | undefined): Parts {
  const parts: Parts = pieces(content).map((text) => ({ text, ...marks }));
  if (signature === undefined) return parts;
  return [...parts.slice(0, -1), { text: "", ...marks, ...parts.at(-1), thoughtSignature: signature }];
}

const signed = (call: ToolCall) => (call.thoughtSignature ? { thoughtSignature: call.thoughtSignature } : {});

/** The Gemini API sends each call whole. */
export const googleGenerativeAiDialect = googleDialect("google-generative-ai", (call) => [
  { functionCall: { id: call.id, name: call.name, args: call.arguments }, ...signed(call) },
]);

/** Vertex can send a call's arguments while they are written: a path and a value at a time. */
export const googleVertexDialect = googleDialect("google-vertex", (call) => {
  const values = leaves(call.arguments, "$");
  if (values === undefined)
    return [{ functionCall: { id: call.id, name: call.name, args: call.arguments }, ...signed(call) }];
  const piece = (partialArg: object) => ({ functionCall: { partialArgs: [partialArg], willContinue: true } });
  return [
    { functionCall: { id: call.id, name: call.name, willContinue: true }, ...signed(call) },
    ...values.flatMap(({ jsonPath, value }) =>
      typeof value === "string"
        ? [
            ...pieces(value).map((stringValue) => piece({ jsonPath, stringValue, willContinue: true })),
            piece({ jsonPath, stringValue: "" }),
          ]
        : [piece({ jsonPath, ...scalar(value) })],
    ),
    { functionCall: {} },
  ];
});

function scalar(value: number | boolean | null): object {
  if (value === null) return { nullValue: "NULL_VALUE" };
  return typeof value === "number" ? { numberValue: value } : { boolValue: value };
}

interface Leaf {
  jsonPath: string;
  value: string | number | boolean | null;
}

/** The values inside, in order; undefined where something empty has no path of its own. */
function leaves(value: object, path: string): Leaf[] | undefined {
  const found: Leaf[] = [];
  for (const [key, inner] of Object.entries(value)) {
    const jsonPath = Array.isArray(value)
      ? `${path}[${key}]`
      : /^\w+$/.test(key)
        ? `${path}.${key}`
        : `${path}['${key.replace(/['\\]/g, "\\$&")}']`;
    if (typeof inner !== "object" || inner === null) {
      found.push({ jsonPath, value: inner });
      continue;
    }
    const below = leaves(inner, jsonPath);
    if (!below || below.length === 0) return undefined;
    found.push(...below);
  }
  return found;
}
