/**
 * TypeSafe's System One: a state and typed questions, answered with probabilities. TypeSafe and gateways take the request as it is;
 * Cloudflare Workers AI runs it as a model. Pure.
 */
import type { ImageContent } from "@tau/ai";
import { asRecord, isRecord } from "@tau/ai/internal";
import type { OtherModel } from "./catalog.ts";
import {
  mustBeNumber,
  parseClassifierContext,
  type Question,
  readTokens,
  toDataUrl,
  type WireProtocol,
} from "./wire.ts";

const maxListedImages = 4;

/** The request without what a service puts around it. */
function encodeQuestions(model: OtherModel, context: unknown): Record<string, unknown> {
  const { state, images, questions } = parseClassifierContext(model, context);
  const wire = [...questions].map(([id, question]) => [id, toWireQuestion(question)] as const);
  return { ...withImages(model, state, images), questions: Object.fromEntries(wire) };
}

/** A yes or no is called `noul`. */
const toWireQuestion = ({ type, instructions, criteria }: Question) => ({
  type: type === "bool" ? "noul" : type,
  instructions,
  criteria,
});

/** Services take images in three ways. */
function withImages(model: OtherModel, state: unknown, images: readonly ImageContent[]): Record<string, unknown> {
  if (images.length === 0) return { state };
  switch (asRecord(model["compat"])["imageInput"]) {
    case "images":
      mustBeOf(images, ["image/png", "image/jpeg", "image/webp"]);
      if (images.length > maxListedImages) throw new Error(`At most ${maxListedImages} images can be given.`);
      return { state, images: images.map(toDataUrl) };
    case "state-image-urls":
      return {
        state: [...images.map((image) => ({ type: "image_url", image_url: { url: toDataUrl(image) } })), state],
      };
    default: {
      mustBeOf(images, ["image/png", "image/jpeg"]);
      const assets = images.map(({ data, mimeType }, index) => [
        `<image-${index + 1}>`,
        { type: "image", format: mimeType.slice("image/".length), data_base64: data },
      ]);
      return { state: [...assets.map(([name]) => name), state], assets: Object.fromEntries(assets) as object };
    }
  }
}

function mustBeOf(images: readonly ImageContent[], types: readonly string[]): void {
  const other = images.find(({ mimeType }) => !types.includes(mimeType));
  if (other) throw new Error(`The model takes ${types.join(", ")}, not ${other.mimeType}.`);
}

function decodeAnswers(output: unknown, context: unknown): Record<string, unknown> {
  const answers = asRecord(asRecord(output)["answers"]);
  const ids = Object.keys(asRecord(asRecord(context)["questions"]));
  return { answers: Object.fromEntries(ids.map((id) => [id, toAnswer(id, answers[id])])) };
}

function toAnswer(id: string, value: unknown): Record<string, unknown> {
  const { type, noul, choice, score, confidence, probabilities } = asRecord(value);
  switch (type) {
    case "noul":
      return { type: "bool", probability: mustBeNumber(noul, `probability for ${id}`) };
    case "choice":
      if (typeof choice !== "string") throw new Error(`The answer has no choice for ${id}.`);
      return {
        type,
        choice,
        probabilities: asRecord(probabilities),
        confidence: toConfidence(confidence, probabilities),
      };
    case "score":
      return {
        type,
        score: mustBeNumber(score, `score for ${id}`),
        confidence: toConfidence(confidence, probabilities),
      };
    default:
      throw new Error(`The question ${JSON.stringify(id)} was not answered.`);
  }
}

/** Some gateways leave it out: it then comes from the largest of the probabilities, as TypeSafe defines it. */
function toConfidence(confidence: unknown, probabilities: unknown): number {
  if (typeof confidence === "number") return confidence;
  const values = Object.values(asRecord(probabilities)).filter((each): each is number => typeof each === "number");
  if (values.length < 2) throw new Error("The answer has no confidence.");
  const peak = Math.max(...values);
  return Math.min(1, Math.max(0, (values.length * peak - 1) / (values.length - 1)));
}

export const systemOne: WireProtocol = {
  encode(model, context) {
    const hasImages =
      Array.isArray(asRecord(context)["images"]) && (asRecord(context)["images"] as unknown[]).length > 0;
    const optsIn = hasImages && asRecord(model["compat"])["sendImageOptInHeader"] === true;
    return {
      path: "/systemone",
      ...(optsIn && { headers: { "typesafe-danger-zone-images": "true" } }),
      body: { model: model.id, ...encodeQuestions(model, context) },
    };
  },
  decode: decodeAnswers,
  readUsage: (response) => readTokens(asRecord(response)["usage"]),
};

/** Models of Cloudflare have a path of their own; those of others are named in the body. */
export const cloudflareSystemOne: WireProtocol = {
  encode(model, context) {
    const input = encodeQuestions(model, context);
    return model.id.startsWith("@cf/")
      ? { path: `/run/${model.id}`, body: input }
      : { path: "/run", body: { model: model.id, input } };
  },
  decode: (response, context) => decodeAnswers(unwrap(response), context),
  readUsage: (response) => readTokens(asRecord(unwrap(response))["usage"]),
};

/** The output is in `result`; of a model of others in the `result` of that, beside its `state`. */
function unwrap(response: unknown): unknown {
  const { result } = asRecord(response);
  if (!isRecord(result) || !("state" in result)) return result;
  const { state, error } = result;
  if (state === "Failed")
    throw new Error(`The model failed: ${String(asRecord(error)["message"] ?? "no reason given")}`);
  return result["result"];
}
