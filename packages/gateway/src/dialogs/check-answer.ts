import type { UiAnswer, UiDialog } from "@tau/protocol";
import { GatewayError } from "../errors.ts";

/** Throws `invalid_parameters` for an answer that the dialog does not have. */
export function mustFit(dialog: UiDialog, answer: UiAnswer): void {
  if ("cancelled" in answer) return;
  if (dialog.method === "confirm") {
    if (!("confirmed" in answer)) throw wrong('A confirm dialog is answered with "confirmed".');
  } else if (!("value" in answer)) {
    throw wrong(`A dialog of the kind ${dialog.method} is answered with "value".`);
  } else if (dialog.method === "select" && !dialog.options.includes(answer.value)) {
    throw wrong("The value is none of the options.");
  }
}

const wrong = (reason: string): GatewayError => new GatewayError("invalid_parameters", reason);
