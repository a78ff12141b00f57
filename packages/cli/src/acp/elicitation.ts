/** A dialog of an extension as a form, or where the client has none, as a permission request. Pure. */
import type { UiAnswer, UiDialog } from "@tau/protocol";
import { toFields } from "@tau/protocol/surface";
import type {
  CreateElicitationRequest,
  ElicitationPropertySchema,
  RequestPermissionRequest,
} from "./schema.generated.ts";

const yes = "yes";
const no = "no";

/** The request for a client that shows forms. */
export function toForm(sessionId: string, dialog: UiDialog): CreateElicitationRequest {
  return {
    mode: "form",
    sessionId,
    message: dialog.method === "confirm" && dialog.message !== "" ? `${dialog.title}\n${dialog.message}` : dialog.title,
    requestedSchema: { type: "object", properties: { answer: toProperty(dialog) }, required: ["answer"] },
  };
}

function toProperty(dialog: UiDialog): ElicitationPropertySchema {
  const { title } = dialog;
  switch (dialog.method) {
    case "select":
      return { type: "string", title, enum: dialog.options };
    case "confirm":
      return {
        type: "string",
        title,
        oneOf: [
          { const: yes, title: "Yes" },
          { const: no, title: "No" },
        ],
      };
    case "input":
      return { type: "string", title, ...(dialog.placeholder !== undefined && { description: dialog.placeholder }) };
    case "editor":
      return { type: "string", title, ...(dialog.prefill !== undefined && { default: dialog.prefill }) };
    default:
      return dialog satisfies never;
  }
}

/** An answer that the dialog does not have cancels it. */
export function parseForm(dialog: UiDialog, response: unknown): UiAnswer {
  const { action, content } = toFields(response);
  const { answer } = toFields(content);
  if (action === "decline" && dialog.method === "confirm") return { confirmed: false };
  if (action !== "accept" || typeof answer !== "string") return { cancelled: true };
  return toAnswer(dialog, answer);
}

function toAnswer(dialog: UiDialog, answer: string): UiAnswer {
  if (dialog.method === "confirm")
    return answer === yes || answer === no ? { confirmed: answer === yes } : { cancelled: true };
  if (dialog.method === "select" && !dialog.options.includes(answer)) return { cancelled: true };
  return { value: answer };
}

/** The request for a client without forms; undefined for a dialog that wants a text. */
export function toChoice(
  sessionId: string,
  toolCallId: string,
  dialog: UiDialog,
): RequestPermissionRequest | undefined {
  if (dialog.method !== "select" && dialog.method !== "confirm") return undefined;
  const text = dialog.method === "confirm" ? dialog.message : "";
  const content = text === "" ? [] : [{ type: "content", content: { type: "text", text } } as const];
  const options =
    dialog.method === "confirm"
      ? ([
          { optionId: yes, name: "Yes", kind: "allow_once" },
          { optionId: no, name: "No", kind: "reject_once" },
        ] as const)
      : dialog.options.map((name, index) => ({ optionId: String(index), name, kind: "allow_once" }) as const);
  return {
    sessionId,
    toolCall: { toolCallId, title: dialog.title, kind: "other", status: "pending", content },
    options,
  };
}

export function parseChoice(dialog: UiDialog, response: unknown): UiAnswer {
  const { outcome, optionId } = toFields(toFields(response)["outcome"]);
  if (outcome !== "selected" || typeof optionId !== "string") return { cancelled: true };
  if (dialog.method !== "select") return toAnswer(dialog, optionId);
  const value = /^\d+$/.test(optionId) ? dialog.options[Number(optionId)] : undefined;
  return value === undefined ? { cancelled: true } : { value };
}
