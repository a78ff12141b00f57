import { flag, nonEmptyText, oneOf, optional, text, wholeNumber } from "@tau/harness/fields";

/** What a client may ask of a list of sessions. */
export const listFields = {
  query: optional(text),
  all: optional(flag),
  named: optional(flag),
  sort: optional(oneOf("modified", "created", "name")),
  cursor: optional(nonEmptyText),
  limit: optional(wholeNumber({ min: 1, unit: "sessions" })),
};
