/** Checks what extensions pass to their session: their code may have no types, and what is in the log is sent for ever. */
import { isRecord } from "@tau/ai/internal";
import { check, createCheck, param } from "@tau/config/internal";
import { flag, image, list, object, text } from "@tau/config/fields";

/** Whether a value has the fields of a `Model` that a session uses. */
export const isModel = (value: unknown): boolean =>
  isRecord(value) &&
  [value["id"], value["provider"], value["api"]].every((each) => typeof each === "string" && each !== "") &&
  [value["contextWindow"], value["maxTokens"]].every((each) => typeof each === "number") &&
  isRecord(value["cost"]) &&
  Array.isArray(value["input"]);

/** Throws `invalid_input` with a sentence that names the argument. */
export const checkPort = createCheck({
  model: check("a Model with all of its fields", isModel),
  instructions: param(text),
  text,
  images: list(image),
  name: text,
  names: list(text),
  tools: param(list(text)),
  options: object({
    summarize: param(flag),
    customInstructions: param(text),
    replaceInstructions: param(flag),
    label: param(text),
  }),
});
