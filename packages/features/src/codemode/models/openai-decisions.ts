/** OpenAI's Decisions API. Pure. */
import { asRecord } from "@tau/ai/internal";
import {
  mustBeNumber,
  parseClassifierContext,
  type Question,
  readTokens,
  toDataUrl,
  type WireProtocol,
} from "./wire.ts";

export const openaiDecisions: WireProtocol = {
  encode(model, context) {
    const { state, images, questions } = parseClassifierContext(model, context);
    const content = [
      ...images.map((image) => ({ type: "input_image", image_url: toDataUrl(image) })),
      { type: "input_text", text: typeof state === "string" ? state : JSON.stringify(state) },
    ];
    return {
      path: "/decisions",
      body: {
        model: model.id,
        input: [{ type: "message", role: "user", content }],
        questions: [...questions].map(([name, question]) => ({ name, ...toWireQuestion(question) })),
      },
    };
  },

  decode(response, context) {
    const { answers } = asRecord(response);
    const byName = new Map(
      (Array.isArray(answers) ? (answers as unknown[]) : []).map((answer) => [asRecord(answer)["name"], answer]),
    );
    const ids = Object.keys(asRecord(asRecord(context)["questions"]));
    return { answers: Object.fromEntries(ids.map((id) => [id, toAnswer(id, byName.get(id))])) };
  },

  readUsage: (response) => readTokens(asRecord(response)["usage"]),
};

function toWireQuestion({ type, instructions, criteria }: Question): Record<string, unknown> {
  switch (type) {
    case "choice":
      return {
        type,
        instructions,
        choices: Object.entries(asRecord(criteria)).map(([value, description]) => ({ value, description })),
      };
    case "score":
      return {
        type,
        instructions,
        levels: (criteria as string[]).map((description, index) => ({ label: String(index), description })),
      };
    case "bool": {
      // A predicate has no descriptions of its outcomes.
      const { true: yes, false: no } = asRecord(criteria);
      return { type: "predicate", instructions: `${instructions}\nTrue: ${String(yes)}\nFalse: ${String(no)}` };
    }
  }
}

function toAnswer(id: string, value: unknown): Record<string, unknown> {
  const { type, probability, choice, score, confidence, probabilities } = asRecord(value);
  switch (type) {
    case "predicate":
      return { type: "bool", probability: mustBeNumber(probability, `probability for ${id}`) };
    case "choice":
      if (typeof choice !== "string") throw new Error(`The answer has no choice for ${id}.`);
      return {
        type,
        choice,
        probabilities: toRecord(probabilities),
        confidence: mustBeNumber(confidence, `confidence for ${id}`),
      };
    case "score":
      return {
        type,
        score: mustBeNumber(score, `score for ${id}`),
        confidence: mustBeNumber(confidence, `confidence for ${id}`),
      };
    case "refusal":
      throw new Error(`The model refused to answer the question ${JSON.stringify(id)}.`);
    default:
      throw new Error(`The question ${JSON.stringify(id)} was not answered.`);
  }
}

function toRecord(probabilities: unknown): Record<string, number> {
  const entries = (Array.isArray(probabilities) ? (probabilities as unknown[]) : []).map((each) => {
    const { value, probability } = asRecord(each);
    return [String(value), mustBeNumber(probability, "probability of a choice")] as const;
  });
  return Object.fromEntries(entries);
}
