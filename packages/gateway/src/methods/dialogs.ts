/** Answers to dialogs of extensions. */
import { flag, nonEmptyText, object, optional, text } from "@tau/config/fields";
import type { UiAnswer } from "@tau/protocol";
import { GatewayError } from "../errors.ts";
import { atSession, method, type SomeMethods } from "./method.ts";

export const dialogMethods = {
  "dialogs.answer": method(
    atSession,
    {
      sessionId: nonEmptyText,
      id: nonEmptyText,
      answer: object({ value: optional(text), confirmed: optional(flag), cancelled: optional(flag) }),
    },
    // A dialog lives as long as its session is open.
    ({ parts }, { sessionId, id, answer }) => ({
      accepted: parts.sessions.find(sessionId)?.dialogs.answer(id, toAnswer(answer)) ?? false,
    }),
  ),
} satisfies SomeMethods;

/** Exactly one of the three. */
function toAnswer(fields: { value?: string; confirmed?: boolean; cancelled?: boolean }): UiAnswer {
  const { value, confirmed, cancelled } = fields;
  if (Object.keys(fields).length === 1) {
    if (value !== undefined) return { value };
    if (confirmed !== undefined) return { confirmed };
    if (cancelled === true) return { cancelled };
  }
  throw new GatewayError("invalid_parameters", "answer needs one field: value, confirmed, or cancelled with true.");
}
